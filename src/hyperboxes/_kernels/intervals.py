"""The best interval of a feature: sums of g and h over its bins, and the run of bins to take.

g and h of a sample, and sums of them, share 64 bits: g is in the upper half, h in the lower, so one
addition adds both. g has a sign, h is never negative, and both sums fit (`drawing.Part`).
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.binning import MISSING
from hyperboxes._kernels.jit import formula, kernel

_HALF = 32
_LOWER_HALF = (1 << _HALF) - 1

_MAX_REFINEMENTS = 6
_LARGEST_C = 64.0  # so that sums of c h fit into whole numbers


@formula
def packed(g, h):
    """Return g and h, rounded, as one number."""
    return (np.int64(np.rint(g)) << _HALF) + np.int64(np.rint(h))


@formula
def sum_of_g(packed):
    """Return the sum of g."""
    return packed >> _HALF


@formula
def sum_of_h(packed):
    """Return the sum of h."""
    return packed & _LOWER_HALF


@formula
def score_of(packed, l2):
    """Return how good a box is by its sums of g and h."""
    g = float(sum_of_g(packed))
    return g * g / (float(sum_of_h(packed)) + l2) if g > 0.0 else 0.0


@formula
def add_four(sums, codes, columns, rows, gradients, n_rows):
    """Add g and h of samples to the sums of their bins, in four columns at a time.

    The sums of a column depend on each other; those of four keep the processor busy.
    """
    codes_0, codes_1, codes_2, codes_3 = (
        codes[columns[0]],
        codes[columns[1]],
        codes[columns[2]],
        codes[columns[3]],
    )
    sums_0, sums_1, sums_2, sums_3 = sums[0], sums[1], sums[2], sums[3]
    for place in range(n_rows):
        row, both = rows[place], gradients[place]
        sums_0[codes_0[row]] += both
        sums_1[codes_1[row]] += both
        sums_2[codes_2[row]] += both
        sums_3[codes_3[row]] += both


@kernel
def best_interval(sums, n_bins, l2):
    """Find the run of bins for which (sum of g)^2 / (sum of h + l2) is large.

    `sums` holds g and h of each bin, those of NaN at MISSING. For a given c the run with the
    largest sum of g - c h is found exactly (of equals the one that ends first, then the shortest),
    and NaN belongs to it if its g - c h is positive. Then c is set to what belongs to that run, as
    long as the score rises. Returns score, first and last bin, whether NaN belongs, and both sums.
    """
    best_score, best_first, best_last, best_missing, best = 0.0, 0, -1, False, np.int64(0)
    c = 0.0
    for _ in range(_MAX_REFINEMENTS):
        first, last, start = 0, -1, 0
        largest = running = np.int64(0)
        for place in range(n_bins):
            running += gain_of(sums[place], c)
            if running > largest:
                largest, first, last = running, start, place
            if running <= 0:
                running, start = np.int64(0), place + 1
        if last < 0:
            break
        missing = gain_of(sums[MISSING], c) > 0
        total = sums[MISSING] if missing else np.int64(0)
        for place in range(first, last + 1):
            total += sums[place]
        score = score_of(total, l2)
        if score <= best_score:
            break
        best_score, best_first, best_last, best_missing, best = score, first, last, missing, total
        c = min(0.5 * float(sum_of_g(total)) / (float(sum_of_h(total)) + l2), _LARGEST_C)
    return best_score, best_first, best_last, best_missing, best


@formula
def gain_of(packed, c):
    """Return g - c h."""
    return sum_of_g(packed) - np.int64(np.rint(c * sum_of_h(packed)))
