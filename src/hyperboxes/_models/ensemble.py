"""Ensembles of models on subsets of features: codes of values, members in codes, their layout."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np

from hyperboxes._kernels import ensemble as kernels
from hyperboxes._kernels import quantize
from hyperboxes._kernels.ensemble import SAMPLES, Members
from hyperboxes._kernels.quantize import MISSING
from hyperboxes._models.calibration import VoteCalibration, vote_probabilities
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.records import BoxEnsemble, EnsembleMember, vote_table
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


# Where no distance can be larger, hardly a class is farther than a byte can count.
_SHORT = 4 * 255


@dataclass(frozen=True)
class VoteSettings:
    """How a member's distances become its votes: the largest code and `vote_table`'s parameter."""

    n_bins: int
    temperature: float


def pack(members: Sequence[EnsembleMember], n_classes: int, voting: VoteSettings) -> Members:
    """Lay out the boxes of members for kernels."""
    farthest = [member.farthest(voting.n_bins) for member in members]
    tables = sorted(set(farthest))
    weights = np.zeros((len(tables), tables[-1] + 1))
    for row, most in zip(weights, tables, strict=True):
        row[: most + 1] = vote_table(most, voting.temperature)
    ends = [_by_class(member) for member in members]
    n_boxes = (np.bincount(member.labels, minlength=n_classes) for member in members)
    return Members(
        ends=np.concatenate(ends),
        starts=_starts([len(of_member) for of_member in ends]),
        first_boxes=np.array([_starts(numbers) for numbers in n_boxes]),
        features=np.concatenate([member.features for member in members]),
        first_features=_starts([len(member.features) for member in members]),
        is_mean=np.array([member.combine == "sum" for member in members]),
        is_short=np.array(farthest) <= _SHORT,
        rows=np.searchsorted(tables, farthest),
        weights=weights,
    )


def _by_class(member: EnsembleMember) -> np.ndarray:
    """Return the ends of a member's boxes, sorted by class: lower, upper, of the next feature."""
    order = np.argsort(member.labels, kind="stable")
    ends = np.empty((*member.lower.shape, 2), np.uint8)
    ends[..., 0], ends[..., 1] = member.lower[order], member.upper[order]
    return ends.ravel()


def _starts(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return where pieces of these sizes begin, one after the other, and where the last ends."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


# The bytes of a line of the processor's cache.
_LINE = 64


@dataclass(frozen=True, eq=False)
class EnsembleModel:
    """The codes of values, the members in these codes, and the calibration of their votes.

    `n_samples` is the number of training samples of each class, or their weight. Without a
    calibration, probabilities are the votes. `feature_importances` and `oob_score` are measured
    out of bag.
    """

    codes: Codes
    members: list[EnsembleMember]
    voting: VoteSettings
    n_samples: np.ndarray
    calibration: VoteCalibration | None
    feature_importances: np.ndarray
    oob_score: float
    packed: Members = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "packed", pack(self.members, self.n_classes, self.voting))

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        """Leave out what follows from the other fields."""
        return type(self), tuple(getattr(self, f.name) for f in fields(self) if f.init)

    @property
    def n_classes(self) -> int:
        """How many labels there are."""
        return len(self.n_samples)

    @property
    def n_boxes(self) -> int:
        """How many boxes the members have."""
        return sum(len(member.labels) for member in self.members)

    def predict(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes for samples in the units of the data."""
        votes = count_votes(self.packed, *self.codes.encode(lower, upper), self.n_classes)
        votes /= len(self.members)
        unknown = self.codes.unknown_part(lower)
        return vote_probabilities(votes, self.n_samples, self.calibration, unknown)

    def record(self) -> BoxEnsemble:
        """Return the same as a record."""
        members, temperature = tuple(self.members), self.voting.temperature
        return BoxEnsemble(self.codes, members, temperature, self.n_samples, self.calibration)

    def hyperboxes(self) -> Iterator[Hyperboxes]:
        """Yield the boxes of each member in the units of the data, over its features."""
        for member in self.members:
            ends = self.codes.decode(member.lower, member.upper, member.features)
            yield Hyperboxes(*ends, member.labels.copy(), member.counts.copy())


def count_votes(members: Members, low: np.ndarray, high: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the members' votes on samples in codes, added up in the order of the members."""
    codes = []
    for end in (low,) if low is high else (low, high):
        codes.append(allocate_codes(end.shape[1], len(end)))
        codes[-1][:, : len(end)] = end.T
    return add_up(members, codes, len(low), n_classes)


def allocate_codes(n_features: int, n_samples: int) -> np.ndarray:
    """Return room for codes by feature, of as many samples as kernels compare at a time.

    It begins where lines of the processor's cache do, so that no vector lies in two of them.
    """
    size = -(-n_samples // SAMPLES) * SAMPLES
    allocated = np.zeros(n_features * size + _LINE, np.uint8)
    start = -allocated.ctypes.data % _LINE
    return allocated[start : start + n_features * size].reshape(n_features, size)


def add_up(
    members: Members, codes: Sequence[np.ndarray], n_samples: int, n_classes: int
) -> np.ndarray:
    """Return the members' votes on samples whose codes are in such rooms.

    These are the least and the largest codes of intervals, or those of points.
    """
    low, high = codes[0], codes[1] if len(codes) > 1 else None
    votes = np.zeros((n_classes, low.shape[1]))
    nearest, shares = np.empty((n_classes, SAMPLES), np.uint16), np.empty((n_classes + 1, SAMPLES))
    kernels.add_votes(low, high, members, nearest, shares, votes)
    return votes[:, :n_samples].T
