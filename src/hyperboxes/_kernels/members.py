"""Many small models at once: how far samples are from the nearest boxes of each class, in codes.

The values of a feature are whole numbers here, codes from 0 to 255, so that 64 boxes are compared
at a time and every sum is exact. The boxes of a member lie in 32 *lanes*: each lane holds boxes of
one class, two to a layer, so the nearest of a class is found without looking at single boxes:
`ends[layer, feature, LOW or HIGH, lane, side]`. The two boxes, side by side, are added up as one
number of 16 bits. What is left of the last layers is filled with boxes that are as far away as can
be. Two samples are compared at a time, so that boxes are read half as often. Written in LLVM's
vector types, like `lanes.py`.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from hyperboxes._kernels.jit import by_reference, instruction, kernel, step

LANES = 32
DEPTH = 2
BOXES_A_LAYER = DEPTH * LANES

# How many samples are compared at a time.
SAMPLES = 2

# The boxes of all members. Groups of 32 lanes, of which a member has several if there are many
# classes: `starts` of their ends and their `layers`. Classes have lanes side by side, their runs:
# `walls[group]` tells where these end (`_find_least_of_runs`), and `runs[run]` is a class and its
# last lane. Of the members: `first_groups` and, of groups, `first_runs`, with one more number than
# there are of them; the features that they know, `features[first_features[member]]` and so on; and
# the row of `weights` that is theirs. `weights[row, gap]`: how much a class counts that is farther
# than the nearest by so much. `is_mean`: whether distances are sums of the features' gaps, not the
# largest of them.
Members = namedtuple(
    "Members",
    "ends starts layers walls first_groups runs first_runs features first_features is_mean rows "
    "weights",
)

# How far apart lanes are that are compared, step by step, to find the least of each run.
STRIDES = (1, 2, 4, 8, 16)

_BYTES = ir.VectorType(ir.IntType(8), BOXES_A_LAYER)
_PAIRS = ir.VectorType(ir.IntType(16), LANES)
_FARTHEST = ir.Constant(_PAIRS, [0xFFFF] * LANES)
_NOTHING = ir.Constant(_PAIRS, [0] * LANES)
_NO_BYTES = ir.Constant(_BYTES, [0] * BOXES_A_LAYER)
_EIGHT = ir.Constant(_PAIRS, [8] * LANES)


@kernel
def add_votes(low, high, members, first, last, start, stop, gaps, nearest, votes):
    """Add what the members from `first` on, before `last`, say of the samples from `start` on.

    `low[feature, sample]` and `high` are codes. `votes[sample, class]` grows by each member's
    weights of the classes, which sum to 1. `gaps[SAMPLES, LANES]` and `nearest[SAMPLES, class]` are
    room for the distances from runs of lanes and from classes.
    """
    members = by_reference(members)
    for t in range(first, last):
        for i in range(start, stop, SAMPLES):
            _find_nearest(low, high, i, min(i + 1, stop - 1), t, members, gaps, nearest)
            for k in range(min(SAMPLES, stop - i)):
                _vote(nearest, k, members.weights, members.rows[t], votes, i + k)


@step
def _find_nearest(low, high, one, other, member, members, gaps, nearest):
    """Find how far two samples are from the nearest box of each class, in codes."""
    first = members.first_features[member]
    features = members.features, first, members.first_features[member + 1] - first
    for k in range(SAMPLES):
        for c in range(nearest.shape[1]):
            nearest[k, c] = 0xFFFF
    for group in range(members.first_groups[member], members.first_groups[member + 1]):
        layers = members.ends, members.starts[group], members.layers[group]
        is_mean = members.is_mean[member]
        _scan(*layers, *features, low, high, one, other, is_mean, members.walls, group, gaps)
        for run in range(members.first_runs[group], members.first_runs[group + 1]):
            c, lane = members.runs[run, 0], members.runs[run, 1]
            for k in range(SAMPLES):
                nearest[k, c] = min(nearest[k, c], gaps[k, lane])


@step
def _vote(nearest, k, weights, row, votes, sample):
    """Share a vote among the classes by how much farther than the nearest they are."""
    n_classes = nearest.shape[1]
    least = nearest[k, 0]
    for c in range(1, n_classes):
        least = min(least, nearest[k, c])
    total = 0.0
    for c in range(n_classes):
        total += weights[row, nearest[k, c] - least]
    share = 1.0 / total
    for c in range(n_classes):
        votes[sample, c] += weights[row, nearest[k, c] - least] * share


@instruction
def _scan(
    typing: Any,
    ends: Any,
    start: Any,
    layers: Any,
    features: Any,
    first: Any,
    n: Any,
    low: Any,
    high: Any,
    one: Any,
    other: Any,
    is_mean: Any,
    walls: Any,
    group: Any,
    gaps: Any,
) -> Any:
    """Write how far two samples are from the nearest box of each run into `gaps`.

    The features are n, from `first` on.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = {
            name: context.make_array(signature.args[place])(context, builder, args[place])
            for place, name in _ARRAYS.items()
        }
        sizes = args[1], args[2], args[4], args[5]
        layers = _Layers(builder, arrays, *sizes, args[8:10])
        walls = arrays["walls"].data, builder.mul(args[12], _number(len(STRIDES) * LANES))
        with builder.if_else(args[10]) as (then, otherwise):
            for branch, distance in ((then, _Sum), (otherwise, _Largest)):
                with branch:
                    for k, least in enumerate(layers.find_least(distance)):
                        least = _find_least_of_runs(builder, least, *walls)
                        place = builder.gep(arrays["gaps"].data, [_number(k * LANES)])
                        builder.store(least, builder.bitcast(place, _PAIRS.as_pointer()), align=2)
        return context.get_dummy_value()

    where, two = types.int64, (types.int64, types.int64)
    kinds = ends, *two, features, *two, low, high, *two, types.boolean, walls, where, gaps
    return types.void(*kinds), generate


