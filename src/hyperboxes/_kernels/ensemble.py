"""Ensembles of small models: the distances of their boxes in integers, and gathering of samples.

Boxes and samples are bin codes of one byte, so that one instruction compares many of them. Samples
of a member are gathered from those of the ensemble, shuffled and rounded to its codes.
"""

from collections import namedtuple
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from hyperboxes._kernels.geometry import is_known
from hyperboxes._kernels.jit import (
    CHECK_BOUNDS,
    check_index,
    inlined,
    intrinsic,
    kernel,
    pass_by_pointer,
)

# The values of a feature are whole numbers here, codes from 0 to 255, so that a box is compared
# with 64 samples at a time and every distance is exact. Sums of gaps are kept in bytes, which end
# at 255; where no box of a class is nearer to some sample than that, the sums are found again in 16
# bits. Two vectors of samples are compared at a time, so that the ends of boxes are repeated half
# as often. Written in LLVM's vector types, like `simd.py`.

_LANES = 64
_VECTORS = 2

# How many samples are compared at a time.
SAMPLES = _VECTORS * _LANES

# The boxes of all members, sorted by class: `ends[starts[member]]` is the first lower end of a
# member's, then come its upper end, the ends in the next feature, and the next box;
# `first_boxes[member, class]` is the first box of a class, with one more number than there are
# classes. Of the members: the features that they have, `features[first_features[member]]` and so
# on, with one more number than there are members; `is_mean`, whether distances are sums of the
# features' gaps, not the largest of them; `is_short`, whether most of these sums fit into a byte;
# and the row of `weights` that is theirs. `weights[row, gap]`: how much a class counts that is
# farther than the nearest by so much.
Members = namedtuple(
    "Members",
    "ends starts first_boxes features first_features is_mean is_short rows weights",
)

