"""Choosing the box that grows or merges: the step that online learning and AGGLO-2 share.

`rule` is `(theta, gamma, floor)`; `floor` is the least membership or similarity of a candidate:
`1 - theta * max(gamma)` under the paper's lemmas, 0 in the original algorithms. Nothing is sorted:
among the boxes that may grow the best is picked, and its place in the sorted order of candidates
counted afterwards.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.blocks import find_by, find_rivals, limit_of
from hyperboxes._kernels.geometry import (
    MEMBERSHIP,
    MID_MAX,
    MID_MIN,
    as_membership,
    fits,
    hull,
    meets,
    overlaps,
    similarity,
)
from hyperboxes._kernels.jit import kernel

# What keeps a box from growing over boxes of other classes: the closed test or the paper's; or
# nothing, if they are parted afterwards.
CLOSED, PAPER, CONTRACT = range(3)


@kernel
def make_scratch(n_boxes, n_features):
    """Return working space: candidates, what is found, and a box."""
    return (
        np.empty(n_boxes, np.int64),
        np.empty(n_boxes),
        np.empty(n_boxes, np.int64),
        np.empty(n_boxes, np.int64),
        np.empty(n_boxes),
        np.ones(n_features),
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
    ids, values, growable, rivals, gaps, ones, v, w = scratch
    holder, n_candidates, n_growable = _list_candidates(
        xl, xu, label, own, boxes, rule, measure, ids, values, growable
    )
    if holder >= 0 or n_growable == 0:
        return holder, n_candidates
    n_rivals = -1
    for g in range(n_growable // 2 - 1, -1, -1):
        _sift_down(values, growable, g, n_growable)
    while n_growable > 0:
        best = growable[0]
        box = ids[best]
        hull(lower[box], upper[box], xl, xu, v, w)
        if overlap == CONTRACT:
            is_free = True
        elif n_rivals < 0:
            is_free = not meets_rival(v, w, label, boxes, overlap, rivals, gaps, ones)
        else:
            is_free = not _blocked(v, w, lower, upper, rivals, n_rivals, overlap)
        if is_free:
            return box, _rank(values, n_candidates, best)
        n_growable -= 1
        growable[0] = growable[n_growable]
        _sift_down(values, growable, 0, n_growable)
        if n_rivals < 0 and n_growable > 0:
            # What meets the interval itself meets every box that is grown to hold it.
            if overlap == CLOSED and meets_rival(xl, xu, label, boxes, overlap, rivals, gaps, ones):
                return -1, n_candidates
            # A grown box [v, w] has v <= xl, w >= xu and sides of at most theta. If it meets a
            # rival, then upper >= v, so xu - upper <= w - v <= theta, rounded or not.
            n_rivals = find_rivals(label, xl, xu, rule[0], -1.0, boxes, ones, rivals, gaps)
    return -1, n_candidates


@kernel
def meets_rival(v, w, label, boxes, overlap, rivals, gaps, ones):
    """Whether [v, w] overlaps any box of another class; the first of `rivals` is one then."""
    lower, upper = boxes[0], boxes[1]
    enough = 0.0 if overlap == CLOSED else -1.0
    n_rivals = find_rivals(label, w, v, 0.0, enough, boxes, ones, rivals, gaps)
    return _blocked(v, w, lower, upper, rivals, n_rivals, overlap)


@kernel
def list_similar(xl, xu, block, boxes, rule, measure, ids, values):
    """List the boxes from a block on whose value is at least the floor, oldest first."""
    lower, upper, _, _, _, blocks = boxes
    _, gamma, floor = rule
    n_found = find_by(measure, block, xl, xu, blocks, gamma, limit_of(floor), ids, values)
    n_similar = 0
    for f in range(n_found):
        if measure in (MID_MAX, MID_MIN):
            value = similarity(xl, xu, lower, upper, ids[f], gamma, measure)
        else:
            value = as_membership(values[f])
        if value >= floor:
            ids[n_similar] = ids[f]
            values[n_similar] = value
            n_similar += 1
    return n_similar


@kernel
def _list_candidates(xl, xu, label, own, boxes, rule, measure, ids, values, growable):
    """List the candidates of a class by age and, as places in that list, which may grow.

    `own` is a box to leave out, -1 for none. Returns the oldest box that holds [xl, xu] already
    (-1 for none, and for similarities), in which case nothing is tried; the number of candidates;
    and of those that may grow.
    """
    lower, upper, _, _, _, blocks = boxes
    first = blocks[5]
    n_similar = list_similar(xl, xu, first[label], boxes, rule, measure, ids, values)
    n_candidates = 0
    n_growable = 0
    for s in range(n_similar):
        box = ids[s]
        if values[s] == 1.0 and measure == MEMBERSHIP:
            return box, 0, 0
        if box != own:
            ids[n_candidates] = box
            values[n_candidates] = values[s]
            if fits(lower, upper, box, xl, xu, rule[0]):
                growable[n_growable] = n_candidates
                n_growable += 1
            n_candidates += 1
    return -1, n_candidates, n_growable


@kernel
def _blocked(v, w, lower, upper, rivals, n_rivals, overlap):
    """Whether [v, w] overlaps a rival, which is then the first of the list."""
    for r in range(n_rivals):
        if collide(v, w, lower, upper, rivals[r], overlap):
            rivals[0], rivals[r] = rivals[r], rivals[0]
            return True
    return False


@kernel
def collide(v, w, lower, upper, box, overlap):
    """Whether [v, w] overlaps a box of another class, by the closed test or the paper's."""
    if overlap == CLOSED:
        return meets(v, w, lower, upper, box)
    return overlaps(v, w, lower, upper, box)


@kernel
def _sift_down(values, heap, g, size):
    """Restore a heap of places below g: the largest value on top, the oldest of equals."""
    place = heap[g]
    while 2 * g + 1 < size:
        child = 2 * g + 1
        if child + 1 < size and _beats(values, heap[child + 1], heap[child]):
            child += 1
        if not _beats(values, heap[child], place):
            break
        heap[g] = heap[child]
        g = child
    heap[g] = place


@kernel
def _beats(values, place, other):
    """Whether the candidate at a place is tried before another."""
    if values[place] == values[other]:
        return place < other
    return values[place] > values[other]


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
