"""The online learners: Onln-GFMM (Algorithms 1 and 5) and IOL-GFMM (4 and 6), one loop each.

`floor` is the least membership of a candidate: `1 - theta * max(gamma)` under the paper's lemma,
minus infinity in the original algorithms. Neither loop sorts: among the boxes that can grow the
best is picked, and its place in the sorted order of the candidates is counted afterwards.

`boxes` is the tuple `(lower, upper, labels, counts, following, first, last, progress)`. Boxes lie
in order of age; those of a class are chained: `first[c]`, then `following[box]`, to -1. `progress`
holds the number of boxes, of candidates tried and of samples learned; it is written after each
sample, so that the arrays are consistent whenever a kernel returns. A kernel returns when its
samples are learned, when there is no room for another box, or when it has done `work` comparisons
of a box in one dimension.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import (
    MEMBERSHIP_ROUNDING,
    contract,
    distance,
    fits,
    meets,
    overlaps,
    within_reach,
)
from hyperboxes._kernels.jit import kernel

BOXES, CANDIDATES, SAMPLES = 0, 1, 2


@kernel
def learn_online(xl, xu, y, boxes, theta, gamma, floor, work):
    """Onln-GFMM: the best box that may grow does, then it is parted from other classes' boxes."""
    lower, upper, labels, _, _, _, _, progress = boxes
    capacity = labels.shape[0]
    ids = np.empty(capacity, np.int64)
    memberships = np.empty(capacity)
    growable = np.empty(capacity, np.int64)
    while progress[SAMPLES] < y.shape[0] and progress[BOXES] < capacity and work > 0:
        i = progress[SAMPLES]
        n_boxes = progress[BOXES]
        holder, n_candidates, n_growable = _candidates(
            xl[i], xu[i], y[i], boxes, theta, gamma, floor, ids, memberships, growable
        )
        if holder < 0 and n_growable > 0:
            best = _best(memberships, growable, n_growable)
            n_candidates = _rank(memberships, n_candidates, best)
            holder = ids[best]
            v, w = lower[holder], upper[holder]
            _hull(v, w, xl[i], xu[i], v, w)
            for k in range(n_boxes):
                if labels[k] != y[i] and overlaps(v, w, lower, upper, k):
                    contract(v, w, lower, upper, k)
        _settle(xl[i], xu[i], y[i], holder, n_candidates, boxes)
        work -= (n_boxes + 1) * xl.shape[1]


@kernel
def learn_improved(xl, xu, y, boxes, theta, gamma, floor, closed, work):
    """IOL-GFMM: the best box grows that may and then overlaps no box of another class."""
    lower, upper, labels, _, _, _, _, progress = boxes
    capacity = labels.shape[0]
    ids = np.empty(capacity, np.int64)
    memberships = np.empty(capacity)
    growable = np.empty(capacity, np.int64)
    rivals = np.empty(capacity, np.int64)
    v = np.empty(xl.shape[1])
    w = np.empty(xl.shape[1])
    while progress[SAMPLES] < y.shape[0] and progress[BOXES] < capacity and work > 0:
        i = progress[SAMPLES]
        holder, n_candidates, n_growable = _candidates(
            xl[i], xu[i], y[i], boxes, theta, gamma, floor, ids, memberships, growable
        )
        n_rivals = 0
        if holder < 0 and n_growable > 0:
            n_rivals = _rivals(xl[i], xu[i], y[i], boxes, theta, rivals)
        work -= (progress[BOXES] + n_growable * n_rivals + 1) * xl.shape[1]
        while holder < 0 and n_growable > 0:
            best = _best(memberships, growable, n_growable)
            box = ids[best]
            _hull(lower[box], upper[box], xl[i], xu[i], v, w)
            if _blocked(v, w, lower, upper, rivals, n_rivals, closed):
                n_growable = _drop(growable, n_growable, best)
            else:
                lower[box] = v
                upper[box] = w
                holder = box
                n_candidates = _rank(memberships, n_candidates, best)
        _settle(xl[i], xu[i], y[i], holder, n_candidates, boxes)


@kernel
def _candidates(xl, xu, label, boxes, theta, gamma, floor, ids, memberships, growable):
    """Walk a class: fill in its candidates by age and, as places in that list, which may grow.

    Returns the box that holds the sample already (-1 for none), the number of candidates and of
    those that may grow. A holder ends the walk: nothing is tried then.
    """
    lower, upper, _, _, following, first, _, _ = boxes
    limit = 1.0 - floor + MEMBERSHIP_ROUNDING
    n_candidates = 0
    n_growable = 0
    box = first[label]
    while box >= 0:
        membership = 1.0 - min(distance(lower, upper, box, xl, xu, gamma, limit), 1.0)
        if membership == 1.0:
            return box, 0, 0
        if membership >= floor:
            ids[n_candidates] = box
            memberships[n_candidates] = membership
            if fits(lower, upper, box, xl, xu, theta):
                growable[n_growable] = n_candidates
                n_growable += 1
            n_candidates += 1
        box = following[box]
    return -1, n_candidates, n_growable


@kernel
def _rivals(xl, xu, label, boxes, theta, rivals):
    """List the boxes of other classes that some grown box could touch; return how many."""
    lower, upper, _, _, following, first, _, _ = boxes
    n_rivals = 0
    for c in range(first.shape[0]):
        box = first[c] if c != label else -1
        while box >= 0:
            if within_reach(lower, upper, box, xl, xu, theta):
                rivals[n_rivals] = box
                n_rivals += 1
            box = following[box]
    return n_rivals


@kernel
def _blocked(v, w, lower, upper, rivals, n_rivals, closed):
    """Whether [v, w] overlaps a rival, in the sense of "closed" or of "paper"."""
    for r in range(n_rivals):
        if closed:
            if meets(v, w, lower, upper, rivals[r]):
                return True
        elif overlaps(v, w, lower, upper, rivals[r]):
            return True
    return False


@kernel
def _best(memberships, growable, n_growable):
    """Return the place with the largest membership, the oldest of equals."""
    best = growable[0]
    for g in range(1, n_growable):
        place = growable[g]
        if memberships[place] > memberships[best]:
            best = place
    return best


@kernel
def _drop(growable, n_growable, place):
    """Remove `place` from the ascending list `growable`; return the new length."""
    kept = 0
    for g in range(n_growable):
        if growable[g] != place:
            growable[kept] = growable[g]
            kept += 1
    return kept


@kernel
def _rank(memberships, n_candidates, best):
    """Count the candidates tried up to `best`: larger memberships, and equal ones as old."""
    rank = 0
    for place in range(n_candidates):
        if memberships[place] == memberships[best]:
            rank += place <= best
        else:
            rank += memberships[place] > memberships[best]
    return rank


@kernel
def _hull(v1, w1, v2, w2, v, w):
    """Write the smallest box that holds two boxes into [v, w], which may be the first."""
    for j in range(v.shape[0]):
        v[j] = min(v1[j], v2[j])
        w[j] = max(w1[j], w2[j])


@kernel
def _settle(xl, xu, label, holder, n_candidates, boxes):
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
    progress[CANDIDATES] += n_candidates
    progress[SAMPLES] += 1
