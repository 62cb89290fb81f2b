"""Learning the members of an ensemble, and what they say of samples that they did not draw.

Members are learned on codes, without a check, a scale or probabilities of their own. Each has a
seed, and draws from it in a fixed order, so that it does not matter which thread learns it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.random import PCG64, RandomState

from hyperboxes._kernels.binning import hash_rows
from hyperboxes._kernels.members import Members
from hyperboxes._models.boxes import Boxes
from hyperboxes._models.ensemble import ask
from hyperboxes._models.members import Member, Voting, pack
from hyperboxes._models.membership import Membership
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Samples

# How many samples that were not drawn tell how important a member's features are.
_ENOUGH_FOR_IMPORTANCE = 300


@dataclass(frozen=True, eq=False)
class CodedSamples:
    """Training samples in codes, and their classes; one that weighs 2 is there twice.

    `weights` are those of copies, at most 1; None if all are 1.
    """

    low: np.ndarray
    high: np.ndarray
    y: np.ndarray
    n_classes: int
    weights: np.ndarray | None = None

    @cached_property
    def by_class(self) -> list[np.ndarray]:
        """The samples of each class."""
        return [np.flatnonzero(self.y == c) for c in range(self.n_classes)]

    @property
    def counted(self) -> np.ndarray:
        """What samples count."""
        return np.ones(len(self.y)) if self.weights is None else self.weights

    def take(self, rows: np.ndarray, features: np.ndarray) -> Self:
        """Return some features of some samples; points still share one array."""
        low = np.take(self.low.T[features], rows, axis=1).T
        high = low
        if self.high is not self.low:
            high = np.take(self.high.T[features], rows, axis=1).T
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, low=low, high=high, y=self.y[rows], weights=weights)

    def merge_equal(self) -> tuple[Self, np.ndarray]:
        """Return the first of equal samples, and how many there are of each."""
        keys = np.empty(len(self.y), np.uint64)
        codes = self.low.T if self.high is self.low else np.concatenate([self.low.T, self.high.T])
        hash_rows(codes, self.y.astype(np.int32), 0, len(keys), keys)
        _, first, counts = np.unique(keys, return_index=True, return_counts=True)
        order = np.argsort(first)
        return self.take(first[order], np.arange(self.low.shape[1])), counts[order]


class MemberLearner(NamedTuple):
    """A way to learn the boxes of a member, how memberships are combined, and what is drawn.

    `share` is that of each class's samples. If it `merges`, each sample is a box to begin with, and
    those that are equal are one: else many would stay that meet one of another class.
    """

    learn: Callable[[Samples, BoxModel], None]
    membership_function: str
    share: float
    merges: bool


class Draw(NamedTuple):
    """What a member is learned from: features in ascending order, and samples in random order."""

    features: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True, eq=False)
class Drawing:
    """How many features a member draws, and which.

    `chances` are those of the features to be drawn first; they sum to 1.
    """

    chances: np.ndarray
    fewest: int
    most: int

    def draw(self, samples: CodedSamples, share: float, random: RandomState) -> Draw:
        """Draw features, how many included, then samples class by class, at least one of each.

        Features are those that come first if each comes at random, on average the sooner the
        better its chance. A sample that weighs less than 1 is there for as many members as that
        says.
        """
        size = random.randint(self.fewest, self.most + 1)
        times = random.standard_exponential(len(self.chances)) / self.chances
        features = np.argsort(times, kind="stable")[:size]
        weights = samples.weights
        is_there = None if weights is None else random.random_sample(len(weights)) < weights
        rows = []
        for of_class in samples.by_class:
            if is_there is not None and weights is not None:
                of_class = _keep(of_class, is_there, weights, random)
            of_class = random.permutation(of_class)
            rows.append(of_class[: max(1, int(share * len(of_class) + 0.5))])
        return Draw(np.sort(features), random.permutation(np.concatenate(rows)))


def _keep(
    rows: np.ndarray, is_there: np.ndarray, weights: np.ndarray, random: RandomState
) -> np.ndarray:
    """Return the samples of a class that are there, or one of them if none is."""
    kept = rows[is_there[rows]]
    if len(kept):
        return kept
    return random.choice(rows, 1, p=weights[rows] / weights[rows].sum())


class Learned(NamedTuple):
    """A member, and what its features are worth to it.

    `drops` is how much less it gave the classes of samples that it did not draw when a feature's
    values were shuffled among these, in the mean of samples, by their weights.
    """

    member: Member
    drops: np.ndarray


class Lesson(NamedTuple):
    """A member, and its votes on the samples that it did not draw."""

    learned: Learned
    left_out: np.ndarray
    votes: np.ndarray


def find_importances(members: Iterable[Learned], n_features: int) -> np.ndarray:
    """Return the features' mean drops over the members that drew them, as shares of all."""
    drops, n_members = np.zeros(n_features), np.zeros(n_features)
    for learned in members:
        drops[learned.member.features] += learned.drops
        n_members[learned.member.features] += 1
    drops = np.maximum(drops / np.maximum(n_members, 1), 0.0)
    return drops / drops.sum() if drops.any() else drops


