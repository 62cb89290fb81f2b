"""Boxes found by boosting: the best box for a group of classes on drawn samples.

Sums decide, so they are sums of whole numbers: they do not depend on the order of the samples, on
the number of threads, or on whether a sample comes twice or with a weight of 2. Probabilities are
counted in units of 1 / `ONE`, and a draw takes a share of a sample in units of 1 / `SHARES`.

Samples that lie in the same boxes have the same scores. They make up a region, and scores are kept
by region.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from hyperboxes._kernels.binning import MISSING, mixed
from hyperboxes._kernels.jit import formula, kernel

ONE_BITS = 24
ONE = 1 << ONE_BITS
SHARES = 16

# What is left of 62 bits for the sum of the weights: g takes ONE and SHARES, and c h, with
# h <= ONE / 4, 4 bits more.
UNIT_BITS = 62 - ONE_BITS - 4 - 4

_MAX_REFINEMENTS = 6
_LARGEST_C = 64.0  # so that sums of c h fit into whole numbers, see `UNIT_BITS`
_FEW_COPIES = 8.0  # which a draw takes together or not at all

# The training samples, no two alike. `codes`: bins by feature and sample; `weights`: whole numbers;
# `counts`: how many samples each stands for; `keys`: hashes of bins and label.
Samples = namedtuple("Samples", "codes n_bins labels weights counts keys")

# Where the scores are: the region of each sample, and the classes' probabilities in each region in
# units of 1 / ONE.
State = namedtuple("State", "regions probabilities")

# The conditions of a box: bins from `first` to `last` of `feature`, and NaN if `missing`. Places
# with a feature of -1 are unused; they come last.
Box = namedtuple("Box", "feature first last missing")

# What to look for: a box of a group of classes, those that `belongs` says, with conditions on
# `columns`. `l2` is in units of the sums.
Goal = namedtuple("Goal", "belongs l2 columns")

# Samples to search for boxes, and others to judge them by; both with their SHARES.
Drawn = namedtuple("Drawn", "rows shares other_rows other_shares")


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


@kernel
def draw_samples(samples, unit, seed, share, other_share):
    """Draw a share of the samples, and another of those that are left.

    Equal samples are drawn together if they are few; of many, a share is drawn. `unit` is how much
    a weight of 1 is.
    """
    n_rows = samples.labels.size
    taken, left = np.zeros(n_rows, np.uint8), np.zeros(n_rows, np.uint8)
    n_taken = n_left = 0
    for row in range(n_rows):
        key = mixed(samples.keys[row] ^ seed)
        copies = samples.weights[row] / unit
        if copies < _FEW_COPIES:
            place = uniform(key)
            taken[row] = SHARES if place < share else 0
            left[row] = SHARES if share <= place < share + other_share else 0
        else:
            taken[row] = random_share(key, copies, share)
            wanted = random_share(mixed(key + np.uint64(1)), copies, other_share / (1.0 - share))
            left[row] = (SHARES - taken[row]) * wanted // SHARES
        n_taken += taken[row] > 0
        n_left += left[row] > 0
    drawn = Drawn(
        np.empty(n_taken, np.uint32),
        np.empty(n_taken, np.uint8),
        np.empty(n_left, np.uint32),
        np.empty(n_left, np.uint8),
    )
    n_taken = n_left = 0
    for row in range(n_rows):
        if taken[row]:
            drawn.rows[n_taken], drawn.shares[n_taken] = row, taken[row]
            n_taken += 1
        if left[row]:
            drawn.other_rows[n_left], drawn.other_shares[n_left] = row, left[row]
            n_left += 1
    return drawn


@formula
def sum_group(probabilities, belongs):
    """Return the probability of a group of classes in each region, in units of 1 / ONE."""
    labels = np.flatnonzero(belongs)
    sums = np.zeros(probabilities.shape[0], np.int64)
    for region in range(sums.size):
        for label in labels:
            sums[region] += probabilities[region, label]
        sums[region] = min(sums[region], ONE)
    return sums


@formula
def gradients_of(is_in_group, probability):
    """Return g and h of a sample, in units of 1 / ONE: what its group's p lacks, and p (1 - p)."""
    missing = ONE if is_in_group else 0
    return missing - probability, (probability * (ONE - probability)) >> ONE_BITS


@formula
def meets(code, box, place):
    """Whether a value in a bin meets a condition of a box."""
    if code == MISSING:
        return box.missing[place]
    return box.first[place] <= code <= box.last[place]


@formula
def holds(box, codes, row):
    """Whether a box holds a sample."""
    for place in range(box.feature.size):
        if box.feature[place] < 0:
            break
        if not meets(codes[box.feature[place], row], box, place):
            return False
    return True


@formula
def score_of(g, h, l2):
    """Return how good a box is by its sums of g and h."""
    return float(g) * float(g) / (float(h) + l2) if g > 0 else 0.0


