"""What overlap and containment neurons take from classes whose boxes hold a sample together.

These are the neurons of FMCN (Nandedkar and Biswas). One sits on what two boxes of different
classes share, so it is active for a sample that both hold; the boxes tell all of it.
"""

from __future__ import annotations

from hyperboxes._kernels.geometry import HELD, copy_row, is_known, larger, overlaps, smaller
from hyperboxes._kernels.jit import by_reference, formula, kernel, step, subroutine
from hyperboxes._kernels.records import CLOSED
from hyperboxes._kernels.search import TOGETHER, find_nearest


@kernel
def compensate(xl, xu, start, boxes, metric, search, work, ids, gaps, out):
    """Find for each sample, from a row on, what is taken from each class: up to 1.

    Returns the row where `work` comparisons of a block in one dimension ended, or the end. `ids`
    and `gaps` are room for all boxes.
    """
    boxes, metric, search = by_reference(boxes), by_reference(metric), by_reference(search)
    labels, n_classes = boxes.labels, out.shape[1]
    work = larger(work // xl.shape[1], 1)
    while start < xl.shape[0] and work > 0:
        copy_row(xl[start], search.low)
        copy_row(xu[start], search.high)
        for c in range(n_classes):
            out[start, c] = 0.0
        n_holders = 0
        for first in range(0, n_classes, TOGETHER):
            stop = smaller(first + TOGETHER, n_classes)
            n_found, _, n_blocks = find_nearest(
                first, stop, HELD, boxes, metric, search, ids[n_holders:], gaps[n_holders:]
            )
            n_holders += n_found
            work -= n_blocks
        for h in range(n_holders):
            taken = _taken_from(ids[h], ids, n_holders, boxes, search)
            label = labels[ids[h]]
            out[start, label] = larger(taken, out[start, label])
        work -= n_holders
        start += 1
    return start


@step
def _taken_from(box, ids, n_holders, boxes, search):
    """Return what neurons take from a box that holds the sample, as others of the list do.

    All, if it contains a box of another class (a containment neuron); else, if it shares the sample
    with one that does not contain it, the more the farther the sample is from its faces.
    """
    labels, v, w = boxes.labels, boxes.lower[box], boxes.upper[box]
    shares = False
    for h in range(n_holders):
        other = ids[h]
        # Two boxes that hold a sample with missing values need not meet.
        if labels[other] != labels[box] and overlaps(v, w, boxes, other, CLOSED):
            if _contains(box, other, boxes):
                return 1.0
            shares = shares or not _contains(other, box, boxes)
    return 1.0 - _nearness_to_faces(box, boxes, search) if shares else 0.0


@subroutine
def _contains(box, other, boxes):
    """Whether a box is larger than another on all sides."""
    lower, upper = boxes.lower, boxes.upper
    for j in range(lower.shape[1]):
        if not (lower[box, j] < lower[other, j] and upper[other, j] < upper[box, j]):
            return False
    return True


@formula
def _nearness_to_faces(box, boxes, search):
    """Return the mean over the features of how near the sample is to a face of a box, up to 1."""
    low, high, lower, upper = search.low, search.high, boxes.lower, boxes.upper
    total = 0.0
    for j in range(low.shape[0]):
        v, w = lower[box, j], upper[box, j]
        if is_known(v) and is_known(low[j]):
            to_upper = high[j] / w if w != 0.0 else 1.0
            to_lower = v / low[j] if low[j] != 0.0 else 1.0
            total += larger(to_upper, to_lower)
        else:
            total += 1.0
    return smaller(total / low.shape[0], 1.0)
