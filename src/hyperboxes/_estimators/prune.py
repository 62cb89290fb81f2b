"""`prune`: a smaller model without the boxes that do harm or nothing on validation samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from hyperboxes._estimators.classifier import BaseGFMM
from hyperboxes._estimators.refusals import refuse_votes
from hyperboxes._estimators.validation import check_known_classes
from hyperboxes._models.boxes import Boxes

Model = TypeVar("Model", bound=BaseGFMM)


@dataclass(frozen=True, eq=False)
class Pruning:
    """What `prune` has dropped, and what that did to the accuracy.

    Attributes
    ----------
    harmful, unused : ndarray of int
        The boxes dropped for the one reason or the other, as indices into the ``hyperboxes_`` of
        the model that was pruned.
    n_boxes : int
        How many boxes that model has.
    accuracy_before, accuracy_after : float
        Share of the validation samples that are predicted rightly without and with pruning.
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

    A box does harm if more samples are predicted rightly without it. Boxes are tried one after the
    other, those first that decide the most samples wrongly on balance, until all that are left do
    good. A box does nothing if it has no say in any sample's prediction: it is not among the boxes
    of the predicted class with the largest membership. Of each class a box is kept.

    Parameters
    ----------
    model : fitted classifier
        It stays as it is.
    X_val : array-like of shape (n_samples, n_features)
        Validation samples, which the model has not been trained on.
    y_val : array-like of shape (n_samples,)
        Their labels.
    keep_unused : bool, default=False
        Whether to keep boxes that do nothing: where validation samples are few they are many.
    X_upper : array-like of shape (n_samples, n_features), default=None
        The upper ends of interval samples.

    Returns
    -------
    model : classifier
        A new fitted model, which can go on learning. Its attribute ``pruning_`` says what was
        dropped; `save` does not keep it.

    See Also
    --------
    merge : Makes one model of several that were learned apart.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from hyperboxes import ImprovedOnlineGFMM, prune
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_val, y, y_val = train_test_split(X, y, random_state=0)
    >>> model = prune(ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X, y), X_val, y_val)
    >>> len(model.pruning_.harmful), len(model.pruning_.unused), len(model.hyperboxes_)
    (2, 69, 27)
    """
    refuse_votes(model, "prune", "Votes hold only together: fit one with smaller max_boxes.")
    if not isinstance(model, BaseGFMM):
        raise TypeError(f"Only classifiers of this package can be pruned, not {model!r}.")
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
    after = search.accuracy
    search.model.pruning_ = Pruning(harmful, unused, len(search.kept), before, after)
    return search.model


class _Search:
    """The model as pruned so far, and how it does on the validation samples."""

    def __init__(self, model: Any, X: Any, y: np.ndarray, X_upper: Any) -> None:
        self._samples = X, X_upper
        self._y = y
        self._original = model
        self.kept = np.ones(len(model.hyperboxes_), bool)
        self._take(model)

    @property
    def accuracy(self) -> float:
        """The share of samples that are predicted rightly."""
        return float(np.mean(self._is_right))

    def drop_harmful(self) -> None:
        """Drop boxes without which more samples are right, until there is none."""
        is_done = False
        while not is_done:
            dropped = [box for box in self._suspects() if self._drop_if_harmful(box)]
            is_done = not dropped

    def drop_unused(self) -> np.ndarray:
        """Drop boxes without a say, but for one of each class; return which."""
        labels, counts = self.model.hyperboxes_.labels, self.model.hyperboxes_.counts
        used = self._used.copy()
        for label in range(len(self.model.classes_)):
            boxes = np.flatnonzero(labels == label)
            if len(boxes) and not used[boxes].any():
                used[boxes[counts[boxes].argmax()]] = True
        places = np.flatnonzero(self.kept)[~used]
        self.kept[places] = False
        self._take(self._without_dropped())
        return places

    def _suspects(self) -> np.ndarray:
        """Return the boxes that decide samples wrongly, the worst first."""
        n_boxes = len(self.model.hyperboxes_)
        wrong = np.bincount(self._deciders[~self._is_right], minlength=n_boxes)
        right = np.bincount(self._deciders[self._is_right], minlength=n_boxes)
        boxes = np.flatnonzero(wrong)
        worst_first = np.argsort((right - wrong)[boxes], kind="stable")
        return np.flatnonzero(self.kept)[boxes[worst_first]]

    def _drop_if_harmful(self, box: int) -> bool:
        labels = self._original.hyperboxes_.labels
        if np.count_nonzero(labels[self.kept] == labels[box]) == 1:
            return False
        self.kept[box] = False
        model = self._without_dropped()
        if np.mean(model.predict(*self._samples) == self._y) > self.accuracy:
            self._take(model)
            return True
        self.kept[box] = True
        return False

    def _take(self, model: Any) -> None:
        """Go on with a model."""
        self.model = model
        self._deciders, self._used = model._find_deciders(*self._samples)
        labels = model.hyperboxes_.labels[self._deciders]
        self._is_right = model.classes_[labels] == self._y

    def _without_dropped(self) -> Any:
        boxes = self._original._model.boxes
        rows = (row[self.kept] for row in boxes.rows)
        fewer = Boxes.of_rows(*rows, n_classes=boxes.n_classes)
        fewer.n_candidates = boxes.n_candidates
        return self._original._with_boxes(fewer)
