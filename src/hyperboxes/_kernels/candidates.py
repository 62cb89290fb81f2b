"""Candidate search: the most similar box that may grow to contain a sample, or merge with a box.

Candidates are boxes of the same class within the size limit. The best of them are found and tried
one after the other, or all are listed first; a candidate is rejected if growing would bring it into
conflict with a box of another class.
"""

import numpy as np

from hyperboxes._kernels.bitmaps import (
    IN,
    IN_ALL_ROWS,
    NOT_IN,
    UNKNOWN,
    WORDS,
    are_on,
    box_at,
    intersect,
    load_class,
    n_chunks,
    rows_blocked,
    rows_outside,
    rows_to_meet,
)
from hyperboxes._kernels.blocking import add_blocking_bound, in_use, may_grow
from hyperboxes._kernels.box_index import joint_label
from hyperboxes._kernels.geometry import (
    CONTAINED,
    are_known,
    contains,
    copy_row,
    fits,
    hull,
    larger,
    overlaps,
    similarity,
    smaller,
)
from hyperboxes._kernels.jit import forceinline, inlined, internal
from hyperboxes._kernels.search import (
    compared_ends,
    find,
    first_conflict,
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
    ALLOW,
    CENTRE,
    CLOSED,
    CONTRACT,
    EVERY,
    FREEZE,
    LONGEST,
    MEMBERSHIP,
    NO_LABEL,
    WORK,
    Scratch,
)

# Results of an attempt to grow a box: no box is in conflict; some box is in conflict with all.
NO_CONFLICT, NONE_CAN_GROW = -1, -2


@forceinline
def grows_freely(growth):
    """Whether overlaps do not keep a box from growing, even if they are resolved afterwards."""
    return growth.on_overlap == ALLOW or growth.on_overlap >= CONTRACT


@internal
def find_conflict(box, own, label, n_conflicts, bottom, boxes, growth, scratch):
    """Test whether a box may grow to contain the interval, given conflicts of other candidates.

    The interval may be that of a box, `own`. Returns `NO_CONFLICT`, or how many conflicts are known
    then, or `NONE_CAN_GROW` if no box may grow. The stack of the search is used from `bottom` on.
    """
    if grows_freely(growth):
        return NO_CONFLICT
    locks = growth.on_overlap == FREEZE
    if locks and boxes.labels[box] == NO_LABEL:
        return NO_CONFLICT
    labels, conflicts, search = boxes.labels, scratch.conflicts, scratch.search
    v, w, low, high = scratch.v, scratch.w, search.low, search.high
    joint = joint_label(label, labels[box])
    is_labelled = label != NO_LABEL
    if locks:  # it must overlap nothing as it is
        copy_row(boxes.lower[box], v)
        copy_row(boxes.upper[box], w)
    else:
        hull(boxes.lower[box], boxes.upper[box], low, high, v, w)
    rival = -1
    for r in range(n_conflicts):
        is_rival = is_labelled or labels[conflicts[r]] != joint
        if is_rival and overlaps(v, w, boxes, conflicts[r], growth.overlap):
            rival = conflicts[r]
            conflicts[r] = conflicts[0]
            conflicts[0] = rival
            break
    if rival < 0:
        rival = first_conflict(v, w, joint, boxes, growth, search, bottom)
        if rival < 0:
            return NO_CONFLICT
        # What meets the interval itself meets every box that is grown to hold it.
        is_first = n_conflicts == 0 and growth.overlap == CLOSED and is_labelled and are_known(low)
        if (
            is_first
            and not locks
            and first_conflict(low, high, label, boxes, growth, search, bottom) >= 0
        ):
            return NONE_CAN_GROW
        conflicts[n_conflicts] = rival
        n_conflicts += 1
    add_blocking_bound(box, own, rival, boxes, boxes.index.free_regions)
    return n_conflicts


