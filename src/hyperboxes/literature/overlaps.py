"""Boxes of several classes that overlap: where, and how the class is resolved there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from hyperboxes._kernels.structs import NO_LABEL, GrowthParameters
from hyperboxes._learning.online import learn_online, run_kernel
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.box_store import WORK_PER_CALL, BoxStore
from hyperboxes._models.calibration import Nearest, predicted_classes
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.model import BoxModel
from hyperboxes._models.records import closeness, sum_in_order
from hyperboxes._models.samples import Samples, frozen, slices
from hyperboxes.literature.kernels import compensate

# How overlaps are resolved.
RESOLUTIONS = ("exclude", "compensate", "core", "levels")

# Where the oldest box wins ties, a box has this many votes less its place.
FIRST_PLACE = 2**40

# Comparisons of a sample with a box in a feature at a time: some megabytes.
_COMPARISONS_AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class OverlapRegions:
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
    OverlappingFuzzyMinMax : The learner that keeps such regions.

    Examples
    --------
    >>> from hyperboxes.literature import OverlappingFuzzyMinMax
    >>> X, y = [[1.0], [5.0], [4.0], [9.0]], ["a", "a", "b", "b"]
    >>> regions = OverlappingFuzzyMinMax(theta=0.7, shuffle=False).fit(X, y).regions_
    >>> regions
    OverlapRegions(n_regions=1, n_features=1)
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
class OverlapModel(BoxModel):
    """Boxes of which those of two classes may overlap, and how that is settled.

    By `cores` or `levels`, which are None where the resolution is another.
    """

    resolution: str = "exclude"
    cores: Cores | None = None
    levels: Levels | None = None

    def find_nearest(
        self, xl: np.ndarray, xu: np.ndarray, *, winners_only: bool = False
    ) -> Nearest:
        """Return the nearest boxes of each class, after overlaps of classes are resolved."""
        if (resolve := _RESOLVERS.get(self.resolution)) is not None:
            return resolve(self, xl, xu)
        return super().find_nearest(xl, xu, winners_only=winners_only)

    def deciding_boxes(
        self, xl: np.ndarray, xu: np.ndarray, used: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the deciding boxes; with cores, those of the nearest core."""
        boxes, closest, is_tied = super().deciding_boxes(xl, xu, used)
        if self.resolution == "core":
            nearest = self.find_nearest(xl, xu, winners_only=True)
            winners = predicted_classes(nearest, len(self.boxes))
            boxes = FIRST_PLACE - nearest[1][np.arange(len(winners)), winners]
            used[boxes] = True
        return boxes, closest, is_tied

    def update(self, xl: np.ndarray, xu: np.ndarray, joined: np.ndarray) -> None:
        """Move the cores."""
        if self.resolution == "core":
            cores = self.cores or Cores.none(xl.shape[1])
            self.cores = cores.with_samples(xl, xu, np.where(joined < 0, -1 - joined, joined))

    def pairs(self) -> np.ndarray:
        """Return the pairs of boxes of two classes that share a point."""
        return find_pairs(*self.boxes.rows[:3])

    def regions(self, boxes: Hyperboxes) -> OverlapRegions:
        """Return the regions, each an intersection of two boxes, in the units of the data.

        The boxes are those of the model in these units.
        """
        pairs = self.pairs()
        return OverlapRegions(*region_bounds(boxes.lower, boxes.upper, pairs), pairs)


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


def find_overlap_degree(
    model: OverlapModel, pairs: np.ndarray, xl: np.ndarray, xu: np.ndarray
) -> np.ndarray:
    """Return the largest membership of samples in what pairs of boxes share."""
    lower, upper = region_bounds(model.boxes.lower, model.boxes.upper, pairs)
    with np.errstate(over="ignore"):
        gaps = np.fmax(xu[:, None] - upper, lower - xl[:, None])
        return model.membership.degree(gaps).max(axis=1, initial=0.0)


