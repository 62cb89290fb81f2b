"""Boxes found by boosting: the best box for a group of classes on drawn samples.

Samples that lie in the same boxes have the same scores. They make up a region, and scores are kept
by region.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from hyperboxes._kernels.binning import MISSING
from hyperboxes._kernels.drawing import ONE, ONE_BITS
from hyperboxes._kernels.intervals import (
    add_four,
    best_interval,
    packed,
    score_of,
    sum_of_g,
    sum_of_h,
)
from hyperboxes._kernels.jit import formula, kernel

# The conditions of a box: bins from `first` to `last` of `feature`, and NaN if `missing`. Places
# with a feature of -1 are unused; they come last.
Box = namedtuple("Box", "feature first last missing")

# What to look for: a box of a group of classes, those that `belongs` says, with conditions on
# `columns`. `l2` is in units of the samples' weights.
Goal = namedtuple("Goal", "belongs l2 columns")

# A search under way, over drawn samples with their g and h. `failing`: which bins fail each
# condition; `failed`: _FAILURE for each condition that a sample fails, plus the sum of their
# places. Then the samples that fail none, with their g and h, and the places of those that fail
# one.
Search = namedtuple("Search", "rows gradients failing failed inside inside_gradients near")

_FAILURE = 1 << 16
_PLACES = _FAILURE - 1


@formula
def expect(probabilities, belongs):
    """Return p and p (1 - p) of a group of classes in each region, in units of 1 / ONE."""
    labels = np.flatnonzero(belongs)
    expected = np.empty((probabilities.shape[0], 2))
    for region in range(expected.shape[0]):
        p = 0
        for label in labels:
            p += probabilities[region, label]
        p = min(p, ONE)
        expected[region, 0] = p
        expected[region, 1] = (p * (ONE - p)) >> ONE_BITS
    return expected


@formula
def packed_gradients(part, place, wanted, expected):
    """Return g and h of a drawn sample: what the probability of the group lacks, and p (1 - p)."""
    weight, region = part.weights[place], part.regions[place]
    return packed(
        weight * (wanted[part.labels[place]] - expected[region, 0]), weight * expected[region, 1]
    )


@formula
def put(box, place, feature, first, last, missing):
    """Write a condition of a box."""
    box.feature[place] = feature
    box.first[place] = first
    box.last[place] = last
    box.missing[place] = missing


@formula
def n_used(box):
    """Return how many conditions a box has."""
    place = 0
    while place < box.feature.size and box.feature[place] >= 0:
        place += 1
    return place


@formula
def find_place(box, feature):
    """Return the place of a feature's condition, or the first unused one; there is either."""
    place = 0
    while box.feature[place] >= 0 and box.feature[place] != feature:
        place += 1
    return place


@formula
def fails(code, box, place):
    """Whether a value in a bin fails a condition of a box, as a number."""
    if code == MISSING:
        return np.uint8(not box.missing[place])
    return np.uint8(code < box.first[place] or code > box.last[place])


@formula
def start_search(rows, gradients, max_conditions):
    """Return a search for a box that has no conditions yet."""
    return Search(
        rows,
        gradients,
        np.zeros((max_conditions, 256), np.uint8),
        np.zeros(rows.size, np.uint32),
        rows.copy(),
        gradients.copy(),
        np.empty_like(rows),
    )


@formula
def sort_samples(search, box, place, codes):
    """Find the samples inside a box and near it after one of its conditions was set or changed.

    Returns how many there are of both.
    """
    rows, failed, inside, near = search.rows, search.failed, search.inside, search.near
    change = np.empty(256, np.uint32)
    for code in range(256):
        before, fails_now = np.int64(search.failing[place, code]), np.int64(fails(code, box, place))
        search.failing[place, code] = fails_now
        change[code] = (fails_now - before) * (_FAILURE + place)
    column = codes[box.feature[place]]
    n_inside = n_near = 0
    for drawn in range(rows.size):
        now = np.uint32(failed[drawn] + change[column[rows[drawn]]])
        # No branches: which samples are inside cannot be foretold.
        failed[drawn], inside[n_inside], near[n_near] = now, drawn, drawn
        n_inside += now == np.uint32(0)
        n_near += (now >> np.uint32(16)) == np.uint32(1)
    for number in range(n_inside):
        search.inside_gradients[number] = search.gradients[inside[number]]
        inside[number] = rows[inside[number]]
    return n_inside, n_near


