"""Why an ensemble says what it says: which members and boxes spoke, and which features count."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hyperboxes._estimators.categorical import known_categories
from hyperboxes._estimators.validation import NUMBERS, check_upper, validate_samples
from hyperboxes._models.categories import Categories
from hyperboxes._models.ensemble import EnsembleModel
from hyperboxes._models.records import EnsembleMember, vote_table
from hyperboxes._readers.fitted import (
    category_text,
    describe_units,
    json_value,
    name_classes,
    name_features,
    set_text,
)
from hyperboxes._readers.sequences import ExplanationSequence

# Features and boxes that a text lists.
_MOST_FEATURES = 5
_MOST_BOXES = 3
_MOST_BOUNDS = 3


@dataclass(frozen=True)
class Bounds:
    """How the bounds of boxes are written: the names of the features, and decimals.

    Bounds lie somewhere between values of training samples, so they have only as many decimals as
    tell apart some hundredths of a feature's range.
    """

    names: list[str]
    decimals: list[int]
    categories: Mapping[int, Categories]

    @classmethod
    def of(cls, model: Any, feature_names: Any) -> Self:
        """Take what an ensemble knows of its features."""
        spans = (model.data_max_ - model.data_min_).tolist()
        decimals = [max(0, math.ceil(2.5 - math.log10(s))) if s > 0 else 2 for s in spans]
        return cls(name_features(model, feature_names), decimals, known_categories(model))

    def value(self, feature: int, number: float) -> str:
        """Write a value of a sample."""
        if math.isnan(number):
            return "missing"
        if feature in self.categories:
            return category_text(self.categories[feature], number)
        return f"{number:.6g}"

    def conditions(self, features: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> list[str]:
        """Write the bounds of a box, but for those beyond which nothing lies."""
        return [f"{self.names[j]} {text}" for j, text in self.listed(features, lower, upper)]

    def listed(
        self, features: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> list[tuple[int, str]]:
        """Return the same as pairs of a feature and what comes after its name."""
        ends = zip(features.tolist(), lower.tolist(), upper.tolist(), strict=True)
        return [
            (j, self._condition(j, low, high))
            for j, low, high in ends
            if math.isfinite(low) or math.isfinite(high)
        ]

    def _condition(self, feature: int, low: float, high: float) -> str:
        if feature in self.categories:
            return set_text(self.categories[feature], low, high)
        ends = [f"{end:.{self.decimals[feature]}f}" for end in (low, high)]
        if not math.isfinite(low):
            return f"<= {ends[1]}"
        return f"{ends[0]} to {ends[1]}" if math.isfinite(high) else f">= {ends[0]}"

    def plain(self, feature: int, low: float, high: float) -> list[Any]:
        """Return the bounds of a box for JSON, None for infinite ones; or all categories in it."""
        if feature in self.categories:
            return self.categories[feature].values_between(low, high)
        return [end if math.isfinite(end) else None for end in (low, high)]


@dataclass(frozen=True, eq=False)
class SpeakingBox:
    """The box of a member that was nearest to a sample of all its boxes of a class.

    Attributes
    ----------
    member, box : int
        Which box of which member: ``model.members_[member]``.
    label : object
        Its class.
    class_name : str
        The name of that class.
    share : float
        Its part of the votes of all members, from 0 to 1.
    distance : float
        How far the sample is from it, in the mean of the member's features, as a part of their
        range; 0 inside.
    count : int
        How many training samples it has taken in.
    features : ndarray of int
        The features that it knows.
    lower, upper : ndarray
        Its bounds in them; infinite where nothing lies beyond. Of categories, places between 0
        and 1 in the order of ``model.categories_``.
    """

    member: int
    box: int
    label: Any
    class_name: str
    share: float
    distance: float
    count: int
    features: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    _bounds: Bounds

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON; bounds that are infinite are None, those of categories are sets."""
        ends = zip(self.features.tolist(), self.lower.tolist(), self.upper.tolist(), strict=True)
        return {
            "member": self.member,
            "box": self.box,
            "class": json_value(self.label),
            "share": self.share,
            "distance": self.distance,
            "samples": self.count,
            "bounds": {j: self._bounds.plain(j, low, high) for j, low, high in ends},
        }


