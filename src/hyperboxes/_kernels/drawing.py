"""Draws of samples: some to search for boxes, and others to judge these by.

Sums over drawn samples decide, so they are sums of whole numbers: they do not depend on the order
of the samples or on the number of threads. Equal samples are one sample here with their weights
added up, so a sample twice is the same as a weight of 2.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from hyperboxes._kernels.binning import mixed
from hyperboxes._kernels.jit import formula, kernel

ONE_BITS = 24
ONE = 1 << ONE_BITS  # probabilities are counted in units of 1 / ONE
SHARES = 16  # a draw takes a share of a sample in units of 1 / SHARES

# Of 62 bits, what products with probabilities leave for the sum of the weights of all samples.
UNIT_BITS = 62 - ONE_BITS

# Sums of g and of h over drawn samples share 64 bits, with some to spare for rounding.
_SUM_BITS = 30

_FEW_COPIES = 8.0  # which a draw takes together or not at all

# Training samples. `codes`: bins by feature and sample; `weights`: whole numbers; `counts`: how
# many samples each stands for; `keys`: hashes of bins and label, where samples are drawn.
Samples = namedtuple("Samples", "codes n_bins labels weights counts keys")

# Drawn samples: their places among the samples, their weights, classes and regions. The sum of all
# weights times ONE is at most 2 ** _SUM_BITS.
Part = namedtuple("Part", "rows weights labels regions")

# The samples to search and those to judge by, and what weights were multiplied with.
Drawn = namedtuple("Drawn", "searched others scale")


@formula
def random_share(key, copies, share):
    """Return how many SHARES of a sample that stands for many copies to draw.

    It is about as many as if each copy was drawn: the number of ones among 64 random bits is nearly
    normal around 32, with a standard deviation of 4.
    """
    bits, ones = key, 0
    while bits:
        bits &= bits - np.uint64(1)
        ones += 1
    spread = math.sqrt(share * (1.0 - share) / copies)
    wanted = SHARES * (share + spread * (ones - 32) / 4.0)
    return min(max(math.floor(wanted + uniform(mixed(key))), 0), SHARES)


@formula
def uniform(key):
    """Turn a random key into a number from 0 to 1."""
    return (key >> np.uint64(11)) * 2.0**-53


@formula
def take(samples, regions, rows, shares, scale):
    """Return drawn samples with their weights, classes and regions."""
    weights = np.empty(rows.size, np.float64)
    labels, places = np.empty(rows.size, np.uint32), np.empty(rows.size, np.uint32)
    for drawn in range(rows.size):
        row = rows[drawn]
        weights[drawn] = float(samples.weights[row] * shares[drawn]) * scale
        labels[drawn] = samples.labels[row]
        places[drawn] = regions[row]
    return Part(rows, weights, labels, places)


@kernel
def draw_samples(samples, regions, unit, seed, share, other_share):
    """Draw a share of the samples, and another of those that are left.

    Equal samples are drawn together if they are few; of many, a share is drawn. `unit` is how much
    a weight of 1 is.
    """
    n_rows = samples.labels.size
    rows, shares = np.empty(n_rows, np.uint32), np.empty(n_rows, np.uint8)
    other_rows, other_shares = np.empty(n_rows, np.uint32), np.empty(n_rows, np.uint8)
    n_taken = n_left = total = 0
    few = _FEW_COPIES * unit
    for row in range(n_rows):
        key = mixed(samples.keys[row] ^ seed)
        if samples.weights[row] < few:
            place = uniform(key)
            taken = SHARES if place < share else 0
            left = SHARES if share <= place < share + other_share else 0
        else:
            copies = samples.weights[row] / unit
            taken, left = random_share(key, copies, share), 0
            if taken < SHARES:
                again = mixed(key + np.uint64(1))
                wanted = random_share(again, copies, other_share / (1.0 - share))
                left = (SHARES - taken) * wanted // SHARES
        # No branches: which samples are drawn cannot be foretold.
        rows[n_taken], shares[n_taken] = row, taken
        other_rows[n_left], other_shares[n_left] = row, left
        n_taken += taken > 0
        n_left += left > 0
        total += samples.weights[row] * (taken + left)
    scale = math.ldexp(1.0, _SUM_BITS - ONE_BITS - math.frexp(float(total))[1])
    return Drawn(
        take(samples, regions, rows[:n_taken].copy(), shares[:n_taken], scale),
        take(samples, regions, other_rows[:n_left].copy(), other_shares[:n_left], scale),
        scale,
    )
