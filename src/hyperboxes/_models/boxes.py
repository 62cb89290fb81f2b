"""Boxes under construction: growable arrays in the learner's units, which the kernels write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hyperboxes._kernels.index import (
    ALIVE,
    BOXES,
    CANDIDATES,
    FEW,
    N_COUNTERS,
    N_LINKS,
    SAMPLES,
    WIDTH,
    build,
)
from hyperboxes._kernels.lanes import LANES
from hyperboxes._models.scaling import MinMaxScale

# Comparisons of a block in one dimension between two looks at Ctrl-C: some tenths of a second.
WORK_PER_CALL = 50_000_000

_MIN_CAPACITY = 64

# The trees are built anew, and there is room again, when there are so many times as many boxes.
_GROWTH = 1.3

# Lanes of a block that are used; tests use fewer, which makes trees deep.
_WIDTH = LANES

_ROWS = ("_lower", "_upper", "_labels", "_counts")


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

    def scaled(self, rows: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """Return intervals [xl, xu] in the learner's units; those of points share one array."""
        xl = self._scaled(self.lower[rows])
        return xl, xl if self.upper is self.lower else self._scaled(self.upper[rows])

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        return frozen(values if self.scale is None else self.scale.transform(values))


@dataclass(frozen=True, eq=False)
class Samples(Intervals):
    """Training samples: intervals with class indices, the number of classes for no label."""

    y: np.ndarray


