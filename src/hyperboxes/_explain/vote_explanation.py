"""The explanation of one sample by boxes that vote: what each box adds to the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hyperboxes._explain import vote_html, vote_text
from hyperboxes._explain.categories import (
    MOST_SHOWN,
    category_text,
    category_value,
    set_text,
)
from hyperboxes._explain.reading import check_integer, json_value
from hyperboxes._explain.vote_changes import ChangeSearch, VoteChange
from hyperboxes._explain.votes import interval_text, value_text
from hyperboxes._models.categories import Categories


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
        return vote_html.explanation_html(self)

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
        return vote_text.to_text(self, max_boxes)

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
            return {"values": self._categories[j].held(low, high)}
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
            if len(categories.held(low, high)) in (1, len(categories.values)):
                return f"{name} = {text}"
            return f"{name} = {text} {set_text(categories, low, high, MOST_SHOWN)}"
        return interval_text(f"{name} = {value_text(value, low, high)}", low, high)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
