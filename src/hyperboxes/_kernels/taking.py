"""Samples that a member learns or is asked about, and its boxes, between codes and numbers.

Each is done in one pass. NumPy takes many steps, and leaves Python to other threads in each: those
that learn members would wait for each other most of the time.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import is_known
from hyperboxes._kernels.jit import kernel

# Boxes may miss a code that they hold by so much, for the rounding.
_NEARLY = 1e-6


@kernel
def take_numbers(low, high, rows, features, levels, xl, xu):
    """Write some features of some samples as numbers from 0 to 1, or NaN where they are missing.

    `low[feature, sample]` and `high` are codes up to `levels`; `high` and `xu` are None for points.
    """
    for i in range(rows.shape[0]):
        for k in range(features.shape[0]):
            first = low[features[k], rows[i]]
            xl[i, k] = first / levels
            if high is not None:
                last = high[features[k], rows[i]]
                xu[i, k] = last / levels
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
def round_boxes(lower, upper, levels, low, high):
    """Write the codes that boxes hold; those of features that they know nothing of are all.

    Where boxes were parted between two codes, each keeps those on its side; one between two codes
    keeps the nearer.
    """
    for i in range(lower.shape[0]):
        for j in range(lower.shape[1]):
            first, last = 0.0, float(levels)
            if is_known(lower[i, j]):
                first = np.ceil(levels * lower[i, j] - _NEARLY)
                last = np.floor(levels * upper[i, j] + _NEARLY)
                if first > last:
                    first = last = np.rint(levels * (lower[i, j] + upper[i, j]) / 2)
            low[i, j] = np.uint8(first)
            high[i, j] = np.uint8(last)
