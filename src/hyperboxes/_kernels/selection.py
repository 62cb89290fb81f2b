"""Choosing the box that grows or merges: the step that online learning and AGGLO-2 share.

In the paper's algorithms every box of the class is looked at, and candidates are all boxes down to
the rule's floor, which is `1 - theta * max(gamma)` under its lemmas. With the tree (`best.py`),
candidates are only those that may grow, as far as is known, and would be better than what is found.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.best import find_best
from hyperboxes._kernels.geometry import HELD, fits, holds, similarity
from hyperboxes._kernels.jit import formula, step, subroutine
from hyperboxes._kernels.records import CONTRACT, LONGEST, MEMBERSHIP, NO_LABEL, WORK, Scratch
from hyperboxes._kernels.rivals import FREE, HOPELESS, try_growth
from hyperboxes._kernels.rooms import may_grow
from hyperboxes._kernels.search import (
    facing,
    find,
    limit_of,
    make_search,
    precedes,
    set_reach,
)

# A stamp that is later than any.
EVERY = np.iinfo(np.int64).max

# Instead of a box: there is none.
NONE = -1


def make_scratch(n_boxes: int, n_features: int, n_trees: int) -> Scratch:
    """Return working arrays for learning with room for so many boxes."""
    return Scratch(
        ids=np.empty(n_boxes, np.int64),
        values=np.empty(n_boxes),
        growable=np.empty(n_boxes, np.int64),
        rivals=np.empty(n_boxes, np.int64),
        v=np.empty(n_features),
        w=np.empty(n_features),
        search=make_search(n_features, n_trees),
    )


@subroutine
def choose(label, own, boxes, rule, scratch):
    """Find the best box of a class that may grow to hold the interval (other than the box `own`).

    Returns the box or `NONE`, and how many candidates were tried up to it. By memberships, a box
    that holds the interval already is returned with no candidate tried.
    """
    if rule.everywhere:
        return _choose_of_all(label, own, boxes, rule, scratch)
    if rule.measure == MEMBERSHIP:
        holder = _find_holder(label, boxes, rule, scratch)
        if holder >= 0:
            return holder, 0
    ids, values = scratch.ids[:1], scratch.values
    tries = rule.resolution != CONTRACT  # otherwise the first is as good as any
    n_found, n_tried = find_best(
        label, own, np.inf, -1, boxes.labels, EVERY, tries, boxes, rule, scratch, ids, values
    )
    return ids[0] if n_found > 0 else NONE, n_tried if tries else n_found


@step
def _choose_of_all(label, own, boxes, rule, scratch):
    """Choose from all candidates.

    Nothing is sorted: of those that may grow the best is picked, and its place in the sorted order
    of candidates counted afterwards.
    """
    ids, values, growable = scratch.ids, scratch.values, scratch.growable
    holder, n_candidates, n_growable = _list_candidates(label, own, boxes, rule, scratch)
    if holder != NONE:
        return holder, 0
    for g in range(n_growable // 2 - 1, -1, -1):
        _sift_down(values, ids, growable, g, n_growable)
    n_rivals = 0
    while n_growable > 0 and n_rivals != HOPELESS:
        best = growable[0]
        n_rivals = try_growth(ids[best], own, label, n_rivals, 0, boxes, rule, scratch)
        if n_rivals == FREE:
            return ids[best], _rank(values, ids, n_candidates, best)
        n_growable -= 1
        growable[0] = growable[n_growable]
        _sift_down(values, ids, growable, 0, n_growable)
    return NONE, n_candidates


@subroutine
def list_similar(label, boxes, rule, search, ids, values):
    """List all boxes joinable with a class whose value is at least the floor; return how many."""
    xl, xu, floor = search.low, search.high, rule.floor
    x1, x2 = facing(xl, xu, rule.measure)
    set_reach(x1, x2, limit_of(floor), rule.metric, search.near, search.far)
    n_found = find(label, True, rule.measure == LONGEST, True, boxes, search, ids)
    boxes.counters[WORK] += n_found
    n_similar = 0
    for f in range(n_found):
        value = similarity(xl, xu, boxes, ids[f], rule)
        if value >= floor:
            ids[n_similar] = ids[f]
            values[n_similar] = value
            n_similar += 1
    return n_similar


@step
def _list_candidates(label, own, boxes, rule, scratch):
    """List the candidates of a class and, as places in that list, which may grow.

    Returns the oldest box that holds the interval already (`NONE`, and so for similarities), the
    number of candidates, and of those that may grow.
    """
    ids, values, growable = scratch.ids, scratch.values, scratch.growable
    labels, search = boxes.labels, scratch.search
    n_similar = list_similar(label, boxes, rule, search, ids, values)
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
        fits_and_may = (
            box != own
            and may_grow(box, boxes.index)
            and fits(boxes, box, search.low, search.high, rule.theta)
        )
        if fits_and_may:
            growable[n_growable] = n_candidates
            n_growable += 1
        if box != own:
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
