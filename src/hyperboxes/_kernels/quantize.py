"""Samples as small whole numbers: the bin of each value, and a hash of each sample's bins.

Bins are what boosting searches, so two samples with equal bins and labels are one sample twice to
it. The hash lets it draw them together, which makes a weight of 2 the same as two copies.
"""

import numpy as np

from hyperboxes._kernels.jit import forceinline, kernel

MISSING = 255  # the bin of NaN
MAX_BINS = 255  # of values


@forceinline
def mixed(key):
    """Spread the bits of a number over 64 bits (the last step of splitmix64)."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


@kernel
def encode(X, thresholds, start, stop, codes):
    """Write the bins of rows `start` to `stop` to `codes`, one row of it for each feature.

    A value is in the first bin whose threshold is not below it. Thresholds are followed by infinite
    ones, MISSING in all; NaN is beyond these, too. Halving has no branches: they would be guessed
    wrong half of the time.
    """
    X = X[start:stop]
    for feature in range(X.shape[1]):
        ends, column = thresholds[feature], codes[feature, start:stop]
        for row in range(X.shape[0]):
            value = X[row, feature]
            code, size = 0, (MISSING + 1) >> 1
            while size:
                code += 0 if value <= ends[code + size - 1] else size
                size >>= 1
            column[row] = code


@kernel
def hash_rows(codes, labels, start, stop, keys):
    """Write a hash of the bins and the label of rows `start` to `stop` to `keys`."""
    for row in range(start, stop):
        keys[row] = mixed(np.uint64(labels[row]))
    for feature in range(codes.shape[0]):
        for row in range(start, stop):
            keys[row] = mixed(keys[row] + np.uint64(codes[feature, row]))
