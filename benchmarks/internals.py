"""What benchmarks need of the package's internals; nothing else of them imports any.

Names are imported where they are used, so that a renamed one stops a single benchmark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np


def fit_with_classes(model: Any, X: np.ndarray, y: np.ndarray, classes: np.ndarray) -> Any:
    """Do what `fit` does, with classes that the samples may not have."""
    return model._fit(X, y, None, classes=classes)


def set_membership(model: Any, function: str) -> None:
    """Have a fitted model predict by another membership function."""
    membership = replace(model._model.membership, function=function)
    model._model = replace(model._model, membership=membership)


def calibrate_votes(
    votes: np.ndarray, y: np.ndarray, shares: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from votes to probabilities that `RandomHyperboxes` would learn."""
    from hyperboxes._models.calibration import fit_vote_calibration, log_votes

    calibration = fit_vote_calibration(votes, y, shares)
    return lambda new: calibration.apply(log_votes(new), shares)
