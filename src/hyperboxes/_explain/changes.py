"""What would have to change for another prediction: few features, and these by little.

The search asks the model about changed samples and knows nothing else of it, so it serves all kinds
of models. It is greedy: with many features nobody can try all sets of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

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
