"""Merging boxes, and AGGLO-2 (Algorithms 3 and 8), which visits them in turn.

Every sample starts as a box, at the place that is its number. Merged boxes take the earlier of the
two places; the later one is left with a count of 0, out of the search.
"""

from __future__ import annotations

from hyperboxes._kernels.geometry import hull
from hyperboxes._kernels.index import (
    ALIVE,
    CANDIDATES,
    FEW,
    WORK,
    joint_label,
    relabel_box,
    remove_box,
    update_box,
)
from hyperboxes._kernels.jit import kernel, part
from hyperboxes._kernels.selection import choose, make_scratch

# Of AGGLO-2's walk: the place to visit next, and whether the pass has merged anything.
PLACE, MERGED = range(2)


@kernel
def merge_in_turn(boxes, walk, rule, measure, overlap, work):
    """AGGLO-2: visit box after box, merging each with the most similar one that may; repeat.

    Returns whether a whole pass has merged nothing, which is the end; or False after `work`
    comparisons of a block in one dimension, and when so few boxes are left that the trees should
    be built anew.
    """
    lower, upper, labels, counts, progress, _ = boxes
    n_boxes, n_features = lower.shape
    scratch = make_scratch(boxes)
    end = progress[WORK] + max(work // n_features, 1)
    while progress[WORK] < end and progress[ALIVE] > progress[FEW]:
        if walk[PLACE] == n_boxes:
            if not walk[MERGED]:
                return True
            walk[PLACE] = walk[MERGED] = 0
        i = walk[PLACE]
        walk[PLACE] += 1
        if counts[i] == 0:
            continue
        k, n_tried = choose(
            lower[i], upper[i], labels[i], i, boxes, rule, measure, overlap, scratch
        )
        progress[CANDIDATES] += n_tried
        if k >= 0:
            merge(min(i, k), max(i, k), boxes)
            walk[MERGED] = True
    return False


@part
def merge(earlier, later, boxes):
    """Let the box at the earlier place absorb the later one."""
    lower, upper, labels, counts, _, _ = boxes
    v, w = lower[earlier], upper[earlier]
    hull(v, w, lower[later], upper[later], v, w)
    joint = joint_label(labels[earlier], labels[later], boxes)
    if joint == labels[earlier]:
        update_box(earlier, boxes)
    else:
        relabel_box(earlier, joint, boxes)
    counts[earlier] += counts[later]
    counts[later] = 0
    remove_box(later, boxes)
