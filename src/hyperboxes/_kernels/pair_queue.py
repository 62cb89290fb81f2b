"""AGGLO-SM (Algorithms 2 and 7): merge the most similar pair of boxes that may merge; repeat.

The paper sorts all pairs anew after each merge. Here each box keeps a short list of its best
partners among the later boxes of its class, and a tournament tree finds the best pair of all. A
pair is only offered once: under the closed overlap test, boxes only grow, so a refused pair of
unchanged boxes stays refused for ever. Under the paper's test it may become free when a box that
was in the way merges; the boxes near it then start their lists again.

`queue` is the tuple `(partners, similarities, n_held, frontier, keys, tree, refused, witness)`.
`partners[i]` lists later boxes by descending similarity, ties by age. `frontier[i]`, a similarity
and a box, is how far down the list reaches: pairs after it are to be searched for, pairs up to it
are on the list or have been tried. `keys[i]` is the similarity of the first on the list, 0 if there
is none; `tree` holds the winners of `keys`, the root at 1.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.agglomerative import merge
from hyperboxes._kernels.geometry import fits, hull, similarity, within_reach
from hyperboxes._kernels.jit import formula, kernel
from hyperboxes._kernels.selection import CLOSED, collide


@kernel
def make_queue(n_boxes, n_partners):
    """Return an empty queue with room for some partners of each box; none has been searched."""
    n_leaves = 1
    while n_leaves < n_boxes:
        n_leaves *= 2
    tree = np.full(2 * n_leaves, n_boxes)
    tree[n_leaves : n_leaves + n_boxes] = np.arange(n_boxes)
    frontier = np.empty((n_boxes, 2))
    frontier[:, 0] = np.inf
    return (
        np.empty((n_boxes, n_partners), np.int64),
        np.empty((n_boxes, n_partners)),
        np.zeros(n_boxes, np.int64),
        frontier,
        np.zeros(n_boxes + 1),
        tree,
        np.zeros(n_boxes, np.bool_),
        np.full(n_boxes, -1),
    )


@kernel
def fill_queue(boxes, queue, start, rule, measure, work):
    """Search the partners of the boxes from `start` on; return where `work` ended, or the end."""
    n_boxes, n_features = boxes[0].shape
    while start < n_boxes and work > 0:
        _search(start, boxes, queue, rule, measure)
        _update(start, queue)
        start += 1
        work -= n_boxes * n_features
    return start


@kernel
def merge_best_pairs(boxes, previous, queue, log, rule, measure, overlap, work):
    """Merge pair after pair; append similarity and places to `log`, which begins with their number.

    Returns whether no pair is left; or False after `work` comparisons of a box in one dimension.
    """
    lower, upper, _, counts, _, _, _, _ = boxes
    partners, similarities, _, _, keys, tree, refused, _ = queue
    n_merged, merged_similarity, merged_earlier, merged_later = log
    n_boxes, n_features = lower.shape
    v, w = np.empty(n_features), np.empty(n_features)
    while work > 0:
        i = tree[1]
        if keys[i] == 0.0:
            return True
        k, value = partners[i, 0], similarities[i, 0]
        _remove(i, 0, queue)
        _refresh(i, boxes, queue, rule, measure)
        if counts[k] == 0:
            continue
        hull(lower[i], upper[i], lower[k], upper[k], v, w)
        if _blocked(i, v, w, boxes, queue, overlap):
            refused[i] = True
        else:
            merged_similarity[n_merged[0]] = value
            merged_earlier[n_merged[0]] = i
            merged_later[n_merged[0]] = k
            n_merged[0] += 1
            if overlap != CLOSED:
                _reopen(i, k, boxes, queue, rule, measure)
            merge(i, k, boxes, previous)
            _requeue(i, k, boxes, queue, rule, measure)
        work -= n_boxes * n_features
    return False


@formula
def _similarity(v, w, lower, upper, box, theta, gamma, floor, measure):
    """Return the similarity of [v, w] and a box if size and similarity allow a merge, else 0."""
    value = similarity(v, w, lower, upper, box, gamma, floor, measure)
    if value > 0.0 and fits(lower, upper, box, v, w, theta):
        return value
    return 0.0


@formula
def _precedes(value, box, other_value, other_box):
    """Whether a pair comes before another of the same first box in the paper's order."""
    if value == other_value:
        return box < other_box
    return value > other_value


@kernel
def _search(i, boxes, queue, rule, measure):
    """List the best partners of box i after its frontier."""
    lower, upper, _, _, following, _, _, _ = boxes
    _, _, n_held, frontier, _, _, _, _ = queue
    theta, gamma, floor = rule
    v, w = lower[i], upper[i]
    value_before, box_before = frontier[i, 0], frontier[i, 1]
    n_held[i] = 0
    frontier[i, 0] = -1.0
    k = following[i]
    while k >= 0:
        value = _similarity(v, w, lower, upper, k, theta, gamma, floor, measure)
        if value > 0.0 and _precedes(value_before, box_before, value, k):
            _insert(i, value, k, queue)
        k = following[k]