# One walk through the tree of a class, the nearest blocks first. It leaves out blocks whose boxes
# are too far away to fit into one with the interval, cannot grow so far within their free regions,
# or come after what has been found. Where boxes have to be tried, the nearest of a block is first.

# Which boxes are wanted: all, those that fit into one with the interval, or those of them that may
# grow to hold it.
ALL, FITTING, GROWING = range(3)


@internal
def find_best(
    label, own, after_value, after_box, stamps, stamp, wanted, boxes, growth, scratch, ids, values
):
    """List the best of the boxes that are `wanted`, as many as the list takes.

    They can be joined with one of the class `label`, and come by value, then by age; only those
    after a value and box, with a stamp below `stamp`, and other than the box `own`. `ALL` is for
    algorithms without free regions. Returns how many, and how many were tried.
    """
    counters, search = boxes.counters, scratch.search
    ends, free_regions, links = boxes.index.ends, boxes.index.free_regions, boxes.index.links
    floor, metric, inside = growth.floor, growth.metric, growth.order_by == LONGEST
    theta = growth.theta if wanted != ALL else np.inf
    stack, least, gaps = search.stack, search.least, search.gaps
    near, far = search.window_near, search.window_far
    xl, xu = search.low, search.high
    x1, x2 = compared_ends(xl, xu, growth.order_by)
    slack = set_interval(x1, x2, metric, search)
    limit = limit_of(floor)
    bound = in_singles(limit, slack, xl.shape[0], metric)
    set_window(xl, xu, theta, near, far)
    # What fits is rarely farther away than the floor allows: that is the lemma. The reach in each
    # feature hardly bounds a mean.
    is_near = limit < theta and not metric.mean
    if is_near:
        set_reach(x1, x2, limit, metric, search.best_near, search.best_far)
    copy_row(xl, search.x_low)
    copy_row(xu, search.x_high)
    if own >= 0:
        _limit_to_free_region(own, boxes.index.slots, free_regions, near, far)
    most = ids.shape[0]
    n_found = n_tried = n_conflicts = 0
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
            mask &= _below_free_regions(block, free_regions, search)
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
            value = similarity(xl, xu, boxes, box, growth)
            if not (
                value >= floor
                and precedes(after_value, after_box, value, box)
                and (n_found < most or precedes(value, box, values[most - 1], ids[most - 1]))
                and (wanted == ALL or fits(boxes, box, xl, xu, growth))
            ):
                continue
            if wanted == GROWING:
                n_tried += 1
                known = find_conflict(box, own, label, n_conflicts, top, boxes, growth, scratch)
                if known == NONE_CAN_GROW:
                    return 0, n_tried
                if known != NO_CONFLICT:
                    n_conflicts = known
                    continue
            n_found = insert(box, value, n_found, ids, values)
            if n_found == most:
                is_near, floor = not metric.mean, values[most - 1]
                limit = limit_of(floor)
                bound = in_singles(limit, slack, xl.shape[0], metric)
                if is_near:
                    set_reach(x1, x2, limit, metric, search.best_near, search.best_far)
    return n_found, n_tried


@forceinline
def _below_free_regions(block, free_regions, search):
    """Return the lanes of a block whose free regions contain the interval."""
    if free_regions is None or not in_use(free_regions):
        return ALL_LANES
    return within(free_regions, block, False, search.x_low, search.x_high)


@forceinline
def _limit_to_free_region(box, slots, free_regions, near, far):
    """Shrink the window to the free region of a box."""
    if free_regions is None or not in_use(free_regions):
        return
    block, lane = slots[box] // LANES, slots[box] % LANES
    for j in range(near.shape[0]):
        near[j] = smaller(free_regions[block, j, HIGH, lane], near[j])
        far[j] = larger(free_regions[block, j, LOW, lane], far[j])


