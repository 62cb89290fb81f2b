"""Why a model says what it says about samples: the boxes that decided, and their rivals.

`explain` asks the model itself for classes and memberships, and finds the boxes behind them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from hyperboxes._estimators.adaptive import AdaptiveGFMM
from hyperboxes._estimators.base import NUMBERS
from hyperboxes._estimators.boosted import BoostedHyperboxes
from hyperboxes._estimators.random import RandomHyperboxes
from hyperboxes._estimators.validation import check_upper, validate_samples
from hyperboxes._explain import html
from hyperboxes._explain.context import Context, SampleBounds
from hyperboxes._explain.ensembles import EnsembleExplanations, explain_ensemble
from hyperboxes._explain.explanation import Explanation
from hyperboxes._explain.flips import find_change
from hyperboxes._explain.memories import MemoryExplanations, explain_memory
from hyperboxes._explain.pipelines import read_pipeline
from hyperboxes._explain.reading import is_voting, read_classifier
from hyperboxes._explain.sequences import ExplanationSequence
from hyperboxes._explain.vote_explaining import VoteExplanations, explain_votes

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
    model: RandomHyperboxes,
    X: Any,
    *,
    X_upper: Any = None,
    feature_names: Any = None,
    class_names: Any = None,
) -> EnsembleExplanations: ...


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
) -> Explanations | VoteExplanations | MemoryExplanations | EnsembleExplanations:
    """Explain what a fitted classifier predicts for samples.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a fitted Pipeline that ends in one: samples are then those that the
        Pipeline takes, names those that its steps give, and values as transformed.
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
    explanations : Explanations, VoteExplanations, MemoryExplanations or EnsembleExplanations
        A sequence with an `Explanation` for each sample, which can be printed, is a table with
        bars in a notebook, and a dictionary for other programs. Of boxes that vote
        (`BoostedHyperboxes`) it is a `VoteExplanation`: the boxes that hold the sample, and what
        each adds to the scores. Of `AdaptiveGFMM` it is a `MemoryExplanation`: the boxes that
        voted, and how recent they are. Of `RandomHyperboxes` it is an `EnsembleExplanation`: what
        each feature says for the class, and the boxes that spoke the loudest.

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
    >>> print(explanations[59])
    versicolor: box 4 (8 training samples) is the closest.
    Memberships: versicolor 0.996, virginica 0.964, setosa 0.596.
    <BLANKLINE>
                          sample  box 4, versicolor      box 3, virginica
    *  sepal width (cm)   2.2     2.2 to 2.7  inside     2.5 to 2.7  0.3 below
       petal length (cm)  5.0     3.8 to 4.9  0.1 above  5.0 to 5.8  inside
    <BLANKLINE>
    * counts most for box 4 against box 3. Box 4 fits worst in petal length (cm).
        In 2 other features both boxes hold the sample.
    To get virginica: petal length (cm) 5.0 -> 5.8.
    """
    model, X, X_upper = read_pipeline(model, X, X_upper)
    if isinstance(model, AdaptiveGFMM):
        return explain_memory(model, X, X_upper, feature_names, class_names)
    if isinstance(model, RandomHyperboxes):
        return explain_ensemble(model, X, X_upper, feature_names, class_names)
    if is_voting(model):
        return explain_votes(model, X, X_upper, feature_names, class_names)
    read_classifier(model, "explain")
    lower = validate_samples(model, X, reset=False, **NUMBERS)
    samples = SampleBounds(lower, check_upper(model, lower, X_upper))
    context = Context.of(model, feature_names, class_names)
    asked = samples.as_input()
    predictions, memberships = model.predict(*asked), model.membership(*asked)
    winning = model.apply(*asked)
    competing = _find_competing(context, samples, winning)
    return Explanations(predictions, memberships, winning, competing, samples, context)


def _find_competing(context: Context, samples: SampleBounds, winning: np.ndarray) -> np.ndarray:
    """Return the closest box of another class than that of the box that decided (-1: none)."""
    labelled = np.flatnonzero(context.boxes.labels >= 0)
    labels, counts = context.boxes.labels[labelled], context.boxes.counts[labelled]
    codes = context.boxes.labels[winning]
    competing = np.full(len(codes), -1)
    size = max(_GAPS_AT_ONCE // (len(labelled) * samples.lower.shape[1]), 1)
    for rows in (slice(start, start + size) for start in range(0, len(codes), size)):
        ranks = context.closeness(samples[rows], labelled)
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
    _samples: SampleBounds
    _context: Context

    def _repr_html_(self) -> str:
        return html.explanations_html(self)

    def _explanation(self, row: int) -> Explanation:
        context, memberships = self._context, self.memberships[row]
        sample = SampleBounds(self._samples.lower[row], self._samples.upper[row])
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
            context.rounding.beside(sample.lower, sample.upper),
            lambda: find_change(context, sample, context.boxes.labels[winning.index]),
            context.units,
        )