@formula
def drop(search, box, place, codes):
    """Remove a condition; the last one takes its place. Returns how many samples are near."""
    last = n_used(box) - 1
    feature, first, end, missing = (
        box.feature[last],
        box.first[last],
        box.last[last],
        box.missing[last],
    )
    n_near = 0
    for gone in (place, last):
        put(box, gone, box.feature[gone], 0, MISSING - 1, True)
        _, n_near = sort_samples(search, box, gone, codes)
    box.feature[last] = -1
    if place < last:
        put(box, place, feature, first, end, missing)
        _, n_near = sort_samples(search, box, place, codes)
    return n_near


@formula
def sum_near(search, n_near, box, codes, sums):
    """Add up g and h of the samples that fail one condition only, by condition and bin."""
    sums[:] = 0
    for number in range(n_near):
        drawn = search.near[number]
        place = search.failed[drawn] & _PLACES
        sums[place, codes[box.feature[place], search.rows[drawn]]] += search.gradients[drawn]


@formula
def grow(search, samples, columns, l2, box, scores):
    """Add and change conditions of a box while its score on the drawn samples rises.

    Each time it is the condition that raises the score most, of equals that on the first feature. A
    condition is sought on the samples that meet all others. Returns the sums of g and h in the box,
    and how many samples are near it. The scores of the first condition on each of the columns are
    written to `scores`.
    """
    codes = samples.codes
    n_inside, n_near = search.rows.size, 0
    for place in range(n_used(box)):
        n_inside, n_near = sort_samples(search, box, place, codes)
    total = search.inside_gradients[:n_inside].sum()
    score = score_of(total, l2)
    sums, near_sums = np.empty((4, 256), np.int64), np.empty((box.feature.size, 256), np.int64)
    four = np.empty(4, np.int64)
    changed = -1
    while True:
        best_place, feature, first, last, missing = -1, 0, 0, 0, False
        is_full = box.feature[box.feature.size - 1] >= 0
        searched = box.feature if is_full else columns
        # Searching the feature that was changed last would find the same again.
        searched = searched[searched != changed]
        sum_near(search, n_near, box, codes, near_sums)
        for start in range(0, searched.size, 4):
            for lane in range(4):
                four[lane] = searched[min(start + lane, searched.size - 1)]
            sums[:] = 0
            add_four(sums, codes, four, search.inside, search.inside_gradients, n_inside)
            for lane in range(min(4, searched.size - start)):
                column = four[lane]
                place = find_place(box, column)
                if box.feature[place] >= 0:
                    sums[lane] += near_sums[place]
                found = best_interval(sums[lane], samples.n_bins[column], l2)
                if changed < 0:
                    scores[start + lane] = found[0]
                is_tie = found[0] == score and best_place >= 0 and column < feature
                if found[0] > score or is_tie:
                    score, first, last, missing, total = found
                    best_place, feature = place, column
        if best_place < 0:
            return total, n_near
        put(box, best_place, feature, first, last, missing)
        changed = feature
        n_inside, n_near = sort_samples(search, box, best_place, codes)


