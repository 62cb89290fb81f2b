"""Why a model says what it says about samples: the boxes that decided, and their rivals.

`explain` asks the model itself for classes and memberships, and finds the boxes behind them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, overload

import numpy as np
from sklearn.utils.validation import validate_data

from hyperboxes._estimators.adaptive import AdaptiveGFMM
from hyperboxes._estimators.base import NUMBERS
from hyperboxes._estimators.boosted import BoostedHyperboxes
from hyperboxes._estimators.validation import check_upper
from hyperboxes._explain import html
from hyperboxes._explain.explanation import Change, ExplainedBox, Explanation
from hyperboxes._explain.memories import MemoryExplanations, explain_memory
from hyperboxes._explain.reading import (
    ignoring_missing_names,
    is_voting,
    read_classifier,
    read_membership,
    read_scale,
)
from hyperboxes._explain.sequences import ExplanationSequence
from hyperboxes._explain.vote_explaining import VoteExplanations, explain_votes
from hyperboxes._explain.wording import Decimals, name_classes, name_features
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.membership import Membership, closeness
from hyperboxes._models.scaling import MinMaxScale

# Comparisons of a sample with a box in a feature at a time: some tens of megabytes.
_GAPS_AT_ONCE = 1_000_000


@overload
def explain(
    model: BoostedHyperboxes,
    X: Any,
    *,
    X_upper: None = None,
    feature_names: Any = None,
    class_names: Any = None,
) -> VoteExplanations: ...


@overload
def explain(
    model: AdaptiveGFMM,
    X: Any,
    *,
    X_upper: Any = None,
    feature_names: Any = None,
    class_names: Any = None,
) -> MemoryExplanations: ...


@overload
def explain(
    model: Any,
    X: Any,
    *,
    X_upper: Any = None,
    feature_names: Any = None,
    class_names: Any = None,
) -> Explanations: ...


def explain(
    model: Any,
    X: Any,
    *,
    X_upper: Any = None,
    feature_names: Any = None,
    class_names: Any = None,
) -> Explanations | VoteExplanations | MemoryExplanations:
    """Explain what a fitted classifier predicts for samples.

    Parameters
    ----------
    model : estimator
        A fitted classifier.
    X : array-like of shape (n_samples, n_features)
        The samples, or the lower ends of interval samples.
    X_upper : array-like of shape (n_samples, n_features), default=None
        The upper ends of interval samples. Not for boxes that vote.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features. None: those of the training data, or x0, x1, ...
    class_names : array-like of shape (n_classes,), default=None
        Names of the classes, in the order of ``classes_``. None: the labels.

    Returns
    -------
    explanations : Explanations, VoteExplanations or MemoryExplanations
        A sequence with an `Explanation` for each sample, which can be printed, is a table with
        bars in a notebook, and a dictionary for other programs. Of boxes that vote
        (`BoostedHyperboxes`) it is a `VoteExplanation`: the boxes that hold the sample, and what
        each adds to the scores. Of `AdaptiveGFMM` it is a `MemoryExplanation`: the boxes that
        voted, and how recent they are.

    See Also
    --------
    export_html : A page with the explanations of many samples.
    ParallelCoordinatesDisplay : A picture of a sample and the boxes nearest to it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import ImprovedOnlineGFMM, explain
    >>> iris = load_iris(as_frame=True)
    >>> model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(iris.data[::2], iris.target[::2])
    >>> explanations = explain(model, iris.data[1::2], class_names=iris.target_names)
    >>> print(explanations[38])
    virginica: box 0 (14 training samples) is the closest.
    Memberships: virginica 0.990, versicolor 0.985, setosa 0.617.
    <BLANKLINE>
                          sample  box 0, virginica       box 2, versicolor
    *  petal width (cm)   1.7     1.8 to 2.5  0.1 below  1.3 to 1.6  0.1 above
       petal length (cm)  5.0     4.8 to 6.0  inside     4.3 to 4.9  0.1 above
    <BLANKLINE>
    * farthest outside; all features count. In 2 other features both boxes hold the
        sample.
    Into box 2 (versicolor): petal length (cm) 5.0 -> 4.9, petal width (cm)
        1.7 -> 1.6.
    Then the model predicts versicolor.
    """
    if isinstance(model, AdaptiveGFMM):
        return explain_memory(model, X, X_upper, feature_names, class_names)
    if is_voting(model):
        return explain_votes(model, X, X_upper, feature_names, class_names)
    read_classifier(model, "explain")
    lower = validate_data(model, X, reset=False, **NUMBERS)
    samples = _SampleBounds(lower, check_upper(model, lower, X_upper))
    context = _Context.of(model, samples, feature_names, class_names)
    predictions, memberships = model.predict(X, X_upper), model.membership(X, X_upper)
    winning = model.apply(X, X_upper)
    competing = _find_competing(context, samples, winning)
    changed = context.moved_into(competing, samples)
    with ignoring_missing_names():
        changed_predictions = model.predict(changed.lower, changed.upper)
        changed_memberships = model.membership(changed.lower, changed.upper)
    return Explanations(
        predictions,
        memberships,
        winning,
        competing,
        samples,
        changed,
        changed_predictions,
        changed_memberships,
        context,
    )


@dataclass(frozen=True, eq=False)
class _SampleBounds:
    """Both ends of samples."""

    lower: np.ndarray
    upper: np.ndarray

    def __getitem__(self, rows: slice) -> _SampleBounds:
        return _SampleBounds(self.lower[rows], self.upper[rows])


@dataclass(frozen=True, eq=False)
class _Context:
    """What the explanations of one model share."""

    boxes: Hyperboxes
    classes: np.ndarray
    class_names: list[str]
    feature_names: list[str]
    scale: MinMaxScale
    membership: Membership
    rounding: Decimals

    @classmethod
    def of(cls, model: Any, samples: _SampleBounds, feature_names: Any, class_names: Any) -> Self:
        boxes = model.hyperboxes_
        values = np.concatenate([boxes.lower, boxes.upper, samples.lower, samples.upper])
        return cls(
            boxes,
            model.classes_,
            name_classes(model, class_names),
            name_features(model, feature_names),
            read_scale(model),
            read_membership(model),
            Decimals.by_range(model, values),
        )

    def code(self, labels: Any) -> Any:
        """Return labels as indices into the classes."""
        return np.searchsorted(self.classes, labels)

    def moved_into(self, boxes: np.ndarray, samples: _SampleBounds) -> _SampleBounds:
        """Return samples moved as little as puts them into a box each; -1: not at all."""
        low, high = self.boxes.lower[boxes], self.boxes.upper[boxes]
        low[boxes < 0] = high[boxes < 0] = np.nan
        v, w = self.scale.transform(low), self.scale.transform(high)
        moved = []
        for values in (samples.lower, samples.upper):
            scaled = self.scale.transform(values)
            moved.append(np.select([scaled < v, scaled > w], [low, high], values))
        return _SampleBounds(*moved)

    def explained(self, box: int, sample: _SampleBounds, memberships: np.ndarray) -> ExplainedBox:
        """Return a box with the place of a sample relative to it."""
        low, high, code = self.boxes.lower[box], self.boxes.upper[box], self.boxes.labels[box]
        distance = self._distance(sample, low, high)
        return ExplainedBox(
            int(box),
            self.classes[code],
            self.class_names[code],
            int(self.boxes.counts[box]),
            float(memberships[code]),
            low,
            high,
            distance,
            distance / self.scale.span,
        )

    def _distance(self, sample: _SampleBounds, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return how far outside of bounds a sample is, at most 0 where that takes no membership.

        It may lie outside by a rounding error that scaling takes away.
        """
        transform = self.scale.transform
        with np.errstate(over="ignore"):
            distance = np.maximum(sample.upper - high, low - sample.lower)
            gaps = np.maximum(
                transform(sample.upper) - transform(high), transform(low) - transform(sample.lower)
            )
            is_outside = self.membership.slopes(gaps) > 0
            return np.where(is_outside, distance, np.minimum(distance, 0.0))

    def deciding(self, *boxes: ExplainedBox | None) -> int | None:
        """Return the feature that is farthest outside of the first box that it is outside of."""
        for box in boxes:
            if box is not None and not box.holds_sample:
                return int(np.nanargmax(self.membership.gamma * box.fraction))
        return None