class Boxes:
    """The boxes of a model in order of age, with room to grow.

    Kernels get `arrays`: the boxes row by row, and an index to search them. The properties show
    the rows in use. `_progress` is the kernels' own account. The label of boxes that have none is
    the number of classes.
    """

    def __init__(self, n_features: int, n_classes: int) -> None:
        self._lower = np.empty((0, n_features))
        self._upper = np.empty((0, n_features))
        self._labels = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._n_classes = n_classes
        self._progress = np.zeros(N_COUNTERS, np.int64)
        self._build_index()

    @classmethod
    def of_samples(cls, samples: Samples, n_classes: int) -> Self:
        """Make each sample a box of its own."""
        counts = np.ones(len(samples.y))
        return cls.of_rows(*samples.scaled(), samples.y, counts, n_classes=n_classes)

    @classmethod
    def of_rows(
        cls,
        lower: np.ndarray,
        upper: np.ndarray,
        labels: np.ndarray,
        counts: np.ndarray,
        *,
        n_classes: int,
    ) -> Self:
        """Copy boxes, one a row, in the learner's units."""
        boxes = cls(lower.shape[1], n_classes)
        boxes._lower, boxes._upper = np.array(lower, order="C"), np.array(upper, order="C")
        boxes._labels, boxes._counts = labels.astype(np.int64), counts.astype(np.int64)
        boxes._progress[BOXES] = len(labels)
        boxes._build_index()
        return boxes

    def __len__(self) -> int:
        return int(self._progress[BOXES])

    @property
    def lower(self) -> np.ndarray:
        """The smallest corners."""
        return self._lower[: len(self)]

    @property
    def upper(self) -> np.ndarray:
        """The largest corners."""
        return self._upper[: len(self)]

    @property
    def n_classes(self) -> int:
        """How many labels there are; the label of boxes without one."""
        return self._n_classes

    @property
    def has_labels(self) -> bool:
        """Whether a box has a label."""
        roots = self._index[3]
        return bool((roots[: self._n_classes] >= 0).any())

    @property
    def labels(self) -> np.ndarray:
        """Class indices, the number of classes for no label."""
        return self._labels[: len(self)]

    @property
    def counts(self) -> np.ndarray:
        """Samples absorbed."""
        return self._counts[: len(self)]

    @property
    def rows(self) -> tuple[np.ndarray, ...]:
        """Lower and upper corners, labels and counts."""
        return self.lower, self.upper, self.labels, self.counts

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays as the learning kernels take them."""
        rows = tuple(getattr(self, name) for name in _ROWS)
        return (*rows, self._progress, self._index)

    @property
    def n_candidates(self) -> int:
        """Candidates tried so far."""
        return int(self._progress[CANDIDATES])

    @n_candidates.setter
    def n_candidates(self, number: int) -> None:
        self._progress[CANDIDATES] = number

    @property
    def n_learned(self) -> int:
        """Samples learned since `start_batch`."""
        return int(self._progress[SAMPLES])

    def start_batch(self) -> None:
        """Begin to count samples anew."""
        self._progress[SAMPLES] = 0

    def make_room(self) -> None:
        """Make room for some more boxes, and build the trees anew, if none can be added."""
        if len(self) < len(self._labels):
            return
        capacity = max(int(_GROWTH * len(self)), _MIN_CAPACITY)
        rows = {}
        for name in _ROWS:
            old = getattr(self, name)
            rows[name] = np.empty((capacity, *old.shape[1:]), old.dtype)
            rows[name][: len(self)] = old[: len(self)]
        # All at once: Ctrl-C may come between any two steps.
        vars(self).update(vars(self._with_rows(rows, len(self))))

    def pack(self) -> None:
        """Build the trees anew with full blocks, which are searched fastest."""
        self._build_index(_WIDTH)

    def tidy(self) -> None:
        """Build the trees anew if half of their boxes are gone."""
        if self._progress[ALIVE] <= self._progress[FEW]:
            self.pack()

    def settled(self) -> Self:
        """Return a copy without the places of boxes that were merged into others."""
        alive = self.counts > 0
        rows = {name: getattr(self, name)[: len(self)][alive] for name in _ROWS}
        return self._with_rows(rows, int(alive.sum()))

    def _with_rows(self, rows: dict[str, np.ndarray], n_boxes: int) -> Self:
        """Return a copy with other rows, of which the first `n_boxes` are in use."""
        twin = object.__new__(type(self))
        vars(twin).update(rows, _n_classes=self._n_classes, _progress=self._progress.copy())
        twin._progress[BOXES] = n_boxes
        twin._build_index()
        return twin

    def _build_index(self, fill: int | None = None) -> None:
        """Lay out the index anew, with blocks for as many boxes as there is room.

        `fill` is how many lanes of a block to use; None: fewer if there is room for more boxes.
        """
        capacity, n_features = self._lower.shape
        alive = np.flatnonzero(self.counts > 0)
        order = alive[np.argsort(self._labels[alive], kind="stable")]
        n_trees = self._n_classes + 1
        starts = np.searchsorted(self._labels[order], np.arange(n_trees + 1))
        n_blocks = _most_blocks(capacity, n_trees)
        self._progress[WIDTH] = _WIDTH
        self._index: tuple[np.ndarray, ...] = ()  # makes room for the new one
        self._index = (
            np.empty((n_blocks, n_features, 2, LANES), np.float32),
            np.empty((n_blocks, N_LINKS), np.int64),
            np.empty(capacity, np.int64),
            np.empty(n_trees, np.int64),
        )
        if fill is None:
            fill = _WIDTH if len(self) == capacity else _fill()
        build(order, starts, fill, self.arrays)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the rows in use; the rest follows from them."""
        state = {name: getattr(self, name)[: len(self)] for name in _ROWS}
        return state | {"_n_classes": self._n_classes, "_progress": self._progress}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copy the rows, which may be read-only and memory-mapped, and lay out the search."""
        for name in (*_ROWS, "_progress"):
            setattr(self, name, np.array(state[name]))
        self._n_classes = state["_n_classes"]
        self._build_index()


def _fill() -> int:
    """Return how many lanes to use where boxes will be added: all are in use when room ends."""
    return round(_WIDTH / _GROWTH)


def _most_blocks(n_boxes: int, n_trees: int) -> int:
    """Return how many blocks may be needed for trees of so many boxes.

    Blocks but for the roots have at least half of what they are filled with when trees are built;
    above the leaves they come in pairs. A box may get a label, and a place in a second tree. Memory
    that is never written to costs nothing.
    """
    least = (_fill() + 1) // 2
    n_leaves = 2 * n_boxes // least + n_trees
    return n_leaves + 2 * (n_leaves // (least - 1) + n_trees * n_boxes.bit_length())
