"""How many pairs the paper's AGGLO-SM tries, counted after the fact.

After each merge the paper sorts all pairs and tries them from the top again, so a pair is tried as
often as merges happen below it in the order while both of its boxes keep their shape. Knowing all
merges, each pair's tries follow from the two spans of time in which its boxes had their shape: how
many merges in both spans come at or after the pair in the order? A wavelet matrix over the merges'
ranks answers that in logarithmic time, and no pair is ever stored.

`merges` is the tuple `(similarity, earlier, later)` of arrays, sorted in the paper's order;
`matrix` is the wavelet matrix of their ranks in order of time. Time runs from 0; merge t is chosen
at t. A box that merge t makes lives from t + 1, one that it uses up to and including t.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.agglomerative import merge
from hyperboxes._kernels.geometry import similarity
from hyperboxes._kernels.jit import kernel

# Of the count: the next box to pair with later ones, the next merge to replay, the tries so far.
BOX, MERGE, TRIED = range(3)


@kernel
def rank_matrix(ranks):
    """Return the wavelet matrix: per bit, from the highest, how many zeros precede each place."""
    n = ranks.shape[0]
    n_bits = 1
    while n >> n_bits:
        n_bits += 1
    zeros = np.zeros((n_bits, n + 1), np.int64)
    values = ranks.copy()
    for level in range(n_bits):
        is_zero = (values >> (n_bits - 1 - level)) & 1 == 0
        zeros[level, 1:] = np.cumsum(is_zero)
        values = np.concatenate((values[is_zero], values[~is_zero]))
    return zeros


@kernel
def lifetimes(earlier, later, n_boxes):
    """Return when the first shape of each box ends, and the shape that each merge makes."""
    n_merges = earlier.shape[0]
    ends = np.full(n_boxes, n_merges + 1)
    ends_of_merged = np.empty(n_merges, np.int64)
    for t in range(n_merges - 1, -1, -1):
        ends_of_merged[t] = ends[earlier[t]]
        ends[earlier[t]] = ends[later[t]] = t + 1
    return ends, ends_of_merged


@kernel
def count_tries(boxes, previous, state, replay, merges, matrix, rule, measure, work):
    """Count on: the pairs of the samples' boxes, then, merge by merge, those of the merged boxes.

    `boxes` are the samples again, and are merged again as `replay` says: places by time, and what
    `lifetimes` returns. Returns whether all is counted; or False after `work` comparisons of a box
    in one dimension.
    """
    lower, upper, labels, _, following, first, _, _ = boxes
    _, gamma, floor = rule
    earlier, later, ends, ends_of_merged = replay
    n_boxes, n_features = lower.shape
    while state[BOX] < n_boxes and work > 0:
        i = state[BOX]
        v, w = lower[i], upper[i]
        k = following[i]
        while k >= 0:
            value = similarity(v, w, lower, upper, k, gamma, floor, measure)
            if value > 0.0:
                state[TRIED] += _tries(value, i, k, 0, min(ends[i], ends[k]), merges, matrix)
            k = following[k]
        state[BOX] += 1
        work -= n_boxes * n_features
    while state[MERGE] < earlier.shape[0] and work > 0:
        t = state[MERGE]
        i = earlier[t]
        merge(i, later[t], boxes, previous)
        ends[i] = ends_of_merged[t]
        v, w = lower[i], upper[i]
        k = first[labels[i]]
        while k >= 0:
            value = similarity(v, w, lower, upper, k, gamma, floor, measure)
            if value > 0.0 and k != i:
                end = min(ends[i], ends[k])
                state[TRIED] += _tries(value, min(i, k), max(i, k), t + 1, end, merges, matrix)
            k = following[k]
        state[MERGE] += 1
        work -= n_boxes * n_features
    return state[BOX] == n_boxes and state[MERGE] == earlier.shape[0]


@kernel
def _tries(value, i, k, start, end, merges, matrix):
    """Count how often a pair of this similarity is tried between two times."""
    n_merges = matrix.shape[1] - 1
    at_the_end = end > n_merges  # the last round tries all pairs and merges none
    end = min(end, n_merges)
    rank = _rank(value, i, k, merges)
    return end - start - _count_less(matrix, start, end, rank) + at_the_end


@kernel
def _rank(value, i, k, merges):
    """Count the merges that come before a pair in the paper's order."""
    similarities, earlier, later = merges
    low, high = 0, similarities.shape[0]
    while low < high:
        middle = (low + high) // 2
        if similarities[middle] != value:
            precedes = similarities[middle] > value
        elif earlier[middle] != i:
            precedes = earlier[middle] < i
        else:
            precedes = later[middle] < k
        if precedes:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _count_less(matrix, start, end, rank):
    """Count the ranks below `rank` from place `start` to before `end`."""
    n_bits, n = matrix.shape
    less = 0
    for level in range(n_bits):
        zeros = matrix[level]
        if (rank >> (n_bits - 1 - level)) & 1:
            less += zeros[end] - zeros[start]
            start += zeros[n - 1] - zeros[start]
            end += zeros[n - 1] - zeros[end]
        else:
            start = zeros[start]
            end = zeros[end]
    return less
