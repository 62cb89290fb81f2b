"""The search for a box in boosting: subsamples, best intervals, and growing box by box.

Gradients of samples are packed integers, so sums do not depend on their order. The best interval of
a feature maximises the gain; a box is found by changing one interval after another.
"""

import math
from collections import namedtuple

import numpy as np

from hyperboxes._kernels.jit import forceinline, internal, kernel, pass_by_pointer
from hyperboxes._kernels.quantize import MISSING, mixed

# Sums over drawn samples decide, so they are sums of whole numbers: they do not depend on the order
# of the samples or on the number of threads. Equal samples are one sample here with their weights
# added up, so a sample twice is the same as a weight of 2.

ONE_BITS = 24
ONE = 1 << ONE_BITS  # probabilities are counted in units of 1 / ONE
SHARES = 16  # a draw takes a share of a sample in units of 1 / SHARES

# Of 62 bits, what products with probabilities leave for the sum of the weights of all samples.
UNIT_BITS = 62 - ONE_BITS

# Sums of g and of h over drawn samples share 64 bits, with some to spare for rounding.
_SUM_BITS = 30

FEW_COPIES = 8.0  # which a draw takes together or not at all

# Training samples. `codes`: bins by feature and sample; `weights`: whole numbers; `counts`: how
# many samples each stands for; `keys`: hashes of bins and label, where samples are drawn.
Samples = namedtuple("Samples", "codes n_bins labels weights counts keys")

# Drawn samples: their positions among the samples, their weights, classes and cells. The sum of
# all weights times ONE is at most 2 ** _SUM_BITS.
SampleView = namedtuple("SampleView", "rows weights labels cells")

# The samples to search and those to judge by, and what weights were multiplied with.
Subsample = namedtuple("Subsample", "searched others scale")


@forceinline
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


@forceinline
def uniform(key):
    """Turn a random key into a number from 0 to 1."""
    return (key >> np.uint64(11)) * 2.0**-53


def draw_samples(samples, cells, unit, seed, share, other_share):
    """Draw a share of the samples, and another of those that are left.

    Equal samples are drawn together if they are few; of many, a share is drawn. `unit` is how much
    a weight of 1 is.
    """
    n_rows = samples.labels.size
    rows, shares = np.empty((2, n_rows), np.uint32), np.empty((2, n_rows), np.uint8)
    n_searched, n_others, total = _draw(samples, unit, seed, share, other_share, rows, shares)
    scale = math.ldexp(1.0, _SUM_BITS - ONE_BITS - math.frexp(float(total))[1])
    return Subsample(
        _view(samples, cells, rows[0, :n_searched], shares[0], scale),
        _view(samples, cells, rows[1, :n_others], shares[1], scale),
        scale,
    )


def _view(samples, cells, rows, shares, scale):
    """Return drawn samples with their weights, classes and cells."""
    weights = (samples.weights[rows] * shares[: rows.size]).astype(np.float64) * scale
    labels, numbers = samples.labels[rows], cells[rows]
    return SampleView(rows, weights, labels.astype(np.uint32), numbers.astype(np.uint32))


@kernel
def _draw(samples, unit, seed, share, other_share, rows, shares):
    """Write rows and shares of the samples drawn and of others; return their numbers and weight."""
    n_searched = n_others = total = 0
    few = FEW_COPIES * unit
    for row in range(samples.labels.size):
        key = mixed(samples.keys[row] ^ seed)
        if samples.weights[row] < few:
            draw = uniform(key)
            searched = SHARES if draw < share else 0
            left = SHARES if share <= draw < share + other_share else 0
        else:
            copies = samples.weights[row] / unit
            searched, left = random_share(key, copies, share), 0
            if searched < SHARES:
                again = mixed(key + np.uint64(1))
                wanted = random_share(again, copies, other_share / (1.0 - share))
                left = (SHARES - searched) * wanted // SHARES
        # No branches: which samples are drawn cannot be predicted.
        rows[0, n_searched], shares[0, n_searched] = row, searched
        rows[1, n_others], shares[1, n_others] = row, left
        n_searched += searched > 0
        n_others += left > 0
        total += samples.weights[row] * (searched + left)
    return n_searched, n_others, total


# g and h of a sample, and sums of them, share 64 bits: g is in the upper half, h in the lower, so
# one addition adds both. g has a sign, h is never negative, and both sums fit
# (`SampleView`).

_HALF = 32
_LOWER_HALF = (1 << _HALF) - 1

_MAX_REFINEMENTS = 6
_LARGEST_C = 64.0  # so that sums of c h fit into whole numbers


@forceinline
def packed(g, h):
    """Return g and h, rounded, as one number."""
    return (np.int64(np.rint(g)) << _HALF) + np.int64(np.rint(h))


