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
from hyperboxes._kernels.blocks import LANES, find_rivals
from hyperboxes._kernels.geometry import fits, hull
from hyperboxes._kernels.jit import formula, kernel
from hyperboxes._kernels.selection import CLOSED, collide, list_similar, make_scratch, meets_rival


def make_queue(n_boxes: int, n_partners: int) -> tuple[np.ndarray, ...]:
    """Return an empty queue with room for some partners of each box; none has been searched."""
    n_leaves = 1 << (n_boxes - 1).bit_length()
    tree = np.full(2 * n_leaves, n_boxes)
    tree[n_leaves : n_leaves + n_boxes] = np.arange(n_boxes)
    return (
        np.empty((n_boxes, n_partners), np.int64),
        np.empty((n_boxes, n_partners)),
        np.zeros(n_boxes, np.int64),
        np.full((n_boxes, 2), np.inf),
        np.zeros(n_boxes + 1),
        tree,
        np.zeros(n_boxes, np.bool_),
        np.full(n_boxes, -1),
    )


@kernel
def fill_queue(boxes, queue, start, rule, measure, work):
    """Search the partners of the boxes from `start` on; return where `work` ended, or the end."""
    n_boxes, n_features = boxes[0].shape
    scratch = make_scratch(n_boxes, n_features)
    while start < n_boxes and work > 0:
        _search(start, boxes, queue, rule, measure, scratch)
        _update(start, queue)
        start += 1
        work -= n_boxes * n_features
    return start


@kernel
def merge_best_pairs(boxes, queue, log, rule, measure, overlap, work):
    """Merge pair after pair; append similarity and places to `log`, which begins with their number.

    Returns whether no pair is left; or False after `work` comparisons of a box in one dimension.
    """
    lower, upper, _, counts, _, _ = boxes
    partners, similarities, _, _, keys, tree, refused, _ = queue
    n_merged, merged_similarity, merged_earlier, merged_later = log
    n_boxes, n_features = lower.shape
    scratch = make_scratch(n_boxes, n_features)
    v, w = scratch[6], scratch[7]
    while work > 0:
        i = tree[1]
        if keys[i] == 0.0:
            return True
        k, value = partners[i, 0], similarities[i, 0]
        _remove(i, 0, queue)
        _refresh(i, boxes, queue, rule, measure, scratch)
        if counts[k] == 0:
            continue
        hull(lower[i], upper[i], lower[k], upper[k], v, w)
        if _blocked(i, boxes, queue, overlap, scratch):
            refused[i] = True
        else:
            merged_similarity[n_merged[0]] = value
            merged_earlier[n_merged[0]] = i
            merged_later[n_merged[0]] = k
            n_merged[0] += 1
            if overlap != CLOSED:
                _reopen(i, boxes, queue, rule, measure, scratch)
                _reopen(k, boxes, queue, rule, measure, scratch)
            n_touched = _unlist(i, k, boxes, queue, rule, measure, scratch)
            merge(i, k, boxes)
            _list(i, n_touched, boxes, queue, rule, measure, scratch)
        work -= n_boxes * n_features
    return False


@formula
def _precedes(value, box, other_value, other_box):
    """Whether a pair comes before another of the same first box in the paper's order."""
    if value == other_value:
        return box < other_box
    return value > other_value


