"""Adaptive learning: neighbors among recent boxes, experts weighted by recent hits, a box limit.

A sample is compared with all boxes. The age of a box is the number of samples learned since it last
absorbed one; horizons are nested ranges of age. An expert is a horizon and a number of neighbors:
the nearest boxes of that age vote. Experts are weighted by how often each was right recently.

Boxes are columns here, so that the distances of many are computed at once.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from hyperboxes._kernels.geometry import is_known, larger, lowest, smaller, upmost
from hyperboxes._kernels.jit import check_index, forceinline, inlined, kernel, pass_by_pointer
from hyperboxes._kernels.simd import LANES, at, below, first_lane, move_up, put_in_order

# Boxes by column: `lower[feature, box]` and `upper`, `labels`, `counts` of samples, the samples at
# which each was `born` and last `confirmed`, and in `order` of the last match, latest first. By
# feature: how many values were `seen`, their `mean` and `variance`, its `scale` (1 / range) and
# `weight`, and `histograms[feature, bin, label]`. `scores` of the experts, horizon by horizon.
# `counters`, see below.
Memory = namedtuple(
    "Memory",
    "lower upper labels counts born confirmed order seen mean variance scale weight histograms"
    " scores counters",
)

# Indices of `counters`: boxes, and samples learned.
BOXES, SAMPLES = range(2)
N_COUNTERS = 2

# How to learn. `horizons` are the ages that each is below, the last of them beyond all;
# `neighbors` in ascending order, 16 at most. `theta` and `max_boxes` as in the estimator; what
# follows are the constants of `_learning/adaptive.py`.
Settings = namedtuple(
    "Settings",
    "theta max_boxes horizons neighbors score_memory sharpness scale_rate weighs weight_floor",
)

# Working arrays: the sample `x` (both ends) that was predicted last, the features' `scale` then,
# and `compared_at`, after how many samples learned, or -1; `distances` of all boxes, and the same
# in their `order`, `recent` ones first; the positions in that order of the nearest and their
# `gaps`, likewise of those that are to grow; `sums` of votes by class; the vote of each expert,
# `votes[expert, label]`, the `totals` of these, and its weight.
Workspace = namedtuple(
    "Workspace",
    "x scale compared_at distances recent near gaps growable growable_gaps sums predicted"
    " votes totals weights",
)

N_BINS = 8
N_TRIES = 3  # boxes of the sample's class that may grow
UNKNOWN_GAP = 1.0 / 3.0  # the mean gap of two values of a uniform distribution
SMALLEST_GAP = 0.01  # what is added to distances, so that those of boxes around a sample are finite
CLIPPED_AFTER = 30  # values of a feature, from when on outliers count less
CLIPPED_AT = 4.0  # standard deviations
SAMPLES_PER_WEIGHING = 100
HISTOGRAM_FADE = 0.93


@kernel
def predict(xl, xu, start, stop, memory, settings, work, shares):
    """Write the shares of the classes in the vote for samples `start` to `stop`."""
    memory, settings, work = (
        pass_by_pointer(memory),
        pass_by_pointer(settings),
        pass_by_pointer(work),
    )
    total = weigh_experts(memory, settings, work)
    for row in range(start, stop):
        find_votes(xl[row], xu[row], memory, settings, work)
        add_up(work, total, shares[row])


@kernel
def learn(xl, xu, y, start, stop, memory, settings, work):
    """Learn samples from `start` on; return where it ended: at `stop`, or when room is needed."""
    memory, settings, work = (
        pass_by_pointer(memory),
        pass_by_pointer(settings),
        pass_by_pointer(work),
    )
    capacity = memory.labels.size
    for row in range(start, stop):
        if memory.counters[BOXES] == capacity and capacity < settings.max_boxes:
            return row
        find_votes(xl[row], xu[row], memory, settings, work)
        judge(y[row], memory, settings, work)
        watch(xl[row], xu[row], y[row], memory, settings)
        store(xl[row], xu[row], y[row], memory, settings, work)
        memory.counters[SAMPLES] += 1
        if settings.weighs and memory.counters[SAMPLES] % SAMPLES_PER_WEIGHING == 0:
            weigh_features(memory, settings)
    return stop


@inlined
def find_votes(xl, xu, memory, settings, work):
    """Evaluate all experts for a sample, unless it was the last one evaluated."""
    if work.compared_at[0] != memory.counters[SAMPLES] or not is_last(xl, xu, work.x):
        set_distances(xl, xu, memory, work.distances)
        sort_by_age(memory, work.distances, work.recent)
        answer(memory, settings, work)
        for j in range(xl.size):
            work.x[0, j], work.x[1, j] = xl[j], xu[j]
            work.scale[j] = memory.scale[j]
        work.compared_at[0] = memory.counters[SAMPLES]


@forceinline
def is_last(xl, xu, x):
    """Whether this is the sample evaluated last; NaN equals nothing."""
    for j in range(xl.size):
        if not (xl[j] == x[0, j] and xu[j] == x[1, j]):
            return False
    return True


@forceinline
def set_distances(xl, xu, memory, distances):
    """Write the distance of each box: the weighted sum of its gaps, each at most 1.

    Where the sample or the box has no value, the gap is the mean one, if the feature varies.
    """
    n_boxes = memory.counters[BOXES]
    for box in range(n_boxes):
        distances[box] = 0.0
    for j in range(xl.size):
        lower, upper, low, high = memory.lower[j], memory.upper[j], xl[j], xu[j]
        scale, weight = memory.scale[j], memory.weight[j]
        unknown = UNKNOWN_GAP if scale > 0.0 else 0.0
        for box in range(n_boxes):
            gap = larger(larger(lower[box] - high, low - upper[box]), 0.0)
            gap = smaller(gap * scale, 1.0)
            distances[box] += weight * (gap if is_known(low - upper[box]) else unknown)


@forceinline
def sort_by_age(memory, distances, recent):
    """Write the distances of the boxes, those matched last first."""
    order = memory.order
    for position in range(memory.counters[BOXES]):
        check_index(order[position], distances.shape[0])
        recent[position] = at(distances, order[position])


@forceinline
def n_confirmed_since(time, most, memory):
    """Return how many boxes were matched at a time or later, if they are at most so many."""
    low, high = 0, smaller(most, memory.counters[BOXES])
    while low < high:
        middle = (low + high) // 2
        if memory.confirmed[memory.order[middle]] < time:
            high = middle
        else:
            low = middle + 1
    return low


@forceinline
def n_in_horizon(horizon, memory):
    """Return how many boxes have an age below the horizon; a sample matches one at most."""
    return n_confirmed_since(memory.counters[SAMPLES] - horizon, horizon, memory)


@forceinline
def answer(memory, settings, work):
    """Write the votes of each expert's neighbors, and the class with most of them.

    Boxes are put into the list of the nearest ones from the last matched one on; at the end of
    each horizon it holds the nearest of that horizon.
    """
    recent, near, gaps, n_counts = work.recent, work.near, work.gaps, settings.neighbors.size
    most = settings.neighbors[n_counts - 1]
    gaps[:] = np.inf
    start = 0
    for band in range(settings.horizons.size):
        stop = n_in_horizon(settings.horizons[band], memory)
        while start < stop:
            lanes = below(recent, start, gaps[most - 1]) & lanes_up_to(stop - start)
            if lanes != 0:
                put_in_order(near, gaps, recent, start, lanes)
            start += LANES
        start = stop
        count_votes(band * n_counts, smaller(most, stop), memory, settings, work)


@forceinline
def lanes_up_to(n_lanes):
    """Return a mask of so many lanes."""
    return (1 << smaller(n_lanes, LANES)) - 1


@forceinline
def count_votes(expert, n_near, memory, settings, work):
    """Write the votes of the experts of a horizon, from the first of them on."""
    sums, order, labels = work.sums, memory.order, memory.labels
    sums[:] = 0.0
    total, position = 0.0, 0
    for count in range(settings.neighbors.size):
        while position < smaller(settings.neighbors[count], n_near):
            vote = 1.0 / (work.gaps[position] + SMALLEST_GAP)
            sums[at(labels, at(order, work.near[position]))] += vote
            total += vote
            position += 1
        best, most = 0, sums[0]
        for label in range(sums.size):
            is_more = sums[label] > most
            best = label if is_more else best
            most = sums[label] if is_more else most
            work.votes[expert + count, label] = sums[label]
        work.totals[expert + count] = total
        work.predicted[expert + count] = best


@forceinline
def first_largest(values):
    """Return the position of the largest value, the first of equals."""
    best = 0
    for position in range(1, values.size):
        best = position if values[position] > values[best] else best
    return best


@forceinline
def weigh_experts(memory, settings, work):
    """Write the weights of the experts, and return their sum."""
    scores = memory.scores
    best = scores[first_largest(scores)]
    total = 0.0
    for expert in range(scores.size):
        work.weights[expert] = math.exp(settings.sharpness * (scores[expert] - best))
        total += work.weights[expert]
    return total


@forceinline
def add_up(work, total, shares):
    """Write the sum of the experts' votes, in shares."""
    shares[:] = 0.0
    for expert in range(work.weights.size):
        weight, sum_of_votes = work.weights[expert], work.totals[expert]
        for label in range(shares.size):
            shares[label] += weight * (work.votes[expert, label] / sum_of_votes)
    for label in range(shares.size):
        shares[label] /= total


