"""Free regions: how far each box may still grow before it meets a box of another class.

This is for learners whose boxes only grow and may share no point with a box of another class. If a
box of another class meets a box in all features but one, it is a *blocking bound* in that feature:
the box can never grow that far, whatever else happens to either. The *free region* of a box is the
interval between its blocking bounds in each feature. A box of another class that meets it in all
features leaves no free region. Blocking bounds are found when a candidate is rejected; they apply
to all later samples.

`free_regions[block, feature, LOW or HIGH, lane]` are the bounds below and above in single
precision; for a lane of an inner node, the outermost bounds of all boxes below it. Rounding keeps
order: what lies beyond a rounded bound lies beyond the bound, and what equals it may. Empty lanes
have no free region.

Free regions cost time, which pays off only after many rejections. `rejections_left` counts down to
the first use. Until then `free_regions` and `bitmaps` are empty; kernels return at zero, and Python
makes the arrays. They have the same types in both cases, so learning is compiled once. For learners
that never use them they are None, and the code for them is not compiled. The bounds that came from
an evicted box are unknown, so an eviction drops all free regions, and the count starts again.
"""

import numpy as np

from hyperboxes._kernels.bitmaps import (
    EXCESS,
    IN,
    IN_ALL_BUT_ONE,
    IN_ALL_ROWS,
    N_BEFORE,
    ON,
    WALKS,
    WORDS,
    are_on,
    box_at,
    clear_bitmaps,
    intersect,
    load_other_classes,
    mark_blocking_bound,
    mark_box,
    n_chunks,
    rows_to_meet,
)
from hyperboxes._kernels.geometry import is_known, larger, smaller
from hyperboxes._kernels.jit import forceinline, internal
from hyperboxes._kernels.simd import HIGH, LANES, LOW, PARENT
from hyperboxes._kernels.structs import BOXES, NO_LABEL, Index

_INFINITY = np.float32(np.inf)

# The side on which a box of another class blocks: none, or every side because the two boxes meet.
NO_SIDE, EVERY_SIDE = -1, -2


def make_free_regions(index: Index, n_blocks: int) -> np.ndarray:
    """Return unbounded free regions for boxes, and empty ones for empty lanes."""
    is_taken = index.links[:n_blocks, None, :LANES] >= 0
    free_regions = np.empty_like(index.ends)
    free_regions[:n_blocks, :, LOW] = np.where(is_taken, -np.inf, np.inf)
    free_regions[:n_blocks, :, HIGH] = np.where(is_taken, np.inf, -np.inf)
    return free_regions


@forceinline
def in_use(free_regions):
    """Whether there are free regions yet; False for None."""
    return False if free_regions is None else free_regions.shape[0] > 0


@forceinline
def begin(boxes, free_regions):
    """Start to use bitmaps if due; return whether `free_regions` agree with `rejections_left`."""
    is_counting = boxes.index.rejections_left[0] > 0
    if free_regions is None:
        return is_counting
    if in_use(free_regions):
        _use_bitmaps_if_due(boxes)
    return is_counting != in_use(free_regions)


@forceinline
def drop_free_regions(index):
    """Restart the count of rejections, after which Python drops the free regions."""
    index.rejections_left[0] = index.rejections_left[1]


@forceinline
def close_lane(block, lane, free_regions):
    """Empty the free region of a lane."""
    if free_regions is not None and in_use(free_regions):
        for j in range(free_regions.shape[1]):
            free_regions[block, j, LOW, lane] = _INFINITY
            free_regions[block, j, HIGH, lane] = -_INFINITY


@forceinline
def close_block(block, free_regions):
    """Empty the free regions of all lanes of a block."""
    if free_regions is not None and in_use(free_regions):
        for j in range(free_regions.shape[1]):
            for lane in range(LANES):
                free_regions[block, j, LOW, lane] = _INFINITY
                free_regions[block, j, HIGH, lane] = -_INFINITY


