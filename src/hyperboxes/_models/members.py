"""The members of an ensemble: small models of boxes in codes, and their layout for kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperboxes._kernels.members import DEPTH, LANES, STRIDES, Members


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


def pack(
    members: Sequence[Member],
    n_classes: int,
    voting: Voting,
    layouts: Sequence[Layout] | None = None,
) -> Members:
    """Lay out the boxes of members for kernels; `layouts` are theirs, if they are known."""
    if layouts is None:
        layouts = [Layout(member, n_classes, voting.levels) for member in members]
    farthest = [member.farthest(voting.levels) for member in members]
    tables = sorted(set(farthest))
    weights = np.zeros((len(tables), tables[-1] + 1))
    for row, most in zip(weights, tables, strict=True):
        row[: most + 1] = voting.weights(most)
    groups = [ends for layout in layouts for ends in layout.ends]
    runs = [runs for layout in layouts for runs in layout.runs]
    return Members(
        ends=np.concatenate([ends.ravel() for ends in groups]),
        starts=_starts([ends.size for ends in groups])[:-1],
        layers=np.array([len(ends) for ends in groups]),
        walls=np.array([walls for layout in layouts for walls in layout.walls]),
        first_groups=_starts([len(layout.ends) for layout in layouts]),
        runs=np.concatenate(runs),
        first_runs=_starts([len(run) for run in runs]),
        features=np.concatenate([member.features for member in members]),
        first_features=_starts([len(member.features) for member in members]),
        is_mean=np.array([member.is_mean for member in members]),
        rows=np.searchsorted(tables, farthest),
        weights=weights,
    )


def _starts(sizes: Sequence[int]) -> np.ndarray:
    """Return where pieces of these sizes begin, one after the other, and where the last ends."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


class Layout:
    """The boxes of a member in lanes: `ends[group]` as kernels expect it.

    It does not depend on which features the member knows.
    """

    def __init__(self, member: Member, n_classes: int, levels: int) -> None:
        n_boxes = np.bincount(member.labels, minlength=n_classes)
        n_groups = -(-n_classes // LANES)
        length = _find_length(n_boxes, n_groups * LANES)
        n_lanes = -(-n_boxes // length)
        first_lanes = _starts(n_lanes.tolist())
        by_class = np.argsort(member.labels, kind="stable")
        place = np.arange(len(by_class)) - _starts(n_boxes.tolist())[member.labels[by_class]]
        lanes = first_lanes[member.labels[by_class]] + place // length
        shape = (length, n_groups * LANES, len(member.features))
        lower, upper = np.full(shape, levels, np.uint8), np.zeros(shape, np.uint8)
        lower[place % length, lanes] = member.lower[by_class]
        upper[place % length, lanes] = member.upper[by_class]
        # From (LOW or HIGH, layer, side, group, lane, feature).
        ends = np.stack([lower, upper]).reshape(
            2, length // DEPTH, DEPTH, n_groups, LANES, len(member.features)
        )
        self.ends = np.ascontiguousarray(ends.transpose(3, 1, 5, 0, 4, 2))
        # Lanes of no class are as if the last class had them: as far away as can be.
        last = np.full(n_groups * LANES - first_lanes[-1], n_classes - 1)
        classes = np.append(np.repeat(np.arange(n_classes), n_lanes), last).reshape(n_groups, LANES)
        self.runs = [_find_runs(lanes) for lanes in classes]
        self.walls = [_find_walls(lanes) for lanes in classes]


def _find_length(n_boxes: np.ndarray, n_lanes: int) -> int:
    """Return how many boxes a lane must hold, in whole layers, for all boxes to have a place."""
    fewest, most = 1, int(n_boxes.max()) // DEPTH + 1
    while fewest < most:
        layers = (fewest + most) // 2
        if (-(-n_boxes // (layers * DEPTH))).sum() <= n_lanes:
            most = layers
        else:
            fewest = layers + 1
    return fewest * DEPTH


def _find_runs(lanes: np.ndarray) -> np.ndarray:
    """Return the classes that have lanes in a group, and the last lane of each."""
    lasts = np.flatnonzero(np.append(lanes[1:] != lanes[:-1], True))
    return np.column_stack([lanes[lasts], lasts])


def _find_walls(lanes: np.ndarray) -> np.ndarray:
    """Return, for each stride, where the lane before a lane is of another class, or none."""
    walls = np.full((len(STRIDES), LANES), 0xFFFF, np.uint16)
    for wall, stride in zip(walls, STRIDES, strict=True):
        wall[stride:][lanes[stride:] == lanes[:-stride]] = 0
    return walls
