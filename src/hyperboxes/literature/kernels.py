"""Kernels of boxes that count categories (`MixedGFMM`), or have two of them (`FrequencyGFMM`)."""

from collections import namedtuple

import numpy as np

from hyperboxes._kernels.geometry import (
    CONTAINED,
    as_membership,
    contains,
    contract,
    copy_row,
    distance,
    fits,
    hull,
    larger,
    overlaps,
)
from hyperboxes._kernels.jit import forceinline, internal, kernel, pass_by_pointer
from hyperboxes._kernels.mixed import mixed_membership, read_codes
from hyperboxes._kernels.structs import BOXES, CANDIDATES, CLOSED, SAMPLES, SEEN


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