@kernel
def _search(i, boxes, queue, rule, measure, scratch):
    """List the best partners of box i after its frontier."""
    lower, upper, _, _, _, blocks = boxes
    places = blocks[3]
    _, _, n_held, frontier, _, _, _, _ = queue
    ids, values, _, _, _, _, _, _ = scratch
    v, w = lower[i], upper[i]
    value_before, box_before = frontier[i, 0], frontier[i, 1]
    n_held[i] = 0
    frontier[i, 0] = -1.0
    n_similar = list_similar(v, w, places[i] // LANES, boxes, rule, measure, ids, values)
    for s in range(n_similar):
        k, value = ids[s], values[s]
        if (
            k > i
            and value > 0.0
            and _precedes(value_before, box_before, value, k)
            and fits(lower, upper, k, v, w, rule[0])
        ):
            _insert(i, value, k, queue)


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
def _refresh(i, boxes, queue, rule, measure, scratch):
    """After a change of its list: search for more partners if none is left, and play again."""
    _, _, n_held, frontier, _, _, _, _ = queue
    if n_held[i] == 0 and frontier[i, 0] > 0.0:
        _search(i, boxes, queue, rule, measure, scratch)
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
def _blocked(i, boxes, queue, overlap, scratch):
    """Whether the box in `scratch` overlaps one of another class than i.

    The last one that was in the way of box i is asked first. It may have grown since, which does
    not matter; if it was merged away it no longer counts.
    """
    lower, upper, labels, counts, _, _ = boxes
    _, _, _, rivals, gaps, ones, v, w = scratch
    witness = queue[-1]
    k = witness[i]
    if k >= 0 and counts[k] > 0 and collide(v, w, lower, upper, k, overlap):
        return True
    if meets_rival(v, w, labels[i], boxes, overlap, rivals, gaps, ones):
        witness[i] = rivals[0]
        return True
    return False


@kernel
def _unlist(earlier, later, boxes, queue, rule, measure, scratch):
    """Before a merge: take the earlier box off the lists of older ones, and their lists from both.

    Lists may keep `later`, which will have no samples left. Returns the number of lists that were
    touched; which, is in `scratch`.
    """
    lower, upper, labels, _, _, blocks = boxes
    partners, _, n_held, _, _, _, _, _ = queue
    ids, values, touched, _, _, _, _, _ = scratch
    first = blocks[5][labels[earlier]]
    v, w = lower[earlier], upper[earlier]
    n_similar = list_similar(v, w, first, boxes, rule, measure, ids, values)
    n_touched = 0
    for s in range(n_similar):
        k = ids[s]
        for place in range(n_held[k] if k < earlier else 0):
            if partners[k, place] == earlier:
                _remove(k, place, queue)
                touched[n_touched] = k
                n_touched += 1
                break
    n_held[earlier] = n_held[later] = 0
    _update(later, queue)
    return n_touched


@kernel
def _list(box, n_touched, boxes, queue, rule, measure, scratch):
    """After a merge: put the box on the lists of older ones, and search for younger ones."""
    lower, upper, labels, _, _, blocks = boxes
    _, _, _, frontier, _, _, _, _ = queue
    ids, values, touched, _, _, _, _, _ = scratch
    v, w = lower[box], upper[box]
    first = blocks[5][labels[box]]
    n_similar = list_similar(v, w, first, boxes, rule, measure, ids, values)
    for s in range(n_similar):
        k, value = ids[s], values[s]
        if (
            k < box
            and value > 0.0
            and not _precedes(frontier[k, 0], frontier[k, 1], value, box)
            and fits(lower, upper, k, v, w, rule[0])
        ):
            _insert(k, value, box, queue)
            _update(k, queue)
    for t in range(n_touched):
        _refresh(touched[t], boxes, queue, rule, measure, scratch)
    frontier[box, 0] = np.inf
    _refresh(box, boxes, queue, rule, measure, scratch)


@kernel
def _reopen(box, boxes, queue, rule, measure, scratch):
    """Before a box merges: those of other classes that it may have been in the way of start again.

    They are not farther away than `theta`, for the box was within reach of theirs.
    """
    lower, upper, labels, _, _, _ = boxes
    _, _, _, frontier, _, _, refused, _ = queue
    _, _, _, near, gaps, ones, _, _ = scratch
    n_near = find_rivals(
        labels[box], upper[box], lower[box], rule[0], -1.0, boxes, ones, near, gaps
    )
    for f in range(n_near):
        k = near[f]
        if refused[k]:
            refused[k] = False
            frontier[k, 0] = np.inf
            _search(k, boxes, queue, rule, measure, scratch)
            _update(k, queue)
