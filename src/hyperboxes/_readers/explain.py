"""`explain`: why a model predicts what it predicts, for one sample or many."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from scipy.special import softmax

from hyperboxes._estimators.adaptive import AdaptiveGFMM
from hyperboxes._estimators.base import NUMBERS
from hyperboxes._estimators.boosted import BoostedHyperboxes
from hyperboxes._estimators.capabilities import Operation
from hyperboxes._estimators.categorical import known_categories
from hyperboxes._estimators.random import RandomHyperboxes
from hyperboxes._estimators.validation import check_upper, mark_validated, validate_samples
from hyperboxes._models.categories import Categories
from hyperboxes._models.hyperboxes import WeightedHyperboxes
from hyperboxes._readers import explanation_html, explanation_text
from hyperboxes._readers import explanation_html as explanation_html_readers
from hyperboxes._readers.counterfactuals import ChangeSearch, VoteChange, find_change
from hyperboxes._readers.ensembles import EnsembleExplanations, explain_ensemble
from hyperboxes._readers.explanation import Context, Explanation, SampleBounds
from hyperboxes._readers.fitted import (
    MOST_SHOWN,
    category_text,
    category_value,
    check_integer,
    describe_units,
    is_voting,
    json_value,
    name_classes,
    name_features,
    read_fitted,
    read_pipeline,
    set_text,
)
from hyperboxes._readers.memories import MemoryExplanations, explain_memory
from hyperboxes._readers.rules import value_text
from hyperboxes._readers.sequences import ExplanationSequence
from hyperboxes._readers.text import half_open_text


@dataclass(frozen=True, eq=False)
class ExplainedVote:
    """A box that holds a sample, and what it adds; a part of a `VoteExplanation`.

    Attributes
    ----------
    index : int
        Which box of ``hyperboxes_`` it is.
    label : object
        The class that it votes for most.
    class_name : str
        The name of that class.
    weights : ndarray of shape (n_classes,)
        What it adds to the score of each class.
    count : int
        How many training samples it holds.
    class_counts : ndarray of int, shape (n_classes,)
        The same by class.
    features : ndarray of int
        The features that it constrains.
    lower, upper : ndarray of shape (n_features,)
        Its ends, which belong to it; infinite where it is open.
    missing : ndarray of bool, shape (n_features,)
        Whether it holds samples that lack a feature.
    """

    index: int
    label: Any
    class_name: str
    weights: np.ndarray
    count: int
    class_counts: np.ndarray
    features: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    missing: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class VoteExplanation:
    """Why boxes that vote predict what they do for one sample.

    `explain` makes them of `BoostedHyperboxes`. Print it, show it in a notebook, or take its parts.

    Attributes
    ----------
    prediction : object
        The class that `predict` gives.
    class_name : str
        Its name.
    classes : ndarray of shape (n_classes,)
        All classes.
    class_names : list of str
        Their names.
    feature_names : list of str
        Names of the features.
    values : ndarray of shape (n_features,)
        The sample.
    intercept : ndarray of shape (n_classes,)
        What the scores start with.
    votes : list of ExplainedVote
        The boxes that hold the sample, those with the largest votes first.
    scores : ndarray of shape (n_classes,)
        The intercept and all votes, added up.
    probabilities : ndarray of shape (n_classes,)
        What `predict_proba` gives.
    n_boxes : int
        How many boxes the model has.
    change : VoteChange or None
        A change of few features after which the model predicts another class; None if none was
        found. It is searched for when it is first asked for.

    See Also
    --------
    explain : Explain samples.

    Examples
    --------
    >>> from hyperboxes import BoostedHyperboxes, explain
    >>> X, y = [[0.0], [1.0], [8.0], [10.0]] * 10, ["low", "low", "high", "high"] * 10
    >>> model = BoostedHyperboxes(2, random_state=0).fit(X, y)
    >>> explanation = explain(model, [[2.0]])[0]
    >>> explanation.class_name, len(explanation.votes)
    ('low', 1)
    >>> explanation.conditions(explanation.votes[0])
    ['x0 = 2 <= 4']
    >>> explanation.change.class_name
    'high'
    """

    prediction: Any
    class_name: str
    classes: np.ndarray
    class_names: list[str]
    feature_names: list[str]
    values: np.ndarray
    intercept: np.ndarray
    votes: list[ExplainedVote]
    scores: np.ndarray
    probabilities: np.ndarray
    n_boxes: int
    _search: ChangeSearch
    _units: str
    _categories: Mapping[int, Categories]

    @cached_property
    def change(self) -> VoteChange | None:
        """A change of few features after which the model predicts another class."""
        return self._search.find(self.values)

    def __repr__(self) -> str:
        boxes = [vote.index for vote in self.votes]
        return (
            f"{type(self).__name__}(prediction={self.class_name!r}, "
            f"probability={self.probabilities.max():.3f}, boxes={boxes})"
        )

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return explanation_html_readers.vote_explanation_html(self)

    def to_text(self, *, max_boxes: int | None = 12) -> str:
        """Return the explanation as a text: a row per box, a column per class.

        Parameters
        ----------
        max_boxes : int, default=12
            How many boxes to show at most, those with the largest votes; the others are added up.
            None: all.

        Returns
        -------
        text : str
            What ``print`` shows. There are columns for the classes with the largest scores, as many
            as fit.
        """
        check_integer("max_boxes", max_boxes, 0)
        return explanation_text.votes_to_text(self, max_boxes)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a dictionary that `json` can write.

        Returns
        -------
        explanation : dict
            Labels are plain Python values, numbers that are not known or not finite None. The keys:

            - ``prediction`` and ``class_name``,
            - ``classes``: for each class ``label``, ``name``, ``intercept``, ``score`` and
              ``probability``,
            - ``features``: for each feature ``name`` and ``value``,
            - ``boxes``: for each box that holds the sample ``box``, ``label``, ``class_name``,
              ``votes`` (one per class), ``count``, ``class_counts`` and ``conditions``, each with
              ``name``, ``lower``, ``upper`` (the ends, which belong to the box; of a categorical
              feature ``values`` instead) and ``missing`` (whether it holds missing values),
            - ``change`` (or None): ``features``, for each that changes ``name``, ``value`` and
              ``new_value``; ``prediction``, ``class_name`` and ``probability``.
        """
        numbers = zip(
            self.classes,
            self.class_names,
            self.intercept,
            self.scores,
            self.probabilities,
            strict=True,
        )
        keys = ("label", "name", "intercept", "score", "probability")
        return {
            "prediction": json_value(self.prediction),
            "class_name": self.class_name,
            "classes": [
                dict(zip(keys, map(json_value, values), strict=True)) for values in numbers
            ],
            "features": [
                {"name": name, "value": self._plain(j, self.values[j])}
                for j, name in enumerate(self.feature_names)
            ],
            "boxes": [self._vote(vote) for vote in self.votes],
            "change": None if self.change is None else self._change(self.change),
        }

    def _change(self, change: VoteChange) -> dict[str, Any]:
        return {
            "features": [
                {
                    "name": self.feature_names[j],
                    "value": self._plain(j, self.values[j]),
                    "new_value": self._plain(j, change.values[j]),
                }
                for j in change.features
            ],
            "prediction": json_value(change.prediction),
            "class_name": change.class_name,
            "probability": change.probability,
        }

    def _vote(self, vote: ExplainedVote) -> dict[str, Any]:
        return {
            "box": vote.index,
            "label": json_value(vote.label),
            "class_name": vote.class_name,
            "votes": vote.weights.tolist(),
            "count": vote.count,
            "class_counts": vote.class_counts.tolist(),
            "conditions": [
                {"name": self.feature_names[j]}
                | self._ends(vote, j)
                | {"missing": bool(vote.missing[j])}
                for j in vote.features
            ],
        }

    def _ends(self, vote: ExplainedVote, j: int) -> dict[str, Any]:
        low, high = vote.lower[j], vote.upper[j]
        if j in self._categories:
            return {"values": self._categories[j].values_between(low, high)}
        return {"lower": _finite(low), "upper": _finite(high)}

    def _plain(self, j: int, value: float) -> Any:
        """Return a value for JSON: a category as what it is."""
        if j in self._categories:
            return category_value(self._categories[j], value)
        return json_value(value)

    def conditions(self, vote: ExplainedVote) -> list[str]:
        """Return the conditions of a box with the values that meet them.

        Parameters
        ----------
        vote : ExplainedVote
            One of `votes`.

        Returns
        -------
        conditions : list of str
            Such as "worst area = 812 > 710".
        """
        return [self._condition(vote, j) for j in vote.features]

    def _condition(self, vote: ExplainedVote, j: int) -> str:
        name, value = self.feature_names[j], self.values[j]
        if np.isnan(value):
            return f"{name} missing"
        low, high = vote.lower[j], vote.upper[j]
        if (categories := self._categories.get(j)) is not None:
            text = category_text(categories, value)
            if len(categories.values_between(low, high)) in (1, len(categories.values)):
                return f"{name} = {text}"
            return f"{name} = {text} {set_text(categories, low, high, MOST_SHOWN)}"
        return half_open_text(f"{name} = {value_text(value, low, high)}", low, high)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


