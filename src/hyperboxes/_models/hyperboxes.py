"""`Hyperboxes`: the finished boxes of a model as users see them, in the data's own units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True, eq=False)
class Hyperboxes:
    """The labelled boxes of a fitted model, oldest first.

    The arrays are read-only copies: changing a model means training it.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_boxes, n_features)
        Smallest and largest corner of each box, in the units of the training data; NaN in a
        feature that none of the box's samples had.
    labels : ndarray of int, shape (n_boxes,)
        Class of each box, as an index into the estimator's ``classes_``; -1 for none.
    counts : ndarray of int, shape (n_boxes,)
        How many training samples each box has absorbed. They add up to the number of samples
        learned, unless the model forgets boxes.

    Examples
    --------
    >>> from hyperboxes import ImprovedOnlineGFMM
    >>> X, y = [[1.0], [2.0], [8.0]], ["a", "a", "b"]
    >>> model = ImprovedOnlineGFMM(theta=0.5, random_state=0).fit(X, y)
    >>> boxes = model.hyperboxes_
    >>> boxes
    Hyperboxes(n_boxes=2, n_features=1, n_samples=3)
    >>> print(boxes.lower[0], boxes.upper[0], model.classes_[boxes.labels[0]], boxes.counts[0])
    [8.] [8.] b 1
    """

    lower: np.ndarray
    upper: np.ndarray
    labels: np.ndarray
    counts: np.ndarray

    def __post_init__(self) -> None:
        for array in (self.lower, self.upper, self.labels, self.counts):
            array.flags.writeable = False

    def __reduce__(self) -> tuple[type[Self], tuple[np.ndarray, ...]]:
        """Make copies and unpickled ones read-only, too."""
        return type(self), (self.lower, self.upper, self.labels, self.counts)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        n_boxes, n_features = self.lower.shape
        return (
            f"{type(self).__name__}(n_boxes={n_boxes}, n_features={n_features}, "
            f"n_samples={self.counts.sum()})"
        )
