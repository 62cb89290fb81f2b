"""EIOL-GFMM in slow Python: boxes that count categories, written from its description alone.

Numbers lie in [0, 1], NaN where missing; categories are anything hashable, None where missing.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Box:
    """A box: its corners in the numbers, and how often each category occurs in its samples."""

    lower: np.ndarray
    upper: np.ndarray
    label: int
    counters: list[Counter]
    count: int = 0

    def add(self, lower: np.ndarray, upper: np.ndarray, values: tuple) -> None:
        """Take in a sample."""
        self.lower = np.fmin(self.lower, lower)
        self.upper = np.fmax(self.upper, upper)
        self.counters = added(self.counters, values)
        self.count += 1


@dataclass
class Settings:
    """What a learner is told; see `MixedGFMM`."""

    theta: float = 0.5
    delta: float = 0.5
    alpha: float = 0.5
    gamma: Any = 1.0
    entropy: str = "mean"
    overlap: str = "values"
    selection: str = "all"


@dataclass
class Model:
    """The boxes, and how many candidates were tried."""

    settings: Settings
    boxes: list[Box] = field(default_factory=list)
    n_candidates: int = 0


def added(counters: list[Counter], values: tuple) -> list[Counter]:
    """Return what is counted after one more sample; what is missing is not counted."""
    pairs = zip(counters, values, strict=True)
    return [counter + Counter([] if value is None else [value]) for counter, value in pairs]


def entropy_rise(counter: Counter, value: Any) -> float:
    """Return H' - n / (n + 1) H in bits, with the terms that cancel left out.

    Only those of the value and of the totals are left; `literal_rise` is the formula as printed.
    """
    n, count = counter.total(), counter[value]
    if value is None or count == n:
        return 0.0

    def weighed(number: int) -> float:
        return number * math.log(number) if number else 0.0

    total = math.log(n + 1) - n / (n + 1) * math.log(n)
    return (total - (weighed(count + 1) - weighed(count)) / (n + 1)) / math.log(2.0)


def literal_rise(counter: Counter, value: Any) -> float:
    """Return H' - n / (n + 1) H in bits, as printed."""

    def entropy(counts: Counter) -> float:
        shares = [count / counts.total() for count in counts.values()]
        return -sum(share * math.log2(share) for share in shares)

    n = counter.total()
    return entropy(counter + Counter([value])) - n / (n + 1) * entropy(counter)


def number_membership(box: Box, lower: np.ndarray, upper: np.ndarray, gamma: Any) -> float:
    """Return 1 less the largest gap, at least 0."""
    return 1.0 - min(gap_of(box, lower, upper, gamma), 1.0)


def gap_of(box: Box, lower: np.ndarray, upper: np.ndarray, gamma: Any) -> float:
    """Return the largest gap times gamma, as far as is known."""
    gaps = np.fmax(upper - box.upper, box.lower - lower) * gamma
    return float(np.fmax.reduce(np.append(gaps, 0.0)))


def category_membership(box: Box, values: tuple) -> float:
    """Return the mean share of the samples that have the sample's categories."""
    total = 0.0
    for counter, value in zip(box.counters, values, strict=True):
        is_known = value is not None and counter.total() > 0
        total += counter[value] / counter.total() if is_known else 1.0
    return total / len(values)


def membership(
    box: Box, lower: np.ndarray, upper: np.ndarray, values: tuple, settings: Settings
) -> float:
    """Return how far a sample belongs to a box."""
    numbers = number_membership(box, lower, upper, settings.gamma)
    if not values:
        return numbers
    categories = category_membership(box, values)
    if len(lower) == 0:
        return categories
    return settings.alpha * numbers + (1.0 - settings.alpha) * categories


def fits(box: Box, lower: np.ndarray, upper: np.ndarray, values: tuple, settings: Settings) -> bool:
    """Whether a box may be so large, and its categories so mixed, as with one more sample."""
    sides = np.fmax(box.upper, upper) - np.fmin(box.lower, lower)
    if (sides > settings.theta).any():
        return False
    pairs = zip(box.counters, values, strict=True)
    rises = [entropy_rise(counter, value) for counter, value in pairs]
    if settings.entropy == "each":
        return all(rise <= settings.delta for rise in rises)
    total = 0.0
    for rise in rises:
        total += rise
    return not rises or total / len(rises) <= settings.delta


def overlap(grown: Box, other: Box, settings: Settings) -> bool:
    """Whether two boxes meet in all numbers, and have categories in common in all others."""
    if ((grown.lower > other.upper) | (other.lower > grown.upper)).any():
        return False
    for mine, theirs in zip(grown.counters, other.counters, strict=True):
        if not mine or not theirs:
            continue
        common = mine.keys() & theirs.keys()
        if settings.overlap == "frequencies":
            n, m = mine.total(), theirs.total()
            common = {value for value in common if mine[value] * m == theirs[value] * n}
        if not common:
            return False
    return True


def learn(
    lower: np.ndarray, upper: np.ndarray, values: list[tuple], y: np.ndarray, settings: Settings
) -> Model:
    """Learn samples one after the other."""
    model = Model(settings)
    for sample in zip(lower, upper, values, y.tolist(), strict=True):
        learn_one(model, *sample)
    return model


def learn_one(model: Model, lower: np.ndarray, upper: np.ndarray, values: tuple, y: int) -> None:
    """Learn a sample."""
    settings = model.settings
    sample = lower, upper, values
    own = [box for box in model.boxes if box.label == y]
    ranked = sorted(
        own, key=lambda box: -membership(box, *sample, settings)
    )  # stable: oldest first
    for box in own:
        knows_all = not (np.isnan(box.lower) & ~np.isnan(lower)).any()
        has_numbers = number_membership(box, lower, upper, settings.gamma) == 1.0
        if knows_all and has_numbers and (not values or category_membership(box, values) == 1.0):
            box.add(*sample)
            return
    if settings.selection == "lemma":
        floor = 1.0 - settings.theta * float(np.max(settings.gamma))
        ranked = [
            box for box in ranked if number_membership(box, lower, upper, settings.gamma) >= floor
        ]
    for box in ranked:
        model.n_candidates += 1
        if not fits(box, *sample, settings):
            continue
        grown = Box(box.lower, box.upper, y, box.counters, box.count)
        grown.add(*sample)
        if not any(overlap(grown, other, settings) for other in model.boxes if other.label != y):
            box.add(*sample)
            return
    nothing = np.full(len(lower), np.nan)
    new = Box(nothing, nothing, y, [Counter() for _ in values])
    new.add(*sample)
    model.boxes.append(new)


def predict(model: Model, lower: np.ndarray, upper: np.ndarray, values: tuple) -> int:
    """Return the class of the best box.

    Of tied classes: that of a box that holds the sample and no other training sample, the oldest
    such; else the one whose tied boxes hold the most samples; then the first. Where the best
    membership is 0, the nearest box by numbers.
    """
    settings = model.settings
    sample = lower, upper, values
    ranks = []
    for box in model.boxes:
        degree = membership(box, *sample, settings)
        ranks.append(degree if degree > 0 else -max(gap_of(box, lower, upper, settings.gamma), 1.0))
    best = max(ranks)
    tied = [box for box, rank in zip(model.boxes, ranks, strict=True) if rank == best]
    single = [box.label for box in tied if box.count == 1]
    if len({box.label for box in tied}) > 1 and best == 1.0 and single:
        return single[0]
    totals = Counter()
    for box in tied:
        totals[box.label] += box.count
    return min(totals, key=lambda label: (-totals[label], label))
