"""`Calibration`: what probabilities memberships stand for, learned from samples not yet learned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

# How steeply probability falls with the logarithm of the distance, and how much of it is given to
# the classes' shares instead: the values that are compared.
SLOPES = np.array([0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0, 16.0])
DOUBTS = np.array([0.01, 0.1, 0.3, 0.6, 0.9])

# What is assumed before anything is known, as if it had been seen once.
_FIRST_SLOPE = 2.0
_FIRST_GAP = 0.05

# Distances are told apart down to this part of the typical one.
_RESOLUTION = 0.2

# Streams are asked about every sample at first, then more and more rarely, and forget old answers.
_OFTEN = 500
FADING = 1.0 - 1.0 / _OFTEN

NEVER = -1


@dataclass(frozen=True, eq=False)
class Calibration:
    """How right memberships were about samples before these were learned.

    Attributes
    ----------
    losses : ndarray of shape (n_slopes, n_doubts)
        Minus the logarithms of the probabilities that the samples' classes would have been given
        with each pair of numbers, added up.
    log_gaps, n_gaps : float
        The logarithms of the distances to the nearest class but one, added up, and how many.
    next_question : int
        How many samples are to be learned before one is asked about again, or `NEVER`.
    """

    losses: np.ndarray
    log_gaps: float
    n_gaps: float
    next_question: int

    @classmethod
    def start(cls, next_question: int) -> Self:
        """Return what is assumed before anything is known."""
        penalties = 0.5 * np.log(SLOPES / _FIRST_SLOPE) ** 2
        losses = np.repeat(penalties[:, np.newaxis], len(DOUBTS), axis=1)
        return cls(losses, math.log(_FIRST_GAP), 1.0, next_question)

    @classmethod
    def joined(cls, parts: Sequence[Self], next_question: int) -> Self:
        """Add up what several know, in whatever order they come."""
        start = cls.start(next_question)
        losses = [part.losses - start.losses for part in parts]
        added = [
            math.fsum(values) for values in zip(*(table.flat for table in losses), strict=True)
        ]
        return cls(
            start.losses + np.reshape(added, start.losses.shape),
            math.fsum([start.log_gaps, *(part.log_gaps - start.log_gaps for part in parts)]),
            math.fsum([start.n_gaps, *(part.n_gaps - start.n_gaps for part in parts)]),
            next_question,
        )

    @property
    def offset(self) -> float:
        """What is added to distances before the logarithm is taken."""
        return _RESOLUTION * math.exp(self.log_gaps / self.n_gaps)

    @property
    def slope(self) -> float:
        """The mean of the slopes, weighted by how well they did."""
        return math.exp(float(self._weights().sum(axis=1) @ np.log(SLOPES)))

    @property
    def doubt(self) -> float:
        """The mean of the doubts, weighted by how well they did."""
        return float(self._weights().sum(axis=0) @ DOUBTS)

    def _weights(self) -> np.ndarray:
        weights = np.exp(self.losses.min() - self.losses)
        return weights / weights.sum()

    def with_gaps(self, gaps: np.ndarray, fading: float) -> Self:
        """Take in distances to the nearest class but one; older ones count less by `fading`."""
        gaps = gaps[(gaps > 0.0) & np.isfinite(gaps)]
        return replace(
            self,
            losses=fading * self.losses,
            log_gaps=fading * self.log_gaps + float(np.log(gaps).sum()),
            n_gaps=fading * self.n_gaps + len(gaps),
        )

    def asked_at(self, n_samples: int) -> Self:
        """Say when to ask next, after so many samples."""
        return replace(self, next_question=n_samples + 1 + n_samples // _OFTEN)

    def asking_from(self, n_samples: int) -> Self:
        """Ask about the samples that come after so many."""
        return replace(self, next_question=n_samples)
