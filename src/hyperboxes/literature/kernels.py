"""Kernels of the literature: overlaps of classes, counted categories, ties resolved by place."""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import (
    CONTAINED,
    closeness,
    copy_row,
    distance,
    is_known,
    larger,
    overlaps,
    smaller,
)
from hyperboxes._kernels.jit import forceinline, inlined, internal, kernel, pass_by_pointer
from hyperboxes._kernels.mixed import mixed_membership, read_codes
from hyperboxes._kernels.search import TREES_PER_SEARCH, find_nearest
from hyperboxes._kernels.structs import BOXES, CLOSED


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
    """Return what neurons take from a box that holds the sample, as others of the list do.

    All, if it contains a box of another class (a containment neuron); else, if it shares the sample
    with one that does not contain it, the more the farther the sample is from its faces.
    """
    labels, v, w = boxes.labels, boxes.lower[box], boxes.upper[box]
    shares = False
    for h in range(n_holders):
        other = ids[h]
        # Two boxes that hold a sample with missing values need not meet.
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
def nearest_mixed(xl, xu, start, boxes, metric, tallies, mixture, work, best, votes, single, out):
    """Find for each sample, from a row on, and class the boxes with the largest membership.

    As `prediction.nearest_per_class`; `out` receives the first of these boxes of those that hold
    most samples. Returns the row where `work` comparisons of a sample with a box in one feature
    ended.
    """
    boxes, metric = pass_by_pointer(boxes), pass_by_pointer(metric)
    n_boxes, counts = boxes.counters[BOXES], boxes.counts
    left = work // (xl.shape[1] * larger(n_boxes, 1))
    stop = min(start + larger(left, 1), xl.shape[0])
    for i in range(start, stop):
        best[i] = -np.inf
        votes[i] = 0
        single[i] = n_boxes
        out[i] = -1
        read_codes(xl[i], tallies)
        for box in range(n_boxes):
            if counts[box] < 0:  # it is hidden
                continue
            c = boxes.labels[box]
            gap = distance(boxes.lower, boxes.upper, box, xl[i], xu[i], metric, np.inf)
            value = mixed_membership(gap, box, tallies.codes, tallies, mixture)
            if value <= 0.0:
                value = -larger(gap, 1.0)
            if value > best[i, c] or out[i, c] < 0:
                best[i, c] = value
                votes[i, c] = 0
                single[i, c] = n_boxes
                out[i, c] = box
            if value == best[i, c]:
                votes[i, c] += counts[box]
                if counts[box] == 1:
                    single[i, c] = min(single[i, c], box)
                if counts[box] > counts[out[i, c]]:
                    out[i, c] = box
    return stop


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
