"""Categories of a feature and their encoded positions, learned from the classes of samples."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

# Values with similar class distributions have positions near each other. So a box, which holds the
# positions from one to another, holds a set of like values, and learners handle numbers only.

# Text that was meant as a number: with a decimal comma, or a date or a time, at times after days.
_DECIMAL = re.compile(r"[+-]?\d*,\d+")
_DATE = re.compile(
    r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([T ].*)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}( .*)?|"
    r"(-?\d+ days?,? )?\d{1,2}:\d{2}(:[\d.]+)?"
)

# A column of text with more of them among its values was meant to hold numbers.
_MOST_NUMBERS = 0.5

# Places lie farther apart; bounds of boxes in the data's units may be off by less.
_ROUNDING = 1e-11


def are_categories(texts: Iterable[str]) -> bool:
    """Return whether texts are categories, or numbers of which some may be misspelt."""
    distinct = set(texts)
    n_numbers = sum(_is_like_a_number(text) for text in distinct)
    return bool(distinct) and n_numbers <= _MOST_NUMBERS * len(distinct)


def _is_like_a_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return _DECIMAL.fullmatch(text.strip()) is not None or looks_like_a_date(text)
    return True


def looks_like_a_date(text: str) -> bool:
    """Return whether a text may be a date, a time or a duration."""
    return _DATE.fullmatch(text.strip()) is not None


@dataclass(frozen=True, eq=False)
class Categories:
    """The values of a feature in the order of their positions.

    Attributes
    ----------
    values : tuple
        Strings, numbers or Booleans.
    positions : ndarray of shape (n_values,)
        Ascending; equal for values that are too rare to distinguish them.
    tendencies : ndarray of shape (n_values,)
        What they are ordered by, ascending: the mean score of their samples, drawn to the mean.
    scores : mapping of label to float
        What a sample of each class counts for.
    mean : float
        The mean score of all samples.
    weight : float
        As how many samples of the mean score each value starts: that draws rare ones to the mean.
    """

    values: tuple[Any, ...]
    positions: np.ndarray
    target_means: np.ndarray
    scores: Mapping[Any, float]
    mean: float
    weight: float

    @cached_property
    def _by_value(self) -> dict[Any, float]:
        return dict(zip(self.values, self.positions.tolist(), strict=True))

    def __contains__(self, value: Any) -> bool:
        return value in self._by_value

    def position(self, value: Any) -> float:
        """Return the position of a value, NaN if it is not known."""
        return self._by_value.get(value, np.nan)

    def encode(self, values: Iterable[Any]) -> np.ndarray:
        """Return the positions of values."""
        positions = self._by_value
        return np.array([positions.get(value, np.nan) for value in values], np.float64)

    def values_between(self, low: float, high: float) -> list[Any]:
        """Return the values between two positions, both included."""
        first = np.searchsorted(self.positions, low - _ROUNDING)
        last = np.searchsorted(self.positions, high + _ROUNDING)
        return list(self.values[first:last])

    def nearest(self, position: float, low: float, high: float) -> float:
        """Return the position of a value between two others that is nearest to a third."""
        is_between = (self.positions >= low - _ROUNDING) & (self.positions <= high + _ROUNDING)
        known = self.positions[is_between] if is_between.any() else self.positions
        return float(known[np.abs(known - position).argmin()])


# Each class has a score, and each value the mean score of its samples: with two classes the share
# of the second, with more the first principal component of the classes' shares. Values are ordered
# by that, and lie as far apart as there are samples between them. Means of few samples are drawn to
# the mean of all, the more the less values differ beyond chance, and the rarest values share one
# position: else a column of names would identify the class of each training sample, and of no
# others.

# Values with so many samples have a position of their own, whatever the others are like.
_ENOUGH_SAMPLES = 10

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
    target_means = _target_means(counts @ scores, counts.sum(axis=1), mean, weight)
    by_tendency = np.argsort(target_means, kind="stable")
    positions = np.empty(len(masses))
    positions[by_tendency] = _middles(masses[by_tendency])
    ranks = np.argsort(positions[groups], kind="stable")
    return Categories(
        tuple(column.values[order[rank]] for rank in ranks),
        positions[groups][ranks],
        target_means[groups][ranks],
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
    target_means = _target_means(
        counts[new] @ scores, counts[new].sum(axis=1), known.mean, known.weight
    )
    if known.values:
        positions = np.interp(target_means, known.target_means, known.positions)
    else:
        positions = np.full(len(new), _MIDDLE)
    all_positions = np.append(known.positions, positions)
    ranks = np.argsort(all_positions, kind="stable")
    values = [*known.values, *(column.values[code] for code in new)]
    return replace(
        known,
        values=tuple(values[rank] for rank in ranks),
        positions=all_positions[ranks],
        target_means=np.append(known.target_means, target_means)[ranks],
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
    """Return a group for each value: the rare ones, which have better means together, share one."""
    is_rare = masses < min(weight, _ENOUGH_SAMPLES)
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


def _target_means(sums: np.ndarray, totals: np.ndarray, mean: float, weight: float) -> np.ndarray:
    """Return the mean scores of values, drawn to the mean of all."""
    return (sums + weight * mean) / (totals + weight)


def _middles(masses: np.ndarray) -> np.ndarray:
    """Return where the middle of each value's samples is if all stand in line from 0 to 1."""
    ends = np.cumsum(masses)
    return (ends - 0.5 * masses) / ends[-1] if len(ends) else ends
