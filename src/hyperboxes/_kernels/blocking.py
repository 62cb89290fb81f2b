"""Where boxes may grow: the room that boxes of other classes leave to each, as far as is known.

Where boxes only grow and may share no point with those of other classes, a rival that meets a box
in all features but one is a wall: the box can never reach so far in that feature, whatever else
happens to either. What it can reach, in each feature, is its *room*. A rival that it meets in all
features leaves it none. Walls are found when a box is refused to grow, and hold for all samples
that come after.

`free_regions[block, feature, LOW or HIGH, lane]` are the walls below and above, in single
precision; of a lane of a node, the outermost of all boxes below. Rounding keeps order, so what lies
beyond a rounded wall is beyond the wall; what equals it may be. There is no room in empty lanes.

All this costs time, and pays where boxes are refused time and again. So no rooms are kept until
there were some refusals: `rejections_left` tells how many more. Until then `free_regions` and
`bitmaps` are None, and what needs them is not even compiled; kernels then return, for Python to
open rooms. Nobody knows which walls were those of a box that is forgotten. So all are forgotten
with it, and there must be as many refusals again before rooms are kept.
"""

from __future__ import annotations

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

# Where a rival is a wall of a box: on no side, or on all of them, for the two meet.
NO_SIDE, EVERY_SIDE = -1, -2


def make_free_regions(index: Index, n_blocks: int) -> np.ndarray:
    """Return rooms without a wall, and none where there is no box."""
    is_taken = index.links[:n_blocks, None, :LANES] >= 0
    free_regions = np.empty_like(index.ends)
    free_regions[:n_blocks, :, LOW] = np.where(is_taken, -np.inf, np.inf)
    free_regions[:n_blocks, :, HIGH] = np.where(is_taken, np.inf, -np.inf)
    return free_regions


@forceinline
def begin(boxes, free_regions):
    """Use bitmaps if it is time to; return whether `free_regions` match the count of rejections."""
    is_patient = boxes.index.rejections_left[0] > 0
    if free_regions is None:
        return is_patient
    _use_bitmaps_if_due(boxes)
    return not is_patient


@forceinline
def drop_free_regions(index):
    """Keep no rooms until there were as many refusals as it took at first."""
    index.rejections_left[0] = index.rejections_left[1]


@forceinline
def close_lane(block, lane, free_regions):
    """Leave no room in a lane."""
    if free_regions is not None:
        for j in range(free_regions.shape[1]):
            free_regions[block, j, LOW, lane] = _INFINITY
            free_regions[block, j, HIGH, lane] = -_INFINITY


@forceinline
def close_block(block, free_regions):
    """Leave no room in any lane of a block."""
    if free_regions is not None:
        for lane in range(LANES):
            close_lane(block, lane, free_regions)


