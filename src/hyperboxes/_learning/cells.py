"""The samples of boosting: the bins of their values, and cells of samples in the same boxes.

Boosting needs three results from all samples: which cells a box splits, the weights of the classes
in them, and, in the end, the number of samples in each box. So samples can be in other processes.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from hyperboxes._kernels import additive, boosting, quantize
from hyperboxes._kernels.quantize import MAX_BINS
from hyperboxes._learning.steps import Threads

_ROWS_AT_ONCE = 16_384


class Cells(ABC):
    """The cells that boxes cut all samples into.

    `table` has the scores and the weights of the classes in each cell, and `members`, where boxes
    are added, which cells each of them holds. Where the samples are is up to subclasses.
    """

    def __init__(self, masses: np.ndarray) -> None:
        self.table = additive.Cells(np.zeros((1, len(masses))), masses[np.newaxis])
        self.members = np.empty((0, 1), np.bool_)

    @property
    @abstractmethod
    def of_searched(self) -> np.ndarray:
        """The cell of each sample that boxes are found on."""

    @abstractmethod
    def _cut(self, box: boosting.Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Move samples that a box contains, of cells that have others, to new cells.

        Returns the old cell of each new one, whether the box contains each cell, old and new,
        and what each class weighs in them.
        """

    @abstractmethod
    def _rename(self, names: np.ndarray) -> None:
        """Give cells other numbers; those that get the same one are joined."""

    def split(self, box: boosting.Box) -> np.ndarray:
        """Part the cells that a box cuts, with the same scores; return whether it holds each."""
        scores = self.table.scores
        parents, inside, masses = self._cut(box)
        self.table = additive.Cells(np.concatenate([scores, scores[parents]]), masses)
        self.members = np.concatenate([self.members, self.members[:, parents]], axis=1)
        return inside

    def add(self, box: boosting.Box) -> None:
        """Split cells by a new box and keep which of them it holds."""
        inside = self.split(box)
        self.members = np.concatenate([self.members, inside[np.newaxis]])

    def replace(self, index: int, box: boosting.Box) -> None:
        """Replace a box by another, and join the cells that only that one parted.

        Their scores are to be set again.
        """
        self.members[index] = self.split(box)
        _, first, joined = np.unique(
            np.packbits(self.members, axis=0), axis=1, return_index=True, return_inverse=True
        )
        names = joined.reshape(-1).astype(np.int32)
        self._rename(names)
        scores = self.table.scores[first]
        masses = np.zeros(scores.shape, np.int64)
        np.add.at(masses, names, self.table.masses)
        self.table = additive.Cells(scores, masses)
        self.members = np.ascontiguousarray(self.members[:, first])

    def add_up(
        self, intercepts: np.ndarray, votes_of_boxes: np.ndarray, but: int | None = None
    ) -> np.ndarray:
        """Return the scores that intercepts and votes make, without those of one box if named."""
        scores = np.tile(intercepts, (self.members.shape[1], 1))
        for index, (inside, row) in enumerate(zip(self.members, votes_of_boxes, strict=True)):
            if index != but:
                scores[inside] += row
        return scores


class SampleStore(Protocol):
    """All samples, wherever they are."""

    def new_cells(self, n_classes: int) -> Cells:
        """Return a single cell that holds all samples."""

    def count_classes(self, boxes: list[boosting.Box], n_classes: int) -> np.ndarray:
        """Return how many samples of each class each box contains."""


class LocalSamples(NamedTuple):
    """All samples in this process. Boxes are found on the rows `searched`, None for all."""

    samples: boosting.Samples
    searched: np.ndarray | None
    threads: Threads

    def new_cells(self, n_classes: int) -> Cells:
        """Return a single cell that holds all samples."""
        return LocalCells(self, n_classes)

    def count_classes(self, boxes: list[boosting.Box], n_classes: int) -> np.ndarray:
        """Return how many samples of each class each box contains."""
        samples = self.samples

        def count(box: boosting.Box) -> np.ndarray:
            contained = np.empty(len(samples.labels), np.bool_)
            additive.mark_contained(samples.codes, box, 0, len(contained), contained)
            rows = np.flatnonzero(contained)
            return np.bincount(samples.labels[rows], samples.counts[rows], n_classes)

        found = [*self.threads.map(count, boxes)]
        return np.array(found, np.int64).reshape(len(boxes), n_classes)


