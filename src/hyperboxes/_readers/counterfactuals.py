"""Counterfactuals: the fewest, smallest changes of a sample that change its prediction.

The search takes values to try and a function that returns margins; what these are depends on the
type of model. The work of a search is limited.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hyperboxes._models import executor
from hyperboxes._models.calibration import ClassScores
from hyperboxes._models.categories import Categories
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.records import AdditiveBoxes, NearestBoxes, closeness
from hyperboxes._models.samples import unknown_part
from hyperboxes._readers.text import Rounding

# The search is greedy, because nobody can try all sets of many features.

# Of the samples with as many changes, those that come closest to another prediction are changed
# further. With more of them the search takes longer and finds hardly shorter changes.
_KEPT = 2
# Longer changes are looked for from the other end: what suffices for sure, less what it can spare.
_MAX_STEPS = 8

# The limit of a search, in comparisons of a value with a bound: about a second.
_MAX_COMPARISONS = 100_000_000
# As many comparisons at a time take some tens of megabytes.
_COMPARISONS_AT_ONCE = 1_000_000

# From so many samples on, it is faster to add up distances feature by feature.
_MANY = 8

Margin = Callable[[np.ndarray], np.ndarray]


class Found(NamedTuple):
    """The changed sample, or None if no change was found; and whether the search was complete."""

    values: np.ndarray | None
    is_complete: bool


def fewest_changes(
    margin: Margin,
    sample: np.ndarray,
    options: Sequence[np.ndarray],
    scale: np.ndarray,
    starts: np.ndarray | None = None,
    n_comparisons: int = 1,
) -> Found:
    """Return the sample with few features changed such that the model predicts another class.

    Features are changed one after the other. All values of all features are tried, so that a change
    of one feature is found if there is one, and it is the smallest. Where one is not enough,
    those that bring the sample closest to another prediction are kept, and so on. In the end,
    changes that are not needed are undone, and the others made smaller as far as possible.

    Where that takes more work than the limit, the smallest changes are tried first.

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
    n_comparisons : int, default=1
        How many comparisons the margin of a sample takes.

    Returns
    -------
    found : Found
        The changed sample.
    """
    search = _Search(margin, sample, options, scale, n_comparisons)
    states = sample[None]
    reserve = search.n_left // 2
    for _ in range(len(sample) if starts is None else _MAX_STEPS):
        trials = search.with_one_more(states, search.n_left - reserve)
        if len(trials) == 0:
            break
        margins = search.margins(trials)
        if (margins > 0).any():
            return search.polish(search.smallest(trials[margins > 0]))
        states = search.most_promising(trials, margins)
    if starts is not None and (sufficient := search.margins(starts) > 0).any():
        return search.polish(search.smallest(starts[sufficient]))
    return Found(None, search.is_complete)


class _Search:
    """What the steps of a search share; `n_left` is how many samples may still be tried."""

    def __init__(
        self,
        margin: Margin,
        sample: np.ndarray,
        options: Sequence[np.ndarray],
        scale: np.ndarray,
        n_comparisons: int,
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
        n_comparisons = max(n_comparisons, len(sample), 1)
        self.n_at_once = max(_COMPARISONS_AT_ONCE // n_comparisons, 1)
        self.n_left = max(_MAX_COMPARISONS // n_comparisons, 1)
        self.is_complete = True

    def margins(self, trials: np.ndarray) -> np.ndarray:
        """Return the margins of samples."""
        self.n_left -= len(trials)
        parts = range(0, len(trials), self.n_at_once)
        return np.concatenate([self.margin(trials[i : i + self.n_at_once]) for i in parts])

    def costs(self, trials: np.ndarray) -> np.ndarray:
        """Return how large the changes are."""
        return (np.abs(np.nan_to_num(trials - self.sample)) * self.scale).sum(axis=1)

    def changed(self, trials: np.ndarray) -> np.ndarray:
        """Return which features are changed."""
        return (trials != self.sample) & ~np.isnan(self.sample)

    def with_one_more(self, states: np.ndarray, most: int) -> np.ndarray:
        """Return the states with a further feature changed, to each of its values."""
        chosen = [~self.changed(state[None])[0][self.features] for state in states]
        if np.sum(chosen) > most:
            self.is_complete = False
            costs = np.abs(self.values - self.sample[self.features]) * self.scale[self.features]
            is_cheap = np.argsort(np.argsort(costs, kind="stable")) < most // len(states)
            chosen = [of_state & is_cheap for of_state in chosen]
        trials = [self._with_each(*pair) for pair in zip(states, chosen, strict=True)]
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

    def polish(self, state: np.ndarray) -> Found:
        """Undo changes that are not needed, and make the others smaller."""
        if self.changed(state[None]).sum() ** 2 > self.n_left:
            state = self._undo_by_halves(state)
        while True:
            undone = self._with_one_less(state)
            change = np.abs(state - self.sample)[self.features]
            is_nearer = np.abs(self.values - self.sample[self.features]) < change
            if len(undone) + is_nearer.sum() > self.n_left:
                return Found(state, is_complete=False)
            trials = np.concatenate([undone, self._with_each(state, is_nearer)])
            if len(trials) > 0:
                trials = trials[self.margins(trials) > 0]
            if len(trials) == 0:
                return Found(state, self.is_complete)
            state = self.smallest(trials)

    def _undo_by_halves(self, state: np.ndarray) -> np.ndarray:
        """Undo the smallest changes, as many at a time as are not needed.

        Each round finds one change that is needed in as many trials as the logarithm of their
        number.
        """
        self.is_complete = False
        features = np.flatnonzero(self.changed(state[None])[0])
        sizes = np.abs(state - self.sample)[features] * self.scale[features]
        features = features[np.argsort(sizes, kind="stable")]
        while len(features) > 0 and self.n_left > 0:
            n_undone, n_too_many = 0, len(features) + 1
            while n_too_many - n_undone > 1 and self.n_left > 0:
                middle = (n_undone + n_too_many) // 2
                trial = state.copy()
                trial[features[:middle]] = self.sample[features[:middle]]
                if self.margins(trial[None])[0] > 0:
                    n_undone, best = middle, trial
                else:
                    n_too_many = middle
            state = best if n_undone > 0 else state
            features = features[n_undone + 1 :]
        return state

    def _with_one_less(self, state: np.ndarray) -> np.ndarray:
        changed = np.flatnonzero(self.changed(state[None])[0])
        trials = np.repeat(state[None], len(changed), axis=0)
        trials[np.arange(len(changed)), changed] = self.sample[changed]
        return trials


# Additive models. Scores change only where a value crosses an end of a condition, so these ends
# are all that is tried.


def change_additive(
    record: AdditiveBoxes,
    categories: Mapping[int, Categories],
    sample: np.ndarray,
    code: int,
    fixed: Sequence[int],
    is_whole: np.ndarray,
) -> Found:
    """Search a change after which an additive model predicts another class than that of a code.

    Features that are `fixed` stay; others become whole numbers where `is_whole`.
    """
    used = np.setdiff1d(record.used, fixed)
    options = [
        np.unique(categories[j].positions)
        if j in categories
        else _values_beyond(record, j, is_whole=is_whole[j])
        for j in used.tolist()
    ]

    def margin(trials: np.ndarray) -> np.ndarray:
        rows = np.repeat(sample[None], len(trials), axis=0)
        rows[:, used] = trials
        scores = executor.class_scores(record, rows, rows).scores
        others = np.delete(scores, code, axis=1).max(axis=1, initial=-np.inf)
        differs = scores.argmax(axis=1) != code  # in a tie the first class wins
        least = np.where(differs, np.finfo(float).tiny, -np.inf)
        return np.maximum(others - scores[:, code], least)

    scale = np.array([_unit(values, sample[j]) for j, values in zip(used, options, strict=True)])
    size = len(record.labels) * len(sample)
    found = fewest_changes(margin, sample[used], options, scale, n_comparisons=size)
    if found.values is None:
        return found
    changed = sample.copy()
    changed[used] = found.values
    return found._replace(values=changed)


def _values_beyond(record: AdditiveBoxes, feature: int, *, is_whole: bool) -> np.ndarray:
    """Return the values on both sides of each end of the conditions on a feature."""
    low, high = record.lower[:, feature], record.upper[:, feature]
    low, high = low[np.isfinite(low)], high[np.isfinite(high)]
    beyond = [np.nextafter(low, -np.inf), np.nextafter(high, np.inf)]
    if is_whole:
        low, high = np.ceil(low), np.floor(high)
        beyond = [low - 1, high + 1]
    values = np.unique(np.concatenate([low, high, *beyond]))
    return values[np.isfinite(values)]


def _unit(options: np.ndarray, value: float) -> float:
    """Return what a change by 1 counts: as a share of all that is known of a feature, and 0."""
    known = np.append(options, 0.0 if np.isnan(value) else value)
    span = max(known.max(), 0.0) / 2 - min(known.min(), 0.0) / 2
    return float(min(0.5 / span, np.finfo(float).max)) if span > 0 else 1.0


# Nearest boxes. Features are moved to where boxes of other classes hold them.

# The nearest ends of boxes are tried, and others as far as the farthest: at most so many in a
# feature, and fewer where there are many features, so that an answer takes milliseconds.
_VALUES = 10
_VALUES_OF_ALL_FEATURES = 200
# Where few features do not suffice, the sample is moved into one of the nearest boxes altogether.
_WHOLE_BOXES = 5


def change_nearest(
    record: NearestBoxes,
    boxes: Hyperboxes,
    rounding: Rounding,
    lower: np.ndarray,
    upper: np.ndarray,
    code: int,
    fixed: Sequence[int],
) -> Found:
    """Search a change after which nearest boxes decide for another class than that of a code.

    Intervals keep their length, and features that are `fixed` stay.
    """
    rivals = np.flatnonzero((record.labels >= 0) & (record.labels != code))
    if len(rivals) == 0:
        return Found(None, is_complete=True)
    most = max(min(_VALUES_OF_ALL_FEATURES // len(lower), _VALUES), 2)
    low, high = boxes.lower[rivals], boxes.upper[rivals]
    options = [
        _values_within(rounding, j, low[:, j], high[:, j], lower[j], upper[j], most)
        if j not in fixed
        else np.empty(0)
        for j in range(len(lower))
    ]
    margin = _NearestMargin(record, lower, upper, code)
    ranks = closeness(margin.distances(lower[None]))[0, rivals]
    nearest = rivals[np.argsort(-ranks, kind="stable")]
    margin.near = nearest[:_WHOLE_BOXES]
    starts = _move_inside(rounding, boxes, margin.near, lower, upper)
    starts[:, list(fixed)] = lower[list(fixed)]
    return fewest_changes(
        margin,
        lower,
        options,
        record.gamma / record.scale.span,
        starts=starts,
        n_comparisons=len(record.labels) * len(lower),
    )


class _NearestMargin:
    """How near changed samples come to another class: positive if the model predicts it."""

    def __init__(
        self, record: NearestBoxes, lower: np.ndarray, upper: np.ndarray, code: int
    ) -> None:
        self.record, self.lower, self.upper, self.code = record, lower, upper, code
        self.is_own = record.labels == code
        self.is_other = (record.labels >= 0) & ~self.is_own
        self.near = np.empty(0, int)
        with np.errstate(over="ignore"):
            gaps = self._gaps(record.scale.transform(lower), record.scale.transform(upper))
            self.slopes = np.fmax(gaps * record.gamma, 0.0)

    def __call__(self, trials: np.ndarray) -> np.ndarray:
        """Return the margins of samples, given by their lower ends."""
        distances = self.distances(trials)
        ranks = closeness(distances)
        if self.record.n_neighbors > 1:
            return self._by_several(trials, distances, ranks)
        memberships = np.maximum(ranks, 0.0)
        margins: np.ndarray = memberships[:, self.is_other].max(axis=1)
        margins -= memberships[:, self.is_own].max(axis=1)
        in_doubt = margins == 0  # ties, and what is beyond the reach of all boxes
        if in_doubt.any():
            ends = trials[in_doubt], self.move(trials[in_doubt])
            scores = executor.class_scores(self.record, *ends)
            differs = executor.winners(self.record, scores) != self.code
            margins[in_doubt] = np.where(
                differs, 1.0, ranks[in_doubt][:, self.near].max(axis=1) - 1.0
            )
        return margins

    def _by_several(
        self, trials: np.ndarray, distances: np.ndarray, ranks: np.ndarray
    ) -> np.ndarray:
        """Return the margins where several boxes of each class decide.

        Probabilities hardly change far from other classes, so distances lead the search there.
        """
        record, shape = self.record, (len(trials), self.record.n_classes)
        assert record.calibration is not None
        neighbors = np.full((*shape, record.n_neighbors), np.inf)
        tie_counts = np.zeros(shape, np.int64)
        for label in range(record.n_classes):
            boxes = np.flatnonzero(record.labels == label)
            nearest = np.sort(distances[:, boxes], axis=1)[:, : record.n_neighbors]
            neighbors[:, label, : nearest.shape[1]] = nearest
            best = ranks[:, boxes].max(axis=1, keepdims=True, initial=-np.inf)
            tie_counts[:, label] = (ranks[:, boxes] == best) @ record.counts[boxes]
        unknown = np.repeat(unknown_part(self.lower[None], record.compared), len(trials))
        found = ClassScores(np.empty(shape), tie_counts, np.empty(shape, np.int64), unknown)
        found = record.calibration.soften(found, neighbors)
        others = np.delete(found.scores, self.code, axis=1).max(axis=1)
        lead = others - found.scores[:, self.code]
        return np.where(executor.winners(record, found) != self.code, 1.0, np.arctan(lead) - 2.0)

    @np.errstate(over="ignore")
    def distances(self, trials: np.ndarray) -> np.ndarray:
        """Return the distance from each box."""
        record, transform = self.record, self.record.scale.transform
        low, high = transform(trials)[:, None], transform(self.move(trials))[:, None]
        if len(trials) < _MANY:
            return record.distance(self._gaps(low, high))
        distances: np.ndarray = np.zeros((len(trials), len(record.labels)))
        for j, slopes in enumerate(self.slopes.T):
            rows = np.flatnonzero(trials[:, j] != self.lower[j])
            if len(rows) > 0 and not np.isnan(self.lower[j]):
                slopes = np.tile(slopes, (len(trials), 1))
                gaps = self._gaps(low[rows], high[rows], j)
                slopes[rows] = np.fmax(gaps * record.gamma[j], 0.0)
            if record.is_mean:
                distances += np.fmin(slopes, 1.0)
            else:
                np.maximum(distances, slopes, out=distances)
        if record.is_mean:
            is_far = (distances >= len(self.lower)).any(axis=1)
            distances /= len(self.lower)
            distances[is_far] = record.distance(self._gaps(low[is_far], high[is_far]))
        return distances

    def _gaps(self, low: np.ndarray, high: np.ndarray, j: int | slice = slice(None)) -> np.ndarray:
        """Return how far scaled samples are outside of each box, in all features or one."""
        record = self.record
        return np.maximum(high[..., j] - record.upper[:, j], record.lower[:, j] - low[..., j])

    def move(self, lower: np.ndarray) -> np.ndarray:
        """Return the upper ends of changed samples; intervals keep their length."""
        is_same = (lower == self.lower) | np.isnan(self.lower)
        return np.where(is_same, self.upper, lower + (self.upper - self.lower))


def _values_within(
    rounding: Rounding,
    j: int,
    low: np.ndarray,
    high: np.ndarray,
    first: float,
    last: float,
    most: int,
) -> np.ndarray:
    """Return where the lower end of a feature may move to: both ends of boxes of other classes."""
    ends, other_ends = np.concatenate([low, high]), np.concatenate([high, low])
    _, unique = np.unique(ends, return_index=True)
    unique = unique[~np.isnan(ends[unique])]
    by_distance = unique[np.argsort(np.abs(ends[unique] - first), kind="stable")]
    spread = np.linspace(most // 2, len(unique) - 1, most - most // 2).astype(int)
    steps = np.arange(len(unique)) if len(unique) <= most else np.append(range(most // 2), spread)
    return np.array(
        [
            rounding.inside(j, ends[k], other_ends[k]) - (0.0 if ends[k] > first else last - first)
            for k in by_distance[steps]
        ]
    )


def _move_inside(
    rounding: Rounding, boxes: Hyperboxes, chosen: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> np.ndarray:
    """Return the sample moved into each of some boxes."""
    low, high = boxes.lower[chosen], boxes.upper[chosen]
    moved = np.repeat(lower[None], len(chosen), axis=0)
    for row, j in np.argwhere((lower < low) | (upper > high)).tolist():
        ends = low[row, j], high[row, j]
        if lower[j] < ends[0]:
            moved[row, j] = rounding.inside(j, *ends)
        else:
            moved[row, j] = rounding.inside(j, *ends[::-1]) - (upper[j] - lower[j])
    return moved
