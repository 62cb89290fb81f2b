"""Formulas of the paper for one or two boxes: membership, similarity, size, overlap, contraction.

Boxes are rows of the arrays `lower` (v in the paper) and `upper` (w). Arithmetic is float64 in the
order the paper writes it; rounding is monotone, which is what makes the shortcuts below exact.

NaN stands for what is not known: a value that a sample lacks, both ends of a box in a feature that
none of its samples had. It is never larger nor smaller than anything, and the formulas are written
so that it holds nothing back.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.jit import formula, part

# Two gaps g whose memberships 1 - g round to one number differ by less than this.
ROUNDING = 2.0**-52

# Distances up to this are memberships of 1.
HELD = ROUNDING / 4

# Which ends of two intervals a gap is measured between: the membership of one in the other, or one
# of the paper's similarities of both.
MEMBERSHIP, LONGEST, SHORTEST, MID_MAX, MID_MIN = range(5)

# What keeps a box from growing over boxes of other classes: the closed test or the paper's; or
# nothing, if they are parted afterwards.
CLOSED, PAPER, CONTRACT = range(3)


@formula
def larger(a, b):
    """Return the larger number; `b` if one of them is not known.

    It costs a fraction of `max`.
    """
    return a if a > b else b


@formula
def smaller(a, b):
    """Return the smaller number; `b` if one of them is not known."""
    return a if a < b else b


@formula
def is_known(a):
    """Whether a number is known, that is, not NaN."""
    return a == a


@formula
def are_known(values):
    """Whether all numbers of a row are known."""
    for j in range(values.shape[0]):
        if not is_known(values[j]):
            return False
    return True


@part
def distance(lower, upper, box, xl, xu, gamma, limit):
    """Largest `gamma * gap` between a box and the interval [xl, xu], 0 where the box holds it.

    The first one beyond `limit` ends the walk and is returned. The membership is `1 - distance`,
    clipped at 0: the minimum over the dimensions commutes with the rounded subtraction, so taking
    the maximum first gives the same bits.
    """
    largest = 0.0
    for j in range(xl.shape[0]):
        above = xu[j] - upper[box, j]
        below = lower[box, j] - xl[j]
        apart = larger(above, below) * gamma[j]
        if apart > limit:
            return apart
        largest = larger(apart, largest)
    return largest


@part
def similarity(v, w, lower, upper, box, gamma, measure):
    """Return the membership of [v, w] in a box, or the similarity of the two by a measure.

    All are `distance` with lower and upper ends exchanged. The middle distance is the membership
    of the box in the interval or the other way round, whichever is more or less similar.
    """
    if measure == LONGEST:
        gap = distance(upper, lower, box, v, w, gamma, 1.0)
    elif measure == SHORTEST:
        gap = distance(lower, upper, box, w, v, gamma, 1.0)
    else:
        gap = distance(lower, upper, box, v, w, gamma, 1.0)
        if measure != MEMBERSHIP:
            back = distance(upper, lower, box, w, v, gamma, 1.0)
            gap = smaller(gap, back) if measure == MID_MAX else larger(gap, back)
    return as_membership(gap)


@formula
def as_membership(gap):
    """Return 1 less a distance, at least 0."""
    return 1.0 - smaller(gap, 1.0)


@formula
def fits(lower, upper, box, xl, xu, theta):
    """Whether the box grown to hold [xl, xu] has no side longer than `theta`."""
    for j in range(xl.shape[0]):
        if _upmost(upper[box, j], xu[j]) - _lowest(lower[box, j], xl[j]) > theta:
            return False
    return True


@formula
def holds(lower, upper, box, xl, xu, gamma):
    """Whether [xl, xu] is a full member of the box, and knows nothing that the box does not."""
    if distance(lower, upper, box, xl, xu, gamma, HELD) > HELD:
        return False
    for j in range(xl.shape[0]):
        if is_known(xl[j]) and not is_known(lower[box, j]):
            return False
    return True


@part
def meets(v, w, lower, upper, box):
    """Overlap "closed": the closed intervals of [v, w] and the box meet in every dimension."""
    for j in range(v.shape[0]):
        if v[j] > upper[box, j] or lower[box, j] > w[j]:
            return False
    return True


@part
def overlaps(v, w, lower, upper, box):
    """Overlap "paper": the paper's four cases, with ties as its published runs had them."""
    for j in range(v.shape[0]):
        vk = lower[box, j]
        wk = upper[box, j]
        if v[j] <= vk and w[j] <= wk and w[j] <= vk:
            return False
        if v[j] > vk and w[j] > wk and wk <= v[j]:
            return False
    return True


@part
def collide(v, w, lower, upper, box, overlap):
    """Whether [v, w] overlaps a box of another class, by the closed test or the paper's."""
    if overlap == CLOSED:
        return meets(v, w, lower, upper, box)
    return overlaps(v, w, lower, upper, box)


@part
def contract(v, w, lower, upper, box):
    """Part two overlapping boxes in the dimension where they overlap least; both may change.

    The overlap must hold in the sense of `overlaps`. The first dimension wins ties. Boxes that know
    no feature in common stay as they are.
    """
    least = np.inf
    thinnest = -1
    for j in range(v.shape[0]):
        vk = lower[box, j]
        wk = upper[box, j]
        if v[j] <= vk and w[j] <= wk:
            depth = w[j] - vk
        elif v[j] > vk and w[j] > wk:
            depth = wk - v[j]
        else:
            depth = smaller(wk - v[j], w[j] - vk)
        if depth < least:
            least = depth
            thinnest = j
    if thinnest >= 0:
        _contract_along(thinnest, v, w, lower, upper, box)


@part
def _contract_along(j, v, w, lower, upper, box):
    """Apply the paper's contraction cases 1 to 4 in dimension `j`."""
    vi, wi = v[j], w[j]
    vk, wk = lower[box, j], upper[box, j]
    if vi <= vk and wi <= wk:
        w[j] = lower[box, j] = (wi + vk) / 2
    elif vi > vk and wi > wk:
        v[j] = upper[box, j] = (wk + vi) / 2
    elif wi > wk:
        if wk - vi <= wi - vk:
            v[j] = wk
        else:
            w[j] = vk
    elif wk - vi <= wi - vk:
        upper[box, j] = vi
    else:
        lower[box, j] = wi


@formula
def hull(v1, w1, v2, w2, v, w):
    """Write the smallest box that holds two boxes into [v, w], which may be one of them."""
    for j in range(v.shape[0]):
        v[j] = _lowest(v1[j], v2[j])
        w[j] = _upmost(w1[j], w2[j])


@formula
def _lowest(a, b):
    """Return the smaller number, or the one that is known."""
    least = smaller(a, b)
    return least if is_known(least) else a


@formula
def _upmost(a, b):
    """Return the larger number, or the one that is known."""
    most = larger(a, b)
    return most if is_known(most) else a
