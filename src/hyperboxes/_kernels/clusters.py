"""Clusters of boxes: dense boxes that are near each other, and what lies near to them.

`family` is the tuple `(parents, nearest)`: for dense boxes the trees of a union-find, whose root is
the oldest box; for the others the nearest dense box, or -1.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.geometry import distance
from hyperboxes._kernels.index import BOXES, WORK, unlabelled
from hyperboxes._kernels.jit import kernel, part
from hyperboxes._kernels.search import P, find, make_space, set_reach


@kernel
def join(boxes, start, gamma, max_gap, min_samples, everywhere, family, work):
    """Join each box, from a place on, with the older ones that are near; return where that ended.

    It ends with the last box or after `work` comparisons of a block in one dimension.
    """
    lower, upper, _, counts, progress, _ = boxes
    space = make_space(boxes)
    ids = np.empty(counts.shape[0], np.int64)
    end = progress[WORK] + max(work // lower.shape[1], 1)
    while start < progress[BOXES] and progress[WORK] < end:
        v, w = lower[start], upper[start]
        set_reach(w, v, max_gap, gamma, P, space)
        n_found = find(unlabelled(boxes), False, False, everywhere, boxes, space, ids)
        progress[WORK] += n_found
        _join(start, v, w, ids[:n_found], boxes, gamma, max_gap, min_samples, family)
        start += 1
    return start


@part
def _join(box, v, w, ids, boxes, gamma, max_gap, min_samples, family):
    """Join a dense box with all older dense ones that are near, another with the nearest."""
    lower, upper, _, counts, _, _ = boxes
    parents, nearest = family
    least = max_gap
    for k in ids:
        if counts[k] < min_samples or k == box:
            continue
        if counts[box] >= min_samples:
            if k < box and distance(lower, upper, k, w, v, gamma, max_gap) <= max_gap:
                _unite(box, k, parents)
        else:
            gap = distance(lower, upper, k, w, v, gamma, least)
            if gap < least or (gap == least and (nearest[box] < 0 or k < nearest[box])):
                least = gap
                nearest[box] = k


@part
def _unite(box, other, parents):
    """Make two trees one."""
    a, b = _find_root(box, parents), _find_root(other, parents)
    parents[max(a, b)] = min(a, b)


@part
def _find_root(box, parents):
    """Return the root of a box's tree, and make the way to it shorter."""
    while parents[box] != box:
        parents[box] = parents[parents[box]]
        box = parents[box]
    return box


@kernel
def number(counts, min_samples, family, clusters):
    """Write the cluster of each box, or -1; clusters are numbered by their oldest dense box."""
    parents, nearest = family
    n_clusters = 0
    for box in range(clusters.shape[0]):
        if counts[box] >= min_samples:
            root = _find_root(box, parents)
            if root == box:
                clusters[box] = n_clusters
                n_clusters += 1
            else:
                clusters[box] = clusters[root]
    for box in range(clusters.shape[0]):
        if counts[box] < min_samples:
            clusters[box] = clusters[nearest[box]] if nearest[box] >= 0 else -1
