"""Boxes under construction: growable arrays in the learner's units, which the kernels write."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from hyperboxes._kernels.blocks import BLOCKS, BOXES, CANDIDATES, LANES, SAMPLES, add_boxes

_MIN_CAPACITY = 64
_ROWS = ("_lower", "_upper", "_labels", "_counts")


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a read-only view, so that kernels are compiled for one kind of input only.

    Users' arrays may be writable, read-only or memory-mapped; Numba tells these apart.
    """
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


class Samples(NamedTuple):
    """Training samples in the learner's units: intervals [xl, xu] and class indices y."""

    xl: np.ndarray
    xu: np.ndarray
    y: np.ndarray


class Boxes:
    """The boxes of a model in order of age, with room to grow.

    Kernels get `arrays`: the boxes row by row, and once more in blocks for the search. The
    properties show the rows in use. `_progress` is the kernels' own account of boxes, blocks,
    candidates and samples.
    """

    def __init__(self, n_features: int, n_classes: int) -> None:
        self._lower = np.empty((0, n_features))
        self._upper = np.empty((0, n_features))
        self._labels = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._n_classes = n_classes
        self._progress = np.zeros(4, np.int64)
        self._build_blocks()

    @classmethod
    def of_samples(cls, samples: Samples, n_classes: int) -> Self:
        """Make each sample a box of its own."""
        boxes = cls(samples.xl.shape[1], n_classes)
        boxes._lower, boxes._upper = samples.xl.copy(), samples.xu.copy()
        boxes._labels = samples.y.astype(np.int64)
        boxes._counts = np.ones(len(samples.y), np.int64)
        boxes._progress[BOXES] = len(samples.y)
        boxes._build_blocks()
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
    def labels(self) -> np.ndarray:
        """Class indices."""
        return self._labels[: len(self)]

    @property
    def counts(self) -> np.ndarray:
        """Samples absorbed."""
        return self._counts[: len(self)]

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays as the learning kernels take them."""
        rows = tuple(getattr(self, name) for name in _ROWS)
        return (*rows, self._progress, self.blocks)

    @property
    def n_candidates(self) -> int:
        """Candidates tried so far."""
        return int(self._progress[CANDIDATES])

    def add_candidates(self, n_more: int) -> None:
        """Account for candidates that were counted elsewhere."""
        self._progress[CANDIDATES] += n_more

    @property
    def n_learned(self) -> int:
        """Samples learned since `start_batch`."""
        return int(self._progress[SAMPLES])

    def start_batch(self) -> None:
        """Begin to count samples anew."""
        self._progress[SAMPLES] = 0

    def make_room(self) -> None:
        """Double the room if no box can be added."""
        if len(self) < len(self._labels):
            return
        capacity = max(2 * len(self), _MIN_CAPACITY)
        rows = {}
        for name in _ROWS:
            old = getattr(self, name)
            rows[name] = np.empty((capacity, *old.shape[1:]), old.dtype)
            rows[name][: len(self)] = old[: len(self)]
        # All at once: Ctrl-C may come between any two steps.
        vars(self).update(vars(self._with_rows(rows, len(self))))

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
        twin._build_blocks()
        return twin

    def _build_blocks(self) -> None:
        """Lay out the search anew, with blocks for as many boxes as there is room."""
        capacity, n_features = self._lower.shape
        n_blocks = capacity // LANES + self._n_classes  # each class may have one that is not full
        self.blocks = (
            np.full((n_blocks, n_features, LANES), np.inf),
            np.full((n_blocks, n_features, LANES), -np.inf),
            np.empty((n_blocks, LANES), np.int64),
            np.empty(capacity, np.int64),
            np.empty(n_blocks, np.int64),
            np.full(self._n_classes, -1),
            np.full(self._n_classes, -1),
        )
        self._progress[BLOCKS] = 0
        add_boxes(self.arrays)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the rows in use; the rest follows from them."""
        state = {name: getattr(self, name)[: len(self)] for name in _ROWS}
        return state | {"_n_classes": self._n_classes, "_progress": self._progress}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copy the rows, which may be read-only and memory-mapped, and lay out the search."""
        for name in (*_ROWS, "_progress"):
            setattr(self, name, np.array(state[name]))
        self._n_classes = state["_n_classes"]
        self._build_blocks()