@forceinline
def sum_of_g(packed):
    """Return the sum of g."""
    return packed >> _HALF


@forceinline
def sum_of_h(packed):
    """Return the sum of h."""
    return packed & _LOWER_HALF


@forceinline
def score_of(packed, l2):
    """Return how good a box is by its sums of g and h."""
    g = float(sum_of_g(packed))
    return g * g / (float(sum_of_h(packed)) + l2) if g > 0.0 else 0.0


@forceinline
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
    for i in range(n_rows):
        row, both = rows[i], gradients[i]
        sums_0[codes_0[row]] += both
        sums_1[codes_1[row]] += both
        sums_2[codes_2[row]] += both
        sums_3[codes_3[row]] += both


@internal
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
        for code in range(n_bins):
            running += gain_of(sums[code], c)
            if running > largest:
                largest, first, last = running, start, code
            if running <= 0:
                running, start = np.int64(0), code + 1
        if last < 0:
            break
        missing = gain_of(sums[MISSING], c) > 0
        total = sums[MISSING] if missing else np.int64(0)
        for code in range(first, last + 1):
            total += sums[code]
        score = score_of(total, l2)
        if score <= best_score:
            break
        best_score, best_first, best_last, best_missing, best = score, first, last, missing, total
        c = min(0.5 * float(sum_of_g(total)) / (float(sum_of_h(total)) + l2), _LARGEST_C)
    return best_score, best_first, best_last, best_missing, best


@forceinline
def gain_of(packed, c):
    """Return g - c h."""
    return sum_of_g(packed) - np.int64(np.rint(c * sum_of_h(packed)))


# Samples that lie in the same boxes have the same scores. They make up a cell, and scores are kept
# by cell.

# The conditions of a box: bins from `first` to `last` of `feature`, and NaN if `missing`. Places
# with a feature of -1 are unused; they come last.
Box = namedtuple("Box", "feature first last missing")

# What to look for: a box of a group of classes, those that `belongs` marks, with conditions on
# `columns`. `l2` is in units of the samples' weights.
Goal = namedtuple("Goal", "belongs l2 columns")

# A search under way, over drawn samples with their g and h. `failing`: which bins fail each
# condition; `failed`: _FAILURE for each condition that a sample fails, plus the sum of their
# positions. Then the samples that fail none, with their g and h, and the positions of those that
# fail one. The rest are working arrays: features to search; sums of bins for four features and for
# each condition; changes and flags of bins; the other samples in the box; and masses by cell and
# class.
Search = namedtuple(
    "Search",
    "rows gradients failing failed inside inside_gradients near columns four sums near_sums "
    "change flags contained masses lacking",
)

# p and p (1 - p) of a group of classes in each cell, and what p is for the samples of each class,
# all in units of 1 / ONE.
Expected = namedtuple("Expected", "cells classes")

_FAILURE = 1 << 16
_CONDITIONS = _FAILURE - 1


def expect(probabilities, belongs):
    """Return what the probability of a group of classes is, and what it is for its samples."""
    p = np.minimum(probabilities[:, belongs].sum(axis=1), ONE)
    cells = np.column_stack([p, (p * (ONE - p)) >> ONE_BITS]).astype(np.float64)
    return Expected(cells, belongs * float(ONE))


@forceinline
def packed_gradients(part, i, expected):
    """Return g and h of a drawn sample: what the probability of the group lacks, and p (1 - p)."""
    weight, cell = part.weights[i], part.cells[i]
    return packed(
        weight * (expected.classes[part.labels[i]] - expected.cells[cell, 0]),
        weight * expected.cells[cell, 1],
    )


@forceinline
def put(box, condition, feature, first, last, missing):
    """Write a condition of a box."""
    box.feature[condition] = feature
    box.first[condition] = first
    box.last[condition] = last
    box.missing[condition] = missing


@forceinline
def n_used(box):
    """Return how many conditions a box has."""
    condition = 0
    while condition < box.feature.size and box.feature[condition] >= 0:
        condition += 1
    return condition


@forceinline
def find_condition(box, feature):
    """Return the position of a feature's condition, or the first unused one; there is either."""
    condition = 0
    while box.feature[condition] >= 0 and box.feature[condition] != feature:
        condition += 1
    return condition


@forceinline
def fails(code, box, condition):
    """Whether a value in a bin fails a condition of a box, as a number."""
    if code == MISSING:
        return np.uint8(not box.missing[condition])
    return np.uint8(code < box.first[condition] or code > box.last[condition])


