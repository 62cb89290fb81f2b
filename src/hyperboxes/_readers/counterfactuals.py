"""Counterfactuals: the fewest, smallest changes of a sample that change its prediction.

The search takes options and a function that returns margins; what these are depends on the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from hyperboxes._models.categories import Categories
from hyperboxes._models.hyperboxes import WeightedHyperboxes
from hyperboxes._readers.explanation import Change, Context, SampleBounds

# The search asks the model about changed samples and knows nothing else of it, so it serves all
# kinds of models. It is greedy: with many features nobody can try all sets of them.

# Of the samples with as many changes, those that come closest to another prediction are changed
# further. With more of them the search takes longer and finds hardly shorter changes.
_KEPT = 2
# Longer changes are looked for from the other end: what suffices for sure, less what it can spare.
_MOST_STEPS = 8


def fewest_changes(
    margin: Callable[[np.ndarray], np.ndarray],
    sample: np.ndarray,
    options: Sequence[np.ndarray],
    scale: np.ndarray,
    starts: np.ndarray | None = None,
) -> np.ndarray | None:
    """Return the sample with few features changed such that the model predicts another class.

    Features are changed one after the other. All values of all features are tried, so that a change
    of one feature is found if there is one, and it is the smallest. Where one is not enough,
    those that bring the sample closest to another prediction are kept, and so on. In the end,
    changes that are not needed are undone, and the others made smaller as far as possible.

    Parameters
    ----------
    margin : callable
        Takes samples of shape (n, n_features), and returns for each a number that is positive if
        and only if the model predicts another class than for `sample`, and else the larger the
        closer it comes to that.
    sample : ndarray of shape (n_features,)
        The sample. A feature that is missing (NaN) stays so.
    options : sequence of ndarray, one for each feature
        The values that are worth trying in each feature; none if it must not change.
    scale : ndarray of shape (n_features,)
        What a change by 1 counts in each feature. The smallest change is the one of the least sum.
    starts : ndarray of shape (n_starts, n_features), default=None
        Changed samples, likely of another class, from which to take back what can be spared where
        changing a few features did not suffice.

    Returns
    -------
    changed : ndarray of shape (n_features,) or None
        The changed sample; None if no change was found.
    """
    search = _Search(margin, sample, options, scale)
    states = sample[None]
    for _ in range(len(sample) if starts is None else _MOST_STEPS):
        trials = search.with_one_more(states)
        if len(trials) == 0:
            break
        margins = margin(trials)
        if (margins > 0).any():
            return search.polish(search.smallest(trials[margins > 0]))
        states = search.most_promising(trials, margins)
    if starts is not None and (sufficient := margin(starts) > 0).any():
        return search.polish(search.smallest(starts[sufficient]))
    return None


class _Search:
    """What the steps of a search share."""

    def __init__(
        self,
        margin: Callable[[np.ndarray], np.ndarray],
        sample: np.ndarray,
        options: Sequence[np.ndarray],
        scale: np.ndarray,
    ) -> None:
        self.margin, self.sample, self.scale = margin, sample, scale
        pairs = [
            (j, value)
            for j, values in enumerate(options)
            for value in np.unique(values)
            if not np.isnan(sample[j]) and value != sample[j]
        ]
        self.features = np.array([j for j, _ in pairs], int)
        self.values = np.array([value for _, value in pairs], float)

    def costs(self, trials: np.ndarray) -> np.ndarray:
        """Return how large the changes are."""
        return (np.abs(np.nan_to_num(trials - self.sample)) * self.scale).sum(axis=1)

    def changed(self, trials: np.ndarray) -> np.ndarray:
        """Return which features are changed."""
        return (trials != self.sample) & ~np.isnan(self.sample)

    def with_one_more(self, states: np.ndarray) -> np.ndarray:
        """Return the states with a further feature changed, to each of its values."""
        trials = [
            self._with_each(state, ~self.changed(state[None])[0][self.features]) for state in states
        ]
        return trials[0] if len(trials) == 1 else np.unique(np.concatenate(trials), axis=0)

    def _with_each(self, state: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return the state with each of the chosen values in turn."""
        features, values = self.features[chosen], self.values[chosen]
        trials = np.repeat(state[None], len(features), axis=0)
        trials[np.arange(len(features)), features] = values
        return trials

    def most_promising(self, trials: np.ndarray, margins: np.ndarray) -> np.ndarray:
        """Return the trials of the largest margins; of each set of features only the best."""
        order = np.lexsort((self.costs(trials), -margins))
        _, first = np.unique(self.changed(trials[order]), axis=0, return_index=True)
        return trials[order[np.sort(first)[:_KEPT]]]

    def smallest(self, trials: np.ndarray) -> np.ndarray:
        """Return the trial with the fewest features changed, of these with the smallest change."""
        order = np.lexsort((self.costs(trials), self.changed(trials).sum(axis=1)))
        return trials[order[0]]

    def polish(self, state: np.ndarray) -> np.ndarray:
        """Undo changes that are not needed, and make the others smaller."""
        while True:
            trials = np.concatenate([self._with_one_less(state), self._with_one_smaller(state)])
            if len(trials) == 0:
                return state
            trials = trials[self.margin(trials) > 0]
            if len(trials) == 0:
                return state
            state = self.smallest(trials)

    def _with_one_less(self, state: np.ndarray) -> np.ndarray:
        changed = np.flatnonzero(self.changed(state[None])[0])
        trials = np.repeat(state[None], len(changed), axis=0)
        trials[np.arange(len(changed)), changed] = self.sample[changed]
        return trials

    def _with_one_smaller(self, state: np.ndarray) -> np.ndarray:
        """Return the state with other values of changed features, nearer to the sample's."""
        change = np.abs(state - self.sample)[self.features]
        is_nearer = np.abs(self.values - self.sample[self.features]) < change
        return self._with_each(state, is_nearer)