@kernel
def _insert(i, value, k, queue):
    """Put a partner in its place on the list of box i; what falls off moves the frontier up."""
    partners, similarities, n_held, frontier, _, _, _, _ = queue
    place = n_held[i]
    while place > 0 and _precedes(value, k, similarities[i, place - 1], partners[i, place - 1]):
        place -= 1
    room = partners.shape[1]
    is_full = n_held[i] == room
    if place < room:
        last = n_held[i] - is_full
        for p in range(last, place, -1):
            partners[i, p] = partners[i, p - 1]
            similarities[i, p] = similarities[i, p - 1]
        partners[i, place] = k
        similarities[i, place] = value
        n_held[i] = last + 1
    if is_full:
        frontier[i, 0] = similarities[i, room - 1]
        frontier[i, 1] = partners[i, room - 1]


@kernel
def _remove(i, place, queue):
    """Take a partner off the list of box i."""
    partners, similarities, n_held, _, _, _, _, _ = queue
    n_held[i] -= 1
    for p in range(place, n_held[i]):
        partners[i, p] = partners[i, p + 1]
        similarities[i, p] = similarities[i, p + 1]


@kernel
def _refresh(i, boxes, queue, rule, measure):
    """After a change of its list: search for more partners if none is left, and play again."""
    _, _, n_held, frontier, _, _, _, _ = queue
    if n_held[i] == 0 and frontier[i, 0] > 0.0:
        _search(i, boxes, queue, rule, measure)
    _update(i, queue)


@kernel
def _update(i, queue):
    """Let box i play its matches in the tournament tree again; the older box wins ties."""
    _, similarities, n_held, _, keys, tree, _, _ = queue
    keys[i] = similarities[i, 0] if n_held[i] > 0 else 0.0
    node = (tree.shape[0] // 2 + i) // 2
    while node > 0:
        left, right = tree[2 * node], tree[2 * node + 1]
        tree[node] = left if keys[left] >= keys[right] else right
        node //= 2


@kernel
def _blocked(i, v, w, boxes, queue, overlap):
    """Whether [v, w] overlaps a box of another class; the last one in the way of i is asked first.

    Its place may hold a box that has grown since, which is another rival; one that was merged away
    is left as it was and no longer counts.
    """
    lower, upper, labels, counts, following, first, _, _ = boxes
    witness = queue[-1]
    k = witness[i]
    if k >= 0 and counts[k] > 0 and collide(v, w, lower, upper, k, overlap):
        return True
    for c in range(first.shape[0]):
        k = first[c] if c != labels[i] else -1
        while k >= 0:
            if collide(v, w, lower, upper, k, overlap):
                witness[i] = k
                return True
            k = following[k]
    return False


@kernel
def _requeue(earlier, later, boxes, queue, rule, measure):
    """Queue the pairs of a newly merged box: with older boxes on their lists, others on its own.

    Lists may still hold `later`, which has no samples left; none may hold the old `earlier`.
    """
    lower, upper, labels, _, following, first, _, _ = boxes
    partners, _, n_held, frontier, _, _, _, _ = queue
    theta, gamma, floor = rule
    v, w = lower[earlier], upper[earlier]
    n_held[later] = 0
    _update(later, queue)
    k = first[labels[earlier]]
    while k != earlier:
        has_changed = False
        for place in range(n_held[k]):
            if partners[k, place] == earlier:
                _remove(k, place, queue)
                has_changed = True
                break
        value = _similarity(v, w, lower, upper, k, theta, gamma, floor, measure)
        if value > 0.0 and not _precedes(frontier[k, 0], frontier[k, 1], value, earlier):
            _insert(k, value, earlier, queue)
            has_changed = True
        if has_changed:
            _refresh(k, boxes, queue, rule, measure)
        k = following[k]
    frontier[earlier, 0] = np.inf
    _search(earlier, boxes, queue, rule, measure)
    _update(earlier, queue)


@kernel
def _reopen(earlier, later, boxes, queue, rule, measure):
    """Before a merge: boxes whose pairs one of the two may have been in the way of start again."""
    lower, upper, labels, _, following, first, _, _ = boxes
    _, _, _, frontier, _, _, refused, _ = queue
    theta = rule[0]
    for c in range(first.shape[0]):
        k = first[c] if c != labels[earlier] else -1
        while k >= 0:
            if refused[k] and (
                within_reach(lower, upper, earlier, lower[k], upper[k], theta)
                or within_reach(lower, upper, later, lower[k], upper[k], theta)
            ):
                refused[k] = False
                frontier[k, 0] = np.inf
                _search(k, boxes, queue, rule, measure)
                _update(k, queue)
            k = following[k]