@dataclass(frozen=True, eq=False)
class EnsembleExplanation:
    """Why an ensemble predicts a class for a sample; `print` it.

    Attributes
    ----------
    prediction : object
        The class.
    probabilities, votes : dict of str to float
        The probability of each class by its name, and its share of the members' votes.
    rival : object or None
        The class with the most votes but for the predicted one; None if there is no other.
    n_members, n_for : int
        How many members there are, and for how many the predicted class is the nearest.
    contributions : ndarray of shape (n_features,)
        How much farther the rival is than the predicted class because of each feature: the gaps to
        the nearest box of each, in the mean of the members. They sum to how much farther it is.
    boxes : list of SpeakingBox
        The boxes that spoke, those with the largest shares first.
    """

    prediction: Any
    prediction_name: str
    probabilities: dict[str, float]
    votes: dict[str, float]
    rival: Any
    rival_name: str | None
    n_members: int
    n_for: int
    contributions: np.ndarray
    boxes: list[SpeakingBox]
    _sample: np.ndarray
    _bounds: Bounds
    _units: str

    def __str__(self) -> str:
        ranked = sorted(self.probabilities.items(), key=lambda item: -item[1])
        shares = ", ".join(f"{name} {p:.0%}" for name, p in ranked[:5])
        lines = [f"{self.prediction_name}: {shares}.", f"It {self._support()}"]
        if self.rival_name is not None:
            lines += ["", f"For it against {self.rival_name}:", *self._features()]
        lines += ["", "Boxes that spoke the loudest:", *self._loudest()]
        return "\n".join([*lines, *([self._units] if self._units else [])])

    def headline(self) -> str:
        """Say how members decide, in a sentence."""
        return f"{self.prediction_name} {self._support()}"

    def _support(self) -> str:
        return (
            f"is the nearest class for {self.n_for} of {self.n_members} members, and has "
            f"{self.votes[self.prediction_name]:.0%} of the votes."
        )

    def value_text(self, feature: int) -> str:
        """Write the sample's value in a feature, the lower end if it is an interval."""
        return self._bounds.value(feature, self._sample[feature])

    def _features(self) -> list[str]:
        """Write what features count, those that count most first."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")[:_MOST_FEATURES]
        order = order[self.contributions[order] != 0]
        rows: list[tuple[str, ...]] = [
            (
                self._bounds.names[j],
                self.value_text(j),
                f"{self.contributions[j]:+.4f}",
            )
            for j in order.tolist()
        ]
        rest = self.contributions.sum() - self.contributions[order].sum()
        if len(order) < np.count_nonzero(self.contributions):
            rows.append(("all others", "", f"{rest:+.4f}"))
        return _align(rows) if rows else ["    nothing: both are as near"]

    def _loudest(self) -> list[str]:
        """Write some boxes of the class and some of its rival."""
        rows: list[tuple[str, ...]] = [
            (
                f"member {box.member}, box {box.box}",
                box.class_name,
                f"{box.share:.1%}",
                f"{box.count} sample{'' if box.count == 1 else 's'}",
                self._conditions(box),
            )
            for label in (self.prediction, self.rival)
            for box in [box for box in self.boxes if box.label == label][:_MOST_BOXES]
        ]
        return _align(rows)

    def _conditions(self, box: SpeakingBox) -> str:
        """Write the bounds in the features that count most."""
        order = np.argsort(-np.abs(self.contributions[box.features]), kind="stable")
        first = np.sort(order[:_MOST_BOUNDS])
        known = box.features[first], box.lower[first], box.upper[first]
        n_more = len(order) - len(first)
        more = [f"{n_more} more"] if n_more else []
        return ", ".join([*self._bounds.conditions(*known), *more])

    def to_dict(self) -> dict[str, Any]:
        """Return it for other programs: plain values only."""
        contributions = zip(self._bounds.names, self.contributions.tolist(), strict=True)
        return {
            "prediction": json_value(self.prediction),
            "probabilities": self.probabilities,
            "votes": self.votes,
            "rival": None if self.rival is None else json_value(self.rival),
            "n_members": self.n_members,
            "n_for": self.n_for,
            "contributions": dict(contributions),
            "boxes": [box.to_dict() for box in self.boxes],
        }


@dataclass(frozen=True, eq=False, repr=False)
class EnsembleExplanations(ExplanationSequence[EnsembleExplanation]):
    """The explanations of several samples by an ensemble.

    Attributes
    ----------
    predictions : ndarray of shape (n_samples,)
        The classes.
    probabilities : ndarray of shape (n_samples, n_classes)
        What `predict_proba` gives.
    """

    predictions: np.ndarray
    probabilities: np.ndarray
    _lower: np.ndarray
    _upper: np.ndarray
    _context: _Context

    def _explanation(self, row: int) -> EnsembleExplanation:
        sample = self._lower[row : row + 1], self._upper[row : row + 1]
        return self._context.explanation(self.predictions[row], self.probabilities[row], *sample)


@dataclass(frozen=True, eq=False)
class _Context:
    """What the explanations of one model share."""

    model: EnsembleModel
    classes: np.ndarray
    class_names: list[str]
    bounds: Bounds
    units: str

    def explanation(
        self, prediction: Any, probabilities: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> EnsembleExplanation:
        """Return the explanation of a sample."""
        low, high = (codes[0] for codes in self.model.codes.encode(lower, upper))
        said = [
            _Said.of(member, low, high, len(self.classes), self.model)
            for member in self.model.members
        ]
        votes = np.mean([each.shares for each in said], axis=0)
        winner = int(np.flatnonzero(self.classes == prediction)[0])
        others = np.where(np.arange(len(votes)) == winner, -1.0, votes)
        rival = int(others.argmax()) if len(votes) > 1 else None
        contributions = np.zeros(len(self.bounds.names))
        if rival is not None:
            for each in said:
                features = each.member.features
                contributions[features] += (each.gaps[rival] - each.gaps[winner]) / len(said)
        names = self.class_names
        return EnsembleExplanation(
            prediction,
            names[winner],
            dict(zip(names, probabilities.tolist(), strict=True)),
            dict(zip(names, votes.tolist(), strict=True)),
            None if rival is None else self.classes[rival],
            None if rival is None else names[rival],
            len(said),
            sum(bool(each.shares[winner] == each.shares.max()) for each in said),
            contributions,
            self._boxes(said),
            lower[0],
            self.bounds,
            self.units,
        )

    def _boxes(self, said: list[_Said]) -> list[SpeakingBox]:
        """Return all boxes that spoke, the loudest first."""
        shares = np.array([each.shares for each in said]) / len(said)
        boxes = []
        for place in np.argsort(-shares, axis=None, kind="stable").tolist():
            number, label = divmod(place, len(self.classes))
            if shares[number, label] > 0.0:
                boxes.append(self._box(said[number], number, label, float(shares[number, label])))
        return boxes

    def _box(self, said: _Said, number: int, label: int, share: float) -> SpeakingBox:
        member, box = said.member, int(said.boxes[label])
        ends = member.lower[box : box + 1], member.upper[box : box + 1]
        lower, upper = self.model.codes.decode(*ends, member.features)
        return SpeakingBox(
            number,
            box,
            self.classes[label],
            self.class_names[label],
            share,
            float(said.gaps[label].sum()),
            int(member.counts[box]),
            member.features,
            lower[0],
            upper[0],
            self.bounds,
        )


@dataclass(frozen=True, eq=False)
class _Said:
    """What a member said of a sample: shares of its vote, and the nearest box of each class.

    `gaps` are those of the features to these boxes, as parts of the largest distance; where the
    largest gap is the distance, that one alone.
    """

    member: EnsembleMember
    shares: np.ndarray
    boxes: np.ndarray
    gaps: np.ndarray

    @classmethod
    def of(
        cls,
        member: EnsembleMember,
        low: np.ndarray,
        high: np.ndarray,
        n_classes: int,
        model: EnsembleModel,
    ) -> _Said:
        """Ask a member, box by box."""
        gaps, distances = member.gaps(low, high), member.distances(low, high)
        boxes = np.empty(n_classes, np.int64)
        for c in range(n_classes):
            of_class = np.flatnonzero(member.labels == c)
            boxes[c] = of_class[np.lexsort((-member.counts[of_class], distances[of_class]))[0]]
        nearest = distances[boxes]
        farthest = member.farthest(model.voting.n_bins)
        weights = vote_table(farthest, model.voting.temperature)[nearest - nearest.min()]
        gaps = gaps[boxes]
        if member.combine == "max":
            gaps = np.where(gaps.argmax(axis=1)[:, None] == np.arange(gaps.shape[1]), gaps, 0)
        return cls(member, weights / weights.sum(), boxes, gaps / farthest)


def explain_ensemble(
    model: Any, X: Any, X_upper: Any, feature_names: Any, class_names: Any
) -> EnsembleExplanations:
    """Explain what a fitted ensemble predicts for samples."""
    probabilities = model.predict_proba(X, X_upper)
    lower = validate_samples(model, X, reset=False, **NUMBERS)
    context = _Context(
        model._model,
        model.classes_.copy(),
        name_classes(model, class_names),
        Bounds.of(model, feature_names),
        describe_units(model),
    )
    predictions = model.classes_[probabilities.argmax(axis=1)]
    upper = check_upper(model, lower, X_upper)
    return EnsembleExplanations(predictions, probabilities, lower, upper, context)


def _align(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) if rows else 0)]
    return [
        "    " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
