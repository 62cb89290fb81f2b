"""The best boxes that may grow to hold the interval, or merge with a box.

One walk through the tree of a class, the nearest blocks first. It leaves out blocks whose boxes are
too far away to fit into one with the interval, have no room to grow so far, or come after what has
been found. Where boxes have to be tried, the nearest of a block is tried first.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import copy_row, fits, larger, similarity, smaller
from hyperboxes._kernels.jit import formula, subroutine
from hyperboxes._kernels.lanes import (
    ALL_LANES,
    HIGH,
    LANES,
    LEVEL,
    LOW,
    first_lane,
    nearest_lane,
    within,
)
from hyperboxes._kernels.records import LONGEST, WORK
from hyperboxes._kernels.rivals import FREE, HOPELESS, try_growth
from hyperboxes._kernels.search import (
    facing,
    in_singles,
    limit_of,
    near_lanes_of,
    precedes,
    push_all,
    set_interval,
    set_reach,
    set_window,
    start,
)

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
