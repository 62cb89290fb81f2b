"""Merging boxes, and AGGLO-2 (Algorithms 3 and 8), which visits them in turn.

Every sample starts as a box, at the place that is its number. Merged boxes take the earlier of the
two places; the later one is left with a count of 0, out of the search.
"""

from __future__ import annotations

from hyperboxes._kernels.blocks import CANDIDATES, clear_lane, copy_row
from hyperboxes._kernels.geometry import hull
from hyperboxes._kernels.jit import kernel
from hyperboxes._kernels.selection import choose, make_scratch

# Of AGGLO-2's walk: the place to visit next, and whether the pass has merged anything.
PLACE, MERGED = range(2)


@kernel
def merge_in_turn(boxes, walk, rule, measure, overlap, work):
    """AGGLO-2: visit box after box, merging each with the most similar one that may; repeat.

    Returns whether a whole pass has merged nothing, which is the end; or False after `work`
    comparisons of a box in one dimension.
    """
    lower, upper, labels, counts, progress, _ = boxes
    n_boxes, n_features = lower.shape
    scratch = make_scratch(n_boxes, n_features)
    while work > 0:
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
        work -= n_boxes * n_features
    return False


@kernel
def merge(earlier, later, boxes):
    """Let the box at the earlier place absorb the later one."""
    lower, upper, _, counts, _, _ = boxes
    v, w = lower[earlier], upper[earlier]
    hull(v, w, lower[later], upper[later], v, w)
    copy_row(earlier, boxes)
    counts[earlier] += counts[later]
    counts[later] = 0
    clear_lane(later, boxes)