def in_overlap(model: OverlapModel, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
    """Return which samples boxes of more than one class hold."""
    best, _, _ = BoxModel.find_nearest(model, xl, xu)
    return _are_held_by_several(best)


def _are_held_by_several(best: np.ndarray) -> np.ndarray:
    return (best == 1.0).sum(axis=1) > 1


def _compensate(model: OverlapModel, xl: np.ndarray, xu: np.ndarray) -> Nearest:
    """Take from classes that hold a sample together what their neurons say."""
    best, votes, single = BoxModel.find_nearest(model, xl, xu)
    rows = np.flatnonzero(_are_held_by_several(best))
    if len(rows):
        taken = _find_taken(model, frozen(xl[rows]), frozen(xu[rows]))
        best[rows] = np.where(taken > 0.0, closeness(taken), best[rows])
    return best, votes, single


def _find_taken(model: OverlapModel, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
    """Return what `compensate` finds."""
    boxes = model.boxes
    taken = np.empty((len(xl), boxes.n_classes))
    asked = boxes.arrays, model.membership.metric, boxes.make_search(), WORK_PER_CALL
    lists = boxes.make_lists()
    row = 0
    while row < len(xl):
        row = compensate(xl, xu, row, *asked, *lists, taken)
    return taken


def _ask_cores(model: OverlapModel, xl: np.ndarray, xu: np.ndarray) -> Nearest:
    """Let the nearest core decide between boxes of several classes that hold a sample.

    Elsewhere it is the membership that leans towards the cores.
    """
    lower, upper, labels, _ = model.boxes.rows
    cores = (model.cores or Cores.none(lower.shape[1])).means(lower, upper)
    ranks = np.empty((len(xl), len(labels)))
    for rows in _slices(len(xl), lower.size):
        low, high = xl[rows, None], xu[rows, None]
        with np.errstate(over="ignore"):
            away = sum_in_order(np.nan_to_num(np.abs((low + high) / 2 - cores))) / lower.shape[1]
            gaps = np.fmax(high - upper, lower - low)
        holds = closeness(model.membership.distance(gaps)) == 1.0
        holds &= labels != NO_LABEL
        ranks[rows] = _lean(model, low, high, cores)
        several = _count_labels(holds, labels, model.boxes.n_classes) > 1
        ranks[rows][several] = np.where(holds, closeness(away), -np.inf)[several]
    return _best_of_classes(ranks, labels, np.arange(len(labels)), model.boxes.n_classes)


def _lean(model: OverlapModel, xl: np.ndarray, xu: np.ndarray, cores: np.ndarray) -> np.ndarray:
    """Return the memberships of DCFMN, which fall more steeply on the side away from the core."""
    lower, upper, _, _ = model.boxes.rows
    lean = (lower + upper) / 2 - cores
    with np.errstate(over="ignore"):
        above, below = np.fmax(xu - upper, 0.0), np.fmax(lower - xl, 0.0)
        steep, gentle = (1 + lean) * (1 + lean), (1 - lean) * (1 - lean)
        falls = np.fmax(above * above * steep, below * below * gentle) * model.membership.gamma
    least = np.nan_to_num(falls, nan=0.0, posinf=np.inf).max(axis=2)
    degree = np.exp(-least)
    return np.where(degree > 0.0, degree, -least)


def _ask_levels(model: OverlapModel, xl: np.ndarray, xu: np.ndarray) -> Nearest:
    """Let the network of the deepest region that holds a sample decide alone."""
    boxes = model.boxes
    levels = model.levels or Levels.none(xl.shape[1])
    shape = len(xl), boxes.n_classes
    nearest = np.empty(shape), np.empty(shape, np.int64), np.empty(shape, np.int64)
    for part in _slices(len(xl), max(levels.lower.size, 1)):
        networks = levels.find_network(xl[part], xu[part])
        for network in np.unique(networks).tolist():
            rows = part.start + np.flatnonzero(networks == network)
            if network < len(levels):
                of_network = slice(*levels.starts[network : network + 2])
                lower, upper = levels.box_lower[of_network], levels.box_upper[of_network]
                labels = levels.box_labels[of_network]
                places = len(boxes) + np.arange(of_network.start, of_network.stop)
            else:
                lower, upper, labels, _ = boxes.rows
                places = np.arange(len(boxes))
            for some in _slices(len(rows), lower.size):
                ranks = _rank_by_mean_square(xl[rows[some]], xu[rows[some]], lower, upper)
                found = _best_of_classes(ranks, labels, places, boxes.n_classes)
                for column, values in zip(nearest, found, strict=True):
                    column[rows[some]] = values
    return nearest


def _rank_by_mean_square(
    xl: np.ndarray, xu: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> np.ndarray:
    """Return the memberships of MLF; beyond their reach, minus the distance."""
    with np.errstate(over="ignore"):
        gaps = np.nan_to_num(
            np.fmax(np.fmax(xu[:, None] - upper, lower - xl[:, None]), 0.0), posinf=np.inf
        )
        distance = np.sqrt(sum_in_order(gaps * gaps) / lower.shape[1])
    square = (1.0 - distance) * (1.0 - distance)
    return np.where(distance < 1.0, square * square * square, -distance)


def _best_of_classes(
    ranks: np.ndarray, labels: np.ndarray, places: np.ndarray, n_classes: int
) -> Nearest:
    """Return the best box of each class for each sample; the oldest one has the most votes."""
    shape = len(ranks), n_classes
    best, votes = np.full(shape, -np.inf), np.zeros(shape, np.int64)
    for label in np.unique(labels[labels != NO_LABEL]).tolist():
        own = np.flatnonzero(labels == label)
        first = own[ranks[:, own].argmax(axis=1)]
        best[:, label] = ranks[np.arange(len(ranks)), first]
        votes[:, label] = FIRST_PLACE - places[first]
    return best, votes, np.full(shape, FIRST_PLACE)


def _count_labels(holds: np.ndarray, labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how many classes hold each sample."""
    counts = np.zeros(len(holds), np.int64)
    for label in range(n_classes):
        counts += holds[:, labels == label].any(axis=1)
    return counts


def _slices(n_rows: int, n_comparisons: int) -> Iterator[slice]:
    """Yield rows that can be compared with everything at once."""
    return slices(n_rows, max(_COMPARISONS_AT_ONCE // n_comparisons, 1))


_RESOLVERS = {"compensate": _compensate, "core": _ask_cores, "levels": _ask_levels}


@dataclass(frozen=True, eq=False)
class _Network:
    """Boxes that were learned from some samples, of a region."""

    lower: np.ndarray
    upper: np.ndarray
    level: int
    boxes: BoxStore
    rows: np.ndarray


def learn_levels(
    samples: Samples,
    model: OverlapModel,
    rule: GrowthParameters,
    n_levels: int,
    shrink: float,
    callbacks: FitCallbacks,
) -> None:
    """Learn the samples, and those in regions again with smaller boxes, level by level."""
    learn_online(samples, model, rule, callbacks)
    rows = np.arange(len(samples.y)) if samples.order is None else samples.order
    xl, xu = samples.scaled()
    nothing = np.empty(0)
    networks: list[_Network] = []
    parents = [_Network(nothing, nothing, 0, model.boxes, rows)]
    for level in range(1, n_levels):
        rule = rule._replace(theta=rule.theta * shrink)
        arrays = xl, xu, samples.y
        parents = [child for one in parents for child in _children(one, level, *arrays, rule)]
        networks += parents
    model.levels = _in_order(networks, xl.shape[1])


def _children(
    parent: _Network,
    level: int,
    xl: np.ndarray,
    xu: np.ndarray,
    y: np.ndarray,
    rule: GrowthParameters,
) -> list[_Network]:
    """Return the networks of the regions of a network that hold samples, if they have a label."""
    regions = _find_regions(parent, xl, xu)
    corners = parent.boxes.lower, parent.boxes.upper
    children = []
    for pair in sorted(regions):
        rows = parent.rows[regions[pair]]
        (lower,), (upper,) = region_bounds(*corners, np.array([pair]))
        is_region = not (lower > upper).any()  # which two that hold a missing value need not share
        if is_region and (y[rows] != NO_LABEL).any():
            arrays = frozen(xl[rows]), frozen(xu[rows]), y[rows]
            boxes = _learn(*arrays, parent.boxes.n_classes, rule)
            children.append(_Network(lower, upper, level, boxes, rows))
    return children


def _find_regions(
    network: _Network, xl: np.ndarray, xu: np.ndarray
) -> dict[tuple[int, int], np.ndarray]:
    """Return the samples, by their places, that each pair of boxes of two classes holds."""
    lower, upper, labels, _ = network.boxes.rows
    size = max(_COMPARISONS_AT_ONCE // lower.size, 1)
    found: dict[tuple[int, int], list[int]] = {}
    for part in slices(len(network.rows), size):
        rows = network.rows[part]
        misses = ((xu[rows, None] > upper) | (xl[rows, None] < lower)).any(axis=2)
        holds = np.logical_not(misses) & (labels != NO_LABEL)
        for place in np.flatnonzero(holds.sum(axis=1) > 1).tolist():
            boxes = np.flatnonzero(holds[place])
            first, second = np.nonzero(np.triu(labels[boxes, None] != labels[boxes]))
            for pair in zip(boxes[first].tolist(), boxes[second].tolist(), strict=True):
                found.setdefault(pair, []).append(part.start + place)
    return {pair: np.array(places) for pair, places in found.items()}


def _learn(
    xl: np.ndarray, xu: np.ndarray, y: np.ndarray, n_classes: int, rule: GrowthParameters
) -> BoxStore:
    boxes = BoxStore(xl.shape[1], n_classes)
    joined = np.empty(len(y), np.int64)
    while boxes.n_learned < len(y):
        run_kernel(boxes, rule, xl, xu, y, joined)
    return boxes


def _in_order(networks: list[_Network], n_features: int) -> Levels:
    """Return networks in the order in which they are asked."""
    if not networks:
        return Levels.none(n_features)
    lower = np.array([network.lower for network in networks])
    upper = np.array([network.upper for network in networks])
    levels = np.array([network.level for network in networks], np.int64)
    sides = sum_in_order(np.nan_to_num(upper - lower))
    order = np.lexsort((sides, -levels))
    rows = [networks[n].boxes.rows for n in order]
    starts = np.cumsum([0, *(len(networks[n].boxes) for n in order)])
    columns = (np.concatenate(column) for column in zip(*rows, strict=True))
    return Levels(lower[order], upper[order], levels[order], starts, *columns)
