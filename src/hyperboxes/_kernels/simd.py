"""Comparisons of 16 boxes at once, written for the vector units of processors.

A lane is the position of one box in a vector of 16. Masks have one bit a lane. The second half
keeps the 16 nearest boxes in the order of their distances.

A block holds 16 boxes in single precision, in each dimension first their lower ends side by side,
then the upper ones: `ends[block, dimension, LOW or HIGH, lane]`. What is written here in LLVM's
vector types, which exist on every processor, becomes a few instructions; the same loops in Python
are compiled to several times as many. Masks have a bit for each lane, the lowest for the first.

NaN, in a block or a sample, is a missing value and excludes nothing: it is within any reach,
and no distance. Both ends of an empty lane are infinite, which is hardly within any reach.

A list of the nearest has sixteen positions, and Python makes it at an address that is a multiple of
its length (`AdaptiveState`). What is written here in LLVM's vector types takes no branch, where a
loop over the positions of the list would be mispredicted at each insertion, and keeps the list in
the processor's registers.
"""

import math

from llvmlite import ir
from numba import types
from numba.core import cgutils

from hyperboxes._kernels.jit import check_index, forceinline, intrinsic

LANES = 16
LOW, HIGH = range(2)
ALL_LANES = (1 << LANES) - 1

# Columns of a block's links after those of the lanes.
LEVEL, PARENT = LANES, LANES + 1
N_LINKS = LANES + 2

_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_MASK = ir.IntType(64)
_ZEROS = ir.Constant(_FLOATS, [0.0] * LANES)
_ONES = ir.Constant(_FLOATS, [1.0] * LANES)
_INFINITIES = ir.Constant(_FLOATS, [math.inf] * LANES)
_LINKS = ir.VectorType(_MASK, LANES)
_LANE_NUMBERS = ir.VectorType(ir.IntType(32), LANES)


@forceinline
def within(ends, block, inside, p, q):
    """Return the lanes of a block that lie within reach.

    These have `lower <= p` and `upper >= q` in every dimension; with `inside`, `upper <= p` and
    `lower >= q`.
    """
    n_features = p.shape[0]
    check_index(block, ends.shape[0])
    near = block * n_features * 2 * LANES + (LANES if inside else 0)
    far = block * n_features * 2 * LANES + (0 if inside else LANES)
    mask = ALL_LANES
    j = 0
    while j + 4 <= n_features:
        mask &= (
            _within_in_one(ends, near, far, p[j], q[j])
            & _within_in_one(ends, near + 2 * LANES, far + 2 * LANES, p[j + 1], q[j + 1])
            & _within_in_one(ends, near + 4 * LANES, far + 4 * LANES, p[j + 2], q[j + 2])
            & _within_in_one(ends, near + 6 * LANES, far + 6 * LANES, p[j + 3], q[j + 3])
        )
        if mask == 0:
            return mask
        j += 4
        near += 8 * LANES
        far += 8 * LANES
    while j < n_features:
        mask &= _within_in_one(ends, near, far, p[j], q[j])
        j += 1
        near += 2 * LANES
        far += 2 * LANES
    return mask


@forceinline
def near_lanes(ends, block, inside, x1, x2, slopes, mean, limit, gaps):
    """Return the lanes of a block no farther from an interval than a limit; write how far.

    A feature's gap is the larger of `lower - x1` and `x2 - upper`, times its slope; with `inside`,
    of `upper - x1` and `x2 - lower`. The distance, rounded, is the largest of them or, with `mean`,
    their mean, each clipped at 1. Where numbers are too large for single precision, and in empty
    lanes, nothing is known: 0. Distances only grow from feature to feature, so the walk over them
    ends as soon as no lane is left.
    """
    n_features = x1.shape[0]
    check_index(block, ends.shape[0])
    start = block * n_features * 2 * LANES
    near, far = start + (LANES if inside else 0), start + (0 if inside else LANES)
    mask = ALL_LANES
    j = 0
    while j < n_features and mask:
        stop = j + 4 if j + 4 < n_features else n_features
        mask = _add_gaps(ends, near, far, j, stop, n_features, x1, x2, slopes, mean, limit, gaps)
        j = stop
    return mask


