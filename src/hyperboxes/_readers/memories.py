"""Why a memory that adapts says what it says: which boxes voted, how old they are, who is trusted.

What the experts do is done again here, from public attributes; the class is the model's own answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperboxes._estimators.base import NUMBERS
from hyperboxes._estimators.capabilities import Operation
from hyperboxes._estimators.validation import check_upper, validate_samples
from hyperboxes._models.adaptive_state import HORIZONS, NEIGHBORS, SMALLEST_GAP, expert_weights
from hyperboxes._readers.fitted import (
    describe_units,
    json_value,
    name_classes,
    name_features,
    read_fitted,
)
from hyperboxes._readers.rounding import Rounding
from hyperboxes._readers.sequences import ExplanationSequence

# Boxes that a text lists.
_MOST_BOXES = 5

# Features whose bounds it shows.
_MOST_FEATURES = 3


@dataclass(frozen=True)
class VotingBox:
    """A box that had a say in the class of a sample.

    Attributes
    ----------
    box : int
        Its index in ``hyperboxes_``.
    label : object
        Its class.
    class_name : str
        The name of that class.
    share : float
        Its share in the votes of all experts, from 0 to 1.
    age : int
        How many samples were learned since it was last confirmed.
    count : int
        How many samples it has taken in.
    lower, upper : ndarray of shape (n_features,)
        Its bounds.
    """

    box: int
    label: Any
    class_name: str
    share: float
    age: int
    count: int
    lower: np.ndarray
    upper: np.ndarray

    @property
    def confirmed(self) -> str:
        """When it was last confirmed, in words."""
        if self.age == 0:
            return "confirmed by the last sample"
        return f"confirmed {self.age:,} sample{'' if self.age == 1 else 's'} ago"

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "box": self.box,
            "class": json_value(self.label),
            "share": self.share,
            "age": self.age,
            "samples": self.count,
        }


@dataclass(frozen=True, eq=False)
class MemoryExplanation:
    """Why a memory that adapts predicts a class for a sample; `print` it.

    Attributes
    ----------
    prediction : object
        The class.
    probabilities : dict of str to float
        The share of each class in the votes, by its name.
    boxes : list of VotingBox
        The boxes that voted, those with the largest share first.
    horizon : int or None
        Which horizon is trusted most: boxes confirmed within so many samples; None: all.
    n_neighbors : int
        How many neighbours the most trusted expert asks.
    score : float
        How often that expert was right of late.
    """

    prediction: Any
    prediction_name: str
    probabilities: dict[str, float]
    boxes: list[VotingBox]
    horizon: int | None
    n_neighbors: int
    score: float
    _feature_names: list[str]
    _by_weight: list[int]
    _rounding: Rounding
    _units: str

    @property
    def rival(self) -> VotingBox | None:
        """The box of another class with the largest share, None if there is none."""
        return next((box for box in self.boxes if box.label != self.prediction), None)

    @property
    def winner(self) -> VotingBox:
        """The box of the predicted class with the largest share."""
        return next(box for box in self.boxes if box.label == self.prediction)

    def __str__(self) -> str:
        shares = sorted(self.probabilities.items(), key=lambda item: -item[1])
        lines = [
            f"{self.prediction_name}: {_percent(self.probabilities[self.prediction_name])} of the "
            f"votes ({', '.join(f'{name} {_percent(p)}' for name, p in shares[:5])}).",
            self._verdict(),
            self._trusted(),
            "",
            *self._table(),
            *([self._units] if self._units else []),
        ]
        return "\n".join(lines)

    def _verdict(self) -> str:
        winner, rival = self.winner, self.rival
        if rival is None:
            return f"All boxes that voted agree, box {winner.box} first ({winner.confirmed})."
        loser = f"outvoted box {rival.box} ({rival.class_name}, {rival.confirmed})."
        box = f"{winner.box} ({winner.class_name}, {winner.confirmed})"
        if winner.share <= rival.share:
            return f"Several boxes, box {box} before all, {loser}"
        return f"{'The more recent box' if winner.age < rival.age else 'Box'} {box} {loser}"

    def _trusted(self) -> str:
        of = "all boxes"
        if self.horizon is not None:
            of = f"boxes of the last {self.horizon} samples"
        nearest = f"{self.n_neighbors} nearest" if self.n_neighbors > 1 else "nearest"
        right = f"right {_percent(self.score)} of the time of late"
        return f"Most trusted: the {nearest} of {of}, {right}."

    def _table(self) -> list[str]:
        rows = [
            (
                f"box {box.box}",
                box.class_name,
                _percent(box.share),
                box.confirmed,
                self._conditions(box),
            )
            for box in self.boxes[:_MOST_BOXES]
        ]
        widths = [max(len(row[place]) for row in rows) for place in range(4)]
        lines = [
            "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[4]])
            for row in rows
        ]
        if len(self.boxes) > _MOST_BOXES:
            rest = sum(box.share for box in self.boxes[_MOST_BOXES:])
            lines.append(f"and {len(self.boxes) - _MOST_BOXES} more boxes, {_percent(rest)}")
        return [line.rstrip() for line in lines]

    def _conditions(self, box: VotingBox) -> str:
        """Return the bounds of the features that weigh most."""
        known = [j for j in self._by_weight if not np.isnan(box.lower[j])]
        return ", ".join(
            f"{self._feature_names[j]} {self._rounding.interval(j, box.lower[j], box.upper[j])}"
            for j in known[:_MOST_FEATURES]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it for other programs: plain values only."""
        return {
            "prediction": json_value(self.prediction),
            "probabilities": self.probabilities,
            "horizon": self.horizon,
            "n_neighbors": self.n_neighbors,
            "score": self.score,
            "boxes": [box.to_dict() for box in self.boxes],
        }


