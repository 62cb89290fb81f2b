"""The online learners: Onln-GFMM (Algorithms 1 and 5) and IOL-GFMM (4 and 6) in one loop.

They differ in one step only. IOL-GFMM passes over boxes that would grow into another class;
Onln-GFMM grows the best box regardless and parts it from other classes' boxes afterwards.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import CONTRACT, MEMBERSHIP, contract, hull, overlaps
from hyperboxes._kernels.index import (
    BOXES,
    CANDIDATES,
    SAMPLES,
    WORK,
    add_box,
    joint_label,
    relabel_box,
    update_box,
)
from hyperboxes._kernels.jit import kernel, part
from hyperboxes._kernels.search import find_rivals_by_age
from hyperboxes._kernels.selection import choose, make_scratch


@kernel
def learn(xl, xu, y, boxes, rule, overlap, work):
    """Learn the samples from `progress[SAMPLES]` on.

    Returns when all are learned, when there is no room for another box, or after `work`
    comparisons of a block in one dimension; the arrays are consistent then, for each sample is
    settled as a whole.
    """
    lower, upper, labels, _, progress, _ = boxes
    capacity, n_features = lower.shape
    scratch = make_scratch(boxes)
    low, high = np.empty(n_features), np.empty(n_features)
    end = progress[WORK] + max(work // n_features, 1)
    while progress[SAMPLES] < y.shape[0] and progress[BOXES] < capacity and progress[WORK] < end:
        i = progress[SAMPLES]
        hull(xl[i], xu[i], xl[i], xu[i], low, high)  # a copy: kernels are compiled for one type
        box, n_tried = choose(low, high, y[i], -1, boxes, rule, MEMBERSHIP, overlap, scratch)
        if box >= 0 and n_tried > 0:
            hull(lower[box], upper[box], low, high, lower[box], upper[box])
            joint = joint_label(labels[box], y[i], boxes)
            if joint != labels[box]:
                relabel_box(box, joint, boxes)
            if overlap == CONTRACT:
                _contract_all(box, boxes, rule, scratch)
            update_box(box, boxes)
        _settle(low, high, y[i], box, n_tried, boxes)


@part
def _contract_all(box, boxes, rule, scratch):
    """Contract a grown box and each box of another class that it overlaps, oldest first.

    Contraction only makes it smaller, so it can only overlap boxes that it meets to begin with.
    """
    lower, upper, _, _, _, _ = boxes
    rivals, space = scratch[3], scratch[6]
    v, w = lower[box], upper[box]
    n_rivals = find_rivals_by_age(box, rule[3], boxes, space, rivals)
    for r in range(n_rivals):
        if overlaps(v, w, lower, upper, rivals[r]):
            contract(v, w, lower, upper, rivals[r])
            update_box(rivals[r], boxes)


@part
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