@kernel
def best_interval(sums, n_bins, l2):
    """Find the run of bins for which (sum of g)^2 / (sum of h + l2) is large.

    `sums` holds g and h of each bin, those of NaN at MISSING. For a given c the run with the
    largest sum of g - c h is found exactly (of equals the one that ends first, then the shortest),
    and NaN belongs to it if its g - c h is positive. Then c is set to what belongs to that run, as
    long as the score rises. Returns score, first and last bin, whether NaN belongs, and both sums.
    """
    best_score, best_first, best_last, best_missing = 0.0, 0, -1, False
    best_g = best_h = np.int64(0)
    c = 0.0
    for _ in range(_MAX_REFINEMENTS):
        first, last, start = 0, -1, 0
        largest = running = np.int64(0)
        for place in range(n_bins):
            running += sums[place, 0] - np.int64(np.rint(c * sums[place, 1]))
            if running > largest:
                largest, first, last = running, start, place
            if running <= 0:
                running, start = np.int64(0), place + 1
        if last < 0:
            break
        missing = sums[MISSING, 0] - np.int64(np.rint(c * sums[MISSING, 1])) > 0
        g, h = (sums[MISSING, 0], sums[MISSING, 1]) if missing else (np.int64(0), np.int64(0))
        for place in range(first, last + 1):
            g += sums[place, 0]
            h += sums[place, 1]
        score = score_of(g, h, l2)
        if score <= best_score:
            break
        best_score, best_first, best_last, best_missing = score, first, last, missing
        best_g, best_h = g, h
        c = min(0.5 * float(g) / (float(h) + l2), _LARGEST_C)
    return best_score, best_first, best_last, best_missing, best_g, best_h


@formula
def put(box, place, feature, first, last, missing):
    """Write a condition of a box."""
    box.feature[place] = feature
    box.first[place] = first
    box.last[place] = last
    box.missing[place] = missing


@formula
def drop(box, place, failures):
    """Remove a condition that no sample fails; the last one takes its place."""
    last = place
    while last + 1 < box.feature.size and box.feature[last + 1] >= 0:
        last += 1
    put(box, place, box.feature[last], box.first[last], box.last[last], box.missing[last])
    box.feature[last] = -1
    for drawn in range(failures.size):
        bit = (failures[drawn] >> np.uint64(last)) & np.uint64(1)
        failures[drawn] ^= (bit << np.uint64(last)) | (bit << np.uint64(place))


@formula
def find_place(box, feature):
    """Return the place of a feature's condition, or the first unused one; there is either."""
    place = 0
    while box.feature[place] >= 0 and box.feature[place] != feature:
        place += 1
    return place


@formula
def mark_failures(box, place, codes, rows, failures):
    """Set a bit for each drawn sample that fails a condition of a box."""
    bit = np.uint64(1) << np.uint64(place)
    fails = np.empty(256, np.uint64)
    for code in range(256):
        fails[code] = np.uint64(0) if meets(code, box, place) else bit
    codes = codes[box.feature[place]]
    for drawn in range(rows.size):
        failures[drawn] = (failures[drawn] & ~bit) | fails[codes[rows[drawn]]]


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
        row, g, h = rows[place], gradients[place, 0], gradients[place, 1]
        sums_0[codes_0[row], 0] += g
        sums_0[codes_0[row], 1] += h
        sums_1[codes_1[row], 0] += g
        sums_1[codes_1[row], 1] += h
        sums_2[codes_2[row], 0] += g
        sums_2[codes_2[row], 1] += h
        sums_3[codes_3[row], 0] += g
        sums_3[codes_3[row], 1] += h


@formula
def add_near(sums, codes, rows, gradients, failures, place):
    """Add g and h of the samples that fail one condition only to the sums of their bins."""
    only = np.uint64(1) << np.uint64(place)
    for drawn in range(rows.size):
        if failures[drawn] == only:
            sums[codes[rows[drawn]], 0] += gradients[drawn, 0]
            sums[codes[rows[drawn]], 1] += gradients[drawn, 1]


@formula
def widen(samples, rows, failures, box, place):
    """Move the ends of a condition midway to the next bins that hold samples it alone keeps out.

    Where there is none, it is open. Returns whether it keeps anything out.
    """
    feature = box.feature[place]
    only = np.uint64(1) << np.uint64(place)
    below, above, keeps_out_missing = -1, samples.n_bins[feature], False
    for drawn in range(rows.size):
        if failures[drawn] == only:
            code = samples.codes[feature, rows[drawn]]
            if code == MISSING:
                keeps_out_missing = True
            elif code < box.first[place]:
                below = max(below, code)
            else:
                above = min(above, code)
    if below < 0:
        box.first[place] = 0
    else:
        box.first[place] = (below + 1 + box.first[place]) // 2
    if above == samples.n_bins[feature]:
        box.last[place] = above - 1
    else:
        box.last[place] = (box.last[place] + above) // 2
    return below >= 0 or above < samples.n_bins[feature] or keeps_out_missing