@formula
def widen(search, n_near, samples, box, place):
    """Move the ends of a condition midway to the next bins that hold samples it alone keeps out.

    Where there is none, it is open. Returns whether it keeps anything out.
    """
    feature = box.feature[place]
    codes = samples.codes[feature]
    kept_out = np.zeros(256, np.bool_)
    for number in range(n_near):
        drawn = search.near[number]
        kept_out[codes[search.rows[drawn]]] |= (search.failed[drawn] & _PLACES) == place
    n_bins = samples.n_bins[feature]
    below, above = box.first[place] - 1, box.last[place] + 1
    while below >= 0 and not kept_out[below]:
        below -= 1
    while above < n_bins and not kept_out[above]:
        above += 1
    box.first[place] = 0 if below < 0 else (below + 1 + box.first[place]) // 2
    box.last[place] = above - 1 if above == n_bins else (box.last[place] + above) // 2
    return below >= 0 or above < n_bins or kept_out[MISSING]


@formula
def widen_all(search, n_near, samples, box):
    """Widen all conditions in turn, and drop those that keep nothing out."""
    place = 0
    while place < n_used(box):
        if widen(search, n_near, samples, box, place):
            _, n_near = sort_samples(search, box, place, samples.codes)
            place += 1
        else:
            n_near = drop(search, box, place, samples.codes)


@formula
def find_held(box, codes, rows):
    """Return the places of the samples that a box holds among some."""
    held = np.arange(rows.size).astype(np.uint32)
    n_held = rows.size
    meets = np.empty(256, np.bool_)
    for place in range(n_used(box)):
        for code in range(256):
            meets[code] = fails(code, box, place) == 0
        column = codes[box.feature[place]]
        n_left = 0
        for number in range(n_held):
            # No branches: which samples are held cannot be foretold.
            held[n_left] = held[number]
            n_left += meets[column[rows[held[number]]]]
        n_held = n_left
    return held[:n_held]


@kernel
def find_box(samples, drawn, probabilities, goal, box, gaining, scores):
    """Find a box of a group on drawn samples; return its vote and its worth on the others.

    Conditions that the box has already are where the search starts. The worth is what the vote
    takes off the log-loss, to second order, in units of the samples' weights. The classes that are
    more frequent in the box than expected are written to `gaining`, and how much a condition on
    each column would be worth by itself to `scores`.
    """
    part, others, l2 = drawn.searched, drawn.others, goal.l2 * drawn.scale
    wanted, expected = goal.belongs * float(ONE), expect(probabilities, goal.belongs)
    gradients = np.empty(part.rows.size, np.int64)
    for place in range(part.rows.size):
        gradients[place] = packed_gradients(part, place, wanted, expected)
    search = start_search(part.rows, gradients, box.feature.size)
    total, n_near = grow(search, samples, goal.columns, l2, box, scores)
    scores /= drawn.scale
    widen_all(search, n_near, samples, box)
    if box.feature[0] < 0 or sum_of_g(total) <= 0:
        return 0.0, 0.0
    find_gaining(part, search.failed, probabilities, gaining)
    vote = float(sum_of_g(total)) / (float(sum_of_h(total)) + l2)
    held = find_held(box, samples.codes, others.rows)
    total = np.int64(0)
    for place in held:
        total += packed_gradients(others, place, wanted, expected)
    g, h = float(sum_of_g(total)), float(sum_of_h(total))
    return vote, (vote * g - 0.5 * vote * vote * h) / drawn.scale


@formula
def find_gaining(part, failed, probabilities, gaining):
    """Write which classes are more frequent among the samples in a box than expected."""
    lacking = np.zeros(gaining.size, np.int64)
    masses = np.zeros(probabilities.shape[0], np.int64)
    for place in range(part.rows.size):
        if failed[place] == 0:
            mass = np.int64(np.rint(part.weights[place] * ONE))
            masses[part.regions[place]] += mass
            lacking[part.labels[place]] += mass * ONE
    for region in range(masses.size):
        if masses[region]:
            for label in range(gaining.size):
                lacking[label] -= masses[region] * probabilities[region, label]
    for label in range(gaining.size):
        gaining[label] = lacking[label] > 0