def learn_member(
    samples: CodedSamples, drawing: Drawing, learner: MemberLearner, voting: Voting, seed: int
) -> Lesson:
    """Draw features and samples, learn them, and ask about the others."""
    random = RandomState(PCG64(seed))  # the usual generator takes ten times as long to seed
    draw = drawing.draw(samples, learner.share, random)
    member = _learn_boxes(samples, draw, learner, voting.levels)
    is_drawn = np.zeros(len(samples.y), bool)
    is_drawn[draw.rows] = True
    left_out = np.flatnonzero(~is_drawn)
    alone = replace(member, features=np.arange(len(draw.features)))
    packed = pack([alone], samples.n_classes, voting)
    asked = samples.take(left_out, draw.features)
    votes = ask(packed, asked.low, asked.high, samples.n_classes)
    few = random.permutation(len(left_out))[:_ENOUGH_FOR_IMPORTANCE]
    asked = asked.take(few, alone.features)
    drops = _find_drops(packed, asked, votes[few], random)
    return Lesson(Learned(member, drops), left_out, votes)


def _learn_boxes(samples: CodedSamples, draw: Draw, learner: MemberLearner, levels: int) -> Member:
    taken = samples.take(draw.rows, draw.features)
    counts = None
    if learner.merges:
        taken, counts = taken.merge_equal()
    low, high = taken.low, taken.high
    is_missing = low > high
    xl = np.where(is_missing, np.nan, low / levels)
    xu = xl if np.array_equal(low, high) else np.where(is_missing, np.nan, high / levels)
    drawn = Samples(xl, xu, None, taken.y, counts=counts)
    membership = Membership(np.ones(xl.shape[1]), learner.membership_function)
    boxes = Boxes(xl.shape[1], samples.n_classes, room=len(xl))
    model = BoxModel(boxes, None, membership)
    learner.learn(drawn, model)
    boxes = model.boxes
    if boxes.labels.min() < 0 or not np.bincount(boxes.labels, minlength=samples.n_classes).all():
        raise ValueError("A member has no box of some class: its learner cannot be one.")
    lower, upper = _round(boxes.lower, boxes.upper, levels)
    is_mean = membership.is_mean
    return Member(draw.features, lower, upper, boxes.labels.copy(), boxes.counts.copy(), is_mean)


def _round(lower: np.ndarray, upper: np.ndarray, levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes that boxes hold; those of features that they know nothing of are all.

    Where boxes were parted between two codes, each keeps those on its side; one between two codes
    keeps the nearer.
    """
    low, high = np.ceil(levels * lower - 1e-6), np.floor(levels * upper + 1e-6)
    if (between := low > high).any():
        low[between] = high[between] = np.rint(levels * (lower + upper) / 2)[between]
    if (unknown := np.isnan(lower)).any():
        low[unknown], high[unknown] = 0, levels
    return low.astype(np.uint8), high.astype(np.uint8)


def _find_drops(
    member: Members, asked: CodedSamples, votes: np.ndarray, random: RandomState
) -> np.ndarray:
    """Ask again about the samples with the values of one feature shuffled, of each in turn."""
    low, high, y = asked.low, asked.high, asked.y
    rows, weights = np.arange(len(y)), asked.counted
    total = max(weights.sum(), sys.float_info.min)
    before = (weights * votes[rows, y]).sum()
    orders = [random.permutation(len(y)) for _ in range(low.shape[1])]
    shuffled = [_shuffle(end, orders) for end in (low, high)[: 1 if low is high else 2]]
    said = ask(member, shuffled[0], shuffled[-1], asked.n_classes)
    after = said[np.arange(len(said)), np.tile(y, len(orders))].reshape(len(orders), len(y))
    return (before - (weights * after).sum(axis=1)) / total


def _shuffle(codes: np.ndarray, orders: list[np.ndarray]) -> np.ndarray:
    """Return the samples once for each feature, its codes in another order."""
    shuffled = np.tile(codes.T[:, np.newaxis], (1, len(orders), 1))
    for j, order in enumerate(orders):
        shuffled[j, j] = codes[order, j]
    return shuffled.reshape(len(orders), len(orders) * len(codes)).T
