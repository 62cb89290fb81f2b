"""Partitions: boxes that share no sample, grown together from one set of gradients.

A node is a box; the best one is divided in two at an end of a bin, until there are enough. The sums
of a part's bins are those of the node less those of the other part.
"""

from collections import namedtuple

import numpy as np

from hyperboxes._kernels.additive import whole
from hyperboxes._kernels.boosting import (
    FEW_COPIES,
    ONE,
    SHARES,
    add_four,
    clear,
    packed,
    random_share,
    sum_of_g,
    sum_of_h,
    uniform,
)
from hyperboxes._kernels.jit import forceinline, internal, kernel, pass_by_pointer
from hyperboxes._kernels.quantize import MISSING, mixed

# Samples drawn for a partition, with their g and h; how many SHARES were drawn of each sample.
DrawnSamples = namedtuple("DrawnSamples", "rows gradients shares")

# Of each node: where its drawn samples begin and end, their g and h; the feature of its best
# division, the last bin of the first part and its condition's position; the number of the first
# part, the second comes next (0: not divided); its number among those that are not divided; what
# its division gains, and whether NaN is in the first part; conditions, as in a box, each of
# feature, first and last bin, and whether NaN meets it; sums of g and h by column and bin.
Nodes = namedtuple(
    "Nodes",
    "starts stops sums features ends positions parts leaves gains takes_missing conditions bins",
)

_FEATURE, _FIRST, _LAST, _MISSING = range(4)


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
def find_division(nodes, node, columns, n_bins, l2):
    """Find the end of a bin that divides a node best, of equals the first; both parts have bins.

    A node that has all conditions that it may have is divided by their features alone.
    """
    total, conditions = nodes.sums[node], nodes.conditions[node]
    undivided, best = score_of(total, l2), 0.0
    for number in range(columns.size):
        feature, sums, position = columns[number], nodes.bins[node, number], 0
        while (
            position < conditions.shape[0]
            and conditions[position, _FEATURE] != feature
            and conditions[position, _FEATURE] >= 0
        ):
            position += 1
        first, last = 0, n_bins[feature] - 1 if position < conditions.shape[0] else 0
        if last > 0 and conditions[position, _FEATURE] == feature:
            first = conditions[position, _FIRST]
            last = min(last, conditions[position, _LAST])
        for takes_missing in range(2 if sums[MISSING] != 0 else 1):
            part = sums[MISSING] if takes_missing else np.int64(0)
            for end in range(first, last):
                part += sums[end]
                rest = total - part
                if sum_of_h(part) == 0 or sum_of_h(rest) == 0:
                    continue
                gain = score_of(part, l2) + score_of(rest, l2) - undivided
                if gain > best:
                    best, nodes.takes_missing[node] = gain, takes_missing > 0
                    nodes.features[node], nodes.ends[node] = feature, end
                    nodes.positions[node] = position
    nodes.gains[node] = best


@forceinline
def divide(nodes, node, part, codes, drawn, has_missing):
    """Sort the samples of a node into two parts, which get its conditions and one more."""
    feature, end, takes_missing = nodes.features[node], nodes.ends[node], nodes.takes_missing[node]
    column, rows, gradients = codes[feature], drawn.rows, drawn.gradients
    stop, total = nodes.starts[node], np.int64(0)
    for number in range(nodes.starts[node], nodes.stops[node]):
        row, both = rows[number], gradients[number]
        is_first = (column[row] <= end) | ((column[row] == MISSING) & takes_missing)
        # No branches, as above: the first of the second part changes places with each sample.
        rows[number], gradients[number] = rows[stop], gradients[stop]
        rows[stop], gradients[stop] = row, both
        stop += is_first
        total += both if is_first else np.int64(0)
    nodes.parts[node] = part
    nodes.starts[part], nodes.stops[part], nodes.sums[part] = nodes.starts[node], stop, total
    nodes.starts[part + 1], nodes.stops[part + 1] = stop, nodes.stops[node]
    nodes.sums[part + 1] = nodes.sums[node] - total
    for child in range(part, part + 2):
        nodes.parts[child] = 0
        for position in range(nodes.conditions.shape[1]):
            for k in range(4):
                nodes.conditions[child, position, k] = nodes.conditions[node, position, k]
        condition = nodes.conditions[child, nodes.positions[node]]
        if condition[_FEATURE] < 0:
            condition[_FEATURE], condition[_FIRST], condition[_LAST] = feature, 0, MISSING - 1
            condition[_MISSING] = has_missing[feature]
        condition[_MISSING] *= takes_missing == (child == part)
        condition[_LAST if child == part else _FIRST] = end if child == part else end + 1


@forceinline
def sum_bins(sums, rows, gradients, codes, columns):
    """Add up g and h of samples by column and bin."""
    for number in range(0, columns.size, 4):
        four = sums[number : number + 4]
        clear(four)
        add_four(four, codes, columns[number : number + 4], rows, gradients, rows.size)


@kernel
def grow(samples, has_missing, drawn, n_drawn, columns, l2, n_leaves, nodes):
    """Divide all drawn samples into boxes, at most `n_leaves`; return the number of boxes.

    The node that gains most is divided first. The number of `columns` is a multiple of four.
    """
    samples, drawn, nodes = (
        pass_by_pointer(samples),
        pass_by_pointer(drawn),
        pass_by_pointer(nodes),
    )
    nodes.starts[0], nodes.stops[0], nodes.parts[0], nodes.sums[0] = 0, n_drawn, 0, 0
    for number in range(n_drawn):
        nodes.sums[0] += drawn.gradients[number]
    for position in range(nodes.conditions.shape[1]):
        nodes.conditions[0, position, _FEATURE] = -1
    n_nodes, small, large, parent = 1, 0, 0, 0
    while True:
        start, stop = nodes.starts[small], nodes.stops[small]
        rows, gradients = drawn.rows[start:stop], drawn.gradients[start:stop]
        sum_bins(nodes.bins[small], rows, gradients, samples.codes, columns)
        for number in range(columns.size if large != small else 0):
            for code in range(256):
                rest = nodes.bins[parent, number, code] - nodes.bins[small, number, code]
                nodes.bins[large, number, code] = rest
        for node in range(min(small, large), max(small, large) + 1):
            find_division(nodes, node, columns, samples.n_bins, l2)
        parent, most = -1, 0.0
        for node in range(n_nodes):
            if nodes.parts[node] == 0 and nodes.gains[node] > most:
                parent, most = node, nodes.gains[node]
        if parent < 0 or n_nodes + 1 >= 2 * n_leaves:
            break
        divide(nodes, parent, n_nodes, samples.codes, drawn, has_missing)
        small, large, n_nodes = n_nodes, n_nodes + 1, n_nodes + 2
        if nodes.stops[small] - nodes.starts[small] > nodes.stops[large] - nodes.starts[large]:
            small, large = large, small
    n_boxes = 0
    for node in range(n_nodes):
        nodes.leaves[node] = n_boxes
        n_boxes += nodes.parts[node] == 0
    return n_boxes


@kernel
def sum_boxes(samples, nodes, shares, probabilities, start, stop, boxes, g, h):
    """Write the box of samples `start` to `stop`, and add up g and h of all classes there.

    Sums are `g[box, 0, class]` of the samples as far as they were drawn, `g[box, 1, class]` of the
    others.
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
