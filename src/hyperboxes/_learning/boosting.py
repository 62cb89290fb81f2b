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
    n_groups: int  # of half of the classes, to start with on each draw
    threshold: float  # below which votes are 0, in corrections
    n_sweeps: int  # of corrections after each box; 0: boxes vote once
    column_share: float
    max_failures: int
    must_help: bool = True  # on samples that were not drawn
    max_classes: int = 16  # to look for boxes of one
    max_searches: int = 4096  # of a feature for a group, to start a box with on a draw


Group = tuple[int, ...]  # classes that a box is to vote for


class FoundBox(NamedTuple):
    """A box found on a draw of the samples."""

    box: boosting.Box
    group: Group
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

    `votes` has an item for each box: what all boxes so far vote for each class if votes are
    `corrected`, else what that box votes.
    """

    corrected: bool
    boxes: list[boosting.Box]
    votes: list[np.ndarray]
    intercepts: list[np.ndarray]

    def votes_after(self, n_boxes: int) -> np.ndarray:
        """Return what each of the first boxes voted for each class when there were so many."""
        if self.corrected and n_boxes:
            return self.votes[n_boxes - 1]
        return np.array(self.votes[:n_boxes]).reshape(n_boxes, len(self.intercepts[0]))


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
        self.path = Path(settings.n_sweeps > 0, [], [], [self._intercepts.copy()])
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
            if helps and self.path.corrected:
                best = self._fit_ends(best)
            if not helps or best.vote <= 0.0:
                n_failures += 1
                if n_failures == self.settings.max_failures:
                    break
            elif (place := self._find_known(best.box)) is not None:
                self._n_found[place] += 1
                self.path.votes[-1] = self._correct(self.path.votes[-1].copy())
                self._end_round()
            elif len(self.path.boxes) == self.settings.max_boxes:
                break
            else:
                self._append(best)
        return self.path

    def _search(self) -> list[FoundBox]:
        """Look for boxes of several groups of classes on several draws.

        A box that was found for some classes may hold others that lack probability, too. So a
        second box is sought for all classes that do in the first.
        """
        seeds = [self._seed() for _ in range(self.settings.n_draws)]
        columns = [self._columns() for _ in seeds]
        groups = [self._groups() for _ in seeds]
        draws = list(self._pool.map(self._draw, seeds))
        tasks = [
            (drawn, some, group)
            for drawn, some, starts in zip(draws, columns, groups, strict=True)
            for group in starts
        ]
        found = list(self._pool.map(lambda task: self._find(*task), tasks))
        if len(self._intercepts) == 2:
            return found
        places = np.repeat(np.arange(len(draws)), [len(starts) for starts in groups])
        seconds: list[dict[Group, None]] = [{} for _ in draws]
        gaining = self._pool.map(self._gaining, [draws[place] for place in places], found)
        for place, group in zip(places, gaining, strict=True):
            seconds[place][group] = None
        again = [
            (drawn, some, group)
            for drawn, some, starts, later in zip(draws, columns, groups, seconds, strict=True)
            for group in later
            if group and group not in starts
        ]
        return found + list(self._pool.map(lambda task: self._find(*task), again))

    def _gaining(self, drawn: boosting.Drawn, found: FoundBox) -> Group:
        """Return the classes that lack probability in a box; none if it has no vote."""
        belongs = np.zeros(len(self._intercepts), np.bool_)
        if found.vote > 0.0:
            boosting.find_group(self.samples, self._state, drawn, found.box, belongs)
        return tuple(np.flatnonzero(belongs).tolist())

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
        """Draw features to look at: all of them, or as many as the settings allow."""
        n_features = len(self.samples.codes)
        n_columns = min(
            round(self.settings.column_share * n_features),
            self.settings.max_searches // self._n_groups,
        )
        n_columns = max(n_columns, _FEWEST_COLUMNS)
        if n_columns >= n_features:
            return np.arange(n_features)
        return np.sort(self._random.permutation(n_features)[:n_columns])

    def _draw(self, seed: np.uint64) -> boosting.Drawn:
        n_samples, share = len(self.samples.labels), self.settings.subsample
        most = min(1.0, _MOST_DRAWN / n_samples)
        return boosting.draw_samples(
            self.samples, self._unit, seed, share * most, (1.0 - share) * most
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
        masses, probabilities = self._table.masses, self._state.probabilities.astype(np.int64)
        lacking = (masses * (boosting.ONE - probabilities)).sum(axis=0)
        order = np.argsort(-lacking, kind="stable")
        return np.sort(order[: self.settings.max_classes]).tolist()

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
        return self._find(drawn, columns, found.group, found.box)

    def _find(
        self,
        drawn: boosting.Drawn,
        columns: np.ndarray,
        group: Group,
        box: boosting.Box | None = None,
    ) -> FoundBox:
        if box is None:
            box = new_box(self.settings.max_conditions)
        l2 = self.settings.l2 * self._unit * boosting.ONE * boosting.SHARES
        goal = boosting.Goal(self._belongs(group), l2, columns)
        vote, worth = boosting.find_box(self.samples, self._state, drawn, goal, box)
        return FoundBox(box, group, vote, worth)

    def _belongs(self, group: Group) -> np.ndarray:
        belongs = np.zeros(len(self._intercepts), np.bool_)
        belongs[list(group)] = True
        return belongs

    def _find_known(self, box: boosting.Box) -> int | None:
        """Return the place of an equal box, if there is one and votes are corrected."""
        if self.path.corrected:
            same = conditions_of(box)
            for place, other in enumerate(self.path.boxes):
                if conditions_of(other) == same:
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
        if self.path.corrected:
            self._n_found.append(1)
            members = np.concatenate([self._members, self._members[:, parents]], axis=1)
            self._members = np.concatenate([members, inside[np.newaxis]])
            self.path.votes.append(self._vote_for_group(best))
        else:
            self.path.votes.append(self._vote_for_all(inside))
        self._end_round()

    def _vote_for_group(self, best: FoundBox) -> np.ndarray:
        """Add the votes of a box and correct those of all; return them.

        Of two classes the second alone has votes, of either sign.
        """
        n_classes = len(self._intercepts)
        new = self.settings.learning_rate * best.vote * self._belongs(best.group)
        if n_classes == 2:
            new = np.array([0.0, new[1] - new[0]])
        self._table.scores[self._members[-1]] += new
        before = self.path.votes[-1] if self.path.votes else np.empty((0, n_classes))
        return self._correct(np.concatenate([before, new[np.newaxis]]))

    def _correct(self, all_votes: np.ndarray) -> np.ndarray:
        """Correct the votes of all boxes, in place; those found more often are held back less."""
        one = self._unit * boosting.ONE
        ridges = self.settings.ridge * one / np.array(self._n_found)
        threshold = self.settings.threshold * one
        voters = votes.Voters(all_votes, ridges, threshold, self._members)
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
        probabilities = np.empty(self._table.scores.shape, np.int32)
        votes.set_probabilities(self._table.scores, probabilities)
        self._state = boosting.State(self._regions, probabilities)
