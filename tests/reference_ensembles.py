"""Random hyperboxes in slow Python, after docs/definitions.md: value by value, box by box.

Members are learned by the algorithms of `reference.py`. Draws are those of NumPy's `RandomState`
with its generator `PCG64`, in the documented order.
"""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from tests.reference import Array, Model, in_order

SHARES_OF_RANK = {"minmax": 0.0, "blend": 0.5, "rank": 1.0}


# --- Codes ----------------------------------------------------------------------------------------


def thresholds(
    values: list[float], scaling: str, levels: int, weights: list[float] | None = None
) -> list[float]:
    """Return from which value on each code begins."""
    weights = weights or [1.0] * len(values)
    both = zip(values, weights, strict=True)
    known = sorted((value, weight) for value, weight in both if weight > 0 and value == value)
    if not known:
        return [math.inf] * levels
    distinct = sorted({value for value, _ in known})
    places = [place(value, known, scaling, levels) for value in distinct]
    return [value_at(k + 0.5, places, distinct) for k in range(levels)]


def place(value: float, known: list[tuple[float, float]], scaling: str, levels: int) -> float:
    """Return where a value stands from 0 to `levels`, by its range and its rank.

    `known` are all values in ascending order, and what they weigh.
    """
    first, last = known[0][0], known[-1][0]
    in_range = (value - first) / (last - first if last > first else 1.0)
    up_to = sum(weight for other, weight in known if other <= value)
    same = sum(weight for other, weight in known if other == value)
    rank = (up_to - 0.5 * same) / sum(weight for _, weight in known)
    share = SHARES_OF_RANK[scaling]
    return levels * ((1.0 - share) * in_range + share * rank)


def value_at(where: float, places: list[float], values: list[float]) -> float:
    """Return the value that stands at a place, on a straight line between the values around it."""
    if where < places[0]:
        return -math.inf
    if where > places[-1]:
        return math.inf
    i = max(i for i in range(len(places)) if places[i] <= where)
    if places[i] == where or i + 1 == len(places):
        return values[i]
    slope = (values[i + 1] - values[i]) / (places[i + 1] - places[i])
    return slope * (where - places[i]) + values[i]


def code(value: float, begins: list[float]) -> int:
    """Return the number of codes that begin up to a value."""
    return sum(begin <= value for begin in begins)


def encode(xl: Array, xu: Array, begins: list[list[float]]) -> tuple[Array, Array]:
    """Return the codes of intervals; of missing ones the last for the lower end, else 0."""
    low, high = np.empty(xl.shape, int), np.empty(xl.shape, int)
    for i, j in np.ndindex(xl.shape):
        is_missing = math.isnan(xl[i, j])
        low[i, j] = len(begins[j]) if is_missing else code(xl[i, j], begins[j])
        high[i, j] = 0 if is_missing else code(xu[i, j], begins[j])
    return low, high


# --- Members --------------------------------------------------------------------------------------


def canonical_order(low: Array, high: Array, y: Array, weights: list[float]) -> list[int]:
    """Return the samples sorted by class, least codes, largest codes and weight."""

    def key(i: int) -> tuple:
        return y[i], *low[i], *high[i], weights[i]

    return sorted(range(len(y)), key=key)


def copies(weights: list[float], order: list[int]) -> tuple[list[int], list[float]]:
    """Return samples as often as they weigh, the last time by the rest, and the copies' weights."""
    rows: list[int] = []
    counted: list[float] = []
    for row in order:
        weight = weights[row]
        while weight > 0:
            rows.append(row)
            counted.append(min(weight, 1.0))
            weight -= 1
    return rows, counted


@dataclass
class Member:
    """Boxes in codes over some features, and what is drawn after them."""

    features: Array
    lower: Array
    upper: Array
    labels: Array
    counts: Array
    rows: Array
    is_mean: bool


