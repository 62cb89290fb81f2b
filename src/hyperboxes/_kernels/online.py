"""Online learning in one loop: Onln-GFMM and IOL-GFMM (Algorithms 1, 5, 4 and 6) and relatives.

They differ in their growth parameters, and in what happens to boxes that overlap other classes.
IOL-GFMM rejects candidates that would grow into another class. So does RFMNN, in which a new box
also splits the boxes that contain it; and so does the two-phase algorithm, whose samples are boxes
and whose new boxes are parted from those that they meet. The others grow the best box and then
contract it and the boxes of other classes that it overlaps.
"""

import numpy as np

from hyperboxes._kernels.blocking import begin, drop_free_regions, tighten_free_region
from hyperboxes._kernels.box_index import (
    SPARE_BLOCKS,
    add_box,
    has_spare_blocks,
    joint_label,
    relabel_box,
    remove_box,
    update_box,
)
from hyperboxes._kernels.candidates import choose
from hyperboxes._kernels.geometry import contract, copy_row, hull, larger, overlaps, part, smaller
from hyperboxes._kernels.jit import inlined, internal, kernel, pass_by_pointer
from hyperboxes._kernels.mixed import choose_mixed, count_categories, start_sample
from hyperboxes._kernels.search import find_conflicts_by_age
from hyperboxes._kernels.structs import (
    BLOCKS,
    BOXES,
    CANDIDATES,
    CLOSED,
    CONTRACT,
    NO_LABEL,
    PART,
    REMOVABLE,
    SAMPLES,
    SEEN,
    SPLIT,
    WORK,
)


