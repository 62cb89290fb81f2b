"""Boosting: one box at a time is found, weighted and added to the model.

The number of boxes is chosen by samples held out; weights are those of all samples in the end, or
the average of several runs.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hyperboxes._kernels import additive, boosting, partition, quantize
from hyperboxes._kernels.quantize import MISSING
from hyperboxes._kernels.structs import Conditions
from hyperboxes._learning.cells import Bins, LocalSamples, SampleStore, in_batches
from hyperboxes._learning.steps import Threads
from hyperboxes._models.hyperboxes import is_closed, list_conditions
from hyperboxes._models.records import AdditiveBoxes

# What is searched, how votes are corrected and when it ends is described in `docs/definitions.md`;
# `tests/reference_boosting.py` is the same in slow NumPy.

_MOST_FOR_ENDS = 100_000  # samples to fit the ends of a box
_FEWEST_COLUMNS = 4
_MOST_ROUNDS_PER_BOX = 4
_SHARE_DECIMALS = 3  # of samples that meet a condition
_SHARES_WEIGHT = 20  # of the classes' shares, in training samples that lack all features


@dataclass(frozen=True)
class Settings:
    """How boxes are found and vote; see `BoostedHyperboxes` for what is public."""

    max_boxes: int
    max_conditions: int
    learning_rate: float
    subsample: float
    l2: float
    ridge: float  # of all votes, in corrections
    n_draws: int  # to choose a box from
    n_groups: int  # of half of the classes, to start with on each draw
    threshold: float  # below which votes are 0, in corrections
    n_sweeps: int  # of corrections after each box; 0: boxes vote once
    column_share: float
    max_failures: int
    max_drawn: int  # samples for a search, with those that judge
    must_help: bool = True  # on samples that were not drawn
    max_classes: int = 16  # to look for boxes of one
    max_searches: int = 4096  # of a feature for a group, to start a box with on a draw
    n_leaves: int = 0  # boxes that are grown together; 0: one is found at a time


Group = tuple[int, ...]  # classes that a box is to vote for


class FoundBox(NamedTuple):
    """A box found on a draw of the samples."""

    box: boosting.Box
    group: Group
    vote: float
    held_out_gain: float
    gaining: Group  # the classes that are more frequent in it than expected
    scores: np.ndarray  # of a single condition on each of the columns searched


def conditions_of(box: boosting.Box) -> frozenset[tuple]:
    """Return the conditions of a box, to compare boxes by."""
    return frozenset(zip(*(part[box.feature >= 0].tolist() for part in box), strict=True))


@dataclass(eq=False)
class BoostingHistory:
    """The boxes in the order found, and what was voted at each stage: with 0, 1, 2 ... of them.

    `votes` has an item for each stage but the first: what the boxes of that stage vote for each
    class if votes are `corrected`, else what the new box votes. Where votes are corrected, boxes
    are changed, too: `boxes` has a box before and after, `indices` those of each stage but the
    first.
    """

    corrected: bool
    boxes: list[boosting.Box]
    indices: list[list[int]]
    votes: list[np.ndarray]
    intercepts: list[np.ndarray]

    @property
    def n_stages(self) -> int:
        """The number of stages but the first."""
        return len(self.intercepts) - 1

    def indices_at(self, stage: int) -> list[int]:
        """Return the indices of the boxes that voted at a stage."""
        return self.indices[stage - 1] if stage else []

    def votes_at(self, stage: int) -> np.ndarray:
        """Return what each of these boxes voted for each class."""
        if self.corrected and stage:
            return self.votes[stage - 1]
        n_boxes = len(self.indices_at(stage))
        return np.array(self.votes[:n_boxes]).reshape(n_boxes, len(self.intercepts[0]))


class TrainingSets(NamedTuple):
    """Samples for the kernels: those that boxes are found on, and all that votes are fitted to.

    `unit` is how much a weight of 1 is.
    """

    searched: boosting.Samples
    everyone: SampleStore
    unit: float


def gather(
    codes: np.ndarray,
    bins: Bins,
    labels: np.ndarray,
    weights: np.ndarray,
    rows: np.ndarray | None,
    threads: Threads,
) -> TrainingSets:
    """Return the samples for the kernels. Boxes are found on the given rows, None for all."""
    unit = unit_of(total_of(weights))
    n_bins = bins.n_thresholds + 1
    if rows is None:
        samples, _ = merge_equal(codes, n_bins, labels, weights, unit, threads)
        return TrainingSets(samples, LocalSamples(samples, None, threads), unit)
    searched, indices = merge_equal(
        np.ascontiguousarray(codes[:, rows]), n_bins, labels[rows], weights[rows], unit, threads
    )
    counts = np.ones(len(labels), np.int64)
    samples = boosting.Samples(
        codes, n_bins, labels, in_units(weights, unit), counts, np.empty(0, np.uint64)
    )
    return TrainingSets(searched, LocalSamples(samples, rows[indices], threads), unit)


def total_of(weights: np.ndarray) -> float:
    """Return the sum of weights, the same in whatever order they are."""
    if (weights == weights[0]).all():
        return len(weights) * float(weights[0])
    return math.fsum(weights)


def unit_of(total: float) -> float:
    """Return how much a weight of 1 is among whole numbers, given the sum of all weights."""
    return float(2.0 ** min(boosting.UNIT_BITS - int(np.ceil(np.log2(total))), 1000))


def merge_equal(
    codes: np.ndarray,
    n_bins: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    unit: float,
    threads: Threads,
) -> tuple[boosting.Samples, np.ndarray]:
    """Return samples, equal ones as one, and the index of the first that each stands for."""
    keys = np.empty(len(labels), np.uint64)

    def hash_rows(start: int, stop: int) -> None:
        quantize.hash_rows(codes, labels, start, stop, keys)

    in_batches(hash_rows, len(labels), threads)
    counts, first = np.ones(len(labels), np.int64), np.arange(len(labels))
    distinct, indices, members = np.unique(keys, return_index=True, return_inverse=True)
    if len(distinct) < len(keys):
        codes, labels, keys = np.ascontiguousarray(codes[:, indices]), labels[indices], distinct
        counts, weights, first = np.bincount(members), np.bincount(members, weights), indices
    return boosting.Samples(codes, n_bins, labels, in_units(weights, unit), counts, keys), first


def in_units(weights: np.ndarray, unit: float) -> np.ndarray:
    """Return weights as whole numbers."""
    return np.rint(weights * unit).astype(np.int64)


class Booster:
    """One run of boosting over the samples."""

    def __init__(
        self,
        population: TrainingSets,
        n_classes: int,
        settings: Settings,
        random: np.random.RandomState,
        threads: Threads,
    ) -> None:
        self.searched, everyone, self._unit = population
        self.settings = settings
        self._random = random
        self._threads = threads
        self._cells = everyone.new_cells(n_classes)
        masses = self._cells.table.masses
        self._intercepts = np.log(masses[0] / masses.sum())
        self._cells.table.scores[:] = self._intercepts
        self.path = BoostingHistory(settings.n_sweeps > 0, [], [], [], [self._intercepts.copy()])
        self._n_found: list[int] = []
        self._scores = np.zeros(len(self.searched.codes))  # of features, when last looked at
        self._voters: list[int] = []  # the indices of the boxes that vote
        self._set_state()

    def run(self) -> BoostingHistory:
        """Find boxes until there are enough or no more help.

        A box that is found again is not a new one. It deserves a larger vote than the ridge allows,
        so its ridge is lowered; this goes on when there are enough boxes, until a new one is found.
        """
        n_failures = 0
        for _ in range(_MOST_ROUNDS_PER_BOX * self.settings.max_boxes):
            best = max(self._search(), key=lambda found: found.held_out_gain)
            helps = best.held_out_gain > 0.0 or not self.settings.must_help
            if helps and self.path.corrected:
                best = self._fit_ends(best.box, best.group)
            if not helps or best.vote <= 0.0:
                n_failures += 1
                if n_failures == self.settings.max_failures:
                    break
            elif (voter := self._find_known(best.box)) is not None:
                self._n_found[voter] += 1
                self.path.votes[-1] = self._correct(self.path.votes[-1].copy())
                self._end_round()
            elif len(self.path.votes) == self.settings.max_boxes:
                break
            else:
                self._append(best)
                self._change_previous()
        return self.path

    def _search(self) -> list[FoundBox]:
        """Look for boxes of several groups of classes on several draws.

        A box that was found for some classes may hold others that lack probability, too. So a
        second box is sought for all classes that do in the first.
        """
        seeds = [self._seed() for _ in range(self.settings.n_draws)]
        columns = [self._columns() for _ in seeds]
        groups = [self._groups() for _ in seeds]
        draws = list(self._threads.map(self._draw, seeds))
        tasks = [
            (drawn, some, group)
            for drawn, some, starts in zip(draws, columns, groups, strict=True)
            for group in starts
        ]
        found = list(self._threads.map(lambda task: self._find(*task), tasks))
        indices = np.repeat(np.arange(len(draws)), [len(starts) for starts in groups])
        seconds: list[dict[Group, None]] = [{} for _ in draws]
        for index, box in zip(indices, found, strict=True):
            seconds[index][box.gaining] = None
        again = [
            (drawn, some, group)
            for drawn, some, starts, later in zip(draws, columns, groups, seconds, strict=True)
            for group in later
            if group and group not in starts and len(self._intercepts) > 2
        ]
        found += self._threads.map(lambda task: self._find(*task), again)
        searched = [some for _, some, _ in tasks + again]
        for some in searched:  # keep what single conditions were worth
            self._scores[some] = 0.0
        for some, box in zip(searched, found, strict=True):
            self._scores[some] = np.maximum(self._scores[some], box.scores)
        return found

    def _seed(self) -> np.uint64:
        return np.uint64(self._random.randint(1 << 62, dtype=np.int64))

    @property
    def _n_groups(self) -> int:
        """How many groups of classes boxes are sought for on a draw, before those that follow."""
        n_classes = len(self._intercepts)
        if n_classes <= 2:
            return n_classes
        return min(n_classes, self.settings.max_classes) + self.settings.n_groups

    def _columns(self) -> np.ndarray:
        """Draw features to look at: all of them, or as many as the settings allow.

        Where there are too many, half of the draw are those that were worth most when they were
        looked at last.
        """
        n_features = len(self.searched.codes)
        n_wanted = round(self.settings.column_share * n_features)
        n_columns = min(n_wanted, self.settings.max_searches // self._n_groups)
        n_columns = max(n_columns, _FEWEST_COLUMNS)
        if n_columns >= n_features:
            return np.arange(n_features)
        order = self._random.permutation(n_features)
        if n_columns < n_wanted:
            best = np.argsort(-self._scores, kind="stable")[: n_columns // 2]
            best = best[self._scores[best] > 0.0]
            order = np.concatenate([best, order[~np.isin(order, best)]])
        return np.sort(order[:n_columns])

    def _draw(self, seed: np.uint64) -> boosting.Subsample:
        """Draw samples to search and others to judge by."""
        share = self.settings.subsample
        most = min(1.0, self.settings.max_drawn / len(self.searched.labels))
        return self._draw_shares(seed, share * most, (1.0 - share) * most)

    def _draw_shares(self, seed: np.uint64, share: float, other_share: float) -> boosting.Subsample:
        return boosting.draw_samples(
            self.searched, self._searched_cells, self._unit, seed, share, other_share
        )

    def _groups(self) -> list[Group]:
        """Return groups of classes to look for boxes of: single ones, and half of them at random.

        Of many classes, those whose samples lack most probability are the single ones.
        """
        n_classes = len(self._intercepts)
        groups: dict[Group, None] = {(label,): None for label in self._lacking()}
        if n_classes > 2:
            for _ in range(self.settings.n_groups):
                half = self._random.permutation(n_classes)[: (n_classes + 1) // 2]
                groups[tuple(sorted(half.tolist()))] = None
        return list(groups)

    def _lacking(self) -> list[int]:
        """Return the classes whose samples lack most probability."""
        n_classes = len(self._intercepts)
        if n_classes <= self.settings.max_classes:
            return list(range(n_classes))
        missing = boosting.ONE - self._probabilities
        lacking = (self._cells.table.masses * missing).sum(axis=0)
        order = np.argsort(-lacking, kind="stable")
        return np.sort(order[: self.settings.max_classes]).tolist()

    def _fit_ends(self, box: boosting.Box, group: Group) -> FoundBox:
        """Find the ends of a box again on all samples searched, or on many of too many."""
        share = min(1.0, _MOST_FOR_ENDS / len(self.searched.labels))
        seed = self._seed() if share < 1.0 else np.uint64(0)
        drawn = self._draw_shares(seed, share, 0.0)
        columns = np.sort(box.feature[box.feature >= 0])
        return self._find(drawn, columns, group, box)

    def _find(
        self,
        drawn: boosting.Subsample,
        columns: np.ndarray,
        group: Group,
        box: boosting.Box | None = None,
    ) -> FoundBox:
        if box is None:  # no conditions yet
            size = self.settings.max_conditions
            first, last = np.zeros(size, np.int64), np.zeros(size, np.int64)
            box = boosting.Box(np.full(size, -1), first, last, np.zeros(size, np.bool_))
        l2 = self.settings.l2 * self._unit * boosting.ONE * boosting.SHARES
        goal = boosting.Goal(self._belongs(group), l2, columns)
        gaining = np.zeros(len(self._intercepts), np.bool_)
        scores = np.zeros(len(columns))
        vote, held_out_gain = boosting.find_box(
            self.searched, drawn, self._probabilities, goal, box, gaining, scores
        )
        return FoundBox(
            box, group, vote, held_out_gain, tuple(np.flatnonzero(gaining).tolist()), scores
        )

    def _belongs(self, group: Group) -> np.ndarray:
        belongs = np.zeros(len(self._intercepts), np.bool_)
        belongs[list(group)] = True
        return belongs

    def _find_known(self, box: boosting.Box) -> int | None:
        """Return which voter is an equal box, if any is and votes are corrected."""
        same = conditions_of(box)
        for voter, index in enumerate(self._voters):
            if conditions_of(self.path.boxes[index]) == same:
                return voter
        return None

    def _append(self, best: FoundBox) -> None:
        """Let a new box vote, and correct what all boxes vote."""
        self.path.boxes.append(best.box)
        self.path.intercepts.append(self._intercepts)
        if self.path.corrected:
            self._cells.add(best.box)
            self._n_found.append(1)
            self._voters.append(len(self.path.boxes) - 1)
            self.path.indices.append(self._voters.copy())
            self.path.votes.append(self._vote_for_group(best))
        else:
            self.path.votes.append(self._vote_for_all(self._cells.split(best.box)))
            self.path.indices.append(list(range(len(self.path.votes))))
        self._end_round()

    def _change_previous(self) -> None:
        """Find the ends of the last box but one again, now that another explains part of it.

        It is sought for the classes that it votes for, by what all other boxes leave to explain. Of
        two classes that gains nothing for half of the time.
        """
        voter = len(self._voters) - 2
        if voter < 0 or len(self._intercepts) == 2:
            return
        table = self.path.votes[-1]
        group = tuple(np.flatnonzero(table[voter] > 0.0).tolist())
        if not 0 < len(group) < len(self._intercepts):
            return
        self._set_state(self._cells.add_up(self._intercepts, table, but=voter))
        box = boosting.Box(*(part.copy() for part in self.path.boxes[self._voters[voter]]))
        changed = self._fit_ends(box, group)
        if changed.vote > 0.0 and self._find_known(changed.box) is None:
            self._replace(voter, changed.box)
        else:
            self._set_state()

    def _replace(self, voter: int, box: boosting.Box) -> None:
        """Let a box vote instead of another, and correct what all boxes vote."""
        table = self.path.votes[-1].copy()
        self._cells.replace(voter, box)
        self._cells.table.scores[:] = self._cells.add_up(self._intercepts, table)
        self.path.boxes.append(box)
        self._voters[voter] = len(self.path.boxes) - 1
        self.path.indices[-1] = self._voters.copy()
        self.path.votes[-1] = self._correct(table)
        self._end_round()

    def _vote_for_group(self, best: FoundBox) -> np.ndarray:
        """Add the votes of a box and correct those of all; return them.

        Of two classes the second alone has votes, of either sign.
        """
        n_classes = len(self._intercepts)
        new = self.settings.learning_rate * best.vote * self._belongs(best.group)
        if n_classes == 2:
            new = np.array([0.0, new[1] - new[0]])
        self._cells.table.scores[self._cells.members[-1]] += new
        before = self.path.votes[-1] if self.path.votes else np.empty((0, n_classes))
        return self._correct(np.concatenate([before, new[np.newaxis]]))

    def _correct(self, all_votes: np.ndarray) -> np.ndarray:
        """Correct the votes of all boxes, in place; those found more often are held back less."""
        one = self._unit * boosting.ONE
        ridges = self.settings.ridge * one / np.array(self._n_found)
        threshold = self.settings.threshold * one
        voters = additive.Weights(all_votes, ridges, threshold, self._cells.members)
        cells, n_sweeps = self._cells.table, self.settings.n_sweeps
        sweep = additive.make_sweep(cells)
        additive.newton_sweeps(cells, voters, self._intercepts, n_sweeps, sweep)
        return all_votes

    def _vote_for_all(self, inside: np.ndarray) -> np.ndarray:
        """Let a box vote for each class; return its votes."""
        new = np.empty(len(self._intercepts))
        l2, rate = self.settings.l2 * self._unit * boosting.ONE, self.settings.learning_rate
        cells, sweep = self._cells.table, additive.make_sweep(self._cells.table)
        additive.vote_for_all(cells, inside, l2, rate, new, self._intercepts, sweep)
        return new

    def _end_round(self) -> None:
        self.path.intercepts[-1] = self._intercepts.copy()
        self._set_state()

    def _set_state(self, scores: np.ndarray | None = None) -> None:
        """Let boxes be sought by what the scores leave to explain, those of all boxes if None."""
        scores = self._cells.table.scores if scores is None else scores
        self._probabilities = np.empty(scores.shape, np.int64)
        additive.set_probabilities(scores, np.empty(scores.shape[1]), self._probabilities)
        self._searched_cells = self._cells.of_searched


class PartitionBooster:
    """One run of boosting that divides the samples into many boxes at a time.

    The boxes of a partition are grown on a draw of the samples for half of the classes. All samples
    weight them for all classes. Those that do not help on samples not drawn are left out.
    """

    def __init__(
        self,
        population: TrainingSets,
        n_classes: int,
        settings: Settings,
        random: np.random.RandomState,
        threads: Threads,
    ) -> None:
        samples, everyone, self._unit = population
        self._samples, self._settings = samples, settings
        self._random, self._threads = random, threads
        n_features, n_samples = samples.codes.shape
        masses = everyone.new_cells(n_classes).table.masses[0]
        self._scale = math.ldexp(1.0, 26 - math.frexp(float(masses.sum()))[1])
        self._probabilities = np.tile(masses / masses.sum(), (n_samples, 1))
        self._intercepts = np.log(self._probabilities[0])
        self.path = BoostingHistory(False, [], [], [], [self._intercepts])
        self._has_missing = (samples.codes == MISSING).any(axis=1)
        self._boxes = np.empty(n_samples, np.int32)
        kinds = np.uint32, np.int64, np.uint8
        self._drawn = partition.DrawnSamples._make(np.empty(n_samples, kind) for kind in kinds)
        n_nodes, n_columns = 2 * settings.n_leaves, min(n_features, settings.max_searches // 16)
        numbers = [np.zeros(n_nodes, np.int64) for _ in range(8)]
        self._nodes = partition.Nodes._make(
            [
                *numbers,
                np.zeros(n_nodes),
                np.zeros(n_nodes, np.bool_),
                np.zeros((n_nodes, min(settings.max_conditions, n_features), 4), np.int64),
                np.empty((n_nodes, -(-n_columns // 4) * 4, 256), np.int64),
            ]
        )
        self._n_columns = n_columns

    def run(self) -> BoostingHistory:
        """Add partitions until there are enough boxes or no more help."""
        settings, n_failures = self._settings, 0
        for _ in range(_MOST_ROUNDS_PER_BOX * -(-settings.max_boxes // settings.n_leaves)):
            n_leaves = min(settings.n_leaves, settings.max_boxes - len(self.path.boxes))
            if n_leaves < 2 or n_failures == settings.max_failures:
                break
            n_failures += not self._add_boxes(self._grow(n_leaves))
        return self.path

    def _grow(self, n_leaves: int) -> int:
        """Divide a draw of the samples into boxes of half of the classes; return their number."""
        n_classes, share = len(self._intercepts), self._settings.subsample
        belongs = np.zeros(n_classes)
        belongs[self._random.permutation(n_classes)[: (n_classes + 1) // 2]] = 1.0
        seed = np.uint64(self._random.randint(1 << 62, dtype=np.int64))
        samples, drawn = self._samples, self._drawn
        columns = np.sort(self._random.permutation(len(samples.codes))[: self._n_columns])
        columns = np.resize(columns, self._nodes.bins.shape[1])  # some twice
        n_drawn = partition.draw(
            samples, self._unit, seed, share, self._scale, self._probabilities, belongs, drawn
        )
        l2 = self._settings.l2 * self._unit * boosting.SHARES * self._scale
        nodes = self._nodes
        return int(
            partition.grow(samples, self._has_missing, drawn, n_drawn, columns, l2, n_leaves, nodes)
        )

    def _add_boxes(self, n_boxes: int) -> bool:
        """Weight the boxes of a partition and add those that help; return whether any does."""
        settings, n_classes = self._settings, len(self._intercepts)

        def add_up(start: int, stop: int) -> np.ndarray:
            sums = np.zeros((2, n_boxes, 2, n_classes), np.int64)
            shares, p, boxes = self._drawn.shares, self._probabilities, self._boxes
            partition.sum_boxes(self._samples, self._nodes, shares, p, start, stop, boxes, *sums)
            return sums

        one, n_samples = self._unit * boosting.ONE, len(self._boxes)
        g, h = np.sum(in_batches(add_up, n_samples, self._threads), axis=0) / one
        found = g[:, 0] / (h[:, 0] + settings.l2)
        gains = (found * g[:, 1] - 0.5 * found**2 * h[:, 1]).sum(axis=1)
        rate = settings.learning_rate * (1.0 - 1.0 / n_classes)
        weights = np.clip(rate * g.sum(axis=1) / (h.sum(axis=1) + settings.l2), -1.0, 1.0)
        helps = (gains > 0.0) | (not settings.must_help)
        weights[~helps] = 0.0
        if n_boxes < 2 or not weights.any():
            return False
        factors = np.exp(weights)

        def update(start: int, stop: int) -> None:
            partition.update(self._boxes, factors, start, stop, self._probabilities)

        in_batches(update, n_samples, self._threads)
        leaves = np.flatnonzero(self._nodes.parts[: 2 * n_boxes - 1] == 0)
        for conditions, row in zip(self._nodes.conditions[leaves], weights, strict=True):
            if row.any():
                feature, first, last, missing = conditions.T.copy()
                self.path.boxes.append(boosting.Box(feature, first, last, missing > 0))
                self.path.votes.append(row)
        self.path.indices.append(list(range(len(self.path.boxes))))
        self.path.intercepts.append(self._intercepts)
        return True


# Thresholds and boxes are found on as many samples; more would not move them visibly. Votes are
# fitted to all.
MAX_SEARCHED = 200_000
MAX_DIVIDED = 500_000  # samples to divide into boxes, which are weighted by these alone


class Training(NamedTuple):
    """What to learn from: labels are indices of classes, weights are positive.

    `total` is the number of samples by their weights, without those of classes.
    """

    X: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    n_classes: int
    total: float


class BoostingRun(NamedTuple):
    """A run of boosting in the data's units, for models of fewer boxes."""

    conditions: Conditions
    path: BoostingHistory


