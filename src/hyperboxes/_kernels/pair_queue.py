"""AGGLO-SM (Algorithms 2 and 7): merge the most similar pair of boxes that may merge; repeat.

The paper sorts all pairs anew after each merge. Here each pair belongs to that of its boxes which
changed last; each box keeps a short list of the best pairs that are its own, and a tournament tree
finds the best pair of all. Pairs on a list whose other box has changed since, or is gone, are
passed over. A pair is only offered once: under the closed overlap test, boxes only grow, so a
refused pair of unchanged boxes stays refused for ever. Under the paper's test, and where values are
missing, it may become free when a box that was in the way merges; the boxes near it then start
their lists again.

Of a `Queue`, `todo` says which box's partners are to be searched next, if any, and how many boxes
have been searched in the beginning. `partners[i]` lists boxes by descending similarity, ties by
age; `lists[i]` says how many they are, how many have been taken, and whether one was refused.
`frontier[i]`, a similarity and a box, is how far down the list reaches: pairs after it are to be
searched for. `stamps` says when boxes changed last, and which is the latest time. `tree` holds the
winners among the boxes' first pairs, the root at 1. `witness[i]` is a box that was in the way of
box i.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.agglomerative import merge
from hyperboxes._kernels.best import FITTING, find_best, insert
from hyperboxes._kernels.geometry import copy_row, fits, hull, larger, overlaps, smaller
from hyperboxes._kernels.index import has_room, joint_label
from hyperboxes._kernels.jit import by_reference, formula, kernel, step, subroutine
from hyperboxes._kernels.records import ALIVE, CANDIDATES, FEW, NO_LABEL, WORK, Queue
from hyperboxes._kernels.rooms import are_parted, begin, find_walls, wall_in
from hyperboxes._kernels.search import (
    find,
    find_rivals,
    first_rival,
    precedes,
    set_window,
)
from hyperboxes._kernels.selection import list_similar

# Columns of `lists`.
LISTED, TAKEN, REFUSED = range(3)

# Places of `todo`.
BOX, N_SEARCHED = range(2)


def make_queue(n_boxes: int, n_partners: int) -> Queue:
    """Return an empty queue with room for some partners of each box; none has been searched.

    At first a pair belongs to the older box.
    """
    n_leaves = 1 << (n_boxes - 1).bit_length()
    tree = np.full(2 * n_leaves, -1)
    tree[n_leaves : n_leaves + n_boxes] = np.arange(n_boxes)
    return Queue(
        np.zeros(2, np.int64),
        np.empty((n_boxes, n_partners), np.int64),
        np.empty((n_boxes, n_partners)),
        np.zeros((n_boxes, 3), np.int64),
        np.full((n_boxes, 2), [np.inf, -1.0]),
        np.append(np.arange(n_boxes, 0, -1), n_boxes),
        tree,
        np.full(n_boxes, -1),
    )


@kernel
def merge_best_pairs(boxes, queue, log, rule, scratch, may_part, relabels, work):
    """Merge pair after pair; append similarity and places to `log`.

    `may_part` says that boxes may stop overlapping when they grow, so that refused pairs are tried
    again; `relabels` that there are boxes without a label. Both are None if not, and the code for
    that is not even compiled.

    Returns whether no pair is left; or False after `work` comparisons of a block in one dimension,
    when there is no room to relabel a box, when so few boxes are left that the trees should be
    built anew, and when rooms should be kept. Adds the pairs tried to the candidates.
    """
    boxes, queue, log = by_reference(boxes), by_reference(queue), by_reference(log)
    rule, scratch = by_reference(rule), by_reference(scratch)
    counters, todo, lists, stamps = boxes.counters, queue.todo, queue.lists, queue.stamps
    n_boxes, n_features = boxes.lower.shape
    end = counters[WORK] + larger(work // n_features, 1)
    while counters[WORK] < end and counters[ALIVE] > counters[FEW] and has_room(boxes):
        if not begin(boxes, boxes.index.rooms):
            break
        if todo[BOX] >= 0:
            _search(todo[BOX], boxes, queue, rule, scratch)
            _update(todo[BOX], queue)
            todo[N_SEARCHED] += 1
            todo[BOX] = todo[N_SEARCHED] if todo[N_SEARCHED] < n_boxes else -1
            continue
        i = queue.tree[1]
        taken = lists[i, TAKEN]
        if taken == lists[i, LISTED]:
            return True
        k, value = queue.partners[i, taken], queue.similarities[i, taken]
        lists[i, TAKEN] += 1
        is_stale = stamps[k] > stamps[i] or boxes.counts[k] == 0
        is_stale = is_stale or are_parted(i, k, boxes.index, boxes.index.rooms)
        if not is_stale:
            counters[CANDIDATES] += 1
            if _blocked(i, k, boxes, queue, rule, scratch):
                lists[i, REFUSED] = is_stale = True
        if is_stale:
            if lists[i, TAKEN] == lists[i, LISTED] and queue.frontier[i, 0] > 0.0:
                todo[BOX] = i
            else:
                _update(i, queue)
            continue
        earlier, later = smaller(i, k), larger(i, k)
        _write_down(value, earlier, later, log)
        if may_part is not None:
            _reopen(i, boxes, queue, rule, scratch)
            _reopen(k, boxes, queue, rule, scratch)
        merge(earlier, later, boxes, relabels)
        lists[later, TAKEN] = lists[later, LISTED]
        _update(later, queue)
        stamps[n_boxes] += 1
        stamps[earlier] = stamps[n_boxes]
        queue.frontier[earlier, 0] = np.inf
        todo[BOX] = earlier
    return False


@step
def _write_down(value, earlier, later, log):
    """Append a merge to the log."""
    t = log.n_merged[0]
    log.similarity[t], log.earlier[t], log.later[t] = value, earlier, later
    log.n_merged[0] = t + 1


@subroutine
def _search(i, boxes, queue, rule, scratch):
    """List the best partners of box i after its frontier."""
    find_walls(i, rule.theta, boxes, boxes.index.bitmaps, scratch)
    lists, frontier, stamps, search = queue.lists, queue.frontier, queue.stamps, scratch.search
    copy_row(boxes.lower[i], search.low)
    copy_row(boxes.upper[i], search.high)
    label = boxes.labels[i]
    partners, similarities = queue.partners[i], queue.similarities[i]
    value, box = frontier[i, 0], np.int64(frontier[i, 1])
    if rule.everywhere:
        ids, values = scratch.ids, scratch.values
        n_listed = 0
        for s in range(list_similar(label, boxes, rule, search, ids, values)):
            if (
                stamps[ids[s]] < stamps[i]
                and precedes(value, box, values[s], ids[s])
                and fits(boxes, ids[s], search.low, search.high, rule)
            ):
                n_listed = insert(ids[s], values[s], n_listed, partners, similarities)
    else:
        n_listed, _ = find_best(
            *(label, i, value, box, stamps, stamps[i], FITTING),
            *(boxes, rule, scratch, partners, similarities),
        )
    frontier[i, 0] = -1.0
    if n_listed == partners.shape[0]:
        frontier[i, 0], frontier[i, 1] = similarities[n_listed - 1], partners[n_listed - 1]
    while n_listed > 0 and similarities[n_listed - 1] == 0.0:  # pairs of similarity 0 are left out
        n_listed -= 1
    lists[i, LISTED] = n_listed
    lists[i, TAKEN] = 0


@subroutine
def _update(i, queue):
    """Let box i play its matches in the tournament tree again."""
    tree = queue.tree
    node = (tree.shape[0] // 2 + i) // 2
    while node > 0:
        left, right = tree[2 * node], tree[2 * node + 1]
        tree[node] = right if right >= 0 and _beats(right, left, queue) else left
        node //= 2


@formula
def _beats(i, k, queue):
    """Whether the first pair of a box comes before that of another."""
    partners, similarities, lists = queue.partners, queue.similarities, queue.lists
    if lists[i, TAKEN] == lists[i, LISTED]:
        return False
    if lists[k, TAKEN] == lists[k, LISTED]:
        return True
    a, b = partners[i, lists[i, TAKEN]], partners[k, lists[k, TAKEN]]
    value, other = similarities[i, lists[i, TAKEN]], similarities[k, lists[k, TAKEN]]
    if value != other:
        return value > other
    if smaller(i, a) != smaller(k, b):
        return smaller(i, a) < smaller(k, b)
    return larger(i, a) < larger(k, b)


@step
def _blocked(i, k, boxes, queue, rule, scratch):
    """Whether what boxes i and k would become overlaps a box of another class.

    The last one that was in the way of box i is asked first. It may have grown since, which does
    not matter; if it was merged away it no longer counts.
    """
    lower, upper, labels, v, w = boxes.lower, boxes.upper, boxes.labels, scratch.v, scratch.w
    hull(lower[i], upper[i], lower[k], upper[k], v, w)
    label = joint_label(labels[i], labels[k])
    rival = queue.witness[i]
    is_rival = rival >= 0 and boxes.counts[rival] > 0 and labels[rival] != label
    if not (is_rival and overlaps(v, w, boxes, rival, rule.overlap)):
        rival = first_rival(v, w, label, boxes, rule, scratch.search, 0)
    if rival < 0:
        return False
    queue.witness[i] = rival
    wall_in(i, k, rival, boxes, boxes.index.rooms)
    return True


@subroutine
def _reopen(box, boxes, queue, rule, scratch):
    """Before a box merges: those of other classes that it may have been in the way of start again.

    They are not farther away than `theta`, for the box was within reach of theirs.
    """
    lists, frontier, near, search = queue.lists, queue.frontier, scratch.rivals, scratch.search
    if boxes.labels[box] == NO_LABEL:  # it was in nobody's way
        return
    set_window(boxes.upper[box], boxes.lower[box], rule.theta, search.near, search.far)
    n_near = find_rivals(boxes.labels[box], rule.everywhere, boxes, search, near)
    n_near += find(NO_LABEL, False, False, rule.everywhere, boxes, search, near[n_near:])
    for f in range(n_near):
        k = near[f]
        if lists[k, REFUSED]:
            lists[k, REFUSED] = False
            frontier[k, 0], frontier[k, 1] = np.inf, -1.0
            _search(k, boxes, queue, rule, scratch)
            _update(k, queue)
