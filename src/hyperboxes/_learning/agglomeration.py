"""Agglomerative learning in slices of work, and the candidate count of AGGLO-SM in the paper."""

import sys

import numpy as np

from hyperboxes._kernels import agglomerative
from hyperboxes._kernels.structs import CLOSED, LONGEST, GrowthParameters, MergeLog
from hyperboxes._learning.growth_parameters import tracks_free_regions
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.box_store import WORK_PER_CALL, BoxStore
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Samples


def count_tries(boxes: BoxStore, log: MergeLog, growth: GrowthParameters) -> int:
    """Return how many pairs the paper's AGGLO-SM tries, computed from the merges afterwards."""
    n_merges = log.n_merged[0]
    similarity, earlier, later = (column[:n_merges] for column in log[1:])
    order = np.lexsort((later, earlier, -similarity))
    ranks = np.empty(n_merges, np.int64)
    ranks[order] = np.arange(n_merges)
    merges = agglomerative.Merges(
        similarity[order], earlier[order], later[order], agglomerative.rank_matrix(ranks)
    )
    ends = np.empty(len(boxes), np.int64), np.empty(n_merges, np.int64)
    replay = agglomerative.Replay(earlier, later, *ends)
    agglomerative.find_lifetimes(replay)
    state = np.zeros(3, np.int64)
    is_done = False
    while not is_done:
        boxes.reserve_blocks()
        is_done = agglomerative.count_tries(
            *(boxes.arrays, state, replay, merges, growth, boxes.make_scratch()),
            *(boxes.relabels, WORK_PER_CALL),
        )
    return int(state[agglomerative.TRIED])


# How many partners of a box are listed. More are in vain, because they are merged with others;
# fewer cost searches, which take longer if they are exhaustive.
SHORTLIST, LONG_LIST = 4, 16


class Agglo2:
    """Visit the boxes in turn and merge each with the most similar one that may.

    The merged box takes the place of the visited one if `keeps_visited`, else the earlier position.
    """

    def __init__(self, boxes: BoxStore, growth: GrowthParameters, keeps_visited: bool) -> None:
        self._boxes = boxes
        self._growth = growth
        self._switches = keeps_visited, boxes.relabels
        self._walk = np.zeros(2, np.int64)

    def step(self, work: int) -> bool:
        """Do a slice of the work; return whether it was the last."""
        boxes = self._boxes
        boxes.rebuild_if_sparse()
        scratch = boxes.make_scratch()
        return agglomerative.merge_in_turn(
            boxes.learnable, self._walk, self._growth, scratch, *self._switches, work
        )

    def count(self, samples: Samples) -> None:
        """Do nothing: candidates are counted as they are tried."""


class AggloSM:
    """Merge the most similar pair of all that may, again and again.

    By the lemma, pairs below its floor are too large together, so the search may leave them out
    whatever selection is to be counted. Those of similarity 0 are then not counted either.
    """

    def __init__(self, boxes: BoxStore, growth: GrowthParameters, lemma_floor: float) -> None:
        n_boxes = len(boxes)
        if lemma_floor > 0.0:
            growth = growth._replace(floor=max(growth.floor, sys.float_info.min))
        self._boxes = boxes
        self._growth = growth
        self._search_growth = growth._replace(floor=max(growth.floor, lemma_floor))
        n_partners = LONG_LIST if growth.exhaustive else SHORTLIST
        self._queue = agglomerative.make_queue(n_boxes, n_partners)
        self._log = MergeLog(
            np.zeros(1, np.int64),
            np.empty(n_boxes),
            np.empty(n_boxes, np.int64),
            np.empty(n_boxes, np.int64),
        )
        may_part = growth.overlap != CLOSED or bool(np.isnan(boxes.lower).any())
        moves = may_part or bool(boxes.relabels) or growth.order_by != LONGEST
        self._switches = moves or None, may_part or None, boxes.relabels

    def step(self, work: int) -> bool:
        """Do a slice of the work; return whether it was the last."""
        boxes = self._boxes
        boxes.rebuild_if_sparse()
        state = boxes.learnable, self._queue, self._log, self._search_growth, boxes.make_scratch()
        return agglomerative.merge_best_pairs(*state, *self._switches, work)

    def count(self, samples: Samples) -> None:
        """Set the candidates to those that the paper's algorithm would have tried.

        With the index they are the pairs that were tried.
        """
        if self._growth.exhaustive:
            again = BoxStore.of_samples(samples, self._boxes.n_classes)
            self._boxes.n_candidates = count_tries(again, self._log, self._growth)


def make_job(
    algorithm: str,
    boxes: BoxStore,
    growth: GrowthParameters,
    lemma_floor: float,
    *,
    at_once: bool = False,
) -> Agglo2 | AggloSM:
    """Return the merging of boxes by an algorithm, to be done step by step.

    Free regions are tracked `at_once`, or after some rejections.
    """
    boxes.track_free_regions(tracks_free_regions(growth), at_once=at_once)
    if algorithm == "agglo-sm":
        return AggloSM(boxes, growth, lemma_floor)
    return Agglo2(boxes, growth, keeps_visited=algorithm == "agglo2-printed")


ALGORITHMS = ("agglo2", "agglo2-printed", "agglo-sm")


def agglomerate_samples(
    samples: Samples,
    model: BoxModel,
    growth: GrowthParameters,
    algorithm: str,
    callbacks: FitCallbacks,
) -> None:
    """Make each sample a box, and merge the boxes."""
    model.boxes = boxes = BoxStore.of_samples(samples, model.boxes.n_classes)
    job = make_job(algorithm, boxes, growth, model.membership.floor(growth.theta))
    callbacks.run(lambda: job.step(WORK_PER_CALL))
    job.count(samples)
    model.boxes = boxes.settled()


def agglomerate_boxes(
    boxes: BoxStore, model: BoxModel, growth: GrowthParameters, algorithm: str
) -> BoxStore:
    """Return the merged boxes of models; most pairs are rejected, because boxes have grown."""
    floor = model.membership.floor(growth.theta)
    job = make_job(algorithm, boxes, growth, floor, at_once=not growth.exhaustive)
    while not job.step(WORK_PER_CALL):
        pass
    return boxes.settled()
