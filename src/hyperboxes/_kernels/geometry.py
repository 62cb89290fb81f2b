"""Formulas of the paper for one or two boxes: distance, similarity, size, overlap, contraction.

Boxes are rows of the arrays `lower` (v in the paper) and `upper` (w). Arithmetic is float64 in the
order the paper writes it; rounding is monotone, which is what makes the shortcuts below exact.

NaN stands for what is not known: a value that a sample lacks, both ends of a box in a feature that
none of its samples had. It is never larger nor smaller than anything, and the formulas are written
so that it holds nothing back.
"""

from typing import Any

import numpy as np
from numba import types

from hyperboxes._kernels.jit import forceinline, inlined, internal, intrinsic
from hyperboxes._kernels.structs import (
    CENTRE,
    CLOSED,
    CONTRACT_EVERY,
    FOUR,
    LONGEST,
    MID_MAX,
    NINE,
    PAPER,
    SHORTEST,
)

# Two gaps g whose memberships 1 - g round to one number differ by less than this.
ROUNDING = 2.0**-52

# Distances up to this are memberships of 1.
CONTAINED = ROUNDING / 4

# Larger than what a product and a quotient lose by rounding.
_JUST_ABOVE_1 = 1.0 + 2.0**-50


def _choice(typing: Any, a: Any, b: Any, operator: str, *, known: bool = False) -> Any:
    """Choose one of two numbers by comparing them; the second if they cannot be compared.

    With `known`, the one that is known then.
    """
    kind = typing.unify_types(types.unliteral(a), types.unliteral(b))

    def generate(context, builder, signature, args):
        compare = builder.fcmp_ordered if isinstance(kind, types.Float) else builder.icmp_signed
        chosen = builder.select(compare(operator, *args), *args)
        if known:
            chosen = builder.select(compare("==", chosen, chosen), chosen, args[0])
        return chosen

    return kind(kind, kind), generate


@intrinsic
def larger(typing, a, b):
    """Return the larger number; `b` if one of them is not known.

    It costs a fraction of `max`.
    """
    return _choice(typing, a, b, ">")


@intrinsic
def smaller(typing, a, b):
    """Return the smaller number; `b` if one of them is not known."""
    return _choice(typing, a, b, "<")


@intrinsic
def lowest(typing, a, b):
    """Return the smaller number, or the one that is known."""
    return _choice(typing, a, b, "<", known=True)


@intrinsic
def upmost(typing, a, b):
    """Return the larger number, or the one that is known."""
    return _choice(typing, a, b, ">", known=True)


@intrinsic
def is_known(typing, a):
    """Whether a number is known, that is, not NaN."""

    def generate(context, builder, signature, args):
        return builder.fcmp_ordered("==", args[0], args[0])

    return types.boolean(a), generate


@forceinline
def are_known(values):
    """Whether all numbers of a row are known."""
    for j in range(values.shape[0]):
        if not is_known(values[j]):
            return False
    return True


@forceinline
def distance(lower, upper, box, xl, xu, metric, limit):
    """Return how far the interval [xl, xu] is from a box, 0 where the box contains it.

    Beyond `limit` the walk over the features may end early; what is returned is beyond it, too.
    The membership is `1 - distance`, clipped at 0: the minimum over the features commutes with the
    rounded subtraction, so taking the largest gap first gives the same bits.

    Mean gaps are added up in the order of the features. Where all features are beyond the reach
    of membership, the mean is that of the gaps as they are, so that the nearest box is known.
    """
    gamma = metric.gamma
    n_features = xl.shape[0]
    if not metric.mean:
        largest = 0.0
        for j in range(n_features):
            gap = larger(xu[j] - upper[box, j], lower[box, j] - xl[j]) * gamma[j]
            if gap > limit:
                return gap
            largest = larger(gap, largest)
        return largest
    clipped = total = 0.0
    most = limit * n_features * _JUST_ABOVE_1
    for j in range(n_features):
        gap = larger(larger(xu[j] - upper[box, j], lower[box, j] - xl[j]) * gamma[j], 0.0)
        clipped += smaller(gap, 1.0)
        total += gap
        if clipped > most:
            return clipped / n_features
    if clipped < n_features:
        return clipped / n_features
    return larger(total / n_features, 1.0)


