"""Many small models at once: how far samples are from the nearest boxes of each class, in codes.

The values of a feature are whole numbers here, codes from 0 to 255, so that 64 boxes are compared
at a time and every sum is exact. The boxes of a member lie in 16 *lanes*: each lane holds boxes of
one class, four to a layer, `ends[layer, feature, LOW or HIGH, depth, lane]`, so the nearest of a
class is found without looking at single boxes. What is left of the last layers is filled with
boxes that are as far away as can be. Written in LLVM's vector types, like `lanes.py`.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from hyperboxes._kernels.jit import by_reference, instruction, kernel, step, subroutine

LANES = 16
DEPTH = 4
BOXES_A_LAYER = DEPTH * LANES

# The boxes of all members. Groups of 16 lanes, of which a member has several if there are many
# classes: `starts` of their ends and their `layers`. Runs of lanes of a class, `runs[run]`: the
# class, and its lanes from the second number on up to before the third. Of the members:
# `first_groups` and, of groups, `first_runs`, with one more number than there are of them; the
# features that they know, `features[first_features[member]]` and so on; and the row of `weights`
# that is theirs. `weights[row, gap]`: how much a class counts that is farther than the nearest by
# so much. `is_mean`: whether distances are sums of the features' gaps, not the largest of them.
Members = namedtuple(
    "Members",
    "ends starts layers first_groups runs first_runs features first_features is_mean rows weights",
)

_BYTES = ir.VectorType(ir.IntType(8), BOXES_A_LAYER)
_SUMS = ir.VectorType(ir.IntType(16), BOXES_A_LAYER)
_FARTHEST = ir.Constant(_SUMS, [0xFFFF] * BOXES_A_LAYER)
_NOTHING = ir.Constant(_SUMS, [0] * BOXES_A_LAYER)


@kernel
def add_votes(low, high, members, first, last, start, stop, x, gaps, nearest, votes):
    """Add what the members from `first` on, before `last`, say of the samples from `start` on.

    `votes[sample, class]` grows by each member's weights of the classes, which sum to 1. `x`,
    `gaps` and `nearest` are room for a sample's codes, the lanes and the classes.
    """
    members = by_reference(members)
    for t in range(first, last):
        row = members.rows[t]
        for i in range(start, stop):
            _find_nearest(low[i], high[i], t, members, x, gaps, nearest)
            _vote(nearest, members.weights, row, votes[i])


@subroutine
def _find_nearest(low, high, member, members, x, gaps, nearest):
    """Find the distance to the nearest box of each class, in codes."""
    first_feature = members.first_features[member]
    n_features = members.first_features[member + 1] - first_feature
    for j in range(n_features):
        feature = members.features[first_feature + j]
        x[0, j] = low[feature]
        x[1, j] = high[feature]
    for c in range(nearest.shape[0]):
        nearest[c] = 0xFFFF
    for group in range(members.first_groups[member], members.first_groups[member + 1]):
        layers = members.starts[group], members.layers[group]
        _scan(members.ends, *layers, n_features, x, members.is_mean[member], gaps)
        for run in range(members.first_runs[group], members.first_runs[group + 1]):
            c = members.runs[run, 0]
            least = nearest[c]
            for lane in range(members.runs[run, 1], members.runs[run, 2]):
                least = min(least, gaps[lane])
            nearest[c] = least


@step
def _vote(nearest, weights, row, votes):
    """Share a vote among the classes by how much farther than the nearest they are."""
    n_classes = nearest.shape[0]
    least = nearest[0]
    for c in range(1, n_classes):
        least = min(least, nearest[c])
    total = 0.0
    for c in range(n_classes):
        total += weights[row, nearest[c] - least]
    share = 1.0 / total
    for c in range(n_classes):
        votes[c] += weights[row, nearest[c] - least] * share


@instruction
def _scan(
    typing: Any, ends: Any, start: Any, layers: Any, n: Any, x: Any, is_mean: Any, gaps: Any
) -> Any:
    """Write the least distance of each lane's boxes to the sample, over n features, into `gaps`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        out = _pointer(context, builder, kinds[6], args[6])
        with builder.if_else(args[5]) as (then, otherwise):
            for branch, combine in ((then, _add), (otherwise, _larger)):
                with branch:
                    least = _fold(builder, _find_least(context, builder, kinds, args, combine))
                    builder.store(least, builder.bitcast(out, least.type.as_pointer()), align=2)
        return context.get_dummy_value()

    place = types.int64
    return types.void(ends, place, place, place, x, types.boolean, gaps), generate


