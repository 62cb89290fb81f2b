"""Clusters of boxes: dense boxes that are near each other, and what lies near to them.

`Clusters` has, for dense boxes, the `parents` in the trees of a union-find, whose root is the
oldest box; for the others the `nearest` dense box, or -1.
"""

from collections import namedtuple

from hyperboxes._kernels.geometry import distance, larger, smaller
from hyperboxes._kernels.jit import inlined, internal, kernel, pass_by_pointer
from hyperboxes._kernels.search import find, set_reach
from hyperboxes._kernels.structs import BOXES, NO_LABEL, WORK

Clusters = namedtuple("Clusters", "parents nearest")


@kernel
def join(boxes, start, metric, search, max_gap, min_samples, exhaustive, clusters, ids, work):
    """Join each box, from an index on, with the older ones that are near; return where that ended.

    It ends with the last box or after `work` comparisons of a block in one dimension. `ids` is room
    for all boxes.
    """
    boxes, clusters = pass_by_pointer(boxes), pass_by_pointer(clusters)
    metric, search = pass_by_pointer(metric), pass_by_pointer(search)
    counters, lower, upper = boxes.counters, boxes.lower, boxes.upper
    end = counters[WORK] + larger(work // lower.shape[1], 1)
    while start < counters[BOXES] and counters[WORK] < end:
        set_reach(upper[start], lower[start], max_gap, metric, search.near, search.far)
        n_found = find(NO_LABEL, False, False, exhaustive, boxes, search, ids)
        counters[WORK] += n_found
        _join(start, ids, n_found, boxes, metric, max_gap, min_samples, clusters)
        start += 1
    return start


@inlined
def _join(box, ids, n_found, boxes, metric, max_gap, min_samples, clusters):
    """Join a dense box with all older dense ones that are near, another with the nearest."""
    lower, upper, counts, nearest = boxes.lower, boxes.upper, boxes.counts, clusters.nearest
    v, w = lower[box], upper[box]
    least = max_gap
    for f in range(n_found):
        k = ids[f]
        if counts[k] < min_samples or k == box:
            continue
        if counts[box] >= min_samples:
            if k < box and distance(lower, upper, k, w, v, metric, max_gap) <= max_gap:
                _unite(box, k, clusters.parents)
        else:
            gap = distance(lower, upper, k, w, v, metric, least)
            if gap < least or (gap == least and (nearest[box] < 0 or k < nearest[box])):
                least = gap
                nearest[box] = k


@inlined
def _unite(box, other, parents):
    """Make two trees one."""
    a, b = _find_root(box, parents), _find_root(other, parents)
    parents[larger(a, b)] = smaller(a, b)


@internal
def _find_root(box, parents):
    """Return the root of a box's tree, and make the way to it shorter."""
    while parents[box] != box:
        parents[box] = parents[parents[box]]
        box = parents[box]
    return box


@kernel
def number(counts, min_samples, clusters, numbers):
    """Write the cluster of each box, or -1; clusters are numbered by their oldest dense box."""
    clusters = pass_by_pointer(clusters)
    parents, nearest = clusters.parents, clusters.nearest
    n_clusters = 0
    for box in range(numbers.shape[0]):
        if counts[box] >= min_samples:
            root = _find_root(box, parents)
            if root == box:
                numbers[box] = n_clusters
                n_clusters += 1
            else:
                numbers[box] = numbers[root]
    for box in range(numbers.shape[0]):
        if counts[box] < min_samples:
            numbers[box] = numbers[nearest[box]] if nearest[box] >= 0 else -1
