"""Labels that appear on the way: numbered as they come, shown to users in order."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from hyperboxes._estimators.validation import check_no_none


class SeenLabels:
    """The classes of a stream: `classes` in order, and codes in the order of their appearance.

    It is never changed: `with_labels` returns another one.
    """

    def __init__(self, classes: np.ndarray, appeared: list[Any]) -> None:
        self.classes = classes
        self.appeared = appeared
        self.sorted_labels = classes.tolist()
        self.codes = {label: code for code, label in enumerate(appeared)}
        # The column of each code in `classes`.
        self.places = np.searchsorted(classes, np.array(appeared, classes.dtype))

    @classmethod
    def none(cls) -> SeenLabels:
        """Return the state before any label."""
        return cls(np.empty(0), [])

    def with_labels(self, labels: np.ndarray, classes: Any = None) -> SeenLabels:
        """Return the state once these labels have appeared, and other classes are known of."""
        known = self.classes
        for more in (labels, classes):
            if more is not None:
                known = union_of_labels(known, np.asarray(more))
        first = np.sort(np.unique(labels, return_index=True)[1])
        new = [label for label in labels[first].tolist() if label not in self.codes]
        if not new and len(known) == len(self.classes):
            return self
        return SeenLabels(known, self.appeared + new)

    def encode(self, labels: np.ndarray) -> np.ndarray:
        """Return the codes of labels that have appeared."""
        columns = np.searchsorted(self.classes, labels)
        codes = np.zeros(len(self.classes), np.int64)
        codes[self.places] = np.arange(len(self.places))
        return codes[columns]


def union_of_labels(classes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return all classes in order."""
    if len(labels) == 0:
        return classes
    check_no_none(labels)
    check_classification_targets(labels)
    if len(classes) == 0:
        return np.unique(labels)
    # NumPy would turn numbers into text.
    if _is_text(classes) != _is_text(labels):
        was, now = ("text" if _is_text(which) else "numbers" for which in (classes, labels))
        raise ValueError(
            f"y holds {now}, such as {labels.tolist()[0]!r}, but labels so far were {was}, such as "
            f"{classes.tolist()[0]!r}. Use labels of one type."
        )
    if set(labels.tolist()) <= set(classes.tolist()):
        return classes
    return np.union1d(classes, labels)


def _is_text(labels: np.ndarray) -> bool:
    return labels.dtype.kind in "US" or isinstance(labels.tolist()[0], str)
