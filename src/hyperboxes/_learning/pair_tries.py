"""The candidate count of AGGLO-SM in the paper's way, worked out from the merges afterwards."""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels import pair_count
from hyperboxes._kernels.records import MergeLog, Rule
from hyperboxes._models.boxes import WORK_PER_CALL, Boxes


def count_tries(boxes: Boxes, log: MergeLog, rule: Rule) -> int:
    """Return how many pairs of the samples' boxes, and of what became of them, are tried."""
    n_merges = log.n_merged[0]
    similarity, earlier, later = (column[:n_merges] for column in log[1:])
    order = np.lexsort((later, earlier, -similarity))
    ranks = np.empty(n_merges, np.int64)
    ranks[order] = np.arange(n_merges)
    merges = pair_count.Merges(
        similarity[order], earlier[order], later[order], pair_count.rank_matrix(ranks)
    )
    ends = np.empty(len(boxes), np.int64), np.empty(n_merges, np.int64)
    replay = pair_count.Replay(earlier, later, *ends)
    pair_count.find_lifetimes(replay)
    state = np.zeros(3, np.int64)
    is_done = False
    while not is_done:
        boxes.make_room_in_trees()
        is_done = pair_count.count_tries(
            *(boxes.arrays, state, replay, merges, rule, boxes.make_scratch()),
            *(boxes.relabels, WORK_PER_CALL),
        )
    return int(state[pair_count.TRIED])