_BYTES = ir.VectorType(ir.IntType(8), _LANES)
_PAIRS = ir.VectorType(ir.IntType(16), _LANES // 2)
_MASK = ir.IntType(_LANES)
_NO_BYTES = ir.Constant(_BYTES, [0] * _LANES)
_NO_PAIRS = ir.Constant(_PAIRS, [0] * (_LANES // 2))
_FARTHEST_BYTES = ir.Constant(_BYTES, [0xFF] * _LANES)
_FARTHEST_PAIRS = ir.Constant(_PAIRS, [0xFFFF] * (_LANES // 2))
_EIGHT = ir.Constant(_PAIRS, [8] * (_LANES // 2))


@kernel
def add_votes(low, high, members, nearest, shares, votes):
    """Add the votes of members on samples, whose number is a multiple of SAMPLES.

    `low[feature, sample]` and `high` are codes; `high` is None for points. `votes[class, sample]`
    grows by each member's weights of the classes, which sum to 1. `nearest[class, SAMPLES]` and
    `shares[class, SAMPLES]` are working arrays for distances and weights, the latter with one more
    row than there are classes.
    """
    members = pass_by_pointer(members)
    for start in range(0, low.shape[1], SAMPLES):
        for t in range(members.rows.shape[0]):
            for c in range(nearest.shape[0]):
                _find_nearest(low, high, start, t, c, members, nearest)
            _vote(nearest, members.weights, members.rows[t], shares, votes, start)


@inlined
def _find_nearest(low, high, start, member, c, members, nearest):
    """Find how far samples are from the nearest box of a class, in codes."""
    first = members.first_features[member]
    n = members.first_features[member + 1] - first
    box = members.first_boxes[member, c]
    n_boxes = members.first_boxes[member, c + 1] - box
    check_index(box, members.first_boxes[member, c + 1])  # a class has a box
    check_index(members.starts[member] + 2 * n * (box + n_boxes) - 1, members.ends.shape[0])
    for k in range(first, first + n if CHECK_BOUNDS else first):
        check_index(members.features[k], low.shape[0])
    boxes = members.ends, members.starts[member] + 2 * n * box, n_boxes
    samples = members.features, first, n, low, high, start
    if not members.is_mean[member]:
        _find_largest(*boxes, *samples, nearest, c)
    elif not members.is_short[member] or _find_short_sums(*boxes, *samples, nearest, c):
        _find_sums(*boxes, *samples, nearest, c)


@inlined
def _vote(nearest, weights, row, shares, votes, start):
    """Share a vote among the classes by how much farther than the nearest they are."""
    n_classes = nearest.shape[0]
    for k in range(SAMPLES):
        least = nearest[0, k]
        for c in range(1, n_classes):
            least = min(least, nearest[c, k])
        total = 0.0
        for c in range(n_classes):
            weight = weights[row, nearest[c, k] - least]
            shares[c, k] = weight
            total += weight
        shares[n_classes, k] = 1.0 / total
    for c in range(n_classes):
        for k in range(SAMPLES):
            votes[c, start + k] += shares[c, k] * shares[n_classes, k]


def _scan_for(distances):
    """Return an instruction that finds distances from the nearest of some boxes."""

    def scan(typing, ends, start, n_boxes, features, first, n, low, high, sample, nearest, c):
        """Write how far SAMPLES samples are from the nearest box into a row of `nearest`.

        Return whether some are farther than can be counted. The features are n, from `first` on.
        """

        def generate(context, builder, signature, args):
            def pointer(argument: int, start: Any) -> Any:
                if signature.args[argument] == types.none:
                    return None
                array = context.make_array(signature.args[argument])(
                    context, builder, args[argument]
                )
                return builder.gep(array.data, [start], inbounds=True)

            codes = context.make_array(signature.args[6])(context, builder, args[6])
            boxes = _Boxes(
                builder,
                ends=pointer(0, args[1]),
                n_boxes=args[2],
                features=pointer(3, args[4]),
                n_features=args[5],
                low=pointer(6, args[8]),
                high=pointer(7, args[8]),
                row_size=builder.extract_value(codes.shape, 1),
            )
            found = [distances(builder) for _ in range(_VECTORS)]
            boxes.scan(found)
            row = pointer(9, builder.mul(args[10], _number(SAMPLES)))
            are_far = [
                vector.store(builder.gep(row, [_number(k * _LANES)], inbounds=True))
                for k, vector in enumerate(found)
            ]
            return builder.or_(*are_far)

        number = types.int64
        boxes = ends, number, number
        samples = features, number, number, low, high, number
        return types.boolean(*boxes, *samples, nearest, number), generate

    return intrinsic(scan)


class _Boxes:
    """Some boxes, and the samples that are compared with them."""

    def __init__(self, builder, *, ends, n_boxes, features, n_features, low, high, row_size):
        self.builder = builder
        self.ends, self.n_boxes = ends, n_boxes
        self.features, self.n_features = features, n_features
        self.low, self.high, self.row_size = low, high, row_size

    def scan(self, distances):
        """Find the distances of each vector of samples from the nearest box."""
        builder = self.builder
        size = builder.mul(self.n_features, _number(2))
        for vector in distances:
            vector.evict()
        with cgutils.for_range(builder, self.n_boxes) as boxes:
            box = builder.gep(self.ends, [builder.mul(boxes.index, size)], inbounds=True)
            for vector in distances:
                vector.clear()
            with cgutils.for_range(builder, self.n_features) as features:
                self._add_gaps(box, features.index, distances)
            for vector in distances:
                vector.keep_least()

    def _add_gaps(self, box, index, distances):
        """Add the gaps of a feature between a box and samples to the distances."""
        builder = self.builder
        offset = builder.mul(index, _number(2))
        lower = _repeat(builder, box, offset)
        upper = _repeat(builder, box, builder.add(offset, _number(1)))
        feature = builder.load(builder.gep(self.features, [index], inbounds=True))
        row = builder.mul(feature, self.row_size)
        for k, vector in enumerate(distances):
            offset = builder.add(row, _number(k * _LANES))
            vector.add(self._gaps(lower, upper, offset))

    def _gaps(self, lower, upper, offset):
        """Return the gaps between the ends of a box and samples."""
        builder = self.builder
        low = _load(builder, self.low, offset)
        if self.high is None:
            # Processors subtract faster than they subtract down to 0.
            return builder.sub(_larger(builder, low, lower), _smaller(builder, low, upper))
        high = _load(builder, self.high, offset)
        below, above = _subtract(builder, lower, low), _subtract(builder, high, upper)
        return _larger(builder, below, above)


class _ShortDistances:
    """Distances in bytes. Each kind combines gaps in its own way."""

    def __init__(self, builder):
        self.builder = builder
        self.distances = cgutils.alloca_once_value(builder, _NO_BYTES)
        self.least = cgutils.alloca_once_value(builder, _FARTHEST_BYTES)

    def evict(self) -> None:
        """Start without a box."""
        self.builder.store(_FARTHEST_BYTES, self.least)

    def clear(self) -> None:
        """Start with the next box."""
        self.builder.store(_NO_BYTES, self.distances)

    def add(self, gaps):
        """Add the gaps of a feature."""
        distances = self.builder.load(self.distances)
        self.builder.store(self.combine(distances, gaps), self.distances)

    def combine(self, distances, gaps):
        """Return the distances with one more feature."""
        raise NotImplementedError

    def keep_least(self) -> None:
        """Keep the distances that are smaller than those of the boxes before."""
        builder = self.builder
        least = _smaller(builder, builder.load(self.least), builder.load(self.distances))
        builder.store(least, self.least)

    def store(self, address):
        """Write the least distances; return whether some are the largest that there are."""
        builder = self.builder
        least = builder.load(self.least)
        _store(builder, builder.zext(least, ir.VectorType(ir.IntType(16), _LANES)), address)
        is_farthest = builder.icmp_unsigned("==", least, _FARTHEST_BYTES)
        return builder.icmp_unsigned("!=", builder.bitcast(is_farthest, _MASK), _MASK(0))


class _Largest(_ShortDistances):
    """Distances that are the largest gaps."""

    def combine(self, distances, gaps):
        """Return the larger ones."""
        return _larger(self.builder, distances, gaps)


class _ShortSums(_ShortDistances):
    """Distances that are sums of gaps, up to 255."""

    def combine(self, distances, gaps):
        """Return the sums, or 255; a single instruction on most processors."""
        builder = self.builder
        return builder.add(distances, _smaller(builder, gaps, builder.not_(distances)))


class _Sums:
    """Distances that are sums of gaps, in 16 bits.

    Of two bytes side by side, taken as one number, the sums of numbers and of upper bytes are kept.
    What overflows does not matter: the sum of the lower bytes fits into 16 bits.
    """

    def __init__(self, builder):
        self.builder = builder
        self.both, self.uppers = (cgutils.alloca_once_value(builder, _NO_PAIRS) for _ in range(2))
        self.least = [cgutils.alloca_once_value(builder, _FARTHEST_PAIRS) for _ in range(2)]

    def evict(self) -> None:
        """Start without a box."""
        for address in self.least:
            self.builder.store(_FARTHEST_PAIRS, address)

    def clear(self) -> None:
        """Start with the next box."""
        for address in (self.both, self.uppers):
            self.builder.store(_NO_PAIRS, address)

    def add(self, gaps):
        """Add the gaps of a feature."""
        builder = self.builder
        pairs = builder.bitcast(gaps, _PAIRS)
        for address, more in ((self.both, pairs), (self.uppers, builder.lshr(pairs, _EIGHT))):
            builder.store(builder.add(builder.load(address), more), address)

    def keep_least(self) -> None:
        """Keep the distances that are smaller than those of the boxes before."""
        builder = self.builder
        uppers = builder.load(self.uppers)
        lowers = builder.sub(builder.load(self.both), builder.shl(uppers, _EIGHT))
        for address, found in zip(self.least, (lowers, uppers), strict=True):
            builder.store(_smaller(builder, builder.load(address), found), address)

    def store(self, address):
        """Write the least distances; return False, for all are known."""
        builder = self.builder
        # From the two sides in turn.
        lanes = [lane // 2 + lane % 2 * (_LANES // 2) for lane in range(_LANES)]
        kind = ir.VectorType(ir.IntType(32), _LANES)
        sides = (builder.load(least) for least in self.least)
        _store(builder, builder.shuffle_vector(*sides, ir.Constant(kind, lanes)), address)
        return ir.Constant(ir.IntType(1), False)


_find_largest = _scan_for(_Largest)
_find_short_sums = _scan_for(_ShortSums)
_find_sums = _scan_for(_Sums)


def _number(value: int) -> Any:
    return ir.Constant(ir.IntType(64), value)


def _load(builder, codes, offset):
    """Load the codes of a vector of samples."""
    pointer = builder.gep(codes, [offset], inbounds=True)
    return builder.load(builder.bitcast(pointer, _BYTES.as_pointer()), align=1)


def _store(builder, numbers, address):
    """Store numbers of 16 bits."""
    builder.store(numbers, builder.bitcast(address, numbers.type.as_pointer()), align=2)


def _repeat(builder, ends, offset):
    """Load an end of a box, repeated for all samples of a vector."""
    end = builder.load(builder.gep(ends, [offset], inbounds=True))
    undefined = ir.Constant(_BYTES, ir.Undefined)
    first = builder.insert_element(undefined, end, ir.Constant(ir.IntType(32), 0))
    same = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
    return builder.shuffle_vector(first, undefined, same)


def _subtract(builder, a, b):
    """Return a - b, 0 where b is larger; a single instruction on most processors."""
    return builder.sub(_larger(builder, a, b), b)


def _larger(builder, a, b):
    return builder.select(builder.icmp_unsigned(">", a, b), a, b)


def _smaller(builder, a, b):
    return builder.select(builder.icmp_unsigned("<", a, b), a, b)


# Each is done in one pass. NumPy takes many steps and hands the GIL over in each, so threads that
# fit members would wait for each other most of the time.

# Boxes may miss a code that they hold by so much, for the rounding.
_NEARLY = 1e-6


@kernel
def take_numbers(low, high, rows, features, n_bins, xl, xu):
    """Write some features of some samples as numbers from 0 to 1, or NaN where they are missing.

    `low[feature, sample]` and `high` are codes up to `n_bins`; `high` and `xu` are None for points.
    """
    for i in range(rows.shape[0]):
        for k in range(features.shape[0]):
            first = low[features[k], rows[i]]
            xl[i, k] = first / n_bins
            if high is not None:
                last = high[features[k], rows[i]]
                xu[i, k] = last / n_bins
                if first > last:
                    xl[i, k] = xu[i, k] = np.nan


@kernel
def take_codes(codes, rows, features, taken):
    """Write some features of some samples, by feature."""
    for k in range(features.shape[0]):
        for i in range(rows.shape[0]):
            taken[k, i] = codes[features[k], rows[i]]


@kernel
def take_shuffled(codes, rows, features, orders, taken):
    """Write samples once for each of the features, which then has its codes in another order."""
    n_samples = rows.shape[0]
    for k in range(features.shape[0]):
        for shuffled in range(features.shape[0]):
            for i in range(n_samples):
                row = rows[orders[k, i]] if k == shuffled else rows[i]
                taken[k, shuffled * n_samples + i] = codes[features[k], row]


@kernel
def round_boxes(lower, upper, n_bins, low, high):
    """Write the range of codes of each box; a box spans all codes of an unknown feature.

    Where boxes were parted between two codes, each keeps those on its side; one between two codes
    keeps the nearer.
    """
    for i in range(lower.shape[0]):
        for j in range(lower.shape[1]):
            first, last = 0.0, float(n_bins)
            if is_known(lower[i, j]):
                first = np.ceil(n_bins * lower[i, j] - _NEARLY)
                last = np.floor(n_bins * upper[i, j] + _NEARLY)
                if first > last:
                    first = last = np.rint(n_bins * (lower[i, j] + upper[i, j]) / 2)
            low[i, j] = np.uint8(first)
            high[i, j] = np.uint8(last)
