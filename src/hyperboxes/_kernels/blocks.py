"""The one place that finds boxes: those of a class within some distance of an interval.

For the search, boxes are stored a second time: 16 to a block, the boxes of a block side by side in
each dimension, so that the compiler compares several at once. Each class has its own blocks, in
order of age; a box keeps its lane for life. `blocks` is the tuple `(lows, highs, members, places,
following, first, last)`: `lows[block, dimension, lane]`, the number of the box in a lane or -1, the
lane of each box (`block * 16 + lane`), the next block of the class or -1, and each class's first
and last block.

`boxes` is the tuple `(lower, upper, labels, counts, progress, blocks)`: the boxes row by row, and
how many boxes, blocks, candidates tried and samples learned there are.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import LONGEST, MEMBERSHIP, MID_MAX, ROUNDING, SHORTEST, larger
from hyperboxes._kernels.jit import formula, kernel

BOXES, BLOCKS, CANDIDATES, SAMPLES = range(4)
LANES = 16

# Distances up to this are memberships of 1.
HELD = ROUNDING / 4


@kernel
def add_box(box, boxes):
    """Give a new box, of which row and label stand, the next lane of its class."""
    labels, progress, blocks = boxes[2], boxes[4], boxes[5]
    _, _, members, places, following, first, last = blocks
    label = labels[box]
    block = last[label]
    lane = 0
    while block >= 0 and lane < LANES and members[block, lane] >= 0:
        lane += 1
    if block < 0 or lane == LANES:
        lane = 0
        new = progress[BLOCKS]
        progress[BLOCKS] += 1
        for empty in range(LANES):
            members[new, empty] = -1
        following[new] = -1
        if block >= 0:
            following[block] = new
        else:
            first[label] = new
        last[label] = block = new
    members[block, lane] = box
    places[box] = block * LANES + lane
    copy_row(box, boxes)


@kernel
def add_boxes(boxes):
    """Give all boxes their lanes."""
    for box in range(boxes[4][BOXES]):
        add_box(box, boxes)


@kernel
def copy_row(box, boxes):
    """Bring a box's lane up to date with its row."""
    lower, upper, _, _, _, blocks = boxes
    lows, highs, _, places, _, _, _ = blocks
    block, lane = places[box] // LANES, places[box] % LANES
    for j in range(lower.shape[1]):
        lows[block, j, lane] = lower[box, j]
        highs[block, j, lane] = upper[box, j]


