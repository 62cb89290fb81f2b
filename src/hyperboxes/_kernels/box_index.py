"""The box index: a dynamic tree over the boxes of each class.

Boxes without a label are in a tree of their own, the last one.

Boxes are stored row by row, in double precision, and once more in single precision in the blocks
of the trees, 16 to a block (see `lanes`). A leaf holds boxes; a node above holds up to 16 leaves
or nodes, for each of them bounds of all boxes below. Leaves of a tree are equally deep.

Each node above the leaves takes two blocks. The first has the outer bounds, the smallest lower and
the largest upper end below: no box below extends farther. The second has the inner bounds, the
largest lower and the smallest upper end: no box below lies farther inside. A box in a leaf is its
own bounds of both kinds. Bounds are wide enough at all times, and tight after the trees are
rebuilt. Where the ends of a box are unknown (NaN), so are the bounds above it.

Rounding to single precision keeps the order of numbers (or makes them equal), so a comparison that
holds for a box holds for its rounded ends as well. What the tree excludes is excluded for certain;
the rows decide about what it finds.
"""

import numpy as np

from hyperboxes._kernels.bitmaps import mark_box, unmark_box
from hyperboxes._kernels.blocking import (
    bound_free_regions,
    close_block,
    close_lane,
    move_free_region,
    open_free_region,
    set_free_region,
)
from hyperboxes._kernels.geometry import is_known, larger, smaller
from hyperboxes._kernels.jit import forceinline, inlined, internal, kernel, pass_by_pointer
from hyperboxes._kernels.simd import ALL_LANES, HIGH, LANES, LEVEL, LOW, PARENT
from hyperboxes._kernels.structs import ALIVE, BLOCKS, FEW, NO_LABEL, REMOVABLE, WIDTH, Workspace

# More than the slots on the way down the deepest tree: each level has eight times as many boxes,
# twice as many in tests.
MAX_LEVELS = 24
STACK = MAX_LEVELS * LANES

# More than the blocks that one more box may take: its tree may split a node on each level.
SPARE_BLOCKS = 2 * MAX_LEVELS + 3

# Bounds get loose as boxes are removed and added, so the trees are rebuilt after as many removals
# as there are boxes, and some more because rebuilding takes time.
REMOVED_AT_LEAST = 64

# The number of boxes that decide in which dimension to split more of them.
_SAMPLE_SIZE = 64

# A side that a flat box has for comparisons.
_THIN = np.float32(1e-6)


@forceinline
def has_spare_blocks(boxes):
    """Whether there are blocks for one more box."""
    return boxes.counters[BLOCKS] + SPARE_BLOCKS <= boxes.index.links.shape[0]


@internal
def add_box(box, boxes):
    """Put a new box, of which row and label stand, into the tree of its class."""
    index, counters = boxes.index, boxes.counters
    links, roots = index.links, index.roots
    width = counters[WIDTH]
    label = boxes.labels[box]
    block = roots[label]
    if block < 0:
        block = roots[label] = _new_block(0, boxes)
    elif _free_lane(block, links) >= width:
        roots[label] = _new_block(links[block, LEVEL] + 1, boxes)
        _adopt(roots[label], 0, block, index)
        block = roots[label]
    while links[block, LEVEL] > 0:
        lane = _nearest_lane(block, ALL_LANES, box, boxes)
        child = links[block, lane]
        if _free_lane(child, links) >= width:
            new_lane = _free_lane(block, links)
            _split(child, new_lane, boxes)
            lane = _nearest_lane(block, 1 << lane | 1 << new_lane, box, boxes)
        block = links[block, lane]
    lane = _free_lane(block, links)
    links[block, lane] = box
    index.slots[box] = block * LANES + lane
    counters[ALIVE] += 1
    open_free_region(box, index, index.free_regions)
    update_box(box, boxes)


@internal
def update_box(box, boxes):
    """Update the tree after the row of a box has changed."""
    lower, upper, ends, links = boxes.lower, boxes.upper, boxes.index.ends, boxes.index.links
    slot = boxes.index.slots[box]
    leaf, leaf_lane = slot // LANES, slot % LANES
    n_features = lower.shape[1]
    for j in range(n_features):
        ends[leaf, j, LOW, leaf_lane] = lower[box, j]
        ends[leaf, j, HIGH, leaf_lane] = upper[box, j]
    slot = links[leaf, PARENT]
    while slot >= 0:
        block, lane = slot // LANES, slot % LANES
        for j in range(n_features):
            low, high = ends[leaf, j, LOW, leaf_lane], ends[leaf, j, HIGH, leaf_lane]
            _widen(ends, block, j, lane, low, high, low, high)
        slot = links[block, PARENT]
    mark_box(box, boxes, boxes.index.bitmaps)


