"""`Codes`: each feature's values as whole numbers from 0 to `n_bins`, and back."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from hyperboxes._kernels import quantize
from hyperboxes._kernels.quantize import MISSING
from hyperboxes._models.samples import MinMaxScale, frozen, unknown_part

# How values are spread over the codes: by their position in the range, by how many are smaller, or
# half by each.
SCALINGS = ("blend", "minmax", "rank")

# What fits into a byte.
MOST_LEVELS = 255


@dataclass(frozen=True, eq=False)
class Codes:
    """From which value on each code begins, `thresholds[feature, code - 1]`, in ascending order.

    Codes grow with the values, so boxes of codes are boxes of values. Values beyond those learned,
    from `low` to `high`, have the first or the last code that was.
    """

    thresholds: np.ndarray
    low: np.ndarray
    high: np.ndarray
    _ends: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # The kernel counts thresholds below a value, of which it expects some number.
        ends = np.full((len(self.thresholds), MISSING), np.inf)
        ends[:, : self.n_bins] = np.nextafter(self.thresholds, -np.inf)
        object.__setattr__(self, "_ends", ends)

    @classmethod
    def learn(
        cls,
        lower: np.ndarray,
        upper: np.ndarray,
        scaling: str,
        n_bins: int,
        weights: np.ndarray | None = None,
    ) -> Self:
        """Spread the ends of intervals over the codes, some of which may be missing.

        A sample counts as often as it weighs, and not at all if it weighs nothing; None: once.
        """
        if weights is not None and not (counted := weights > 0).all():
            points = upper is lower
            lower, weights = lower[counted], weights[counted]
            upper = lower if points else upper[counted]
        ends = [lower] if upper is lower else [lower, upper]
        columns = (np.concatenate([end[:, j] for end in ends]) for j in range(lower.shape[1]))
        counts = np.ones(len(lower)) if weights is None else weights
        counts = np.concatenate([counts for _ in ends])
        thresholds = np.array([_spread(column, counts, scaling, n_bins) for column in columns])
        ranges = MinMaxScale.learn(lower, upper)
        return cls(thresholds, ranges.low, ranges.high)

    @property
    def n_bins(self) -> int:
        """The largest code."""
        return self.thresholds.shape[1]

    def encode(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the codes of intervals; of missing ones such that they miss no box.

        Points share one array unless some are missing.
        """
        low = self._encode(lower)
        high = low if upper is lower else self._encode(upper)
        if (missing := np.isnan(lower)).any():
            low, high = low.copy(), high.copy()
            low[missing], high[missing] = self.n_bins, 0
        return low, high

    def unknown_part(self, lower: np.ndarray) -> np.ndarray:
        """Return the part of the features with several codes in which each sample has no value."""
        return unknown_part(lower, np.isfinite(self.thresholds).any(axis=1))

    def _encode(self, values: np.ndarray) -> np.ndarray:
        codes = np.empty(values.shape[::-1], np.uint8)
        quantize.encode(frozen(np.ascontiguousarray(values)), self._ends, 0, len(values), codes)
        return codes.T

    def decode(
        self, lower: np.ndarray, upper: np.ndarray, features: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest values of boxes of codes; infinite where they are open.

        The largest is the one just below the next code's first.
        """
        edges = np.pad(self.thresholds, ((0, 0), (1, 1)), constant_values=(-np.inf, np.inf))
        below = np.nextafter(edges[features, upper.astype(np.int64) + 1], -np.inf)
        return edges[features, lower], np.where(below == np.finfo(float).max, np.inf, below)


def _spread(values: np.ndarray, counts: np.ndarray, scaling: str, n_bins: int) -> np.ndarray:
    """Return from which values on the codes 1 to `n_bins` begin, for one feature.

    A value's position is a number from 0 to `n_bins`, linear between the values that there are; its
    code is that number, rounded.
    """
    is_known = ~np.isnan(values)
    values, numbers = np.unique(values[is_known], return_inverse=True)
    counts = np.bincount(numbers, counts[is_known])
    if not len(values):
        return np.full(n_bins, np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        span = values[-1] - values[0]
        position = (values - values[0]) / (span if span > 0 else 1.0)
    rank = (np.cumsum(counts) - 0.5 * counts) / counts.sum()
    share = {"minmax": 0.0, "blend": 0.5, "rank": 1.0}[scaling]
    position = n_bins * ((1.0 - share) * position + share * rank)
    return np.interp(np.arange(n_bins) + 0.5, position, values, left=-np.inf, right=np.inf)