@kernel
def clear_lane(box, boxes):
    """Take a box out of the search."""
    _, _, members, places, _, _, _ = boxes[5]
    members[places[box] // LANES, places[box] % LANES] = -1


@formula
def block_gaps(near, far, block, x1, x2, gamma, limit, gaps):
    """Compute `distance` for all boxes of a block, four dimensions at a time.

    Returns False, with `gaps` unfinished, as soon as all are beyond the limit; mostly the first
    four dimensions tell, and these are looked at without keeping anything, which is faster.
    """
    if not _any_within(near, far, block, x1, x2, gamma, limit):
        return False
    for lane in range(LANES):
        gaps[lane] = 0.0
    n_features = x1.shape[0]
    for ja in range(0, n_features, 4):
        jb, jc, jd = _next_three(ja, n_features)
        # Numbers in place of arrays let the compiler see that the lanes are independent.
        a1, b1, c1, d1 = x1[ja], x1[jb], x1[jc], x1[jd]
        a2, b2, c2, d2 = x2[ja], x2[jb], x2[jc], x2[jd]
        ga, gb, gc, gd = gamma[ja], gamma[jb], gamma[jc], gamma[jd]
        n_within = 0
        for lane in range(LANES):
            a = larger(a2 - far[block, ja, lane], near[block, ja, lane] - a1) * ga
            b = larger(b2 - far[block, jb, lane], near[block, jb, lane] - b1) * gb
            c = larger(c2 - far[block, jc, lane], near[block, jc, lane] - c1) * gc
            d = larger(d2 - far[block, jd, lane], near[block, jd, lane] - d1) * gd
            gap = larger(larger(gaps[lane], a), larger(b, larger(c, d)))
            gaps[lane] = gap
            n_within += 1 if gap <= limit else 0
        if n_within == 0:
            return False
    return True


@formula
def _any_within(near, far, block, x1, x2, gamma, limit):
    """Whether a box of the block is within the limit in the first four dimensions."""
    jb, jc, jd = _next_three(0, x1.shape[0])
    a1, b1, c1, d1 = x1[0], x1[jb], x1[jc], x1[jd]
    a2, b2, c2, d2 = x2[0], x2[jb], x2[jc], x2[jd]
    ga, gb, gc, gd = gamma[0], gamma[jb], gamma[jc], gamma[jd]
    n_within = 0
    for lane in range(LANES):
        a = larger(a2 - far[block, 0, lane], near[block, 0, lane] - a1) * ga
        b = larger(b2 - far[block, jb, lane], near[block, jb, lane] - b1) * gb
        c = larger(c2 - far[block, jc, lane], near[block, jc, lane] - c1) * gc
        d = larger(d2 - far[block, jd, lane], near[block, jd, lane] - d1) * gd
        n_within += 1 if larger(larger(a, b), larger(c, d)) <= limit else 0
    return n_within > 0


@formula
def _next_three(j, n_features):
    """Return the three dimensions after j, the last one again where there are no more."""
    last = n_features - 1
    return min(j + 1, last), min(j + 2, last), min(j + 3, last)


@kernel
def find(block, x1, x2, near, far, gamma, limit, enough, blocks, ids, gaps):
    """List the boxes within `limit`, oldest first, from a block on; return how many.

    A box within `enough` ends the search. What is near and far, first and second, decides what is
    measured, as in `distance`.
    """
    members, following = blocks[2], blocks[4]
    of_block = np.empty(LANES)
    n_found = 0
    while block >= 0:
        if block_gaps(near, far, block, x1, x2, gamma, limit, of_block):
            for lane in range(LANES):
                if of_block[lane] <= limit and members[block, lane] >= 0:
                    ids[n_found] = members[block, lane]
                    gaps[n_found] = of_block[lane]
                    n_found += 1
                    if of_block[lane] <= enough:
                        return n_found
        block = following[block]
    return n_found


@kernel
def find_by(measure, block, xl, xu, blocks, gamma, limit, ids, gaps):
    """List boxes by a measure, oldest first; return how many.

    By memberships a box that holds [xl, xu] ends the list. For the middle distances the gaps are
    lower bounds only, so some boxes may be beyond the limit.
    """
    near, far = blocks[0], blocks[1]
    x1, x2 = xl, xu
    enough = -1.0
    if measure == LONGEST:
        near, far = far, near
    elif measure in (SHORTEST, MID_MAX):
        x1, x2 = xu, xl
    elif measure == MEMBERSHIP:
        enough = HELD
    return find(block, x1, x2, near, far, gamma, limit, enough, blocks, ids, gaps)


@kernel
def find_rivals(label, x1, x2, limit, enough, boxes, ones, ids, gaps):
    """List boxes of other classes within a distance, the same in all dimensions.

    Between [xl, xu] as first and second, and `theta`, these are the boxes that a box grown to hold
    the interval could touch. With the ends exchanged, and 0, they share a point with it.
    """
    blocks = boxes[5]
    lows, highs, _, _, _, first, _ = blocks
    n_found = 0
    for c in range(first.shape[0]):
        if c != label:
            n_found += find(
                first[c],
                x1,
                x2,
                lows,
                highs,
                ones,
                limit,
                enough,
                blocks,
                ids[n_found:],
                gaps[n_found:],
            )
            if n_found > 0 and gaps[n_found - 1] <= enough:
                break
    return n_found


@kernel
def limit_of(floor):
    """Return a distance beyond which memberships or similarities are below `floor`."""
    return 1.0 - floor + ROUNDING if floor > 0.0 else np.inf
