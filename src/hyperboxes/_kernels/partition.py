"""Partitions: boxes that share no sample, grown together from one set of gradients.

A node is a box; the best one is divided in two at an end of a bin, until there are enough. The sums
of a part's bins are those of the node less those of the other part.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from hyperboxes._kernels.additive import whole
from hyperboxes._kernels.boosting import (
    FEW_COPIES,
    ONE,
    SHARES,
    add_four,
    packed,
    random_share,
    sum_of_g,
    sum_of_h,
    uniform,
)
from hyperboxes._kernels.jit import forceinline, internal, kernel, pass_by_pointer
from hyperboxes._kernels.quantize import MISSING, mixed

# Samples drawn for a partition, with their g and h, and arrays to sort them with. `shares`: how
# many SHARES of each sample were drawn.
DrawnSamples = namedtuple("DrawnSamples", "rows gradients shares spare_rows spare_gradients")

# Of each node: where its drawn samples begin and end, their g and h; its best division: the gain,
# the feature, the last bin of the first part, and whether NaN is in that part; the number of the
# first part, the second comes next (0: not divided); its number among those that are not divided;
# its conditions, as in a box; and sums of g and h by column and bin.
Nodes = namedtuple(
    "Nodes",
    "starts stops sums gains features ends takes_missing parts leaves "
    "feature first last missing histograms",
)


@kernel
def draw(samples, unit, seed, share, scale, probabilities, belongs, drawn):
    """Draw a share of the samples, with g and h of a group of classes; return their number.

    `belongs` is 1 for its classes, else 0. Weights are multiplied by `scale`.
    """
    keys, labels, weights = samples.keys, samples.labels, samples.weights
    rows, shares, gradients = drawn.rows, drawn.shares, drawn.gradients
    n_drawn = 0
    for row in range(labels.size):
        key = mixed(keys[row] ^ seed)
        if weights[row] < FEW_COPIES * unit:
            taken = SHARES if uniform(key) < share else 0
        else:
            taken = random_share(key, weights[row] / unit, share)
        # No branches: which samples are drawn cannot be predicted.
        rows[n_drawn], shares[row] = row, taken
        n_drawn += taken > 0
    for number in range(n_drawn):
        row = rows[number]
        p = 0.0
        for label in range(belongs.size):
            p += belongs[label] * probabilities[row, label]
        p = p if p < 1.0 else 1.0
        weight = weights[row] * shares[row] * scale
        gradients[number] = packed(weight * (belongs[labels[row]] - p), weight * p * (1.0 - p))
    return n_drawn


@forceinline
def score_of(both, l2):
    """Return how good a part is by its sums of g, of either sign, and h."""
    g = float(sum_of_g(both))
    return g * g / (float(sum_of_h(both)) + l2)


@internal
def find_division(nodes, node, columns, n_bins, l2, scores):
    """Find the end of a bin that divides a node best, of equals the first.

    It is moved to the middle of bins that are empty. A node whose conditions are as many as there
    may be is divided by these features alone. The best gains of columns are written to `scores`.
    """
    total, size = nodes.sums[node], nodes.feature.shape[1]
    whole_score, is_full = score_of(total, l2), nodes.feature[node, size - 1] >= 0
    best = 0.0
    for number in range(columns.size):
        feature, sums = columns[number], nodes.histograms[node, number]
        scores[number] = 0.0
        is_used = not is_full
        for condition in range(size if is_full else 0):
            is_used |= nodes.feature[node, condition] == feature
        for takes_missing in range((2 if sums[MISSING] != 0 else 1) if is_used else 0):
            part = sums[MISSING] if takes_missing else np.int64(0)
            before = -1
            for code in range(n_bins[feature] - 1):
                part += sums[code]
                rest = total - part
                if sum_of_h(part) == 0 or sum_of_h(rest) == 0:
                    continue
                gain = score_of(part, l2) + score_of(rest, l2) - whole_score
                if gain > scores[number]:
                    scores[number] = gain
                if gain > best:
                    best, before = gain, code
                    nodes.features[node], nodes.ends[node] = feature, code
                    nodes.takes_missing[node] = takes_missing > 0
                elif sums[code] != 0:
                    before = -1
                elif before >= 0:
                    nodes.ends[node] = (before + code) // 2
    nodes.gains[node] = best


@forceinline
def divide(nodes, node, part, codes, drawn, has_missing):
    """Sort the samples of a node into two parts, which get its conditions and one more."""
    feature, end, takes_missing = nodes.features[node], nodes.ends[node], nodes.takes_missing[node]
    column, rows, gradients = codes[feature], drawn.rows, drawn.gradients
    spare_rows, spare_gradients = drawn.spare_rows, drawn.spare_gradients
    start, stop, n_others, total = nodes.starts[node], nodes.starts[node], 0, np.int64(0)
    for number in range(nodes.starts[node], nodes.stops[node]):
        row, both = rows[number], gradients[number]
        is_first = (column[row] <= end) | ((column[row] == MISSING) & takes_missing)
        # No branches, as above.
        rows[stop], spare_rows[n_others] = row, row
        gradients[stop], spare_gradients[n_others] = both, both
        stop += is_first
        n_others += not is_first
        total += both if is_first else np.int64(0)
    for number in range(n_others):
        rows[stop + number] = spare_rows[number]
        gradients[stop + number] = spare_gradients[number]
    nodes.parts[node] = part
    nodes.starts[part], nodes.stops[part], nodes.sums[part] = start, stop, total
    nodes.starts[part + 1], nodes.stops[part + 1] = stop, nodes.stops[node]
    nodes.sums[part + 1] = nodes.sums[node] - total
    for child in range(part, part + 2):
        nodes.parts[child] = 0
        for condition in range(nodes.feature.shape[1]):
            nodes.feature[child, condition] = nodes.feature[node, condition]
            nodes.first[child, condition] = nodes.first[node, condition]
            nodes.last[child, condition] = nodes.last[node, condition]
            nodes.missing[child, condition] = nodes.missing[node, condition]
        condition = 0
        while nodes.feature[child, condition] >= 0 and nodes.feature[child, condition] != feature:
            condition += 1
        if nodes.feature[child, condition] < 0:
            nodes.feature[child, condition] = feature
            nodes.first[child, condition], nodes.last[child, condition] = 0, MISSING - 1
            nodes.missing[child, condition] = has_missing[feature]
        nodes.missing[child, condition] &= takes_missing == (child == part)
        if child == part:
            nodes.last[child, condition] = end
        else:
            nodes.first[child, condition] = end + 1


@forceinline
def sum_bins(nodes, node, codes, columns, drawn):
    """Add up g and h of the samples of a node, by column and bin."""
    start, stop = nodes.starts[node], nodes.stops[node]
    rows, gradients = drawn.rows[start:stop], drawn.gradients[start:stop]
    for number in range(0, columns.size, 4):
        sums = nodes.histograms[node, number : number + 4]
        for lane in range(4):
            for code in range(256):
                sums[lane, code] = 0
        add_four(sums, codes, columns[number : number + 4], rows, gradients, stop - start)


@kernel
def grow(samples, has_missing, drawn, n_drawn, columns, l2, n_leaves, nodes, scores):
    """Divide all drawn samples into boxes, at most `n_leaves`; return the number of boxes.

    The node that gains most is divided first. The number of `columns` is a multiple of four. The
    gains of dividing all samples by each column are written to `scores[0]`.
    """
    samples, drawn, nodes = (
        pass_by_pointer(samples),
        pass_by_pointer(drawn),
        pass_by_pointer(nodes),
    )
    nodes.starts[0], nodes.stops[0], nodes.parts[0] = 0, n_drawn, 0
    nodes.sums[0] = 0
    for number in range(n_drawn):
        nodes.sums[0] += drawn.gradients[number]
    for condition in range(nodes.feature.shape[1]):
        nodes.feature[0, condition] = -1
    n_nodes, small, large, parent = 1, 0, 0, 0
    while True:
        sum_bins(nodes, small, samples.codes, columns, drawn)
        for number in range(columns.size if large != small else 0):
            for code in range(256):
                nodes.histograms[large, number, code] = (
                    nodes.histograms[parent, number, code] - nodes.histograms[small, number, code]
                )
        for node in range(min(small, large), max(small, large) + 1):
            find_division(nodes, node, columns, samples.n_bins, l2, scores[min(node, 1)])
        best = -1
        for node in range(n_nodes):
            is_better = best < 0 or nodes.gains[node] > nodes.gains[best]
            if nodes.parts[node] == 0 and nodes.gains[node] > 0.0 and is_better:
                best = node
        if best < 0 or n_nodes + 1 >= 2 * n_leaves:
            break
        parent, small, large = best, n_nodes, n_nodes + 1
        divide(nodes, parent, n_nodes, samples.codes, drawn, has_missing)
        if nodes.stops[small] - nodes.starts[small] > nodes.stops[large] - nodes.starts[large]:
            small, large = large, small
        n_nodes += 2
    n_boxes = 0
    for node in range(n_nodes):
        nodes.leaves[node] = n_boxes
        n_boxes += nodes.parts[node] == 0
    return n_boxes


@kernel
def sum_boxes(samples, nodes, shares, probabilities, start, stop, boxes, g, h):
    """Write the box of samples `start` to `stop`, and add up g and h of all classes there.

    Sums are `g[box, part, class]`, where part 0 has the samples as far as they were drawn.
    """
    codes, labels, weights = samples.codes, samples.labels, samples.weights
    features, ends, takes_missing = nodes.features, nodes.ends, nodes.takes_missing
    parts, leaves = nodes.parts, nodes.leaves
    for row in range(start, stop):
        node = 0
        while parts[node]:
            code = codes[features[node], row]
            is_first = (code <= ends[node]) | ((code == MISSING) & takes_missing[node])
            node = parts[node] + 1 - np.int64(is_first)
        box, weight = leaves[node], weights[row]
        boxes[row] = box
        searched = weight * np.int64(shares[row]) // SHARES
        for label in range(probabilities.shape[1]):
            p = whole(probabilities[row, label])
            missing = (ONE if labels[row] == label else 0) - p
            spread = (p * (ONE - p)) // ONE
            g[box, 0, label] += searched * missing
            h[box, 0, label] += searched * spread
            g[box, 1, label] += (weight - searched) * missing
            h[box, 1, label] += (weight - searched) * spread


@kernel
def update(boxes, factors, start, stop, probabilities):
    """Multiply the odds of the classes by `factors[box, class]` in samples `start` to `stop`."""
    for row in range(start, stop):
        box, total = boxes[row], 0.0
        for label in range(probabilities.shape[1]):
            probabilities[row, label] *= factors[box, label]
            total += probabilities[row, label]
        for label in range(probabilities.shape[1]):
            probabilities[row, label] /= total
