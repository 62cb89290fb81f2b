"""The online learners: Onln-GFMM (Algorithms 1 and 5) and IOL-GFMM (4 and 6) in one loop.

They differ in one step only. IOL-GFMM passes over boxes that would grow into another class;
Onln-GFMM grows the best box regardless and parts it from other classes' boxes afterwards.
"""

from __future__ import annotations

from hyperboxes._kernels.geometry import contract, copy_row, hull, larger, overlaps
from hyperboxes._kernels.index import add_box, has_room, joint_label, relabel_box, update_box
from hyperboxes._kernels.jit import by_reference, kernel, step, subroutine
from hyperboxes._kernels.records import (
    BOXES,
    CANDIDATES,
    PAPER,
    SAMPLES,
    WORK,
)
from hyperboxes._kernels.search import find_rivals_by_age
from hyperboxes._kernels.selection import choose


@kernel
def learn(xl, xu, y, boxes, rule, scratch, contraction, founded, work):
    """Learn the samples from `counters[SAMPLES]` on.

    `contraction` is None for learners that do not contract, so that it is not compiled for them.
    `founded` receives for each sample the box that it has become, or -1.

    Returns when all are learned, when there is no room for another box, or after `work`
    comparisons of a block in one dimension; the arrays are consistent then, for each sample is
    settled as a whole.
    """
    boxes, rule, scratch = by_reference(boxes), by_reference(rule), by_reference(scratch)
    counters, search = boxes.counters, scratch.search
    end = counters[WORK] + larger(work // xl.shape[1], 1)
    while counters[SAMPLES] < y.shape[0] and counters[WORK] < end and _has_room(boxes):
        i = counters[SAMPLES]
        copy_row(xl[i], search.low)
        copy_row(xu[i], search.high)
        box, n_tried = choose(y[i], -1, boxes, rule, scratch)
        if box >= 0 and n_tried > 0:
            _grow(box, y[i], boxes, scratch)
            if contraction is not None:
                _contract_all(box, boxes, rule, scratch)
            update_box(box, boxes)
        if box >= 0:
            boxes.counts[box] += 1
            founded[i] = -1
        else:
            founded[i] = counters[BOXES]
            _append(y[i], boxes, search)
        counters[CANDIDATES] += n_tried
        counters[SAMPLES] += 1


@step
def _has_room(boxes):
    return boxes.counters[BOXES] < boxes.labels.shape[0] and has_room(boxes)


@step
def _grow(box, label, boxes, scratch):
    """Let a box hold the sample, and take on its label."""
    v, w = boxes.lower[box], boxes.upper[box]
    hull(v, w, scratch.search.low, scratch.search.high, v, w)
    joint = joint_label(boxes.labels[box], label)
    if joint != boxes.labels[box]:
        relabel_box(box, joint, boxes)


@subroutine
def _contract_all(box, boxes, rule, scratch):
    """Contract a grown box and each box of another class that it overlaps, oldest first.

    Contraction only makes it smaller, so it can only overlap boxes that it meets to begin with.
    """
    rivals, v, w = scratch.rivals, boxes.lower[box], boxes.upper[box]
    n_rivals = find_rivals_by_age(box, rule.everywhere, boxes, scratch.search, rivals)
    for r in range(n_rivals):
        if overlaps(v, w, boxes, rivals[r], PAPER):
            contract(v, w, boxes, rivals[r])
            update_box(rivals[r], boxes)


@step
def _append(label, boxes, search):
    """Make the sample a new box."""
    box = boxes.counters[BOXES]
    copy_row(search.low, boxes.lower[box])
    copy_row(search.high, boxes.upper[box])
    boxes.labels[box] = label
    boxes.counts[box] = 1
    add_box(box, boxes)
    boxes.counters[BOXES] = box + 1
