"""Choosing the box that grows or merges: the step that online learning and AGGLO-2 share.

In the paper's algorithms every box of the class is looked at, and candidates are all boxes down to
the rule's floor, which is `1 - theta * max(gamma)` under its lemmas. With the tree, candidates are
only those that may grow. Mostly they are few and all are listed; where they are many, the best of
them come first.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import (
    HELD,
    are_known,
    fits,
    holds,
    hull,
    overlaps,
    similarity,
    smaller,
)
from hyperboxes._kernels.index import joint_label
from hyperboxes._kernels.jit import formula, step, subroutine
from hyperboxes._kernels.records import (
    CLOSED,
    CONTRACT,
    LONGEST,
    MEMBERSHIP,
    NO_LABEL,
    WIDTH,
    WORK,
    Scratch,
)
from hyperboxes._kernels.search import (
    facing,
    find,
    find_best,
    first_rival,
    limit_of,
    make_search,
    precedes,
    set_reach,
    set_window,
)

# What an attempt to grow a box says: nothing is in its way; something is in the way of all boxes.
FREE, HOPELESS = -1, -2

# Instead of a box: none, for there is none; none yet, for there are too many to list them all.
NONE, TOO_MANY = -1, -2

# The mark of a box that can grow no more.
STUCK = 1


def make_scratch(n_boxes: int, n_features: int, n_trees: int) -> Scratch:
    """Return working arrays for learning with room for so many boxes."""
    return Scratch(
        ids=np.empty(n_boxes, np.int64),
        values=np.empty(n_boxes),
        growable=np.empty(n_boxes, np.int64),
        rivals=np.empty(n_boxes, np.int64),
        v=np.empty(n_features),
        w=np.empty(n_features),
        stuck=np.zeros(n_boxes, np.int64),
        search=make_search(n_features, n_trees),
    )


@subroutine
def choose(label, own, boxes, rule, scratch):
    """Find the best box of a class that may grow to hold the interval (other than the box `own`).

    Returns the box or `NONE`, and how many candidates were tried up to it. By memberships, a box
    that holds the interval already is returned with no candidate tried.
    """
    if not rule.everywhere and rule.measure == MEMBERSHIP:
        holder = _find_holder(label, boxes, rule, scratch)
        if holder >= 0:
            return holder, 0
    n_boxes, width = scratch.ids.shape[0], boxes.counters[WIDTH]
    most = n_boxes if rule.everywhere else smaller(width * width // 4, n_boxes)
    box, n_tried, n_rivals = TOO_MANY, 0, 0
    while box == TOO_MANY:
        box, n_tried = _choose_of_all(most, n_rivals, label, own, boxes, rule, scratch)
        if box == TOO_MANY:
            most = smaller(width // 2, n_boxes)
            box, n_tried, n_rivals = _choose_of_best(most, label, own, boxes, rule, scratch)
            most = n_boxes
    return box, n_tried


@step
def _choose_of_best(most, label, own, boxes, rule, scratch):
    """Choose from a short list of the best boxes that fit.

    Returns the box, `NONE` or, if there are others to try, `TOO_MANY`; how many were tried; and
    how many rivals were found in their way.
    """
    ids, stuck = scratch.ids, scratch.stuck
    search, values = scratch.search, scratch.values
    n_listed = find_best(label, np.inf, -1, stuck, STUCK, boxes, rule, search, ids[:most], values)
    n_tried = n_rivals = 0
    for place in range(n_listed):
        if ids[place] != own:
            n_tried += 1
            n_rivals = _count_rivals(ids[place], n_rivals, label, boxes, rule, scratch)
            if n_rivals == FREE:
                return ids[place], n_tried, 0
            if n_rivals == HOPELESS:
                return NONE, n_tried, 0
    return NONE if n_listed < most else TOO_MANY, n_tried, n_rivals


@step
def _choose_of_all(most, n_rivals, label, own, boxes, rule, scratch):
    """Choose from all candidates, given rivals that were in the way of some.

    Nothing is sorted: of those that may grow the best is picked, and its place in the sorted order
    of candidates counted afterwards. If more than `most` boxes are found, the answer is `TOO_MANY`.
    """
    ids, values, growable = scratch.ids, scratch.values, scratch.growable
    holder, n_candidates, n_growable = _list_candidates(most, label, own, boxes, rule, scratch)
    if holder != NONE:
        return holder, 0
    for g in range(n_growable // 2 - 1, -1, -1):
        _sift_down(values, ids, growable, g, n_growable)
    n_tried = 0
    while n_growable > 0 and n_rivals != HOPELESS:
        n_tried += 1
        best = growable[0]
        n_rivals = _count_rivals(ids[best], n_rivals, label, boxes, rule, scratch)
        if n_rivals == FREE:
            return ids[best], _rank(values, ids, n_candidates, best)
        n_growable -= 1
        growable[0] = growable[n_growable]
        _sift_down(values, ids, growable, 0, n_growable)
    return NONE, n_candidates if rule.everywhere else n_tried


@subroutine
def _count_rivals(box, n_rivals, label, boxes, rule, scratch):
    """Try whether a box may grow to hold the interval, given rivals in the way of others.

    Returns `FREE`, or how many rivals are known then, or `HOPELESS` if no box may grow.
    """
    if rule.resolution == CONTRACT:
        return FREE
    labels, rivals, v, w, search = (
        boxes.labels,
        scratch.rivals,
        scratch.v,
        scratch.w,
        scratch.search,
    )
    joint = joint_label(label, labels[box])
    is_labelled = label != NO_LABEL
    hull(boxes.lower[box], boxes.upper[box], search.low, search.high, v, w)
    for r in range(n_rivals):
        is_rival = is_labelled or labels[rivals[r]] != joint
        if is_rival and overlaps(v, w, boxes, rivals[r], rule.overlap):
            rivals[0], rivals[r] = rivals[r], rivals[0]
            _mark_if_stuck(box, rivals[0], boxes, rule, scratch)
            return n_rivals
    rival = first_rival(v, w, joint, boxes, rule, search)
    if rival < 0:
        return FREE
    # What meets the interval itself meets every box that is grown to hold it.
    is_first = n_rivals == 0 and rule.overlap == CLOSED and is_labelled
    low, high = search.low, search.high
    if is_first and are_known(low) and first_rival(low, high, label, boxes, rule, search) >= 0:
        return HOPELESS
    _mark_if_stuck(box, rival, boxes, rule, scratch)
    rivals[n_rivals] = rival
    return n_rivals + 1


@subroutine
def _mark_if_stuck(box, rival, boxes, rule, scratch):
    """Mark a box that a rival meets already, as a sample that is a box of its own may.

    Where boxes grow only and must not meet, it can grow no more. (Both must be known in all
    features; a box that comes to know one may part from others. A box without a label may yet
    take on that of the rival.)
    """
    lower, upper = boxes.lower, boxes.upper
    if (
        rule.overlap == CLOSED
        and boxes.labels[box] != NO_LABEL
        and overlaps(lower[box], upper[box], boxes, rival, CLOSED)
        and are_known(lower[box])
        and are_known(lower[rival])
    ):
        scratch.stuck[box] = STUCK


@subroutine
def list_similar(label, boxes, rule, search, ids, values):
    """List all boxes joinable with a class whose value is at least the floor; return how many.

    With the tree, only those that may grow to hold the interval, and a few more. If the list is
    too short for what the search finds, its length and one is returned.
    """
    xl, xu, floor = search.low, search.high, rule.floor
    if rule.everywhere:
        x1, x2 = facing(xl, xu, rule.measure)
        set_reach(x1, x2, limit_of(floor), rule.metric, search.near, search.far)
    else:
        set_window(xl, xu, rule.theta, search.near, search.far)
    inside = rule.measure == LONGEST or not rule.everywhere
    n_found = find(label, True, inside, rule.everywhere, boxes, search, ids)
    boxes.counters[WORK] += n_found
    if n_found > ids.shape[0]:
        return n_found
    n_similar = 0
    for f in range(n_found):
        value = similarity(xl, xu, boxes, ids[f], rule)
        if value >= floor:
            ids[n_similar] = ids[f]
            values[n_similar] = value
            n_similar += 1
    return n_similar


@step
def _list_candidates(most, label, own, boxes, rule, scratch):
    """List the candidates of a class and, as places in that list, which may grow.

    Returns the oldest box that holds the interval already (`NONE`, and so for similarities;
    `TOO_MANY` if more than `most` boxes were found), the number of candidates, and of those that
    may grow.
    """
    ids, values, growable, stuck = scratch.ids, scratch.values, scratch.growable, scratch.stuck
    labels, search = boxes.labels, scratch.search
    n_similar = list_similar(label, boxes, rule, search, ids[:most], values)
    if n_similar > most:
        return TOO_MANY, 0, 0
    holder = NONE
    n_candidates = n_growable = 0
    for s in range(n_similar):
        box = ids[s]
        if (
            rule.measure == MEMBERSHIP
            and values[s] == 1.0
            and (holder == NONE or box < holder)
            and (label == NO_LABEL or labels[box] == label)
            and holds(boxes, box, search.low, search.high, rule.metric)
        ):
            holder = box
        may_grow = (
            box != own
            and stuck[box] < STUCK
            and fits(boxes, box, search.low, search.high, rule.theta)
        )
        if may_grow:
            growable[n_growable] = n_candidates
            n_growable += 1
        if may_grow or (box != own and rule.everywhere):
            ids[n_candidates] = box
            values[n_candidates] = values[s]
            n_candidates += 1
    return holder, n_candidates, n_growable


@step
def _find_holder(label, boxes, rule, scratch):
    """Return the oldest box of a class, of any for a sample without, that holds the interval."""
    ids, search = scratch.ids, scratch.search
    xl, xu = search.low, search.high
    set_reach(xl, xu, HELD, rule.metric, search.near, search.far)
    holder = NONE
    for f in range(find(label, label == NO_LABEL, False, False, boxes, search, ids)):
        box = ids[f]
        is_older = holder == NONE or box < holder
        if is_older and holds(boxes, box, xl, xu, rule.metric):
            holder = box
    return holder


@subroutine
def _sift_down(values, ids, heap, g, size):
    """Restore a heap of places below g: the largest value on top, the oldest of equals."""
    place = heap[g]
    while 2 * g + 1 < size:
        child = 2 * g + 1
        if child + 1 < size and _beats(values, ids, heap[child + 1], heap[child]):
            child += 1
        if not _beats(values, ids, heap[child], place):
            break
        heap[g] = heap[child]
        g = child
    heap[g] = place


@formula
def _beats(values, ids, place, other):
    """Whether the candidate at a place is tried before another."""
    return precedes(values[place], ids[place], values[other], ids[other])


@step
def _rank(values, ids, n_candidates, best):
    """Count the candidates tried up to `best`: those that beat it, and itself."""
    rank = 1
    for place in range(n_candidates):
        rank += _beats(values, ids, place, best)
    return rank
