"""Choosing the box that grows or merges: the step that all learners share.

`rule` is `(theta, gamma, floor)`; `floor` is the least membership or similarity of a candidate:
`1 - theta * max(gamma)` under the paper's lemmas, 0 in the original algorithms. Nothing is sorted:
among the boxes that may grow the best is picked, and its place in the sorted order of candidates
counted afterwards.

`boxes` is the tuple `(lower, upper, labels, counts, following, first, last, progress)`. Boxes lie
in order of age; those of a class are chained: `first[c]`, then `following[box]`, to -1. `progress`
holds the number of boxes, of candidates tried and of samples learned.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import (
    MEMBERSHIP,
    fits,
    hull,
    meets,
    overlaps,
    similarity,
    within_reach,
)
from hyperboxes._kernels.jit import formula, kernel

BOXES, CANDIDATES, SAMPLES = range(3)

# What keeps a box from growing over boxes of other classes: the closed test or the paper's; or
# nothing, if they are parted afterwards.
CLOSED, PAPER, CONTRACT = range(3)


@kernel
def make_scratch(n_boxes, n_features):
    """Return working space for `choose`."""
    return (
        np.empty(n_boxes, np.int64),
        np.empty(n_boxes),
        np.empty(n_boxes, np.int64),
        np.empty(n_boxes, np.int64),
        np.empty(n_features),
        np.empty(n_features),
    )


@kernel
def choose(xl, xu, label, own, boxes, rule, measure, overlap, scratch):
    """Find the best box of a class that may grow to hold [xl, xu] (other than the box `own`).

    Returns the box, -1 for none, and how many candidates were tried up to it. By memberships, a
    box that holds the interval already is returned with no candidate tried.
    """
    lower, upper = boxes[0], boxes[1]
    ids, values, growable, rivals, v, w = scratch
    holder, n_candidates, n_growable = _list_candidates(
        xl, xu, label, own, boxes, rule, measure, ids, values, growable
    )
    if holder >= 0 or n_growable == 0:
        return holder, n_candidates
    n_rivals = 0
    if overlap != CONTRACT:
        n_rivals = _list_rivals(xl, xu, label, boxes, rule[0], rivals)
    while n_growable > 0:
        best = _best(values, growable, n_growable)
        box = ids[best]
        hull(lower[box], upper[box], xl, xu, v, w)
        if not _blocked(v, w, lower, upper, rivals, n_rivals, overlap):
            return box, _rank(values, n_candidates, best)
        n_growable = _drop(growable, n_growable, best)
    return -1, n_candidates


@kernel
def _list_candidates(xl, xu, label, own, boxes, rule, measure, ids, values, growable):
    """Walk a class: fill in its candidates by age and, as places in that list, which may grow.

    `own` is a box to leave out, -1 for none. For memberships the walk ends at a box that holds
    [xl, xu] already: nothing is tried then. Returns that box (-1 for none), the number of
    candidates and of those that may grow.
    """
    lower, upper, _, _, following, first, _, _ = boxes
    theta, gamma, floor = rule
    n_candidates = 0
    n_growable = 0
    box = first[label]
    while box >= 0:
        if box != own:
            value = similarity(xl, xu, lower, upper, box, gamma, floor, measure)
            if value == 1.0 and measure == MEMBERSHIP:
                return box, 0, 0
            if value >= floor:
                ids[n_candidates] = box
                values[n_candidates] = value
                if fits(lower, upper, box, xl, xu, theta):
                    growable[n_growable] = n_candidates
                    n_growable += 1
                n_candidates += 1
        box = following[box]
    return -1, n_candidates, n_growable


@kernel
def _list_rivals(xl, xu, label, boxes, theta, rivals):
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
def _blocked(v, w, lower, upper, rivals, n_rivals, overlap):
    """Whether [v, w] overlaps a rival."""
    for r in range(n_rivals):
        if collide(v, w, lower, upper, rivals[r], overlap):
            return True
    return False


@formula
def collide(v, w, lower, upper, box, overlap):
    """Whether [v, w] overlaps a box of another class, by the closed test or the paper's."""
    if overlap == CLOSED:
        return meets(v, w, lower, upper, box)
    return overlaps(v, w, lower, upper, box)


@kernel
def _best(values, growable, n_growable):
    """Return the place with the largest value, the oldest of equals."""
    best = growable[0]
    for g in range(1, n_growable):
        place = growable[g]
        if values[place] > values[best]:
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
def _rank(values, n_candidates, best):
    """Count the candidates tried up to `best`: those of larger value, and as old of equals."""
    rank = 0
    for place in range(n_candidates):
        if values[place] == values[best]:
            rank += place <= best
        else:
            rank += values[place] > values[best]
    return rank
