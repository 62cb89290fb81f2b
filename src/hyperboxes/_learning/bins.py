"""Bins of features: at most 255 of about equal weight, with thresholds between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hyperboxes._kernels import quantize
from hyperboxes._kernels.quantize import MAX_BINS
from hyperboxes._learning.steps import Threads

_ROWS_AT_ONCE = 16_384


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


def in_batches(work: Callable[[int, int], None], n_rows: int, threads: Threads) -> None:
    """Call `work(start, stop)` for all rows, some at a time."""
    starts = range(0, n_rows, _ROWS_AT_ONCE)
    list(threads.map(lambda start: work(start, min(start + _ROWS_AT_ONCE, n_rows)), starts))


def find_thresholds(column: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the thresholds of one feature, ascending; none if it has a single value."""
    values, masses = _distinct(column, weights)
    if len(values) > MAX_BINS:
        ends = np.cumsum(masses)
        bins = ((ends - 0.5 * masses) * (MAX_BINS / ends[-1])).astype(np.int64)
        is_last = np.append(bins[1:] != bins[:-1], False)
    else:
        is_last = np.append(np.ones(max(len(values) - 1, 0), bool), False)[: len(values)]
    places = np.flatnonzero(is_last)
    return between(values[places], values[places + 1])


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

    They are rounded by at most a quarter of the gap, to what a reader would say: 16.8, not 16.795.
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