@forceinline
def insert(box, value, n_found, ids, values):
    """Put a box in its place on a list, or none; if there are too many the last falls off."""
    most = ids.shape[0]
    position = n_found
    if n_found == most:
        if precedes(values[most - 1], ids[most - 1], value, box):
            return most
        position = most - 1
    while position > 0 and precedes(value, box, values[position - 1], ids[position - 1]):
        ids[position] = ids[position - 1]
        values[position] = values[position - 1]
        position -= 1
    ids[position] = box
    values[position] = value
    return n_found + 1 if n_found < most else most


# In the paper's algorithms every box of the class is looked at, and candidates are all boxes down
# to the rule's floor, which is `1 - theta * max(gamma)` under its lemmas. With the tree
# (`find_best`), candidates are only those that may grow, as far as is known, and that would be
# better than what is found.

# Instead of a box: there is none.
NONE = -1


def make_scratch(n_boxes: int, n_features: int, n_trees: int) -> Scratch:
    """Return working arrays for learning with room for so many boxes."""
    return Scratch(
        ids=np.empty(n_boxes, np.int64),
        values=np.empty(n_boxes),
        growable=np.empty(n_boxes, np.int64),
        conflicts=np.empty(n_boxes, np.int64),
        v=np.empty(n_features),
        w=np.empty(n_features),
        search=make_search(n_features, n_trees),
    )


@internal
def choose(label, own, boxes, growth, scratch):
    """Find the best box of a class that may grow to hold the interval (other than the box `own`).

    Returns the box or `NONE`, and how many candidates were tried up to it. By memberships, a box
    that holds the interval already is returned with no candidate tried.
    """
    if growth.exhaustive:
        return _choose_of_all(label, own, boxes, growth, scratch)
    bitmaps = boxes.index.bitmaps
    if growth.order_by == MEMBERSHIP and _are_marked(label, boxes, bitmaps):
        return _choose_marked(label, boxes, bitmaps, growth, scratch)
    if growth.max_candidates < EVERY:
        return _choose_of_best(label, own, boxes, growth, scratch)
    if growth.order_by == MEMBERSHIP:
        holder = _find_holder(label, boxes, growth, scratch)
        if holder >= 0:
            return holder, 0
    # If nothing is in their way the first that fits is as good as any.
    wanted = FITTING if grows_freely(growth) else GROWING
    ids = scratch.ids[:1]
    n_found, n_tried = find_best(
        label, own, np.inf, -1, boxes.labels, EVERY, wanted, boxes, growth, scratch, ids,
        scratch.values,
    )  # fmt: skip
    return ids[0] if n_found > 0 else NONE, n_tried if wanted == GROWING else n_found


@inlined
def _choose_of_best(label, own, boxes, growth, scratch):
    """Choose from the best boxes alone, so many of them, whether they fit or not.

    One that holds the interval has a membership of 1, so none does where the best has less.
    """
    ids, values = scratch.ids[: growth.max_candidates], scratch.values
    n_found, _ = find_best(
        label, own, np.inf, -1, boxes.labels, EVERY, ALL, boxes, growth, scratch, ids, values
    )
    if growth.order_by == MEMBERSHIP and n_found > 0 and values[0] == 1.0:
        holder = _find_holder(label, boxes, growth, scratch)
        if holder >= 0:
            return holder, 0
        # Values are missing. The list is made again because the other search has overwritten it.
        n_found, _ = find_best(
            label, own, np.inf, -1, boxes.labels, EVERY, ALL, boxes, growth, scratch, ids, values
        )
    return _choose_of_list(ids, n_found, label, own, boxes, growth, scratch)


@inlined
def _choose_of_list(ids, n_found, label, own, boxes, growth, scratch):
    """Choose the first of some boxes that may grow."""
    n_conflicts = n_tried = 0
    while n_tried < n_found and n_conflicts != NONE_CAN_GROW:
        box = ids[n_tried]
        n_tried += 1
        if fits(boxes, box, scratch.search.low, scratch.search.high, growth):
            known = find_conflict(box, own, label, n_conflicts, 0, boxes, growth, scratch)
            if known == NO_CONFLICT:
                return box, n_tried
            n_conflicts = known
    return NONE, n_tried