@internal
def similarity(v, w, boxes, box, growth):
    """Return the membership of [v, w] in a box, or the similarity of the two by a measure.

    All are `distance` with lower and upper ends exchanged. The middle distance is the membership
    of the box in the interval or the other way round, whichever is more or less similar. Or it is
    minus the squared distance of their centres.
    """
    lower, upper, metric, measure = boxes.lower, boxes.upper, growth.metric, growth.order_by
    if measure == CENTRE:
        return -_centre_distance(v, w, lower, upper, box)
    if measure == LONGEST:
        lower, upper = upper, lower
    elif measure == SHORTEST:
        v, w = w, v
    gap = distance(lower, upper, box, v, w, metric, 1.0)
    if measure > SHORTEST:
        back = distance(upper, lower, box, w, v, metric, 1.0)
        gap = smaller(gap, back) if measure == MID_MAX else larger(gap, back)
    return as_membership(gap)


@inlined
def _centre_distance(v, w, lower, upper, box):
    """Return the squared distance of two centres, as far as is known."""
    total = 0.0
    for j in range(v.shape[0]):
        apart = (lower[box, j] + upper[box, j]) / 2 - (v[j] + w[j]) / 2
        total += larger(apart * apart, 0.0)
    return total


@forceinline
def as_membership(gap):
    """Return 1 less a distance, at least 0."""
    return 1.0 - smaller(gap, 1.0)


@forceinline
def closeness(gap):
    """Rank of a distance: the membership, and beyond its reach, where it is 0, minus the distance.

    Distances that round to one membership tie; where all memberships are 0 the nearest box wins.
    """
    return 1.0 - gap if gap < 1.0 else -gap


@forceinline
def fits(boxes, box, xl, xu, growth):
    """Whether the box extended to [xl, xu] is small enough; unknown sides are."""
    lower, upper, theta = boxes.lower, boxes.upper, growth.theta
    total = 0.0
    for j in range(xl.shape[0]):
        side = upmost(upper[box, j], xu[j]) - lowest(lower[box, j], xl[j])
        if side > theta:
            return False
        total += larger(side, 0.0)
    return total <= growth.total


@internal
def contains(boxes, box, xl, xu, metric):
    """Whether [xl, xu] is a full member of the box, and has no known feature that the box lacks."""
    lower = boxes.lower
    if distance(lower, boxes.upper, box, xl, xu, metric, CONTAINED) > CONTAINED:
        return False
    for j in range(xl.shape[0]):
        if is_known(xl[j]) and not is_known(lower[box, j]):
            return False
    return True


@internal
def overlaps(v, w, boxes, box, relation):
    """Whether [v, w] overlaps a box in every feature.

    By the relation CLOSED if the closed intervals meet, by PAPER in the paper's four cases, with
    ties as its published runs had them. In EFMNN's nine cases (NINE) the open intervals meet, where
    a flat one counts as its point; Simpson's (FOUR) are those of them without equal ends.
    """
    lower, upper = boxes.lower, boxes.upper
    for j in range(v.shape[0]):
        vk, wk = lower[box, j], upper[box, j]
        if relation == CLOSED:
            if v[j] > wk or vk > w[j]:
                return False
        elif relation == PAPER:
            if v[j] <= vk and w[j] <= wk and w[j] <= vk:
                return False
            if v[j] > vk and w[j] > wk and wk <= v[j]:
                return False
        elif w[j] <= vk or wk <= v[j] or (relation == FOUR and (v[j] == vk or w[j] == wk)):
            return False
    return True


@internal
def contract(v, w, x, boxes, box, growth):
    """Part two overlapping boxes in the dimension where they overlap least; both may change.

    The overlap must hold in the sense of the rule, which is not CLOSED. The first dimension wins
    ties. Boxes that have no known feature in common stay as they are. `x` are the upper ends of the
    sample for which [v, w] has grown.
    """
    lower, upper = boxes.lower, boxes.upper
    least = np.inf
    thinnest = -1
    for j in range(v.shape[0]):
        depth = smaller(upper[box, j] - v[j], w[j] - lower[box, j])
        if growth.on_overlap == CONTRACT_EVERY:
            if is_known(depth):
                _contract_along(j, v, w, x, lower, upper, box, growth)
        elif depth < least:
            least = depth
            thinnest = j
    if thinnest >= 0:
        _contract_along(thinnest, v, w, x, lower, upper, box, growth)


