"""Boxes as users see them: `Hyperboxes`, and the boxes of additive models with their weights."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from hyperboxes._kernels.structs import Conditions
from hyperboxes._models.samples import frozen


class ReadOnlyArrays:
    """Base of frozen dataclasses whose arrays are read-only, in copies and unpickled ones too."""

    def __post_init__(self) -> None:
        for name, value in self._values().items():
            object.__setattr__(self, name, _read_only(value))

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), tuple(self._values().values())

    def _values(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


def _read_only(value: Any) -> Any:
    """Return a value with its arrays, those in tuples included, as read-only views."""
    if isinstance(value, np.ndarray):
        return frozen(value)
    if not isinstance(value, tuple):
        return value
    items = map(_read_only, value)
    return value._make(items) if hasattr(value, "_make") else tuple(items)


@dataclass(frozen=True, eq=False)
class Hyperboxes(ReadOnlyArrays):
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
        learned, unless the model evicts boxes.

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

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        n_boxes, n_features = self.lower.shape
        return (
            f"{type(self).__name__}(n_boxes={n_boxes}, n_features={n_features}, "
            f"n_samples={self.counts.sum()})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class WeightedHyperboxes(Hyperboxes):
    """The boxes of an additive model, in the order found: all that contain a sample contribute.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_boxes, n_features)
        Inclusive bounds of each box; infinite where it is open.
    labels : ndarray of int, shape (n_boxes,)
        The class with the largest weight, as an index into the estimator's ``classes_``.
    counts : ndarray of int, shape (n_boxes,)
        How many training samples each box contains; a sample may be in many boxes or in none.
    weights : ndarray of shape (n_boxes, n_classes)
        What each box adds to the score of each class for the samples that it contains.
    missing_shares : ndarray of shape (n_boxes, n_features)
        How far samples that lack a feature meet each box's condition on it: 1 or 0 where training
        samples lacked it, else the share of them that meet it. 1 where there is no condition.
    class_counts : ndarray of int, shape (n_boxes, n_classes)
        The training samples that each box contains, by class.

    See Also
    --------
    BoostedHyperboxes : The classifier with these boxes.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperboxes import BoostedHyperboxes
    >>> X, y = [[0.0], [1.0], [8.0], [10.0]] * 10, ["low", "low", "high", "high"] * 10
    >>> boxes = BoostedHyperboxes(2, random_state=0).fit(X, y).hyperboxes_
    >>> boxes.contains(np.array([[2.0], [9.0]])).sum(axis=0)
    array([1, 1])
    """

    weights: np.ndarray
    missing_shares: np.ndarray
    class_counts: np.ndarray

    def __repr__(self) -> str:
        n_boxes, n_features = self.lower.shape
        n_conditions = np.count_nonzero(self.constrains)
        return (
            f"{type(self).__name__}(n_boxes={n_boxes}, n_features={n_features}, "
            f"n_conditions={n_conditions})"
        )

    @property
    def constrains(self) -> np.ndarray:
        """Whether each box has a condition on each feature."""
        return is_closed(self.lower, self.upper, self.missing_shares)

    def contains(self, X: np.ndarray) -> np.ndarray:
        """Return which samples each box contains.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The samples; NaN where a value is missing.

        Returns
        -------
        held : ndarray of bool, shape (n_samples, n_boxes)
            Whether a sample meets all conditions of a box. A missing value meets those with a
            `missing_shares` of 1.
        """
        held = np.ones((len(X), len(self.lower)), bool)
        for box, feature in np.argwhere(self.constrains):
            low, high = self.lower[box, feature], self.upper[box, feature]
            values = X[:, feature]
            inside = (low <= values) & (values <= high)
            held[:, box] &= np.where(
                np.isnan(values), self.missing_shares[box, feature] == 1.0, inside
            )
        return held


def is_closed(lower: np.ndarray, upper: np.ndarray, missing_shares: np.ndarray) -> np.ndarray:
    """Return where boxes keep anything out."""
    return ~(np.isneginf(lower) & np.isposinf(upper) & (missing_shares == 1.0))


def list_conditions(lower: np.ndarray, upper: np.ndarray, missing_shares: np.ndarray) -> Conditions:
    """Return the conditions of boxes alone, for kernels; all arrays are contiguous.

    Kernels are compiled for each layout of their arrays, and of two Numba 0.60 has been seen to
    take the wrong one in a thread.
    """
    boxes, features = map(np.ascontiguousarray, np.nonzero(is_closed(lower, upper, missing_shares)))
    return Conditions(
        starts=np.searchsorted(boxes, np.arange(len(lower) + 1)),
        feature=features,
        lower=lower[boxes, features],
        upper=upper[boxes, features],
        missing_shares=missing_shares[boxes, features],
    )