def make_search(drawn, probabilities, goal, max_conditions):
    """Return a search for a box that has no conditions yet."""
    rows = drawn.searched.rows
    return Search(
        rows=rows,
        gradients=np.empty(rows.size, np.int64),
        failing=np.zeros((max_conditions, 256), np.uint8),
        failed=np.zeros(rows.size, np.uint32),
        inside=rows.copy(),
        inside_gradients=np.empty(rows.size, np.int64),
        near=np.empty_like(rows),
        columns=np.empty(max(goal.columns.size, max_conditions), np.int64),
        four=np.empty(4, np.int64),
        sums=np.empty((4, 256), np.int64),
        near_sums=np.empty((max_conditions, 256), np.int64),
        change=np.empty(256, np.uint32),
        flags=np.empty(256, np.bool_),
        contained=np.empty(drawn.others.rows.size, np.uint32),
        masses=np.zeros(probabilities.shape[0], np.int64),
        lacking=np.zeros(probabilities.shape[1], np.int64),
    )


@forceinline
def clear(sums):
    """Set the sums of all bins to 0."""
    for row in range(sums.shape[0]):
        for code in range(256):
            sums[row, code] = 0


@forceinline
def sort_samples(search, box, condition, codes):
    """Find the samples inside a box and near it after one of its conditions was set or changed.

    Returns how many there are of both.
    """
    rows, failed, inside, near = search.rows, search.failed, search.inside, search.near
    change = search.change
    for code in range(256):
        before = np.int64(search.failing[condition, code])
        fails_now = np.int64(fails(code, box, condition))
        search.failing[condition, code] = fails_now
        change[code] = (fails_now - before) * (_FAILURE + condition)
    column = codes[box.feature[condition]]
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


@forceinline
def drop(search, box, condition, codes):
    """Remove a condition; the last one takes its place. Returns how many samples are near."""
    last = n_used(box) - 1
    feature, first, end, missing = (
        box.feature[last],
        box.first[last],
        box.last[last],
        box.missing[last],
    )
    n_near = 0
    for gone in (condition, last):
        put(box, gone, box.feature[gone], 0, MISSING - 1, True)
        _, n_near = sort_samples(search, box, gone, codes)
    box.feature[last] = -1
    if condition < last:
        put(box, condition, feature, first, end, missing)
        _, n_near = sort_samples(search, box, condition, codes)
    return n_near


@forceinline
def sum_near(search, n_near, box, codes, sums):
    """Add up g and h of the samples that fail one condition only, by condition and bin."""
    clear(sums)
    for number in range(n_near):
        drawn = search.near[number]
        condition = search.failed[drawn] & _CONDITIONS
        code = codes[box.feature[condition], search.rows[drawn]]
        sums[condition, code] += search.gradients[drawn]


@forceinline
def grow(search, samples, columns, l2, box, scores):
    """Add and change conditions of a box while its score on the drawn samples rises.

    Each time it is the condition that raises the score most, of equals that on the first feature. A
    condition is sought on the samples that meet all others. Returns the sums of g and h in the box,
    and how many samples are near it. The scores of the first condition on each of the columns are
    written to `scores`.
    """
    codes = samples.codes
    n_inside, n_near = search.rows.size, 0
    for condition in range(n_used(box)):
        n_inside, n_near = sort_samples(search, box, condition, codes)
    total = np.int64(0)
    for number in range(n_inside):
        total += search.inside_gradients[number]
    score = score_of(total, l2)
    sums, near_sums, four = search.sums, search.near_sums, search.four
    changed = -1
    while True:
        best_condition, feature, first, last, missing = -1, 0, 0, 0, False
        n_searched = list_columns(search.columns, columns, box, changed)
        sum_near(search, n_near, box, codes, near_sums)
        for start in range(0, n_searched, 4):
            for lane in range(4):
                four[lane] = search.columns[min(start + lane, n_searched - 1)]
            clear(sums)
            add_four(sums, codes, four, search.inside, search.inside_gradients, n_inside)
            for lane in range(min(4, n_searched - start)):
                column = four[lane]
                condition = find_condition(box, column)
                if box.feature[condition] >= 0:
                    for code in range(256):
                        sums[lane, code] += near_sums[condition, code]
                found = best_interval(sums[lane], samples.n_bins[column], l2)
                if changed < 0:
                    scores[start + lane] = found[0]
                is_tie = found[0] == score and best_condition >= 0 and column < feature
                if found[0] > score or is_tie:
                    score, first, last, missing, total = found
                    best_condition, feature = condition, column
        if best_condition < 0:
            return total, n_near
        put(box, best_condition, feature, first, last, missing)
        changed = feature
        n_inside, n_near = sort_samples(search, box, best_condition, codes)


@forceinline
def list_columns(searched, columns, box, changed):
    """List the features to search: those of the box if it is full; return their number.

    Searching the feature that was changed last would find the same again.
    """
    is_full = box.feature[box.feature.size - 1] >= 0
    n_searched = 0
    for condition in range(box.feature.size if is_full else columns.size):
        column = box.feature[condition] if is_full else columns[condition]
        if column != changed:
            searched[n_searched] = column
            n_searched += 1
    return n_searched