# `explain` asks the model itself for scores; here they are taken apart.


def explain_votes(
    model: Any, X: Any, X_upper: Any, feature_names: Any, class_names: Any
) -> VoteExplanations:
    """Explain what a fitted model of boxes that vote predicts for samples."""
    if X_upper is not None:
        raise ValueError(f"{type(model).__name__} takes no interval samples: no X_upper.")
    samples = validate_samples(model, X, reset=False, **NUMBERS)
    scores = model._scores(mark_validated(samples))
    asked = copy(model)  # as it is now: it may be fitted again

    def ask(rows: np.ndarray) -> np.ndarray:
        return asked._scores(mark_validated(rows))

    class_names = name_classes(model, class_names)
    context = _VoteContext(
        model.hyperboxes_,
        model.intercept_.copy(),
        model.classes_,
        class_names,
        name_features(model, feature_names),
        ChangeSearch(model.hyperboxes_, ask, model.classes_, class_names, known_categories(model)),
        describe_units(model),
    )
    return VoteExplanations(
        model.classes_[scores.argmax(axis=1)],
        scores,
        softmax(scores, axis=1),
        context.boxes.contains(samples),
        samples,
        context,
    )


@dataclass(frozen=True, eq=False)
class _VoteContext:
    """What the explanations of one model share."""

    boxes: WeightedHyperboxes
    intercept: np.ndarray
    classes: np.ndarray
    class_names: list[str]
    feature_names: list[str]
    search: ChangeSearch
    units: str

    def vote(self, box: int) -> ExplainedVote:
        """Return a box with its votes."""
        boxes, label = self.boxes, self.boxes.labels[box]
        return ExplainedVote(
            box,
            self.classes[label],
            self.class_names[label],
            boxes.weights[box],
            int(boxes.counts[box]),
            boxes.class_counts[box],
            np.flatnonzero(boxes.constrains[box]),
            boxes.lower[box],
            boxes.upper[box],
            boxes.missing[box],
        )

    def votes(self, held: np.ndarray) -> list[ExplainedVote]:
        """Return the boxes that hold a sample, those with the largest votes first."""
        boxes = np.flatnonzero(held)
        largest = np.abs(self.boxes.weights[boxes]).max(axis=1, initial=0.0)
        return [self.vote(box) for box in boxes[np.argsort(-largest, kind="stable")].tolist()]


