"""Boxes that count categories (EIOL-GFMM): which box of a class a sample joins, and which is best.

In the arrays of the boxes, categorical features are unknown, so that they exclude nothing; their
counts are in `CategoryCounts`. The value of a sample there is the number of a category.
"""

import math

import numpy as np

from hyperboxes._kernels.candidates import NONE, rank, sift_down
from hyperboxes._kernels.geometry import (
    CONTAINED,
    as_membership,
    contains,
    distance,
    fits,
    hull,
    is_known,
    larger,
    overlaps,
)
from hyperboxes._kernels.jit import check_index, forceinline, inlined, internal
from hyperboxes._kernels.search import find, find_conflicts, set_reach, set_window
from hyperboxes._kernels.structs import BOXES, CLOSED, UNIT, WORK

_LOG_2 = math.log(2.0)


@forceinline
def read_codes(x, tallies):
    """Write the category numbers of a sample."""
    for k in range(tallies.features.shape[0]):
        number = x[tallies.features[k]]
        tallies.codes[k] = np.int64(np.rint(number / UNIT)) if is_known(number) else -1
        check_index(tallies.codes[k] + 1, tallies.counts.shape[1] + 1)


@internal
def start_sample(tallies, search):
    """Write the categories of the sample of a search; the search itself ignores them."""
    read_codes(search.low, tallies)
    for j in tallies.features:
        search.low[j] = search.high[j] = np.nan


@forceinline
def _share(box, codes, tallies):
    """Return the mean share of a box's samples that have the categories of a sample.

    Unknown values exclude nothing.
    """
    total = 0.0
    for k in range(codes.shape[0]):
        n_known = tallies.known[box, k]
        if codes[k] < 0 or n_known == 0:
            total += 1.0
        else:
            total += tallies.counts[box, codes[k]] / n_known
    return total / codes.shape[0]


@forceinline
def mixed_membership(gap, box, codes, tallies, mixture):
    """Return how far a sample belongs to a box from whose numbers it is so far away."""
    numbers = as_membership(gap)
    if codes.shape[0] == 0:
        return numbers
    if mixture.n_numbers == 0:
        return _share(box, codes, tallies)
    alpha = mixture.alpha
    return alpha * numbers + (1.0 - alpha) * _share(box, codes, tallies)


@forceinline
def _weighed(n):
    return n * math.log(n) if n > 0 else 0.0


@forceinline
def entropy_rise(n, count):
    """Return H' - n / (n + 1) H in bits when a value that `count` of `n` samples have comes again.

    H is the entropy of a feature's values. All terms of other values cancel.
    """
    if count == n:
        return 0.0
    total = math.log(n + 1) - n / (n + 1) * math.log(n)
    return (total - (_weighed(count + 1) - _weighed(count)) / (n + 1)) / _LOG_2


@internal
def _stays_pure(box, codes, tallies, mixture):
    """Whether the categories of a box are not too mixed with one more sample."""
    total = 0.0
    for k in range(codes.shape[0]):
        if codes[k] >= 0:
            rise = entropy_rise(tallies.known[box, k], tallies.counts[box, codes[k]])
            if mixture.each and rise > mixture.delta:
                return False
            total += rise
    n_features = larger(codes.shape[0], 1)
    return mixture.each or total / n_features <= mixture.delta


@internal
def _shares_categories(box, codes, rival, tallies, mixture):
    """Whether a box with one more sample has categories in common with another in all features."""
    counts, known, values, starts = tallies.counts, tallies.known, tallies.values, tallies.starts
    for k in range(codes.shape[0]):
        n_own, n_other = known[box, k] + (codes[k] >= 0), known[rival, k]
        is_common = n_own == 0 or n_other == 0
        for i in range(starts[k], starts[k + 1]):
            value = values[i]
            own, other = counts[box, value] + (value == codes[k]), counts[rival, value]
            is_equal = not mixture.frequencies or own * n_other == other * n_own
            if own > 0 and other > 0 and is_equal:
                is_common = True
                break
        if not is_common:
            return False
    return True


