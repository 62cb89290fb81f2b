"""Samples on their way to the kernels: intervals in users' units, scaled some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hyperboxes._models.scaling import MinMaxScale

# Which rows of an array: consecutive ones, or any in any order.
Rows = slice | np.ndarray


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a read-only view, so that kernels are compiled for one kind of input only.

    Users' arrays may be writable, read-only or memory-mapped; Numba tells these apart.
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

    def scaled(self, rows: Rows = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """Return intervals [xl, xu] in the learner's units; those of points share one array."""
        xl = self._scaled(self.lower[rows])
        return xl, xl if self.upper is self.lower else self._scaled(self.upper[rows])

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
        """Return them in another order: those at these places come first, then the others."""
        order = np.arange(len(self.y)) if self.order is None else self.order
        return replace(self, order=np.concatenate([order[is_first], order[~is_first]]))

    def in_order(self, places: slice) -> Rows:
        """Return the rows that are learned at these places."""
        return places if self.order is None else self.order[places]