@dataclass(frozen=True, eq=False, repr=False)
class VoteExplanations(ExplanationSequence[VoteExplanation]):
    """The explanations of several samples by boxes that vote: a sequence, and arrays of them all.

    `explain` makes them of `BoostedHyperboxes`.

    Attributes
    ----------
    predictions : ndarray of shape (n_samples,)
        What `predict` gives.
    scores : ndarray of shape (n_samples, n_classes)
        The intercepts plus the votes. Of two classes their difference is `decision_function`.
    probabilities : ndarray of shape (n_samples, n_classes)
        What `predict_proba` gives.
    held : ndarray of bool, shape (n_samples, n_boxes)
        Which boxes of ``hyperboxes_`` hold which samples.

    See Also
    --------
    explain : Explain samples.

    Examples
    --------
    >>> from hyperboxes import BoostedHyperboxes, explain
    >>> X, y = [[0.0], [1.0], [8.0], [10.0]] * 10, ["low", "low", "high", "high"] * 10
    >>> model = BoostedHyperboxes(2, random_state=0).fit(X, y)
    >>> explanations = explain(model, [[2.0], [9.0]])
    >>> explanations
    VoteExplanations(n_samples=2)
    >>> explanations.predictions.tolist(), explanations.held.sum(axis=1).tolist()
    (['low', 'high'], [1, 1])
    """

    predictions: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray
    held: np.ndarray
    _samples: np.ndarray
    _context: _VoteContext

    def _repr_html_(self) -> str:
        return explanation_html.vote_explanations_html(self)

    def _explanation(self, row: int) -> VoteExplanation:
        context = self._context
        return VoteExplanation(
            self.predictions[row],
            context.class_names[self.scores[row].argmax()],
            context.classes,
            context.class_names,
            context.feature_names,
            self._samples[row],
            context.intercept,
            context.votes(self.held[row]),
            self.scores[row],
            self.probabilities[row],
            len(context.boxes),
            context.search,
            context.units,
            context.search.categories,
        )


# `explain` asks the model itself for classes and memberships, and finds the boxes behind them.

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
    read_fitted(model, Operation.EXPLAIN)
    if isinstance(model, AdaptiveGFMM):
        return explain_memory(model, X, X_upper, feature_names, class_names)
    if isinstance(model, RandomHyperboxes):
        return explain_ensemble(model, X, X_upper, feature_names, class_names)
    if is_voting(model):
        return explain_votes(model, X, X_upper, feature_names, class_names)
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
        return explanation_html.explanations_html(self)

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
