"""Parting boxes of several models, which overlap boxes of other classes, by the cheapest cuts."""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import CLOSED, collide
from hyperboxes._kernels.index import BOXES, WORK, unlabelled, update_box
from hyperboxes._kernels.jit import formula, kernel, part
from hyperboxes._kernels.search import find_rivals_by_age, make_space


@kernel
def part_all(boxes, start, overlap, everywhere, work):
    """Part each box, from a place on, from later boxes of other classes; return where that ended.

    Boxes that hold a single sample or have no label stay as they are, as in learning. It ends with
    the last box or after `work` comparisons of a block in one dimension.
    """
    lower, upper, labels, counts, progress, _ = boxes
    space = make_space(boxes)
    rivals = np.empty(counts.shape[0], np.int64)
    end = progress[WORK] + max(work // lower.shape[1], 1)
    while start < progress[BOXES] and progress[WORK] < end:
        if counts[start] > 1 and labels[start] != unlabelled(boxes):
            n_rivals = find_rivals_by_age(start, everywhere, boxes, space, rivals)
            progress[WORK] += n_rivals
            for k in rivals[:n_rivals]:
                if (
                    k > start
                    and counts[k] > 1
                    and collide(lower[start], upper[start], lower, upper, k, overlap)
                ):
                    _cut_apart(start, k, overlap, boxes)
        start += 1
    return start


@part
def _cut_apart(i, k, overlap, boxes):
    """Cut a box or the other, if any cut parts them, where that costs the fewest samples."""
    lower, upper, _, counts, _, _ = boxes
    least = np.inf
    cut, side, is_upper = -1, -1, False
    for box, other in ((i, k), (k, i)):
        for j in range(lower.shape[1]):
            length = upper[box, j] - lower[box, j]
            above, below = upper[box, j] - lower[other, j], upper[other, j] - lower[box, j]
            # What is not known (NaN) cannot be cut.
            if lower[other, j] > lower[box, j] and counts[box] * (above / length) < least:
                least = counts[box] * (above / length)
                cut, side, is_upper = box, j, True
            if upper[other, j] < upper[box, j] and counts[box] * (below / length) < least:
                least = counts[box] * (below / length)
                cut, side, is_upper = box, j, False
    if cut >= 0:
        _cut(cut, i + k - cut, side, is_upper, overlap, boxes)


@formula
def _cut(box, other, j, is_upper, overlap, boxes):
    """Cut a box back to another, or just short of it where they may share no point."""
    lower, upper, _, _, _, _ = boxes
    if is_upper:
        end = lower[other, j]
        upper[box, j] = np.nextafter(end, -np.inf) if overlap == CLOSED else end
    else:
        end = upper[other, j]
        lower[box, j] = np.nextafter(end, np.inf) if overlap == CLOSED else end
    update_box(box, boxes)