# A model, the average of its runs as one list of boxes, and these runs.
BoostedModel = tuple[AdditiveBoxes, list[BoostingRun]]


def fit_boosted(
    training: Training, settings: Settings, n_bags: int, random: np.random.RandomState, n_jobs: int
) -> BoostedModel:
    """Boost boxes `n_bags` times and average the scores."""
    with Threads(n_jobs) as threads:
        X, labels, weights, n_classes, _ = training
        rows = draw_rows(len(X), random, most_searched(settings))
        unequal = None if (weights == weights[0]).all() else weights
        bins = Bins.learn(X, unequal, slice(None) if rows is None else rows, threads)
        population = gather(bins.encode(X, threads), bins, labels, weights, rows, threads)
        return boost(population, bins, n_classes, settings, n_bags, random, threads, len(X))


def boost(
    population: TrainingSets,
    bins: Bins,
    n_classes: int,
    settings: Settings,
    n_bags: int,
    random: np.random.RandomState,
    threads: Threads,
    n_samples: int,
) -> BoostedModel:
    """Boost boxes of samples in bins `n_bags` times; `n_samples` is how many there are."""
    booster = PartitionBooster if settings.n_leaves else Booster
    start = population, n_classes, settings, random, threads
    paths = [booster(*start).run() for _ in range(n_bags)]
    boxes, table = join(paths)
    weights = signed(table)
    class_counts = population.everyone.count_classes(boxes, n_classes)
    searched = population.searched
    lower, upper, missing_shares = in_data_units(boxes, bins, searched)
    constrains: np.ndarray = is_closed(lower, upper, missing_shares)
    counts = class_counts.sum(axis=1)
    model = AdditiveBoxes(
        lower=lower,
        upper=upper,
        missing_shares=missing_shares,
        weights=weights,
        intercept=signed(np.mean([path.intercepts[-1] for path in paths], axis=0)),
        missing_scores=signed(
            _missing_scores(population, np.exp(paths[0].intercepts[0]), constrains.any(axis=0))
        ),
        labels=weights.argmax(axis=1),
        counts=counts,
        class_counts=class_counts,
        feature_importances=_importances(weights, constrains, counts / n_samples),
    )
    return model, [
        BoostingRun(list_conditions(*in_data_units(path.boxes, bins, searched)), path)
        for path in paths
    ]


