"""Maps between the data's units and the unit interval in which the learners work."""

from __future__ import annotations

from dataclasses import dataclass
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
