"""The online learners: Onln-GFMM (Algorithms 1 and 5) and IOL-GFMM (4 and 6) in one loop.

They differ in one step only. IOL-GFMM passes over boxes that would grow into another class;
Onln-GFMM grows the best box regardless and parts it from other classes' boxes afterwards.
"""

from __future__ import annotations

from hyperboxes._kernels.geometry import MEMBERSHIP, contract, hull, overlaps
from hyperboxes._kernels.jit import kernel
from hyperboxes._kernels.selection import (
    BOXES,
    CANDIDATES,
    CONTRACT,
    SAMPLES,
    choose,
    make_scratch,
)


@kernel
def learn(xl, xu, y, boxes, rule, overlap, work):
    """Learn the samples from `progress[SAMPLES]` on.

    Returns when all are learned, when there is no room for another box, or after `work`
    comparisons of a box in one dimension; the arrays are consistent then, for each sample is
    settled as a whole.
    """
    lower, upper, labels, _, _, _, _, progress = boxes
    capacity, n_features = lower.shape
    scratch = make_scratch(capacity, n_features)
    while progress[SAMPLES] < y.shape[0] and progress[BOXES] < capacity and work > 0:
        i = progress[SAMPLES]
        box, n_tried = choose(xl[i], xu[i], y[i], -1, boxes, rule, MEMBERSHIP, overlap, scratch)
        if box >= 0 and n_tried > 0:
            hull(lower[box], upper[box], xl[i], xu[i], lower[box], upper[box])
            if overlap == CONTRACT:
                _part(box, lower, upper, labels, progress[BOXES])
        _settle(xl[i], xu[i], y[i], box, n_tried, boxes)
        work -= progress[BOXES] * n_features


@kernel
def _part(box, lower, upper, labels, n_boxes):
    """Contract a grown box and each box of another class that it overlaps, oldest first."""
    v, w = lower[box], upper[box]
    for k in range(n_boxes):
        if labels[k] != labels[box] and overlaps(v, w, lower, upper, k):
            contract(v, w, lower, upper, k)


@kernel
def _settle(xl, xu, label, holder, n_tried, boxes):
    """Credit the sample to its holder, or make it a new box; then move on to the next sample."""
    lower, upper, labels, counts, following, first, last, progress = boxes
    if holder >= 0:
        counts[holder] += 1
    else:
        box = progress[BOXES]
        lower[box] = xl
        upper[box] = xu
        labels[box] = label
        counts[box] = 1
        following[box] = -1
        if last[label] >= 0:
            following[last[label]] = box
        else:
            first[label] = box
        last[label] = box
        progress[BOXES] = box + 1
    progress[CANDIDATES] += n_tried
    progress[SAMPLES] += 1
