"""Choosing the box that grows or merges: the step that online learning and AGGLO-2 share.

`rule` is `(theta, gamma, floor, everywhere)`; `floor` is the least membership or similarity of a
candidate. In the paper's algorithms every box of the class is looked at, and candidates are all
boxes down to the floor, which is `1 - theta * max(gamma)` under its lemmas. With the tree,
candidates are only those that may grow. Mostly they are few and all are listed; where they are
many, the best of them come first.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import (
    CLOSED,
    CONTRACT,
    HELD,
    LONGEST,
    MEMBERSHIP,
    are_known,
    collide,
    fits,
    holds,
    hull,
    similarity,
)
from hyperboxes._kernels.index import WIDTH, WORK, joint_label, unlabelled
from hyperboxes._kernels.jit import formula, part
from hyperboxes._kernels.search import (
    P,
    facing,
    find,
    find_best,
    first_rival,
    limit_of,
    make_space,
    precedes,
    set_reach,
)

# What an attempt to grow a box says: nothing is in its way; something is in the way of all boxes.
FREE, HOPELESS = -1, -2

# Instead of a box: none, for there is none; none yet, for there are too many to list them all.
NONE, TOO_MANY = -1, -2

# Comes before the best of all boxes.
BEFORE_ALL = (np.inf, -1)

# The mark of a box that can grow no more.
STUCK = 1


@part
def make_scratch(boxes):
    """Return working space.

    It is for candidates and their values, which of them may grow, rivals, a box, the search, and a
    mark for each box that can grow no more, once that is found out.
    """
    n_boxes, n_features = boxes[0].shape
    return (
        np.empty(n_boxes, np.int64),
        np.empty(n_boxes),
        np.empty(n_boxes, np.int64),
        np.empty(n_boxes, np.int64),
        np.empty(n_features),
        np.empty(n_features),
        make_space(boxes),
        np.zeros(n_boxes, np.int64),
    )


@part
def choose(xl, xu, label, own, boxes, rule, measure, overlap, scratch):
    """Find the best box of a class that may grow to hold [xl, xu] (other than the box `own`).

    Returns the box or `NONE`, and how many candidates were tried up to it. By memberships, a box
    that holds the interval already is returned with no candidate tried.
    """
    question = xl, xu, label, own, boxes, rule, measure, overlap, scratch
    n_boxes = scratch[0].shape[0]
    if rule[3]:
        return _choose_of_all(n_boxes, 0, question)
    if measure == MEMBERSHIP:
        holder = _find_holder(xl, xu, label, boxes, rule, scratch)
        if holder >= 0:
            return holder, 0
    width = boxes[4][WIDTH]
    box, n_tried = _choose_of_all(min(width * width // 4, n_boxes), 0, question)
    if box != TOO_MANY:
        return box, n_tried
    box, n_tried, n_rivals = _choose_of_best(min(width // 2, n_boxes), question)
    if box != TOO_MANY:
        return box, n_tried
    return _choose_of_all(n_boxes, n_rivals, question)


@part
def _choose_of_best(most, question):
    """Choose from a short list of the best boxes that fit.

    Returns the box, `NONE` or, if there are others to try, `TOO_MANY`; how many were tried; and
    how many rivals were found in their way.
    """
    xl, xu, label, own, boxes, rule, measure, _, scratch = question
    ids, values, _, _, _, _, space, stuck = scratch
    n_listed = find_best(
        xl, xu, label, BEFORE_ALL, stuck, STUCK, boxes, rule, measure, space, ids[:most], values
    )
    n_tried = n_rivals = 0
    for place in range(n_listed):
        if ids[place] != own:
            n_tried += 1
            n_rivals = _count_rivals(ids[place], n_rivals, question)
            if n_rivals == FREE:
                return ids[place], n_tried, 0
            if n_rivals == HOPELESS:
                return NONE, n_tried, 0
    return NONE if n_listed < most else TOO_MANY, n_tried, n_rivals


@part
def _choose_of_all(most, n_rivals, question):
    """Choose from all candidates, given rivals that were in the way of some.

    Nothing is sorted: of those that may grow the best is picked, and its place in the sorted order
    of candidates counted afterwards. If more than `most` boxes are found, the answer is `TOO_MANY`.
    """
    ids, values, growable = question[8][:3]
    holder, n_candidates, n_growable = _list_candidates(most, question)
    if holder != NONE:
        return holder, 0
    for g in range(n_growable // 2 - 1, -1, -1):
        _sift_down(values, ids, growable, g, n_growable)
    n_tried = 0
    while n_growable > 0 and n_rivals != HOPELESS:
        n_tried += 1
        best = growable[0]
        n_rivals = _count_rivals(ids[best], n_rivals, question)
        if n_rivals == FREE:
            return ids[best], _rank(values, ids, n_candidates, best)
        n_growable -= 1
        growable[0] = growable[n_growable]
        _sift_down(values, ids, growable, 0, n_growable)
    return NONE, n_candidates if question[5][3] else n_tried


@part
def _count_rivals(box, n_rivals, question):
    """Try whether a box may grow to hold [xl, xu], given rivals that were in the way of others.

    Returns `FREE`, or how many rivals are known then, or `HOPELESS` if no box may grow.
    """
    xl, xu, label, _, boxes, rule, _, overlap, scratch = question
    lower, upper, labels = boxes[0], boxes[1], boxes[2]
    joint = joint_label(label, labels[box], boxes)
    is_labelled = label != unlabelled(boxes)
    _, _, _, rivals, v, w, space, _ = scratch
    if overlap == CONTRACT:
        return FREE
    hull(lower[box], upper[box], xl, xu, v, w)
    for r in range(n_rivals):
        is_rival = is_labelled or labels[rivals[r]] != joint
        if is_rival and collide(v, w, lower, upper, rivals[r], overlap):
            rivals[0], rivals[r] = rivals[r], rivals[0]
            _mark_if_stuck(box, rivals[0], question)
            return n_rivals
    rival = first_rival(v, w, joint, overlap, rule[3], boxes, space)
    if rival < 0:
        return FREE
    # What meets the interval itself meets every box that is grown to hold it.
    may_be_hopeless = n_rivals == 0 and overlap == CLOSED and is_labelled and are_known(xl)
    if may_be_hopeless and first_rival(xl, xu, label, overlap, rule[3], boxes, space) >= 0:
        return HOPELESS
    _mark_if_stuck(box, rival, question)
    rivals[n_rivals] = rival
    return n_rivals + 1


@part
def _mark_if_stuck(box, rival, question):
    """Mark a box that a rival meets already, as a sample that is a box of its own may.

    Where boxes grow only and must not meet, it can grow no more. (Both must be known in all
    features; a box that comes to know one may part from others. A box without a label may yet
    take on that of the rival.)
    """
    _, _, _, _, boxes, _, _, overlap, scratch = question
    lower, upper, labels = boxes[0], boxes[1], boxes[2]
    if (
        overlap == CLOSED
        and labels[box] != unlabelled(boxes)
        and collide(lower[box], upper[box], lower, upper, rival, overlap)
        and are_known(lower[box])
        and are_known(lower[rival])
    ):
        scratch[7][box] = STUCK


@part
def list_similar(xl, xu, label, boxes, rule, measure, space, ids, values):
    """List all boxes joinable with a class whose value is at least the floor; return how many.

    With the tree, only those that may grow to hold [xl, xu], and a few more. If the list is too
    short for what the search finds, its length and one is returned.
    """
    lower, upper, _, _, progress, _ = boxes
    theta, gamma, floor, everywhere = rule
    if everywhere:
        x1, x2 = facing(xl, xu, measure)
        set_reach(x1, x2, limit_of(floor), gamma, P, space)
    else:
        set_reach(xl, xu, theta, space[4], P, space)
    inside = measure == LONGEST or not everywhere
    n_found = find(label, True, inside, everywhere, boxes, space, ids)
    progress[WORK] += n_found
    if n_found > ids.shape[0]:
        return n_found
    n_similar = 0
    for f in range(n_found):
        value = similarity(xl, xu, lower, upper, ids[f], gamma, measure)
        if value >= floor:
            ids[n_similar] = ids[f]
            values[n_similar] = value
            n_similar += 1
    return n_similar


@part
def _list_candidates(most, question):
    """List the candidates of a class and, as places in that list, which may grow.

    Returns the oldest box that holds [xl, xu] already (`NONE`, and so for similarities; `TOO_MANY`
    if more than `most` boxes were found), the number of candidates, and of those that may grow.
    """
    xl, xu, label, own, boxes, rule, measure, _, scratch = question
    lower, upper, labels = boxes[0], boxes[1], boxes[2]
    is_unlabelled = label == unlabelled(boxes)
    ids, values, growable, _, _, _, space, stuck = scratch
    n_similar = list_similar(xl, xu, label, boxes, rule, measure, space, ids[:most], values)
    if n_similar > most:
        return TOO_MANY, 0, 0
    holder = NONE
    n_candidates = n_growable = 0
    for s in range(n_similar):
        box = ids[s]
        if (
            measure == MEMBERSHIP
            and values[s] == 1.0
            and (holder == NONE or box < holder)
            and (is_unlabelled or labels[box] == label)
            and holds(lower, upper, box, xl, xu, rule[1])
        ):
            holder = box
        may_grow = box != own and stuck[box] < STUCK and fits(lower, upper, box, xl, xu, rule[0])
        if may_grow:
            growable[n_growable] = n_candidates
            n_growable += 1
        if may_grow or (box != own and rule[3]):
            ids[n_candidates] = box
            values[n_candidates] = values[s]
            n_candidates += 1
    return holder, n_candidates, n_growable


@part
def _find_holder(xl, xu, label, boxes, rule, scratch):
    """Return the oldest box of a class, of any for a sample without, that holds [xl, xu], or -1."""
    lower, upper = boxes[0], boxes[1]
    is_unlabelled = label == unlabelled(boxes)
    gamma = rule[1]
    ids, space = scratch[0], scratch[6]
    set_reach(xl, xu, HELD, gamma, P, space)
    holder = -1
    for f in range(find(label, is_unlabelled, False, False, boxes, space, ids)):
        box = ids[f]
        is_older = holder < 0 or box < holder
        if is_older and holds(lower, upper, box, xl, xu, gamma):
            holder = box
    return holder


@part
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


@part
def _rank(values, ids, n_candidates, best):
    """Count the candidates tried up to `best`: those that beat it, and itself."""
    rank = 1
    for place in range(n_candidates):
        rank += _beats(values, ids, place, best)
    return rank
