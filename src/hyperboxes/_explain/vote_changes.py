"""What would have to change for boxes that vote to predict another class.

Scores change only where a value crosses an end of a condition, so the ends are all that is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from hyperboxes._explain.changes import fewest_changes
from hyperboxes._models.categories import Categories
from hyperboxes._models.voting import VotingHyperboxes

# Numbers of samples that the model is asked about at a time.
_NUMBERS_AT_ONCE = 1_000_000

Scores = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class VoteChange:
    """A change of few features after which boxes that vote predict another class.

    It is a part of a `VoteExplanation`.

    Attributes
    ----------
    features : ndarray of int
        The features that change.
    values : ndarray of shape (n_features,)
        The changed sample. Its new values are the first beyond the ends of conditions.
    prediction : object
        What the model predicts for it.
    class_name : str
        The name of that class.
    probability : float
        The probability of that class then.
    """

    features: np.ndarray
    values: np.ndarray
    prediction: Any
    class_name: str
    probability: float


@dataclass(frozen=True, eq=False)
class ChangeSearch:
    """Searches changes of samples for one model."""

    boxes: VotingHyperboxes
    scores: Scores
    classes: np.ndarray
    class_names: list[str]
    categories: Mapping[int, Categories]

    def find(self, sample: np.ndarray) -> VoteChange | None:
        """Return a change of few features after which the prediction differs; None: not found."""
        used = np.flatnonzero(self.boxes.constrains.any(axis=0))
        options = [self._options(j) for j in used.tolist()]
        code = int(self.scores(sample[None])[0].argmax())

        def margin(trials: np.ndarray) -> np.ndarray:
            return self._margins(sample, used, trials, code)

        scale = np.array(
            [_unit(values, sample[j]) for j, values in zip(used, options, strict=True)]
        )
        found = fewest_changes(margin, sample[used], options, scale)
        return None if found is None else self._change(sample, used, found)

    def _options(self, feature: int) -> np.ndarray:
        """Return the values to try: the categories, or those beyond the ends of conditions."""
        if feature in self.categories:
            return np.unique(self.categories[feature].places)
        return _values_beyond(self.boxes, feature)

    def _margins(
        self, sample: np.ndarray, used: np.ndarray, trials: np.ndarray, code: int
    ) -> np.ndarray:
        """Return how far other classes are above one, positive where one of them is predicted."""
        size = max(_NUMBERS_AT_ONCE // len(sample), 1)
        parts = [np.empty(0)]
        for start in range(0, len(trials), size):
            rows = np.repeat(sample[None], len(trials[start : start + size]), axis=0)
            rows[:, used] = trials[start : start + size]
            scores = self.scores(rows)
            others = np.delete(scores, code, axis=1).max(axis=1, initial=-np.inf)
            differs = scores.argmax(axis=1) != code  # in a tie the first class wins
            least = np.where(differs, np.finfo(float).tiny, -np.inf)
            parts.append(np.maximum(others - scores[:, code], least))
        return np.concatenate(parts)

    def _change(self, sample: np.ndarray, used: np.ndarray, found: np.ndarray) -> VoteChange:
        values = sample.copy()
        values[used] = found
        scores = self.scores(values[None])[0]
        code = scores.argmax()
        return VoteChange(
            used[(found != sample[used]) & ~np.isnan(found)],
            values,
            self.classes[code],
            self.class_names[code],
            float(softmax(scores)[code]),
        )


def _values_beyond(boxes: VotingHyperboxes, feature: int) -> np.ndarray:
    """Return the values on both sides of each end of the conditions on a feature."""
    low, high = boxes.lower[:, feature], boxes.upper[:, feature]
    low, high = low[np.isfinite(low)], high[np.isfinite(high)]
    beyond = [np.nextafter(low, -np.inf), np.nextafter(high, np.inf)]
    values = np.unique(np.concatenate([low, high, *beyond]))
    return values[np.isfinite(values)]


def _unit(options: np.ndarray, value: float) -> float:
    """Return what a change by 1 counts: as a share of all that is known of a feature, and 0."""
    known = np.append(options, 0.0 if np.isnan(value) else value)
    span = max(known.max(), 0.0) / 2 - min(known.min(), 0.0) / 2
    return float(min(0.5 / span, np.finfo(float).max)) if span > 0 else 1.0