@inlined
def judge(label, memory, settings, work):
    """Raise the scores of the experts that were right, and lower the others'."""
    if memory.counters[BOXES] > 0:
        n_learned = memory.counters[SAMPLES]
        rate = 1.0 / smaller(settings.score_memory, n_learned + 1.0)
        for expert in range(memory.scores.size):
            hit = 1.0 if work.predicted[expert] == label else 0.0
            memory.scores[expert] += (hit - memory.scores[expert]) * rate


@inlined
def watch(xl, xu, label, memory, settings):
    """Update the scales of the features, and the histograms of their values by class."""
    for j in range(xl.size):
        if not is_known(xl[j]):
            continue
        value = xl[j] + (xu[j] - xl[j]) * 0.5
        update_scale(value, j, memory, settings)
        position = N_BINS * ((value - memory.mean[j]) * memory.scale[j] + 0.5)
        position = smaller(larger(position, 0.0), N_BINS - 1.0)
        memory.histograms[j, int(position), label] += 1.0


@forceinline
def update_scale(value, j, memory, settings):
    """Update mean and variance of a feature; outliers count as if they were not that far out."""
    deviation = value - memory.mean[j]
    if memory.seen[j] >= CLIPPED_AFTER and memory.variance[j] > 0.0:
        limit = CLIPPED_AT * math.sqrt(memory.variance[j])
        deviation = smaller(larger(deviation, -limit), limit)
    memory.seen[j] += 1
    rate = larger(1.0 / memory.seen[j], settings.scale_rate)
    memory.mean[j] += rate * deviation
    memory.variance[j] = (1.0 - rate) * (memory.variance[j] + rate * deviation * deviation)
    if memory.variance[j] > 0.0:
        memory.scale[j] = 1.0 / math.sqrt(12.0 * memory.variance[j])
    else:
        memory.scale[j] = 0.0