def _find_least(context: Any, builder: Any, kinds: Any, args: Any, combine: Any) -> Any:
    """Return the least distances of all layers."""
    _, start, n_layers, n_features, x, *_ = args
    ends = _pointer(context, builder, kinds[0], args[0])
    room = context.make_array(kinds[4])(context, builder, x)
    low = room.data
    high = builder.gep(low, [builder.extract_value(room.shape, 1)], inbounds=True)
    least = cgutils.alloca_once_value(builder, _FARTHEST)
    distance = cgutils.alloca_once_value(builder, _NOTHING)
    builder.store(_FARTHEST, least)
    size = builder.mul(n_features, _number(2 * BOXES_A_LAYER))
    with cgutils.for_range(builder, n_layers) as layers:
        builder.store(_NOTHING, distance)
        layer = builder.add(start, builder.mul(layers.index, size))
        with cgutils.for_range(builder, n_features) as features:
            place = builder.add(layer, builder.mul(features.index, _number(2 * BOXES_A_LAYER)))
            lower = _load(builder, ends, place)
            upper = _load(builder, ends, builder.add(place, _number(BOXES_A_LAYER)))
            below = _subtract(builder, lower, _splat(builder, low, features.index))
            above = _subtract(builder, _splat(builder, high, features.index), upper)
            gap = builder.zext(_larger(builder, below, above), _SUMS)
            builder.store(combine(builder, builder.load(distance), gap), distance)
        builder.store(_smaller(builder, builder.load(distance), builder.load(least)), least)
    return builder.load(least)


def _fold(builder: Any, sums: Any) -> Any:
    """Return the least one of the boxes of each lane."""
    n_boxes = BOXES_A_LAYER
    while n_boxes > LANES:
        n_boxes //= 2
        kind = ir.VectorType(ir.IntType(32), n_boxes)
        halves = (range(n_boxes), range(n_boxes, 2 * n_boxes))
        sums = _smaller(
            builder,
            *(builder.shuffle_vector(sums, sums, ir.Constant(kind, list(half))) for half in halves),
        )
    return sums


def _number(value: int) -> Any:
    return ir.Constant(ir.IntType(64), value)


def _pointer(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return a pointer to the first number of a contiguous array."""
    return context.make_array(kind)(context, builder, array).data


def _load(builder: Any, ends: Any, place: Any) -> Any:
    """Load one end of the boxes of a layer."""
    pointer = builder.gep(ends, [place], inbounds=True)
    return builder.load(builder.bitcast(pointer, _BYTES.as_pointer()), align=1)


def _splat(builder: Any, codes: Any, index: Any) -> Any:
    """Repeat a code for all boxes of a layer."""
    code = builder.load(builder.gep(codes, [index], inbounds=True))
    undefined = ir.Constant(_BYTES, ir.Undefined)
    first = builder.insert_element(undefined, code, ir.Constant(ir.IntType(32), 0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), BOXES_A_LAYER), [0] * BOXES_A_LAYER)
    return builder.shuffle_vector(first, undefined, lanes)


def _subtract(builder: Any, a: Any, b: Any) -> Any:
    """Return a - b, 0 where b is larger; a single instruction on most processors."""
    return builder.sub(_larger(builder, a, b), b)


def _add(builder: Any, a: Any, b: Any) -> Any:
    return builder.add(a, b)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_unsigned(">", a, b), a, b)


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_unsigned("<", a, b), a, b)
