"""What boxes say of samples: where those of several classes hold one, how that is settled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hyperboxes._kernels import compensation
from hyperboxes._kernels.records import NO_LABEL
from hyperboxes._learning.mixed import ask_mixed
from hyperboxes._learning.nearest import Nearest, class_scores
from hyperboxes._models.boxes import WORK_PER_CALL
from hyperboxes._models.contention import ContentiousModel, Cores, Levels, region_bounds
from hyperboxes._models.mixed import MixedModel
from hyperboxes._models.model import BoxModel
from hyperboxes._models.records import closeness, sum_in_order
from hyperboxes._models.samples import frozen, slices

# Where the oldest box wins ties, a box has this many votes less its place.
FIRST_PLACE = 2**40

# Comparisons of a sample with a box in a feature at a time: some megabytes.
_COMPARISONS_AT_ONCE = 1_000_000


def find_nearest(
    model: BoxModel, xl: np.ndarray, xu: np.ndarray, *, winners_only: bool = False
) -> Nearest:
    """Return what the nearest boxes of each class say, after overlaps of classes are settled."""
    if isinstance(model, ContentiousModel) and model.resolution in _SETTLERS:
        return _SETTLERS[model.resolution](model, xl, xu)
    if isinstance(model, MixedModel):
        return ask_mixed(model, xl, xu)[:3]
    return class_scores(model, xl, xu, winners_only=winners_only)


def find_contention(
    model: ContentiousModel, pairs: np.ndarray, xl: np.ndarray, xu: np.ndarray
) -> np.ndarray:
    """Return the largest membership of samples in what pairs of boxes share."""
    lower, upper = region_bounds(model.boxes.lower, model.boxes.upper, pairs)
    with np.errstate(over="ignore"):
        gaps = np.fmax(xu[:, None] - upper, lower - xl[:, None])
        return model.membership.degree(gaps).max(axis=1, initial=0.0)


def is_contentious(model: ContentiousModel, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
    """Return which samples boxes of more than one class hold."""
    best, _, _ = class_scores(model, xl, xu)
    return _are_held_by_several(best)


def _are_held_by_several(best: np.ndarray) -> np.ndarray:
    return (best == 1.0).sum(axis=1) > 1


def _compensate(model: ContentiousModel, xl: np.ndarray, xu: np.ndarray) -> Nearest:
    """Take from classes that hold a sample together what their neurons say."""
    best, votes, single = class_scores(model, xl, xu)
    rows = np.flatnonzero(_are_held_by_several(best))
    if len(rows):
        taken = _find_taken(model, frozen(xl[rows]), frozen(xu[rows]))
        best[rows] = np.where(taken > 0.0, closeness(taken), best[rows])
    return best, votes, single


def _find_taken(model: ContentiousModel, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
    """Return what `compensate` finds."""
    boxes = model.boxes
    taken = np.empty((len(xl), boxes.n_classes))
    asked = boxes.arrays, model.membership.metric, boxes.make_search(), WORK_PER_CALL
    lists = boxes.make_lists()
    row = 0
    while row < len(xl):
        row = compensation.compensate(xl, xu, row, *asked, *lists, taken)
    return taken


def _ask_cores(model: ContentiousModel, xl: np.ndarray, xu: np.ndarray) -> Nearest:
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


def _lean(model: ContentiousModel, xl: np.ndarray, xu: np.ndarray, cores: np.ndarray) -> np.ndarray:
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


def _ask_levels(model: ContentiousModel, xl: np.ndarray, xu: np.ndarray) -> Nearest:
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


_SETTLERS = {"compensate": _compensate, "core": _ask_cores, "levels": _ask_levels}
