"""Merging boxes, and AGGLO-2 (Algorithms 3 and 8), which visits them in turn.

Every sample starts as a box, at the place that is its number. Merged boxes take the earlier of the
two places; the later one is left with a count of 0, out of the search.
"""

from __future__ import annotations

from hyperboxes._kernels.geometry import copy_row, hull, larger, smaller
from hyperboxes._kernels.index import (
    has_room,
    joint_label,
    relabel_box,
    remove_box,
    update_box,
)
from hyperboxes._kernels.jit import by_reference, kernel, subroutine
from hyperboxes._kernels.records import ALIVE, CANDIDATES, FEW, WORK
from hyperboxes._kernels.rooms import begin, find_walls, share_walls
from hyperboxes._kernels.selection import choose

# Of AGGLO-2's walk: the place to visit next, and whether the pass has merged anything.
PLACE, MERGED = range(2)


@kernel
def merge_in_turn(boxes, walk, rule, scratch, relabels, work):
    """AGGLO-2: visit box after box, merging each with the most similar one that may; repeat.

    `relabels` says that there are boxes without a label, None that there are none.

    Returns whether a whole pass has merged nothing, which is the end; or False after `work`
    comparisons of a block in one dimension, when there is no room to relabel a box, when so few
    boxes are left that the trees should be built anew, and when rooms should be kept.
    """
    boxes, rule, scratch = by_reference(boxes), by_reference(rule), by_reference(scratch)
    counters, counts, lower, upper = boxes.counters, boxes.counts, boxes.lower, boxes.upper
    n_boxes, n_features = lower.shape
    end = counters[WORK] + larger(work // n_features, 1)
    while counters[WORK] < end and counters[ALIVE] > counters[FEW] and has_room(boxes):
        if not begin(boxes, boxes.index.rooms):
            break
        if walk[PLACE] == n_boxes:
            if not walk[MERGED]:
                return True
            walk[PLACE] = walk[MERGED] = 0
        i = walk[PLACE]
        walk[PLACE] += 1
        if counts[i] == 0:
            continue
        copy_row(lower[i], scratch.search.low)
        copy_row(upper[i], scratch.search.high)
        k, n_tried = choose(boxes.labels[i], i, boxes, rule, scratch)
        counters[CANDIDATES] += n_tried
        if k >= 0:
            merge(smaller(i, k), larger(i, k), boxes, relabels)
            find_walls(smaller(i, k), rule.theta, boxes, boxes.index.bitmaps, scratch)
            walk[MERGED] = True
    return False


@subroutine
def merge(earlier, later, boxes, relabels):
    """Let the box at the earlier place absorb the later one, and take on its label.

    `relabels` is None where all boxes have labels, so that this is not compiled.
    """
    labels, counts = boxes.labels, boxes.counts
    v, w = boxes.lower[earlier], boxes.upper[earlier]
    hull(v, w, boxes.lower[later], boxes.upper[later], v, w)
    if relabels is not None and labels[earlier] != joint_label(labels[earlier], labels[later]):
        relabel_box(earlier, labels[later], boxes)
    update_box(earlier, boxes)
    counts[earlier] += counts[later]
    counts[later] = 0
    boxes.confirmed[earlier] = larger(boxes.confirmed[later], boxes.confirmed[earlier])
    share_walls(earlier, later, boxes.index, boxes.index.rooms)
    remove_box(later, boxes)
