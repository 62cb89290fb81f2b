"""Explanations of predictions: what users take apart, print, show or pass on to other programs."""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from hyperboxes._models import executor, records
from hyperboxes._models.categories import Categories
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.samples import MinMaxScale
from hyperboxes._readers import explanation_html, explanation_text
from hyperboxes._readers.counterfactuals import Found, change_additive, change_nearest
from hyperboxes._readers.fitted import FittedModel, check_integer
from hyperboxes._readers.text import Bounds, Rounding, category_value, json_value

# What rounding errors may make of no difference between memberships.
_NOISE = 1e-9


@dataclass(frozen=True, eq=False)
class ExplainedBox:
    """A box that contributes to a prediction, and where the sample lies relative to it.

    It is a part of an `Explanation`.

    Attributes
    ----------
    index : int
        Its index in ``hyperboxes_``; of ensembles, in ``members_[member]``.
    member : int or None
        The member of the ensemble that has the box; None for other models.
    label : object
        Its class; of additive models, the class with the largest weight.
    class_name : str
        The name of that class.
    count : int
        How many training samples it has absorbed; of additive models, how many it contains.
    class_counts : ndarray of int, shape (n_classes,), or None
        The same by class, for additive models.
    age : int or None
        How many samples were learned since it last absorbed one, for `AdaptiveGFMM`.
    contributions : ndarray of shape (n_classes,)
        What it adds to the score of each class: its membership, weights, or share of the votes or
        of the probability.
    lower, upper : ndarray of shape (n_features,)
        Its bounds, infinite where it is open, NaN where all its samples lack the feature.
    missing_shares : ndarray of shape (n_features,), or None
        How far samples that lack a feature meet its condition, from 0 to 1, for additive models.
    part : float
        Which part of its weights it adds: less than 1 in additive models if it has conditions on
        values that the sample lacks, and otherwise 1.
    distance : ndarray of shape (n_features,)
        How far outside of the bounds the sample lies, in the units of the data; below 0: how far
        inside, from the nearest bound. NaN where the value or the bound is unknown.
    fraction : ndarray of shape (n_features,)
        How far outside it lies as a fraction of the range of the training data, as the model
        computes it. In a duel it is below 0 inside, in other layouts 0.
    """

    index: int
    member: int | None
    label: Any
    class_name: str
    count: int
    class_counts: np.ndarray | None
    age: int | None
    contributions: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    missing_shares: np.ndarray | None
    part: float
    distance: np.ndarray
    fraction: np.ndarray

    @property
    def holds_sample(self) -> bool:
        """Whether the sample lies inside in all features, as far as is known."""
        return not (self.fraction > 0).any()

    @property
    def membership(self) -> float:
        """The largest of the contributions; in a duel, the membership of the sample in the box."""
        return float(self.contributions.max())

    @property
    def constrained(self) -> np.ndarray:
        """The features in which a value or a missing one can lie outside of the box."""
        is_bounded = np.isfinite(self.lower) | np.isfinite(self.upper)
        if self.missing_shares is not None:
            is_bounded |= self.missing_shares < 1.0
        return np.flatnonzero(is_bounded)


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """A sample with few features changed for which the model predicts another class.

    It is a part of an `Explanation`.

    Attributes
    ----------
    features : ndarray of int
        The features that change.
    lower, upper : ndarray of shape (n_features,)
        The ends of the changed sample; the same unless samples are intervals.
    prediction : object
        What the model predicts for it.
    class_name : str
        The name of that class.
    probability : float
        The probability of that class then.
    """

    features: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    prediction: Any
    class_name: str
    probability: float


