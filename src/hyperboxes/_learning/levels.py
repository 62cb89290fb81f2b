"""MLF: where boxes of two classes overlap, a network of smaller boxes learns the samples there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperboxes._kernels.records import NO_LABEL, Rule
from hyperboxes._learning.callbacks import FitCallbacks
from hyperboxes._learning.online import learn_online, learn_some
from hyperboxes._models.boxes import Boxes
from hyperboxes._models.contention import ContentiousModel, Levels, region_bounds
from hyperboxes._models.records import sum_in_order
from hyperboxes._models.samples import Samples, frozen, slices

# Comparisons of a sample with a box in a feature at a time: some megabytes.
_COMPARISONS_AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class _Network:
    """Boxes that were learned from some samples, of a region."""

    lower: np.ndarray
    upper: np.ndarray
    level: int
    boxes: Boxes
    rows: np.ndarray


def learn_levels(
    samples: Samples,
    model: ContentiousModel,
    rule: Rule,
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
    parent: _Network, level: int, xl: np.ndarray, xu: np.ndarray, y: np.ndarray, rule: Rule
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


def _learn(xl: np.ndarray, xu: np.ndarray, y: np.ndarray, n_classes: int, rule: Rule) -> Boxes:
    boxes = Boxes(xl.shape[1], n_classes)
    joined = np.empty(len(y), np.int64)
    while boxes.n_learned < len(y):
        learn_some(boxes, rule, xl, xu, y, joined)
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