@inlined
def _choose_of_all(label, own, boxes, growth, scratch):
    """Choose from all candidates.

    Nothing is sorted: of those that may grow the best is picked, and its position in the sorted
    order of candidates counted afterwards.
    """
    ids, values = scratch.ids, scratch.values
    holder, n_candidates, n_growable = _list_candidates(label, own, boxes, growth, scratch)
    if holder != NONE:
        return holder, 0
    best, _ = _try_in_order(n_candidates, n_growable, label, own, boxes, growth, scratch)
    if best == NONE:
        return NONE, smaller(n_candidates, growth.max_candidates)
    return ids[best], rank(values, ids, n_candidates, best)


@internal
def _try_in_order(n_listed, n_growable, label, own, boxes, growth, scratch):
    """Try candidates, the best first; return the position of the one that may grow, and how many.

    Those come first on a list that the rule may have us leave after so many.
    """
    ids, values, growable = scratch.ids, scratch.values, scratch.growable
    for g in range(n_growable // 2 - 1, -1, -1):
        sift_down(values, ids, growable, g, n_growable)
    n_conflicts = n_tried = 0
    while n_growable > 0 and n_conflicts != NONE_CAN_GROW:
        best = growable[0]
        if (
            growth.max_candidates < n_listed
            and rank(values, ids, n_listed, best) > growth.max_candidates
        ):
            break
        n_tried += 1
        n_conflicts = find_conflict(ids[best], own, label, n_conflicts, 0, boxes, growth, scratch)
        if n_conflicts == NO_CONFLICT:
            return best, n_tried
        n_growable -= 1
        growable[0] = growable[n_growable]
        sift_down(values, ids, growable, 0, n_growable)
    return NONE, n_tried


@forceinline
def _are_marked(label, boxes, bitmaps):
    """Whether bitmaps alone can find the boxes that a sample may be joined with."""
    if bitmaps is None:
        return False
    is_all_known = are_on(bitmaps) and not bitmaps.state[UNKNOWN]
    return is_all_known and label != NO_LABEL and boxes.index.roots[NO_LABEL] < 0


@internal
def _choose_marked(label, boxes, bitmaps, growth, scratch):
    """Choose from the boxes that bitmaps leave: those inside the window that are not blocked."""
    if bitmaps is None:
        return NONE, 0
    search = scratch.search
    xl, xu, near, far = search.low, search.high, scratch.v, scratch.w
    ids, values, growable = scratch.ids, scratch.values, scratch.growable
    set_reach(xl, xu, CONTAINED, growth.metric, near, far)
    n_rows = rows_to_meet(far, near, 0, bitmaps)
    for chunk in range(n_chunks(boxes)):
        load_class(chunk, label, bitmaps)
        if intersect(chunk, 0, n_rows, IN, IN_ALL_ROWS, bitmaps):
            for word in range(WORDS):
                lanes = bitmaps.all_rows[word]
                while lanes:
                    box = box_at(chunk, word, lanes)
                    lanes &= lanes - 1
                    if contains(boxes, box, xl, xu, growth.metric):
                        return box, 0
    for j in range(xl.shape[0]):  # blocking bounds are in single precision
        near[j], far[j] = np.float32(xl[j]), np.float32(xu[j])
    n_rows = rows_blocked(near, far, 0, bitmaps)
    set_window(xl, xu, growth.theta, near, far)
    n_rows = rows_outside(near, far, n_rows, bitmaps)
    n_found = 0
    for chunk in range(n_chunks(boxes)):
        load_class(chunk, label, bitmaps)
        if intersect(chunk, 0, n_rows, NOT_IN, IN_ALL_ROWS, bitmaps):
            for word in range(WORDS):
                lanes = bitmaps.all_rows[word]
                while lanes:
                    box = box_at(chunk, word, lanes)
                    lanes &= lanes - 1
                    value = similarity(xl, xu, boxes, box, growth)
                    if value >= growth.floor and fits(boxes, box, xl, xu, growth):
                        ids[n_found] = box
                        values[n_found] = value
                        growable[n_found] = n_found
                        n_found += 1
    boxes.counters[WORK] += n_found
    best, n_tried = _try_in_order(n_found, n_found, label, -1, boxes, growth, scratch)
    return ids[best] if best != NONE else NONE, n_tried


@internal
def list_similar(label, boxes, growth, search, ids, values):
    """List all boxes joinable with a class whose value is at least the floor; return how many."""
    xl, xu, floor = search.low, search.high, growth.floor
    x1, x2 = compared_ends(xl, xu, growth.order_by)
    set_reach(x1, x2, limit_of(floor), growth.metric, search.near, search.far)
    n_found = find(label, True, growth.order_by == LONGEST, True, boxes, search, ids)
    boxes.counters[WORK] += n_found
    n_similar = 0
    for f in range(n_found):
        value = similarity(xl, xu, boxes, ids[f], growth)
        if value >= floor:
            ids[n_similar] = ids[f]
            values[n_similar] = value
            n_similar += 1
    return n_similar


@inlined
def _list_candidates(label, own, boxes, growth, scratch):
    """List the candidates of a class and, as positions in that list, which may grow.

    Returns the oldest box that contains the interval already (`NONE`, and so for similarities), the
    number of candidates, and of those that may grow.
    """
    ids, values, growable = scratch.ids, scratch.values, scratch.growable
    labels, search = boxes.labels, scratch.search
    n_similar = list_similar(label, boxes, growth, search, ids, values)
    holder = NONE
    n_candidates = n_growable = 0
    for s in range(n_similar):
        box = ids[s]
        is_full = growth.order_by == MEMBERSHIP and values[s] == 1.0
        may_hold = is_full or growth.order_by == CENTRE
        if (
            may_hold
            and (holder == NONE or box < holder)
            and (label == NO_LABEL or labels[box] == label)
            and contains(boxes, box, search.low, search.high, growth.metric)
        ):
            holder = box
        fits_and_may = (
            box != own
            and may_grow(box, boxes.index.slots, boxes.index.free_regions)
            and fits(boxes, box, search.low, search.high, growth)
        )
        if fits_and_may:
            growable[n_growable] = n_candidates
            n_growable += 1
        if box != own:
            ids[n_candidates] = box
            values[n_candidates] = values[s]
            n_candidates += 1
    return holder, n_candidates, n_growable


@inlined
def _find_holder(label, boxes, growth, scratch):
    """Return the oldest box of a class, of any for a sample without, that holds the interval."""
    ids, search = scratch.ids, scratch.search
    xl, xu = search.low, search.high
    set_reach(xl, xu, CONTAINED, growth.metric, search.near, search.far)
    holder = NONE
    for f in range(find(label, label == NO_LABEL, False, False, boxes, search, ids)):
        box = ids[f]
        is_older = holder == NONE or box < holder
        if is_older and contains(boxes, box, xl, xu, growth.metric):
            holder = box
    return holder


@internal
def sift_down(values, ids, heap, g, size):
    """Restore a heap of positions below g: the largest value on top, the oldest of equals."""
    position = heap[g]
    while 2 * g + 1 < size:
        child = 2 * g + 1
        if child + 1 < size and _beats(values, ids, heap[child + 1], heap[child]):
            child += 1
        if not _beats(values, ids, heap[child], position):
            break
        heap[g] = heap[child]
        g = child
    heap[g] = position


@forceinline
def _beats(values, ids, position, other):
    """Whether the candidate at a position is tried before another."""
    return precedes(values[position], ids[position], values[other], ids[other])


@internal
def rank(values, ids, n_candidates, best):
    """Count the candidates tried up to `best`: those that beat it, and itself."""
    rank = 1
    for position in range(n_candidates):
        rank += _beats(values, ids, position, best)
    return rank