_ARRAYS = {0: "ends", 3: "features", 6: "low", 7: "high", 11: "walls", 13: "gaps"}


class _Layers:
    """The layers of a group of lanes, and the samples that are compared with them."""

    def __init__(
        self,
        builder: Any,
        arrays: Any,
        start: Any,
        n_layers: Any,
        first: Any,
        n_features: Any,
        samples: Any,
    ) -> None:
        self.builder = builder
        self.ends = builder.gep(arrays["ends"].data, [start], inbounds=True)
        self.features = builder.gep(arrays["features"].data, [first], inbounds=True)
        self.codes = arrays["low"].data, arrays["high"].data
        self.n_codes = builder.extract_value(arrays["low"].shape, 1)
        self.n_layers, self.n_features, self.samples = n_layers, n_features, samples

    def find_least(self, kind: Any) -> list[Any]:
        """Return each sample's distances from the nearest box of each lane."""
        builder = self.builder
        least = [cgutils.alloca_once_value(builder, _FARTHEST) for _ in self.samples]
        distances = [kind(builder) for _ in self.samples]
        for place in least:
            builder.store(_FARTHEST, place)
        size = builder.mul(self.n_features, _number(2 * BOXES_A_LAYER))
        with cgutils.for_range(builder, self.n_layers) as layers:
            layer = builder.mul(layers.index, size)
            for distance in distances:
                distance.clear()
            with cgutils.for_range(builder, self.n_features) as features:
                self._add_gaps(layer, features.index, distances)
            for place, distance in zip(least, distances, strict=True):
                for found in distance.of_sides():
                    builder.store(_smaller(builder, builder.load(place), found), place)
        return [builder.load(place) for place in least]

    def _add_gaps(self, layer: Any, index: Any, distances: Any) -> None:
        """Add the gaps of a feature between boxes and samples to the distances."""
        builder = self.builder
        place = builder.add(layer, builder.mul(index, _number(2 * BOXES_A_LAYER)))
        lower = _load(builder, self.ends, place, _BYTES)
        upper = _load(builder, self.ends, builder.add(place, _number(BOXES_A_LAYER)), _BYTES)
        feature = builder.load(builder.gep(self.features, [index], inbounds=True))
        row = builder.mul(feature, self.n_codes)
        for sample, distance in zip(self.samples, distances, strict=True):
            place = builder.add(row, sample)
            low, high = (_repeat(builder, codes, place) for codes in self.codes)
            below, above = _subtract(builder, lower, low), _subtract(builder, high, upper)
            distance.add(_larger(builder, below, above))


