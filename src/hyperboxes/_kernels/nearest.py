"""Prediction: the nearest boxes of each class, the class that wins, and probabilities."""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import ROUNDING, closeness, copy_row, is_known, larger, smaller
from hyperboxes._kernels.jit import forceinline, inlined, internal, kernel, pass_by_pointer
from hyperboxes._kernels.search import (
    TREES_PER_SEARCH,
    find_nearest,
    is_contained,
    precedes,
)
from hyperboxes._kernels.structs import WORK

# Larger distances, and that of a class without a box, are the same.
_FAR = 1e300

# So many probabilities are multiplied before the logarithm is taken.
_PER_LOGARITHM = 16


@kernel
def nearest_per_class(
    xl,
    xu,
    start,
    boxes,
    metric,
    search,
    winners_only,
    compared,
    work,
    ids,
    gaps,
    best,
    tie_counts,
    single,
    nearest,
):
    """Find for each sample, from a row on, and class the boxes nearest to the sample.

    `best` receives their closeness (minus infinity where a class has none), `tie_counts` how many
    training samples they have absorbed, `single` the oldest of them with a single sample (or the
    number of boxes). Only boxes and samples count here that have values in all features
    that are `compared`. With `winners_only` a class may be left out for a sample if
    another is strictly closer, which saves most of the work, and trees may be of several classes.
    Otherwise `nearest` receives the distances of as many boxes of each class as it has room for, in
    order, and infinity where a class has fewer; and with both, of several boxes, it receives these
    alone, in single precision. Returns the row where `work`
    comparisons of a block in one dimension ended, or the end. `ids` and `gaps` are working space
    for all boxes.
    """
    boxes, metric, search = pass_by_pointer(boxes), pass_by_pointer(metric), pass_by_pointer(search)
    labels, counts = boxes.labels, boxes.counts
    is_rough = winners_only and nearest.shape[2] > 1
    together = TREES_PER_SEARCH if winners_only and not is_rough else 1
    n_classes, n_trees = best.shape[1], boxes.index.roots.shape[0] - 1
    work = larger(work // xl.shape[1], 1)
    while start < xl.shape[0] and work > 0:
        i = start
        copy_row(xl[i], search.low)
        copy_row(xu[i], search.high)
        is_complete = _is_complete(search.low, compared)
        for c in range(n_classes):
            best[i, c] = -np.inf
            tie_counts[i, c] = 0
            single[i, c] = counts.shape[0]
        limit = np.inf
        for first in range(0, n_trees, together):
            stop = smaller(first + together, n_trees)
            n_found, n_blocks = find_nearest(
                first, stop, limit, boxes, metric, search, ids, gaps, nearest[i, first], is_rough
            )
            if together > 1:
                limit = smaller(nearest[i, first, 0] + ROUNDING, limit)
            top = closeness(nearest[i, first, 0])
            for f in range(n_found):
                if closeness(gaps[f]) == top:
                    box, c = ids[f], labels[ids[f]]
                    best[i, c] = top
                    tie_counts[i, c] += counts[box]
                    is_older = is_complete and counts[box] == 1 and box < single[i, c]
                    if is_older and _is_complete(boxes.lower[box], compared):
                        single[i, c] = box
            work -= n_blocks
        start += 1
    return start


@kernel
def nearest_boxes(xl, xu, labels, start, boxes, metric, search, work, ids, gaps, out, used):
    """Find for each sample, from a row on, the nearest box of a label.

    Of equals the one that holds the most samples, then the oldest. All equals are marked as `used`.
    Returns the row where `work` ended. `ids` and `gaps` are room for all boxes.
    """
    boxes, metric, search = pass_by_pointer(boxes), pass_by_pointer(metric), pass_by_pointer(search)
    work = larger(work // xl.shape[1], 1)
    while start < xl.shape[0] and work > 0:
        i = start
        copy_row(xl[i], search.low)
        copy_row(xu[i], search.high)
        nearest = search.in_order[:1]
        n_found, n_blocks = find_nearest(
            labels[i], labels[i] + 1, np.inf, boxes, metric, search, ids, gaps, nearest, False
        )
        out[i] = _nearest(ids, gaps, n_found, boxes.counts, used)
        work -= n_blocks
        start += 1
    return start


@kernel
def find_contained(xl, xu, labels, start, boxes, metric, search, work, out):
    """Find for each sample, from a row on, whether a box of its label holds it.

    Returns the row where `work` ended. The boxes' own account of work is written to.
    """
    boxes, metric, search = pass_by_pointer(boxes), pass_by_pointer(metric), pass_by_pointer(search)
    counters = boxes.counters
    end = counters[WORK] + larger(work // xl.shape[1], 1)
    while start < xl.shape[0] and counters[WORK] < end:
        copy_row(xl[start], search.low)
        copy_row(xu[start], search.high)
        out[start] = is_contained(labels[start], boxes, metric, search)
        start += 1
    return start


@inlined
def _nearest(ids, gaps, n_found, counts, used):
    """Return the best of the boxes found, and mark its equals."""
    top = -np.inf
    for f in range(n_found):
        top = larger(closeness(gaps[f]), top)
    best = -1
    for f in range(n_found):
        if closeness(gaps[f]) == top:
            box = ids[f]
            used[box] = True
            if best < 0 or precedes(counts[box], box, counts[best], best):
                best = box
    return best


@inlined
def _is_complete(values, compared):
    """Whether a sample or a box has values in all of some features."""
    for j in range(values.shape[0]):
        if compared[j] and not is_known(values[j]):
            return False
    return True


@kernel
def winners(best, tie_counts, single, n_boxes, out):
    """Choose each sample's class: the closest, with the paper's rules where classes tie.

    Among tied classes: at membership 1 the one with the oldest single-sample box, otherwise the
    one whose tied boxes have the most samples, then the first. (The paper weights these counts by
    the membership, which is the same for all that tie.)
    """
    n_classes = best.shape[1]
    for i in range(best.shape[0]):
        top = -np.inf
        for c in range(n_classes):
            top = larger(best[i, c], top)
        out[i] = -1
        oldest = n_boxes
        for c in range(n_classes):
            if best[i, c] == top:
                if top == 1.0 and single[i, c] < oldest:
                    oldest = single[i, c]
                    out[i] = c
                elif oldest == n_boxes and (out[i] < 0 or tie_counts[i, c] > tie_counts[i, out[i]]):
                    out[i] = c


@kernel
def probabilities(best, tie_counts, single, n_boxes, winner, out):
    """Share 1 among the classes in proportion to their memberships.

    Where all memberships are 0, inverse distances take their place. Classes that tie for the
    first place pool their parts: at membership 1 a single-sample box takes the pool, otherwise
    counts divide it. The winner's part is the largest, by one rounding step if need be.
    """
    n_classes = best.shape[1]
    for i in range(best.shape[0]):
        top = best[i, winner[i]]
        pool, n_votes, alone = 0.0, 0, False
        for c in range(n_classes):
            out[i, c] = larger(best[i, c], 0.0) if top > 0.0 else -1.0 / best[i, c]
            if best[i, c] == top:
                pool += out[i, c]
                n_votes += tie_counts[i, c]
                alone = alone or (top == 1.0 and single[i, c] < n_boxes)
        for c in range(n_classes):
            if best[i, c] == top:
                if alone:
                    out[i, c] = pool if c == winner[i] else 0.0
                else:
                    out[i, c] = pool * tie_counts[i, c] / n_votes
        total = 0.0
        for c in range(n_classes):
            total += out[i, c]
        if total == 0.0:  # farther away than floating point reaches
            out[i, winner[i]] = total = 1.0
        for c in range(n_classes):
            out[i, c] /= total
        _put_first(winner[i], out[i])


@kernel
def calibrated(
    best, tie_counts, unknown, winner, shares, offset, slope, prior_weight, power, scores, out
):
    """Turn the closeness of the classes into probabilities, the largest that of the winner.

    They fall with a power, `slope`, of the distance, to which `offset` is added; a part of them,
    `prior_weight`, is given to the classes in proportion to their `shares` of the training samples.
    Of samples that lack a part of the features, `unknown`, classes that tie for the first place
    share their probability by counts, and the part given to the shares grows with a `power` of the
    part unknown. `scores` is working space for a row. The largest may be that of any class where
    the winner is -1.
    """
    for i in range(best.shape[0]):
        _score(best[i], offset, scores)
        total = _compare(scores, slope, out[i])
        if unknown[i] > 0.0:
            _divide_ties(best[i], tie_counts[i], out[i])
        part = _prior_part(unknown[i], prior_weight, power)
        _add_prior(winner[i], shares, part, total, out[i])
        if winner[i] >= 0:
            _put_first(winner[i], out[i])


@kernel
def weigh(best, winner, y, shares, offset, slopes, prior_weights, scores, likely, row, losses):
    """Add up minus the logarithm of what `calibrated` gives the true classes, for many numbers."""
    for i in range(best.shape[0]):
        _score(best[i], offset, scores)
        for s in range(slopes.shape[0]):
            total = _compare(scores, slopes[s], likely)
            for d in range(prior_weights.shape[0]):
                for c in range(row.shape[0]):
                    row[c] = likely[c]
                _add_prior(winner[i], shares, prior_weights[d], total, row)
                losses[s, d] -= np.log(row[y[i]])


@kernel
def soften(distances, n_neighbors, width, out):
    """Compute how close the nearest boxes of each class are together.

    `distances` has those of the nearest boxes in order, infinity where a class has fewer.
    """
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            total = 0.0
            for n in range(n_neighbors):
                total += _nearness(distances[i, c], n, width)
            out[i, c] = closeness(_soft_distance(distances[i, c], total, n_neighbors, width))


@kernel
def weigh_decisions(
    distances,
    y,
    shares,
    offset,
    widths,
    numbers,
    slopes,
    prior_weights,
    scores,
    likely,
    products,
    losses,
):
    """Add up minus the logarithm of what the true classes are given by many ways to decide.

    Losses are in the order of the `widths`, of these the `numbers` of nearest boxes, which ascend,
    of these the `slopes`, each twice the one before, and of these the prior weights. `scores`,
    `likely` and `products`, all of them 1, are working space.
    """
    n_samples, n_classes = distances.shape[:2]
    for i in range(n_samples):
        share, at = shares[y[i]], 0
        for w in range(widths.shape[0]):
            for c in range(n_classes):
                total, n = 0.0, 0
                for k in range(numbers.shape[0]):
                    while n < numbers[k]:
                        total += _nearness(distances[i, c], n, widths[w])
                        n += 1
                    gap = _soft_distance(distances[i, c], total, n, widths[w])
                    scores[k, c] = -np.log(smaller(gap, _FAR) + offset)
            for k in range(numbers.shape[0]):
                total = _compare(scores[k], slopes[0], likely)
                for _ in range(slopes.shape[0]):
                    for d in range(prior_weights.shape[0]):
                        part = prior_weights[d]
                        products[at] *= (1.0 - part) * likely[y[i]] / total + part * share
                        at += 1
                    total = 0.0
                    for c in range(n_classes):
                        likely[c] *= likely[c]
                        total += likely[c]
        if (i + 1) % _PER_LOGARITHM == 0 or i + 1 == n_samples:
            for j in range(at):
                losses[j] -= np.log(products[j])
                products[j] = 1.0


@forceinline
def _nearness(distances, n, width):
    """Return how near a box is in comparison with the nearest one of its class: from 0 to 1."""
    if distances[0] == np.inf:
        return 1.0
    return np.exp((distances[0] - distances[n]) / width)


@forceinline
def _soft_distance(distances, total, n_neighbors, width):
    """Return the soft minimum of the distances of boxes, of whose nearness `total` is the sum."""
    return distances[0] - width * np.log(total / n_neighbors)


@inlined
def _prior_part(unknown, prior_weight, power):
    """Return the part of the probability that is divided by the classes' shares."""
    if unknown == 0.0:
        return prior_weight
    return prior_weight + (1.0 - prior_weight) * unknown**power


@internal
def _score(best, offset, scores):
    """Compute minus the logarithms of the distances."""
    for c in range(best.shape[0]):
        gap = 1.0 - best[c] if best[c] > 0.0 else -best[c]
        scores[c] = -np.log(smaller(gap, _FAR) + offset)


@internal
def _compare(scores, slope, out):
    """Compute the odds of a sample's classes from their scores alone, and return their sum."""
    top = -np.inf
    for c in range(scores.shape[0]):
        top = larger(scores[c], top)
    total = 0.0
    for c in range(scores.shape[0]):
        out[c] = np.exp(slope * (scores[c] - top))
        total += out[c]
    return total


@internal
def _divide_ties(best, tie_counts, out):
    """Divide the odds of the nearest classes by how many samples their boxes have absorbed."""
    top = -np.inf
    for c in range(best.shape[0]):
        top = larger(best[c], top)
    pool, n_samples = 0.0, 0
    for c in range(best.shape[0]):
        if best[c] == top:
            pool += out[c]
            n_samples += tie_counts[c]
    for c in range(best.shape[0]):
        if best[c] == top:
            out[c] = pool * tie_counts[c] / n_samples


@internal
def _add_prior(winner, shares, part, total, out):
    """Turn odds of a `total` into probabilities, mixed with shares, none above the winner's.

    What others have more than the winner is divided among it and them so that all have the same:
    its level rises, step by step, to where it contains all that is above. There is no winner if
    that is -1.
    """
    n_classes = out.shape[0]
    for c in range(n_classes):
        out[c] = (1.0 - part) * out[c] / total + part * shares[c]
    if winner < 0:
        return
    level, before = out[winner], -1.0
    while level > before:
        before = level
        pool, n_above = out[winner], 1
        for c in range(n_classes):
            if c != winner and out[c] > before:
                pool += out[c]
                n_above += 1
        level = pool / n_above
    for c in range(n_classes):
        out[c] = smaller(out[c], before)
    out[winner] = before


@internal
def _put_first(winner, out):
    """Make the winner's part the largest, by one rounding step if need be."""
    rest = 0.0 if winner > 0 else -1.0
    for c in range(winner):
        rest = larger(out[c], rest)
    for c in range(winner + 1, out.shape[0]):
        rest = larger(np.nextafter(out[c], -1.0), rest)
    if out[winner] <= rest:
        out[winner] = np.nextafter(rest, 2.0)