@kernel
def learn(xl, xu, y, boxes, growth, scratch, shrinking, mixed, joined, work):
    """Learn the samples from `counters[SAMPLES]` on.

    `shrinking` is None for learners whose boxes only grow, and `mixed`, which is `CategoryCounts`
    and `MixedMetric`, for those that have numbers only, so that nothing else is compiled for them.
    `joined` receives for each sample the box that it has become, or -1 less the box that has
    absorbed it. At the box limit, a new box replaces the one that has gone longest without a
    sample.

    Returns when all are learned, when the arrays are full, when the trees should be rebuilt or free
    regions made or dropped, or after `work` comparisons of a block in one dimension. Each sample is
    learned completely, so the arrays are consistent. The result is the capacity needed to go on.
    """
    boxes, growth, scratch = (
        pass_by_pointer(boxes),
        pass_by_pointer(growth),
        pass_by_pointer(scratch),
    )
    counters, search = boxes.counters, scratch.search
    end = counters[WORK] + larger(work // xl.shape[1], 1)
    while counters[SAMPLES] < y.shape[0] and counters[WORK] < end and _has_capacity(boxes, growth):
        if not begin(boxes, boxes.index.free_regions):
            break
        i = counters[SAMPLES]
        copy_row(xl[i], search.low)
        copy_row(xu[i], search.high)
        if mixed is None:
            box, n_tried = choose(y[i], -1, boxes, growth, scratch)
        else:
            start_sample(mixed[0], search)
            box, n_tried = choose_mixed(y[i], boxes, growth, mixed[0], mixed[1], scratch)
        n_split = 0
        if shrinking is not None and box < 0 and growth.on_overlap == SPLIT and y[i] != NO_LABEL:
            n_split = _find_holders(y[i], boxes, growth, scratch)
            if not _has_capacity_for(n_split + 1, boxes):
                return n_split + 1
        if box >= 0 and n_tried > 0:
            _grow(box, y[i], boxes, scratch)
            if shrinking is not None and growth.on_overlap >= CONTRACT:
                _contract_all(box, boxes, growth, scratch)
            update_box(box, boxes)
        if box >= 0:
            boxes.counts[box] += 1
            joined[i] = -1 - box
        else:
            box = _add_row(boxes, growth)
            _settle(box, y[i], boxes, search)
            joined[i] = box
            if shrinking is not None:
                for r in range(n_split):
                    _split(scratch.conflicts[r], boxes, search)
                if growth.on_overlap == PART and y[i] != NO_LABEL:
                    _part_all(box, boxes, growth, scratch)
        if mixed is not None:
            count_categories(box, joined[i] >= 0, mixed[0])
        if shrinking is None and (n_tried > 0 or joined[i] >= 0):
            tighten_free_region(box, growth.theta, boxes, boxes.index.bitmaps, scratch)
        boxes.confirmed[box] = counters[SEEN]
        counters[CANDIDATES] += n_tried
        counters[SAMPLES] += 1
        counters[SEEN] += 1
    return 1


@inlined
def _has_capacity(boxes, growth):
    counters = boxes.counters
    has_row = counters[BOXES] < boxes.labels.shape[0] or counters[BOXES] >= growth.max_boxes
    return has_row and counters[REMOVABLE] > 0 and has_spare_blocks(boxes)


@inlined
def _has_capacity_for(n_boxes, boxes):
    """Whether so many boxes may be added."""
    counters = boxes.counters
    return (
        counters[BOXES] + n_boxes <= boxes.labels.shape[0]
        and counters[BLOCKS] + n_boxes * SPARE_BLOCKS <= boxes.index.links.shape[0]
    )


@inlined
def _grow(box, label, boxes, scratch):
    """Extend a box to contain the sample, and give it the label of the sample."""
    v, w = boxes.lower[box], boxes.upper[box]
    hull(v, w, scratch.search.low, scratch.search.high, v, w)
    joint = joint_label(boxes.labels[box], label)
    if joint != boxes.labels[box]:
        relabel_box(box, joint, boxes)


@internal
def _contract_all(box, boxes, growth, scratch):
    """Contract a grown box and each box of another class that it overlaps, oldest first.

    Contraction only makes it smaller, so it can only overlap boxes that it meets to begin with.
    """
    conflicts, v, w = scratch.conflicts, boxes.lower[box], boxes.upper[box]
    n_conflicts = find_conflicts_by_age(
        v, w, boxes.labels[box], growth.exhaustive, boxes, scratch.search, conflicts
    )
    for r in range(n_conflicts):
        if overlaps(v, w, boxes, conflicts[r], growth.overlap):
            contract(v, w, scratch.search.high, boxes, conflicts[r], growth)
            update_box(conflicts[r], boxes)


@internal
def _find_holders(label, boxes, growth, scratch):
    """List the boxes of other classes that share a point with the sample, oldest first.

    Those of a single sample have nothing to divide, and are left out.
    """
    conflicts, search = scratch.conflicts, scratch.search
    low, high = search.low, search.high
    n_conflicts = find_conflicts_by_age(
        low, high, label, growth.exhaustive, boxes, search, conflicts
    )
    n_holders = 0
    for r in range(n_conflicts):
        if boxes.counts[conflicts[r]] > 1 and overlaps(low, high, boxes, conflicts[r], CLOSED):
            conflicts[n_holders] = conflicts[r]
            n_holders += 1
    return n_holders


@internal
def _split(box, boxes, search):
    """Split a box around the sample in the feature where one rest is smallest, if it has any.

    The upper rest is a new box. Samples are divided by length, at least one for each.
    """
    lower, upper, counts = boxes.lower, boxes.upper, boxes.counts
    least, j = np.inf, -1
    for k in range(lower.shape[1]):
        rest = smaller(upper[box, k] - search.high[k], search.low[k] - lower[box, k])
        if 0.0 < rest < least:
            least, j = rest, k
    if j < 0:
        return
    new, n_samples = boxes.counters[BOXES], counts[box]
    copy_row(lower[box], lower[new])
    copy_row(upper[box], upper[new])
    lower[new, j] = np.nextafter(search.high[j], np.inf)
    upper[box, j] = np.nextafter(search.low[j], -np.inf)
    below, above = search.low[j] - lower[box, j], upper[new, j] - search.high[j]
    n_below = np.int64(n_samples * (below / (below + above)) + 0.5)
    counts[box] = smaller(larger(n_below, 1), n_samples - 1)
    counts[new] = n_samples - counts[box]
    boxes.labels[new], boxes.confirmed[new] = boxes.labels[box], boxes.confirmed[box]
    add_box(new, boxes)
    boxes.counters[BOXES] = new + 1
    update_box(box, boxes)


@internal
def _part_all(box, boxes, growth, scratch):
    """Part a new box from each box of another class that it meets, oldest first."""
    conflicts, v, w = scratch.conflicts, boxes.lower[box], boxes.upper[box]
    n_conflicts = find_conflicts_by_age(
        v, w, boxes.labels[box], growth.exhaustive, boxes, scratch.search, conflicts
    )
    for r in range(n_conflicts):
        if overlaps(v, w, boxes, conflicts[r], CLOSED):
            part(v, w, boxes, conflicts[r])
            update_box(conflicts[r], boxes)
    update_box(box, boxes)


@inlined
def _add_row(boxes, growth):
    """Return the index of a new box: at the limit, that of the box matched longest ago."""
    n_boxes = boxes.counters[BOXES]
    if n_boxes < growth.max_boxes:
        boxes.counters[BOXES] = n_boxes + 1
        return n_boxes
    confirmed = boxes.confirmed
    oldest = 0
    for box in range(1, n_boxes):
        if confirmed[box] < confirmed[oldest]:
            oldest = box
    remove_box(oldest, boxes)
    drop_free_regions(boxes.index)
    return oldest


@inlined
def _settle(box, label, boxes, search):
    """Make the sample a new box at an index."""
    copy_row(search.low, boxes.lower[box])
    copy_row(search.high, boxes.upper[box])
    boxes.labels[box] = label
    boxes.counts[box] = 1
    add_box(box, boxes)