@intrinsic
def first_lane(typing, mask):
    """Return the lowest lane of a mask, which must not be empty."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), True))

    return types.int64(types.int64), generate


@intrinsic
def nearest_lane(typing, mask, gaps):
    """Return the lane of a mask, which must not be empty, with the smallest of 16 numbers."""

    def generate(context, builder, signature, args):
        bits = builder.trunc(args[0], ir.IntType(LANES))
        is_choice = builder.bitcast(bits, ir.VectorType(ir.IntType(1), LANES))
        values = _load(context, builder, signature.args[1], args[1])
        values = builder.select(is_choice, values, _INFINITIES)
        least = values
        for step in (8, 4, 2, 1):  # lanes apart, until all have seen all
            turned = ir.Constant(_LANE_NUMBERS, [(lane + step) % LANES for lane in range(LANES)])
            least = _smaller(builder, least, builder.shuffle_vector(least, least, turned))
        is_least = builder.and_(is_choice, builder.fcmp_ordered("==", values, least))
        return builder.cttz(as_mask(builder, is_least), ir.Constant(ir.IntType(1), True))

    return types.int64(types.int64, gaps), generate


@intrinsic
def taken_lanes(typing, links, block):
    """Return the lanes of a block that hold a box or a block."""

    def generate(context, builder, signature, args):
        start = builder.mul(args[1], ir.Constant(_MASK, N_LINKS))
        address = pointer_to(context, builder, signature.args[0], args[0], start)
        members = builder.load(builder.bitcast(address, _LINKS.as_pointer()), align=8)
        return as_mask(
            builder, builder.icmp_signed(">=", members, ir.Constant(_LINKS, [0] * LANES))
        )

    return types.int64(links, types.int64), generate


@intrinsic
def _within_in_one(typing, ends, near, far, p, q):
    """Return the lanes with the end at `near` up to p and that at `far` from q on, or NaN."""

    def generate(context, builder, signature, args):
        near_lanes = _load(context, builder, signature.args[0], args[0], args[1])
        far_lanes = _load(context, builder, signature.args[0], args[0], args[2])
        both = builder.and_(
            builder.fcmp_unordered("<=", near_lanes, splat(builder, args[3])),
            builder.fcmp_unordered(">=", far_lanes, splat(builder, args[4])),
        )
        return as_mask(builder, both)

    offset, number = types.int64, types.float32
    return types.int64(ends, offset, offset, number, number), generate


@intrinsic
def _add_gaps(typing, ends, near, far, first, stop, n, x1, x2, slopes, mean, limit, gaps):
    """Go on to some more of n dimensions; return the lanes that are not beyond the limit so far.

    The ends of the first dimension of all are at `near` and `far`.
    """

    def generate(context, builder, signature, args):
        kinds = signature.args
        address = _lanes_at(builder, pointer_to(context, builder, kinds[11], args[11]))
        is_first = builder.icmp_signed("==", args[3], args[3].type(0))
        is_last = builder.icmp_signed("==", args[4], args[5])
        before = builder.select(is_first, _ZEROS, builder.load(address, align=4))
        mask = cgutils.alloca_once(builder, _MASK)

        def keep(folded, distances):
            builder.store(builder.select(is_last, distances, folded), address, align=4)
            is_near = builder.fcmp_ordered("<=", distances, splat(builder, args[10]))
            builder.store(as_mask(builder, is_near), mask)

        with builder.if_else(args[9]) as (then, otherwise):
            with then:
                total = _fold_gaps(context, builder, kinds, args, before, _add_clipped)
                number = splat(builder, builder.sitofp(args[5], ir.FloatType()))
                keep(total, builder.fdiv(total, number))
            with otherwise:
                largest = _fold_gaps(context, builder, kinds, args, before, _larger)
                keep(largest, _where_known(builder, largest, largest))
        return builder.load(mask)

    numbers = (types.int64,) * 5
    return (
        types.int64(ends, *numbers, x1, x2, slopes, types.boolean, types.float32, gaps),
        generate,
    )


def _fold_gaps(context, builder, kinds, args, before, combine):
    """Combine the gaps of some dimensions with those before."""
    folded = cgutils.alloca_once(builder, _FLOATS)
    builder.store(before, folded)
    step = ir.Constant(_MASK, 2 * LANES)
    with cgutils.for_range_slice(builder, args[3], args[4], args[3].type(1)) as (j, _):
        offset = builder.mul(j, step)
        near_lanes, far_lanes = (
            _load(context, builder, kinds[0], args[0], builder.add(start, offset))
            for start in args[1:3]
        )
        first, second, slope = (
            splat(builder, builder.load(pointer_to(context, builder, kind, array, j)))
            for kind, array in zip(kinds[6:9], args[6:9], strict=True)
        )
        before, beyond = builder.fsub(near_lanes, first), builder.fsub(second, far_lanes)
        gap = builder.fmul(_larger(builder, before, beyond), slope)
        builder.store(combine(builder, gap, builder.load(folded)), folded)
    return builder.load(folded)


def _add_clipped(builder, gap, total):
    """Add gaps from 0 to 1 to a total; nothing where they are not known."""
    clipped = _smaller(builder, _larger(builder, gap, _ZEROS), _ONES)
    return builder.fadd(total, _where_known(builder, clipped, gap))


def _where_known(builder, values, gap):
    """Return values in the lanes whose gap is a finite number, 0 in the others."""
    return builder.select(builder.fcmp_ordered("<", gap, _INFINITIES), values, _ZEROS)


def as_mask(builder, lanes):
    """Turn the truth of 16 comparisons into a number."""
    return builder.zext(builder.bitcast(lanes, ir.IntType(LANES)), _MASK)


def _load(context, builder, kind, array, start=None):
    """Load the 16 numbers at a position of a contiguous array."""
    return builder.load(
        _lanes_at(builder, pointer_to(context, builder, kind, array, start)), align=4
    )


def _lanes_at(builder, pointer):
    """Take a pointer to a number as one to 16 numbers."""
    return builder.bitcast(pointer, _FLOATS.as_pointer())


def pointer_to(context, builder, kind, array, start=None):
    """Return a pointer to a number of a contiguous array."""
    address = context.make_array(kind)(context, builder, array).data
    return address if start is None else builder.gep(address, [start], inbounds=True)


def splat(builder, number, kind=_FLOATS):
    """Repeat a number in all lanes."""
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(_LANE_NUMBERS, [0] * LANES))


def _larger(builder, a, b):
    """Return the larger number of each lane; `b` where one is not a number."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _smaller(builder, a, b):
    """Return the smaller number of each lane; `b` where one is not a number."""
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


