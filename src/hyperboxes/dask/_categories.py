"""Categories of all partitions: counted in each, placed once, as one process would place them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperboxes._estimators.tables import code_columns, known_categories, look_up, with_columns
from hyperboxes._estimators.validation import find_labels
from hyperboxes._learning.categories import Column, learn_categories
from hyperboxes._models.categories import Categories

# How often each value of some features came with each label, None for samples without one.
Tally = dict[int, dict[Any, dict[Any, int]]]


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


def add_tallies(tally: Tally, other: Tally) -> Tally:
    """Return what both have counted."""
    total = {j: {value: dict(n) for value, n in values.items()} for j, values in tally.items()}
    for j, values in other.items():
        column = total.setdefault(j, {})
        for value, counts in values.items():
            own = column.setdefault(value, {})
            for label, n in counts.items():
                own[label] = own.get(label, 0) + n
    return total


def place_categories(tally: Tally, classes: np.ndarray) -> dict[int, Categories]:
    """Place the values by what they tell of the classes: what one process would have learned."""
    codes_of = {label: code for code, label in enumerate(classes.tolist())} | {None: -1}
    found = {}
    for j, column in sorted(tally.items()):
        rows = [
            (code, codes_of[label], n)
            for code, counts in enumerate(column.values())
            for label, n in counts.items()
        ]
        codes, labels, weights = np.array(rows, np.int64).reshape(-1, 3).T
        found[j] = learn_categories(
            Column(list(column), codes, labels, classes.tolist(), weights.astype(np.float64))
        )
    return found


def with_places(X: Any, categories: dict[int, Categories]) -> Any:
    """Return samples with the places of their categories, which all are known."""
    if not categories or X is None:
        return X
    return with_columns(X, look_up(_Knows(categories), code_columns(X, list(categories))))


class _Knows:
    """Stands for an estimator that knows categories and nothing else."""

    def __init__(self, categories: dict[int, Categories]) -> None:
        self._categories = categories
