"""Categories of all partitions: counted in each, placed once, as one process would place them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperboxes._estimators.tables import code_columns, known_categories, look_up, with_columns
from hyperboxes._estimators.tallies import Tally
from hyperboxes._estimators.validation import find_labels
from hyperboxes._models.categories import Categories


def count_categories(estimator: Any, X: Any, y: np.ndarray | None) -> Tally:
    """Count the values of the features that an estimator has found to be categorical."""
    columns = list(known_categories(estimator))
    if not columns or y is None:
        return {}
    has_label, _ = find_labels(y, getattr(estimator, "unlabeled", None))
    labels = [label if known else None for label, known in zip(y.tolist(), has_label, strict=True)]
    tally: Tally = {}
    for j, (values, codes) in code_columns(X, columns).items():
        tally[j] = {value: {} for value in values}
        for code, label in zip(codes.tolist(), labels, strict=True):
            if code >= 0:
                counts = tally[j][values[code]]
                counts[label] = counts.get(label, 0) + 1
    return tally


def with_places(X: Any, categories: dict[int, Categories]) -> Any:
    """Return samples with the places of their categories, which all are known."""
    if not categories or X is None:
        return X
    return with_columns(X, look_up(_Knows(categories), code_columns(X, list(categories))))


class _Knows:
    """Stands for an estimator that knows categories and nothing else."""

    def __init__(self, categories: dict[int, Categories]) -> None:
        self._categories = categories