# Scores change only where a value crosses an end of a condition, so the ends are all that is tried.

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

    boxes: WeightedHyperboxes
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
            return np.unique(self.categories[feature].positions)
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


def _values_beyond(boxes: WeightedHyperboxes, feature: int) -> np.ndarray:
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


# Features are moved to where boxes of other classes hold them, and the model is asked about the
# outcome.

# The nearest places are tried, and others as far as the farthest: at most so many in a feature, and
# fewer where there are many features, so that an answer takes milliseconds.
_PLACES = 10
_PLACES_OF_ALL_FEATURES = 200
# Where few features do not suffice, the sample is moved into one of the nearest boxes altogether.
_WHOLE_BOXES = 5


def find_change(context: Context, sample: SampleBounds, code: int) -> Change | None:
    """Return a small change such that the model predicts another class than that of a code.

    None if there is no other class, or none of the changes that were tried suffices.
    """
    labels = context.boxes.labels
    rivals = np.flatnonzero((labels >= 0) & (labels != code))
    if len(rivals) == 0:
        return None
    most = max(min(_PLACES_OF_ALL_FEATURES // len(sample.lower), _PLACES), 2)
    options = [_places(context, sample, j, rivals, most) for j in range(len(sample.lower))]
    weights = context.membership.gamma / context.scale.span
    closeness = context.closeness(sample[None], rivals)[0]
    nearest = rivals[np.argsort(-closeness, kind="stable")[:_WHOLE_BOXES]]
    changed = fewest_changes(
        _margin(context, sample, code, nearest),
        sample.lower,
        options,
        weights,
        starts=_inside(context, sample, nearest),
    )
    return None if changed is None else _describe(context, sample, changed)


def _places(
    context: Context, sample: SampleBounds, j: int, rivals: np.ndarray, most: int
) -> np.ndarray:
    """Return where the lower end of a feature may move to: both ends of what rivals hold."""
    first, last = sample.lower[j], sample.upper[j]
    low, high = context.boxes.lower[rivals, j], context.boxes.upper[rivals, j]
    ends, other_ends = np.concatenate([low, high]), np.concatenate([high, low])
    _, unique = np.unique(ends, return_index=True)
    unique = unique[~np.isnan(ends[unique])]
    by_distance = unique[np.argsort(np.abs(ends[unique] - first), kind="stable")]
    spread = np.linspace(most // 2, len(unique) - 1, most - most // 2).astype(int)
    steps = np.arange(len(unique)) if len(unique) <= most else np.append(range(most // 2), spread)
    inside = context.rounding.inside
    return np.array(
        [
            inside(j, ends[k], other_ends[k]) - (0.0 if ends[k] > first else last - first)
            for k in by_distance[steps]
        ]
    )


def _inside(context: Context, sample: SampleBounds, rivals: np.ndarray) -> np.ndarray:
    """Return the sample moved into each of some boxes."""
    low, high = context.boxes.lower[rivals], context.boxes.upper[rivals]
    lengths = sample.upper - sample.lower
    moved = np.repeat(sample.lower[None], len(rivals), axis=0)
    for row, j in np.argwhere((sample.lower < low) | (sample.upper > high)).tolist():
        ends = low[row, j], high[row, j]
        if sample.lower[j] < ends[0]:
            moved[row, j] = context.rounding.inside(j, *ends)
        else:
            moved[row, j] = context.rounding.inside(j, *ends[::-1]) - lengths[j]
    return moved


def _margin(
    context: Context, sample: SampleBounds, code: int, rivals: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return how near changed samples come to another class: positive if the model predicts it."""

    def margin(lower: np.ndarray) -> np.ndarray:
        trials = _moved(sample, lower)
        memberships = context.model.membership(*trials.as_input())
        own = memberships[:, code].copy()
        memberships[:, code] = -1.0
        margins = memberships.max(axis=1) - own
        in_doubt = margins >= 0  # ties, and what is beyond the reach of all boxes
        if not in_doubt.any():
            return margins
        doubtful = trials[in_doubt]
        is_flipped = context.code(context.model.predict(*doubtful.as_input())) != code
        closeness = context.closeness(doubtful, rivals).max(axis=1)
        margins[in_doubt] = np.where(is_flipped, 1.0, closeness - 1.0)
        return margins

    return margin


def _moved(sample: SampleBounds, lower: np.ndarray) -> SampleBounds:
    """Return samples by their lower ends; intervals keep their length."""
    is_same = (lower == sample.lower) | np.isnan(sample.lower)
    return SampleBounds(
        lower, np.where(is_same, sample.upper, lower + (sample.upper - sample.lower))
    )


def _describe(context: Context, sample: SampleBounds, lower: np.ndarray) -> Change:
    changed = _moved(sample, lower[None])
    prediction = context.model.predict(*changed.as_input())[0]
    memberships = context.model.membership(*changed.as_input())[0]
    code = context.code(prediction)
    return Change(
        np.flatnonzero((lower != sample.lower) & ~np.isnan(sample.lower)),
        lower,
        changed.upper[0],
        prediction,
        context.class_names[code],
        float(memberships[code]),
    )
