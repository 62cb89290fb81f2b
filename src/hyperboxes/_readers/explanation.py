"""The explanation of one sample: what users take apart, print, show or hand to other programs."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from hyperboxes._estimators.capabilities import Operation
from hyperboxes._estimators.validation import mark_validated
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.membership import Membership
from hyperboxes._models.samples import MinMaxScale
from hyperboxes._readers import explanation_html as explanation_html_readers
from hyperboxes._readers import explanation_text
from hyperboxes._readers.fitted import (
    category_value,
    check_integer,
    describe_units,
    json_value,
    name_classes,
    name_features,
    read_fitted,
    read_membership,
    read_scale,
)
from hyperboxes._readers.rounding import Rounding

# What rounding errors may make of no difference between memberships.
_NOISE = 1e-9


@dataclass(frozen=True, eq=False)
class ExplainedBox:
    """A box, and where a sample lies relative to it; a part of an `Explanation`.

    Attributes
    ----------
    index : int
        Which box of ``hyperboxes_`` it is.
    label : object
        Its class.
    class_name : str
        The name of its class.
    count : int
        How many training samples it has absorbed.
    membership : float
        The membership of the sample in it.
    lower, upper : ndarray of shape (n_features,)
        Its bounds.
    distance : ndarray of shape (n_features,)
        How far outside of the bounds the sample lies, in the units of the data; below 0: how far
        inside, from the nearest bound. NaN if sample or box do not know the feature.
    fraction : ndarray of shape (n_features,)
        The same as a fraction of the range of the training data.
    """

    index: int
    label: Any
    class_name: str
    count: int
    membership: float
    lower: np.ndarray
    upper: np.ndarray
    distance: np.ndarray
    fraction: np.ndarray

    @property
    def holds_sample(self) -> bool:
        """Whether the sample lies inside in all features, as far as is known."""
        return not (self.distance > 0).any()

    def _summary(self) -> dict[str, Any]:
        return {
            "box": self.index,
            "label": json_value(self.label),
            "class_name": self.class_name,
            "count": self.count,
            "membership": self.membership,
        }

    def _feature(self, j: int) -> dict[str, Any]:
        return {
            name: json_value(getattr(self, name)[j])
            for name in ("lower", "upper", "distance", "fraction")
        }


@dataclass(frozen=True, eq=False)
class Change:
    """A change of few features that makes the model predict another class.

    It is a part of an `Explanation`.

    Attributes
    ----------
    features : ndarray of int
        The features that change.
    lower, upper : ndarray of shape (n_features,)
        The ends of the changed sample; the same unless samples are intervals.
    prediction : object
        What the model predicts for the changed sample.
    class_name : str
        The name of that class.
    membership : float
        The membership of the changed sample in that class.
    """

    features: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    prediction: Any
    class_name: str
    membership: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why a model predicts what it does for one sample.

    `explain` makes them. Print it, show it in a notebook, or take its parts.

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
    memberships : ndarray of shape (n_classes,)
        What `membership` gives.
    feature_names : list of str
        Names of the features.
    lower, upper : ndarray of shape (n_features,)
        The ends of the sample; the same unless samples are intervals.
    data_min, data_max : ndarray of shape (n_features,)
        The range of the training data.
    gamma : ndarray of shape (n_features,)
        How fast membership falls with the distance in each feature.
    membership_function : {"min", "mean"}
        What the features make of a membership: that of the worst feature, or the mean.
    winning : ExplainedBox
        The box that decided: of the boxes of the predicted class that are closest to the sample
        the one with the most training samples, the oldest of equals. Where boxes of several
        classes hold the sample and one of a single training sample settles it, that one.
    competing : ExplainedBox or None
        The closest box of the other classes, the one with the most training samples likewise; None
        if there is none.
    deciding : int or None
        The feature that counts most for the winning box and against the competing one: with the
        mean of the features the one that adds most to the difference of the memberships; with the
        least of them the one that sets the membership of the competing box. None if there is no
        competing box, or both are as close.
    worst : int or None
        The feature in which the sample fits the winning box worst: where it is farthest outside,
        weighted with gamma. None if the box holds it.
    change : Change or None
        A change of as few features as were found to suffice, and of these a small one, that makes
        the model predict another class. Features are moved to where boxes of other classes hold
        them, each to the nearest such place. The search is greedy, and it asks the model. None if
        it found nothing. It is made when it is first asked for.

    See Also
    --------
    explain : Explain samples.

    Examples
    --------
    >>> from hyperboxes import ImprovedOnlineGFMM, explain
    >>> X, y = [[1.0, 30.0], [2.0, 20.0], [9.0, 80.0]], ["low", "low", "high"]
    >>> explanation = explain(ImprovedOnlineGFMM(random_state=0).fit(X, y), [[4.0, 40.0]])[0]
    >>> explanation
    Explanation(prediction='low', membership=0.792, box=1, competing_box=0)
    >>> explanation.feature_names[explanation.deciding], explanation.competing.distance
    ('x1', array([ 5., 40.]))
    >>> explanation.change.features, explanation.change.lower, explanation.change.class_name
    (array([0]), array([ 9., 40.]), 'high')
    """

    prediction: Any
    class_name: str
    classes: np.ndarray
    class_names: list[str]
    memberships: np.ndarray
    feature_names: list[str]
    lower: np.ndarray
    upper: np.ndarray
    data_min: np.ndarray
    data_max: np.ndarray
    gamma: np.ndarray
    membership_function: str
    winning: ExplainedBox
    competing: ExplainedBox | None
    _rounding: Rounding
    _find_change: Callable[[], Change | None]
    _units: str

    @cached_property
    def change(self) -> Change | None:
        """A small change that makes the model predict another class."""
        return self._find_change()

    @property
    def deciding(self) -> int | None:
        """The feature that counts most for the winning box and against the competing one."""
        if self.competing is None or not (self._misses(self.competing) > 0).any():
            return None
        separation = self.separation()
        if self.membership_function == "min":
            feature = self._misses(self.competing).argmax()
        else:
            feature = separation.argmax()
        is_ahead = self._distance(self.competing) > self._distance(self.winning)
        return int(feature) if separation[feature] > _NOISE and is_ahead else None

    @property
    def worst(self) -> int | None:
        """The feature in which the sample fits the winning box worst."""
        misses = self._misses(self.winning)
        return int(misses.argmax()) if (misses > 0).any() else None

    def separation(self) -> np.ndarray:
        """Return how much each feature speaks for the winning box, against the competing one.

        Returns
        -------
        separation : ndarray of shape (n_features,)
            What the competing box loses of its membership by the feature, less what the winning
            box loses, before they are combined. Below 0 where the sample is nearer to the competing
            box, 0 where both hold it or nothing is known.
        """
        if self.competing is None:
            return np.zeros(len(self.lower))
        return self._misses(self.competing) - self._misses(self.winning)

    def _misses(self, box: ExplainedBox) -> np.ndarray:
        """Return what a box loses by each feature; a part of a mean is at most 1."""
        misses = self._slopes(box)
        if self.membership_function == "min" or self.winning.membership == 0:
            return misses
        return np.minimum(misses, 1.0)

    def _slopes(self, box: ExplainedBox) -> np.ndarray:
        return np.nan_to_num(self.gamma * np.maximum(box.fraction, 0.0), posinf=np.inf)

    def _distance(self, box: ExplainedBox) -> float:
        """Return by how much a box misses the sample: less is closer."""
        if box.membership > 0:
            return -box.membership
        misses = self._misses(box)
        return float(misses.mean() if self.membership_function == "mean" else misses.max())

    def __repr__(self) -> str:
        competing = None if self.competing is None else self.competing.index
        return (
            f"{type(self).__name__}(prediction={self.class_name!r}, "
            f"membership={self.winning.membership:.3f}, box={self.winning.index}, "
            f"competing_box={competing})"
        )

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return explanation_html_readers.explanation_html(self)

    def to_text(self, *, max_features: int | None = 8) -> str:
        """Return the explanation as a text of a few lines.

        Parameters
        ----------
        max_features : int, default=8
            How many features to show at most: of those in which the sample lies outside of the
            winning or the competing box, the deciding one and then the farthest first. None: all.

        Returns
        -------
        text : str
            What ``print`` shows.
        """
        check_integer("max_features", max_features, 0)
        return explanation_text.to_text(self, max_features)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a dictionary that `json` can write.

        Returns
        -------
        explanation : dict
            Labels are plain Python values, numbers that are not known None. The keys:

            - ``prediction`` and ``class_name``,
            - ``classes``: for each class ``label``, ``name`` and ``membership``,
            - ``membership_function``: ``"min"`` or ``"mean"``,
            - ``winning`` and ``competing`` (or None): ``box``, ``label``, ``class_name``,
              ``count`` and ``membership``,
            - ``features``: for each feature ``name``, ``value`` and ``value_upper`` (the same
              unless samples are intervals), ``winning`` and ``competing`` (or None), each with
              ``lower``, ``upper``, ``distance`` and ``fraction``, and of a categorical feature
              the ``values`` that the box holds,
            - ``deciding_feature`` and ``worst_feature``: names, or None,
            - ``change`` (or None): ``features``, for each that changes ``name``, ``value``,
              ``value_upper``, ``new_value`` and ``new_value_upper``; ``prediction``,
              ``class_name`` and ``membership``.
        """
        competing = self.competing
        classes = zip(self.classes, self.class_names, self.memberships.tolist(), strict=True)
        return {
            "prediction": json_value(self.prediction),
            "class_name": self.class_name,
            "classes": [
                {"label": json_value(label), "name": name, "membership": membership}
                for label, name, membership in classes
            ],
            "membership_function": self.membership_function,
            "winning": self.winning._summary(),
            "competing": None if competing is None else competing._summary(),
            "features": [
                self._values(j)
                | {
                    "winning": self._box(self.winning, j),
                    "competing": None if competing is None else self._box(competing, j),
                }
                for j in range(len(self.lower))
            ],
            "deciding_feature": self._name(self.deciding),
            "worst_feature": self._name(self.worst),
            "change": None if self.change is None else self._change(self.change),
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
        if (categories := self._rounding.categories.get(j)) is not None:
            return category_value(categories, value)
        return json_value(value)

    def _box(self, box: ExplainedBox, j: int) -> dict[str, Any]:
        of_feature = box._feature(j)
        if (categories := self._rounding.categories.get(j)) is not None:
            of_feature["values"] = categories.values_between(box.lower[j], box.upper[j])
        return of_feature

    def _change(self, change: Change) -> dict[str, Any]:
        return {
            "features": [
                self._values(j)
                | {
                    "new_value": self._plain(j, change.lower[j]),
                    "new_value_upper": self._plain(j, change.upper[j]),
                }
                for j in change.features
            ],
            "prediction": json_value(change.prediction),
            "class_name": change.class_name,
            "membership": change.membership,
        }

    def features_by_weight(self) -> list[int]:
        """Return the features in which a box does not hold the sample, the weightiest first.

        Returns
        -------
        features : list of int
            The deciding feature, then the others by how much they separate the two boxes, for the
            one or the other (`separation`), and then by their distance from both.
        """
        boxes = [box for box in (self.winning, self.competing) if box is not None]
        outside = np.maximum.reduce([self._slopes(box) for box in boxes])
        weights = np.abs(np.nan_to_num(self.separation()))
        if self.deciding is not None:
            weights[self.deciding] = np.inf
        order = np.lexsort((-outside, -weights))
        return order[outside[order] > 0].tolist()


@dataclass(frozen=True, eq=False)
class SampleBounds:
    """Both ends of samples."""

    lower: np.ndarray
    upper: np.ndarray

    def __getitem__(self, rows: slice | np.ndarray | None) -> SampleBounds:
        return SampleBounds(self.lower[rows], self.upper[rows])

    def as_input(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return what methods of models take: no upper ends for points, which is faster."""
        is_point = np.array_equal(self.lower, self.upper, equal_nan=True)
        return mark_validated(self.lower), None if is_point else mark_validated(self.upper)


