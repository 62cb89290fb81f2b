"""Queries of the box index: boxes inside a window, over or near an interval, conflicting boxes.

Boxes within reach of an interval are found in the blocks of the index, in single precision and
hence a few too many, empty lanes among them; the rows decide. With `exhaustive`, as the paper's
algorithms have it, every leaf of a class is looked at; otherwise the tree leaves out most.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.bitmaps import are_on, first_in_all_rows, record_tree_cost
from hyperboxes._kernels.box_index import STACK, n_classes
from hyperboxes._kernels.geometry import (
    CONTAINED,
    ROUNDING,
    contains,
    distance,
    larger,
    overlaps,
    smaller,
)
from hyperboxes._kernels.jit import forceinline, inlined, internal
from hyperboxes._kernels.simd import (
    ALL_LANES,
    LANES,
    LEVEL,
    first_lane,
    keep_smallest,
    near_lanes,
    nearest_lane,
    taken_lanes,
    within,
)
from hyperboxes._kernels.structs import CLOSED, MID_MAX, NO_LABEL, SHORTEST, WORK, Search

# So many classes are searched at once: their trees' first nodes must have room on the stack.
TREES_PER_SEARCH = 4

# Reaches are widened by this part of the numbers they are computed from, for the rounding.
_MARGIN = 2.0**-50

# More than the relative error of a gap in single precision and of each addition, and a number well
# above those that it has no room for.
SINGLE = 2.0**-20
ADDITION = 2.0**-23
_TINY = 2.0**-100

# Single precision has room for numbers up to about the one, and keeps the digits of those from the
# other on.
_LARGEST, _SMALLEST = 2.0**127, 2.0**-126


def make_search(n_features: int, n_trees: int) -> Search:
    """Return working arrays for searches."""
    size = 2 * (STACK + n_trees)  # a search may search for conflicts on its way
    stack, least = np.empty(size, np.int64), np.empty(size, np.float32)
    lanes = *np.empty((2, LANES), np.float32), np.empty(LANES)
    singles = np.empty((11, n_features), np.float32)  # all but the interval itself
    return Search._make((*np.empty((2, n_features)), stack, least, *lanes, *singles))


@forceinline
def set_window(x1, x2, length, near, far):
    """Let the search find what has `near - x1` and `x2 - far` up to a length.

    Where the interval is not known (NaN), everything is within reach.
    """
    for j in range(x1.shape[0]):
        near[j] = x1[j] + length + (abs(x1[j]) + length) * _MARGIN
        far[j] = x2[j] - length - (abs(x2[j]) + length) * _MARGIN


@internal
def set_reach(x1, x2, limit, metric, near, far):
    """Let the search find what is no farther than a limit in each feature.

    That has `gamma * (near - x1)` and `gamma * (x2 - far)` up to the limit. A mean gap is within
    its limit only if no gap alone exceeds their sum; a sum of 1 allows for any gap.
    """
    gamma = metric.gamma
    if metric.mean:
        limit *= x1.shape[0]
        if limit >= 1.0:
            limit = np.inf
    for j in range(x1.shape[0]):
        length = limit / gamma[j]
        near[j] = x1[j] + length + (abs(x1[j]) + length) * _MARGIN
        far[j] = x2[j] - length - (abs(x2[j]) + length) * _MARGIN


@forceinline
def compared_ends(xl, xu, measure):
    """Return the two ends of an interval that a measure compares, for `set_reach`."""
    if measure in (SHORTEST, MID_MAX):
        return xu, xl
    return xl, xu


@forceinline
def limit_of(floor):
    """Return a distance beyond which memberships or similarities are below `floor`."""
    return 1.0 - floor + ROUNDING if floor > 0.0 else np.inf


@forceinline
def next_leaf(boxes, inside, exhaustive, search, bottom, top):
    """Walk on to the next leaf with boxes within reach; return the stack's top, leaf and lanes.

    The stack is used from `bottom` on.

    With `inside`, boxes within reach have `upper <= near` and `lower >= far` in every dimension;
    otherwise `lower <= near` and `upper >= far`. No lanes are returned at the end.
    """
    counters, ends, links = boxes.counters, boxes.index.ends, boxes.index.links
    stack, near, far = search.stack, search.near, search.far
    leaf = 0
    mask = 0
    while top > bottom and mask == 0:
        top -= 1
        block = stack[top]
        counters[WORK] += 1
        if links[block, LEVEL] > 0:
            lanes = ALL_LANES if exhaustive else within(ends, block + inside, inside, near, far)
            while lanes:
                member = links[block, first_lane(lanes)]
                lanes &= lanes - 1
                if member >= 0:
                    stack[top] = member
                    top += 1
        else:
            leaf = block
            mask = within(ends, block, inside, near, far)
    return top, leaf, mask


@internal
def find(label, joinable, inside, exhaustive, boxes, search, ids):
    """List the boxes of a class that are within reach; return how many.

    With `joinable`, all boxes that can be joined with one of the class.
    """
    links = boxes.index.links
    n_found = 0
    top = start(label, joinable, boxes, search)
    while top > 0:
        top, leaf, mask = next_leaf(boxes, inside, exhaustive, search, 0, top)
        while mask:
            box = links[leaf, first_lane(mask)]
            mask &= mask - 1
            if box >= 0:
                ids[n_found] = box
                n_found += 1
    return n_found


@internal
def is_contained(label, boxes, metric, search):
    """Whether a box of a class holds the interval."""
    links, xl, xu = boxes.index.links, search.low, search.high
    set_reach(xl, xu, CONTAINED, metric, search.near, search.far)
    top = start(label, False, boxes, search)
    while top > 0:
        top, leaf, mask = next_leaf(boxes, False, False, search, 0, top)
        while mask:
            box = links[leaf, first_lane(mask)]
            mask &= mask - 1
            if box >= 0 and contains(boxes, box, xl, xu, metric):
                return True
    return False


@internal
def find_conflicts(label, exhaustive, boxes, search, ids):
    """List the boxes of other classes that are within reach."""
    n_found = 0
    for c in range(n_classes(boxes)):
        if c != label:
            n_found += find(c, False, False, exhaustive, boxes, search, ids[n_found:])
    return n_found


@internal
def find_conflicts_by_age(v, w, label, exhaustive, boxes, search, ids):
    """List the boxes of other classes that meet [v, w], and perhaps others, oldest first.

    Without classes, all boxes count.
    """
    set_window(w, v, 0.0, search.near, search.far)
    if n_classes(boxes) > 0:
        n_found = find_conflicts(label, exhaustive, boxes, search, ids)
    else:
        n_found = find(NO_LABEL, False, False, exhaustive, boxes, search, ids)
    for i in range(1, n_found):
        rival = ids[i]
        position = i
        while position > 0 and ids[position - 1] > rival:
            ids[position] = ids[position - 1]
            position -= 1
        ids[position] = rival
    return n_found


@internal
def first_conflict(v, w, label, boxes, growth, search, bottom):
    """Return a box of another class that overlaps [v, w], or -1; use the stack from `bottom` on."""
    bitmaps = boxes.index.bitmaps
    may_use_bitmaps = growth.overlap == CLOSED and not growth.exhaustive
    if may_use_bitmaps and are_on(bitmaps):
        return first_in_all_rows(v, w, label, boxes, bitmaps)
    work = boxes.counters[WORK]
    rival = _first_conflict(v, w, label, boxes, growth, search, bottom)
    if may_use_bitmaps:
        record_tree_cost(boxes.counters[WORK] - work, boxes, bitmaps)
    return rival


@inlined
def _first_conflict(v, w, label, boxes, growth, search, bottom):
    """Search the trees."""
    links, roots = boxes.index.links, boxes.index.roots
    set_window(w, v, 0.0, search.near, search.far)
    for c in range(n_classes(boxes)):
        top = _push_root(roots[c], search, bottom) if c != label else bottom
        while top > bottom:
            top, leaf, mask = next_leaf(boxes, False, growth.exhaustive, search, bottom, top)
            while mask:
                box = links[leaf, first_lane(mask)]
                mask &= mask - 1
                if box >= 0 and overlaps(v, w, boxes, box, growth.overlap):
                    return box
    return -1


@forceinline
def precedes(value, box, other_value, other_box):
    """Whether a box comes before another: by value, then by age."""
    if value == other_value:
        return box < other_box
    return value > other_value


@internal
def find_nearest(first, stop, reach, boxes, metric, search, ids, distances, nearest, is_rough):
    """List the boxes of some classes nearest to the interval, and the distances of the nearest.

    `nearest` receives as many distances as it has room for, 16 at most, in order, and infinity if
    fewer boxes are within `reach`. Boxes that are as near are listed, and those that may round to
    the membership of one. Returns how many, and how many blocks were looked at. The classes,
    `first` to before `stop`, are `TREES_PER_SEARCH` at most. If `is_rough`, none is listed, and
    distances are those in single precision.
    """
    stack, least, gaps, links = search.stack, search.least, search.gaps, boxes.index.links
    n_features, last = search.low.shape[0], nearest.shape[0] - 1
    smallest, in_order = search.smallest, search.in_order
    slack = set_interval(search.low, search.high, metric, search)
    n_found = n_blocks = 0
    for is_bounded in (True, False):
        for lane in range(LANES):
            smallest[lane] = np.inf
        limit, n_listed, top = reach, 0, 0
        bound = in_singles(limit, slack, n_features, metric)
        for c in range(first, stop):
            top = _push_root(boxes.index.roots[c], search, top)
        while top > 0:
            top -= 1
            if least[top] > bound:
                continue
            block = stack[top]
            n_blocks += 1
            if links[block, LEVEL] > 0:
                top = push_all(block, block, False, ALL_LANES, bound, boxes, metric, search, top)
                continue
            mask = near_lanes_of(block, False, bound, boxes, metric, search)
            mask &= taken_lanes(links, block)
            if mask and is_bounded:
                keep_smallest(smallest, gaps, 0, mask)
                # So far are they at most; the rows are compared later.
                farthest = in_singles(smallest[last], slack, n_features, metric)
                limit = smaller(farthest + ROUNDING, limit)
                bound = in_singles(limit, slack, n_features, metric)
            while mask and not is_rough:
                lane = first_lane(mask)
                mask &= mask - 1
                ids[n_listed] = links[block, lane]
                distances[n_listed] = gaps[lane]
                n_listed += 1
        if is_rough:
            for n in range(nearest.shape[0]):
                nearest[n] = smallest[n]
            break
        n_found = _compare_rows(n_listed, bound, boxes, metric, search, ids, distances)
        for lane in range(LANES):
            in_order[lane] = np.inf
        for f in range(0, n_found, LANES):
            mask = ALL_LANES if f + LANES <= n_found else (1 << (n_found - f)) - 1
            keep_smallest(in_order, distances, f, mask)
        for n in range(nearest.shape[0]):
            nearest[n] = in_order[n]
        # Distances beyond the reach of single precision may be larger than they seemed.
        if nearest[last] <= limit or limit == reach:
            break
    return n_found, n_blocks


@inlined
def _compare_rows(n_listed, bound, boxes, metric, search, ids, distances):
    """Keep the boxes of a list that are within a bound, with the distances of their rows."""
    n_found = 0
    for f in range(n_listed):
        ids[n_found] = ids[f]
        n_found += distances[f] <= bound
    for f in range(n_found):
        distances[f] = distance(
            boxes.lower, boxes.upper, ids[f], search.low, search.high, metric, np.inf
        )
    return n_found


@forceinline
def near_lanes_of(block, inside, bound, boxes, metric, search):
    """Return the lanes of a block that are within a bound, and write how far into `gaps`."""
    x1, x2, slopes, gaps = search.x1, search.x2, search.slopes, search.gaps
    return near_lanes(boxes.index.ends, block, inside, x1, x2, slopes, metric.mean, bound, gaps)


@internal
def push_all(block, bounds, inside, mask, bound, boxes, metric, search, top):
    """Put lanes of a node that are within a bound on the stack, the nearest on top.

    `bounds` is the node's block that bounds how near they are at least. Returns the top. All lanes
    are written, for that takes less time than to guess which of them will be: the next one takes
    the position of one that is not to be there.
    """
    links, gaps, stack, least = boxes.index.links, search.gaps, search.stack, search.least
    mask &= near_lanes_of(bounds, inside, bound, boxes, metric, search) & taken_lanes(links, block)
    if mask == 0:
        return top
    nearest = nearest_lane(mask, gaps)
    mask &= ~(1 << nearest)
    for lane in range(LANES):
        stack[top] = links[block, lane]
        least[top] = gaps[lane]
        top += mask >> lane & 1
    stack[top] = links[block, nearest]
    least[top] = gaps[nearest]
    return top + 1


@forceinline
def start(label, joinable, boxes, search):
    """Put the root of a class on an empty stack, or those of all joinable boxes; return its top."""
    roots = boxes.index.roots
    if joinable and label == NO_LABEL:
        top = 0
        for c in range(roots.shape[0]):
            top = _push_root(roots[c], search, top)
        return top
    top = _push_root(roots[label], search, 0)
    return _push_root(roots[NO_LABEL], search, top) if joinable else top


@forceinline
def _push_root(root, search, top):
    """Put a root on the stack, if there is one; return its top."""
    search.stack[top] = root
    search.least[top] = 0.0
    return top + 1 if root >= 0 else top


@forceinline
def in_singles(limit, slack, n_features, metric):
    """Return what distances up to a limit are not beyond in single precision."""
    error = SINGLE + n_features * ADDITION if metric.mean else SINGLE
    return np.float32(limit + limit * error + slack)


@internal
def set_interval(x1, x2, metric, search):
    """Round an interval and gamma to single precision; return how wrong distances may be.

    They may also be wrong by a part of the distance itself, which is as small. Where a number has
    no place in single precision, they may be wrong by any amount.
    """
    gamma, singles1, singles2, slopes = metric.gamma, search.x1, search.x2, search.slopes
    slack = 0.0
    for j in range(x1.shape[0]):
        singles1[j] = x1[j]
        singles2[j] = x2[j]
        slopes[j] = gamma[j]
        size = larger(abs(x1[j]), abs(x2[j]))
        slack = larger(gamma[j] * (size + _TINY), slack)
        if size > _LARGEST or gamma[j] < _SMALLEST:
            slack = np.inf
    return slack * SINGLE