@inlined
def relabel_box(box, label, boxes):
    """Give a box, of which the row stands, another label, and bring the trees up to date."""
    remove_box(box, boxes)
    boxes.labels[box] = label
    add_box(box, boxes)


@forceinline
def joint_label(label, other):
    """Return the label of what is joined of two: of the one that has one."""
    return other if label == NO_LABEL else label


@forceinline
def n_classes(boxes):
    """Return how many classes there are; the last tree is of boxes without a label."""
    return boxes.index.roots.shape[0] - 1


@internal
def remove_box(box, boxes):
    """Take a box out of the tree; bounds stay as they are."""
    ends = boxes.index.ends
    slot = boxes.index.slots[box]
    block, lane = slot // LANES, slot % LANES
    boxes.index.links[block, lane] = -1
    for j in range(ends.shape[1]):
        ends[block, j, LOW, lane] = ends[block, j, HIGH, lane] = np.inf
    close_lane(block, lane, boxes.index.free_regions)
    unmark_box(box, boxes, boxes.index.bitmaps)
    boxes.counters[ALIVE] -= 1
    boxes.counters[REMOVABLE] -= 1


def most_blocks(n_boxes: np.ndarray, fill: int) -> int:
    """Return how many blocks trees of so many boxes may take when they are built.

    Nodes have as many children as it takes to hold what is below them, and perhaps one more each,
    for boxes are not divided evenly. Blocks above the leaves come in pairs.
    """
    n_blocks = 0
    for n in n_boxes[n_boxes > 0].tolist():
        n_nodes, unit = 1, fill  # of a level, and how many boxes are below a node
        while unit < n:
            unit *= fill
        while unit > fill:
            n_blocks += 2 * n_nodes
            unit //= fill
            n_nodes += n // unit
        n_blocks += n_nodes
    return n_blocks


def make_workspace(n_features: int) -> Workspace:
    """Return room to divide boxes and lanes."""
    return Workspace(
        np.empty((STACK, 3), np.int64),
        np.empty(LANES + 1, np.int64),
        np.empty(LANES, np.int64),
        np.empty((LANES, n_features), np.float32),
        *np.empty((2, LANES), np.float32),
    )


@kernel
def build(order, starts, fill, centres, keys, free_regions, boxes):
    """Rebuild all trees, with tight bounds and at most `fill` lanes of a block in use.

    `order` has the boxes to include, tree by tree; those of tree t begin at `starts[t]`. There is
    room for as many `centres` and `keys` as for boxes. `free_regions[box, feature, LOW or HIGH]`
    are the free regions of the boxes, None if not in use.
    """
    boxes = pass_by_pointer(boxes)
    lower, upper, counters, roots = boxes.lower, boxes.upper, boxes.counters, boxes.index.roots
    counters[BLOCKS] = 0
    counters[ALIVE] = order.shape[0]
    counters[FEW] = order.shape[0] // 2
    counters[REMOVABLE] = order.shape[0] + REMOVED_AT_LEAST
    for i in range(order.shape[0]):
        box = order[i]
        for j in range(lower.shape[1]):
            centres[box, j] = _centre(lower[box, j], upper[box, j])
    for t in range(roots.shape[0]):
        roots[t] = -1
        if starts[t + 1] > starts[t]:
            roots[t] = counters[BLOCKS]
            _build_tree(order, starts[t], starts[t + 1], fill, boxes, centres, keys, free_regions)
    for block in range(counters[BLOCKS] - 1, -1, -1):  # children come after their parents
        if boxes.index.links[block, LEVEL] >= 0 and boxes.index.links[block, PARENT] >= 0:
            _bound(block, boxes.index)