_GAPS = ir.VectorType(ir.DoubleType(), LANES)
_POSITIONS = ir.VectorType(ir.IntType(32), LANES)

# Each lane takes what the one before has; the first one takes the first of another vector.
_ONE_ON = ir.Constant(_POSITIONS, [LANES, *range(LANES - 1)])
_LEAST = ir.Constant(_GAPS, [-math.inf] * LANES)


@intrinsic
def at(typing, values, position):
    """Return a value of a contiguous array, at a position that is known not to be negative."""

    def generate(context, builder, signature, args):
        return builder.load(pointer_to(context, builder, signature.args[0], *args))

    return values.dtype(values, types.int64), generate


@intrinsic
def move_up(typing, values, n):
    """Move the first `n` values of a contiguous array up by one position."""

    def generate(context, builder, signature, args):
        kind, one = signature.args[0], context.get_constant(types.int64, 1)
        source = pointer_to(context, builder, kind, args[0])
        target = pointer_to(context, builder, kind, args[0], one)
        size = context.get_abi_sizeof(source.type.pointee)
        cgutils.raw_memmove(builder, target, source, args[1], size)
        return context.get_dummy_value()

    return types.void(values, types.int64), generate


@intrinsic
def below(typing, values, start, limit):
    """Return a mask of the sixteen values from `start` on that are below a limit."""

    def generate(context, builder, signature, args):
        lanes = _load_gaps(
            builder, pointer_to(context, builder, signature.args[0], *args[:2]), _GAPS
        )
        return as_mask(builder, builder.fcmp_ordered("<", lanes, splat(builder, args[2], _GAPS)))

    return types.int64(values, types.int64, types.float64), generate


