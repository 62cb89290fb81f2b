"""What the boxes say about samples: the nearest boxes of each class, and which class wins."""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import closeness, copy_row, larger, smaller
from hyperboxes._kernels.jit import by_reference, kernel, step
from hyperboxes._kernels.search import TOGETHER, find_nearest, precedes


@kernel
def nearest_by_class(
    xl, xu, start, boxes, metric, search, winners_only, work, ids, gaps, best, votes, single
):
    """Find for each sample, from a row on, and class the boxes nearest to the sample.

    `best` receives their closeness (minus infinity where a class has none), `votes` how many
    training samples they hold, `single` the oldest of them that holds one sample only (or the
    number of boxes). With `winners_only` a class may be left out for a sample if another is
    strictly closer, which saves most of the work. Returns the row where `work` comparisons of a
    block in one dimension ended, or the end. `ids` and `gaps` are room for all boxes.
    """
    boxes, metric, search = by_reference(boxes), by_reference(metric), by_reference(search)
    labels, counts = boxes.labels, boxes.counts
    together = TOGETHER if winners_only else 1
    n_classes = best.shape[1]
    work = larger(work // xl.shape[1], 1)
    while start < xl.shape[0] and work > 0:
        i = start
        copy_row(xl[i], search.low)
        copy_row(xu[i], search.high)
        for c in range(n_classes):
            best[i, c] = -np.inf
            votes[i, c] = 0
            single[i, c] = counts.shape[0]
        limit = np.inf
        for first in range(0, n_classes, together):
            if not winners_only:
                limit = np.inf
            stop = smaller(first + together, n_classes)
            n_found, limit, n_blocks = find_nearest(
                first, stop, limit, boxes, metric, search, ids, gaps
            )
            for f in range(n_found):
                _vote(ids[f], gaps[f], labels[ids[f]], counts, i, best, votes, single)
            work -= n_blocks
        start += 1
    return start


@kernel
def nearest_boxes(xl, xu, labels, start, boxes, metric, search, work, ids, gaps, out, used):
    """Find for each sample, from a row on, the nearest box of a label.

    Of equals the one that holds the most samples, then the oldest. All equals are marked as `used`.
    Returns the row where `work` ended. `ids` and `gaps` are room for all boxes.
    """
    boxes, metric, search = by_reference(boxes), by_reference(metric), by_reference(search)
    work = larger(work // xl.shape[1], 1)
    while start < xl.shape[0] and work > 0:
        i = start
        copy_row(xl[i], search.low)
        copy_row(xu[i], search.high)
        n_found, _, n_blocks = find_nearest(
            labels[i], labels[i] + 1, np.inf, boxes, metric, search, ids, gaps
        )
        out[i] = _nearest(ids, gaps, n_found, boxes.counts, used)
        work -= n_blocks
        start += 1
    return start


@step
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


@step
def _vote(box, gap, c, counts, i, best, votes, single):
    """Let a box speak for its class if none of the class is nearer."""
    rank = closeness(gap)
    if rank > best[i, c]:
        best[i, c] = rank
        votes[i, c] = 0
        single[i, c] = counts.shape[0]
    if rank == best[i, c]:
        votes[i, c] += counts[box]
        if counts[box] == 1:
            single[i, c] = smaller(single[i, c], box)


@kernel
def winners(best, votes, single, n_boxes, out):
    """Choose each sample's class: the closest, with the paper's rules where classes tie.

    Among tied classes: at membership 1 the one with the oldest single-sample box, otherwise the
    one with the most votes, then the first. (The paper weighs votes by the membership, which is
    the same for all that tie.)
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
                elif oldest == n_boxes and (out[i] < 0 or votes[i, c] > votes[i, out[i]]):
                    out[i] = c


@kernel
def probabilities(best, votes, single, n_boxes, winner, out):
    """Share 1 among the classes in proportion to their memberships.

    Where all memberships are 0, inverse distances take their place. Classes that tie for the
    first place pool their parts: at membership 1 a single-sample box takes the pool, otherwise
    votes divide it. The winner's part is the largest, by one rounding step if need be.
    """
    n_classes = best.shape[1]
    for i in range(best.shape[0]):
        top = best[i, winner[i]]
        pool, n_votes, alone = 0.0, 0, False
        for c in range(n_classes):
            out[i, c] = larger(best[i, c], 0.0) if top > 0.0 else -1.0 / best[i, c]
            if best[i, c] == top:
                pool += out[i, c]
                n_votes += votes[i, c]
                alone = alone or (top == 1.0 and single[i, c] < n_boxes)
        for c in range(n_classes):
            if best[i, c] == top:
                if alone:
                    out[i, c] = pool if c == winner[i] else 0.0
                else:
                    out[i, c] = pool * votes[i, c] / n_votes
        total = 0.0
        for c in range(n_classes):
            total += out[i, c]
        if total == 0.0:  # farther away than floating point reaches
            out[i, winner[i]] = total = 1.0
        for c in range(n_classes):
            out[i, c] /= total
        rest = 0.0 if winner[i] > 0 else -1.0
        for c in range(winner[i]):
            rest = larger(out[i, c], rest)
        for c in range(winner[i] + 1, n_classes):
            rest = larger(np.nextafter(out[i, c], -1.0), rest)
        if out[i, winner[i]] <= rest:
            out[i, winner[i]] = np.nextafter(rest, 2.0)