@formula
def gather_inside(rows, gradients, failures, inside, inside_gradients):
    """Copy the samples that fail no condition, and g and h of them; return how many there are."""
    n_inside = 0
    for drawn in range(rows.size):
        inside[n_inside] = rows[drawn]
        inside_gradients[n_inside, 0] = gradients[drawn, 0]
        inside_gradients[n_inside, 1] = gradients[drawn, 1]
        n_inside += failures[drawn] == 0
    return n_inside


@formula
def grow(samples, goal, rows, gradients, failures, box):
    """Add and change conditions of a box while its score on the drawn samples rises.

    Each time it is the condition that raises the score most, of equals that on the first feature. A
    condition is sought on the samples that meet all others. Returns the sums of g and h in the box.
    """
    for place in range(box.feature.size):
        if box.feature[place] >= 0:
            mark_failures(box, place, samples.codes, rows, failures)
    inside, inside_gradients = np.empty_like(rows), np.empty_like(gradients)
    n_inside = gather_inside(rows, gradients, failures, inside, inside_gradients)
    total_g, total_h = np.int64(0), np.int64(0)
    for place in range(n_inside):
        total_g += inside_gradients[place, 0]
        total_h += inside_gradients[place, 1]
    score = score_of(total_g, total_h, goal.l2)
    sums = np.empty((4, 256, 2), np.int64)
    columns = np.empty(4, np.int64)
    while True:
        best_place, feature, first, last, missing = -1, 0, 0, 0, False
        is_full = box.feature[box.feature.size - 1] >= 0
        searched = box.feature if is_full else goal.columns
        for start in range(0, searched.size, 4):
            for lane in range(4):
                columns[lane] = searched[min(start + lane, searched.size - 1)]
                for code in range(256):
                    sums[lane, code, 0] = sums[lane, code, 1] = 0
            add_four(sums, samples.codes, columns, inside, inside_gradients, n_inside)
            for lane in range(min(4, searched.size - start)):
                column = columns[lane]
                place = find_place(box, column)
                if box.feature[place] >= 0:
                    codes = samples.codes[column]
                    add_near(sums[lane], codes, rows, gradients, failures, place)
                found = best_interval(sums[lane], samples.n_bins[column], goal.l2)
                is_tie = found[0] == score and best_place >= 0 and column < feature
                if found[0] > score or is_tie:
                    score, first, last, missing, total_g, total_h = found
                    best_place, feature = place, column
        if best_place < 0:
            return total_g, total_h
        put(box, best_place, feature, first, last, missing)
        mark_failures(box, best_place, samples.codes, rows, failures)
        n_inside = gather_inside(rows, gradients, failures, inside, inside_gradients)


@kernel
def find_box(samples, state, drawn, goal, box):
    """Find a box of a group on drawn samples; return its vote and its worth on the others.

    Conditions that the box has already are where the search starts. The worth is what the vote
    takes off the log-loss, to second order, in units of the sums.
    """
    probabilities = sum_group(state.probabilities, goal.belongs)
    gradients = np.empty((drawn.rows.size, 2), np.int64)
    for place in range(drawn.rows.size):
        row = drawn.rows[place]
        weight = samples.weights[row] * drawn.shares[place]
        g, h = gradients_of(goal.belongs[samples.labels[row]], probabilities[state.regions[row]])
        gradients[place, 0] = weight * g
        gradients[place, 1] = weight * h
    failures = np.zeros(drawn.rows.size, np.uint64)
    total_g, total_h = grow(samples, goal, drawn.rows, gradients, failures, box)
    place = 0
    while place < box.feature.size and box.feature[place] >= 0:
        keeps_out = widen(samples, drawn.rows, failures, box, place)
        mark_failures(box, place, samples.codes, drawn.rows, failures)
        if keeps_out:
            place += 1
        else:
            drop(box, place, failures)
    if box.feature[0] < 0 or total_g <= 0:
        return 0.0, 0.0
    vote = float(total_g) / (float(total_h) + goal.l2)
    total_g = total_h = np.int64(0)
    for place in range(drawn.other_rows.size):
        row = drawn.other_rows[place]
        if holds(box, samples.codes, row):
            weight = samples.weights[row] * drawn.other_shares[place]
            belongs = goal.belongs[samples.labels[row]]
            g, h = gradients_of(belongs, probabilities[state.regions[row]])
            total_g += weight * g
            total_h += weight * h
    return vote, vote * float(total_g) - 0.5 * vote * vote * float(total_h)


@kernel
def find_group(samples, state, drawn, box, belongs):
    """Write which classes are more frequent among the drawn samples in a box than expected."""
    lacking = np.zeros(belongs.size, np.int64)
    for place in range(drawn.rows.size):
        row = drawn.rows[place]
        if holds(box, samples.codes, row):
            weight = samples.weights[row] * drawn.shares[place]
            lacking[samples.labels[row]] += weight * ONE
            for label in range(belongs.size):
                lacking[label] -= weight * state.probabilities[state.regions[row], label]
    for label in range(belongs.size):
        belongs[label] = lacking[label] > 0