def _find_competing(context: _Context, samples: _SampleBounds, winning: np.ndarray) -> np.ndarray:
    """Return the closest box of another class than that of the box that decided (-1: none)."""
    labelled = np.flatnonzero(context.boxes.labels >= 0)
    labels, counts = context.boxes.labels[labelled], context.boxes.counts[labelled]
    codes = context.boxes.labels[winning]
    competing = np.full(len(codes), -1)
    transform = context.scale.transform
    v, w = transform(context.boxes.lower[labelled]), transform(context.boxes.upper[labelled])
    xl, xu = transform(samples.lower)[:, None], transform(samples.upper)[:, None]
    size = max(_GAPS_AT_ONCE // v.size, 1)
    for rows in (slice(start, start + size) for start in range(0, len(codes), size)):
        with np.errstate(over="ignore"):
            gaps = np.maximum(xu[rows] - w, v - xl[rows])
            ranks = closeness(context.membership.distance(gaps))
        among = labels != codes[rows, None]
        best = ranks.max(axis=1, keepdims=True, where=among, initial=-np.inf)
        rivals = among & (ranks == best)
        nearest = labelled[np.where(rivals, counts, -1).argmax(axis=1)]
        competing[rows] = np.where(rivals.any(axis=1), nearest, -1)
    return competing


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(ExplanationSequence[Explanation]):
    """The explanations of several samples: a sequence, with the main results as arrays.

    `explain` makes them.

    Attributes
    ----------
    predictions : ndarray of shape (n_samples,)
        What `predict` gives.
    memberships : ndarray of shape (n_samples, n_classes)
        What `membership` gives.
    winning, competing : ndarray of int, shape (n_samples,)
        The boxes that decided and their strongest rivals, as indices into ``hyperboxes_``; -1 where
        there is no rival.

    See Also
    --------
    explain : Explain samples.

    Examples
    --------
    >>> from hyperboxes import ImprovedOnlineGFMM, explain
    >>> X, y = [[0.0], [1.0], [8.0], [10.0]], [0, 0, 1, 1]
    >>> model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X, y)
    >>> explanations = explain(model, [[2.0], [9.0]])
    >>> explanations
    Explanations(n_samples=2)
    >>> explanations.winning, explanations.competing
    (array([1, 0]), array([0, 1]))
    >>> [explanation.class_name for explanation in explanations]
    ['class 0', 'class 1']
    """

    predictions: np.ndarray
    memberships: np.ndarray
    winning: np.ndarray
    competing: np.ndarray
    _samples: _SampleBounds
    _changed: _SampleBounds
    _changed_predictions: np.ndarray
    _changed_memberships: np.ndarray
    _context: _Context

    def _repr_html_(self) -> str:
        return html.explanations_html(self)

    def _explanation(self, row: int) -> Explanation:
        context, memberships = self._context, self.memberships[row]
        sample = _SampleBounds(self._samples.lower[row], self._samples.upper[row])
        winning = context.explained(self.winning[row], sample, memberships)
        competing = None
        if self.competing[row] >= 0:
            competing = context.explained(self.competing[row], sample, memberships)
        return Explanation(
            self.predictions[row],
            winning.class_name,
            context.classes,
            context.class_names,
            memberships,
            context.feature_names,
            sample.lower,
            sample.upper,
            context.scale.low,
            context.scale.high,
            context.membership.gamma,
            context.membership.function,
            winning,
            competing,
            context.deciding(winning, competing),
            None if competing is None else self._change(row, competing),
            context.rounding,
        )

    def _change(self, row: int, competing: ExplainedBox) -> Change:
        prediction = self._changed_predictions[row]
        code = self._context.code(prediction)
        rival = self._context.code(competing.label)
        old, new = self._samples, self._changed
        changed = (new.lower[row] != old.lower[row]) | (new.upper[row] != old.upper[row])
        return Change(
            np.flatnonzero(changed & ~np.isnan(old.lower[row])),
            new.lower[row],
            new.upper[row],
            prediction,
            self._context.class_names[code],
            float(self._changed_memberships[row, rival]),
            bool(code == rival),
        )
