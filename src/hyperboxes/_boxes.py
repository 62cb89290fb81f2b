"""Boxes under construction: growable arrays in the learner's units, which the kernels write."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from hyperboxes._kernels.selection import BOXES, CANDIDATES, SAMPLES

_MIN_CAPACITY = 64
_PER_BOX = ("_lower", "_upper", "_labels", "_counts", "_following")


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

    Kernels get `arrays`; the properties show the part in use. `progress` is the kernels' own
    account of boxes, candidates and samples.
    """

    def __init__(self, n_features: int, n_classes: int) -> None:
        self._lower = np.empty((0, n_features))
        self._upper = np.empty((0, n_features))
        self._labels = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._following = np.empty(0, np.int64)
        self._first = np.full(n_classes, -1, np.int64)
        self._last = np.full(n_classes, -1, np.int64)
        self._progress = np.zeros(3, np.int64)

    def __len__(self) -> int:
        return int(self._progress[BOXES])

    @property
    def lower(self) -> np.ndarray:
        return self._lower[: len(self)]

    @property
    def upper(self) -> np.ndarray:
        return self._upper[: len(self)]

    @property
    def labels(self) -> np.ndarray:
        return self._labels[: len(self)]

    @property
    def counts(self) -> np.ndarray:
        return self._counts[: len(self)]

    @property
    def n_candidates(self) -> int:
        return int(self._progress[CANDIDATES])

    @property
    def n_learned(self) -> int:
        """Samples learned since `start_batch`."""
        return int(self._progress[SAMPLES])

    @classmethod
    def of_samples(cls, samples: Samples, n_classes: int) -> Self:
        """Make each sample a box of its own."""
        boxes = cls(samples.xl.shape[1], n_classes)
        boxes._lower, boxes._upper = samples.xl.copy(), samples.xu.copy()
        boxes._labels = samples.y.astype(np.int64)
        boxes._counts = np.ones(len(samples.y), np.int64)
        boxes._progress[BOXES] = len(samples.y)
        boxes._chain()
        return boxes

    def _chain(self) -> None:
        """Link the boxes of each class, oldest first."""
        by_class = np.argsort(self.labels, kind="stable")
        starts = np.flatnonzero(np.diff(self.labels[by_class], prepend=-1))
        stops = np.append(starts[1:], len(self))
        self._following = np.full(len(self), -1)
        self._following[by_class[:-1]] = by_class[1:]
        self._following[by_class[stops - 1]] = -1
        self._first[:] = self._last[:] = -1
        classes = self.labels[by_class[starts]]
        self._first[classes] = by_class[starts]
        self._last[classes] = by_class[stops - 1]

    def previous(self) -> np.ndarray:
        """Return the chains of the classes backwards."""
        previous = np.full(len(self), -1)
        linked = np.flatnonzero(self._following >= 0)
        previous[self._following[linked]] = linked
        return previous

    def add_candidates(self, n_more: int) -> None:
        """Account for candidates that were counted elsewhere."""
        self._progress[CANDIDATES] += n_more

    def start_batch(self) -> None:
        self._progress[SAMPLES] = 0

    def make_room(self) -> None:
        """Double the room if no box can be added."""
        if len(self) < len(self._labels):
            return
        capacity = max(2 * len(self), _MIN_CAPACITY)
        for name in _PER_BOX:
            old = getattr(self, name)
            new = np.empty((capacity, *old.shape[1:]), old.dtype)
            new[: len(self)] = old[: len(self)]
            setattr(self, name, new)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays as the learning kernels take them."""
        per_box = tuple(getattr(self, name) for name in _PER_BOX)
        return (*per_box, self._first, self._last, self._progress)

    def settled(self) -> Self:
        """Return a copy without the places of boxes that were merged into others."""
        alive = self.counts > 0
        twin = type(self)(self._lower.shape[1], len(self._first))
        for name in _PER_BOX:
            setattr(twin, name, getattr(self, name)[: len(self)][alive])
        twin._progress[:] = self._progress
        twin._progress[BOXES] = alive.sum()
        twin._chain()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Leave the spare room out of pickles."""
        state = vars(self).copy()
        for name in _PER_BOX:
            state[name] = state[name][: len(self)]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take arrays that may be memory-mapped: `make_room` replaces the large ones."""
        vars(self).update(state)
        for name in ("_first", "_last", "_progress"):
            setattr(self, name, np.array(state[name]))