@intrinsic
def put_in_order(typing, positions, gaps, values, start, mask):
    """Put the values of a mask's lanes, from `start` on, into a list of the sixteen nearest.

    Each comes after those that are as near. The mask must not be empty.
    """

    def generate(context, builder, signature, args):
        pointers = [
            pointer_to(context, builder, kind, array)
            for kind, array in zip(signature.args[:3], args[:3], strict=True)
        ]
        lists = [
            _load_gaps(builder, pointers[0], _POSITIONS),
            _load_gaps(builder, pointers[1], _GAPS),
        ]

        def insert(lane, before):
            position = builder.add(args[3], lane)
            gap = builder.load(builder.gep(pointers[2], [position], inbounds=True))
            position = builder.trunc(position, ir.IntType(32))
            return _insert(builder, before[0], before[1], position, gap)

        after = _for_lanes(builder, args[4], lists, insert)
        for pointer, list_ in zip(pointers[:2], after, strict=True):
            builder.store(list_, builder.bitcast(pointer, list_.type.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(positions, gaps, values, types.int64, types.int64), generate


@intrinsic
def keep_smallest(typing, smallest, values, start, mask):
    """Put the values of a mask's lanes, from `start` on, into an ordered list of the smallest.

    The list has sixteen positions. The mask must not be empty.
    """

    def generate(context, builder, signature, args):
        numbers = pointer_to(context, builder, signature.args[1], args[1], args[2])
        address = pointer_to(context, builder, signature.args[0], args[0])
        kind = ir.VectorType(address.type.pointee, LANES)

        def insert(lane, before):
            value = builder.load(builder.gep(numbers, [lane], inbounds=True))
            return (_insert_value(builder, before[0], splat(builder, value, kind)),)

        [after] = _for_lanes(builder, args[3], [_load_gaps(builder, address, kind)], insert)
        builder.store(after, builder.bitcast(address, kind.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(smallest, values, types.int64, types.int64), generate


def _for_lanes(builder, mask, before, step):
    """Return some values after a step for each lane of a mask, the lowest first."""
    outside, loop, end = (
        builder.block,
        *(builder.append_basic_block(name) for name in ("insert", "inserted")),
    )
    builder.branch(loop)
    builder.position_at_end(loop)
    lanes = builder.phi(mask.type)
    values = [builder.phi(value.type) for value in before]
    after = step(builder.cttz(lanes, ir.Constant(ir.IntType(1), True)), values)
    rest = builder.and_(lanes, builder.sub(lanes, ir.Constant(lanes.type, 1)))
    for phi, first, next_ in zip((lanes, *values), (mask, *before), (rest, *after), strict=True):
        phi.add_incoming(first, outside)
        phi.add_incoming(next_, loop)
    is_done = builder.icmp_unsigned("==", rest, ir.Constant(rest.type, 0))
    builder.cbranch(is_done, end, loop)
    builder.position_at_end(end)
    return after


def _insert(builder, positions, gaps, position, gap):
    """Return the lists with one more, without their last."""
    new = splat(builder, gap, _GAPS)
    moved = builder.shuffle_vector(gaps, _LEAST, _ONE_ON)
    # From the first lane on that makes room, the content of the one before moves up.
    moves_on = builder.fcmp_ordered("<", new, gaps)
    is_behind = builder.fcmp_ordered("<", new, moved)
    old_positions = builder.shuffle_vector(positions, positions, _ONE_ON)
    new_positions = builder.select(is_behind, old_positions, splat(builder, position, _POSITIONS))
    return (
        builder.select(moves_on, new_positions, positions),
        _insert_value(builder, gaps, new),
    )


def _insert_value(builder, values, new):
    """Return an ordered list with one value more, without its last.

    Each lane takes the larger of the one before and the smaller of old and new.
    """
    lowest = ir.Constant(values.type, [-math.inf] * LANES)
    moved = builder.shuffle_vector(values, lowest, _ONE_ON)
    nearer = builder.select(builder.fcmp_ordered("<", values, new), values, new)
    return builder.select(builder.fcmp_ordered(">", moved, nearer), moved, nearer)


def _load_gaps(builder, pointer, kind):
    """Load the lanes that a pointer to a number points at."""
    return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=4)