@internal
def open_free_region(box, index, free_regions):
    """Let a box grow anywhere."""
    if free_regions is None:
        return
    place = index.places[box]
    while place >= 0:
        for j in range(free_regions.shape[1]):
            free_regions[place // LANES, j, LOW, place % LANES] = -_INFINITY
            free_regions[place // LANES, j, HIGH, place % LANES] = _INFINITY
        place = index.links[place // LANES, PARENT]


@forceinline
def set_free_region(block, lane, free_regions, box, of_boxes):
    """Set the room of a box in its lane, if rooms are kept."""
    if free_regions is not None and of_boxes is not None:
        for j in range(free_regions.shape[1]):
            free_regions[block, j, LOW, lane] = of_boxes[box, j, LOW]
            free_regions[block, j, HIGH, lane] = of_boxes[box, j, HIGH]


@forceinline
def move_free_region(old, old_lane, new, lane, free_regions):
    """Move the room in a lane of a block to a lane of another."""
    if free_regions is not None:
        for j in range(free_regions.shape[1]):
            for end in range(2):
                free_regions[new, j, end, lane] = free_regions[old, j, end, old_lane]
        close_lane(old, old_lane, free_regions)


@forceinline
def bound_free_regions(child, parent, lane, free_regions):
    """Set the outermost walls of a block in its parent."""
    if free_regions is not None:
        for j in range(free_regions.shape[1]):
            low, high = _INFINITY, -_INFINITY
            for k in range(LANES):
                low = smaller(free_regions[child, j, LOW, k], low)
                high = larger(free_regions[child, j, HIGH, k], high)
            free_regions[parent, j, LOW, lane] = low
            free_regions[parent, j, HIGH, lane] = high


@forceinline
def may_grow(box, places, free_regions):
    """Whether a box has any room, as far as is known."""
    if free_regions is None:
        return True
    return free_regions[places[box] // LANES, 0, LOW, places[box] % LANES] < _INFINITY


@internal
def are_parted(box, other, index, free_regions):
    """Whether a wall of either of two boxes keeps them from growing into one."""
    if free_regions is None:
        return False
    ends = index.ends
    block, lane = index.places[box] // LANES, index.places[box] % LANES
    far, far_lane = index.places[other] // LANES, index.places[other] % LANES
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
    """Narrow the rooms of two boxes (-1 for none) that a rival keeps from growing into one.

    If rooms are not kept yet, lose patience.
    """
    if free_regions is None:
        boxes.index.rejections_left[0] -= 1
    else:
        _add_blocking_bound(box, rival, boxes)
        if other >= 0:
            _add_blocking_bound(other, rival, boxes)


@internal
def _use_bitmaps_if_due(boxes):
    """Put all boxes and their walls into the bitmaps, if walks through the trees took longer."""
    index, state = boxes.index, boxes.index.bitmaps.state
    free_regions = index.free_regions
    if state[ON] > 0 or state[WALKS] > 0 or state[EXCESS] < 0:
        return
    clear_bitmaps(index.bitmaps)
    state[ON], state[N_BEFORE] = 1, boxes.counters[BOXES]
    for box in range(boxes.counters[BOXES]):
        if boxes.counts[box] > 0:
            mark_box(box, boxes, index.bitmaps)
            block, lane = index.places[box] // LANES, index.places[box] % LANES
            for j in range(free_regions.shape[1]):
                mark_blocking_bound(box, j, LOW, free_regions[block, j, LOW, lane], index.bitmaps)
                mark_blocking_bound(
                    box, j, HIGH, -free_regions[block, j, HIGH, lane], index.bitmaps
                )


@internal
def tighten_free_region(box, theta, boxes, bitmaps, scratch):
    """Narrow the room of a box by all rivals that are walls of it now, if bitmaps can tell.

    Others than those within its reach do not matter, and of those only the nearest.
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
    """Return how far a box may come to reach in a feature, as far as is known."""
    place = boxes.index.places[box]
    blocking_bound = boxes.index.free_regions[place // LANES, j, end, place % LANES]
    if end == LOW:
        return larger(blocking_bound, boxes.upper[box, j] - theta)
    return smaller(blocking_bound, boxes.lower[box, j] + theta)


@internal
def _add_blocking_bound(box, rival, boxes):
    """Narrow the room of a box if a rival is a wall of it."""
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
    """Return on which side of a box a rival is a wall, `2 * feature + end`; or that it is not.

    Both must be known in all features: a box that comes to know one may part from others. A box
    without a label may yet take on that of the rival.
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
    """Give a box the walls of another that it absorbs."""
    if free_regions is not None:
        place = index.places[other]
        for j in range(free_regions.shape[1]):
            for end in range(2):
                blocking_bound = free_regions[place // LANES, j, end, place % LANES]
                _move_blocking_bound(box, j, end, blocking_bound, index)


@internal
def _move_blocking_bound(box, j, end, blocking_bound, index):
    """Bring a wall of a box nearer, if it is, and the bounds above it."""
    free_regions, links = index.free_regions, index.links
    sign = np.float32(1.0 if end == HIGH else -1.0)
    outermost = sign * np.float32(blocking_bound)
    place = index.places[box]
    if sign * free_regions[place // LANES, j, end, place % LANES] <= outermost:
        return
    if are_on(index.bitmaps):
        mark_blocking_bound(box, j, end, -outermost, index.bitmaps)
    while place >= 0:
        block, lane = place // LANES, place % LANES
        if sign * free_regions[block, j, end, lane] <= outermost:
            return
        free_regions[block, j, end, lane] = sign * outermost
        for k in range(LANES):
            outermost = larger(sign * free_regions[block, j, end, k], outermost)
        place = links[block, PARENT]
