"""Where boxes may grow: the room that boxes of other classes leave to each, as far as is known.

Where boxes only grow and may share no point with those of other classes, a rival that meets a box
in all features but one is a wall: the box can never reach so far in that feature, whatever else
happens to either. What it can reach, in each feature, is its *room*. A rival that it meets in all
features leaves it none. Walls are found when a box is refused to grow, and hold for all samples
that come after.

`rooms[block, feature, LOW or HIGH, lane]` are the walls below and above, in single precision; of a
lane of a node, the outermost of all boxes below. Rounding keeps order, so what lies beyond a
rounded wall is beyond the wall; what equals it may be. There is no room in empty lanes.

All this costs time, and pays where boxes are refused time and again. So no rooms are kept until
there were some refusals: `patience` tells how many more. Until then `rooms` and `bitmaps` are None,
and what needs them is not even compiled; kernels then return, for Python to open rooms. Nobody
knows which walls were those of a box that is forgotten. So all are forgotten with it, and there
must be as many refusals again before rooms are kept.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.bitmaps import (
    EXCESS,
    IN,
    MET,
    N_BEFORE,
    NEARLY,
    ON,
    WALKS,
    WORDS,
    are_on,
    box_at,
    clear_bitmaps,
    mark_box,
    mark_wall,
    n_chunks,
    narrow,
    rows_to_meet,
    take_rivals,
)
from hyperboxes._kernels.geometry import is_known, larger, smaller
from hyperboxes._kernels.jit import formula, subroutine
from hyperboxes._kernels.simd import HIGH, LANES, LOW, PARENT
from hyperboxes._kernels.structs import BOXES, NO_LABEL, Index

_INFINITY = np.float32(np.inf)

# Where a rival is a wall of a box: on no side, or on all of them, for the two meet.
NO_SIDE, EVERY_SIDE = -1, -2


def make_rooms(index: Index, n_blocks: int) -> np.ndarray:
    """Return rooms without a wall, and none where there is no box."""
    is_taken = index.links[:n_blocks, None, :LANES] >= 0
    rooms = np.empty_like(index.ends)
    rooms[:n_blocks, :, LOW] = np.where(is_taken, -np.inf, np.inf)
    rooms[:n_blocks, :, HIGH] = np.where(is_taken, np.inf, -np.inf)
    return rooms


@formula
def begin(boxes, rooms):
    """Use bitmaps if it is time to; return whether to go on: `rooms` are as `patience` says."""
    is_patient = boxes.index.patience[0] > 0
    if rooms is None:
        return is_patient
    _use_bitmaps_if_due(boxes)
    return not is_patient


@formula
def forget_rooms(index):
    """Keep no rooms until there were as many refusals as it took at first."""
    index.patience[0] = index.patience[1]


@formula
def close_lane(block, lane, rooms):
    """Leave no room in a lane."""
    if rooms is not None:
        for j in range(rooms.shape[1]):
            rooms[block, j, LOW, lane] = _INFINITY
            rooms[block, j, HIGH, lane] = -_INFINITY


@formula
def close_block(block, rooms):
    """Leave no room in any lane of a block."""
    if rooms is not None:
        for lane in range(LANES):
            close_lane(block, lane, rooms)


@subroutine
def open_room(box, index, rooms):
    """Let a box grow anywhere."""
    if rooms is None:
        return
    place = index.places[box]
    while place >= 0:
        for j in range(rooms.shape[1]):
            rooms[place // LANES, j, LOW, place % LANES] = -_INFINITY
            rooms[place // LANES, j, HIGH, place % LANES] = _INFINITY
        place = index.links[place // LANES, PARENT]


@formula
def set_room(block, lane, rooms, box, of_boxes):
    """Set the room of a box in its lane, if rooms are kept."""
    if rooms is not None and of_boxes is not None:
        for j in range(rooms.shape[1]):
            rooms[block, j, LOW, lane] = of_boxes[box, j, LOW]
            rooms[block, j, HIGH, lane] = of_boxes[box, j, HIGH]


@formula
def move_room(old, old_lane, new, lane, rooms):
    """Move the room in a lane of a block to a lane of another."""
    if rooms is not None:
        for j in range(rooms.shape[1]):
            for end in range(2):
                rooms[new, j, end, lane] = rooms[old, j, end, old_lane]
        close_lane(old, old_lane, rooms)


@formula
def bound_rooms(child, parent, lane, rooms):
    """Set the outermost walls of a block in its parent."""
    if rooms is not None:
        for j in range(rooms.shape[1]):
            low, high = _INFINITY, -_INFINITY
            for k in range(LANES):
                low = smaller(rooms[child, j, LOW, k], low)
                high = larger(rooms[child, j, HIGH, k], high)
            rooms[parent, j, LOW, lane] = low
            rooms[parent, j, HIGH, lane] = high


@formula
def may_grow(box, places, rooms):
    """Whether a box has any room, as far as is known."""
    if rooms is None:
        return True
    return rooms[places[box] // LANES, 0, LOW, places[box] % LANES] < _INFINITY


@subroutine
def are_parted(box, other, index, rooms):
    """Whether a wall of either of two boxes keeps them from growing into one."""
    if rooms is None:
        return False
    ends = index.ends
    block, lane = index.places[box] // LANES, index.places[box] % LANES
    far, far_lane = index.places[other] // LANES, index.places[other] % LANES
    for j in range(ends.shape[1]):
        if (
            ends[far, j, LOW, far_lane] < rooms[block, j, LOW, lane]
            or ends[far, j, HIGH, far_lane] > rooms[block, j, HIGH, lane]
            or ends[block, j, LOW, lane] < rooms[far, j, LOW, far_lane]
            or ends[block, j, HIGH, lane] > rooms[far, j, HIGH, far_lane]
        ):
            return True
    return False


@subroutine
def wall_in(box, other, rival, boxes, rooms):
    """Narrow the rooms of two boxes (-1 for none) that a rival keeps from growing into one.

    If rooms are not kept yet, lose patience.
    """
    if rooms is None:
        boxes.index.patience[0] -= 1
    else:
        _wall_in(box, rival, boxes)
        if other >= 0:
            _wall_in(other, rival, boxes)


@subroutine
def _use_bitmaps_if_due(boxes):
    """Put all boxes and their walls into the bitmaps, if walks through the trees took longer."""
    index, state = boxes.index, boxes.index.bitmaps.state
    rooms = index.rooms
    if state[ON] > 0 or state[WALKS] > 0 or state[EXCESS] < 0:
        return
    clear_bitmaps(index.bitmaps)
    state[ON], state[N_BEFORE] = 1, boxes.counters[BOXES]
    for box in range(boxes.counters[BOXES]):
        if boxes.counts[box] > 0:
            mark_box(box, boxes, index.bitmaps)
            block, lane = index.places[box] // LANES, index.places[box] % LANES
            for j in range(rooms.shape[1]):
                mark_wall(box, j, LOW, rooms[block, j, LOW, lane], index.bitmaps)
                mark_wall(box, j, HIGH, -rooms[block, j, HIGH, lane], index.bitmaps)


@subroutine
def find_walls(box, theta, boxes, bitmaps, scratch):
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
        take_rivals(chunk, label, bitmaps)
        if narrow(chunk, 0, n_reach, IN, MET, bitmaps) and narrow(
            chunk, n_reach, n_rows, IN, NEARLY, bitmaps
        ):
            for word in range(WORDS):
                lanes = bitmaps.nearly[word]
                while lanes:
                    rival = box_at(chunk, word, lanes)
                    lanes &= lanes - 1
                    side = _side_of_wall(box, rival, boxes)
                    j = side // 2
                    n_walls += side >= 0
                    if side == EVERY_SIDE:
                        _wall_in(box, rival, boxes)
                        return
                    if side >= 0 and side % 2 == LOW:
                        v[j] = larger(upper[rival, j], v[j])
                    elif side >= 0:
                        w[j] = smaller(lower[rival, j], w[j])
    for j in range(lower.shape[1] if n_walls > 0 else 0):
        if v[j] > _reach(box, j, LOW, theta, boxes):
            _move_wall(box, j, LOW, v[j], index)
        if w[j] < _reach(box, j, HIGH, theta, boxes):
            _move_wall(box, j, HIGH, w[j], index)


@formula
def _reach(box, j, end, theta, boxes):
    """Return how far a box may come to reach in a feature, as far as is known."""
    place = boxes.index.places[box]
    wall = boxes.index.rooms[place // LANES, j, end, place % LANES]
    if end == LOW:
        return larger(wall, boxes.upper[box, j] - theta)
    return smaller(wall, boxes.lower[box, j] + theta)


@subroutine
def _wall_in(box, rival, boxes):
    """Narrow the room of a box if a rival is a wall of it."""
    lower, upper, index = boxes.lower, boxes.upper, boxes.index
    side = _side_of_wall(box, rival, boxes)
    if side == EVERY_SIDE:
        for j in range(lower.shape[1]):
            _move_wall(box, j, LOW, np.inf, index)
            _move_wall(box, j, HIGH, -np.inf, index)
    elif side >= 0:
        j, end = side // 2, side % 2
        _move_wall(box, j, end, lower[rival, j] if end == HIGH else upper[rival, j], index)


@subroutine
def _side_of_wall(box, rival, boxes):
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


@subroutine
def share_walls(box, other, index, rooms):
    """Give a box the walls of another that it absorbs."""
    if rooms is not None:
        place = index.places[other]
        for j in range(rooms.shape[1]):
            for end in range(2):
                wall = rooms[place // LANES, j, end, place % LANES]
                _move_wall(box, j, end, wall, index)


@subroutine
def _move_wall(box, j, end, wall, index):
    """Bring a wall of a box nearer, if it is, and the bounds above it."""
    rooms, links = index.rooms, index.links
    sign = np.float32(1.0 if end == HIGH else -1.0)
    outermost = sign * np.float32(wall)
    place = index.places[box]
    if sign * rooms[place // LANES, j, end, place % LANES] <= outermost:
        return
    if are_on(index.bitmaps):
        mark_wall(box, j, end, -outermost, index.bitmaps)
    while place >= 0:
        block, lane = place // LANES, place % LANES
        if sign * rooms[block, j, end, lane] <= outermost:
            return
        rooms[block, j, end, lane] = sign * outermost
        for k in range(LANES):
            outermost = larger(sign * rooms[block, j, end, k], outermost)
        place = links[block, PARENT]
