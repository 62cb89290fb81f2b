"""Sixteen boxes at a time: the comparisons that the search spends its time on.

A block holds 16 boxes in single precision, in each dimension first their lower ends side by side,
then the upper ones: `ends[block, dimension, LOW or HIGH, lane]`. What is written here in LLVM's
vector types, which exist on every processor, becomes a few instructions; the same loops in Python
are compiled to several times as many. Masks have a bit for each lane, the lowest for the first.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from hyperboxes._kernels.jit import formula, instruction

LANES = 16
LOW, HIGH = range(2)
ALL_LANES = (1 << LANES) - 1

_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_MASK = ir.IntType(64)


@formula
def within(ends, block, inside, p, q):
    """Return the lanes of a block that lie within reach.

    These have `lower <= p` and `upper >= q` in every dimension; with `inside`, `upper <= p` and
    `lower >= q`.
    """
    n_features = p.shape[0]
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


@formula
def gaps_of(ends, block, inside, x1, x2, gamma, gaps):
    """Write the distances of a block's boxes to an interval, rounded, into `gaps`.

    They are the largest of `lower - x1` and `x2 - upper`, times gamma; with `inside`, of
    `upper - x1` and `x2 - lower`.
    """
    near = block * x1.shape[0] * 2 * LANES + (LANES if inside else 0)
    far = block * x1.shape[0] * 2 * LANES + (0 if inside else LANES)
    _set_zero(gaps)
    for j in range(x1.shape[0]):
        _raise_gaps(gaps, ends, near, far, x1[j], x2[j], gamma[j])
        near += 2 * LANES
        far += 2 * LANES


@instruction
def first_lane(typing: Any, mask: Any) -> Any:
    """Return the lowest lane of a mask, which must not be empty."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), True))

    return types.int64(types.int64), generate


@instruction
def _within_in_one(typing: Any, ends: Any, near: Any, far: Any, p: Any, q: Any) -> Any:
    """Return the lanes with the end at `near` up to p and that at `far` from q on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        near_lanes = _load(context, builder, signature.args[0], args[0], args[1])
        far_lanes = _load(context, builder, signature.args[0], args[0], args[2])
        both = builder.and_(
            builder.fcmp_ordered("<=", near_lanes, _splat(builder, args[3])),
            builder.fcmp_ordered(">=", far_lanes, _splat(builder, args[4])),
        )
        return builder.zext(builder.bitcast(both, ir.IntType(LANES)), _MASK)

    place, number = types.int64, types.float32
    return types.int64(ends, place, place, number, number), generate


@instruction
def _raise_gaps(
    typing: Any, gaps: Any, ends: Any, near: Any, far: Any, x1: Any, x2: Any, gamma: Any
) -> Any:
    """Raise each lane's gap to that between an interval and the ends at `near` and `far`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        near_lanes = _load(context, builder, signature.args[1], args[1], args[2])
        far_lanes = _load(context, builder, signature.args[1], args[1], args[3])
        before = builder.fsub(near_lanes, _splat(builder, args[4]))
        beyond = builder.fsub(_splat(builder, args[5]), far_lanes)
        gap = builder.fmul(_larger(builder, before, beyond), _splat(builder, args[6]))
        place = _pointer(context, builder, signature.args[0], args[0])
        builder.store(_larger(builder, gap, builder.load(place, align=4)), place, align=4)
        return context.get_dummy_value()

    place, number = types.int64, types.float32
    return types.void(gaps, ends, place, place, number, number, number), generate


@instruction
def _set_zero(typing: Any, gaps: Any) -> Any:
    """Fill the lanes of `gaps` with 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _pointer(context, builder, signature.args[0], args[0])
        builder.store(ir.Constant(_FLOATS, [0.0] * LANES), place, align=4)
        return context.get_dummy_value()

    return types.void(gaps), generate


def _load(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Any:
    """Load the 16 numbers at a place of a contiguous array."""
    return builder.load(_pointer(context, builder, kind, array, start), align=4)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, start: Any = None) -> Any:
    place = context.make_array(kind)(context, builder, array).data
    if start is not None:
        place = builder.gep(place, [start], inbounds=True)
    return builder.bitcast(place, _FLOATS.as_pointer())


def _splat(builder: Any, number: Any) -> Any:
    """Repeat a number in all lanes."""
    undefined = ir.Constant(_FLOATS, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, undefined, lanes)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    """Return the larger number of each lane; `b` where one is not a number."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)
