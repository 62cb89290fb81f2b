"""Agglomerative learning: AGGLO-2, AGGLO-SM, and trimming boxes that overlap after a merge.

AGGLO-2 merges each box in turn with its most similar one; AGGLO-SM merges the most similar pair of
all, which a queue finds. The count of tried pairs in the paper's way is worked out from the merges.
"""

from collections import namedtuple

import numpy as np

from hyperboxes._kernels.blocking import (
    add_blocking_bound,
    are_parted,
    begin,
    share_blocking_bounds,
    tighten_free_region,
)
from hyperboxes._kernels.box_index import (
    has_spare_blocks,
    joint_label,
    relabel_box,
    remove_box,
    update_box,
)
from hyperboxes._kernels.candidates import FITTING, choose, find_best, insert, list_similar
from hyperboxes._kernels.geometry import copy_row, fits, hull, larger, overlaps, similarity, smaller
from hyperboxes._kernels.jit import forceinline, inlined, internal, kernel, pass_by_pointer
from hyperboxes._kernels.search import (
    find,
    find_conflicts,
    find_conflicts_by_age,
    first_conflict,
    precedes,
    set_window,
)
from hyperboxes._kernels.structs import ALIVE, BOXES, CANDIDATES, CLOSED, FEW, NO_LABEL, WORK, Queue

# Every sample starts as a box with the index of the sample. A merged box takes one of the two
# indices; the other box is left with a count of 0 and removed from the search.

# State of AGGLO-2: the box to visit next, and whether the pass has merged anything.
VISITED, MERGED = range(2)