@inlined
def store(xl, xu, label, memory, settings, work):
    """Extend a near box of the class to contain the sample, or make the sample a new box."""
    n_counts = settings.neighbors.size
    horizon = settings.horizons[first_largest(memory.scores) // n_counts]
    box = find_growable(xl, xu, label, horizon, memory, settings, work)
    if box >= 0:
        memory.counts[box] += 1
        position = n_confirmed_since(memory.confirmed[box], memory.counters[BOXES], memory) - 1
        renew(position, memory)
    else:
        box = find_free_box(memory, settings)
        memory.labels[box] = label
        memory.counts[box] = 1
        memory.born[box] = memory.counters[SAMPLES]
        for j in range(xl.size):
            memory.lower[j, box], memory.upper[j, box] = xl[j], xu[j]
    memory.confirmed[box] = memory.counters[SAMPLES]
    for j in range(xl.size):
        memory.lower[j, box] = lowest(xl[j], memory.lower[j, box])
        memory.upper[j, box] = upmost(xu[j], memory.upper[j, box])


@forceinline
def find_growable(xl, xu, label, horizon, memory, settings, work):
    """Return the first of the nearest boxes of the class that may grow to hold the sample, or -1.

    It is younger than the horizon of the best expert, stays within `theta`, and then meets no box
    of another class that was matched within the horizon.
    """
    limit = reach(memory, settings.theta, work.scale)
    find_nearest_of(label, limit, memory, work)
    for position in range(N_TRIES):
        if work.growable_gaps[position] == np.inf:
            break
        box = memory.order[work.growable[position]]
        is_young = memory.counters[SAMPLES] - memory.born[box] < horizon
        if (
            is_young
            and fits(xl, xu, box, memory, settings.theta)
            and not meets_any(xl, xu, label, box, horizon, limit, memory, work.recent)
        ):
            return box
    return -1


@forceinline
def reach(memory, theta, scale):
    """Return a limit: boxes that are not below it meet no box within `theta` around the sample.

    None of the features of a box that does can be more than `theta` away from the sample, unless a
    value is missing. Scales have changed since the distances were found. What is lost by rounding
    is far less than what is added here.
    """
    limit = 0.0
    for j in range(scale.size):
        gap = 1.0
        if memory.scale[j] > 0.0:
            gap = smaller(theta * (scale[j] / memory.scale[j]), 1.0)
            if memory.seen[j] < memory.counters[SAMPLES] + 1:
                gap = larger(gap, UNKNOWN_GAP)
        limit += memory.weight[j] * gap
    return limit * (1.0 + 1e-9) + 1e-300


@forceinline
def find_nearest_of(label, limit, memory, work):
    """Write the nearest boxes of a class, below a limit, into a list; infinite gaps at its end.

    Those after the first `N_TRIES` are of no interest.
    """
    recent, gaps, n_boxes = work.recent, work.growable_gaps, memory.counters[BOXES]
    gaps[:] = np.inf
    for start in range(0, n_boxes, LANES):
        nearest = smaller(gaps[N_TRIES - 1], limit)
        lanes = below(recent, start, nearest) & lanes_up_to(n_boxes - start)
        own = 0
        while lanes != 0:
            lane = first_lane(lanes)
            own |= (memory.labels[memory.order[start + lane]] == label) << lane
            lanes &= lanes - 1
        if own != 0:
            put_in_order(work.growable, gaps, recent, start, own)


@forceinline
def fits(xl, xu, box, memory, theta):
    """Whether no side of a box is longer than `theta` once it contains the sample."""
    for j in range(xl.size):
        high, low = upmost(xu[j], memory.upper[j, box]), lowest(xl[j], memory.lower[j, box])
        if (high - low) * memory.scale[j] > theta:
            return False
    return True


@forceinline
def meets_any(xl, xu, label, box, horizon, limit, memory, recent):
    """Whether a box, once it contains the sample, meets a recent one of another class.

    It is within `theta` then, so that only boxes below the limit need to be looked at.
    """
    n_recent = n_in_horizon(horizon, memory)
    for start in range(0, n_recent, LANES):
        lanes = below(recent, start, limit) & lanes_up_to(n_recent - start)
        while lanes != 0:
            other = memory.order[start + first_lane(lanes)]
            lanes &= lanes - 1
            if memory.labels[other] != label and meet(xl, xu, box, other, memory):
                return True
    return False


@forceinline
def meet(xl, xu, box, other, memory):
    """Whether a box, once it contains the sample, meets another one."""
    for j in range(xl.size):
        high, low = upmost(xu[j], memory.upper[j, box]), lowest(xl[j], memory.lower[j, box])
        if memory.lower[j, other] > high or memory.upper[j, other] < low:
            return False
    return True


@forceinline
def find_free_box(memory, settings):
    """Return the index of a new box: at the limit, that of the box matched longest ago."""
    n_boxes = memory.counters[BOXES]
    if n_boxes < settings.max_boxes:
        memory.order[n_boxes] = n_boxes
        memory.counters[BOXES] += 1
    renew(memory.counters[BOXES] - 1, memory)
    return memory.order[0]


@forceinline
def renew(position, memory):
    """Move a box to the beginning of `order`: it was matched last."""
    order = memory.order
    box = order[position]
    move_up(order, position)
    order[0] = box


@forceinline
def weigh_features(memory, settings):
    """Weigh the features by the mutual information of their bins and the classes; fade the counts.

    The bias of few samples is subtracted. A feature without information keeps a small weight.
    """
    most = 0.0
    for j in range(memory.weight.size):
        memory.weight[j] = math.sqrt(information(memory.histograms[j]))
        most = larger(memory.weight[j], most)
    floor = settings.weight_floor
    for j in range(memory.weight.size):
        if most > 0.0:
            memory.weight[j] = floor + (1.0 - floor) * memory.weight[j] / most
        else:
            memory.weight[j] = 1.0
        for bin_index in range(N_BINS):
            for label in range(memory.histograms.shape[2]):
                memory.histograms[j, bin_index, label] *= HISTOGRAM_FADE


@forceinline
def information(counts):
    """Return the mutual information of rows and columns, less its bias, at least 0."""
    n_labels = counts.shape[1]
    total, n_rows, n_columns = 0.0, 0, 0
    for bin_index in range(N_BINS):
        n_rows += 1 if row_sum(counts, bin_index) > 0.0 else 0
    for label in range(n_labels):
        column = column_sum(counts, label)
        n_columns += 1 if column > 0.0 else 0
        total += column
    shared = 0.0
    for label in range(n_labels):
        column = column_sum(counts, label)
        for bin_index in range(N_BINS):
            count = counts[bin_index, label]
            if count > 0.0:
                row = row_sum(counts, bin_index)
                shared += count / total * math.log(count * total / (row * column))
    if total > 0.0:
        shared -= (n_rows - 1) * (n_columns - 1) / (2.0 * total)
    return larger(shared, 0.0)


@forceinline
def row_sum(counts, bin_index):
    """Add up a row."""
    total = 0.0
    for label in range(counts.shape[1]):
        total += counts[bin_index, label]
    return total


@forceinline
def column_sum(counts, label):
    """Add up a column."""
    total = 0.0
    for bin_index in range(N_BINS):
        total += counts[bin_index, label]
    return total
