"""`prune`: a smaller model without the boxes that do harm or nothing on validation samples."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from hyperboxes._estimators.base import BoxClassifier
from hyperboxes._estimators.capabilities import Operation, require
from hyperboxes._estimators.validation import check_known_classes
from hyperboxes._models.records import closeness
from hyperboxes._models.samples import frozen, slices

Model = TypeVar("Model", bound=BoxClassifier)

# The number of samples that are predicted at a time.
_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True, eq=False)
class Pruning:
    """The boxes that `prune` dropped, and the accuracy before and after.

    Attributes
    ----------
    harmful, unused : ndarray of int
        The boxes dropped for each reason, as indices into the ``hyperboxes_`` of the original
        model.
    n_boxes : int
        The number of boxes of that model.
    accuracy_before, accuracy_after : float
        The accuracy on the validation samples before and after pruning.
    """

    harmful: np.ndarray
    unused: np.ndarray
    n_boxes: int
    accuracy_before: float
    accuracy_after: float

    def __str__(self) -> str:
        return (
            f"Dropped {len(self.harmful) + len(self.unused)} of {self.n_boxes} boxes: "
            f"{len(self.harmful)} that did harm, {len(self.unused)} that did nothing. "
            f"Accuracy on the validation samples: {self.accuracy_after:.3f}, "
            f"before {self.accuracy_before:.3f}."
        )


def prune(
    model: Model, X_val: Any, y_val: Any, *, keep_unused: bool = False, X_upper: Any = None
) -> Model:
    """Drop the boxes that do harm or nothing on validation samples.

    A box does harm if more samples are predicted correctly without it. Boxes that decide the most
    samples wrongly are tried first, until no harmful box is left. A box does nothing if it decides
    no prediction: it is never among the boxes of the predicted class with the largest membership.
    If several boxes of each class decide, it is never among these; dropping boxes also changes the
    class shares then, which may change close predictions. Each class keeps at least one box.

    Parameters
    ----------
    model : fitted classifier
        The model to prune; it is not changed.
    X_val : array-like of shape (n_samples, n_features)
        Validation samples, which the model has not been trained on.
    y_val : array-like of shape (n_samples,)
        Their labels.
    keep_unused : bool, default=False
        Whether to keep boxes that do nothing. With few validation samples many boxes do nothing.
    X_upper : array-like of shape (n_samples, n_features), default=None
        The upper ends of interval samples.

    Returns
    -------
    model : classifier
        A new fitted model, which can be updated. Its attribute ``pruning_`` lists the dropped
        boxes; `save` does not store it.

    See Also
    --------
    merge : One model from several that were fitted independently.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from hyperboxes import ImprovedOnlineGFMM, prune
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_val, y, y_val = train_test_split(X, y, random_state=0)
    >>> model = ImprovedOnlineGFMM(theta=0.3, decision="nearest", random_state=0).fit(X, y)
    >>> model = prune(model, X_val, y_val)
    >>> len(model.pruning_.harmful), len(model.pruning_.unused), len(model.hyperboxes_)
    (2, 69, 27)
    """
    require(model, Operation.PRUNE)
    model._check_can_predict()
    y_val = column_or_1d(y_val)
    check_consistent_length(X_val, y_val)
    check_known_classes(
        y_val, model.classes_, None, name="y_val", advice="Leave out samples of other classes."
    )
    search = _Search(model, X_val, y_val, X_upper)
    before = search.accuracy
    search.drop_harmful()
    harmful = np.flatnonzero(~search.kept)
    unused = np.empty(0, np.int64) if keep_unused else search.drop_unused()
    pruned = search.pruned()
    after = search.accuracy_of(pruned)
    pruned.pruning_ = Pruning(harmful, unused, len(search.kept), before, after)
    return pruned


class _Search:
    """A copy of the model of which boxes are hidden, and how it does on the validation samples.

    Without a box, only samples change that have it among the boxes that decide. So a try predicts
    only these again. `_least` is the closeness of the last of these, for each sample and class.
    """

    def __init__(self, model: Any, X: Any, y: np.ndarray, X_upper: Any) -> None:
        self._original = model
        boxes = model._model.boxes
        self._boxes = boxes.settled()  # a copy
        self._model = model._model.with_boxes(self._boxes)
        self._xl, self._xu = model._intervals(X, X_upper).scaled()
        self._y = y
        self._labels = model.classes_[boxes.labels]
        self._has_values = ~np.isnan(boxes.lower) & (boxes.labels >= 0)[:, np.newaxis]
        self.kept = np.ones(len(boxes), bool)
        self._used = np.zeros(len(boxes), bool)
        self._decider = np.empty(len(y), np.int64)
        self._closest = np.empty(len(y))
        self._is_tied = np.empty(len(y), bool)
        self._least = np.empty((len(y), boxes.n_classes))
        for rows in self._batches():
            self._note(rows, self._decide(rows))

    def accuracy_of(self, pruned: Any) -> float:
        """Return the accuracy of a model that `pruned` has made."""
        predicted = pruned._model.classify(self._xl, self._xu)
        return float(np.mean(pruned.classes_[predicted] == self._y))

    @property
    def accuracy(self) -> float:
        """The share of samples that are predicted rightly."""
        return float(np.mean(self._is_right(self._decider)))

    def drop_harmful(self) -> None:
        """Drop boxes without which more samples are right, until there is none."""
        is_done = False
        while not is_done:
            dropped = [box for box in self._suspects() if self._drop_if_harmful(box)]
            is_done = not dropped

    def drop_unused(self) -> np.ndarray:
        """Drop boxes that decide no prediction; return which.

        One box of each class stays, and one with values in each feature.
        """
        self._used[:] = False
        for rows in self._batches():
            self._decide(rows)
        if self._model.n_neighbors > 1:
            for box in np.flatnonzero(self.kept).tolist():
                self._used[box] = len(self._samples_close_to(box)) > 0
        labels, counts = self._boxes.labels, self._boxes.counts
        for label in range(self._boxes.n_classes):
            boxes = np.flatnonzero(self.kept & (labels == label))
            if len(boxes) and not self._used[boxes].any():
                self._used[boxes[counts[boxes].argmax()]] = True
        for j in np.flatnonzero(~self._has_values[self._used & self.kept].any(axis=0)):
            boxes = np.flatnonzero(self.kept & self._has_values[:, j])
            if len(boxes):
                self._used[boxes[counts[boxes].argmax()]] = True
        unused = np.flatnonzero(self.kept & ~self._used)
        self.kept[unused] = False
        return unused

    def pruned(self) -> Any:
        """Return a model of the boxes that are kept."""
        return self._original._with_boxes(self._boxes.take(self.kept))

    def _suspects(self) -> np.ndarray:
        """Return the boxes that decide samples wrongly, the worst first."""
        is_right = self._is_right(self._decider)
        wrong = np.bincount(self._decider[~is_right], minlength=len(self.kept))
        right = np.bincount(self._decider[is_right], minlength=len(self.kept))
        boxes = np.flatnonzero(wrong)
        worst_first = np.argsort((right - wrong)[boxes], kind="stable")
        return boxes[worst_first]

    def _drop_if_harmful(self, box: int) -> bool:
        labels = self._boxes.labels
        n_with_values = self._has_values[self.kept].sum(axis=0)
        is_last = (self._has_values[box] & (n_with_values == 1)).any()
        if is_last or np.count_nonzero(labels[self.kept] == labels[box]) == 1:
            return False
        rows = self._samples_close_to(box)
        self._boxes.hide(box)
        decisions = self._decide(rows)
        before, after = (self._is_right(d, rows).sum() for d in (self._decider[rows], decisions[0]))
        if after > before:
            self.kept[box] = False
            self._note(rows, decisions)
            return True
        self._boxes.show(box)
        return False

    def _batches(self) -> Iterator[np.ndarray]:
        for rows in slices(len(self._y), _ROWS_AT_ONCE):
            yield np.arange(rows.start, rows.stop)

    def _decide(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which boxes decide samples, how close they are, and whether others are."""
        return self._model.deciding_boxes(
            frozen(self._xl[rows]), frozen(self._xu[rows]), self._used
        )

    def _note(self, rows: np.ndarray, decisions: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        self._decider[rows], self._closest[rows], self._is_tied[rows] = decisions
        if self._model.n_neighbors > 1:
            ends = frozen(self._xl[rows]), frozen(self._xu[rows])
            _, distances = self._model.find_neighbors(*ends, self._model.n_neighbors)
            self._least[rows] = closeness(distances[..., -1])

    def _is_right(self, decider: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        return self._labels[decider] == self._y[rows]

    def _samples_close_to(self, box: int) -> np.ndarray:
        """Return the samples that a box is among the closest of."""
        if self._model.n_neighbors > 1:
            found = self._model.closeness(self._xl, self._xu, np.array([box]))[:, 0]
            label = self._boxes.labels[box]
            return np.flatnonzero((found >= self._least[:, label]) & (label >= 0))
        tied = np.flatnonzero(self._is_tied)
        rank = self._model.closeness
        closeness = rank(self._xl[tied], self._xu[tied], np.array([box]))[:, 0]
        is_close = closeness == self._closest[tied]
        alone = np.flatnonzero((self._decider == box) & ~self._is_tied)
        return np.concatenate((alone, tied[is_close]))