class LocalCells(Cells):
    """Regions of samples in this process."""

    def __init__(self, everyone: LocalSamples, n_classes: int) -> None:
        self._samples, self._searched, self._threads = everyone
        self._of_samples = np.zeros(len(self._samples.labels), np.int32)
        super().__init__(self._masses(1, n_classes)[0])

    @property
    def of_searched(self) -> np.ndarray:
        """The cell of each sample that boxes are found on."""
        return self._of_samples if self._searched is None else self._of_samples[self._searched]

    def _cut(self, box: boosting.Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n_cells, n_classes = self.table.scores.shape
        contained = find_contained(self._samples, box, self._threads)
        cut = 2 * self._of_samples + contained
        seen = np.bincount(cut, minlength=2 * n_cells).reshape(n_cells, 2) > 0
        parents, names, inside = split_names(seen)
        self._of_samples = names[cut]
        return parents, inside, self._masses(len(inside), n_classes)

    def _rename(self, names: np.ndarray) -> None:
        self._of_samples = names[self._of_samples]

    def _masses(self, n_cells: int, n_classes: int) -> np.ndarray:
        masses = np.zeros((n_cells, n_classes), np.int64)
        additive.add_masses(self._samples, self._of_samples, masses)
        return masses


def split_names(seen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return new numbers of cells that a box cuts: its samples leave cells that have others.

    `seen[cell]` is whether a cell has samples outside the box, and inside. Returns the old
    cell of each new one, the numbers of what is outside and inside each cell, one after the
    other, and whether the box contains each cell, old and new.
    """
    n_cells = len(seen)
    parents = np.flatnonzero(seen.all(axis=1))
    names = np.repeat(np.arange(n_cells, dtype=np.int32), 2)
    names[2 * parents + 1] = n_cells + np.arange(len(parents))
    inside = np.concatenate([~seen[:, 0], np.ones(len(parents), np.bool_)])
    return parents, names, inside


def find_contained(samples: boosting.Samples, box: boosting.Box, threads: Threads) -> np.ndarray:
    """Return which samples a box contains."""
    contained = np.empty(len(samples.labels), np.bool_)

    def mark(start: int, stop: int) -> None:
        additive.mark_contained(samples.codes, box, start, stop, contained)

    in_batches(mark, len(contained), threads)
    return contained


@dataclass(frozen=True, eq=False)
class Bins:
    """The thresholds of all features: bin i ends at threshold i, the last one is open.

    `thresholds` has one row for each feature, of which the first `n_thresholds` are in use; the
    others are infinite.
    """

    thresholds: np.ndarray
    n_thresholds: np.ndarray

    @classmethod
    def learn(cls, X: np.ndarray, weights: np.ndarray | None, rows: Any, threads: Threads) -> Self:
        """Place thresholds so that bins have about equal weight; few values have a bin each.

        Only the given rows are looked at. Weights are None if they are equal.
        """

        def find(feature: int) -> np.ndarray:
            column = X[rows, feature].astype(np.float64)
            return find_thresholds(column, None if weights is None else weights[rows])

        found = list(threads.map(find, range(X.shape[1])))
        thresholds = np.full((len(found), MAX_BINS), np.inf)
        for row, values in zip(thresholds, found, strict=True):
            row[: len(values)] = values
        return cls(thresholds, np.array([len(values) for values in found]))

    def encode(self, X: np.ndarray, threads: Threads) -> np.ndarray:
        """Return the bin of each value, one row for each feature."""
        codes = np.empty(X.shape[::-1], np.uint8)

        def encode(start: int, stop: int) -> None:
            quantize.encode(X, self.thresholds, start, stop, codes)

        in_batches(encode, len(X), threads)
        return codes

    def lower(self, feature: np.ndarray, first: np.ndarray) -> np.ndarray:
        """Return the least value of bins; thresholds belong to the bin below."""
        ends = np.nextafter(self.thresholds[feature, first - 1], np.inf)
        return np.where(first == 0, -np.inf, ends)

    def upper(self, feature: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the largest value of bins."""
        is_open = last >= self.n_thresholds[feature]
        return np.where(is_open, np.inf, self.thresholds[feature, last])


def in_batches(work: Callable[[int, int], Any], n_rows: int, threads: Threads) -> list[Any]:
    """Call `work(start, stop)` for all rows, some at a time, and return the results."""
    starts = range(0, n_rows, _ROWS_AT_ONCE)
    return list(threads.map(lambda start: work(start, min(start + _ROWS_AT_ONCE, n_rows)), starts))


def find_thresholds(column: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the thresholds of one feature, ascending; none if it has a single value."""
    values, masses = _distinct(column, weights)
    if len(values) > MAX_BINS:
        ends = np.cumsum(masses)
        bins = ((ends - 0.5 * masses) * (MAX_BINS / ends[-1])).astype(np.int64)
        is_last = np.append(bins[1:] != bins[:-1], False)
    else:
        is_last = np.append(np.ones(max(len(values) - 1, 0), bool), False)[: len(values)]
    last = np.flatnonzero(is_last)
    return between(values[last], values[last + 1])


def _distinct(column: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of a feature in ascending order and the weight of each."""
    is_known = ~np.isnan(column)
    if weights is None:
        values = np.sort(column[is_known])
        starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
        return values[starts], np.diff(starts, append=len(values)).astype(float)
    order = np.argsort(column[is_known], kind="stable")
    values = column[is_known][order]
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
    ends = np.append(0.0, np.cumsum(weights[is_known][order]))
    return values[starts], np.diff(ends[np.append(starts, len(values))])


def between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return numbers of few digits near the middle between others, at least `low`, below `high`.

    They are rounded by at most a quarter of the gap, as people write them: 16.8, not 16.795.
    """
    middle = 0.5 * low + 0.5 * high
    with np.errstate(divide="ignore", over="ignore"):
        digits = -np.floor(np.log10(0.5 * (high - low)))
    rounded = middle.copy()
    for n_digits in np.unique(digits[np.abs(digits) < 300]):
        chosen = digits == n_digits
        rounded[chosen] = np.round(middle[chosen], int(n_digits))
    rounded = np.where((rounded > low) & (rounded < high), rounded, middle)
    return np.where((rounded >= low) & (rounded < high), rounded, low)
