"""What a confusion matrix says about a classifier; a score that would be 0 / 0 is None."""

from __future__ import annotations

from typing import Any

import numpy as np


def overall_scores(matrix: np.ndarray) -> tuple[float, float]:
    """Return accuracy and balanced accuracy, the mean recall of the classes that occur."""
    right, support = np.diag(matrix), matrix.sum(axis=1)
    occurs = support > 0
    return float(right.sum() / matrix.sum()), float((right[occurs] / support[occurs]).mean())


def class_scores(matrix: np.ndarray) -> list[dict[str, Any]]:
    """Return precision, recall, F1 and support of each class; the true class is in rows."""
    right, support, predicted = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    return [
        {
            "precision": _ratio(right[i], predicted[i]),
            "recall": _ratio(right[i], support[i]),
            "f1": _ratio(2 * right[i], support[i] + predicted[i]),
            "support": int(support[i]),
        }
        for i in range(len(matrix))
    ]


def _ratio(part: Any, whole: Any) -> float | None:
    return float(part / whole) if whole else None