@dataclass(frozen=True, eq=False, repr=False)
class MemoryExplanations(ExplanationSequence[MemoryExplanation]):
    """The explanations of several samples by a memory that adapts.

    Attributes
    ----------
    predictions : ndarray of shape (n_samples,)
        The classes.
    probabilities : ndarray of shape (n_samples, n_classes)
        What `predict_proba` gives.
    shares : ndarray of shape (n_samples, n_boxes)
        What part each box has in the votes.
    """

    predictions: np.ndarray
    probabilities: np.ndarray
    shares: np.ndarray
    _context: _Context

    def _explanation(self, row: int) -> MemoryExplanation:
        return self._context.explanation(
            self.predictions[row], self.probabilities[row], self.shares[row]
        )


@dataclass(frozen=True, eq=False)
class _Context:
    """What the explanations of one model share."""

    boxes: Any
    ages: np.ndarray
    scores: np.ndarray
    classes: np.ndarray
    class_names: list[str]
    feature_names: list[str]
    by_weight: list[int]
    rounding: Rounding
    units: str

    def explanation(
        self, prediction: Any, probabilities: np.ndarray, shares: np.ndarray
    ) -> MemoryExplanation:
        """Return the explanation of a sample."""
        best = np.unravel_index(self.scores.argmax(), self.scores.shape)
        horizon = HORIZONS[best[0]]
        order = np.argsort(-shares, kind="stable")
        return MemoryExplanation(
            prediction,
            self.class_names[int(np.flatnonzero(self.classes == prediction)[0])],
            dict(zip(self.class_names, probabilities.tolist(), strict=True)),
            [self._box(box, shares[box]) for box in order[shares[order] > 0].tolist()],
            None if horizon > 2**60 else horizon,
            NEIGHBORS[best[1]],
            float(self.scores[best]),
            self.feature_names,
            self.by_weight,
            self.rounding,
            self.units,
        )

    def _box(self, box: int, share: float) -> VotingBox:
        boxes, label = self.boxes, self.boxes.labels[box]
        return VotingBox(
            box,
            self.classes[label],
            self.class_names[label],
            float(share),
            int(self.ages[box]),
            int(boxes.counts[box]),
            boxes.lower[box],
            boxes.upper[box],
        )


def explain_memory(
    model: Any, X: Any, X_upper: Any, feature_names: Any, class_names: Any
) -> MemoryExplanations:
    """Explain what a fitted memory that adapts predicts for samples."""
    boxes = model.hyperboxes_
    lower = validate_samples(model, X, reset=False, **NUMBERS)
    upper = check_upper(model, lower, X_upper)
    context = _Context(
        boxes,
        model.box_ages_,
        model.horizon_scores_,
        model.classes_.copy(),
        name_classes(model, class_names),
        name_features(model, feature_names),
        np.argsort(-model.feature_weights_, kind="stable").tolist(),
        Rounding.of(read_fitted(model, Operation.EXPLAIN)),
        describe_units(model),
    )
    probabilities = model.predict_proba(X, X_upper)
    shares = np.array([_shares(model, context, *ends) for ends in zip(lower, upper, strict=True)])
    winners = model.classes_[probabilities.argmax(axis=1)]
    return MemoryExplanations(winners, probabilities, shares, context)


def _shares(model: Any, context: _Context, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
    """Return the part of each box in the votes of all experts."""
    boxes, spans = context.boxes, model.data_max_ - model.data_min_
    gaps = np.nan_to_num(np.maximum(np.maximum(boxes.lower - xu, xl - boxes.upper), 0.0), nan=0.0)
    scale = np.divide(1.0, spans, out=np.zeros_like(spans), where=spans > 0)
    distances = np.minimum(gaps * scale, 1.0) @ model.feature_weights_
    weights = expert_weights(context.scores)
    order = np.lexsort((context.ages, distances))
    shares = np.zeros(len(boxes))
    for horizon, of_horizon in zip(HORIZONS, weights, strict=True):
        within = order[context.ages[order] < horizon]
        for n_neighbors, weight in zip(NEIGHBORS, of_horizon, strict=True):
            near = within[:n_neighbors]
            votes = 1.0 / (distances[near] + SMALLEST_GAP)
            shares[near] += weight * votes / votes.sum()
    return shares


def _percent(share: float) -> str:
    return f"{share:.0%}"
