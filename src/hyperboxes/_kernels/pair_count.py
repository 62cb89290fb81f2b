"""How many pairs the paper's AGGLO-SM tries, counted after the fact.

After each merge the paper sorts all pairs and tries them from the top again, so a pair is tried as
often as merges happen below it in the order while both of its boxes keep their shape. Knowing all
merges, each pair's tries follow from the two spans of time in which its boxes had their shape: how
many merges in both spans come at or after the pair in the order? A wavelet matrix over the merges'
ranks answers that in logarithmic time, and no pair is ever stored.

`Merges` are sorted in the paper's order; `matrix` is the wavelet matrix of their ranks in order of
time. Time runs from 0; merge t is chosen at t. A box that merge t makes lives from t + 1, one that
it uses up to and including t. Only the reproduction of the paper needs this: with the index nothing
of it is ever compiled.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from hyperboxes._kernels.agglomerative import merge
from hyperboxes._kernels.geometry import copy_row, larger, smaller
from hyperboxes._kernels.index import has_room
from hyperboxes._kernels.jit import by_reference, kernel, step, subroutine
from hyperboxes._kernels.records import WORK
from hyperboxes._kernels.selection import list_similar

# All merges in the paper's order, and the matrix of their ranks in order of time.
Merges = namedtuple("Merges", "similarity earlier later matrix")

# All merges in order of time: places, when the first shape of each box ends, and when the shape
# ends that each merge makes.
Replay = namedtuple("Replay", "earlier later ends ends_of_merged")

# Of the count: the next box to pair with later ones, the next merge to replay, the tries so far.
BOX, MERGE, TRIED = range(3)


def rank_matrix(ranks: np.ndarray) -> np.ndarray:
    """Return the wavelet matrix: per bit, from the highest, how many zeros precede each place."""
    n_bits = max(1, len(ranks).bit_length())
    zeros = np.zeros((n_bits, len(ranks) + 1), np.int64)
    for level in range(n_bits):
        is_zero = (ranks >> (n_bits - 1 - level)) & 1 == 0
        zeros[level, 1:] = np.cumsum(is_zero)
        ranks = np.concatenate((ranks[is_zero], ranks[~is_zero]))
    return zeros


@kernel
def find_lifetimes(replay):
    """Fill in when the first shape of each box ends, and the shape that each merge makes."""
    replay = by_reference(replay)
    earlier, later, ends = replay.earlier, replay.later, replay.ends
    n_merges = earlier.shape[0]
    for box in range(ends.shape[0]):
        ends[box] = n_merges + 1
    for t in range(n_merges - 1, -1, -1):
        replay.ends_of_merged[t] = ends[earlier[t]]
        ends[earlier[t]] = ends[later[t]] = t + 1


@kernel
def count_tries(boxes, state, replay, merges, rule, scratch, relabels, work):
    """Count on: the pairs of the samples' boxes, then, merge by merge, those of the merged boxes.

    `boxes` are the samples again, and are merged again as `replay` says. Returns whether all is
    counted; or False after `work` comparisons of a block in one dimension, and when there is no
    room to relabel a box.
    """
    boxes, replay, merges = by_reference(boxes), by_reference(replay), by_reference(merges)
    rule, scratch = by_reference(rule), by_reference(scratch)
    counters, earlier, ends = boxes.counters, replay.earlier, replay.ends
    n_boxes, n_features = boxes.lower.shape
    end = counters[WORK] + larger(work // n_features, 1)
    while state[BOX] < n_boxes and counters[WORK] < end:
        i = state[BOX]
        state[TRIED] += _tries_of_pairs(i, i + 1, 0, boxes, ends, merges, rule, scratch)
        state[BOX] += 1
    while state[MERGE] < earlier.shape[0] and counters[WORK] < end and has_room(boxes):
        t = state[MERGE]
        i = earlier[t]
        merge(i, replay.later[t], boxes, relabels)
        ends[i] = replay.ends_of_merged[t]
        state[TRIED] += _tries_of_pairs(i, 0, t + 1, boxes, ends, merges, rule, scratch)
        state[MERGE] += 1
    return state[BOX] == n_boxes and state[MERGE] == earlier.shape[0]


@subroutine
def _tries_of_pairs(i, least, start, boxes, ends, merges, rule, scratch):
    """Count how often box i is tried with others from number `least` on, and from a time on."""
    ids, values, search = scratch.ids, scratch.values, scratch.search
    copy_row(boxes.lower[i], search.low)
    copy_row(boxes.upper[i], search.high)
    n_similar = list_similar(boxes.labels[i], boxes, rule, search, ids, values)
    tries = 0
    for s in range(n_similar):
        k = ids[s]
        if k >= least and k != i and values[s] > 0.0:
            end = smaller(ends[i], ends[k])
            tries += _tries(values[s], smaller(i, k), larger(i, k), start, end, merges)
    return tries


@step
def _tries(value, i, k, start, end, merges):
    """Count how often a pair of this similarity is tried between two times."""
    n_merges = merges.similarity.shape[0]
    at_the_end = end > n_merges  # the last round tries all pairs and merges none
    end = smaller(end, n_merges)
    rank = _rank(value, i, k, merges)
    return end - start - _count_less(merges.matrix, start, end, rank) + at_the_end


@step
def _rank(value, i, k, merges):
    """Count the merges that come before a pair in the paper's order."""
    similarities, earlier, later = merges.similarity, merges.earlier, merges.later
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


@step
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
