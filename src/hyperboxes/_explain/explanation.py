"""The explanation of one sample: what users take apart, print, show or hand to other programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperboxes._explain import html, text
from hyperboxes._explain.reading import check_integer, json_value
from hyperboxes._explain.wording import Decimals


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
    """The smallest change that puts a sample into the competing box, and its effect.

    It is a part of an `Explanation`.

    Attributes
    ----------
    features : ndarray of int
        The features that must change; none if the competing box holds the sample already.
    lower, upper : ndarray of shape (n_features,)
        The ends of the changed sample; the same unless samples are intervals.
    prediction : object
        What the model predicts for the changed sample. It need not be the class of the box: boxes
        of other classes may hold the changed sample as well, and then the rules for ties decide.
    class_name : str
        The name of that class.
    membership : float
        The membership of the changed sample in the competing class.
    succeeds : bool
        Whether the prediction is the class of the competing box.
    """

    features: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    prediction: Any
    class_name: str
    membership: float
    succeeds: bool


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
        The feature that decides: where the sample lies outside of the winning box, the one with
        the largest distance, weighted with gamma, which sets the membership; otherwise the one
        that separates it most from the competing box. None if there is no such feature. Where
        the membership is a mean, all features count; it is the one that counts most in it.
    change : Change or None
        The smallest change that puts the sample into the competing box; None if there is none.

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
    >>> explanation.feature_names[explanation.deciding], explanation.winning.distance
    ('x0', array([ 2., 10.]))
    >>> explanation.change.lower, explanation.change.class_name
    (array([ 9., 80.]), 'high')
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
    deciding: int | None
    change: Change | None
    _rounding: Decimals

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
        return html.explanation_html(self)

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
        return text.to_text(self, max_features)

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
              ``lower``, ``upper``, ``distance`` and ``fraction``,
            - ``deciding_feature``: a name, or None,
            - ``change`` (or None): ``features``, for each that must change ``name``, ``value``,
              ``value_upper``, ``new_value`` and ``new_value_upper``; ``prediction``,
              ``class_name``, ``membership`` and ``succeeds``.
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
                    "winning": self.winning._feature(j),
                    "competing": None if competing is None else competing._feature(j),
                }
                for j in range(len(self.lower))
            ],
            "deciding_feature": None
            if self.deciding is None
            else self.feature_names[self.deciding],
            "change": None if self.change is None else self._change(self.change),
        }

    def _values(self, j: int) -> dict[str, Any]:
        return {
            "name": self.feature_names[j],
            "value": json_value(self.lower[j]),
            "value_upper": json_value(self.upper[j]),
        }

    def _change(self, change: Change) -> dict[str, Any]:
        return {
            "features": [
                self._values(j)
                | {
                    "new_value": json_value(change.lower[j]),
                    "new_value_upper": json_value(change.upper[j]),
                }
                for j in change.features
            ],
            "prediction": json_value(change.prediction),
            "class_name": change.class_name,
            "membership": change.membership,
            "succeeds": change.succeeds,
        }

    def features_by_weight(self) -> list[int]:
        """Return the features in which a box does not hold the sample, the weightiest first.

        Returns
        -------
        features : list of int
            The deciding feature, then the others by their distance from the winning or the
            competing box, whichever is farther, weighted with gamma.
        """
        boxes = [box for box in (self.winning, self.competing) if box is not None]
        farthest = np.fmax.reduce([box.fraction for box in boxes])
        weights = np.where(farthest > 0, self.gamma * farthest, 0.0)
        if self.deciding is not None:
            weights[self.deciding] = np.inf
        order = np.argsort(-weights, kind="stable")
        return order[weights[order] > 0].tolist()