@dataclass(frozen=True, eq=False)
class ExplainedModel:
    """A model as it was when `explain` was called, for all explanations that it returned."""

    fitted: FittedModel
    hyperboxes: Hyperboxes | None
    numbers: Rounding | Bounds | None
    fixed: Sequence[int]
    is_whole: np.ndarray

    @classmethod
    def of(cls, fitted: FittedModel, samples: np.ndarray, fixed: Sequence[int]) -> Self:
        """Copy what an update of the estimator may change."""
        unknown = np.zeros(fitted.n_features, bool)
        match fitted.record:
            case records.BoxEnsemble():
                return cls(fitted, None, Bounds.of(fitted), fixed, unknown)
            case records.AdditiveBoxes() as record:
                is_whole = _find_whole(record, fitted.categories, samples)
                return cls(fitted, fitted.hyperboxes, None, fixed, is_whole)
            case _:
                return cls(fitted, fitted.hyperboxes, Rounding.of(fitted), fixed, unknown)

    @property
    def n_boxes(self) -> int:
        """How many boxes the model has."""
        record = self.fitted.record
        if isinstance(record, records.BoxEnsemble):
            return sum(len(member.labels) for member in record.members)
        return len(record.labels)

    def find_change(self, lower: np.ndarray, upper: np.ndarray, code: int) -> Found:
        """Search a change of a sample such that another class than that of a code is predicted."""
        match self.fitted.record, self.hyperboxes, self.numbers:
            case records.NearestBoxes() as record, Hyperboxes() as boxes, Rounding() as rounding:
                return change_nearest(record, boxes, rounding, lower, upper, code, self.fixed)
            case records.AdditiveBoxes() as record, _, _:
                categories = self.fitted.categories
                return change_additive(record, categories, lower, code, self.fixed, self.is_whole)
            case _:
                return Found(None, is_complete=True)


