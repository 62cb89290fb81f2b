"""Bitmap index: comparisons of 2,048 boxes at a time, with one bit for each box.

With many features, a tree excludes few of the boxes that a large box may meet. A bitmap index is
cheap: for each feature and each of 32 *bin edges* it has a bitmap of the boxes whose lower end is
at most the edge, and one of those whose upper end is at least the edge. Boxes that meet an interval
are in the bitmaps of the edges just beyond its ends, two for each feature, so two instructions
compare 512 boxes in one feature; the rows of the boxes decide about the rest. Boxes that are not in
the bitmaps of the edges just before the ends of a window lie inside the window. Blocking bounds
(`blocking.py`) have bitmaps as well: of the boxes with a bound below them beyond the edge, and of
those with a bound above them.

Upper ends and bounds above are stored as negative numbers, so that one comparison serves both ends.
While bitmaps are in use, boxes only grow and free regions only shrink, so bits are only added; a
box that is removed leaves the bitmap of its class. `bits[chunk, row]` is a bitmap of the boxes from
`2048 * chunk` on; `row` is `(2 * feature + end) * 32 + edge`, and rows of blocking bounds follow
those of ends. `classes[chunk, c]` is the bitmap of a class; the last one is of all boxes with a
label. `bin_edges[feature, end]` ascend. `rows`, `all_rows` and `all_but_one` are working arrays.

A tree that excludes nearly all boxes, as with few features, is faster. Therefore some searches for
conflicts use the trees first, and bitmaps are used if these searches cost more than all chunks.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from hyperboxes._kernels.geometry import is_known, overlaps, smaller
from hyperboxes._kernels.jit import check_index, forceinline, internal, intrinsic
from hyperboxes._kernels.simd import LOW, first_lane, pointer_to
from hyperboxes._kernels.structs import BOXES, CLOSED, NO_LABEL, WORK, Bitmaps

N_EDGES = 32
WORDS = 32
CHUNK = 64 * WORDS

# Indices of `state`: whether bitmaps are in use, and whether a box is unknown in some feature; how
# many more tree searches to wait for, and how many blocks they visited beyond the cost of the
# chunks; the number of boxes when bitmaps came into use.
ON, UNKNOWN, WALKS, EXCESS, N_BEFORE = range(5)

# What a search may look for: boxes that are in all rows, or in all rows but one.
IN_ALL_ROWS, IN_ALL_BUT_ONE = 1, 2

# Whether boxes must be in the bitmaps, or must not.
IN, NOT_IN = 0, -1

# The cost of a chunk, in blocks of a tree.
_BLOCKS_A_CHUNK = 16

# The number of boxes from which bin edges are derived.
_SAMPLE_SIZE = 256

# The number of bitmaps compared between two checks for an early end.
_AT_ONCE = 8

_BITS = ir.VectorType(ir.IntType(64), WORDS)


def extended(bitmaps: Bitmaps, capacity: int) -> Bitmaps:
    """Return the same bitmaps with a larger capacity."""
    n_chunks = -(-capacity // CHUNK)

    def extend(array: np.ndarray) -> np.ndarray:
        larger = np.zeros((n_chunks, *array.shape[1:]), array.dtype)
        larger[: len(array)] = array
        return larger

    if n_chunks <= len(bitmaps.bits):
        return bitmaps
    return bitmaps._replace(bits=extend(bitmaps.bits), classes=extend(bitmaps.classes))


def make_bitmaps(
    lower: np.ndarray, upper: np.ndarray, capacity: int, n_classes: int, n_walks: int
) -> Bitmaps:
    """Return empty bitmaps, with bin edges that divide some boxes evenly."""
    n_features = lower.shape[1]
    n_chunks = -(-capacity // CHUNK)
    return Bitmaps(
        _choose_edges(lower, upper),
        np.zeros((n_chunks, 4 * n_features * N_EDGES, WORDS), np.int64),
        np.zeros((n_chunks, n_classes + 1, WORDS), np.int64),
        np.array([0, 0, n_walks, 0, 0]),
        np.empty(4 * n_features, np.int64),
        *np.empty((2, WORDS), np.int64),
    )


def _choose_edges(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return bin edges for lower and negative upper ends: ascending numbers without NaN."""
    if len(lower) == 0:
        grid = np.linspace(0.0, 1.0, N_EDGES)
        return np.tile(np.stack([grid, grid - 1.0]), (lower.shape[1], 1, 1))
    some = slice(None, None, -(-len(lower) // _SAMPLE_SIZE))
    keys = np.stack([lower[some], -upper[some]])
    keys = np.sort(np.where(np.isnan(keys), 0.0, keys), axis=1)
    sampled = np.linspace(0, keys.shape[1] - 1, N_EDGES).round().astype(int)
    return np.ascontiguousarray(keys[:, sampled].transpose(2, 0, 1))


@forceinline
def are_on(bitmaps):
    """Whether bitmaps are in use; None if there are none."""
    return False if bitmaps is None else bitmaps.state[ON] > 0


@internal
def clear_bitmaps(bitmaps):
    """Remove all boxes."""
    bits, classes = bitmaps.bits, bitmaps.classes
    for chunk in range(bits.shape[0]):
        for row in range(bits.shape[1]):
            for word in range(WORDS):
                bits[chunk, row, word] = 0
        for row in range(classes.shape[1]):
            for word in range(WORDS):
                classes[chunk, row, word] = 0
    bitmaps.state[UNKNOWN] = 0


@internal
def mark_box(box, boxes, bitmaps):
    """Add a box with its present bounds to bitmaps in use; it may be in some of them already."""
    if bitmaps is None or not are_on(bitmaps):
        return
    lower, upper = boxes.lower, boxes.upper
    bits, bin_edges, classes = bitmaps.bits, bitmaps.bin_edges, bitmaps.classes
    chunk, word, bit = _split_index(box)
    for j in range(lower.shape[1]):
        if not is_known(lower[box, j]):
            bitmaps.state[UNKNOWN] = 1
        for end in range(2):
            mark = _first_edge(bin_edges, j, end, lower[box, j] if end == LOW else -upper[box, j])
            row = (2 * j + end) * N_EDGES
            while mark < N_EDGES and not bits[chunk, row + mark, word] & bit:
                bits[chunk, row + mark, word] |= bit
                mark += 1
    label = boxes.labels[box]
    if label != NO_LABEL:
        classes[chunk, label, word] |= bit
        classes[chunk, classes.shape[1] - 1, word] |= bit


@internal
def mark_blocking_bound(box, j, end, blocking_bound, bitmaps):
    """Add a blocking bound of a box, given as a negative number if it is above the box."""
    bits = bitmaps.bits
    chunk, word, bit = _split_index(box)
    row = bits.shape[1] // 2 + (2 * j + end) * N_EDGES
    mark = _first_edge(bitmaps.bin_edges, j, end, blocking_bound) - 1
    while mark >= 0 and not bits[chunk, row + mark, word] & bit:
        bits[chunk, row + mark, word] |= bit
        mark -= 1


@internal
def unmark_box(box, boxes, bitmaps):
    """Remove a box from bitmaps in use."""
    if bitmaps is None or not are_on(bitmaps):
        return
    classes, label = bitmaps.classes, boxes.labels[box]
    if label != NO_LABEL:
        chunk, word, bit = _split_index(box)
        classes[chunk, label, word] &= ~bit
        classes[chunk, classes.shape[1] - 1, word] &= ~bit


@forceinline
def _split_index(box):
    """Return the chunk of a box, its word, and its bit."""
    return box // CHUNK, box % CHUNK // 64, np.int64(1) << (box % 64)


@forceinline
def box_at(chunk, word, lanes):
    """Return the first box of those in a word."""
    return chunk * CHUNK + word * 64 + first_lane(lanes)


@forceinline
def _first_edge(bin_edges, j, end, key):
    """Return the first bin edge that is not below a key, or the number of edges; 0 for NaN."""
    mark = 0
    step = N_EDGES // 2
    while step > 0:
        mark += step * (bin_edges[j, end, mark + step - 1] < key)
        step //= 2
    return mark + (bin_edges[j, end, mark] < key)


@internal
def rows_to_meet(v, w, first, bitmaps):
    """List, from an index on, the bitmaps of all boxes that meet [v, w]; return the end.

    Where the interval is unknown (NaN), or beyond all bin edges, every box meets it.
    """
    bin_edges, rows = bitmaps.bin_edges, bitmaps.rows
    last = rows.shape[0]
    for j in range(v.shape[0]):
        for end in range(2):
            key = w[j] if end == LOW else -v[j]
            mark = _first_edge(bin_edges, j, end, key)
            if mark < N_EDGES and is_known(key):
                row = ((2 * j + end) * N_EDGES + mark) * WORDS
                if mark < N_EDGES // 2:  # few boxes: these come first
                    rows[first] = row
                    first += 1
                else:
                    last -= 1
                    rows[last] = row
    while last < rows.shape[0]:
        rows[first] = rows[last]
        first += 1
        last += 1
    return first


@internal
def rows_outside(near, far, first, bitmaps):
    """List, from an index on, bitmaps of boxes that extend beyond [far, near]; return the end."""
    bin_edges, rows = bitmaps.bin_edges, bitmaps.rows
    for j in range(near.shape[0]):
        for end in range(2):
            mark = _first_edge(bin_edges, j, end, far[j] if end == LOW else -near[j]) - 1
            if mark >= 0:
                rows[first] = ((2 * j + end) * N_EDGES + mark) * WORDS
                first += 1
    return first


@internal
def rows_blocked(low, high, first, bitmaps):
    """List, from an index on, bitmaps of boxes blocked before [low, high]; return the end."""
    bin_edges, rows = bitmaps.bin_edges, bitmaps.rows
    blocking_bounds = bitmaps.bits.shape[1] // 2
    for j in range(low.shape[0]):
        for end in range(2):
            key = low[j] if end == LOW else -high[j]
            mark = _first_edge(bin_edges, j, end, key)
            if mark < N_EDGES and is_known(key):
                rows[first] = (blocking_bounds + (2 * j + end) * N_EDGES + mark) * WORDS
                first += 1
    return first


@forceinline
def n_chunks(boxes):
    """Return the number of chunks, and count them as work."""
    number = (boxes.counters[BOXES] + CHUNK - 1) // CHUNK
    boxes.counters[WORK] += number
    return number


@forceinline
def record_tree_cost(n_blocks, boxes, bitmaps):
    """Record the blocks that a search for conflicts visited, to compare trees with bitmaps."""
    if bitmaps is None:
        return
    state = bitmaps.state
    if state[WALKS] > 0:
        state[EXCESS] += n_blocks - _BLOCKS_A_CHUNK * n_chunks(boxes)
        state[WALKS] -= 1


@forceinline
def load_class(chunk, label, bitmaps):
    """Load the boxes of a class in a chunk."""
    for word in range(WORDS):
        bitmaps.all_rows[word] = bitmaps.classes[chunk, label, word]


@forceinline
def load_other_classes(chunk, label, bitmaps):
    """Load the boxes of other classes in a chunk."""
    classes, all_rows = bitmaps.classes, bitmaps.all_rows
    for word in range(WORDS):
        all_rows[word] = classes[chunk, classes.shape[1] - 1, word]
        if label != NO_LABEL:
            all_rows[word] &= ~classes[chunk, label, word]


@internal
def intersect(chunk, row, stop, kind, wanted, bitmaps):
    """Keep the boxes of a chunk that are in all rows (or `NOT_IN` any) as `all_rows`.

    Those that are in all rows but one are `all_but_one`. Returns whether any box that is looked for
    is left; if not, the loop ends early.
    """
    bits, rows, all_rows, all_but_one = (
        bitmaps.bits,
        bitmaps.rows,
        bitmaps.all_rows,
        bitmaps.all_but_one,
    )
    check_index(chunk, bits.shape[0])
    start = chunk * bits.shape[1] * WORDS
    for word in range(WORDS):
        all_but_one[word] = all_rows[word]
    found = _intersect(bits, start, rows, row, row, kind, all_rows, all_but_one)
    while row < stop and found & wanted:
        next_row = smaller(row + _AT_ONCE, stop)
        found = _intersect(bits, start, rows, row, next_row, kind, all_rows, all_but_one)
        row = next_row
    return found & wanted


@internal
def first_in_all_rows(v, w, label, boxes, bitmaps):
    """Return a box of another class that shares a point with [v, w], or -1."""
    if bitmaps is None:
        return -1
    all_rows = bitmaps.all_rows
    n_rows = rows_to_meet(v, w, 0, bitmaps)
    for chunk in range(n_chunks(boxes)):
        load_other_classes(chunk, label, bitmaps)
        if intersect(chunk, 0, n_rows, IN, IN_ALL_ROWS, bitmaps):
            for word in range(WORDS):
                lanes = all_rows[word]
                while lanes:
                    box = box_at(chunk, word, lanes)
                    lanes &= lanes - 1
                    if overlaps(v, w, boxes, box, CLOSED):
                        return box
    return -1


@intrinsic
def _intersect(typing, bits, start, rows, row, stop, kind, all_rows, all_but_one):
    """Compare with some more rows; return which kinds of boxes are left."""

    def generate(context, builder, signature, args):
        kinds = signature.args
        outer = [_bitmap_at(context, builder, kinds[n], args[n]) for n in (6, 7)]
        inner = [cgutils.alloca_once(builder, _BITS) for _ in outer]
        for source, target in zip(outer, inner, strict=True):
            builder.store(builder.load(source, align=8), target)
        flip = _repeat(builder, args[5])
        with cgutils.for_range_slice(builder, args[3], args[4], args[3].type(1)) as (number, _):
            offset = builder.load(pointer_to(context, builder, kinds[2], args[2], number))
            address = _bitmap_at(context, builder, kinds[0], args[0], builder.add(args[1], offset))
            of_row = builder.xor(builder.load(address, align=8), flip)
            all_rows, all_but_one = (builder.load(address) for address in inner)
            builder.store(builder.and_(all_rows, of_row), inner[0])
            builder.store(builder.or_(all_rows, builder.and_(all_but_one, of_row)), inner[1])
        for source, target in zip(inner, outer, strict=True):
            builder.store(builder.load(source), target, align=8)
        any_met, any_nearly = (_is_any(builder, builder.load(address)) for address in inner)
        return builder.or_(any_met, builder.shl(any_nearly, any_nearly.type(1)))

    number = types.int64
    return types.int64(bits, number, rows, number, number, number, all_rows, all_but_one), generate


def _bitmap_at(context, builder, kind, array, start=None):
    """Return a pointer to the words of a bitmap."""
    return builder.bitcast(pointer_to(context, builder, kind, array, start), _BITS.as_pointer())


def _repeat(builder, word):
    """Return a word eight times."""
    undefined = ir.Constant(_BITS, ir.Undefined)
    first = builder.insert_element(undefined, word, ir.Constant(ir.IntType(32), 0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), WORDS), [0] * WORDS)
    return builder.shuffle_vector(first, undefined, lanes)


def _is_any(builder, bits):
    """Return 1 if a bit is set, else 0."""
    number = builder.bitcast(bits, ir.IntType(CHUNK))
    return builder.zext(builder.icmp_unsigned("!=", number, number.type(0)), ir.IntType(64))