@dataclass(frozen=True, eq=False)
class Context:
    """What the explanations of one model share. It has a copy of the model, which may go on."""

    model: Any
    boxes: Hyperboxes
    classes: np.ndarray
    class_names: list[str]
    feature_names: list[str]
    scale: MinMaxScale
    membership: Membership
    rounding: Rounding
    units: str

    @classmethod
    def of(cls, model: Any, feature_names: Any, class_names: Any) -> Self:
        """Read a model, with the caller's names."""
        return cls(
            deepcopy(model),
            model.hyperboxes_,
            model.classes_,
            name_classes(model, class_names),
            name_features(model, feature_names),
            read_scale(model),
            read_membership(model),
            Rounding.of(read_fitted(model, Operation.EXPLAIN)),
            describe_units(model),
        )

    def code(self, labels: Any) -> Any:
        """Return labels as indices into the classes."""
        return np.searchsorted(self.classes, labels)

    def explained(self, box: int, sample: SampleBounds, memberships: np.ndarray) -> ExplainedBox:
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

    def _distance(self, sample: SampleBounds, low: np.ndarray, high: np.ndarray) -> np.ndarray:
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

    def closeness(self, samples: SampleBounds, boxes: np.ndarray) -> np.ndarray:
        """Return how close some boxes are to samples, as the model has it."""
        transform = self.scale.transform
        with np.errstate(over="ignore"):
            scaled = transform(samples.lower), transform(samples.upper)
        ranks: np.ndarray = self.model._model.closeness(*scaled, boxes)
        return ranks