def _find_least_of_runs(builder: Any, least: Any, walls: Any, place: Any) -> Any:
    """Carry the least distances of runs on to their last lanes.

    Lanes learn from those at each of the strides before them what these have learned; where another
    run lies there, the wall is the largest number, else 0.
    """
    for number, stride in enumerate(STRIDES):
        # The lanes before the first are the last ones of the second vector.
        lanes = [(lane - stride) % (2 * LANES) for lane in range(LANES)]
        kind = ir.VectorType(ir.IntType(32), LANES)
        before = builder.shuffle_vector(least, _FARTHEST, ir.Constant(kind, lanes))
        wall = _load(builder, walls, builder.add(place, _number(number * LANES)), _PAIRS)
        least = _smaller(builder, least, builder.or_(before, wall))
    return least


class _Sum:
    """Distances that are sums of gaps, of the boxes on either side.

    Of two bytes side by side, taken as one number, the sums of numbers and of upper bytes are kept.
    What overflows does not matter: the sum of the lower bytes fits into 16 bits.
    """

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        self.both, self.uppers = (cgutils.alloca_once_value(builder, _NOTHING) for _ in range(2))

    def clear(self) -> None:
        """Begin anew."""
        for place in (self.both, self.uppers):
            self.builder.store(_NOTHING, place)

    def add(self, gaps: Any) -> None:
        """Add the gaps of a feature."""
        builder = self.builder
        pairs = builder.bitcast(gaps, _PAIRS)
        for place, more in ((self.both, pairs), (self.uppers, builder.lshr(pairs, _EIGHT))):
            builder.store(builder.add(builder.load(place), more), place)

    def of_sides(self) -> tuple[Any, Any]:
        """Return the distances of the boxes on one side, and of those on the other."""
        builder = self.builder
        uppers = builder.load(self.uppers)
        lowers = builder.sub(builder.load(self.both), builder.shl(uppers, _EIGHT))
        return lowers, uppers


class _Largest:
    """Distances that are the largest gaps, of the boxes on either side."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        self.largest = cgutils.alloca_once_value(builder, _NO_BYTES)

    def clear(self) -> None:
        """Begin anew."""
        self.builder.store(_NO_BYTES, self.largest)

    def add(self, gaps: Any) -> None:
        """Compare with the gaps of a feature."""
        builder = self.builder
        builder.store(_larger(builder, builder.load(self.largest), gaps), self.largest)

    def of_sides(self) -> tuple[Any, Any]:
        """Return the distances of the boxes on one side, and of those on the other."""
        builder = self.builder
        pairs = builder.bitcast(builder.load(self.largest), _PAIRS)
        uppers = builder.lshr(pairs, _EIGHT)
        return builder.sub(pairs, builder.shl(uppers, _EIGHT)), uppers


def _number(value: int) -> Any:
    return ir.Constant(ir.IntType(64), value)


def _load(builder: Any, numbers: Any, place: Any, kind: Any) -> Any:
    """Load as many numbers as a vector has, from a place on."""
    pointer = builder.gep(numbers, [place], inbounds=True)
    return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=1)


def _repeat(builder: Any, codes: Any, place: Any) -> Any:
    """Load a code, repeated for all boxes of a layer."""
    code = builder.load(builder.gep(codes, [place], inbounds=True))
    undefined = ir.Constant(_BYTES, ir.Undefined)
    first = builder.insert_element(undefined, code, ir.Constant(ir.IntType(32), 0))
    same = ir.Constant(ir.VectorType(ir.IntType(32), BOXES_A_LAYER), [0] * BOXES_A_LAYER)
    return builder.shuffle_vector(first, undefined, same)


def _subtract(builder: Any, a: Any, b: Any) -> Any:
    """Return a - b, 0 where b is larger; a single instruction on most processors."""
    return builder.sub(_larger(builder, a, b), b)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_unsigned(">", a, b), a, b)


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_unsigned("<", a, b), a, b)
