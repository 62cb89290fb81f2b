"""AGGLO-SM (Algorithms 2 and 7): merge the most similar pair of boxes that may merge; repeat.

The paper sorts all pairs anew after each merge. Here each pair belongs to one of its boxes; each
box keeps a short list of the best pairs that are its own, and a tournament tree finds the best pair
of all. Pairs that come after those on its list are searched for when these are used up and none of
another box comes first. A pair is only offered once: under the closed overlap test, boxes only
grow, so a refused pair of unchanged boxes stays refused for ever. Under the paper's test, and where
values are missing, it may become free when a box that was in the way merges; the boxes near it then
start their lists again.

At first a pair belongs to the younger box, for the walls of older ones are known when its partners
are searched. By the similarity between the far faces, boxes that grow only get less similar, and a
pair that was refused or too large stays so. Hence lists still hold when a box merges: a pair is no
more similar than the list says, and is compared once more when its turn comes. By other
similarities (`moves`) the pairs of a box that has changed become its own, and it starts its list
again.

Of a `Queue`, `partners[i]` lists boxes by descending similarity, ties by age; `lists[i]` says how
many they are, how many have been taken, and whether one was refused. `frontier[i]`, a similarity
and a box, is how far down the list reaches: pairs after it are to be searched for. `heads[i]` is
the next pair on the list, or the frontier. `stamps` says to which of two boxes a pair belongs, that
of the larger one, and which is the largest. `tree` holds the winners among the heads, the root at
1. `witness[i]` is a box that was in the way of box i.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.agglomerative import merge
from hyperboxes._kernels.best import FITTING, find_best, insert
from hyperboxes._kernels.geometry import (
    copy_row,
    fits,
    hull,
    larger,
    overlaps,
    similarity,
    smaller,
)
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

# Columns of `heads` and `frontier`.
VALUE, PARTNER = range(2)


def make_queue(n_boxes: int, n_partners: int) -> Queue:
    """Return an empty queue with room for some partners of each box; none has been searched."""
    n_leaves = 1 << (n_boxes - 1).bit_length()
    tree = np.full(2 * n_leaves, -1)
    tree[n_leaves : n_leaves + n_boxes] = np.arange(n_boxes)
    while n_leaves > 1:
        n_leaves //= 2
        tree[n_leaves : 2 * n_leaves] = tree[2 * n_leaves : 4 * n_leaves : 2]
    unknown = np.full((n_boxes, 2), [np.inf, -1.0])
    return Queue(
        np.empty((n_boxes, n_partners), np.int64),
        np.empty((n_boxes, n_partners)),
        np.zeros((n_boxes, 3), np.int64),
        unknown,
        unknown.copy(),
        np.append(np.arange(n_boxes), n_boxes),
        tree,
        np.full(n_boxes, -1),
    )


@kernel
def merge_best_pairs(boxes, queue, log, rule, scratch, moves, may_part, relabels, work):
    """Merge pair after pair; append similarity and places to `log`.

    `moves` says that pairs of a box that has changed become its own; `may_part` that boxes may stop
    overlapping when they grow, so that refused pairs are tried again; `relabels` that there are
    boxes without a label. They are None if not, and the code for that is not even compiled.

    Returns whether no pair is left; or False after `work` comparisons of a block in one dimension,
    when there is no room to relabel a box, when so few boxes are left that the trees should be
    built anew, and when rooms should be kept. Adds the pairs tried to the candidates.
    """
    boxes, queue, log = by_reference(boxes), by_reference(queue), by_reference(log)
    rule, scratch = by_reference(rule), by_reference(scratch)
    counters, lists, stamps = boxes.counters, queue.lists, queue.stamps
    n_boxes, n_features = boxes.lower.shape
    end = counters[WORK] + larger(work // n_features, 1)
    while counters[WORK] < end and counters[ALIVE] > counters[FEW] and has_room(boxes):
        if not begin(boxes, boxes.index.rooms):
            break
        i = queue.tree[1]
        if queue.heads[i, VALUE] <= 0.0:
            return True
        taken = lists[i, TAKEN]
        if taken == lists[i, LISTED]:
            _search(i, boxes, queue, rule, scratch)
            _update(i, queue)
            continue
        k, value = queue.partners[i, taken], queue.similarities[i, taken]
        lists[i, TAKEN] += 1
        is_stale = stamps[k] > stamps[i] or boxes.counts[k] == 0
        is_stale = is_stale or are_parted(i, k, boxes.index, boxes.index.rooms)
        if moves is None and not is_stale:
            is_stale = _is_outdated(i, k, value, boxes, queue, rule, scratch.search)
        if not is_stale:
            counters[CANDIDATES] += 1
            if _blocked(i, k, boxes, queue, rule, scratch):
                lists[i, REFUSED] = is_stale = True
        if is_stale:
            _update(i, queue)
            continue
        earlier, later = smaller(i, k), larger(i, k)
        _write_down(value, earlier, later, log)
        if may_part is not None:
            _reopen(i, boxes, queue, rule, scratch)
            _reopen(k, boxes, queue, rule, scratch)
        merge(earlier, later, boxes, relabels)
        _start_again(later, -1.0, queue)
        if moves is not None:
            stamps[n_boxes] += 1
            stamps[earlier] = stamps[n_boxes]
            _start_again(earlier, np.inf, queue)
    return False


@step
def _is_outdated(i, k, value, boxes, queue, rule, search):
    """Whether a pair taken from a list has become too large, or less similar and goes back to it.

    Pairs after the frontier will be found again.
    """
    partners, similarities, frontier = queue.partners[i], queue.similarities[i], queue.frontier
    copy_row(boxes.lower[i], search.low)
    copy_row(boxes.upper[i], search.high)
    boxes.counters[WORK] += 1
    if not fits(boxes, k, search.low, search.high, rule):
        return True
    new = similarity(search.low, search.high, boxes, k, rule)
    if new == value:
        return False
    is_listed = frontier[i, VALUE] <= 0.0 or precedes(
        new, k, frontier[i, VALUE], np.int64(frontier[i, PARTNER])
    )
    if is_listed and new > 0.0 and new >= rule.floor:
        place = queue.lists[i, TAKEN]
        while place < queue.lists[i, LISTED] and precedes(
            similarities[place], partners[place], new, k
        ):
            partners[place - 1], similarities[place - 1] = partners[place], similarities[place]
            place += 1
        partners[place - 1], similarities[place - 1] = k, new
        queue.lists[i, TAKEN] -= 1
    return True


@step
def _write_down(value, earlier, later, log):
    """Append a merge to the log."""
    t = log.n_merged[0]
    log.similarity[t], log.earlier[t], log.later[t] = value, earlier, later
    log.n_merged[0] = t + 1


@step
def _search(i, boxes, queue, rule, scratch):
    """List the best partners of box i after its frontier."""
    find_walls(i, rule.theta, boxes, boxes.index.bitmaps, scratch)
    lists, frontier, stamps, search = queue.lists, queue.frontier, queue.stamps, scratch.search
    copy_row(boxes.lower[i], search.low)
    copy_row(boxes.upper[i], search.high)
    label = boxes.labels[i]
    partners, similarities = queue.partners[i], queue.similarities[i]
    value, box = frontier[i, VALUE], np.int64(frontier[i, PARTNER])
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
    frontier[i, VALUE] = -1.0
    if n_listed == partners.shape[0]:
        frontier[i, VALUE] = similarities[n_listed - 1]
        frontier[i, PARTNER] = partners[n_listed - 1]
    while n_listed > 0 and similarities[n_listed - 1] == 0.0:  # pairs of similarity 0 are left out
        n_listed -= 1
    lists[i, LISTED] = n_listed
    lists[i, TAKEN] = 0


@subroutine
def _start_again(i, value, queue):
    """Empty the list of box i; pairs of up to a similarity are to be searched for."""
    queue.lists[i, TAKEN] = queue.lists[i, LISTED]
    queue.frontier[i, VALUE], queue.frontier[i, PARTNER] = value, -1.0
    _update(i, queue)


@subroutine
def _update(i, queue):
    """Set the head of box i, and let it play its matches in the tournament tree again."""
    heads, tree, taken = queue.heads, queue.tree, queue.lists[i, TAKEN]
    if taken < queue.lists[i, LISTED]:
        heads[i, VALUE], heads[i, PARTNER] = queue.similarities[i, taken], queue.partners[i, taken]
    else:
        heads[i, VALUE], heads[i, PARTNER] = queue.frontier[i, VALUE], queue.frontier[i, PARTNER]
    node = (tree.shape[0] // 2 + i) // 2
    while node > 0:
        left, right = tree[2 * node], tree[2 * node + 1]
        tree[node] = right if right >= 0 and _beats(right, left, heads) else left
        node //= 2


@formula
def _beats(i, k, heads):
    """Whether the head of a box comes before that of another."""
    if heads[i, VALUE] != heads[k, VALUE]:
        return heads[i, VALUE] > heads[k, VALUE]
    a, b = np.int64(heads[i, PARTNER]), np.int64(heads[k, PARTNER])
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
    lists, near, search = queue.lists, scratch.rivals, scratch.search
    if boxes.labels[box] == NO_LABEL:  # it was in nobody's way
        return
    set_window(boxes.upper[box], boxes.lower[box], rule.theta, search.near, search.far)
    n_near = find_rivals(boxes.labels[box], rule.everywhere, boxes, search, near)
    n_near += find(NO_LABEL, False, False, rule.everywhere, boxes, search, near[n_near:])
    for f in range(n_near):
        k = near[f]
        if lists[k, REFUSED]:
            lists[k, REFUSED] = False
            _start_again(k, np.inf, queue)