@inlined
def _build_tree(order, start, stop, fill, boxes, centres, keys, free_regions):
    """Distribute boxes over the blocks of a tree, whose root is first; set no bounds yet."""
    lower, upper, index = boxes.lower, boxes.upper, boxes.index
    ends, links, slots = index.ends, index.links, index.slots
    level, unit = 0, fill
    while unit < stop - start:
        level += 1
        unit *= fill
    todo, cuts = index.workspace.todo, index.workspace.cuts
    todo[0, 0], todo[0, 1], todo[0, 2] = _new_block(level, boxes), start, stop
    top = 1
    while top > 0:
        top -= 1
        block, start, stop = todo[top, 0], todo[top, 1], todo[top, 2]
        level = links[block, LEVEL]
        if level == 0:
            for lane in range(stop - start):
                box = order[start + lane]
                links[block, lane] = box
                slots[box] = block * LANES + lane
                for j in range(lower.shape[1]):
                    ends[block, j, LOW, lane] = lower[box, j]
                    ends[block, j, HIGH, lane] = upper[box, j]
                set_free_region(block, lane, index.free_regions, box, free_regions)
            continue
        unit = 1  # `fill**level`, which Numba would compile a function of its own for
        for _ in range(level):
            unit *= fill
        n_pieces = _partition(order, start, stop, unit, centres, keys, cuts)
        for lane in range(n_pieces):
            child = _new_block(level - 1, boxes)
            links[block, lane] = child
            links[child, PARENT] = block * LANES + lane
            todo[top, 0], todo[top, 1], todo[top, 2] = child, cuts[lane], cuts[lane + 1]
            top += 1