def _find_whole(
    record: records.AdditiveBoxes, categories: Mapping[int, Categories], samples: np.ndarray
) -> np.ndarray:
    """Return which features seem to be whole numbers, of which a model keeps only thresholds.

    Samples are whole, and there are several thresholds, each in the middle of two whole numbers.
    """
    is_whole = ((np.round(samples) == samples) | np.isnan(samples)).all(axis=0)
    for j in np.flatnonzero(is_whole).tolist():
        ends = np.append(np.nextafter(record.lower[:, j], -np.inf), record.upper[:, j])
        ends = np.unique(ends[np.isfinite(ends)])
        is_middle = (np.round(2 * ends) == 2 * ends).all()
        is_whole[j] = (
            j not in categories
            and len(ends) > 1
            and is_middle
            and (np.diff(np.floor(ends)) > 0).all()
        )
    return is_whole


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why a model predicts a class for one sample.

    `explain` returns them. Print one, show it in a notebook, or use its attributes. There are two
    layouts: a duel of the box that decides and the nearest box of another class, for models in
    which the nearest box decides; and a sum of contributions of boxes to the scores of classes, for
    all others, including those in which several nearest boxes decide (``n_neighbors_ > 1``).

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
    scores : ndarray of shape (n_classes,)
        What the classes are compared by: memberships in a duel; in a sum the baseline plus all
        contributions. Ensembles compare the probabilities calibrated from them. Where several
        nearest boxes decide, scores are the probabilities.
    probabilities : ndarray of shape (n_classes,)
        What `predict_proba` gives.
    layout : {"duel", "sum"}
        How the boxes decide.
    boxes : list of ExplainedBox
        In a duel, the box that decides and the competing box, if there is one. Of the boxes of a
        class that are equally near, it is the one that has absorbed the most training samples, then
        the oldest; if a box of a single sample resolves an overlap of classes, it is that box. In a
        sum, all boxes that contribute, those with the largest contributions first.
    baseline : ndarray of shape (n_classes,)
        What the scores start with: the intercept of additive models; where several nearest boxes
        decide, the part of the probabilities that the classes' shares of the samples give; else 0.
        Where values are missing, it includes what moves the scores to the class shares.
    feature_contributions : ndarray of shape (n_features,) or None
        For ensembles: how much nearer the predicted class is in each feature than the runner-up, as
        a mean over the members and a share of the largest distance.
    notes : list of str
        Further facts about the decision: experts of `AdaptiveGFMM`, members of ensembles, units.
    feature_names : list of str
        Names of the features.
    lower, upper : ndarray of shape (n_features,)
        The ends of the sample; the same unless samples are intervals.
    n_boxes : int
        How many boxes the model has.

    See Also
    --------
    explain : Explain samples.

    Examples
    --------
    >>> from hyperboxes import ImprovedOnlineGFMM, explain
    >>> X, y = [[1.0, 30.0], [2.0, 20.0], [9.0, 80.0]], ["low", "low", "high"]
    >>> explanation = explain(ImprovedOnlineGFMM(random_state=0).fit(X, y), [[4.0, 40.0]])[0]
    >>> explanation
    Explanation(prediction='low', layout='duel', boxes=[1, 0])
    >>> explanation.feature_names[explanation.deciding], explanation.competing.distance
    ('x1', array([ 5., 40.]))
    >>> found = explanation.counterfactual
    >>> found.features, found.lower, found.class_name
    (array([0]), array([ 9., 40.]), 'high')
    """

    prediction: Any
    class_name: str
    classes: np.ndarray
    class_names: list[str]
    scores: np.ndarray
    probabilities: np.ndarray
    layout: Literal["duel", "sum"]
    boxes: list[ExplainedBox]
    baseline: np.ndarray
    feature_contributions: np.ndarray | None
    notes: list[str]
    feature_names: list[str]
    lower: np.ndarray
    upper: np.ndarray
    n_boxes: int
    _model: ExplainedModel

    @property
    def winning(self) -> ExplainedBox | None:
        """The first of `boxes` that is of the predicted class; None if there is none."""
        return next((box for box in self.boxes if box.label == self.prediction), None)

    @property
    def competing(self) -> ExplainedBox | None:
        """The first of `boxes` that is of another class; None if there is none."""
        return next((box for box in self.boxes if box.label != self.prediction), None)

    @cached_property
    def _found(self) -> Found:
        return self._model.find_change(self.lower, self.upper, self._code)

    @cached_property
    def counterfactual(self) -> Counterfactual | None:
        """A small change for which the model predicts another class; None if none was found.

        The search runs when this is first read. It is greedy: few features change, each as little
        as possible. There is none for `AdaptiveGFMM` and ensembles.
        """
        lower = self._found.values
        if lower is None:
            return None
        upper = np.where(lower == self.lower, self.upper, lower + (self.upper - self.lower))
        evaluation = executor.evaluate(self._record, lower[None], upper[None])
        assert evaluation.probabilities is not None
        code = evaluation.winners[0]
        return Counterfactual(
            np.flatnonzero((lower != self.lower) & ~np.isnan(lower)),
            lower,
            upper,
            self.classes[code],
            self.class_names[code],
            float(evaluation.probabilities[0, code]),
        )

    @property
    def is_search_complete(self) -> bool:
        """Whether the search for a counterfactual ended before its limit of work.

        If not, there may be a smaller counterfactual, or one although none was found.
        """
        return self._found.is_complete

    @property
    def deciding(self) -> int | None:
        """The feature that counts most for the winning box of a duel, against the competing one.

        With ``"mean"``, it adds most to the difference of the memberships; with ``"min"``, it sets
        the membership of the competing box. None if there is no competing box, or both are equally
        near.
        """
        if self.layout == "sum" or self.competing is None:
            return None
        misses, separation = self._misses(self.competing), self.separation()
        feature = (separation if self._is_mean else misses).argmax()
        is_ahead = self._distance(self.competing) > self._distance(self.boxes[0])
        return int(feature) if separation[feature] > _NOISE and is_ahead else None

    @property
    def worst(self) -> int | None:
        """The feature of a duel in which the sample fits the winning box worst.

        It is where the sample is farthest outside, weighted with gamma; None if it is inside.
        """
        if self.layout == "sum":
            return None
        misses = self._misses(self.boxes[0])
        return int(misses.argmax()) if (misses > 0).any() else None

    def separation(self) -> np.ndarray:
        """Return how much each feature of a duel favours the winning box over the competing one.

        Returns
        -------
        separation : ndarray of shape (n_features,)
            What the competing box loses of its membership by the feature, less what the winning
            box loses, before they are combined. Below 0 where the sample is nearer to the competing
            box, 0 where both contain it or nothing is known.
        """
        if self.layout == "sum" or self.competing is None:
            return np.zeros(len(self.lower))
        return self._misses(self.competing) - self._misses(self.boxes[0])

    def is_complete_in(self, box: ExplainedBox) -> bool:
        """Whether both sample and box have values in all features, so that it may resolve a tie."""
        assert isinstance(self._record, records.NearestBoxes)
        compared = self._record.compared
        return not np.isnan(box.lower + self.lower)[compared].any()

    @property
    def _code(self) -> int:
        """The predicted class as an index."""
        return int(np.flatnonzero(self.classes == self.prediction)[0])

    @property
    def _rival(self) -> int:
        """The class with the largest score among the others."""
        return int(np.where(self.classes == self.prediction, -np.inf, self.scores).argmax())

    @property
    def _record(self) -> records.Record:
        return self._model.fitted.record

    @property
    def _is_additive(self) -> bool:
        return isinstance(self._record, records.AdditiveBoxes)

    @property
    def _is_nearest(self) -> bool:
        return isinstance(self._record, records.NearestBoxes)

    @property
    def _n_neighbors(self) -> int:
        return self._record.n_neighbors if isinstance(self._record, records.NearestBoxes) else 1

    @property
    def _is_whole(self) -> np.ndarray:
        """Which features seem to be whole numbers."""
        return self._model.is_whole

    @property
    def _is_mean(self) -> bool:
        return isinstance(self._record, records.NearestBoxes) and self._record.is_mean

    @property
    def _categories(self) -> Mapping[int, Categories]:
        return self._model.fitted.categories

    @property
    def _scale(self) -> MinMaxScale:
        return self._model.fitted.scale

    def _feature_weights(self, box: ExplainedBox) -> np.ndarray:
        """Return what features weigh, for the order of a box's conditions."""
        if self.feature_contributions is not None:
            return self.feature_contributions
        if isinstance(self._record, records.NeighborBoxes):
            return self._record.feature_weights
        return self._slopes(box)

    @cached_property
    def _numbers(self) -> Rounding | Bounds:
        numbers = self._model.numbers
        assert numbers is not None
        return numbers.beside(self.lower, self.upper) if isinstance(numbers, Rounding) else numbers

    @property
    def _rounding(self) -> Rounding:
        assert isinstance(self._numbers, Rounding)
        return self._numbers

    def _misses(self, box: ExplainedBox) -> np.ndarray:
        """Return what a box loses by each feature; a part of a mean is at most 1."""
        misses = self._slopes(box)
        return np.minimum(misses, 1.0) if self._is_mean and self.boxes[0].membership else misses

    def _slopes(self, box: ExplainedBox) -> np.ndarray:
        assert isinstance(self._record, records.NearestBoxes)
        return np.nan_to_num(self._record.gamma * np.maximum(box.fraction, 0.0), posinf=np.inf)

    def _distance(self, box: ExplainedBox) -> float:
        """Return by how much a box misses the sample: less is closer."""
        if box.membership > 0:
            return -box.membership
        misses = self._misses(box)
        return float(misses.mean() if self._is_mean else misses.max())

    def features_by_weight(self) -> list[int]:
        """Return the features that matter for the decision, the most important first.

        Returns
        -------
        features : list of int
            In a duel, those in which a box does not contain the sample: the deciding one, then the
            others by how much they separate the two boxes, for the one or the other
            (`separation`), and then by their distance from both. Of ensembles, those that
            contribute. Where several nearest boxes decide, those in which one of them does not
            contain the sample. Of other models, those that a box constrains.
        """
        if self.layout == "duel":
            outside = np.maximum.reduce([self._slopes(box) for box in self.boxes])
            weights = np.abs(np.nan_to_num(self.separation()))
            if self.deciding is not None:
                weights[self.deciding] = np.inf
            order = np.lexsort((-outside, -weights))
            return order[outside[order] > 0].tolist()
        weights = np.zeros(len(self.lower))
        if self.feature_contributions is not None:
            weights = np.abs(self.feature_contributions)
        else:
            for box in self.boxes:
                constrained = box.constrained
                of_box = self._slopes(box)[constrained] if self._is_nearest else 1.0
                weights[constrained] += np.abs(box.contributions).max() * of_box
        order = np.argsort(-weights, kind="stable")
        return order[weights[order] > 0].tolist()

    def conditions(self, box: ExplainedBox) -> list[str]:
        """Return the conditions of a box, in additive models with the values that meet them.

        Where several nearest boxes decide, conditions that the sample does not meet have its
        distance.

        Parameters
        ----------
        box : ExplainedBox
            One of `boxes`.

        Returns
        -------
        conditions : list of str
            Such as "worst area = 812 > 710", one for each feature that the box constrains.
        """
        return [explanation_text.condition(self, box, j) for j in box.constrained.tolist()]

    def __repr__(self) -> str:
        names = [box.index if box.member is None else (box.member, box.index) for box in self.boxes]
        return (
            f"{type(self).__name__}(prediction={self.class_name!r}, layout={self.layout!r}, "
            f"boxes={reprlib.repr(names)})"
        )

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return explanation_html.write([self])

    def to_text(self, *, max_features: int | None = 8, max_boxes: int | None = 12) -> str:
        """Return the explanation as a text with a table.

        Parameters
        ----------
        max_features : int, default=8
            How many features to show at most: in a duel, of those in which the sample lies outside
            of a box; of ensembles, of those that contribute. None: all.
        max_boxes : int, default=12
            How many boxes of a sum to show at most; the others, and those that contribute less than
            0.005, are added up. None: all.

        Returns
        -------
        text : str
            What ``print`` shows. Of a sum, it has columns for the classes with the largest scores,
            as many as fit.
        """
        check_integer("max_features", max_features, 0)
        check_integer("max_boxes", max_boxes, 0)
        return explanation_text.write(self, max_features, max_boxes)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a dictionary that `json` can write.

        Returns
        -------
        explanation : dict
            Labels are plain Python values, numbers that are unknown or infinite None. The keys:

            - ``prediction``, ``class_name`` and ``layout``,
            - ``classes``: for each class ``label``, ``name``, ``baseline``, ``score`` and
              ``probability``,
            - ``features``: for each feature ``name``, ``value``, ``value_upper`` (the same unless
              samples are intervals) and ``contribution`` (None but for ensembles),
            - ``boxes``: for each of `boxes` ``member``, ``box``, ``label``, ``class_name``,
              ``count``, ``class_counts``, ``age``, ``part``, ``contributions`` (one for each
              class) and ``conditions``: for each feature that the box constrains ``name``,
              ``lower``, ``upper``, ``missing_share``, ``distance``, ``fraction``, and of a
              categorical feature the ``values`` that the box contains,
            - ``deciding_feature`` and ``worst_feature``: names, or None,
            - ``notes``,
            - ``counterfactual`` (or None): ``features``, for each that changes ``name``, ``value``,
              ``value_upper``, ``new_value`` and ``new_value_upper``; ``prediction``,
              ``class_name`` and ``probability``,
            - ``is_search_complete``: whether the search for it ended by itself.
        """
        numbers = [self.classes, self.class_names, self.baseline, self.scores, self.probabilities]
        keys = ("label", "name", "baseline", "score", "probability")
        return {
            "prediction": json_value(self.prediction),
            "class_name": self.class_name,
            "layout": self.layout,
            "classes": [
                dict(zip(keys, map(json_value, values), strict=True))
                for values in zip(*numbers, strict=True)
            ],
            "features": [
                self._values(j) | {"contribution": _part(self.feature_contributions, j)}
                for j in range(len(self.lower))
            ],
            "boxes": [self._box(box) for box in self.boxes],
            "deciding_feature": self._name(self.deciding),
            "worst_feature": self._name(self.worst),
            "notes": self.notes,
            "counterfactual": self._change(),
            "is_search_complete": self.is_search_complete,
        }

    def _name(self, feature: int | None) -> str | None:
        return None if feature is None else self.feature_names[feature]

    def _values(self, j: int) -> dict[str, Any]:
        return {
            "name": self.feature_names[j],
            "value": self._plain(j, self.lower[j]),
            "value_upper": self._plain(j, self.upper[j]),
        }

    def _plain(self, j: int, value: float) -> Any:
        """Return a value for JSON: a category as what it is."""
        if (categories := self._categories.get(j)) is not None:
            return category_value(categories, value)
        return json_value(value)

    def _box(self, box: ExplainedBox) -> dict[str, Any]:
        return {
            "member": box.member,
            "box": box.index,
            "label": json_value(box.label),
            "class_name": box.class_name,
            "count": box.count,
            "class_counts": None if box.class_counts is None else box.class_counts.tolist(),
            "age": box.age,
            "part": box.part,
            "contributions": box.contributions.tolist(),
            "conditions": [self._condition(box, j) for j in box.constrained.tolist()],
        }

    def _condition(self, box: ExplainedBox, j: int) -> dict[str, Any]:
        condition: dict[str, Any] = {
            "name": self.feature_names[j],
            "missing_share": _part(box.missing_shares, j),
        }
        for name in ("lower", "upper", "distance", "fraction"):
            condition[name] = _part(getattr(box, name), j)
        if (categories := self._categories.get(j)) is not None:
            condition["values"] = categories.values_between(box.lower[j], box.upper[j])
        return condition

    def _change(self) -> dict[str, Any] | None:
        found = self.counterfactual
        if found is None:
            return None
        features = [
            self._values(j)
            | {
                "new_value": self._plain(j, found.lower[j]),
                "new_value_upper": self._plain(j, found.upper[j]),
            }
            for j in found.features.tolist()
        ]
        return {
            "features": features,
            "prediction": json_value(found.prediction),
            "class_name": found.class_name,
            "probability": found.probability,
        }


def _part(values: np.ndarray | None, j: int) -> float | None:
    """Return a number for JSON, None where there is none, or it is not finite."""
    return None if values is None or not np.isfinite(values[j]) else float(values[j])
