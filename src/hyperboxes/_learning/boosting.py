"""Boosted boxes: each is the best of several found on draws of the samples, then all vote anew.

What is searched, how votes are corrected and when it ends is described in `docs/boosted.md`;
`tests/reference_boosting.py` is the same in slow NumPy.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hyperboxes._kernels import binning, boosting, votes
from hyperboxes._learning.bins import Bins, in_batches

_MOST_DRAWN = 50_000  # samples for a search, with those that judge; more would not tell more
_MOST_FOR_ENDS = 100_000  # samples to fit the ends of a box
_FEWEST_COLUMNS = 4
_MOST_ROUNDS_PER_BOX = 4


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
    n_sweeps: int  # of corrections after each box; 0: boxes vote for all classes once
    column_share: float
    max_failures: int
    must_help: bool = True  # on samples that were not drawn
    max_classes: int = 16  # to look for a box of


class FoundBox(NamedTuple):
    """A box found on a draw of the samples."""

    box: boosting.Box
    label: int
    vote: float
    worth: float


def new_box(size: int) -> boosting.Box:
    """Return a box with room for conditions and none yet."""
    first, last = np.zeros(size, np.int64), np.zeros(size, np.int64)
    return boosting.Box(np.full(size, -1), first, last, np.zeros(size, np.bool_))


def conditions_of(box: boosting.Box) -> frozenset[tuple]:
    """Return the conditions of a box, to tell whether boxes are equal."""
    return frozenset(zip(*(part[box.feature >= 0].tolist() for part in box), strict=True))


@dataclass(eq=False)
class Path:
    """The boxes in the order found, and what was voted when there were 0, 1, 2 ... of them.

    `votes` has an item for each box. Where a box votes for its class only, in `labels`, it is what
    all boxes so far vote; where `labels` is None, it is what that box votes for each class.
    """

    boxes: list[boosting.Box]
    labels: list[int] | None
    votes: list[np.ndarray]
    intercepts: list[np.ndarray]

    def votes_after(self, n_boxes: int) -> np.ndarray:
        """Return what each of the first boxes voted for each class when there were so many."""
        if self.labels is None:
            return np.array(self.votes[:n_boxes]).reshape(n_boxes, len(self.intercepts[0]))
        table = np.zeros((n_boxes, len(self.intercepts[0])))
        if n_boxes:
            table[np.arange(n_boxes), self.labels[:n_boxes]] = self.votes[n_boxes - 1]
        return table


def prepare(
    codes: np.ndarray, bins: Bins, labels: np.ndarray, weights: np.ndarray, pool: Executor
) -> tuple[boosting.Samples, float]:
    """Return the samples for the kernels, equal ones as one, and how much a weight of 1 is."""
    unit = 2.0 ** min(boosting.UNIT_BITS - int(np.ceil(np.log2(weights.sum()))), 1000)
    keys = np.empty(len(labels), np.uint64)

    def hash_rows(start: int, stop: int) -> None:
        binning.hash_rows(codes, labels, start, stop, keys)

    in_batches(hash_rows, len(labels), pool)
    counts = np.ones(len(labels), np.int64)
    distinct, first, place = np.unique(keys, return_index=True, return_inverse=True)
    if len(distinct) < len(keys):
        codes, labels, keys = np.ascontiguousarray(codes[:, first]), labels[first], distinct
        counts, weights = np.bincount(place), np.bincount(place, weights)
    samples = boosting.Samples(
        codes=codes,
        n_bins=bins.n_thresholds + 1,
        labels=labels,
        weights=np.rint(weights * unit).astype(np.int64),
        counts=counts,
        keys=keys,
    )
    return samples, unit


class Booster:
    """One run of boosting over the samples."""

    def __init__(
        self,
        samples: boosting.Samples,
        unit: float,
        n_classes: int,
        settings: Settings,
        random: np.random.RandomState,
        pool: Executor,
    ) -> None:
        self.samples = samples
        self.settings = settings
        self._random = random
        self._pool = pool
        self._unit = unit
        self._regions = np.zeros(len(samples.labels), np.int32)
        masses = np.zeros((1, n_classes), np.int64)
        votes.add_masses(samples, self._regions, masses)
        self._intercepts = np.log(masses[0] / masses.sum())
        labels: list[int] | None = [] if settings.n_sweeps else None
        self.path = Path([], labels, [], [self._intercepts.copy()])
        self._table = votes.Regions(self._intercepts[np.newaxis].copy(), masses)
        self._members = np.empty((0, 1), np.bool_)
        self._n_found: list[int] = []
        self._set_state()

    def run(self) -> Path:
        """Find boxes until there are enough or no more help.

        A box that is found again is not a new one. It deserves a larger vote than the ridge allows,
        so its ridge is lowered; this goes on when there are enough boxes, until a new one is found.
        """
        n_failures = 0
        for _ in range(_MOST_ROUNDS_PER_BOX * self.settings.max_boxes):
            best = max(self._search(), key=lambda found: found.worth)
            helps = best.worth > 0.0 or not self.settings.must_help
            if helps and self.settings.n_sweeps:
                best = self._fit_ends(best)
            if not helps or best.vote <= 0.0:
                n_failures += 1
                if n_failures == self.settings.max_failures:
                    break
            elif (place := self._find_known(best)) is not None:
                self._n_found[place] += 1
                self.path.votes[-1] = self._correct(self.path.votes[-1].copy())
                self._end_round()
            elif len(self.path.boxes) == self.settings.max_boxes:
                break
            else:
                self._append(best)
        return self.path

    def _search(self) -> list[FoundBox]:
        """Look for boxes of several classes on several draws."""
        seeds = [self._seed() for _ in range(self.settings.n_draws)]
        columns = [self._columns() for _ in seeds]
        labels = self._classes_to_search()
        draws = self._pool.map(self._draw, seeds)
        tasks = [
            (drawn, some, label)
            for drawn, some in zip(draws, columns, strict=True)
            for label in labels
        ]
        return list(self._pool.map(lambda task: self._find(*task), tasks))

    def _seed(self) -> np.uint64:
        return np.uint64(self._random.randint(1 << 62, dtype=np.int64))

    def _columns(self) -> np.ndarray:
        """Draw features to look at; all of them if the settings say so."""
        n_features = len(self.samples.codes)
        n_columns = max(_FEWEST_COLUMNS, round(self.settings.column_share * n_features))
        if n_columns >= n_features:
            return np.arange(n_features)
        return np.sort(self._random.permutation(n_features)[:n_columns])

    def _draw(self, seed: np.uint64) -> boosting.Drawn:
        n_samples, share = len(self.samples.labels), self.settings.subsample
        most = min(1.0, _MOST_DRAWN / n_samples)
        return boosting.draw_samples(
            self.samples, self._unit, seed, share * most, (1.0 - share) * most
        )

    def _classes_to_search(self) -> np.ndarray:
        """Return the classes whose samples lack most probability, if there are many."""
        n_classes = self._table.masses.shape[1]
        if n_classes <= self.settings.max_classes:
            return np.arange(n_classes)
        lacking = self._table.masses * (boosting.ONE - self._state.probabilities.astype(np.int64))
        order = np.argsort(-lacking.sum(axis=0), kind="stable")
        return np.sort(order[: self.settings.max_classes])

    def _fit_ends(self, found: FoundBox) -> FoundBox:
        """Find the ends of a box anew on all samples, or on many if there are too many."""
        n_samples = len(self.samples.labels)
        if n_samples > _MOST_FOR_ENDS:
            share = _MOST_FOR_ENDS / n_samples
            drawn = boosting.draw_samples(self.samples, self._unit, self._seed(), share, 0.0)
        else:
            all_rows = np.arange(n_samples, dtype=np.uint32)
            all_shares = np.full(n_samples, boosting.SHARES, np.uint8)
            drawn = boosting.Drawn(all_rows, all_shares, all_rows[:0], all_shares[:0])
        columns = np.sort(found.box.feature[found.box.feature >= 0])
        return self._find(drawn, columns, found.label, found.box)

    def _find(
        self,
        drawn: boosting.Drawn,
        columns: np.ndarray,
        label: int,
        box: boosting.Box | None = None,
    ) -> FoundBox:
        if box is None:
            box = new_box(self.settings.max_conditions)
        l2 = self.settings.l2 * self._unit * boosting.ONE * boosting.SHARES
        goal = boosting.Goal(label, l2, columns)
        vote, worth = boosting.find_box(self.samples, self._state, drawn, goal, box)
        return FoundBox(box, int(label), vote, worth)

    def _find_known(self, found: FoundBox) -> int | None:
        """Return the place of an equal box that votes for the same class, if there is one."""
        same = conditions_of(found.box)
        for place, label in enumerate(self.path.labels or []):
            if label == found.label and conditions_of(self.path.boxes[place]) == same:
                return place
        return None

    def _append(self, best: FoundBox) -> None:
        """Let a new box vote, and correct what all boxes vote."""
        parents, inside = votes.split_regions(
            self.samples, best.box, self._regions, len(self._table.scores)
        )
        masses = np.zeros((len(inside), self._table.masses.shape[1]), np.int64)
        votes.add_masses(self.samples, self._regions, masses)
        scores = np.concatenate([self._table.scores, self._table.scores[parents]])
        self._table = votes.Regions(scores, masses)
        self.path.boxes.append(best.box)
        self.path.intercepts.append(self._intercepts)
        if self.path.labels is None:
            self.path.votes.append(self._vote_for_all(inside))
        else:
            self.path.labels.append(best.label)
            self._n_found.append(1)
            members = np.concatenate([self._members, self._members[:, parents]], axis=1)
            self._members = np.concatenate([members, inside[np.newaxis]])
            self.path.votes.append(self._vote_for_one(best))
        self._end_round()

    def _vote_for_one(self, best: FoundBox) -> np.ndarray:
        """Add the vote of a box and correct those of all; return them."""
        vote = self.settings.learning_rate * best.vote
        self._table.scores[self._members[-1], best.label] += vote
        before = self.path.votes[-1] if self.path.votes else np.empty(0)
        return self._correct(np.append(before, vote))

    def _correct(self, all_votes: np.ndarray) -> np.ndarray:
        """Correct the votes of all boxes, in place; those found more often are held back less."""
        ridges = self.settings.ridge * self._unit * boosting.ONE / np.array(self._n_found)
        voters = votes.Voters(np.array(self.path.labels), all_votes, ridges, self._members)
        votes.correct(self._table, voters, self._intercepts, self.settings.n_sweeps)
        return all_votes

    def _vote_for_all(self, inside: np.ndarray) -> np.ndarray:
        """Let a box vote for each class; return its votes."""
        new = np.empty(len(self._intercepts))
        l2, rate = self.settings.l2 * self._unit * boosting.ONE, self.settings.learning_rate
        votes.vote_for_all(self._table, inside, l2, rate, new, self._intercepts)
        return new

    def _end_round(self) -> None:
        self.path.intercepts[-1] = self._intercepts.copy()
        self._set_state()

    def _set_state(self) -> None:
        shape = self._table.scores.shape
        tables = np.empty(shape, np.int32), np.empty(shape, np.int32)
        self._state = boosting.State(self._regions, *tables)
        votes.set_state(self._table.scores, self._state)