def _missing_scores(population: TrainingSets, shares: np.ndarray, used: Any) -> np.ndarray:
    """Return the scores of samples that lack all features used, for the classes' shares.

    Training samples of that kind count as well, because what is missing may depend on the class.
    """
    samples, unit = population.searched, population.unit
    lacking = (samples.codes[used] == MISSING).all(axis=0)
    masses = np.bincount(samples.labels[lacking], samples.weights[lacking], len(shares))
    # A class may have less than a unit, of which there are many in the weight of a sample.
    wanted = masses + _SHARES_WEIGHT * unit * shares + 1.0
    scores: np.ndarray = np.log(wanted / wanted.sum())
    return scores


def _importances(weights: np.ndarray, constrains: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return how much of the scores' spread over the training samples is due to each feature.

    The spread of a box's weights is shared evenly among the features that it constrains. `share` is
    the share of the samples in each box.
    """
    spread = np.abs(weights).sum(axis=1) * np.sqrt(share * (1.0 - share))
    total = (spread / np.maximum(constrains.sum(axis=1), 1)) @ constrains
    return total / total.sum() if total.any() else total


def most_searched(settings: Settings) -> int:
    """Return on how many samples thresholds and boxes are found."""
    return MAX_DIVIDED if settings.n_leaves else MAX_SEARCHED


def draw_rows(n_samples: int, random: np.random.RandomState, most: int) -> np.ndarray | None:
    """Return samples to find thresholds and boxes on, None for all."""
    seed = random.randint(1 << 31)
    if n_samples <= most:
        return None
    rows = np.random.default_rng(seed).choice(n_samples, most, replace=False)
    return np.sort(rows)


def join(paths: list[BoostingHistory]) -> tuple[list[boosting.Box], np.ndarray]:
    """Average the votes of several paths; equal boxes become one, those without a vote none."""
    boxes: dict[frozenset[tuple], boosting.Box] = {}
    table: dict[frozenset[tuple], np.ndarray] = {}
    for path in paths:
        last = path.n_stages
        for index, row in zip(path.indices_at(last), path.votes_at(last), strict=True):
            if row.any():
                key = conditions_of(path.boxes[index])
                boxes.setdefault(key, path.boxes[index])
                table[key] = table.get(key, 0.0) + row / len(paths)
    n_classes = len(paths[0].intercepts[0])
    return list(boxes.values()), np.array(list(table.values())).reshape(-1, n_classes)


def signed(scores: np.ndarray) -> np.ndarray:
    """Give two classes one signed score: what is positive counts for its class, the other gets 0.

    Scores of more classes stay as they are.
    """
    if scores.shape[-1] != 2:
        return scores
    difference = scores[..., 1] - scores[..., 0]
    return np.stack([np.maximum(-difference, 0.0), np.maximum(difference, 0.0)], axis=-1)


def in_data_units(
    boxes: list[boosting.Box], bins: Bins, samples: boosting.Samples
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return lower and upper ends, and how far NaN is let in, of each box and feature.

    If no sample lacks a feature, NaN is let in by the share of the samples that are.
    """
    n_features = len(bins.n_thresholds)
    shape = len(boxes), n_features
    lower, upper, missing_shares = np.full(shape, -np.inf), np.full(shape, np.inf), np.ones(shape)
    if not boxes:
        return lower, upper, missing_shares
    features, *others = (np.array(parts) for parts in zip(*boxes, strict=True))
    at = np.nonzero(features >= 0)
    feature = features[at]
    first, last, missing = (parts[at] for parts in others)
    masses = samples.weights.astype(np.float64)
    below = np.zeros((n_features, MISSING + 2))  # the mass of the samples in the bins below each
    for j in np.unique(feature):
        below[j, 1:] = np.bincount(samples.codes[j], masses, MISSING + 1).cumsum()
    shares = (below[feature, last + 1] - below[feature, first]) / masses.sum()
    is_complete = below[feature, MISSING] == below[feature, MISSING + 1]
    where = at[0], feature
    lower[where], upper[where] = bins.lower(feature, first), bins.upper(feature, last)
    missing_shares[where] = np.where(is_complete, np.round(shares, _SHARE_DECIMALS), missing)
    return lower, upper, missing_shares