def learn_member(
    low: Array,
    high: Array,
    y: Array,
    learner,
    *,
    function: str,
    chances: Array,
    sizes: tuple[int, int],
    share: float,
    levels: int,
    seed: int,
    weights: list[float],
    merges: bool,
) -> Member:
    """Draw features and samples, and learn boxes from them.

    Samples are copies, whose weights are the part of members for which they are there. To a learner
    that merges, equal samples are one.
    """
    random = np.random.RandomState(np.random.PCG64(seed))
    size = random.randint(sizes[0], sizes[1] + 1)
    times = [random.standard_exponential() / chance for chance in chances]
    features = np.array(sorted(sorted(range(len(times)), key=times.__getitem__)[:size]))
    there = [True] * len(y)
    if min(weights) < 1:
        there = [random.random_sample() < weight for weight in weights]
    rows: list[int] = []
    for c in range(y.max() + 1):
        all_of_class = [i for i in range(len(y)) if y[i] == c]
        of_class = [i for i in all_of_class if there[i]]
        if not of_class:
            chances_of_one = np.array([weights[i] for i in all_of_class])
            of_class = random.choice(all_of_class, 1, p=chances_of_one / chances_of_one.sum())
        of_class = random.permutation(of_class)
        rows.extend(of_class[: max(1, math.floor(share * len(of_class) + 0.5))])
    rows = random.permutation(rows)
    learned = list(rows)
    if merges:
        equal: dict[tuple, list[int]] = {}
        for i in rows:
            equal.setdefault((*low[i, features], *high[i, features], y[i]), []).append(i)
        learned = [same[0] for same in equal.values()]
        learner = partial(learner, counts=[len(same) for same in equal.values()])
    xl, xu = (np.array([codes[i, features] for i in learned]) for codes in (low, high))
    unknown = xl > xu
    ends = [np.where(unknown, np.nan, codes / levels) for codes in (xl, xu)]
    model = learner(*ends, y[learned], gamma=np.ones(size), membership_function=function)
    return Member(
        features, *whole_codes(model, levels), model.labels, model.counts, rows, function == "mean"
    )


def whole_codes(model: Model, levels: int) -> tuple[Array, Array]:
    """Return the codes that boxes hold; the nearest where they hold none, all if not known."""
    lower, upper = np.empty(model.lower.shape, int), np.empty(model.lower.shape, int)
    for place in np.ndindex(model.lower.shape):
        v, w = model.lower[place], model.upper[place]
        if math.isnan(v):
            lower[place], upper[place] = 0, levels
            continue
        held = [k for k in range(levels + 1) if v * levels - 1e-6 <= k <= w * levels + 1e-6]
        if not held:
            held = [round(levels * (v + w) / 2)]
        lower[place], upper[place] = held[0], held[-1]
    return lower, upper


def distance(member: Member, box: int, low: Array, high: Array) -> int:
    """Return how far a sample is from a box."""
    gaps = [
        max(int(member.lower[box, j]) - int(low[f]), int(high[f]) - int(member.upper[box, j]), 0)
        for j, f in enumerate(member.features)
    ]
    return sum(gaps) if member.is_mean else max(gaps)


def vote(
    member: Member, low: Array, high: Array, n_classes: int, *, levels: int, temperature: float
) -> list[float]:
    """Return the shares of a member's vote."""
    nearest = [
        min(distance(member, b, low, high) for b in np.flatnonzero(member.labels == c))
        for c in range(n_classes)
    ]
    farthest = levels * (len(member.features) if member.is_mean else 1)
    weights = []
    for gap in nearest:
        more = gap - min(nearest)
        if temperature == 0:
            weights.append(float(more == 0))
        else:
            weights.append(float(np.exp(-more / (farthest * temperature))))
    part = 1.0 / in_order(np.array(weights))
    return [weight * part for weight in weights]


def votes(
    members: list[Member], low: Array, high: Array, n_classes: int, **how: float
) -> list[list[float]]:
    """Return the mean of the members' votes on each sample, added up in their order."""
    return [
        mean([vote(member, *sample, n_classes, **how) for member in members])
        for sample in zip(low, high, strict=True)
    ]


def out_of_bag_votes(
    members: list[Member], low: Array, high: Array, n_classes: int, **how: float
) -> list[list[float]]:
    """Return the same of training samples, each by the members that did not draw it; or NaN."""
    found = []
    for row, sample in enumerate(zip(low, high, strict=True)):
        asked = [member for member in members if row not in member.rows]
        said = [vote(member, *sample, n_classes, **how) for member in asked]
        found.append(mean(said) if said else [math.nan] * n_classes)
    return found


def mean(rows: list[list[float]]) -> list[float]:
    """Return the means of columns."""
    return [in_order(np.array(column)) / len(rows) for column in zip(*rows, strict=True)]


# --- Probabilities --------------------------------------------------------------------------------


def probabilities(
    votes: list[float], shares: list[float], power: float, share_power: float, prior_weight: float
) -> list[float]:
    """Return what probabilities the votes on a sample stand for."""
    odds = [
        (vote + 0.001) ** power * share**share_power
        for vote, share in zip(votes, shares, strict=True)
    ]
    return [
        (1 - prior_weight) * odd / sum(odds) + prior_weight * share
        for odd, share in zip(odds, shares, strict=True)
    ]