@kernel
def merge_in_turn(boxes, walk, growth, scratch, keeps_visited, relabels, work):
    """AGGLO-2: visit box after box, merging each with the most similar one that may; repeat.

    The merged box takes the index of the visited one if `keeps_visited`, else the smaller one.
    `relabels` means that there are boxes without a label, None that there are none.

    Returns whether a whole pass has merged nothing, which is the end; or False after `work`
    comparisons of a block in one dimension, when the arrays are too full to relabel a box, when so
    few boxes are left that the trees should be rebuilt, and when free regions should be made.
    """
    boxes, growth, scratch = (
        pass_by_pointer(boxes),
        pass_by_pointer(growth),
        pass_by_pointer(scratch),
    )
    counters, counts, lower, upper = boxes.counters, boxes.counts, boxes.lower, boxes.upper
    n_boxes, n_features = lower.shape
    end = counters[WORK] + larger(work // n_features, 1)
    while counters[WORK] < end and counters[ALIVE] > counters[FEW] and has_spare_blocks(boxes):
        if not begin(boxes, boxes.index.free_regions):
            break
        if walk[VISITED] == n_boxes:
            if not walk[MERGED]:
                return True
            walk[VISITED] = walk[MERGED] = 0
        i = walk[VISITED]
        walk[VISITED] += 1
        if counts[i] == 0:
            continue
        copy_row(lower[i], scratch.search.low)
        copy_row(upper[i], scratch.search.high)
        k, n_tried = choose(boxes.labels[i], i, boxes, growth, scratch)
        counters[CANDIDATES] += n_tried
        if k >= 0:
            kept = i if keeps_visited else smaller(i, k)
            merge(kept, i + k - kept, boxes, relabels)
            tighten_free_region(kept, growth.theta, boxes, boxes.index.bitmaps, scratch)
            walk[MERGED] = True
    return False


@internal
def merge(kept, gone, boxes, relabels):
    """Merge one box into another, which takes on its label.

    `relabels` is None where all boxes have labels, so that this is not compiled.
    """
    labels, counts = boxes.labels, boxes.counts
    v, w = boxes.lower[kept], boxes.upper[kept]
    hull(v, w, boxes.lower[gone], boxes.upper[gone], v, w)
    if relabels is not None and labels[kept] != joint_label(labels[kept], labels[gone]):
        relabel_box(kept, labels[gone], boxes)
    update_box(kept, boxes)
    counts[kept] += counts[gone]
    counts[gone] = 0
    boxes.confirmed[kept] = larger(boxes.confirmed[gone], boxes.confirmed[kept])
    share_blocking_bounds(kept, gone, boxes.index, boxes.index.free_regions)
    remove_box(gone, boxes)


# The paper sorts all pairs again after each merge. Here each pair belongs to one of its boxes; each
# box keeps a short list of the best pairs that are its own, and a tournament tree finds the best
# pair of all. Pairs that come after those on its list are searched for when these are used up and
# none of another box comes first. A pair is tried only once: under the closed overlap test, boxes
# only grow, so a rejected pair of unchanged boxes stays rejected. Under the paper's test, and where
# values are missing, it may become possible when a conflicting box merges; the boxes near that box
# then start their lists again.
#
# At first a pair belongs to the younger box, because the blocking bounds of older ones are known
# when its partners are searched. By the similarity between the far faces, boxes that grow only get
# less similar, and a pair that was rejected or too large stays so. Hence lists still hold when a
# box merges: a pair is no more similar than in the list, and is compared once more when its turn
# comes. By other similarities (`moves`) the pairs of a box that has changed become its own, and it
# starts its list again.
#
# Of a `Queue`, `partners[i]` lists boxes by descending similarity, ties by age; `lists[i]` is how
# many they are, how many have been taken, and whether one was rejected. `frontier[i]`, a similarity
# and a box, is how far down the list reaches: pairs after it are to be searched for. `heads[i]` is
# the next pair on the list, or the frontier. `stamps` is to which of two boxes a pair belongs,
# that of the larger one, and which is the largest. `tree` holds the winners among the heads, the
# root at 1. `witness[i]` is a box that was in conflict with a merge of box i.

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
def merge_best_pairs(boxes, queue, log, growth, scratch, moves, may_part, relabels, work):
    """Merge pair after pair; append similarity and positions to `log`.

    `moves` means that pairs of a box that has changed become its own; `may_part` that boxes may
    stop overlapping when they grow, so that rejected pairs are tried again; `relabels` that there
    are boxes without a label. They are None if not, and the code for that is not even compiled.

    Returns whether no pair is left; or False after `work` comparisons of a block in one dimension,
    when the arrays are too full to relabel a box, when so few boxes are left that the trees should
    be rebuilt, and when free regions should be made. Adds the pairs tried to the candidates.
    """
    boxes, queue, log = pass_by_pointer(boxes), pass_by_pointer(queue), pass_by_pointer(log)
    growth, scratch = pass_by_pointer(growth), pass_by_pointer(scratch)
    counters, lists, stamps = boxes.counters, queue.lists, queue.stamps
    n_boxes, n_features = boxes.lower.shape
    end = counters[WORK] + larger(work // n_features, 1)
    while counters[WORK] < end and counters[ALIVE] > counters[FEW] and has_spare_blocks(boxes):
        if not begin(boxes, boxes.index.free_regions):
            break
        i = queue.tree[1]
        if queue.heads[i, VALUE] < 0.0:
            return True
        taken = lists[i, TAKEN]
        if taken == lists[i, LISTED]:
            _search(i, boxes, queue, growth, scratch)
            _update(i, queue)
            continue
        k, value = queue.partners[i, taken], queue.similarities[i, taken]
        lists[i, TAKEN] += 1
        is_stale = stamps[k] > stamps[i] or boxes.counts[k] == 0
        is_stale = is_stale or are_parted(i, k, boxes.index, boxes.index.free_regions)
        if moves is None and not is_stale:
            is_stale = _is_outdated(i, k, value, boxes, queue, growth, scratch.search)
        if not is_stale:
            counters[CANDIDATES] += 1
            if _blocked(i, k, boxes, queue, growth, scratch):
                lists[i, REFUSED] = is_stale = True
        if is_stale:
            _update(i, queue)
            continue
        earlier, later = smaller(i, k), larger(i, k)
        _write_down(value, earlier, later, log)
        if may_part is not None:
            _reopen(i, boxes, queue, growth, scratch)
            _reopen(k, boxes, queue, growth, scratch)
        merge(earlier, later, boxes, relabels)
        _start_again(later, -1.0, queue)
        if moves is not None:
            stamps[n_boxes] += 1
            stamps[earlier] = stamps[n_boxes]
            _start_again(earlier, np.inf, queue)
    return False


@inlined
def _is_outdated(i, k, value, boxes, queue, growth, search):
    """Whether a pair taken from a list has become too large, or less similar and goes back to it.

    Pairs after the frontier will be found again.
    """
    partners, similarities, frontier = queue.partners[i], queue.similarities[i], queue.frontier
    copy_row(boxes.lower[i], search.low)
    copy_row(boxes.upper[i], search.high)
    boxes.counters[WORK] += 1
    if not fits(boxes, k, search.low, search.high, growth):
        return True
    new = similarity(search.low, search.high, boxes, k, growth)
    if new == value:
        return False
    is_listed = frontier[i, VALUE] < 0.0 or precedes(
        new, k, frontier[i, VALUE], np.int64(frontier[i, PARTNER])
    )
    if is_listed and new >= growth.floor:
        position = queue.lists[i, TAKEN]
        while position < queue.lists[i, LISTED] and precedes(
            similarities[position], partners[position], new, k
        ):
            partners[position - 1] = partners[position]
            similarities[position - 1] = similarities[position]
            position += 1
        partners[position - 1], similarities[position - 1] = k, new
        queue.lists[i, TAKEN] -= 1
    return True


@inlined
def _write_down(value, earlier, later, log):
    """Append a merge to the log."""
    t = log.n_merged[0]
    log.similarity[t], log.earlier[t], log.later[t] = value, earlier, later
    log.n_merged[0] = t + 1


@inlined
def _search(i, boxes, queue, growth, scratch):
    """List the best partners of box i after its frontier."""
    tighten_free_region(i, growth.theta, boxes, boxes.index.bitmaps, scratch)
    lists, frontier, stamps, search = queue.lists, queue.frontier, queue.stamps, scratch.search
    copy_row(boxes.lower[i], search.low)
    copy_row(boxes.upper[i], search.high)
    label = boxes.labels[i]
    partners, similarities = queue.partners[i], queue.similarities[i]
    value, box = frontier[i, VALUE], np.int64(frontier[i, PARTNER])
    if growth.exhaustive:
        ids, values = scratch.ids, scratch.values
        n_listed = 0
        for s in range(list_similar(label, boxes, growth, search, ids, values)):
            if (
                stamps[ids[s]] < stamps[i]
                and precedes(value, box, values[s], ids[s])
                and fits(boxes, ids[s], search.low, search.high, growth)
            ):
                n_listed = insert(ids[s], values[s], n_listed, partners, similarities)
    else:
        n_listed, _ = find_best(
            *(label, i, value, box, stamps, stamps[i], FITTING),
            *(boxes, growth, scratch, partners, similarities),
        )
    frontier[i, VALUE] = -1.0
    if n_listed == partners.shape[0]:
        frontier[i, VALUE] = similarities[n_listed - 1]
        frontier[i, PARTNER] = partners[n_listed - 1]
    lists[i, LISTED] = n_listed
    lists[i, TAKEN] = 0


@internal
def _start_again(i, value, queue):
    """Empty the list of box i; pairs of up to a similarity are to be searched for."""
    queue.lists[i, TAKEN] = queue.lists[i, LISTED]
    queue.frontier[i, VALUE], queue.frontier[i, PARTNER] = value, -1.0
    _update(i, queue)


@internal
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
        tree[node] = right if right >= 0 and _pair_beats(right, left, heads) else left
        node //= 2


@forceinline
def _pair_beats(i, k, heads):
    """Whether the head of a box comes before that of another."""
    if heads[i, VALUE] != heads[k, VALUE]:
        return heads[i, VALUE] > heads[k, VALUE]
    a, b = np.int64(heads[i, PARTNER]), np.int64(heads[k, PARTNER])
    if smaller(i, a) != smaller(k, b):
        return smaller(i, a) < smaller(k, b)
    return larger(i, a) < larger(k, b)


@inlined
def _blocked(i, k, boxes, queue, growth, scratch):
    """Whether what boxes i and k would become overlaps a box of another class.

    The last conflicting box of box i is tested first. It may have grown since, which does not
    matter; if it was merged into another it no longer counts.
    """
    lower, upper, labels, v, w = boxes.lower, boxes.upper, boxes.labels, scratch.v, scratch.w
    hull(lower[i], upper[i], lower[k], upper[k], v, w)
    label = joint_label(labels[i], labels[k])
    rival = queue.witness[i]
    is_rival = rival >= 0 and boxes.counts[rival] > 0 and labels[rival] != label
    if not (is_rival and overlaps(v, w, boxes, rival, growth.overlap)):
        rival = first_conflict(v, w, label, boxes, growth, scratch.search, 0)
    if rival < 0:
        return False
    queue.witness[i] = rival
    add_blocking_bound(i, k, rival, boxes, boxes.index.free_regions)
    return True


@internal
def _reopen(box, boxes, queue, growth, scratch):
    """Before a box merges, restart the lists of boxes that it may have been in conflict with.

    They are not farther away than `theta`, for the box was within reach of theirs.
    """
    lists, near, search = queue.lists, scratch.conflicts, scratch.search
    if boxes.labels[box] == NO_LABEL:  # it was in conflict with none
        return
    set_window(boxes.upper[box], boxes.lower[box], growth.theta, search.near, search.far)
    n_near = find_conflicts(boxes.labels[box], growth.exhaustive, boxes, search, near)
    n_near += find(NO_LABEL, False, False, growth.exhaustive, boxes, search, near[n_near:])
    for f in range(n_near):
        k = near[f]
        if lists[k, REFUSED]:
            lists[k, REFUSED] = False
            _start_again(k, np.inf, queue)


# After each merge the paper sorts all pairs and tries them from the top again, so a pair is tried
# as often as merges happen below it in the order while both of its boxes keep their shape. Knowing
# all merges, each pair's tries follow from the two spans of time in which its boxes had their
# shape: how many merges in both spans come at or after the pair in the order? A wavelet matrix over
# the merges' ranks answers that in logarithmic time, and no pair is ever stored.
#
# `Merges` are sorted in the paper's order; `matrix` is the wavelet matrix of their ranks in order
# of time. Time runs from 0; merge t is chosen at t. A box that merge t makes lives from t + 1, one
# that it uses up to and including t. Only the reproduction of the paper needs this: with the index
# nothing of it is ever compiled.

# All merges in the paper's order, and the matrix of their ranks in order of time.
Merges = namedtuple("Merges", "similarity earlier later matrix")

# All merges in order of time: positions, when the first shape of each box ends, and when the shape
# ends that each merge makes.
Replay = namedtuple("Replay", "earlier later ends ends_of_merged")

# Of the count: the next box to pair with later ones, the next merge to replay, the tries so far.
BOX, MERGE, TRIED = range(3)


def rank_matrix(ranks: np.ndarray) -> np.ndarray:
    """Return the wavelet matrix: per bit, from the highest, the zeros before each position."""
    n_bits = max(1, len(ranks).bit_length())
    zeros = np.zeros((n_bits, len(ranks) + 1), np.int64)
    for level in range(n_bits):
        is_zero = (ranks >> (n_bits - 1 - level)) & 1 == 0
        zeros[level, 1:] = np.cumsum(is_zero)
        ranks = np.concatenate((ranks[is_zero], ranks[~is_zero]))
    return zeros


@kernel
def find_lifetimes(replay):
    """Fill in when the first shape of each box ends, and the shape that each merge makes."""
    replay = pass_by_pointer(replay)
    earlier, later, ends = replay.earlier, replay.later, replay.ends
    n_merges = earlier.shape[0]
    for box in range(ends.shape[0]):
        ends[box] = n_merges + 1
    for t in range(n_merges - 1, -1, -1):
        replay.ends_of_merged[t] = ends[earlier[t]]
        ends[earlier[t]] = ends[later[t]] = t + 1


@kernel
def count_tries(boxes, state, replay, merges, growth, scratch, relabels, work):
    """Count on: the pairs of the samples' boxes, then, merge by merge, those of the merged boxes.

    `boxes` are the samples again, and are merged again as `replay` lists. Returns whether all is
    counted; or False after `work` comparisons of a block in one dimension, and when there is no
    room to relabel a box.
    """
    boxes, replay, merges = pass_by_pointer(boxes), pass_by_pointer(replay), pass_by_pointer(merges)
    growth, scratch = pass_by_pointer(growth), pass_by_pointer(scratch)
    counters, earlier, ends = boxes.counters, replay.earlier, replay.ends
    n_boxes, n_features = boxes.lower.shape
    end = counters[WORK] + larger(work // n_features, 1)
    while state[BOX] < n_boxes and counters[WORK] < end:
        i = state[BOX]
        state[TRIED] += _tries_of_pairs(i, i + 1, 0, boxes, ends, merges, growth, scratch)
        state[BOX] += 1
    while state[MERGE] < earlier.shape[0] and counters[WORK] < end and has_spare_blocks(boxes):
        t = state[MERGE]
        i = earlier[t]
        merge(i, replay.later[t], boxes, relabels)
        ends[i] = replay.ends_of_merged[t]
        state[TRIED] += _tries_of_pairs(i, 0, t + 1, boxes, ends, merges, growth, scratch)
        state[MERGE] += 1
    return state[BOX] == n_boxes and state[MERGE] == earlier.shape[0]


@internal
def _tries_of_pairs(i, least, start, boxes, ends, merges, growth, scratch):
    """Count how often box i is tried with others from number `least` on, and from a time on."""
    ids, values, search = scratch.ids, scratch.values, scratch.search
    copy_row(boxes.lower[i], search.low)
    copy_row(boxes.upper[i], search.high)
    n_similar = list_similar(boxes.labels[i], boxes, growth, search, ids, values)
    tries = 0
    for s in range(n_similar):
        k = ids[s]
        if k >= least and k != i:
            end = smaller(ends[i], ends[k])
            tries += _tries(values[s], smaller(i, k), larger(i, k), start, end, merges)
    return tries


@inlined
def _tries(value, i, k, start, end, merges):
    """Count how often a pair of this similarity is tried between two times."""
    n_merges = merges.similarity.shape[0]
    at_the_end = end > n_merges  # the last round tries all pairs and merges none
    end = smaller(end, n_merges)
    rank = _rank(value, i, k, merges)
    return end - start - _count_less(merges.matrix, start, end, rank) + at_the_end


@inlined
def _rank(value, i, k, merges):
    """Count the merges that come before a pair in the paper's order."""
    similarities, earlier, later = merges.similarity, merges.earlier, merges.later
    low, high = 0, similarities.shape[0]
    while low < high:
        middle = (low + high) // 2
        if similarities[middle] != value:
            precedes = similarities[middle] > value
        elif earlier[middle] != i:
            precedes = earlier[middle] < i
        else:
            precedes = later[middle] < k
        if precedes:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _count_less(matrix, start, end, rank):
    """Count the ranks below `rank` from position `start` to before `end`."""
    n_bits, n = matrix.shape
    less = 0
    for level in range(n_bits):
        zeros = matrix[level]
        if (rank >> (n_bits - 1 - level)) & 1:
            less += zeros[end] - zeros[start]
            start += zeros[n - 1] - zeros[start]
            end += zeros[n - 1] - zeros[end]
        else:
            start = zeros[start]
            end = zeros[end]
    return less


@kernel
def cut_overlaps(boxes, start, growth, scratch, work):
    """Cut boxes from an index on that overlap later boxes of other classes; return where it ended.

    Boxes that contain a single sample or have no label stay as they are, as in learning. It ends
    with the last box or after `work` comparisons of a block in one dimension.
    """
    boxes, growth, scratch = (
        pass_by_pointer(boxes),
        pass_by_pointer(growth),
        pass_by_pointer(scratch),
    )
    counters, counts, conflicts = boxes.counters, boxes.counts, scratch.conflicts
    end = counters[WORK] + larger(work // boxes.lower.shape[1], 1)
    while start < counters[BOXES] and counters[WORK] < end:
        if counts[start] > 1 and boxes.labels[start] != NO_LABEL:
            v, w, label = boxes.lower[start], boxes.upper[start], boxes.labels[start]
            n_conflicts = find_conflicts_by_age(
                v, w, label, growth.exhaustive, boxes, scratch.search, conflicts
            )
            counters[WORK] += n_conflicts
            for r in range(n_conflicts):
                k = conflicts[r]
                if k > start and counts[k] > 1 and overlaps(v, w, boxes, k, growth.overlap):
                    _cut_apart(start, k, boxes, growth)
        start += 1
    return start


@inlined
def _cut_apart(i, k, boxes, growth):
    """Cut a box or the other, if any cut parts them, where that costs the fewest samples."""
    lower, upper, counts = boxes.lower, boxes.upper, boxes.counts
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
        _cut(cut, i + k - cut, side, is_upper, boxes, growth.overlap)


@inlined
def _cut(box, other, j, is_upper, boxes, overlap):
    """Cut a box back to another, or just short of it where they may share no point."""
    lower, upper = boxes.lower, boxes.upper
    if is_upper:
        end = lower[other, j]
        upper[box, j] = np.nextafter(end, -np.inf) if overlap == CLOSED else end
    else:
        end = upper[other, j]
        lower[box, j] = np.nextafter(end, np.inf) if overlap == CLOSED else end
    update_box(box, boxes)
