"""Kernels of the literature: overlaps of classes, ties resolved by place, and categories.

Boxes count categories (`MixedGFMM`) or have two of them in each feature (`FrequencyGFMM`).
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from hyperboxes._kernels.geometry import (
    CONTAINED,
    as_membership,
    closeness,
    contains,
    contract,
    copy_row,
    distance,
    fits,
    hull,
    is_known,
    larger,
    overlaps,
    smaller,
)
from hyperboxes._kernels.jit import forceinline, inlined, internal, kernel, pass_by_pointer
from hyperboxes._kernels.mixed import mixed_membership, read_codes
from hyperboxes._kernels.search import TREES_PER_SEARCH, find_nearest
from hyperboxes._kernels.structs import BOXES, CANDIDATES, CLOSED, SAMPLES, SEEN


@kernel
def compensate(xl, xu, start, boxes, metric, search, work, ids, gaps, out):
    """Find for each sample, from a row on, what is taken from each class: up to 1.

    This is done by the overlap and containment neurons of FMCN (Nandedkar and Biswas). One sits on
    what two boxes of different classes share, so it is active for a sample that both contain.

    Returns the row where `work` comparisons of a block in one dimension ended, or the end. `ids`
    and `gaps` are room for all boxes.
    """
    boxes, metric, search = pass_by_pointer(boxes), pass_by_pointer(metric), pass_by_pointer(search)
    labels, n_classes = boxes.labels, out.shape[1]
    work = larger(work // xl.shape[1], 1)
    while start < xl.shape[0] and work > 0:
        copy_row(xl[start], search.low)
        copy_row(xu[start], search.high)
        for c in range(n_classes):
            out[start, c] = 0.0
        n_holders = 0
        for first in range(0, n_classes, TREES_PER_SEARCH):
            stop = smaller(first + TREES_PER_SEARCH, n_classes)
            n_found, _, n_blocks = find_nearest(
                first, stop, CONTAINED, boxes, metric, search, ids[n_holders:], gaps[n_holders:]
            )
            n_holders += n_found
            work -= n_blocks
        for h in range(n_holders):
            taken = _taken_from(ids[h], ids, n_holders, boxes, search)
            label = labels[ids[h]]
            out[start, label] = larger(taken, out[start, label])
        work -= n_holders
        start += 1
    return start


@inlined
def _taken_from(box, ids, n_holders, boxes, search):
    """Return what neurons take from a box that contains the sample, as others of the list do.

    All, if it contains a box of another class (a containment neuron); else, if it shares the sample
    with one that does not contain it, the more the farther the sample is from its faces.
    """
    labels, v, w = boxes.labels, boxes.lower[box], boxes.upper[box]
    shares = False
    for h in range(n_holders):
        other = ids[h]
        # Two boxes that contain a sample with missing values need not meet.
        if labels[other] != labels[box] and overlaps(v, w, boxes, other, CLOSED):
            if _contains(box, other, boxes):
                return 1.0
            shares = shares or not _contains(other, box, boxes)
    return 1.0 - _nearness_to_faces(box, boxes, search) if shares else 0.0


@internal
def _contains(box, other, boxes):
    """Whether a box is larger than another on all sides."""
    lower, upper = boxes.lower, boxes.upper
    for j in range(lower.shape[1]):
        if not (lower[box, j] < lower[other, j] and upper[other, j] < upper[box, j]):
            return False
    return True


@forceinline
def _nearness_to_faces(box, boxes, search):
    """Return the mean over the features of how near the sample is to a face of a box, up to 1."""
    low, high, lower, upper = search.low, search.high, boxes.lower, boxes.upper
    total = 0.0
    for j in range(low.shape[0]):
        v, w = lower[box, j], upper[box, j]
        if is_known(v) and is_known(low[j]):
            to_upper = high[j] / w if w != 0.0 else 1.0
            to_lower = v / low[j] if low[j] != 0.0 else 1.0
            total += larger(to_upper, to_lower)
        else:
            total += 1.0
    return smaller(total / low.shape[0], 1.0)


@kernel
def rank_mixed(xl, xu, boxes, metric, tallies, mixture, out):
    """Write the rank of each box for each sample: its membership or, if that is 0, -distance."""
    boxes, metric = pass_by_pointer(boxes), pass_by_pointer(metric)
    for i in range(out.shape[0]):
        read_codes(xl[i], tallies)
        for box in range(out.shape[1]):
            gap = distance(boxes.lower, boxes.upper, box, xl[i], xu[i], metric, np.inf)
            value = mixed_membership(gap, box, tallies.codes, tallies, mixture)
            out[i, box] = value if value > 0.0 else -larger(gap, 1.0)


@kernel
def settle_ties(xl, xu, start, boxes, metric, search, by_corners, work, ids, gaps, out):
    """Find for each sample, from a row on, which of the nearest boxes is nearest by its centre.

    Or by its corners; of equals the oldest. Returns the row where `work` ended. `ids` and `gaps`
    are room for all boxes.
    """
    boxes, metric, search = pass_by_pointer(boxes), pass_by_pointer(metric), pass_by_pointer(search)
    n_classes = boxes.index.roots.shape[0] - 1
    work = larger(work // xl.shape[1], 1)
    while start < xl.shape[0] and work > 0:
        i = start
        copy_row(xl[i], search.low)
        copy_row(xu[i], search.high)
        limit = top = np.inf
        least, out[i] = np.inf, -1
        for first in range(0, n_classes, TREES_PER_SEARCH):
            stop = smaller(first + TREES_PER_SEARCH, n_classes)
            n_found, limit, n_blocks = find_nearest(
                first, stop, limit, boxes, metric, search, ids, gaps
            )
            for f in range(n_found):
                rank, away = -closeness(gaps[f]), _away(ids[f], boxes, search, by_corners)
                is_nearer = away < least or (away == least and ids[f] < out[i])
                if rank < top or (rank == top and is_nearer):
                    top, least, out[i] = rank, away, ids[f]
            work -= n_blocks
        start += 1
    return start


@inlined
def _away(box, boxes, search, by_corners):
    """Return how far a sample is from the centre or the corners of a box in all features."""
    lower, upper, xl, xu = boxes.lower, boxes.upper, search.low, search.high
    total = 0.0
    for j in range(xl.shape[0]):
        if by_corners:
            away = abs(xl[j] - lower[box, j]) + abs(xu[j] - upper[box, j])
        else:
            away = abs((lower[box, j] + upper[box, j]) / 2 - (xl[j] + xu[j]) / 2)
        total += larger(away, 0.0)  # nothing where it is not known
    return total


# The categories of boxes: `ends[box, k]` are those in the k-th categorical feature, as indices of
# values. They are equal if there is one, and -1 if none is known. The distance of the values a and
# b is `distances[starts[k] + a * sizes[k] + b]`. `eta` bounds the distances by which boxes grow.
CategoryEnds = namedtuple("CategoryEnds", "ends distances starts sizes eta")


@kernel
def learn_frequency(xl, xu, codes, y, boxes, growth, categories, excluded, memberships, work):
    """Learn the samples from `counters[SAMPLES]` on, until about `work` comparisons are made.

    There is room for all boxes. `excluded` and `memberships` are room for all values of a feature
    and all boxes.
    """
    boxes, growth = pass_by_pointer(boxes), pass_by_pointer(growth)
    counters, ends = boxes.counters, categories.ends
    while counters[SAMPLES] < y.shape[0] and work > 0:
        i = counters[SAMPLES]
        box, n_tried = _choose_by_ends(
            xl[i], xu[i], codes[i], y[i], boxes, growth, categories, memberships
        )
        if box < 0:
            box = counters[BOXES]
            counters[BOXES] = box + 1
            copy_row(xl[i], boxes.lower[box])
            copy_row(xu[i], boxes.upper[box])
            boxes.labels[box], boxes.counts[box] = y[i], 0
            for k in range(codes.shape[1]):
                ends[box, k, 0] = ends[box, k, 1] = codes[i, k]
        elif n_tried > 0:
            v, w = boxes.lower[box], boxes.upper[box]
            hull(v, w, xl[i], xu[i], v, w)
            _extend_ends(box, codes[i], categories, False)
            for other in range(counters[BOXES]):
                if boxes.labels[other] == y[i] or not _share_ends(box, other, -1, ends):
                    continue
                work -= other * codes.shape[1]
                is_apart = _replace_end(box, other, boxes, categories, excluded)
                if not is_apart and overlaps(v, w, boxes, other, CLOSED):
                    contract(v, w, xu[i], boxes, other, growth)
        boxes.counts[box] += 1
        boxes.confirmed[box] = counters[SEEN]
        counters[CANDIDATES] += n_tried
        counters[SAMPLES] += 1
        counters[SEEN] += 1
        work -= counters[BOXES] * xl.shape[1]


@kernel
def distances_by_ends(xl, xu, codes, boxes, metric, categories, out):
    """Write the distance of each sample from each box."""
    boxes, metric = pass_by_pointer(boxes), pass_by_pointer(metric)
    for i in range(out.shape[0]):
        for box in range(out.shape[1]):
            out[i, box] = _distance(box, xl[i], xu[i], codes[i], boxes, metric, categories)


@forceinline
def _category_distance(k, first, second, categories):
    return categories.distances[categories.starts[k] + first * categories.sizes[k] + second]


@internal
def _distance(box, xl, xu, codes, boxes, metric, categories):
    """Return how far a sample is from a box: the largest distance in any feature."""
    largest = distance(boxes.lower, boxes.upper, box, xl, xu, metric, np.inf)
    for k in range(codes.shape[0]):
        x, e, f = codes[k], categories.ends[box, k, 0], categories.ends[box, k, 1]
        if x >= 0 and e >= 0 and x != e and x != f:
            largest = larger(_category_distance(k, x, e, categories), largest)
            largest = larger(_category_distance(k, x, f, categories), largest)
    return largest


@internal
def _choose_by_ends(xl, xu, codes, label, boxes, growth, categories, memberships):
    """Return the box of a class that absorbs a sample, -1 for none, and how many were tried.

    The oldest that contains it, for which none is tried; else the best that may grow.
    """
    n_boxes, labels = boxes.counters[BOXES], boxes.labels
    best, top, n_tried = -1, -np.inf, 0
    for box in range(n_boxes):
        if labels[box] != label:
            continue
        gap = _distance(box, xl, xu, codes, boxes, growth.metric, categories)
        holds = gap <= CONTAINED and contains(boxes, box, xl, xu, growth.metric)
        for k in range(codes.shape[0]):
            holds &= codes[k] < 0 or categories.ends[box, k, 0] >= 0
        if holds:
            return box, 0
        memberships[box] = as_membership(gap)
        may_grow = memberships[box] > top and fits(boxes, box, xl, xu, growth)
        if may_grow and _extend_ends(box, codes, categories, True):
            best, top = box, memberships[box]
    for box in range(n_boxes):
        if labels[box] == label:
            n_tried += memberships[box] > top or (memberships[box] == top and box <= best)
    return best, n_tried


@internal
def _extend_ends(box, codes, categories, is_trial):
    """Extend the ends of a box to the categories of a sample; return whether that is possible.

    As a trial, they stay as they are.
    """
    ends, eta = categories.ends, categories.eta
    for k in range(codes.shape[0]):
        x, e, f = codes[k], ends[box, k, 0], ends[box, k, 1]
        if x < 0 or x in (e, f):
            continue
        if e < 0:
            if not is_trial:
                ends[box, k, 0] = ends[box, k, 1] = x
            continue
        from_e, from_f = (
            _category_distance(k, e, x, categories),
            _category_distance(k, f, x, categories),
        )
        across = _category_distance(k, e, f, categories)
        if (from_e > eta and from_f > eta) or (e != f and from_e <= across and from_f <= across):
            return False
        if not is_trial:
            ends[box, k, np.int64(e == f or across < from_e <= eta)] = x
    return True


@internal
def _share_ends(box, other, left_out, ends):
    """Whether two boxes have an end in common in every feature but one that is left out."""
    for k in range(ends.shape[1]):
        e, f, other_e, other_f = (
            ends[box, k, 0],
            ends[box, k, 1],
            ends[other, k, 0],
            ends[other, k, 1],
        )
        is_apart = e != other_e and e != other_f and f != other_e and f != other_f
        if k != left_out and e >= 0 and other_e >= 0 and is_apart:
            return False
    return True


@internal
def _replace_end(box, last, boxes, categories, excluded):
    """Replace an end of a box so that their distance changes least; return whether there is one.

    Afterwards the box shares its ends neither with the last of the boxes of other classes nor with
    those before it.
    """
    ends, labels = categories.ends, boxes.labels
    least, feature, replaced, new = np.inf, -1, -1, -1
    for k in range(ends.shape[1]):
        e, f, size = ends[box, k, 0], ends[box, k, 1], categories.sizes[k]
        if e == f:
            continue
        across = _category_distance(k, e, f, categories)
        for end in range(2):
            kept = ends[box, k, 1 - end]
            for value in range(size):
                excluded[value] = value in (e, f)
            for other in range(last + 1):
                if labels[other] == labels[box] or not _share_ends(box, other, k, ends):
                    continue
                other_e, other_f = ends[other, k, 0], ends[other, k, 1]
                for value in range(size):
                    excluded[value] |= value in (other_e, other_f) or other_e < 0
                    excluded[value] |= kept in (other_e, other_f)
            for value in range(size):
                change = abs(_category_distance(k, value, kept, categories) - across)
                if not excluded[value] and change < least:
                    least, feature, replaced, new = change, k, end, value
    if feature >= 0:
        ends[box, feature, replaced] = new
    return feature >= 0