@internal
def open_free_region(box, index, free_regions):
    """Make the free region of a box, and of the nodes above it, unbounded."""
    if free_regions is None:
        return
    slot = index.slots[box] if in_use(free_regions) else -1
    while slot >= 0:
        for j in range(free_regions.shape[1]):
            free_regions[slot // LANES, j, LOW, slot % LANES] = -_INFINITY
            free_regions[slot // LANES, j, HIGH, slot % LANES] = _INFINITY
        slot = index.links[slot // LANES, PARENT]


@forceinline
def set_free_region(block, lane, free_regions, box, of_boxes):
    """Copy the free region of a box to its lane, if free regions are in use."""
    if in_use(free_regions):
        for j in range(free_regions.shape[1]):
            free_regions[block, j, LOW, lane] = of_boxes[box, j, LOW]
            free_regions[block, j, HIGH, lane] = of_boxes[box, j, HIGH]


@forceinline
def move_free_region(old, old_lane, new, lane, free_regions):
    """Move the free region of a lane to a lane of another block."""
    if free_regions is not None and in_use(free_regions):
        for j in range(free_regions.shape[1]):
            for end in range(2):
                free_regions[new, j, end, lane] = free_regions[old, j, end, old_lane]
        close_lane(old, old_lane, free_regions)


@forceinline
def bound_free_regions(child, parent, lane, free_regions):
    """Write the outermost bounds of a block to its lane in the parent."""
    if free_regions is not None and in_use(free_regions):
        for j in range(free_regions.shape[1]):
            low, high = _INFINITY, -_INFINITY
            for k in range(LANES):
                low = smaller(free_regions[child, j, LOW, k], low)
                high = larger(free_regions[child, j, HIGH, k], high)
            free_regions[parent, j, LOW, lane] = low
            free_regions[parent, j, HIGH, lane] = high


@forceinline
def may_grow(box, slots, free_regions):
    """Whether the free region of a box is not empty."""
    if free_regions is None or not in_use(free_regions):
        return True
    return free_regions[slots[box] // LANES, 0, LOW, slots[box] % LANES] < _INFINITY


@internal
def are_parted(box, other, index, free_regions):
    """Whether a blocking bound of either box prevents a merge of the two."""
    if free_regions is None or not in_use(free_regions):
        return False
    ends = index.ends
    block, lane = index.slots[box] // LANES, index.slots[box] % LANES
    far, far_lane = index.slots[other] // LANES, index.slots[other] % LANES
    for j in range(ends.shape[1]):
        if (
            ends[far, j, LOW, far_lane] < free_regions[block, j, LOW, lane]
            or ends[far, j, HIGH, far_lane] > free_regions[block, j, HIGH, lane]
            or ends[block, j, LOW, lane] < free_regions[far, j, LOW, far_lane]
            or ends[block, j, HIGH, lane] > free_regions[far, j, HIGH, far_lane]
        ):
            return True
    return False


@internal
def add_blocking_bound(box, other, rival, boxes, free_regions):
    """Tighten the free regions of two boxes (-1 for none) whose merge a conflicting box prevents.

    If free regions are not in use yet, count the rejection.
    """
    if free_regions is None:
        return
    if not in_use(free_regions):
        boxes.index.rejections_left[0] -= 1
    else:
        _add_blocking_bound(box, rival, boxes)
        if other >= 0:
            _add_blocking_bound(other, rival, boxes)


@internal
def _use_bitmaps_if_due(boxes):
    """Fill the bitmaps with all boxes and blocking bounds, if searches of the trees took longer."""
    index, state = boxes.index, boxes.index.bitmaps.state
    free_regions = index.free_regions
    if state[ON] > 0 or state[WALKS] > 0 or state[EXCESS] < 0:
        return
    clear_bitmaps(index.bitmaps)
    state[ON], state[N_BEFORE] = 1, boxes.counters[BOXES]
    for box in range(boxes.counters[BOXES]):
        if boxes.counts[box] > 0:
            mark_box(box, boxes, index.bitmaps)
            block, lane = index.slots[box] // LANES, index.slots[box] % LANES
            for j in range(free_regions.shape[1]):
                mark_blocking_bound(box, j, LOW, free_regions[block, j, LOW, lane], index.bitmaps)
                mark_blocking_bound(
                    box, j, HIGH, -free_regions[block, j, HIGH, lane], index.bitmaps
                )


@internal
def tighten_free_region(box, theta, boxes, bitmaps, scratch):
    """Tighten the free region of a box by all boxes that block it, if bitmaps are in use.

    Only boxes within its reach matter, and of those only the nearest on each side.
    """
    if bitmaps is None:
        return
    label, v, w = boxes.labels[box], scratch.v, scratch.w
    if not are_on(bitmaps) or label == NO_LABEL:
        return
    lower, upper, index = boxes.lower, boxes.upper, boxes.index
    for j in range(lower.shape[1]):
        v[j] = _reach(box, j, LOW, theta, boxes)
        w[j] = _reach(box, j, HIGH, theta, boxes)
    n_reach = rows_to_meet(v, w, 0, bitmaps)
    n_rows = rows_to_meet(lower[box], upper[box], n_reach, bitmaps)
    n_walls = 0
    for chunk in range(n_chunks(boxes)):
        load_other_classes(chunk, label, bitmaps)
        if intersect(chunk, 0, n_reach, IN, IN_ALL_ROWS, bitmaps) and intersect(
            chunk, n_reach, n_rows, IN, IN_ALL_BUT_ONE, bitmaps
        ):
            for word in range(WORDS):
                lanes = bitmaps.all_but_one[word]
                while lanes:
                    rival = box_at(chunk, word, lanes)
                    lanes &= lanes - 1
                    side = _side_of_blocking_bound(box, rival, boxes)
                    j = side // 2
                    n_walls += side >= 0
                    if side == EVERY_SIDE:
                        _add_blocking_bound(box, rival, boxes)
                        return
                    if side >= 0 and side % 2 == LOW:
                        v[j] = larger(upper[rival, j], v[j])
                    elif side >= 0:
                        w[j] = smaller(lower[rival, j], w[j])
    for j in range(lower.shape[1] if n_walls > 0 else 0):
        if v[j] > _reach(box, j, LOW, theta, boxes):
            _move_blocking_bound(box, j, LOW, v[j], index)
        if w[j] < _reach(box, j, HIGH, theta, boxes):
            _move_blocking_bound(box, j, HIGH, w[j], index)


@forceinline
def _reach(box, j, end, theta, boxes):
    """Return how far a box may grow in a feature, by its size limit and free region."""
    slot = boxes.index.slots[box]
    blocking_bound = boxes.index.free_regions[slot // LANES, j, end, slot % LANES]
    if end == LOW:
        return larger(blocking_bound, boxes.upper[box, j] - theta)
    return smaller(blocking_bound, boxes.lower[box, j] + theta)


@internal
def _add_blocking_bound(box, rival, boxes):
    """Tighten the free region of a box if a box of another class blocks it."""
    lower, upper, index = boxes.lower, boxes.upper, boxes.index
    side = _side_of_blocking_bound(box, rival, boxes)
    if side == EVERY_SIDE:
        for j in range(lower.shape[1]):
            _move_blocking_bound(box, j, LOW, np.inf, index)
            _move_blocking_bound(box, j, HIGH, -np.inf, index)
    elif side >= 0:
        j, end = side // 2, side % 2
        _move_blocking_bound(
            box, j, end, lower[rival, j] if end == HIGH else upper[rival, j], index
        )


@internal
def _side_of_blocking_bound(box, rival, boxes):
    """Return the side of a box that another box blocks, `2 * feature + end`, or `NO_SIDE`.

    Both must be known in all features: a box with an unknown feature may get bounds there that part
    it from others. A box without a label may still get the label of the other box.
    """
    lower, upper = boxes.lower, boxes.upper
    side = EVERY_SIDE
    if boxes.labels[box] == NO_LABEL:
        return NO_SIDE
    for j in range(lower.shape[1]):
        if not (is_known(lower[box, j]) and is_known(lower[rival, j])):
            return NO_SIDE
        is_above = lower[rival, j] > upper[box, j]
        if is_above or upper[rival, j] < lower[box, j]:
            if side >= 0:
                return NO_SIDE
            side = 2 * j + (HIGH if is_above else LOW)
    return side


@internal
def share_blocking_bounds(box, other, index, free_regions):
    """Add the blocking bounds of a box to those of the box that it is merged into."""
    if free_regions is not None and in_use(free_regions):
        slot = index.slots[other]
        for j in range(free_regions.shape[1]):
            for end in range(2):
                blocking_bound = free_regions[slot // LANES, j, end, slot % LANES]
                _move_blocking_bound(box, j, end, blocking_bound, index)


@internal
def _move_blocking_bound(box, j, end, blocking_bound, index):
    """Set a blocking bound of a box if it is tighter, and update the nodes above."""
    free_regions, links = index.free_regions, index.links
    sign = np.float32(1.0 if end == HIGH else -1.0)
    outermost = sign * np.float32(blocking_bound)
    slot = index.slots[box]
    if sign * free_regions[slot // LANES, j, end, slot % LANES] <= outermost:
        return
    if are_on(index.bitmaps):
        mark_blocking_bound(box, j, end, -outermost, index.bitmaps)
    while slot >= 0:
        block, lane = slot // LANES, slot % LANES
        if sign * free_regions[block, j, end, lane] <= outermost:
            return
        free_regions[block, j, end, lane] = sign * outermost
        for k in range(LANES):
            outermost = larger(sign * free_regions[block, j, end, k], outermost)
        slot = links[block, PARENT]
