"""What the boxes say about samples: the nearest boxes of each class, and which class wins."""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import hull
from hyperboxes._kernels.jit import formula, kernel, part
from hyperboxes._kernels.search import TOGETHER, find_nearest, make_space, precedes


@formula
def closeness(gap):
    """Rank of a distance: the membership, and beyond its reach, where it is 0, minus the distance.

    Distances that round to one membership tie; where all memberships are 0 the nearest box wins.
    """
    return 1.0 - gap if gap < 1.0 else -gap


@kernel
def nearest_by_class(xl, xu, start, boxes, gamma, winners_only, work, best, votes, single):
    """Find for each sample, from a row on, and class the boxes nearest to the sample.

    `best` receives their closeness (minus infinity where a class has none), `votes` how many
    training samples they hold, `single` the oldest of them that holds one sample only (or the
    number of boxes). With `winners_only` a class may be left out for a sample if another is
    strictly closer, which saves most of the work. Returns the row where `work` comparisons of a
    block in one dimension ended, or the end.
    """
    labels, counts = boxes[2], boxes[3]
    together = TOGETHER if winners_only else 1
    n_features = xl.shape[1]
    space = make_space(boxes)
    ids, gaps = np.empty(counts.shape[0], np.int64), np.empty(counts.shape[0])
    low, high = np.empty(n_features), np.empty(n_features)
    work = max(work // n_features, 1)
    while start < xl.shape[0] and work > 0:
        i = start
        hull(xl[i], xu[i], xl[i], xu[i], low, high)  # a copy: kernels are compiled for one type
        for c in range(best.shape[1]):
            best[i, c] = -np.inf
            votes[i, c] = 0
            single[i, c] = counts.shape[0]
        limit = np.inf
        for first in range(0, best.shape[1], together):
            if not winners_only:
                limit = np.inf
            stop = min(first + together, best.shape[1])
            n_found, limit, n_blocks = find_nearest(
                low, high, first, stop, limit, boxes, gamma, space, ids, gaps
            )
            for f in range(n_found):
                _vote(ids[f], gaps[f], labels[ids[f]], counts, i, best, votes, single)
            work -= n_blocks
        start += 1
    return start


@kernel
def nearest_boxes(xl, xu, labels, start, boxes, gamma, work, out, used):
    """Find for each sample, from a row on, the nearest box of a label.

    Of equals the one that holds the most samples, then the oldest. All equals are marked as `used`.
    Returns the row where `work` ended.
    """
    counts = boxes[3]
    n_features = xl.shape[1]
    space = make_space(boxes)
    ids, gaps = np.empty(counts.shape[0], np.int64), np.empty(counts.shape[0])
    low, high = np.empty(n_features), np.empty(n_features)
    work = max(work // n_features, 1)
    while start < xl.shape[0] and work > 0:
        i = start
        hull(xl[i], xu[i], xl[i], xu[i], low, high)  # a copy: kernels are compiled for one type
        n_found, _, n_blocks = find_nearest(
            low, high, labels[i], labels[i] + 1, np.inf, boxes, gamma, space, ids, gaps
        )
        out[i] = _nearest(ids, gaps, n_found, counts, used)
        work -= n_blocks
        start += 1
    return start


@part
def _nearest(ids, gaps, n_found, counts, used):
    """Return the best of the boxes found, and mark its equals."""
    top = -np.inf
    for f in range(n_found):
        top = max(top, closeness(gaps[f]))
    best = -1
    for f in range(n_found):
        if closeness(gaps[f]) == top:
            box = ids[f]
            used[box] = True
            if best < 0 or precedes(counts[box], box, counts[best], best):
                best = box
    return best


@formula
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
            single[i, c] = min(single[i, c], box)


@kernel
def winners(best, votes, single, n_boxes, out):
    """Choose each sample's class: the closest, with the paper's rules where classes tie.

    Among tied classes: at membership 1 the one with the oldest single-sample box, otherwise the
    one with the most votes, then the first. (The paper weighs votes by the membership, which is
    the same for all that tie.)
    """
    n_classes = best.shape[1]
    for i in range(best.shape[0]):
        top = np.max(best[i])
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
            out[i, c] = max(best[i, c], 0.0) if top > 0.0 else -1.0 / best[i, c]
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
        total = out[i].sum()
        if total == 0.0:  # farther away than floating point reaches
            out[i, winner[i]] = total = 1.0
        for c in range(n_classes):
            out[i, c] /= total
        rest = max(out[i, : winner[i]].max(), 0.0) if winner[i] > 0 else -1.0
        for c in range(winner[i] + 1, n_classes):
            rest = max(rest, np.nextafter(out[i, c], -1.0))
        if out[i, winner[i]] <= rest:
            out[i, winner[i]] = np.nextafter(rest, 2.0)
