"""Boxes under construction: growable arrays in the learner's units, which the kernels write."""

from __future__ import annotations

from typing import Any, NamedTuple

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

    def copy(self) -> Boxes:
        twin = Boxes.__new__(Boxes)
        twin.__setstate__({name: array.copy() for name, array in self.__getstate__().items()})
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
