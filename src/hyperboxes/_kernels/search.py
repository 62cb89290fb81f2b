"""The one place that finds boxes: inside a window, over or near an interval, the best of a class.

Boxes within reach of an interval are found in the blocks of the index, in single precision and
hence a few too many, empty lanes among them; the rows decide. With `everywhere`, as the paper's
algorithms have it, every leaf of a class is looked at; otherwise the tree leaves out most.

`space` is the tuple `(stack, least, gaps, singles, ones)` of working arrays: blocks to visit and
how near they are at least, the distances of 16 lanes, rows of single precision, a gamma of 1.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import (
    LONGEST,
    MID_MAX,
    ROUNDING,
    SHORTEST,
    collide,
    distance,
    fits,
    larger,
    similarity,
)
from hyperboxes._kernels.index import LEVEL, STACK, WORK, unlabelled
from hyperboxes._kernels.jit import formula, part
from hyperboxes._kernels.lanes import ALL_LANES, LANES, first_lane, gaps_of, up_to, within

# Rows of `singles`: the reach; that of a best candidate; an interval and gamma.
P, Q, BEST_P, BEST_Q, X1, X2, SLOPES = range(7)

# So many classes are searched at once: their trees' first nodes must have room on the stack.
TOGETHER = 4

# Reaches are widened by this part of the numbers they are computed from, for the rounding.
_MARGIN = 2.0**-50

# More than the relative error of distances in single precision, and a number well above those that
# it has no room for.
_SINGLE = 2.0**-20
_TINY = 2.0**-100


@part
def make_space(boxes):
    """Return working arrays for searches."""
    n_features, n_trees = boxes[0].shape[1], boxes[5][3].shape[0]
    return (
        np.empty(STACK + n_trees, np.int64),
        np.empty(STACK + n_trees, np.float32),
        np.empty(LANES, np.float32),
        np.empty((7, n_features), np.float32),
        np.ones(n_features),
    )


@part
def set_reach(x1, x2, limit, gamma, row, space):
    """Let the search find what has `gamma * (near - x1)` and `gamma * (x2 - far)` up to a limit.

    Where the interval is not known (NaN), everything is within reach.
    """
    singles = space[3]
    for j in range(x1.shape[0]):
        length = limit / gamma[j]
        singles[row, j] = x1[j] + length + (abs(x1[j]) + length) * _MARGIN
        singles[row + 1, j] = x2[j] - length - (abs(x2[j]) + length) * _MARGIN


@formula
def facing(xl, xu, measure):
    """Return the two ends of an interval that a measure compares, for `set_reach`."""
    if measure in (SHORTEST, MID_MAX):
        return xu, xl
    return xl, xu


@part
def limit_of(floor):
    """Return a distance beyond which memberships or similarities are below `floor`."""
    return 1.0 - floor + ROUNDING if floor > 0.0 else np.inf


@formula
def next_leaf(boxes, inside, everywhere, space, top):
    """Walk on to the next leaf with boxes within reach; return the stack's top, leaf and lanes.

    With `inside`, boxes within reach have `upper <= p` and `lower >= q` in every dimension;
    otherwise `lower <= p` and `upper >= q`. No lanes are returned at the end.
    """
    progress, (ends, links, _, _) = boxes[4], boxes[5]
    stack, _, _, singles, _ = space
    p, q = singles[P], singles[Q]
    leaf = 0
    mask = 0
    while top > 0 and mask == 0:
        top -= 1
        block = stack[top]
        progress[WORK] += 1
        if links[block, LEVEL] > 0:
            lanes = ALL_LANES if everywhere else within(ends, block + inside, inside, p, q)
            while lanes:
                member = links[block, first_lane(lanes)]
                lanes &= lanes - 1
                if member >= 0:
                    stack[top] = member
                    top += 1
        else:
            leaf = block
            mask = within(ends, block, inside, p, q)
    return top, leaf, mask


@part
def find(label, joinable, inside, everywhere, boxes, space, ids):
    """List the boxes of a class that are within reach; return how many.

    With `joinable`, all boxes that can be joined with one of the class. If the list is too short,
    its length and one is returned.
    """
    links = boxes[5][1]
    most = ids.shape[0]
    n_found = 0
    top = _start(label, joinable, boxes, space)
    while top > 0:
        top, leaf, mask = next_leaf(boxes, inside, everywhere, space, top)
        while mask:
            box = links[leaf, first_lane(mask)]
            mask &= mask - 1
            if box < 0:
                continue
            if n_found == most:
                return most + 1
            ids[n_found] = box
            n_found += 1
    return n_found


@part
def find_rivals(label, everywhere, boxes, space, ids):
    """List the boxes of other classes that are within reach."""
    n_found = 0
    for c in range(unlabelled(boxes)):
        if c != label:
            n_found += find(c, False, False, everywhere, boxes, space, ids[n_found:])
    return n_found


@part
def find_rivals_by_age(box, everywhere, boxes, space, ids):
    """List the boxes of other classes that meet a box, oldest first."""
    lower, upper, labels, _, _, _ = boxes
    set_reach(upper[box], lower[box], 0.0, space[4], P, space)
    n_found = find_rivals(labels[box], everywhere, boxes, space, ids)
    for i in range(1, n_found):
        rival = ids[i]
        place = i
        while place > 0 and ids[place - 1] > rival:
            ids[place] = ids[place - 1]
            place -= 1
        ids[place] = rival
    return n_found


@part
def first_rival(v, w, label, overlap, everywhere, boxes, space):
    """Return a box of another class that overlaps [v, w], or -1."""
    lower, upper, _, _, _, (_, links, _, roots) = boxes
    set_reach(w, v, 0.0, space[4], P, space)
    for c in range(unlabelled(boxes)):
        top = _push_root(roots[c], space, 0) if c != label else 0
        while top > 0:
            top, leaf, mask = next_leaf(boxes, False, everywhere, space, top)
            while mask:
                box = links[leaf, first_lane(mask)]
                mask &= mask - 1
                if box >= 0 and collide(v, w, lower, upper, box, overlap):
                    return box
    return -1


@part
def find_best(xl, xu, label, after, stamps, stamp, boxes, rule, measure, space, ids, values):
    """List the best boxes that fit into one with [xl, xu], as many as the list takes.

    They can be joined with one of the class `label`, and come by value, then by age; only those
    after the value and box of `after`, and with a stamp below `stamp`. Returns how many.
    """
    lower, upper, _, _, progress, (ends, links, _, _) = boxes
    theta, gamma, floor, _ = rule
    stack, least, _, singles, ones = space
    inside = measure == LONGEST
    x1, x2 = facing(xl, xu, measure)
    slack = _set_interval(x1, x2, gamma, space)
    limit = limit_of(floor)
    set_reach(xl, xu, theta, ones, P, space)
    bound = np.float32(limit + limit * _SINGLE + slack)
    set_reach(x1, x2, limit, gamma, BEST_P, space)
    p, q, best_p, best_q = singles[P], singles[Q], singles[BEST_P], singles[BEST_Q]
    most = ids.shape[0]
    n_found = 0
    top = _start(label, True, boxes, space)
    while top > 0:
        top -= 1
        if least[top] > bound:
            continue
        block = stack[top]
        progress[WORK] += 1
        inner = links[block, LEVEL] > 0
        mask = within(ends, block + inner, True, p, q)
        if mask:
            mask &= within(ends, block + (inner and inside), inside, best_p, best_q)
        if inner:
            if mask:
                top = _push_all(block, block + inside, inside, mask, bound, boxes, space, top, top)
            continue
        while mask:
            box = links[block, first_lane(mask)]
            mask &= mask - 1
            if box < 0:
                continue
            progress[WORK] += 1
            value = similarity(xl, xu, lower, upper, box, gamma, measure)
            if (
                value >= floor
                and stamps[box] < stamp
                and precedes(after[0], after[1], value, box)
                and fits(lower, upper, box, xl, xu, theta)
            ):
                n_found = insert(box, value, n_found, ids, values)
                if n_found == most:
                    floor = values[most - 1]
                    limit = limit_of(floor)
                    bound = np.float32(limit + limit * _SINGLE + slack)
                    set_reach(x1, x2, limit, gamma, BEST_P, space)
    return n_found


@formula
def precedes(value, box, other_value, other_box):
    """Whether a box comes before another: by value, then by age."""
    if value == other_value:
        return box < other_box
    return value > other_value


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


@part
def find_nearest(xl, xu, first, stop, limit, boxes, gamma, space, ids, distances):
    """List the boxes of some classes nearest to [xl, xu], and boxes passed on the way to them.

    Returns how many, a limit that no further box is within (which is not more than the one
    given), and how many blocks were looked at. Boxes that may round to the membership of the
    nearest are on the list. The classes, `first` to before `stop`, are `TOGETHER` at most.
    """
    lower, upper, _, _, _, (ends, links, _, roots) = boxes
    stack, least, gaps, singles, _ = space
    slack = _set_interval(xl, xu, gamma, space)
    set_reach(xl, xu, limit, gamma, P, space)
    p, q = singles[P], singles[Q]
    bound = np.float32(limit + limit * _SINGLE + slack)
    n_found = n_blocks = top = 0
    for c in range(first, stop):
        root = roots[c]
        if root >= 0 and links[root, LEVEL] > 0:
            n_blocks += 1
            top = _push_all(root, root, False, ALL_LANES, bound, boxes, space, 0, top)
        elif root >= 0:
            top = _push(root, np.float32(0.0), space, 0, top)
    while top > 0:
        top -= 1
        if least[top] > bound:
            continue
        block = stack[top]
        n_blocks += 1
        if links[block, LEVEL] > 0:
            top = _push_all(block, block, False, ALL_LANES, bound, boxes, space, top, top)
            continue
        mask = within(ends, block, False, p, q)
        if mask:
            gaps_of(ends, block, False, singles[X1], singles[X2], singles[SLOPES], gaps)
        while mask:
            lane = first_lane(mask)
            mask &= mask - 1
            box = links[block, lane]
            if box < 0 or gaps[lane] > bound:
                continue
            gap = distance(lower, upper, box, xl, xu, gamma, limit)
            if gap <= limit:
                ids[n_found] = box
                distances[n_found] = gap
                n_found += 1
                if gap + ROUNDING < limit:
                    limit = gap + ROUNDING
                    bound = np.float32(limit + limit * _SINGLE + slack)
                    set_reach(xl, xu, limit, gamma, P, space)
    return n_found, limit, n_blocks


@part
def _push_all(block, bounds, inside, mask, bound, boxes, space, bottom, top):
    """Put lanes of a node that are within a bound on the stack, the nearest on top.

    `bounds` is the node's block that tells how near they are at least. Returns the top.
    """
    ends, links, _, _ = boxes[5]
    _, _, gaps, singles, _ = space
    gaps_of(ends, bounds, inside, singles[X1], singles[X2], singles[SLOPES], gaps)
    mask &= up_to(gaps, bound)
    while mask:
        lane = first_lane(mask)
        mask &= mask - 1
        if links[block, lane] >= 0:
            top = _push(links[block, lane], gaps[lane], space, bottom, top)
    return top


@formula
def _push(block, gap, space, bottom, top):
    """Put a block on the stack, above those from `bottom` on that are farther away."""
    stack, least, _, _, _ = space
    place = top
    while place > bottom and least[place - 1] < gap:
        stack[place] = stack[place - 1]
        least[place] = least[place - 1]
        place -= 1
    stack[place] = block
    least[place] = gap
    return top + 1


@formula
def _start(label, joinable, boxes, space):
    """Put the root of a class on an empty stack, or those of all joinable boxes; return its top."""
    roots = boxes[5][3]
    if joinable and label == unlabelled(boxes):
        top = 0
        for c in range(roots.shape[0]):
            top = _push_root(roots[c], space, top)
        return top
    top = _push_root(roots[label], space, 0)
    return _push_root(roots[unlabelled(boxes)], space, top) if joinable else top


@formula
def _push_root(root, space, top):
    """Put a root on the stack, if there is one; return its top."""
    space[0][top] = root
    space[1][top] = 0.0
    return top + 1 if root >= 0 else top


@part
def _set_interval(x1, x2, gamma, space):
    """Round an interval and gamma to single precision; return how wrong distances may be.

    That is beside a part of the distance itself, which is as small.
    """
    singles = space[3]
    slack = 0.0
    for j in range(x1.shape[0]):
        singles[X1, j] = x1[j]
        singles[X2, j] = x2[j]
        singles[SLOPES, j] = gamma[j]
        slack = larger(gamma[j] * (larger(abs(x1[j]), abs(x2[j])) + _TINY), slack)
    return slack * _SINGLE
