"""AGGLO-2 and AGGLO-SM as jobs that are done in slices, so that others can look on."""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels import agglomerative, geometry, pair_count, pair_queue
from hyperboxes._models.boxes import Boxes, Samples

# How many partners of a box are kept at hand: more cost memory, fewer cost searches.
SHORTLIST = 16

# Theta, gamma, the least value of a candidate, and whether to look everywhere.
Rule = tuple[float, np.ndarray, float, bool]


class Agglo2:
    """Visit the boxes in turn and merge each with the most similar one that may."""

    def __init__(self, boxes: Boxes, rule: Rule, measure: int, overlap: int) -> None:
        self._boxes = boxes
        self._walk = np.zeros(2, np.int64)
        self._how = rule, measure, overlap

    def step(self, work: int) -> bool:
        """Do a slice of the work; return whether it was the last."""
        self._boxes.tidy()
        return agglomerative.merge_in_turn(self._boxes.arrays, self._walk, *self._how, work)

    def count(self, samples: Samples, rule: Rule, work: int) -> None:
        """Do nothing: candidates are counted as they are tried."""


class AggloSM:
    """Merge the most similar pair of all that may, again and again.

    By the lemma, pairs below its floor are too large together, so the search may leave them out
    whatever selection is to be counted.
    """

    def __init__(self, boxes: Boxes, rule: Rule, measure: int, overlap: int) -> None:
        theta, gamma, floor, everywhere = rule
        n_boxes = len(boxes)
        self._boxes = boxes
        self._queue = pair_queue.make_queue(n_boxes, SHORTLIST)
        self._n_filled = 0
        self._log = (
            np.zeros(1, np.int64),
            np.empty(n_boxes),
            np.empty(n_boxes, np.int64),
            np.empty(n_boxes, np.int64),
        )
        self._rule = theta, gamma, max(floor, 1.0 - theta * gamma.max()), everywhere
        self._measure = measure
        may_part = overlap != geometry.CLOSED or bool(np.isnan(boxes.lower).any())
        self._overlap = overlap, may_part

    def step(self, work: int) -> bool:
        """Do a slice of the work; return whether it was the last."""
        self._boxes.tidy()
        arrays, rule, measure = self._boxes.arrays, self._rule, self._measure
        if self._n_filled < len(self._boxes):
            self._n_filled = pair_queue.fill_queue(
                arrays, self._queue, self._n_filled, rule, measure, work
            )
            return False
        return pair_queue.merge_best_pairs(
            arrays, self._queue, self._log, rule, measure, *self._overlap, work
        )

    def count(self, samples: Samples, rule: Rule, work: int) -> None:
        """Set the candidates to those that the paper's algorithm would have tried with `rule`.

        With the index they are the pairs that were tried.
        """
        if not rule[3]:
            return
        n_merges = self._log[0][0]
        similarity, earlier, later = (column[:n_merges] for column in self._log[1:])
        order = np.lexsort((later, earlier, -similarity))
        ranks = np.empty(n_merges, np.int64)
        ranks[order] = np.arange(n_merges)
        merges = similarity[order], earlier[order], later[order]
        matrix = pair_count.rank_matrix(ranks)
        boxes = Boxes.of_samples(samples, self._boxes.n_classes)
        replay = earlier, later, np.empty(len(boxes), np.int64), np.empty(n_merges, np.int64)
        pair_count.find_lifetimes(*replay)
        arrays, state = boxes.arrays, np.zeros(3, np.int64)
        while not pair_count.count_tries(
            arrays, state, replay, merges, matrix, rule, self._measure, work
        ):
            pass
        self._boxes.n_candidates = int(state[pair_count.TRIED])
