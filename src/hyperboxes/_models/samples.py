"""Samples as learners take them: lower and upper ends, labels, weights, and their scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np


@dataclass(frozen=True, eq=False)
class MinMaxScale:
    """Each feature's range, learned once, mapped to [0, 1].

    A feature that never varied is only shifted to 0; one without any value stays as it is.
    """

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def learn(cls, lower: np.ndarray, upper: np.ndarray) -> Self:
        """Take the range of the intervals [lower, upper], of which some may be missing."""
        low = np.fmin.reduce(lower, axis=0)
        high = np.fmax.reduce(upper, axis=0)
        return cls(np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=0.0))

    @cached_property
    def span(self) -> np.ndarray:
        """What is mapped to a length of 1."""
        with np.errstate(over="ignore"):
            span = self.high - self.low
        return np.where(span > 0, span, 1.0)

    def transform(self, values: np.ndarray) -> np.ndarray:
        """Map the data's units to the learner's; values beyond the range end up outside [0, 1]."""
        with np.errstate(over="ignore"):
            return (values - self.low) / self.span

    def restore(self, values: np.ndarray) -> np.ndarray:
        """Undo `transform`: return numbers that it maps to these values, where there are such.

        Several may be; the one rounded to 15 digits of the range most likely is the user's own.
        """
        near = self.low + values * self.span
        candidates = (
            np.nextafter(near, -np.inf),
            np.nextafter(near, np.inf),
            near,
            self._round(near),
        )
        restored = near.copy()
        for candidate in candidates:
            np.copyto(restored, candidate, where=self.transform(candidate) == values)
        at_high = (values == 1.0) & (self.high > self.low)
        return np.where(values == 0.0, self.low, np.where(at_high, self.high, restored))

    def _round(self, values: np.ndarray) -> np.ndarray:
        # Beyond 22 digits `round` divides by a power of ten that no float64 is.
        digits = np.clip(15 - np.ceil(np.log10(self.span)), -300, 22).astype(int)
        columns = zip(values.T, digits.tolist(), strict=True)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.column_stack([np.round(column, digit) for column, digit in columns])


# Which rows of an array: consecutive ones, or any in any order.
Rows = slice | np.ndarray


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a read-only view, so that kernels are compiled for one kind of input only.

    Users' arrays may be writable, read-only or memory-mapped; Numba distinguishes these.
    """
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def slices(n_rows: int, size: int) -> Iterator[slice]:
    """Yield slices of some size that cover the rows (`gen_batches` takes longer than a sample)."""
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


@dataclass(frozen=True, eq=False)
class Intervals:
    """Samples as users have them, and the scale that maps them to the learner's units, if any.

    They are scaled when they are needed, some at a time: a copy of them all would take as much
    memory again.
    """

    lower: np.ndarray
    upper: np.ndarray
    scale: MinMaxScale | None

    def part(self, rows: slice) -> Self:
        """Return consecutive intervals."""
        lower = self.lower[rows, :]
        upper = lower if self.upper is self.lower else self.upper[rows, :]
        return replace(self, lower=lower, upper=upper)

    def scaled(self, rows: Rows = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """Return intervals [xl, xu] in the learner's units; those of points share one array."""
        xl = self._scaled(self.lower[rows, :])
        return xl, xl if self.upper is self.lower else self._scaled(self.upper[rows, :])

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        return frozen(values if self.scale is None else self.scale.transform(values))


@dataclass(frozen=True, eq=False)
class Samples(Intervals):
    """Training samples: intervals with class indices, `NO_LABEL` where there is none.

    `order` is that in which they are learned, None if as they stand. A copy in that order would
    take as much memory again. `counts` is how many samples each stands for, None if one each; for
    learners to which samples are boxes.
    """

    y: np.ndarray
    order: np.ndarray | None = None
    counts: np.ndarray | None = None

    def shuffled(self, random: np.random.RandomState) -> Self:
        """Return them in a random order."""
        return replace(self, order=random.permutation(len(self.y)))

    def take(self, rows: np.ndarray) -> Self:
        """Return some of them, in the order of their rows."""
        lower = self.lower[rows]
        upper = lower if self.upper is self.lower else self.upper[rows]
        counts = None if self.counts is None else self.counts[rows]
        return replace(self, lower=lower, upper=upper, y=self.y[rows], order=None, counts=counts)

    def starting_with(self, is_first: np.ndarray) -> Self:
        """Return them in another order: those at these positions come first, then the others."""
        order = np.arange(len(self.y)) if self.order is None else self.order
        return replace(self, order=np.concatenate([order[is_first], order[~is_first]]))

    def in_order(self, positions: slice) -> Rows:
        """Return the rows that are learned at these positions."""
        return positions if self.order is None else self.order[positions]


def known_features(lower: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the features, as a mask, in which boxes with a label have values.

    Boxes are given by their lower ends.
    """
    has_label = labels >= 0
    is_known = ~np.isnan(lower[has_label.argmax()]) if has_label.any() else np.zeros(0, bool)
    if len(is_known) and is_known.all():
        return is_known
    return (~np.isnan(lower[has_label])).any(axis=0)


def unknown_part(lower: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Return the part of some features in which each sample has no value."""
    is_unknown = np.isnan(lower)
    if not is_unknown.any():  # as mostly
        return np.zeros(len(lower))
    return is_unknown[:, features].sum(axis=1) / max(np.count_nonzero(features), 1)
