"""Formulas of the paper for one or two boxes: membership, similarity, size, overlap, contraction.

Boxes are rows of the arrays `lower` (v in the paper) and `upper` (w). Arithmetic is float64 in the
order the paper writes it; rounding is monotone, which is what makes the shortcuts below exact.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.jit import formula, kernel

# Two gaps g whose memberships 1 - g round to one number differ by less than this.
ROUNDING = 2.0**-52

# Which ends of two intervals a gap is measured between: the membership of one in the other, or one
# of the paper's similarities of both.
MEMBERSHIP, LONGEST, SHORTEST, MID_MAX, MID_MIN = range(5)


@formula
def _larger(a, b):
    """`max` without its care for NaN, which costs several times the comparison."""
    return a if a > b else b


@formula
def _smaller(a, b):
    return a if a < b else b


@formula
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
        apart = _larger(above, below) * gamma[j]
        if apart > limit:
            return apart
        largest = _larger(largest, apart)
    return largest


@formula
def gap(lower, upper, box, xl, xu, gamma, limit, measure):
    """Distance of a box from [xl, xu] by one of the measures; beyond `limit` any value beyond it.

    All are `distance` with lower and upper ends exchanged. The middle distance is the membership
    of the box in the interval or the other way round, whichever is more or less similar.
    """
    if measure == MEMBERSHIP:
        return distance(lower, upper, box, xl, xu, gamma, limit)
    if measure == LONGEST:
        return distance(upper, lower, box, xl, xu, gamma, limit)
    if measure == SHORTEST:
        return distance(lower, upper, box, xu, xl, gamma, limit)
    there = distance(lower, upper, box, xl, xu, gamma, limit)
    back = distance(upper, lower, box, xu, xl, gamma, limit)
    return _smaller(there, back) if measure == MID_MAX else _larger(there, back)


@formula
def similarity(v, w, lower, upper, box, gamma, floor, measure):
    """Return the membership or similarity of [v, w] and a box if it is at least `floor`, else 0."""
    limit = 1.0 - floor + ROUNDING
    value = 1.0 - _smaller(gap(lower, upper, box, v, w, gamma, limit, measure), 1.0)
    return value if value >= floor else 0.0


@formula
def fits(lower, upper, box, xl, xu, theta):
    """Whether the box grown to hold [xl, xu] has no side longer than `theta`."""
    for j in range(xl.shape[0]):
        if _larger(upper[box, j], xu[j]) - _smaller(lower[box, j], xl[j]) > theta:
            return False
    return True


@formula
def within_reach(lower, upper, box, xl, xu, theta):
    """Whether a box grown to hold [xl, xu] could touch `box` without exceeding `theta`.

    A grown box [v, w] has v <= xl, w >= xu and sides of at most theta. If it meets `box`, then
    upper >= v, so xu - upper <= w - v <= theta, in floating point as in the reals.
    """
    for j in range(xl.shape[0]):
        if xu[j] - upper[box, j] > theta or lower[box, j] - xl[j] > theta:
            return False
    return True


@formula
def meets(v, w, lower, upper, box):
    """Overlap "closed": the closed intervals of [v, w] and the box meet in every dimension."""
    for j in range(v.shape[0]):
        if v[j] > upper[box, j] or lower[box, j] > w[j]:
            return False
    return True


@formula
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


@kernel
def contract(v, w, lower, upper, box):
    """Part two overlapping boxes in the dimension where they overlap least; both may change.

    The overlap must hold in the sense of `overlaps`. The first dimension wins ties.
    """
    least = np.inf
    thinnest = 0
    for j in range(v.shape[0]):
        vk = lower[box, j]
        wk = upper[box, j]
        if v[j] <= vk and w[j] <= wk:
            depth = w[j] - vk
        elif v[j] > vk and w[j] > wk:
            depth = wk - v[j]
        else:
            depth = min(wk - v[j], w[j] - vk)
        if depth < least:
            least = depth
            thinnest = j
    _part(v, w, lower, upper, box, thinnest)


@kernel
def _part(v, w, lower, upper, box, j):
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
        v[j] = _smaller(v1[j], v2[j])
        w[j] = _larger(w1[j], w2[j])
