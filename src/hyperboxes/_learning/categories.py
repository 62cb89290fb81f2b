"""Places for the values of a categorical feature, by what they tell of the classes.

Each class has a score, and each value the mean score of its samples: with two classes the share of
the second, with more the first principal component of the classes' shares. Values are ordered by
that, and lie as far apart as there are samples between them. Means of few samples are drawn to the
mean of all, the more the less values differ beyond chance, and the rarest values share one place:
else a column of names would tell the class of each training sample, and nothing of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from hyperboxes._models.categories import Categories

# Values with so many samples have a place of their own, whatever the others are like.
_ENOUGH = 10

# Stands for more samples than there are: values differ by no more than chance.
_ALL = 1e12

_MIDDLE = 0.5


class Column(NamedTuple):
    """What samples have in a categorical feature, and what they are.

    `codes` are indices into `values`, -1 where nothing is known; `labels` are indices into
    `classes`, -1 where there is none.
    """

    values: Sequence[Any]
    codes: np.ndarray
    labels: np.ndarray
    classes: Sequence[Any]
    weights: np.ndarray

    def without_unweighted(self) -> Self:
        """Return the column without values that only samples of weight 0 have."""
        counted = np.unique(self.codes[(self.codes >= 0) & (self.weights > 0)])
        moved = np.full(len(self.values) + 1, -1)
        moved[counted] = np.arange(len(counted))
        values = [self.values[code] for code in counted]
        return self._replace(values=values, codes=moved[self.codes])

    def masses(self) -> np.ndarray:
        """Return the weight of each value's samples."""
        known = self.codes >= 0
        return np.bincount(self.codes[known], self.weights[known], len(self.values))

    def counts(self) -> np.ndarray:
        """Return the weight of each value's samples by class."""
        known = (self.codes >= 0) & (self.labels >= 0)
        counts = np.zeros((len(self.values), len(self.classes)))
        np.add.at(counts, (self.codes[known], self.labels[known]), self.weights[known])
        return counts


def learn_categories(column: Column) -> Categories:
    """Place the values that samples have."""
    order = sorted(range(len(column.values)), key=lambda code: sort_key(column.values[code]))
    masses, counts = column.masses()[order], column.counts()[order]
    weight = _weight_of_mean(counts)
    groups = _group_rare(masses, weight)
    masses, counts = _sums(masses[:, np.newaxis], groups)[:, 0], _sums(counts, groups)
    scores = _score_classes(counts, weight)
    mean = float(counts.sum(axis=0) @ scores / max(counts.sum(), 1.0))
    tendencies = _tendencies(counts @ scores, counts.sum(axis=1), mean, weight)
    by_tendency = np.argsort(tendencies, kind="stable")
    places = np.empty(len(masses))
    places[by_tendency] = _middles(masses[by_tendency])
    ranks = np.argsort(places[groups], kind="stable")
    return Categories(
        tuple(column.values[order[rank]] for rank in ranks),
        places[groups][ranks],
        tendencies[groups][ranks],
        dict(zip(column.classes, scores.tolist(), strict=True)),
        mean,
        weight,
    )


def add_categories(known: Categories, column: Column) -> Categories:
    """Place values that were not known before among those that were, which stay where they are."""
    counts = column.counts()
    scores = np.array([known.scores.get(label, known.mean) for label in column.classes])
    new = [code for code, value in enumerate(column.values) if value not in known]
    new.sort(key=lambda code: sort_key(column.values[code]))
    tendencies = _tendencies(
        counts[new] @ scores, counts[new].sum(axis=1), known.mean, known.weight
    )
    if known.values:
        places = np.interp(tendencies, known.tendencies, known.places)
    else:
        places = np.full(len(new), _MIDDLE)
    all_places = np.append(known.places, places)
    ranks = np.argsort(all_places, kind="stable")
    values = [*known.values, *(column.values[code] for code in new)]
    return Categories(
        tuple(values[rank] for rank in ranks),
        all_places[ranks],
        np.append(known.tendencies, tendencies)[ranks],
        known.scores,
        known.mean,
        known.weight,
    )


def sort_key(value: Any) -> tuple[bool, Any]:
    """Order values whatever came first: numbers, then strings."""
    return isinstance(value, str), value


def _weight_of_mean(counts: np.ndarray) -> float:
    """Return as how many samples the shares of all count for each value.

    That is the variance of a sample by that between values, which is estimated by moments: what
    the shares of the values differ beyond what they would by chance.
    """
    totals = counts.sum(axis=1)
    counts, totals = counts[totals > 0], totals[totals > 0]
    n_samples = totals.sum()
    if len(totals) < 2:
        return _ALL
    shares = counts.sum(axis=0) / n_samples
    by_chance = float((shares * (1.0 - shares)).sum())
    differences = ((counts / totals[:, np.newaxis] - shares) ** 2).sum(axis=1)
    beyond = float(totals @ differences) - (len(totals) - 1) * by_chance
    between = beyond / float(n_samples - (totals**2).sum() / n_samples)
    return min(by_chance / between, _ALL) if between > 0.0 else _ALL


def _group_rare(masses: np.ndarray, weight: float) -> np.ndarray:
    """Return a group for each value: the rare ones, of which the mean tells more, share one."""
    is_rare = masses < min(weight, _ENOUGH)
    groups = np.cumsum(~is_rare) - 1
    groups[is_rare] = np.count_nonzero(~is_rare)
    return groups


def _sums(rows: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the sums of the rows of each group."""
    sums = np.zeros((groups.max(initial=-1) + 1, rows.shape[1]))
    np.add.at(sums, groups, rows)
    return sums


def _score_classes(counts: np.ndarray, weight: float) -> np.ndarray:
    """Return a score for each class, such that the values' mean scores differ most."""
    n_classes = counts.shape[1]
    if n_classes <= 2 or len(counts) == 0:
        return np.arange(n_classes, dtype=float)
    totals = counts.sum(axis=1)
    shares = counts.sum(axis=0) / max(totals.sum(), 1.0)
    own = (counts + weight * shares) / (totals + weight)[:, np.newaxis] - shares
    _, _, directions = np.linalg.svd(own * np.sqrt(totals)[:, np.newaxis], full_matrices=False)
    first = directions[0]
    return first if first[np.abs(first).argmax()] > 0 else -first


def _tendencies(sums: np.ndarray, totals: np.ndarray, mean: float, weight: float) -> np.ndarray:
    """Return the mean scores of values, drawn to the mean of all."""
    return (sums + weight * mean) / (totals + weight)


def _middles(masses: np.ndarray) -> np.ndarray:
    """Return where the middle of each value's samples is if all stand in line from 0 to 1."""
    ends = np.cumsum(masses)
    return (ends - 0.5 * masses) / ends[-1] if len(ends) else ends
