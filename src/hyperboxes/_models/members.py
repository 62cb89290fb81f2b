"""The members of an ensemble: small models of boxes in codes, and their layout for kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperboxes._kernels.members import Members

# Where no distance can be larger, hardly a class is farther than a byte can tell.
_SHORT = 4 * 255


@dataclass(frozen=True, eq=False)
class Member:
    """Boxes over some features, in codes; a box that knows nothing of a feature spans all codes.

    How far a sample is from a box is the sum of its gaps in the features or, unless `is_mean`, the
    largest of them.
    """

    features: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    is_mean: bool

    def gaps(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return how far a sample misses each box in each of the member's features, in codes."""
        low, high = (end[self.features].astype(np.int64) for end in (low, high))
        return np.maximum(np.maximum(self.lower - low, high - self.upper), 0)

    def distances(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return how far a sample is from each box, in codes."""
        gaps = self.gaps(low, high)
        return gaps.sum(axis=1) if self.is_mean else gaps.max(axis=1)

    def farthest(self, levels: int) -> int:
        """Return the largest distance that there can be."""
        return levels * (len(self.features) if self.is_mean else 1)


@dataclass(frozen=True)
class Voting:
    """How a member's distances become its votes, which sum to 1.

    A class that is farther than the nearest one by some part of the largest distance gets
    ``exp(-part / temperature)`` of its weight; with a temperature of 0 the nearest takes it all.
    """

    levels: int
    temperature: float

    def weights(self, farthest: int) -> np.ndarray:
        """Return the weights for each distance more than the nearest, in codes."""
        gaps = np.arange(farthest + 1)
        if self.temperature == 0.0:
            return (gaps == 0).astype(float)
        return np.exp(-gaps / (farthest * self.temperature))


def pack(members: Sequence[Member], n_classes: int, voting: Voting) -> Members:
    """Lay out the boxes of members for kernels."""
    farthest = [member.farthest(voting.levels) for member in members]
    tables = sorted(set(farthest))
    weights = np.zeros((len(tables), tables[-1] + 1))
    for row, most in zip(weights, tables, strict=True):
        row[: most + 1] = voting.weights(most)
    ends = [_by_class(member) for member in members]
    n_boxes = (np.bincount(member.labels, minlength=n_classes) for member in members)
    return Members(
        ends=np.concatenate(ends),
        starts=_starts([len(of_member) for of_member in ends]),
        first_boxes=np.array([_starts(numbers) for numbers in n_boxes]),
        features=np.concatenate([member.features for member in members]),
        first_features=_starts([len(member.features) for member in members]),
        is_mean=np.array([member.is_mean for member in members]),
        is_short=np.array(farthest) <= _SHORT,
        rows=np.searchsorted(tables, farthest),
        weights=weights,
    )


def _by_class(member: Member) -> np.ndarray:
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