@internal
def _partition(order, start, stop, unit, centres, keys, cuts):
    """Split a range of boxes by medians until no piece has more than `unit`.

    Returns the number of pieces; where they begin, and the end, is written into `cuts`.
    """
    cuts[0], cuts[1] = start, stop
    n_pieces = 1
    piece = 0
    while piece < n_pieces:
        start, stop = cuts[piece], cuts[piece + 1]
        n_units = (stop - start + unit - 1) // unit
        if n_units < 2:
            piece += 1
            continue
        dimension = _widest(order, start, stop, centres)
        for i in range(start, stop):
            keys[order[i]] = centres[order[i], dimension]
        middle = start + (stop - start) * (n_units // 2) // n_units
        _select(order, keys, start, stop, middle)
        for after in range(n_pieces, piece, -1):
            cuts[after + 1] = cuts[after]
        cuts[piece + 1] = middle
        n_pieces += 1
    return n_pieces


@forceinline
def _widest(order, start, stop, centres):
    """Return the dimension in which the boxes' centres, or those of some, vary most.

    By variance, not by range: after scaling all features have the same range, and a feature that
    is nearly constant separates nothing.
    """
    widest = 0
    most = -1.0
    step = larger(1, (stop - start) // _SAMPLE_SIZE)
    for j in range(centres.shape[1]):
        base = centres[order[start], j]
        n, total, squares = 0, 0.0, 0.0
        for i in range(start, stop, step):
            offset = centres[order[i], j] - base
            n += 1
            total += offset
            squares += offset * offset
        variance = squares - total * total / n
        if variance > most:
            widest, most = j, variance
    return widest


@forceinline
def _select(order, keys, start, stop, middle):
    """Arrange a range so that keys before `middle` are not larger than those from it on."""
    while stop - start > 1:
        pivot = keys[order[(start + stop) // 2]]
        left, right = start, stop - 1
        while left <= right:
            while keys[order[left]] < pivot:
                left += 1
            while keys[order[right]] > pivot:
                right -= 1
            if left <= right:
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if middle <= right:
            stop = right + 1
        elif middle >= left:
            start = left
        else:
            return


@internal
def _new_block(level, boxes):
    """Return an empty leaf, or a node of two blocks."""
    ends, links, counters = boxes.index.ends, boxes.index.links, boxes.counters
    block = counters[BLOCKS]
    counters[BLOCKS] += 2 if level > 0 else 1
    for new in range(block, counters[BLOCKS]):
        for lane in range(ends.shape[3]):
            links[new, lane] = -1
        links[new, LEVEL] = links[new, PARENT] = -1
        for j in range(ends.shape[1]):
            for lane in range(ends.shape[3]):
                ends[new, j, LOW, lane] = ends[new, j, HIGH, lane] = np.inf
        close_block(new, boxes.index.free_regions)
    links[block, LEVEL] = level
    return block


@forceinline
def _free_lane(block, links):
    """Return the first free lane of a block, or their number."""
    lane = 0
    while lane < LANES and links[block, lane] >= 0:
        lane += 1
    return lane


@forceinline
def _widen(ends, block, j, lane, outer_low, outer_high, inner_low, inner_high):
    """Let the bounds in a lane of a node include others; they are known if both are."""
    if is_known(ends[block, j, LOW, lane]):
        ends[block, j, LOW, lane] = smaller(ends[block, j, LOW, lane], outer_low)
        ends[block, j, HIGH, lane] = larger(ends[block, j, HIGH, lane], outer_high)
        ends[block + 1, j, LOW, lane] = larger(ends[block + 1, j, LOW, lane], inner_low)
        ends[block + 1, j, HIGH, lane] = smaller(ends[block + 1, j, HIGH, lane], inner_high)


@forceinline
def _centre(low, high):
    """Return twice the middle of an interval, or any number if it is not known."""
    return low + high if is_known(low) else 0.0


@internal
def _bound(child, index):
    """Set a block's bounds in its parent, as narrow as can be."""
    ends, links = index.ends, index.links
    parent, lane = links[child, PARENT] // LANES, links[child, PARENT] % LANES
    inner = child + 1 if links[child, LEVEL] > 0 else child
    infinity = np.float32(np.inf)
    for j in range(ends.shape[1]):
        ends[parent, j, LOW, lane] = ends[parent + 1, j, HIGH, lane] = infinity
        ends[parent, j, HIGH, lane] = ends[parent + 1, j, LOW, lane] = -infinity
        for k in range(ends.shape[3]):
            if links[child, k] >= 0:
                low, high = ends[child, j, LOW, k], ends[child, j, HIGH, k]
                inner_low, inner_high = ends[inner, j, LOW, k], ends[inner, j, HIGH, k]
                _widen(ends, parent, j, lane, low, high, inner_low, inner_high)
    bound_free_regions(child, parent, lane, index.free_regions)


@inlined
def _split(full, new_lane, boxes):
    """Move half of a full block to a new one, in a free lane of its parent."""
    index = boxes.index
    ends, links, slots = index.ends, index.links, index.slots
    n_features, width = ends.shape[1], boxes.counters[WIDTH]
    order, centres, keys = index.workspace.order, index.workspace.centres, index.workspace.keys
    for lane in range(width):
        order[lane] = lane
        for j in range(n_features):
            centres[lane, j] = _centre(ends[full, j, LOW, lane], ends[full, j, HIGH, lane])
    half = width // 2
    _partition(order, 0, width, width - half, centres, keys, index.workspace.cuts)
    level = links[full, LEVEL]
    new = _new_block(level, boxes)
    for lane in range(width - half):
        _move_lane(full, order[half + lane], new, lane, index)
        if level > 0:
            links[links[new, lane], PARENT] = new * LANES + lane
        else:
            slots[links[new, lane]] = new * LANES + lane
    _adopt(links[full, PARENT] // LANES, new_lane, new, index)
    _bound(full, index)


@inlined
def _move_lane(old, old_lane, new, lane, index):
    """Move what is in a lane to a lane of another block of the same level."""
    ends, links = index.ends, index.links
    links[new, lane] = links[old, old_lane]
    links[old, old_lane] = -1
    for bounds in range(2 if links[old, LEVEL] > 0 else 1):
        for j in range(ends.shape[1]):
            for end in range(ends.shape[2]):
                ends[new + bounds, j, end, lane] = ends[old + bounds, j, end, old_lane]
                ends[old + bounds, j, end, old_lane] = np.inf
    move_free_region(old, old_lane, new, lane, index.free_regions)


@internal
def _adopt(parent, lane, child, index):
    """Hang a block with all that is below it into a lane of its parent."""
    index.links[parent, lane] = child
    index.links[child, PARENT] = parent * LANES + lane
    _bound(child, index)


@internal
def _nearest_lane(block, lanes, box, boxes):
    """Return the lane, of some, whose bounds the centre of a box is in the midst of, or nearly.

    Distances are in half sides of the bounds, which separates neighbors as a cut does.
    """
    lower, upper, ends, links = boxes.lower, boxes.upper, boxes.index.ends, boxes.index.links
    gaps = boxes.index.workspace.gaps
    for lane in range(LANES):
        gaps[lane] = 0.0
    for j in range(ends.shape[1]):
        centre = np.float32(lower[box, j] + upper[box, j])
        for lane in range(ends.shape[3]):
            low, high = ends[block, j, LOW, lane], ends[block, j, HIGH, lane]
            gaps[lane] = larger(abs(low + high - centre) / (high - low + _THIN), gaps[lane])
    nearest = -1
    for lane in range(ends.shape[3]):
        is_choice = links[block, lane] >= 0 and lanes >> lane & 1
        if is_choice and (nearest < 0 or gaps[lane] < gaps[nearest]):
            nearest = lane
    return nearest
