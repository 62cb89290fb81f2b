"""Merging boxes, and AGGLO-2 (Algorithms 3 and 8), which visits them in turn.

Every sample starts as a box, at the place that is its number. Merged boxes take the earlier of the
two places; the later one is left with a count of 0, out of its class's chain. `previous` is the
chain backwards.
"""

from __future__ import annotations

from hyperboxes._kernels.geometry import hull
from hyperboxes._kernels.jit import kernel
from hyperboxes._kernels.selection import CANDIDATES, choose, make_scratch

# Of AGGLO-2's walk: the place to visit next, and whether the pass has merged anything.
PLACE, MERGED = range(2)


@kernel
def merge_in_turn(boxes, previous, walk, rule, measure, overlap, work):
    """AGGLO-2: visit box after box, merging each with the most similar one that may; repeat.

    Returns whether a whole pass has merged nothing, which is the end; or False after `work`
    comparisons of a box in one dimension.
    """
    lower, upper, labels, counts, _, _, _, progress = boxes
    n_boxes, n_features = lower.shape
    scratch = make_scratch(n_boxes, n_features)
    while work > 0:
        if walk[PLACE] == n_boxes:
            if not walk[MERGED]:
                return True
            walk[:] = 0
        i = walk[PLACE]
        walk[PLACE] += 1
        if counts[i] == 0:
            continue
        k, n_tried = choose(
            lower[i], upper[i], labels[i], i, boxes, rule, measure, overlap, scratch
        )
        progress[CANDIDATES] += n_tried
        if k >= 0:
            merge(min(i, k), max(i, k), boxes, previous)
            walk[MERGED] = True
        work -= n_boxes * n_features
    return False


@kernel
def merge(earlier, later, boxes, previous):
    """Let the box at the earlier place absorb the later one, and take that out of the chain."""
    lower, upper, _, counts, following, _, _, _ = boxes
    v, w = lower[earlier], upper[earlier]
    hull(v, w, lower[later], upper[later], v, w)
    counts[earlier] += counts[later]
    counts[later] = 0
    after = following[later]
    following[previous[later]] = after
    if after >= 0:
        previous[after] = previous[later]
