"""`class_weight`: how much a sample of each class counts, for classifiers of every kind.

Boxes lie where samples are, however much these count. So models of boxes weight the probabilities
of the classes, and an ensemble draws fewer samples of classes that count less.
"""

from typing import Any

import numpy as np
from sklearn.utils import compute_sample_weight

from hyperboxes._models.calibration import class_shares

# Why the nearest box alone does not decide.
DECIDED_BY_WEIGHTS = (
    "class_weight moves its decisions away from the boxes (set_params(class_weight=None) predicts "
    "without it)"
)


def check_class_weight(class_weight: Any, classes: np.ndarray) -> None:
    """Check that the weights of a dictionary are positive, and that its keys are classes."""
    if isinstance(class_weight, dict):
        if unknown := [label for label in class_weight if label not in classes.tolist()]:
            raise ValueError(
                f"class_weight names {unknown[0]!r}, which is not a class: {classes.tolist()}."
            )
        if not all(0 < weight < np.inf for weight in class_weight.values()):
            raise ValueError(f"class_weight must be positive and finite, got {class_weight!r}.")


def weight_probabilities(
    probabilities: np.ndarray, class_weight: Any, classes: np.ndarray, boxes: Any
) -> np.ndarray:
    """Return probabilities times the weights of the classes; each row sums to 1.

    "balanced" weights are in inverse proportion to the samples of the classes in the boxes.
    """
    if class_weight is None:
        return probabilities
    if class_weight == "balanced":
        weights = 1.0 / class_shares(boxes.labels, boxes.counts, len(classes))
    else:
        weights = np.array([class_weight.get(label, 1.0) for label in classes.tolist()])
    weighted = probabilities * weights
    return weighted / weighted.sum(axis=1, keepdims=True)


def share_samples(weights: np.ndarray, class_weight: Any, y: np.ndarray) -> np.ndarray:
    """Return the weights of samples times those of their classes, of which the largest is 1."""
    if class_weight is None:
        return weights
    check_class_weight(class_weight, np.unique(y))
    factors = compute_sample_weight(class_weight, y)
    return weights * (factors / factors.max())
