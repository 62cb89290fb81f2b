"""The box that takes a sample or a box in: the most similar candidate that may grow or merge.

Candidates are boxes of the same class within the size limit. The best of them are found and tried
one after the other, or all are listed first; a candidate is rejected if growing would bring it into
conflict with a box of another class.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.bitmaps import (
    IN,
    MET,
    NOT_IN,
    UNKNOWN,
    WORDS,
    are_on,
    box_at,
    n_chunks,
    narrow,
    rows_outside,
    rows_to_meet,
    rows_walled_off,
    take_class,
)
from hyperboxes._kernels.blocking import may_grow, wall_in
from hyperboxes._kernels.box_index import joint_label
from hyperboxes._kernels.geometry import (
    HELD,
    are_known,
    copy_row,
    fits,
    holds,
    hull,
    larger,
    overlaps,
    similarity,
    smaller,
)
from hyperboxes._kernels.jit import formula, step, subroutine
from hyperboxes._kernels.search import (
    facing,
    find,
    first_rival,
    in_singles,
    limit_of,
    make_search,
    near_lanes_of,
    precedes,
    push_all,
    set_interval,
    set_reach,
    set_window,
    start,
)
from hyperboxes._kernels.simd import (
    ALL_LANES,
    HIGH,
    LANES,
    LEVEL,
    LOW,
    first_lane,
    nearest_lane,
    within,
)
from hyperboxes._kernels.structs import (
    CENTRE,
    CLOSED,
    CONTRACT,
    EVERY,
    KEEP,
    LOCK,
    LONGEST,
    MEMBERSHIP,
    NO_LABEL,
    WORK,
    Scratch,
)

# What an attempt to grow a box says: nothing is in its way; something is in the way of all boxes.
FREE, HOPELESS = -1, -2


@formula
def grows_freely(rule):
    """Whether nothing is in the way of a box, whatever becomes of it afterwards."""
    return rule.resolution == KEEP or rule.resolution >= CONTRACT


@subroutine
def try_growth(box, own, label, n_rivals, bottom, boxes, rule, scratch):
    """Try whether a box may grow to hold the interval, given rivals in the way of others.

    The interval may be that of a box, `own`. Returns `FREE`, or how many rivals are known then, or
    `HOPELESS` if no box may grow. The stack of the search is used from `bottom` on.
    """
    if grows_freely(rule):
        return FREE
    locks = rule.resolution == LOCK
    if locks and boxes.labels[box] == NO_LABEL:
        return FREE
    labels, rivals, search = boxes.labels, scratch.rivals, scratch.search
    v, w, low, high = scratch.v, scratch.w, search.low, search.high
    joint = joint_label(label, labels[box])
    is_labelled = label != NO_LABEL
    if locks:  # it must overlap nothing as it is
        copy_row(boxes.lower[box], v)
        copy_row(boxes.upper[box], w)
    else:
        hull(boxes.lower[box], boxes.upper[box], low, high, v, w)
    rival = -1
    for r in range(n_rivals):
        is_rival = is_labelled or labels[rivals[r]] != joint
        if is_rival and overlaps(v, w, boxes, rivals[r], rule.overlap):
            rival = rivals[r]
            rivals[r] = rivals[0]
            rivals[0] = rival
            break
    if rival < 0:
        rival = first_rival(v, w, joint, boxes, rule, search, bottom)
        if rival < 0:
            return FREE
        # What meets the interval itself meets every box that is grown to hold it.
        is_first = n_rivals == 0 and rule.overlap == CLOSED and is_labelled and are_known(low)
        if (
            is_first
            and not locks
            and first_rival(low, high, label, boxes, rule, search, bottom) >= 0
        ):
            return HOPELESS
        rivals[n_rivals] = rival
        n_rivals += 1
    wall_in(box, own, rival, boxes, boxes.index.rooms)
    return n_rivals


# One walk through the tree of a class, the nearest blocks first. It leaves out blocks whose boxes
# are too far away to fit into one with the interval, have no room to grow so far, or come after
# what has been found. Where boxes have to be tried, the nearest of a block is tried first.

# Which boxes are wanted: all, those that fit into one with the interval, or those of them that may
# grow to hold it.
ALL, FITTING, GROWING = range(3)


@subroutine
def find_best(
    label, own, after_value, after_box, stamps, stamp, wanted, boxes, rule, scratch, ids, values
):
    """List the best of the boxes that are `wanted`, as many as the list takes.

    They can be joined with one of the class `label`, and come by value, then by age; only those
    after a value and box, with a stamp below `stamp`, and other than the box `own`. `ALL` is for
    learners whose boxes have no rooms. Returns how many, and how many were tried.
    """
    counters, search = boxes.counters, scratch.search
    ends, rooms, links = boxes.index.ends, boxes.index.rooms, boxes.index.links
    floor, metric, inside = rule.floor, rule.metric, rule.measure == LONGEST
    theta = rule.theta if wanted != ALL else np.inf
    stack, least, gaps = search.stack, search.least, search.gaps
    near, far = search.window_near, search.window_far
    xl, xu = search.low, search.high
    x1, x2 = facing(xl, xu, rule.measure)
    slack = set_interval(x1, x2, metric, search)
    limit = limit_of(floor)
    bound = in_singles(limit, slack, xl.shape[0], metric)
    set_window(xl, xu, theta, near, far)
    # What fits is rarely farther away than the floor allows: that is the lemma. The reach in each
    # feature says little about a mean.
    is_near = limit < theta and not metric.mean
    if is_near:
        set_reach(x1, x2, limit, metric, search.best_near, search.best_far)
    copy_row(xl, search.x_low)
    copy_row(xu, search.x_high)
    if own >= 0:
        _stay_in_room(own, boxes.index.places, rooms, near, far)
    most = ids.shape[0]
    n_found = n_tried = n_rivals = 0
    top = start(label, True, boxes, search)
    while top > 0:
        top -= 1
        if least[top] > bound:
            continue
        block = stack[top]
        counters[WORK] += 1
        inner = links[block, LEVEL] > 0
        mask = ALL_LANES if wanted == ALL else within(ends, block + inner, True, near, far)
        if mask:
            mask &= _with_room(block, rooms, search)
        if mask and is_near:
            bounds = block + (inner and inside)
            mask &= within(ends, bounds, inside, search.best_near, search.best_far)
        if inner:
            if mask:
                bounds = block + inside
                top = push_all(block, bounds, inside, mask, bound, boxes, metric, search, top)
            continue
        in_order = wanted == GROWING and (mask & (mask - 1)) > 0
        has_gaps = metric.mean or in_order
        if mask and has_gaps:
            mask &= near_lanes_of(block, inside, bound, boxes, metric, search)
        while mask:
            lane = nearest_lane(mask, gaps) if in_order else first_lane(mask)
            box = links[block, lane]
            mask &= ~(1 << lane)
            if box < 0 or box == own or stamps[box] >= stamp or (has_gaps and gaps[lane] > bound):
                continue
            counters[WORK] += 1
            value = similarity(xl, xu, boxes, box, rule)
            if not (
                value >= floor
                and precedes(after_value, after_box, value, box)
                and (n_found < most or precedes(value, box, values[most - 1], ids[most - 1]))
                and (wanted == ALL or fits(boxes, box, xl, xu, rule))
            ):
                continue
            if wanted == GROWING:
                n_tried += 1
                known = try_growth(box, own, label, n_rivals, top, boxes, rule, scratch)
                if known == HOPELESS:
                    return 0, n_tried
                if known != FREE:
                    n_rivals = known
                    continue
            n_found = insert(box, value, n_found, ids, values)
            if n_found == most:
                is_near, floor = not metric.mean, values[most - 1]
                limit = limit_of(floor)
                bound = in_singles(limit, slack, xl.shape[0], metric)
                if is_near:
                    set_reach(x1, x2, limit, metric, search.best_near, search.best_far)
    return n_found, n_tried


@formula
def _with_room(block, rooms, search):
    """Return the lanes of a block with room for the interval, as far as is known."""
    if rooms is None:
        return ALL_LANES
    return within(rooms, block, False, search.x_low, search.x_high)


@formula
def _stay_in_room(box, places, rooms, near, far):
    """Leave out what is beyond the walls of a box."""
    if rooms is None:
        return
    block, lane = places[box] // LANES, places[box] % LANES
    for j in range(near.shape[0]):
        near[j] = smaller(rooms[block, j, HIGH, lane], near[j])
        far[j] = larger(rooms[block, j, LOW, lane], far[j])


@formula
def insert(box, value, n_found, ids, values):
    """Put a box in its place on a list, or none; if there are too many the last falls off."""
    most = ids.shape[0]
    place = n_found
    if n_found == most:
        if precedes(values[most - 1], ids[most - 1], value, box):
            return most
        place = most - 1
    while place > 0 and precedes(value, box, values[place - 1], ids[place - 1]):
        ids[place] = ids[place - 1]
        values[place] = values[place - 1]
        place -= 1
    ids[place] = box
    values[place] = value
    return n_found + 1 if n_found < most else most


# In the paper's algorithms every box of the class is looked at, and candidates are all boxes down
# to the rule's floor, which is `1 - theta * max(gamma)` under its lemmas. With the tree
# (`candidates.py`), candidates are only those that may grow, as far as is known, and would be
# better than what is found.

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
    bitmaps = boxes.index.bitmaps
    if rule.measure == MEMBERSHIP and _are_marked(label, boxes, bitmaps):
        return _choose_marked(label, boxes, bitmaps, rule, scratch)
    if rule.most < EVERY:
        return _choose_of_best(label, own, boxes, rule, scratch)
    if rule.measure == MEMBERSHIP:
        holder = _find_holder(label, boxes, rule, scratch)
        if holder >= 0:
            return holder, 0
    # If nothing is in their way the first that fits is as good as any.
    wanted = FITTING if grows_freely(rule) else GROWING
    ids = scratch.ids[:1]
    n_found, n_tried = find_best(
        label, own, np.inf, -1, boxes.labels, EVERY, wanted, boxes, rule, scratch, ids,
        scratch.values,
    )  # fmt: skip
    return ids[0] if n_found > 0 else NONE, n_tried if wanted == GROWING else n_found


@step
def _choose_of_best(label, own, boxes, rule, scratch):
    """Choose from the best boxes alone, so many of them, whether they fit or not.

    One that holds the interval has a membership of 1, so none does where the best has less.
    """
    ids, values = scratch.ids[: rule.most], scratch.values
    n_found, _ = find_best(
        label, own, np.inf, -1, boxes.labels, EVERY, ALL, boxes, rule, scratch, ids, values
    )
    if rule.measure == MEMBERSHIP and n_found > 0 and values[0] == 1.0:
        holder = _find_holder(label, boxes, rule, scratch)
        if holder >= 0:
            return holder, 0
        # Values are missing. The list is found again, for the other search has used its room.
        n_found, _ = find_best(
            label, own, np.inf, -1, boxes.labels, EVERY, ALL, boxes, rule, scratch, ids, values
        )
    return _choose_of_list(ids, n_found, label, own, boxes, rule, scratch)


@step
def _choose_of_list(ids, n_found, label, own, boxes, rule, scratch):
    """Choose the first of some boxes that may grow."""
    n_rivals = n_tried = 0
    while n_tried < n_found and n_rivals != HOPELESS:
        box = ids[n_tried]
        n_tried += 1
        if fits(boxes, box, scratch.search.low, scratch.search.high, rule):
            known = try_growth(box, own, label, n_rivals, 0, boxes, rule, scratch)
            if known == FREE:
                return box, n_tried
            n_rivals = known
    return NONE, n_tried


@step
def _choose_of_all(label, own, boxes, rule, scratch):
    """Choose from all candidates.

    Nothing is sorted: of those that may grow the best is picked, and its place in the sorted order
    of candidates counted afterwards.
    """
    ids, values = scratch.ids, scratch.values
    holder, n_candidates, n_growable = _list_candidates(label, own, boxes, rule, scratch)
    if holder != NONE:
        return holder, 0
    best, _ = _try_in_order(n_candidates, n_growable, label, own, boxes, rule, scratch)
    if best == NONE:
        return NONE, smaller(n_candidates, rule.most)
    return ids[best], rank(values, ids, n_candidates, best)


@subroutine
def _try_in_order(n_listed, n_growable, label, own, boxes, rule, scratch):
    """Try candidates, the best first; return the place of the one that may grow, and how many.

    Those come first on a list that the rule may have us leave after so many.
    """
    ids, values, growable = scratch.ids, scratch.values, scratch.growable
    for g in range(n_growable // 2 - 1, -1, -1):
        sift_down(values, ids, growable, g, n_growable)
    n_rivals = n_tried = 0
    while n_growable > 0 and n_rivals != HOPELESS:
        best = growable[0]
        if rule.most < n_listed and rank(values, ids, n_listed, best) > rule.most:
            break
        n_tried += 1
        n_rivals = try_growth(ids[best], own, label, n_rivals, 0, boxes, rule, scratch)
        if n_rivals == FREE:
            return best, n_tried
        n_growable -= 1
        growable[0] = growable[n_growable]
        sift_down(values, ids, growable, 0, n_growable)
    return NONE, n_tried


@formula
def _are_marked(label, boxes, bitmaps):
    """Whether bitmaps tell all that is to know about boxes that a sample may be joined with."""
    if bitmaps is None:
        return False
    is_all_known = are_on(bitmaps) and not bitmaps.state[UNKNOWN]
    return is_all_known and label != NO_LABEL and boxes.index.roots[NO_LABEL] < 0


@subroutine
def _choose_marked(label, boxes, bitmaps, rule, scratch):
    """Choose from the boxes that bitmaps leave over: those with room inside the window."""
    if bitmaps is None:
        return NONE, 0
    search = scratch.search
    xl, xu, near, far = search.low, search.high, scratch.v, scratch.w
    ids, values, growable = scratch.ids, scratch.values, scratch.growable
    set_reach(xl, xu, HELD, rule.metric, near, far)
    n_rows = rows_to_meet(far, near, 0, bitmaps)
    for chunk in range(n_chunks(boxes)):
        take_class(chunk, label, bitmaps)
        if narrow(chunk, 0, n_rows, IN, MET, bitmaps):
            for word in range(WORDS):
                lanes = bitmaps.met[word]
                while lanes:
                    box = box_at(chunk, word, lanes)
                    lanes &= lanes - 1
                    if holds(boxes, box, xl, xu, rule.metric):
                        return box, 0
    for j in range(xl.shape[0]):  # walls are in single precision
        near[j], far[j] = np.float32(xl[j]), np.float32(xu[j])
    n_rows = rows_walled_off(near, far, 0, bitmaps)
    set_window(xl, xu, rule.theta, near, far)
    n_rows = rows_outside(near, far, n_rows, bitmaps)
    n_found = 0
    for chunk in range(n_chunks(boxes)):
        take_class(chunk, label, bitmaps)
        if narrow(chunk, 0, n_rows, NOT_IN, MET, bitmaps):
            for word in range(WORDS):
                lanes = bitmaps.met[word]
                while lanes:
                    box = box_at(chunk, word, lanes)
                    lanes &= lanes - 1
                    value = similarity(xl, xu, boxes, box, rule)
                    if value >= rule.floor and fits(boxes, box, xl, xu, rule):
                        ids[n_found] = box
                        values[n_found] = value
                        growable[n_found] = n_found
                        n_found += 1
    boxes.counters[WORK] += n_found
    best, n_tried = _try_in_order(n_found, n_found, label, -1, boxes, rule, scratch)
    return ids[best] if best != NONE else NONE, n_tried


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
        is_full = rule.measure == MEMBERSHIP and values[s] == 1.0
        may_hold = is_full or rule.measure == CENTRE
        if (
            may_hold
            and (holder == NONE or box < holder)
            and (label == NO_LABEL or labels[box] == label)
            and holds(boxes, box, search.low, search.high, rule.metric)
        ):
            holder = box
        fits_and_may = (
            box != own
            and may_grow(box, boxes.index.places, boxes.index.rooms)
            and fits(boxes, box, search.low, search.high, rule)
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
def sift_down(values, ids, heap, g, size):
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


@subroutine
def rank(values, ids, n_candidates, best):
    """Count the candidates tried up to `best`: those that beat it, and itself."""
    rank = 1
    for place in range(n_candidates):
        rank += _beats(values, ids, place, best)
    return rank
