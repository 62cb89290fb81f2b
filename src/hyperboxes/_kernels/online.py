"""The online learners: Onln-GFMM (Algorithms 1 and 5) and IOL-GFMM (4 and 6) in one loop.

They differ in one step only. IOL-GFMM passes over boxes that would grow into another class;
Onln-GFMM grows the best box regardless and parts it from other classes' boxes afterwards.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.blocks import (
    BOXES,
    CANDIDATES,
    SAMPLES,
    add_box,
    copy_row,
    find_rivals,
)
from hyperboxes._kernels.geometry import MEMBERSHIP, contract, hull, overlaps
from hyperboxes._kernels.jit import kernel
from hyperboxes._kernels.selection import CONTRACT, choose, make_scratch


@kernel
def learn(xl, xu, y, boxes, rule, overlap, work):
    """Learn the samples from `progress[SAMPLES]` on.

    Returns when all are learned, when there is no room for another box, or after `work`
    comparisons of a box in one dimension; the arrays are consistent then, for each sample is
    settled as a whole.
    """
    lower, upper, _, _, progress, _ = boxes
    capacity, n_features = lower.shape
    scratch = make_scratch(capacity, n_features)
    low, high = np.empty(n_features), np.empty(n_features)
    while progress[SAMPLES] < y.shape[0] and progress[BOXES] < capacity and work > 0:
        i = progress[SAMPLES]
        hull(xl[i], xu[i], xl[i], xu[i], low, high)  # a copy: kernels are compiled for one type
        box, n_tried = choose(low, high, y[i], -1, boxes, rule, MEMBERSHIP, overlap, scratch)
        if box >= 0 and n_tried > 0:
            hull(lower[box], upper[box], low, high, lower[box], upper[box])
            if overlap == CONTRACT:
                _part(box, boxes, scratch)
            copy_row(box, boxes)
        _settle(low, high, y[i], box, n_tried, boxes)
        work -= progress[BOXES] * n_features


@kernel
def _part(box, boxes, scratch):
    """Contract a grown box and each box of another class that it overlaps, oldest first.

    Contraction only makes it smaller, so it can only overlap boxes that it meets to begin with.
    """
    lower, upper, labels, _, _, _ = boxes
    _, _, _, rivals, gaps, ones, _, _ = scratch
    v, w = lower[box], upper[box]
    n_rivals = find_rivals(labels[box], w, v, 0.0, -1.0, boxes, ones, rivals, gaps)
    _sort(rivals, n_rivals)
    for r in range(n_rivals):
        if overlaps(v, w, lower, upper, rivals[r]):
            contract(v, w, lower, upper, rivals[r])
            copy_row(rivals[r], boxes)


@kernel
def _sort(numbers, n):
    """Sort the first few numbers in place."""
    for i in range(1, n):
        number = numbers[i]
        place = i
        while place > 0 and numbers[place - 1] > number:
            numbers[place] = numbers[place - 1]
            place -= 1
        numbers[place] = number


@kernel
def _settle(xl, xu, label, holder, n_tried, boxes):
    """Credit the sample to its holder, or make it a new box; then move on to the next sample."""
    lower, upper, labels, counts, progress, _ = boxes
    if holder >= 0:
        counts[holder] += 1
    else:
        box = progress[BOXES]
        hull(xl, xu, xl, xu, lower[box], upper[box])
        labels[box] = label
        counts[box] = 1
        add_box(box, boxes)
        progress[BOXES] = box + 1
    progress[CANDIDATES] += n_tried
    progress[SAMPLES] += 1