@internal
def _meets_rival(box, label, codes, boxes, growth, tallies, mixture, scratch):
    """Whether a box with one more sample overlaps a box of another class."""
    search, conflicts, v, w = scratch.search, scratch.conflicts, scratch.v, scratch.w
    hull(boxes.lower[box], boxes.upper[box], search.low, search.high, v, w)
    set_window(w, v, 0.0, search.near, search.far)
    n_conflicts = find_conflicts(label, growth.exhaustive, boxes, search, conflicts)
    boxes.counters[WORK] += n_conflicts
    for r in range(n_conflicts):
        if overlaps(v, w, boxes, conflicts[r], CLOSED) and _shares_categories(
            box, codes, conflicts[r], tallies, mixture
        ):
            return True
    return False


@internal
def _list_own(label, boxes, growth, scratch):
    """List the boxes of a class, with `selection="index"` those that the sample may fit into."""
    ids, search = scratch.ids, scratch.search
    if not growth.exhaustive:
        set_window(search.low, search.high, growth.theta, search.near, search.far)
        return find(label, False, True, False, boxes, search, ids)
    n_found = 0
    for box in range(boxes.counters[BOXES]):
        if boxes.labels[box] == label:
            ids[n_found] = box
            n_found += 1
    return n_found


@internal
def _find_holder(label, codes, boxes, growth, tallies, scratch):
    """Return the oldest box of a class that holds a sample and all of whose samples are like it."""
    ids, search = scratch.ids, scratch.search
    xl, xu, metric = search.low, search.high, growth.metric
    set_reach(xl, xu, CONTAINED, metric, search.near, search.far)
    holder = NONE
    for f in range(find(label, False, False, growth.exhaustive, boxes, search, ids)):
        box = ids[f]
        if (
            (holder == NONE or box < holder)
            and contains(boxes, box, xl, xu, metric)
            and (codes.shape[0] == 0 or _share(box, codes, tallies) == 1.0)
        ):
            holder = box
    return holder


@internal
def choose_mixed(label, boxes, growth, tallies, mixture, scratch):
    """Find the best box of a class that may absorb the sample, as `candidates.choose` does."""
    ids, values, growable, search = scratch.ids, scratch.values, scratch.growable, scratch.search
    xl, xu, metric, codes = search.low, search.high, growth.metric, tallies.codes
    holder = _find_holder(label, codes, boxes, growth, tallies, scratch)
    if holder != NONE:
        return holder, 0
    n_listed = _list_own(label, boxes, growth, scratch)
    boxes.counters[WORK] += n_listed
    n_candidates = n_growable = 0
    for f in range(n_listed):
        box = ids[f]
        gap = distance(boxes.lower, boxes.upper, box, xl, xu, metric, np.inf)
        if as_membership(gap) < growth.floor:
            continue
        ids[n_candidates] = box
        values[n_candidates] = mixed_membership(gap, box, codes, tallies, mixture)
        if fits(boxes, box, xl, xu, growth) and _stays_pure(box, codes, tallies, mixture):
            growable[n_growable] = n_candidates
            n_growable += 1
        n_candidates += 1
    for g in range(n_growable // 2 - 1, -1, -1):
        sift_down(values, ids, growable, g, n_growable)
    n_tried = 0
    while n_growable > 0:
        best = growable[0]
        n_tried += 1
        if not _meets_rival(ids[best], label, codes, boxes, growth, tallies, mixture, scratch):
            n_better = rank(values, ids, n_candidates, best) if growth.exhaustive else n_tried
            return ids[best], n_better
        n_growable -= 1
        growable[0] = growable[n_growable]
        sift_down(values, ids, growable, 0, n_growable)
    return NONE, n_candidates if growth.exhaustive else n_tried


@inlined
def count_categories(box, is_new, tallies):
    """Count the categories of a sample that a box has absorbed."""
    if is_new:
        tallies.counts[box] = 0
        tallies.known[box] = 0
    codes = tallies.codes
    for k in range(codes.shape[0]):
        if codes[k] >= 0:
            tallies.counts[box, codes[k]] += 1
            tallies.known[box, k] += 1
