"""Regions that boxes of two classes share, and models that keep them for prediction to settle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from hyperboxes._kernels.records import NO_LABEL
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.model import BoxModel

# How overlaps are settled.
RESOLUTIONS = ("exclude", "compensate", "core", "levels")


@dataclass(frozen=True, eq=False)
class ContentiousRegions:
    """Where boxes of two classes overlap, in the order of the boxes.

    Where three classes meet there are three regions, one for each pair of boxes.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_regions, n_features)
        Smallest and largest corner of each region, in the units of the training data; NaN in a
        feature that neither box knows.
    boxes : ndarray of int, shape (n_regions, 2)
        The boxes that share each region, as indices into ``hyperboxes_``.

    See Also
    --------
    ContentiousFuzzyMinMax : The learner that keeps such regions.

    Examples
    --------
    >>> from hyperboxes import ContentiousFuzzyMinMax
    >>> X, y = [[1.0], [5.0], [4.0], [9.0]], ["a", "a", "b", "b"]
    >>> regions = ContentiousFuzzyMinMax(theta=0.7, shuffle=False).fit(X, y).regions_
    >>> regions
    ContentiousRegions(n_regions=1, n_features=1)
    >>> print(regions.lower[0], regions.upper[0], regions.boxes[0])
    [4.] [5.] [0 1]
    """

    lower: np.ndarray
    upper: np.ndarray
    boxes: np.ndarray

    def __post_init__(self) -> None:
        for array in (self.lower, self.upper, self.boxes):
            array.flags.writeable = False

    def __reduce__(self) -> tuple[type[Self], tuple[np.ndarray, ...]]:
        """Make copies and unpickled ones read-only, too."""
        return type(self), (self.lower, self.upper, self.boxes)

    def __len__(self) -> int:
        return len(self.boxes)

    def __repr__(self) -> str:
        n_regions, n_features = self.lower.shape
        return f"{type(self).__name__}(n_regions={n_regions}, n_features={n_features})"


@dataclass(eq=False)
class Cores:
    """The sums of the samples that each box has absorbed, and of how many values.

    An interval counts as its centre. Rows may be fewer than boxes after an interruption.
    """

    sums: np.ndarray
    n_values: np.ndarray

    @classmethod
    def none(cls, n_features: int) -> Self:
        """Return the cores of no boxes."""
        return cls(np.empty((0, n_features)), np.empty((0, n_features), np.int64))

    def with_samples(self, xl: np.ndarray, xu: np.ndarray, boxes: np.ndarray) -> Self:
        """Return the cores after boxes have absorbed samples, added up in their order."""
        sums, n_values = self.padded(int(boxes.max(initial=-1)) + 1).rows
        centres = (xl + xu) / 2
        is_known = ~np.isnan(centres)
        np.add.at(sums, boxes, np.where(is_known, centres, 0.0))
        np.add.at(n_values, boxes, is_known)
        return type(self)(sums, n_values)

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Both arrays."""
        return self.sums, self.n_values

    def padded(self, n_boxes: int) -> Self:
        """Return a copy with rows for so many boxes at least."""
        room = ((0, max(n_boxes - len(self.sums), 0)), (0, 0))
        return type(self)(*(np.pad(rows, room) for rows in self.rows))

    def means(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the cores of boxes: the means of samples, or centres where there is none."""
        means = (lower + upper) / 2
        n_boxes = len(self.sums)
        np.divide(self.sums, self.n_values, out=means[:n_boxes], where=self.n_values > 0)
        return means


@dataclass(frozen=True, eq=False)
class Levels:
    """Networks of smaller boxes, each for a region, in the order in which they are asked.

    That is the deepest level first, in it the smallest region, then the oldest. Network `n` has the
    region ``[lower[n], upper[n]]`` and the boxes from ``starts[n]`` to before ``starts[n + 1]``.
    """

    lower: np.ndarray
    upper: np.ndarray
    levels: np.ndarray
    starts: np.ndarray
    box_lower: np.ndarray
    box_upper: np.ndarray
    box_labels: np.ndarray
    box_counts: np.ndarray

    @classmethod
    def none(cls, n_features: int) -> Self:
        """Return no networks."""
        corners, numbers = np.empty((0, n_features)), np.empty(0, np.int64)
        return cls(
            corners, corners, numbers, np.zeros(1, np.int64), corners, corners, numbers, numbers
        )

    def __len__(self) -> int:
        return len(self.levels)

    def find_network(self, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
        """Return the network to ask about each sample; their number if none."""
        holds = ~((xu[:, None] > self.upper) | (xl[:, None] < self.lower)).any(axis=2)
        holds = np.pad(holds, ((0, 0), (0, 1)), constant_values=True)
        return holds.argmax(axis=1)


@dataclass(eq=False)
class ContentiousModel(BoxModel):
    """Boxes of which those of two classes may overlap, and how that is settled.

    By `cores` or `levels`, which are None where the resolution is another.
    """

    resolution: str = "exclude"
    cores: Cores | None = None
    levels: Levels | None = None

    def take_in(self, xl: np.ndarray, xu: np.ndarray, joined: np.ndarray) -> None:
        """Move the cores."""
        if self.resolution == "core":
            cores = self.cores or Cores.none(xl.shape[1])
            self.cores = cores.with_samples(xl, xu, np.where(joined < 0, -1 - joined, joined))

    def pairs(self) -> np.ndarray:
        """Return the pairs of boxes of two classes that share a point."""
        return find_pairs(*self.boxes.rows[:3])

    def regions(self, boxes: Hyperboxes) -> ContentiousRegions:
        """Return the regions, each an intersection of two boxes, in the units of the data.

        The boxes are those of the model in these units.
        """
        pairs = self.pairs()
        return ContentiousRegions(*region_bounds(boxes.lower, boxes.upper, pairs), pairs)


def find_pairs(lower: np.ndarray, upper: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the pairs of boxes of two classes that share a point, as far as is known."""
    pairs = [np.empty((0, 2), np.int64)]
    for box in range(len(labels)):
        if labels[box] == NO_LABEL:
            continue
        later = (
            box
            + 1
            + np.flatnonzero((labels[box + 1 :] != labels[box]) & (labels[box + 1 :] != NO_LABEL))
        )
        for j in range(lower.shape[1]):  # each feature leaves fewer to compare in the next
            is_apart = (lower[later, j] > upper[box, j]) | (upper[later, j] < lower[box, j])
            later = later[~is_apart]
        pairs.append(np.column_stack([np.full(len(later), box), later]))
    return np.concatenate(pairs)


def region_bounds(
    lower: np.ndarray, upper: np.ndarray, pairs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of what pairs of boxes share; known where one of them is."""
    first, second = pairs.T
    return np.fmax(lower[first], lower[second]), np.fmin(upper[first], upper[second])
