"""The nearest of many, in vector lanes: those that are near enough, in order.

A list of the nearest has sixteen places, and Python makes it at an address that is a multiple of
its length (`BoxMemory`). What is written here in LLVM's vector types takes no branch, where a loop
over the places of the list would be mispredicted at each insertion, and keeps the list in the
processor's registers.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from hyperboxes._kernels.jit import instruction
from hyperboxes._kernels.lanes import LANES, as_mask, pointer_to, splat

_GAPS = ir.VectorType(ir.DoubleType(), LANES)
_PLACES = ir.VectorType(ir.IntType(32), LANES)

# Each lane takes what the one before has; the first one takes the first of another vector.
_ONE_ON = ir.Constant(_PLACES, [LANES, *range(LANES - 1)])
_LEAST = ir.Constant(_GAPS, [-math.inf] * LANES)


@instruction
def at(typing: Any, values: Any, place: Any) -> Any:
    """Return a value of a contiguous array, at a place that is known not to be negative."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(pointer_to(context, builder, signature.args[0], *args))

    return values.dtype(values, types.int64), generate


@instruction
def move_up(typing: Any, values: Any, n: Any) -> Any:
    """Move the first `n` values of a contiguous array up by one place."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, one = signature.args[0], context.get_constant(types.int64, 1)
        source = pointer_to(context, builder, kind, args[0])
        target = pointer_to(context, builder, kind, args[0], one)
        size = context.get_abi_sizeof(source.type.pointee)
        cgutils.raw_memmove(builder, target, source, args[1], size)
        return context.get_dummy_value()

    return types.void(values, types.int64), generate


@instruction
def below(typing: Any, values: Any, start: Any, limit: Any) -> Any:
    """Return a mask of the sixteen values from `start` on that are below a limit."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = _load(builder, pointer_to(context, builder, signature.args[0], *args[:2]), _GAPS)
        return as_mask(builder, builder.fcmp_ordered("<", lanes, splat(builder, args[2], _GAPS)))

    return types.int64(values, types.int64, types.float64), generate


@instruction
def put_in_order(typing: Any, places: Any, gaps: Any, values: Any, start: Any, mask: Any) -> Any:
    """Put the values of a mask's lanes, from `start` on, into a list of the sixteen nearest.

    Each comes after those that are as near. The mask must not be empty.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointers = [
            pointer_to(context, builder, kind, array)
            for kind, array in zip(signature.args[:3], args[:3], strict=True)
        ]
        lists = [_load(builder, pointers[0], _PLACES), _load(builder, pointers[1], _GAPS)]
        outside, loop, end = (
            builder.block,
            *(builder.append_basic_block(name) for name in ("insert", "inserted")),
        )
        builder.branch(loop)
        builder.position_at_end(loop)
        lanes = builder.phi(args[4].type)
        before = [builder.phi(list_.type) for list_ in lists]
        lane = builder.cttz(lanes, ir.Constant(ir.IntType(1), True))
        place = builder.add(args[3], lane)
        gap = builder.load(builder.gep(pointers[2], [place], inbounds=True))
        place = builder.trunc(place, ir.IntType(32))
        after = _insert(builder, before[0], before[1], place, gap)
        rest = builder.and_(lanes, builder.sub(lanes, ir.Constant(lanes.type, 1)))
        for phi, first, next_ in zip(
            (lanes, *before), (args[4], *lists), (rest, *after), strict=True
        ):
            phi.add_incoming(first, outside)
            phi.add_incoming(next_, loop)
        is_done = builder.icmp_unsigned("==", rest, ir.Constant(rest.type, 0))
        builder.cbranch(is_done, end, loop)
        builder.position_at_end(end)
        for pointer, list_ in zip(pointers[:2], after, strict=True):
            builder.store(list_, builder.bitcast(pointer, list_.type.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(places, gaps, values, types.int64, types.int64), generate


def _insert(builder: Any, places: Any, gaps: Any, place: Any, gap: Any) -> tuple[Any, Any]:
    """Return the lists with one more, without their last."""
    new = splat(builder, gap, _GAPS)
    moved = builder.shuffle_vector(gaps, _LEAST, _ONE_ON)
    # From the first lane on that makes room, the content of the one before moves up.
    makes_room = builder.fcmp_ordered("<", new, gaps)
    is_behind = builder.fcmp_ordered("<", new, moved)
    old_places = builder.shuffle_vector(places, places, _ONE_ON)
    new_places = builder.select(is_behind, old_places, splat(builder, place, _PLACES))
    # The same for the gaps: the larger of the one before and the smaller of old and new.
    nearer = builder.select(builder.fcmp_ordered("<", gaps, new), gaps, new)
    return (
        builder.select(makes_room, new_places, places),
        builder.select(builder.fcmp_ordered(">", moved, nearer), moved, nearer),
    )


def _load(builder: Any, pointer: Any, kind: Any) -> Any:
    """Load the lanes that a pointer to a number points at."""
    return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=4)
