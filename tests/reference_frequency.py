"""Frequency GFMM in slow Python: boxes with two categories a feature, written from its description.

Numbers lie in [0, 1], NaN where missing; categories are anything hashable, None where missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# The distance of each pair of values of a feature.
Distances = dict[tuple[Any, Any], float]


@dataclass
class Settings:
    """The parameters; see `FrequencyGFMM`."""

    theta: float = 0.5
    eta: float = 0.5
    gamma: Any = 1.0


@dataclass
class Box:
    """A box: its corners in the numbers, and up to two categories a feature, its ends e and f."""

    lower: np.ndarray
    upper: np.ndarray
    ends: list[list[Any]]
    label: int
    count: int = 1


@dataclass
class Model:
    """The boxes, the values and distances of each categorical feature, and candidates tried."""

    settings: Settings
    values: list[list[Any]]
    distances: list[Distances]
    boxes: list[Box] = field(default_factory=list)
    n_candidates: int = 0


def find_distances(values: list[Any], column: list[Any], y: np.ndarray) -> Distances:
    """Return how far class profiles P(class | value) are apart, divided by the largest distance.

    That is 1 for the two values of a feature that has no more, and 0 if all profiles are equal.
    """
    if len(values) <= 2:
        return {(a, b): float(a != b) for a in values for b in values}
    profiles = {}
    for value in values:
        labels = [label for label, own in zip(y.tolist(), column, strict=True) if own == value]
        profiles[value] = [labels.count(label) / len(labels) for label in range(max(y) + 1)]
    distances = {}
    for a in values:
        for b in values:
            total = 0.0
            for share, other in zip(profiles[a], profiles[b], strict=True):
                total += (share - other) * (share - other)
            distances[a, b] = math.sqrt(total)
    largest = max(distances.values())
    return {pair: far / largest if largest > 0 else 0.0 for pair, far in distances.items()}


def number_gap(box: Box, lower: np.ndarray, upper: np.ndarray, gamma: Any) -> float:
    """Return the largest gap times gamma, as far as is known."""
    gaps = np.fmax(upper - box.upper, box.lower - lower) * gamma
    return float(np.fmax.reduce(np.append(gaps, 0.0)))


def gap_of(model: Model, box: Box, lower: np.ndarray, upper: np.ndarray, values: tuple) -> float:
    """Return the largest distance from a box in any feature; the membership is 1 less that."""
    gap = number_gap(box, lower, upper, model.settings.gamma)
    for r, (e, f), x in zip(model.distances, box.ends, values, strict=True):
        if x is None or e is None or x in (e, f):
            continue
        gap = max(gap, r[x, e], 0.0 if f is None else r[x, f])
    return gap


def contains(model: Model, box: Box, lower: np.ndarray, upper: np.ndarray, values: tuple) -> bool:
    """Whether a sample is a full member of a box that has values wherever the sample has."""
    if (np.isnan(box.lower) & ~np.isnan(lower)).any():
        return False
    if any(e is None and x is not None for (e, _), x in zip(box.ends, values, strict=True)):
        return False
    return gap_of(model, box, lower, upper, values) <= 2**-54


def may_grow(model: Model, box: Box, lower: np.ndarray, upper: np.ndarray, values: tuple) -> bool:
    """Whether a box may grow to contain a sample."""
    eta = model.settings.eta
    sides = np.fmax(box.upper, upper) - np.fmin(box.lower, lower)
    if (sides > model.settings.theta).any():
        return False
    for r, (e, f), x in zip(model.distances, box.ends, values, strict=True):
        if x is None or e is None or x in (e, f):
            continue
        if f is None:
            if r[e, x] > eta:
                return False
            continue
        is_between = r[e, x] <= r[e, f] and r[f, x] <= r[e, f]
        if not (r[e, x] <= eta or r[f, x] <= eta) or is_between:
            return False
    return True


def grow(model: Model, box: Box, lower: np.ndarray, upper: np.ndarray, values: tuple) -> None:
    """Extend a box to contain a sample."""
    box.lower, box.upper = np.fmin(box.lower, lower), np.fmax(box.upper, upper)
    for r, ends, x in zip(model.distances, box.ends, values, strict=True):
        e, f = ends
        if x is None or x in (e, f):
            continue
        if e is None:
            ends[0] = x
        elif f is None or r[e, f] < r[e, x] <= model.settings.eta:
            ends[1] = x
        else:
            ends[0] = x


def share_ends(first: list[list[Any]], second: list[list[Any]]) -> bool:
    """Whether boxes have an end in common in every feature; a box without ends has all values."""
    return all(
        mine[0] is None or theirs[0] is None or ({*mine} & {*theirs}) - {None}
        for mine, theirs in zip(first, second, strict=True)
    )


def replace_end(model: Model, box: Box, passed: list[Box]) -> bool:
    """Replace the end with the least change of r(e, f); return whether there is one.

    The box must then share no ends with the last of the `passed` boxes nor with those before it.
    """
    best = math.inf, None, None, None
    for k, (r, ends) in enumerate(zip(model.distances, box.ends, strict=True)):
        if ends[1] is None:
            continue
        for side in (0, 1):
            for value in model.values[k]:
                if value in ends:
                    continue
                changed = [[*pair] for pair in box.ends]
                changed[k][side] = value
                if any(share_ends(changed, other.ends) for other in passed):
                    continue
                change = abs(r[changed[k][0], changed[k][1]] - r[ends[0], ends[1]])
                if change < best[0]:
                    best = change, k, side, value
    if best[1] is None:
        return False
    box.ends[best[1]][best[2]] = best[3]
    return True


def contract(box: Box, other: Box) -> None:
    """Cut two boxes apart in the feature in which their numbers overlap least."""
    depths = np.fmin(other.upper - box.lower, box.upper - other.lower)
    if len(depths) == 0 or np.isnan(depths).all():
        return
    j = int(np.nanargmin(depths))
    vi, wi, vk, wk = box.lower[j], box.upper[j], other.lower[j], other.upper[j]
    if vi <= vk and wi <= wk:
        box.upper[j] = other.lower[j] = (wi + vk) / 2
    elif vi > vk and wi > wk:
        box.lower[j] = other.upper[j] = (wk + vi) / 2
    elif wi > wk:
        if wk - vi <= wi - vk:
            box.lower[j] = wk
        else:
            box.upper[j] = vk
    elif wk - vi <= wi - vk:
        other.upper[j] = vi
    else:
        other.lower[j] = wi


def resolve(model: Model, box: Box) -> None:
    """Resolve what a grown box shares with the boxes of other classes, the oldest first."""
    passed = []
    for other in model.boxes:
        if other.label == box.label:
            continue
        passed.append(other)
        if not share_ends(box.ends, other.ends) or replace_end(model, box, passed):
            continue
        if not ((box.lower > other.upper) | (other.lower > box.upper)).any():
            contract(box, other)


def learn(
    lower: np.ndarray, upper: np.ndarray, table: list[tuple], y: np.ndarray, settings: Settings
) -> Model:
    """Learn samples in their order, after the distances of their categories."""
    columns = [list(column) for column in zip(*table, strict=True)]
    values = [sorted({value for value in column if value is not None}) for column in columns]
    pairs = zip(values, columns, strict=True)
    model = Model(settings, values, [find_distances(known, column, y) for known, column in pairs])
    for xl, xu, row, label in zip(lower, upper, table, y.tolist(), strict=True):
        learn_sample(model, xl, xu, row, label)
    return model


def learn_sample(model: Model, xl: np.ndarray, xu: np.ndarray, row: tuple, label: int) -> None:
    """Learn one sample."""
    own = [box for box in model.boxes if box.label == label]
    for box in own:
        if contains(model, box, xl, xu, row):
            box.count += 1
            return
    own.sort(key=lambda box: -(1.0 - min(gap_of(model, box, xl, xu, row), 1.0)))  # stable
    for box in own:
        model.n_candidates += 1
        if may_grow(model, box, xl, xu, row):
            grow(model, box, xl, xu, row)
            box.count += 1
            resolve(model, box)
            return
    model.boxes.append(Box(xl.copy(), xu.copy(), [[x, None] for x in row], label))


def predict(model: Model, xl: np.ndarray, xu: np.ndarray, row: tuple) -> int:
    """Return the class of the nearest box.

    Of those that are equally near one of a single sample that contains it, else the class with
    most samples, then the first.
    """
    gaps = [gap_of(model, box, xl, xu, row) for box in model.boxes]
    ranks = [1.0 - gap if gap < 1.0 else -gap for gap in gaps]
    best = max(ranks)
    tied = [box for box, rank in zip(model.boxes, ranks, strict=True) if rank == best]
    labels = {box.label for box in tied}
    if best == 1.0 and len(labels) > 1:
        for box in tied:
            if box.count == 1:
                return box.label
    votes = {label: sum(box.count for box in tied if box.label == label) for label in labels}
    return min(labels, key=lambda label: (-votes[label], label))
