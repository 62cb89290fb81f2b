"""AGGLO-SM (Algorithms 2 and 7): merge the most similar pair of boxes that may merge; repeat.

The paper sorts all pairs anew after each merge. Here each pair belongs to that of its boxes which
changed last; each box keeps a short list of the best pairs that are its own, and a tournament tree
finds the best pair of all. Pairs on a list whose other box has changed since, or is gone, are
passed over. A pair is only offered once: under the closed overlap test, boxes only grow, so a
refused pair of unchanged boxes stays refused for ever. Under the paper's test, and where values are
missing, it may become free when a box that was in the way merges; the boxes near it then start
their lists again.

`queue` is the tuple `(partners, similarities, lists, frontier, stamps, tree, witness)`.
`partners[i]` lists boxes by descending similarity, ties by age; `lists[i]` says how many they are,
how many have been taken, and whether one was refused. `frontier[i]`, a similarity and a box, is how
far down the list reaches: pairs after it are to be searched for. `stamps` says when boxes changed
last, and which is the latest time. `tree` holds the winners among the boxes' first pairs, the root
at 1. `witness[i]` is a box that was in the way of box i.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.agglomerative import merge
from hyperboxes._kernels.geometry import collide, fits, hull
from hyperboxes._kernels.index import ALIVE, CANDIDATES, FEW, WORK, joint_label, unlabelled
from hyperboxes._kernels.jit import kernel, part
from hyperboxes._kernels.search import (
    P,
    find,
    find_best,
    find_rivals,
    first_rival,
    insert,
    precedes,
    set_reach,
)
from hyperboxes._kernels.selection import list_similar, make_scratch

# Columns of `lists`.
LISTED, TAKEN, REFUSED = range(3)


def make_queue(n_boxes: int, n_partners: int) -> tuple[np.ndarray, ...]:
    """Return an empty queue with room for some partners of each box; none has been searched.

    At first a pair belongs to the older box.
    """
    n_leaves = 1 << (n_boxes - 1).bit_length()
    tree = np.full(2 * n_leaves, -1)
    tree[n_leaves : n_leaves + n_boxes] = np.arange(n_boxes)
    return (
        np.empty((n_boxes, n_partners), np.int64),
        np.empty((n_boxes, n_partners)),
        np.zeros((n_boxes, 3), np.int64),
        np.full((n_boxes, 2), [np.inf, -1.0]),
        np.append(np.arange(n_boxes, 0, -1), n_boxes),
        tree,
        np.full(n_boxes, -1),
    )


@kernel
def fill_queue(boxes, queue, start, rule, measure, work):
    """Search the partners of the boxes from `start` on; return where `work` ended, or the end."""
    progress = boxes[4]
    n_boxes, n_features = boxes[0].shape
    scratch = make_scratch(boxes)
    end = progress[WORK] + max(work // n_features, 1)
    while start < n_boxes and progress[WORK] < end:
        _search(start, boxes, queue, rule, measure, scratch)
        _update(start, queue)
        start += 1
    return start


@kernel
def merge_best_pairs(boxes, queue, log, rule, measure, overlap, may_part, work):
    """Merge pair after pair; append similarity and places to `log`, which begins with their number.

    `may_part` says that boxes may stop overlapping when they grow, so that refused pairs are tried
    again.

    Returns whether no pair is left; or False after `work` comparisons of a block in one dimension,
    and when so few boxes are left that the trees should be built anew. Adds the pairs tried to
    the candidates.
    """
    lower, upper, labels, counts, progress, _ = boxes
    partners, similarities, lists, frontier, stamps, tree, _ = queue
    n_merged, merged_similarity, merged_earlier, merged_later = log
    n_boxes, n_features = lower.shape
    scratch = make_scratch(boxes)
    end = progress[WORK] + max(work // n_features, 1)
    while progress[WORK] < end and progress[ALIVE] > progress[FEW]:
        i = tree[1]
        if lists[i, TAKEN] == lists[i, LISTED]:
            return True
        k, value = partners[i, lists[i, TAKEN]], similarities[i, lists[i, TAKEN]]
        lists[i, TAKEN] += 1
        if stamps[k] > stamps[i] or counts[k] == 0:
            _refresh(i, boxes, queue, rule, measure, scratch)
            continue
        progress[CANDIDATES] += 1
        hull(lower[i], upper[i], lower[k], upper[k], scratch[4], scratch[5])
        label = joint_label(labels[i], labels[k], boxes)
        if _blocked(i, label, boxes, queue, rule, overlap, scratch):
            lists[i, REFUSED] = True
            _refresh(i, boxes, queue, rule, measure, scratch)
            continue
        earlier, later = min(i, k), max(i, k)
        merged_similarity[n_merged[0]] = value
        merged_earlier[n_merged[0]] = earlier
        merged_later[n_merged[0]] = later
        n_merged[0] += 1
        if may_part:
            _reopen(i, boxes, queue, rule, measure, scratch)
            _reopen(k, boxes, queue, rule, measure, scratch)
        merge(earlier, later, boxes)
        lists[later, TAKEN] = lists[later, LISTED]
        _update(later, queue)
        stamps[n_boxes] += 1
        stamps[earlier] = stamps[n_boxes]
        frontier[earlier, 0] = np.inf
        _search(earlier, boxes, queue, rule, measure, scratch)
        _update(earlier, queue)
    return False


@part
def _search(i, boxes, queue, rule, measure, scratch):
    """List the best partners of box i after its frontier."""
    lower, upper, labels, _, _, _ = boxes
    all_partners, all_similarities, lists, frontier, stamps, _, _ = queue
    ids, values, space = scratch[0], scratch[1], scratch[6]
    v, w, label = lower[i], upper[i], labels[i]
    partners, similarities = all_partners[i], all_similarities[i]
    after = frontier[i, 0], np.int64(frontier[i, 1])
    if rule[3]:
        n_listed = 0
        for s in range(list_similar(v, w, label, boxes, rule, measure, space, ids, values)):
            if (
                stamps[ids[s]] < stamps[i]
                and precedes(after[0], after[1], values[s], ids[s])
                and fits(lower, upper, ids[s], v, w, rule[0])
            ):
                n_listed = insert(ids[s], values[s], n_listed, partners, similarities)
    else:
        n_listed = find_best(
            v,
            w,
            label,
            after,
            stamps,
            stamps[i],
            boxes,
            rule,
            measure,
            space,
            partners,
            similarities,
        )
    frontier[i, 0] = -1.0
    if n_listed == partners.shape[0]:
        frontier[i, 0], frontier[i, 1] = similarities[n_listed - 1], partners[n_listed - 1]
    while n_listed > 0 and similarities[n_listed - 1] == 0.0:  # pairs of similarity 0 are left out
        n_listed -= 1
    lists[i, LISTED] = n_listed
    lists[i, TAKEN] = 0


@part
def _refresh(i, boxes, queue, rule, measure, scratch):
    """After a pair was taken: search for more if none is left, and play again."""
    _, _, lists, frontier, _, _, _ = queue
    if lists[i, TAKEN] == lists[i, LISTED] and frontier[i, 0] > 0.0:
        _search(i, boxes, queue, rule, measure, scratch)
    _update(i, queue)


@part
def _update(i, queue):
    """Let box i play its matches in the tournament tree again."""
    tree = queue[5]
    node = (tree.shape[0] // 2 + i) // 2
    while node > 0:
        left, right = tree[2 * node], tree[2 * node + 1]
        tree[node] = right if right >= 0 and _beats(right, left, queue) else left
        node //= 2


@part
def _beats(i, k, queue):
    """Whether the first pair of a box comes before that of another."""
    partners, similarities, lists, _, _, _, _ = queue
    if lists[i, TAKEN] == lists[i, LISTED]:
        return False
    if lists[k, TAKEN] == lists[k, LISTED]:
        return True
    a, b = partners[i, lists[i, TAKEN]], partners[k, lists[k, TAKEN]]
    value, other = similarities[i, lists[i, TAKEN]], similarities[k, lists[k, TAKEN]]
    if value != other:
        return value > other
    if min(i, a) != min(k, b):
        return min(i, a) < min(k, b)
    return max(i, a) < max(k, b)


@part
def _blocked(i, label, boxes, queue, rule, overlap, scratch):
    """Whether the box in `scratch`, which box i would become, overlaps one of another class.

    The last one that was in the way of box i is asked first. It may have grown since, which does
    not matter; if it was merged away it no longer counts.
    """
    lower, upper, labels, counts, _, _ = boxes
    v, w, space = scratch[4], scratch[5], scratch[6]
    witness = queue[6]
    k = witness[i]
    if k >= 0 and counts[k] > 0 and labels[k] != label and collide(v, w, lower, upper, k, overlap):
        return True
    k = first_rival(v, w, label, overlap, rule[3], boxes, space)
    if k >= 0:
        witness[i] = k
    return k >= 0


@part
def _reopen(box, boxes, queue, rule, measure, scratch):
    """Before a box merges: those of other classes that it may have been in the way of start again.

    They are not farther away than `theta`, for the box was within reach of theirs.
    """
    lower, upper, labels, _, _, _ = boxes
    _, _, lists, frontier, _, _, _ = queue
    near, space = scratch[3], scratch[6]
    if labels[box] == unlabelled(boxes):  # it was in nobody's way
        return
    set_reach(upper[box], lower[box], rule[0], space[4], P, space)
    n_near = find_rivals(labels[box], rule[3], boxes, space, near)
    n_near += find(unlabelled(boxes), False, False, rule[3], boxes, space, near[n_near:])
    for f in range(n_near):
        k = near[f]
        if lists[k, REFUSED]:
            lists[k, REFUSED] = False
            frontier[k, 0], frontier[k, 1] = np.inf, -1.0
            _search(k, boxes, queue, rule, measure, scratch)
            _update(k, queue)