@forceinline
def widen(search, n_near, samples, box, condition):
    """Move the ends of a condition midway to the next bins that hold samples it alone keeps out.

    Where there is none, it is open. Returns whether it keeps anything out.
    """
    feature = box.feature[condition]
    codes = samples.codes[feature]
    kept_out = search.flags
    for code in range(256):
        kept_out[code] = False
    for number in range(n_near):
        drawn = search.near[number]
        kept_out[codes[search.rows[drawn]]] |= (search.failed[drawn] & _CONDITIONS) == condition
    n_bins = samples.n_bins[feature]
    below, above = box.first[condition] - 1, box.last[condition] + 1
    while below >= 0 and not kept_out[below]:
        below -= 1
    while above < n_bins and not kept_out[above]:
        above += 1
    box.first[condition] = 0 if below < 0 else (below + 1 + box.first[condition]) // 2
    box.last[condition] = above - 1 if above == n_bins else (box.last[condition] + above) // 2
    return below >= 0 or above < n_bins or kept_out[MISSING]


@forceinline
def widen_all(search, n_near, samples, box):
    """Widen all conditions in turn, and drop those that keep nothing out."""
    condition = 0
    while condition < n_used(box):
        if widen(search, n_near, samples, box, condition):
            _, n_near = sort_samples(search, box, condition, samples.codes)
            condition += 1
        else:
            n_near = drop(search, box, condition, samples.codes)


@forceinline
def find_contained(box, codes, rows, contained, meets):
    """Write the positions of the samples that a box contains, among some; return their number."""
    n_contained = rows.size
    for number in range(n_contained):
        contained[number] = number
    for condition in range(n_used(box)):
        for code in range(256):
            meets[code] = fails(code, box, condition) == 0
        column = codes[box.feature[condition]]
        n_left = 0
        for number in range(n_contained):
            # No branches: which samples are contained cannot be predicted.
            contained[n_left] = contained[number]
            n_left += meets[column[rows[contained[number]]]]
        n_contained = n_left
    return n_contained


def find_box(samples, drawn, probabilities, goal, box, gaining, scores):
    """Find a box of a group on drawn samples; return its weight and its gain on the others.

    The search starts from the conditions that the box has already. The gain is the reduction of the
    log-loss, to second order, in units of the samples' weights. The classes that are more frequent
    in the box than expected are written to `gaining`, and the gain of a single condition on each
    column to `scores`.
    """
    expected = expect(probabilities, goal.belongs)
    search = make_search(drawn, probabilities, goal, box.feature.size)
    l2 = goal.l2 * drawn.scale
    return _find_box(
        samples, drawn, probabilities, expected, goal.columns, l2, search, box, gaining, scores
    )


@kernel
def _find_box(samples, drawn, probabilities, expected, columns, l2, search, box, gaining, scores):
    samples, drawn, expected, search, box = (
        pass_by_pointer(samples),
        pass_by_pointer(drawn),
        pass_by_pointer(expected),
        pass_by_pointer(search),
        pass_by_pointer(box),
    )
    part, others = drawn.searched, drawn.others
    for i in range(part.rows.size):
        search.gradients[i] = packed_gradients(part, i, expected)
        search.inside_gradients[i] = search.gradients[i]
    total, n_near = grow(search, samples, columns, l2, box, scores)
    for i in range(scores.size):
        scores[i] /= drawn.scale
    widen_all(search, n_near, samples, box)
    if box.feature[0] < 0 or sum_of_g(total) <= 0:
        return 0.0, 0.0
    find_gaining(part, search, probabilities, gaining)
    vote = float(sum_of_g(total)) / (float(sum_of_h(total)) + l2)
    n_contained = find_contained(box, samples.codes, others.rows, search.contained, search.flags)
    total = np.int64(0)
    for number in range(n_contained):
        total += packed_gradients(others, search.contained[number], expected)
    g, h = float(sum_of_g(total)), float(sum_of_h(total))
    return vote, (vote * g - 0.5 * vote * vote * h) / drawn.scale


@forceinline
def find_gaining(part, search, probabilities, gaining):
    """Write which classes are more frequent among the samples in a box than expected."""
    masses, lacking = search.masses, search.lacking
    for i in range(part.rows.size):
        if search.failed[i] == 0:
            mass = np.int64(np.rint(part.weights[i] * ONE))
            masses[part.cells[i]] += mass
            lacking[part.labels[i]] += mass * ONE
    for cell in range(masses.size):
        if masses[cell]:
            for label in range(gaining.size):
                lacking[label] -= masses[cell] * probabilities[cell, label]
    for label in range(gaining.size):
        gaining[label] = lacking[label] > 0
