"""Cutting boxes of several models back where they overlap other classes, by the cheapest cuts."""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import larger, overlaps
from hyperboxes._kernels.index import update_box
from hyperboxes._kernels.jit import by_reference, kernel, step
from hyperboxes._kernels.records import BOXES, CLOSED, NO_LABEL, WORK
from hyperboxes._kernels.search import find_rivals_by_age


@kernel
def cut_overlaps(boxes, start, rule, scratch, work):
    """Cut boxes, from a place on, that overlap later boxes of other classes; return where it ended.

    Boxes that hold a single sample or have no label stay as they are, as in learning. It ends with
    the last box or after `work` comparisons of a block in one dimension.
    """
    boxes, rule, scratch = by_reference(boxes), by_reference(rule), by_reference(scratch)
    counters, counts, rivals = boxes.counters, boxes.counts, scratch.rivals
    end = counters[WORK] + larger(work // boxes.lower.shape[1], 1)
    while start < counters[BOXES] and counters[WORK] < end:
        if counts[start] > 1 and boxes.labels[start] != NO_LABEL:
            v, w, label = boxes.lower[start], boxes.upper[start], boxes.labels[start]
            n_rivals = find_rivals_by_age(
                v, w, label, rule.everywhere, boxes, scratch.search, rivals
            )
            counters[WORK] += n_rivals
            for r in range(n_rivals):
                k = rivals[r]
                if k > start and counts[k] > 1 and overlaps(v, w, boxes, k, rule.overlap):
                    _cut_apart(start, k, boxes, rule)
        start += 1
    return start


@step
def _cut_apart(i, k, boxes, rule):
    """Cut a box or the other, if any cut parts them, where that costs the fewest samples."""
    lower, upper, counts = boxes.lower, boxes.upper, boxes.counts
    least = np.inf
    cut, side, is_upper = -1, -1, False
    for box, other in ((i, k), (k, i)):
        for j in range(lower.shape[1]):
            length = upper[box, j] - lower[box, j]
            above, below = upper[box, j] - lower[other, j], upper[other, j] - lower[box, j]
            # What is not known (NaN) cannot be cut.
            if lower[other, j] > lower[box, j] and counts[box] * (above / length) < least:
                least = counts[box] * (above / length)
                cut, side, is_upper = box, j, True
            if upper[other, j] < upper[box, j] and counts[box] * (below / length) < least:
                least = counts[box] * (below / length)
                cut, side, is_upper = box, j, False
    if cut >= 0:
        _cut(cut, i + k - cut, side, is_upper, boxes, rule.overlap)


@step
def _cut(box, other, j, is_upper, boxes, overlap):
    """Cut a box back to another, or just short of it where they may share no point."""
    lower, upper = boxes.lower, boxes.upper
    if is_upper:
        end = lower[other, j]
        upper[box, j] = np.nextafter(end, -np.inf) if overlap == CLOSED else end
    else:
        end = upper[other, j]
        lower[box, j] = np.nextafter(end, np.inf) if overlap == CLOSED else end
    update_box(box, boxes)