@internal
def _contract_along(j, v, w, x, lower, upper, box, growth):
    """Move the faces of two boxes apart in dimension `j`: contraction cases 1 to 4, and EFMNN's.

    Where a box contains the other and may move either face as far, the paper has it go up; in
    Simpson's clustering it goes down.
    """
    vi, wi = v[j], w[j]
    vk, wk = lower[box, j], upper[box, j]
    if growth.overlap == NINE and vi == vk and wi == wk:
        if wi == x[j]:
            w[j] = lower[box, j] = (wi + vk) / 2
        else:
            v[j] = upper[box, j] = (wk + vi) / 2
    elif growth.overlap == NINE and (vi == vk or wi == wk):
        if vi < vk:
            w[j] = vk
        elif vi > vk:
            upper[box, j] = vi
        elif wi < wk:
            lower[box, j] = wi
        else:
            v[j] = wk
    elif vi <= vk and wi <= wk:
        w[j] = lower[box, j] = (wi + vk) / 2
    elif vi > vk and wi > wk:
        v[j] = upper[box, j] = (wk + vi) / 2
    else:
        up, down = wk - vi, wi - vk
        goes_up = up < down or (up == down and growth.on_overlap != CONTRACT_EVERY)
        if wi > wk:
            if goes_up:
                v[j] = wk
            else:
                w[j] = vk
        elif goes_up:
            upper[box, j] = vi
        else:
            lower[box, j] = wi


@internal
def part(v, w, boxes, box):
    """Part two boxes that share a point in the dimension where they overlap least, if that can be.

    They may share none afterwards, so one ends a step before the other begins.
    """
    lower, upper = boxes.lower, boxes.upper
    least = np.inf
    thinnest = -1
    for j in range(v.shape[0]):
        vk, wk = lower[box, j], upper[box, j]
        if v[j] <= vk and w[j] <= wk:
            depth = w[j] - vk if v[j] < wk else np.inf  # both flat, and the same
        elif v[j] > vk and w[j] > wk:
            depth = wk - v[j]
        else:
            depth = smaller(wk - v[j], w[j] - vk)
        if depth < least:
            least = depth
            thinnest = j
    if thinnest >= 0:
        _part_along(thinnest, v, w, lower, upper, box)


@inlined
def _part_along(j, v, w, lower, upper, box):
    """Move faces as contraction does, and one of the two a step away."""
    vi, wi = v[j], w[j]
    vk, wk = lower[box, j], upper[box, j]
    if vi <= vk and wi <= wk:
        middle = (wi + vk) / 2
        if middle < wk:
            w[j] = middle
            lower[box, j] = np.nextafter(middle, np.inf)
        else:  # the other is flat
            w[j] = np.nextafter(vk, -np.inf)
    elif vi > vk and wi > wk:
        v[j] = (wk + vi) / 2
        upper[box, j] = np.nextafter(v[j], -np.inf)
    elif wi > wk:
        if wk - vi <= wi - vk:
            v[j] = np.nextafter(wk, np.inf)
        else:
            w[j] = np.nextafter(vk, -np.inf)
    elif wk - vi <= wi - vk:
        upper[box, j] = np.nextafter(vi, -np.inf)
    else:
        lower[box, j] = np.nextafter(wi, np.inf)


@forceinline
def hull(v1, w1, v2, w2, v, w):
    """Write the smallest box that contains two boxes into [v, w], which may be one of them."""
    for j in range(v.shape[0]):
        v[j] = lowest(v1[j], v2[j])
        w[j] = upmost(w1[j], w2[j])


@forceinline
def copy_row(values, row):
    """Copy numbers into a row of a record, for which kernels are compiled: one type of array."""
    for j in range(row.shape[0]):
        row[j] = values[j]
