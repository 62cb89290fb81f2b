"""Streams sorted by class: online learners make bad models of them, so users are told."""

from __future__ import annotations

import warnings

import numpy as np

# Labels of streams often stay the same for some time (the weather, prices). The data of a stream
# are called sorted if its label changes so many times more rarely than it would in random order,
# and not before so many samples: small batches of one class are fine.
_RARELY = 20
_ENOUGH = 500


class LabelRuns:
    """How often the label changes from one sample of a stream to the next."""

    def __init__(self, n_classes: int) -> None:
        self._counts = np.zeros(n_classes, np.int64)
        self._n_changes = 0
        self._last = -1
        self._is_told = False

    def add(self, y: np.ndarray) -> None:
        """Take in the labels of some samples, those that have one; warn once if they are sorted."""
        y = y[y >= 0]
        if self._is_told or len(y) == 0:
            return
        self._counts += np.bincount(y, minlength=len(self._counts))
        self._n_changes += int((y[1:] != y[:-1]).sum()) + (self._last not in (-1, y[0]))
        self._last = int(y[-1])
        n = int(self._counts.sum())
        expected = n - float(self._counts @ self._counts) / n
        if n >= _ENOUGH and self._n_changes * _RARELY < expected:
            self._is_told = True
            warnings.warn(
                f"Labels come in long runs: over {n:,} samples the label changed "
                f"{self._n_changes:,} times; in random order it would have some {expected:,.0f} "
                "times. Boxes depend on the order, and samples sorted by class make many more of "
                "them, which predict worse: shuffle the samples first.",
                stacklevel=4,
            )
