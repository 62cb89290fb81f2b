"""Learning of ensembles: members on replicates of samples and subsets of features.

Pilot members decide how features are sampled; samples that a member was not trained on (out-of-bag)
measure it.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.random import PCG64, RandomState

from hyperboxes._kernels.ensemble import (
    Members,
    round_boxes,
    take_codes,
    take_numbers,
    take_shuffled,
)
from hyperboxes._kernels.quantize import hash_rows
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.box_store import BoxStore
from hyperboxes._models.calibration import fit_vote_calibration, log_votes
from hyperboxes._models.ensemble import VoteSettings, add_up, allocate_codes, pack
from hyperboxes._models.model import BoxModel, Membership
from hyperboxes._models.records import EnsembleMember
from hyperboxes._models.samples import Samples

# Members draw among the replicates of samples. One that stands for a fraction of a weight exists
# for that fraction of the members, and counts by it in out-of-bag measures.


def canonical_order(
    low: np.ndarray, high: np.ndarray, labels: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return the samples sorted by class, codes and weight.

    Draws from them then do not depend on the order in which they come.
    """
    ends = [] if high is low else [*high.T[::-1]]
    return np.lexsort([weights, *ends, *low.T[::-1], labels])


class Replicates(NamedTuple):
    """The rows of the replicated samples, and the weights of replicates, at most 1.

    Without `weights`, all are 1.
    """

    rows: np.ndarray
    weights: np.ndarray | None

    def of(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the codes of replicates, given those of samples; points share one array."""
        copied = np.take(low.T, self.rows, axis=1).T
        return copied, copied if high is low else np.take(high.T, self.rows, axis=1).T


def replicate_by_weight(weights: np.ndarray, order: np.ndarray) -> Replicates:
    """Return each sample as often as its weight, and once more for a fraction that is left.

    Replicates are in the `order` of their samples.
    """
    n_copies = np.ceil(weights)
    weights, n_copies = weights[order], n_copies[order]
    rows = np.repeat(order, n_copies.astype(np.int64))
    has_rest = weights < n_copies
    if not has_rest.any():
        return Replicates(rows, None)
    counted = np.ones(len(rows))
    lasts = np.cumsum(n_copies).astype(np.int64) - 1
    counted[lasts[has_rest]] = (weights - np.floor(weights))[has_rest]
    return Replicates(rows, counted)


# Members are learned on codes, without validation, scale or calibration. Each has a seed and draws
# in a fixed order, so that the threads make no difference.

# How many out-of-bag samples measure the importance of a member's features.
_ENOUGH_FOR_IMPORTANCE = 300


@dataclass(frozen=True, eq=False)
class CodedSamples:
    """Replicates of training samples in codes, and their classes.

    `weights` are at most 1; None if all are 1.
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

    @property
    def ends(self) -> tuple[np.ndarray, ...]:
        """The codes by feature: the least and the largest of intervals, or those of points."""
        return (self.low.T,) if self.high is self.low else (self.low.T, self.high.T)

    def merge_equal(self, rows: np.ndarray, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which rows come first of those that are equal, and how many there are of each."""
        codes = np.empty((len(self.ends), len(features), len(rows)), np.uint8)
        for end, taken in zip(self.ends, codes, strict=True):
            take_codes(end, rows, features, taken)
        keys = np.empty(len(rows), np.uint64)
        labels = self.y[rows].astype(np.int32)
        hash_rows(codes.reshape(-1, len(rows)), labels, 0, len(rows), keys)
        _, first, counts = np.unique(keys, return_index=True, return_counts=True)
        order = np.argsort(first)
        return rows[first[order]], counts[order]


class MemberLearner(NamedTuple):
    """A way to learn the boxes of a member, how memberships are combined, and what is drawn.

    `share` is that of each class's samples. If it `merges`, each sample is a box to begin with, and
    those that are equal are one: else many would stay that meet one of another class.
    """

    learn: Callable[[Samples, BoxModel, FitCallbacks], None]
    membership_function: str
    share: float
    merges: bool


class MemberSample(NamedTuple):
    """What a member is learned from: features in ascending order, and samples in random order."""

    features: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True, eq=False)
class FeatureSampling:
    """How many features a member draws, and which.

    `chances` are those of the features to be drawn first; they sum to 1.
    """

    chances: np.ndarray
    fewest: int
    most: int

    def draw(self, samples: CodedSamples, share: float, random: RandomState) -> MemberSample:
        """Draw features, how many included, then samples class by class, at least one of each.

        Features are those that come first if each comes at random, on average the sooner the
        better its chance. A sample that weighs less than 1 is there for that share of the
        members.
        """
        size = random.randint(self.fewest, self.most + 1)
        times = random.standard_exponential(len(self.chances)) / self.chances
        features = np.argsort(times, kind="stable")[:size]
        weights, rows = samples.weights, []
        is_there = None if weights is None else random.random_sample(len(weights)) < weights
        for of_class in samples.by_class:
            if weights is not None and is_there is not None:
                kept = of_class[is_there[of_class]]
                shares = weights[of_class] / weights[of_class].sum()
                of_class = kept if len(kept) else random.choice(of_class, 1, p=shares)
            of_class = random.permutation(of_class)
            rows.append(of_class[: max(1, int(share * len(of_class) + 0.5))])
        return MemberSample(np.sort(features), random.permutation(np.concatenate(rows)))


class FittedMember(NamedTuple):
    """A member, and how much its votes for the true classes lose by permuting each feature.

    `permutation_losses` are weighted means over out-of-bag samples.
    """

    member: EnsembleMember
    permutation_losses: np.ndarray


class MemberResult(NamedTuple):
    """A member, and its votes on out-of-bag samples."""

    learned: FittedMember
    left_out: np.ndarray
    votes: np.ndarray


def find_importances(members: Iterable[FittedMember], n_features: int) -> np.ndarray:
    """Return the features' mean losses over the members that drew them, as shares of all."""
    permutation_losses, n_members = np.zeros(n_features), np.zeros(n_features)
    for learned in members:
        permutation_losses[learned.member.features] += learned.permutation_losses
        n_members[learned.member.features] += 1
    losses = np.maximum(permutation_losses / np.maximum(n_members, 1), 0.0)
    return losses / losses.sum() if losses.any() else losses


def learn_member(
    samples: CodedSamples,
    sampling: FeatureSampling,
    learner: MemberLearner,
    voting: VoteSettings,
    seed: int,
) -> MemberResult:
    """Draw features and samples, learn a member from them, and measure it out of bag."""
    random = RandomState(PCG64(seed))  # the usual generator takes ten times as long to seed
    draw = sampling.draw(samples, learner.share, random)
    member = _learn_boxes(samples, draw, learner, voting.n_bins)
    is_left_out = np.ones(len(samples.y), bool)
    is_left_out[draw.rows] = False
    left_out = np.flatnonzero(is_left_out)
    alone = member._replace(features=np.arange(len(draw.features)))
    packed = pack([alone], samples.n_classes, voting)
    votes = _count_votes(packed, samples, MemberSample(draw.features, left_out))
    few = random.permutation(len(left_out))[:_ENOUGH_FOR_IMPORTANCE]
    permutation_losses = _permutation_losses(
        packed, samples, MemberSample(draw.features, left_out[few]), votes[few], random
    )
    return MemberResult(FittedMember(member, permutation_losses), left_out, votes)


def _learn_boxes(
    samples: CodedSamples, draw: MemberSample, learner: MemberLearner, n_bins: int
) -> EnsembleMember:
    rows, counts = draw.rows, None
    if learner.merges:
        rows, counts = samples.merge_equal(rows, draw.features)
    drawn = Samples(*_take_numbers(samples, rows, draw.features, n_bins), None, samples.y[rows])
    n_features = len(draw.features)
    membership = Membership(np.ones(n_features), learner.membership_function)
    boxes = BoxStore(n_features, samples.n_classes, capacity=len(rows))
    model = BoxModel(boxes, None, membership)
    drawn = replace(drawn, counts=counts)
    learner.learn(drawn, model, FitCallbacks.none(drawn))
    boxes = model.boxes
    if boxes.labels.min() < 0 or not np.bincount(boxes.labels, minlength=samples.n_classes).all():
        raise ValueError("A member has no box of some class: its estimator is unsupported.")
    lower, upper = np.empty((2, *boxes.lower.shape), np.uint8)
    round_boxes(boxes.lower, boxes.upper, n_bins, lower, upper)
    labels, counts = boxes.labels.copy(), boxes.counts.copy()
    combine: Literal["max", "sum"] = "sum" if membership.is_mean else "max"
    return EnsembleMember(draw.features, lower, upper, labels, counts, combine)


def _take_numbers(
    samples: CodedSamples, rows: np.ndarray, features: np.ndarray, n_bins: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return samples as learners take them; points share one array."""
    xl = np.empty((len(rows), len(features)))
    if len(samples.ends) == 1:
        take_numbers(samples.low.T, None, rows, features, n_bins, xl, None)
        return xl, xl
    xu = np.empty_like(xl)
    take_numbers(*samples.ends, rows, features, n_bins, xl, xu)
    return xl, xu


def _count_votes(member: Members, samples: CodedSamples, sample: MemberSample) -> np.ndarray:
    """Return a member's votes on some samples."""
    codes = []
    for end in samples.ends:
        codes.append(allocate_codes(len(sample.features), len(sample.rows)))
        take_codes(end, sample.rows, sample.features, codes[-1])
    return add_up(member, codes, len(sample.rows), samples.n_classes)


def _permutation_losses(
    member: Members,
    samples: CodedSamples,
    sample: MemberSample,
    votes: np.ndarray,
    random: RandomState,
) -> np.ndarray:
    """Return the losses of votes when the values of each feature in turn are permuted."""
    n_features, n_samples = len(sample.features), len(sample.rows)
    orders = np.array([random.permutation(n_samples) for _ in range(n_features)])
    codes = []
    for end in samples.ends:
        codes.append(allocate_codes(n_features, n_features * n_samples))
        take_shuffled(end, sample.rows, sample.features, orders, codes[-1])
    shuffled_votes = add_up(member, codes, n_features * n_samples, samples.n_classes)
    y, weights = samples.y[sample.rows], samples.counted[sample.rows]
    rows = np.arange(n_samples)
    before = (weights * votes[rows, y]).sum()
    after = shuffled_votes.reshape(n_features, n_samples, samples.n_classes)[:, rows, y]
    total = max(weights.sum(), sys.float_info.min)
    return (before - (weights * after).sum(axis=1)) / total


class OutOfBag(NamedTuple):
    """Votes or probabilities of replicates by the members that did not draw them.

    `copies` are the indices of the replicates, `y` and `weights` their classes and weights.
    """

    copies: np.ndarray
    values: np.ndarray
    y: np.ndarray
    weights: np.ndarray

    def score(self) -> float:
        """Return the share of replicates whose class has the largest value; NaN without any."""
        if not len(self.y):
            return np.nan
        return float(np.average(self.values.argmax(axis=1) == self.y, weights=self.weights))

    def by_sample(self, rows: np.ndarray, n_samples: int) -> np.ndarray:
        """Return the mean values of each sample's replicates; NaN if there are none.

        `rows` are the samples of all replicates.
        """
        rows = rows[self.copies]
        total = np.bincount(rows, self.weights, n_samples)
        found = np.full((n_samples, self.values.shape[1]), np.nan)
        is_known = total > 0
        for c, values in enumerate(self.values.T):
            sums = np.bincount(rows, self.weights * values, n_samples)
            found[is_known, c] = sums[is_known] / total[is_known]
        return found


def collect(
    results: Iterable[MemberResult], samples: CodedSamples
) -> tuple[list[FittedMember], OutOfBag]:
    """Return the members, and the mean of their out-of-bag votes, added in the order of members.

    Votes are added as members come, because those of all members would take much memory.
    """
    members = []
    votes, n_members = np.zeros((len(samples.y), samples.n_classes)), np.zeros(len(samples.y))
    for learned, left_out, member_votes in results:
        members.append(learned)
        votes[left_out] += member_votes
        n_members[left_out] += 1
    known = np.flatnonzero(n_members)
    votes = votes[known] / n_members[known, np.newaxis]
    return members, OutOfBag(known, votes, samples.y[known], samples.counted[known])


# Pilot members of each feature sampling, the samples they draw from, and the share of these: with a
# larger share, few pilot members would be out of bag for a sample.
_N_PILOTS = 40
_MOST_PILOT_SAMPLES = 1250
_SHARE = 0.65

# The share of features' probabilities to be drawn that follows the roots of their importances.
_EARNED = 0.8

# A function that learns a number of members by a feature sampling, with learners that take turns.
Learn = Callable[[CodedSamples, list[MemberLearner], int, FeatureSampling], Iterator[MemberResult]]


def choose_feature_sampling(
    samplings: Sequence[FeatureSampling],
    samples: CodedSamples,
    learner: MemberLearner,
    learn: Learn,
    random: np.random.RandomState,
    *,
    is_weighted: bool,
) -> FeatureSampling:
    """Return the feature sampling whose pilot members do best, the first of equals.

    They give the true classes of out-of-bag samples the largest probabilities. If it is weighted,
    features that help the pilot members of all samplings are drawn more often.
    """
    some = _take_some(samples, random)
    share = min(_SHARE, learner.share * len(samples.y) / len(some.y))
    pilot = [learner._replace(share=share)]
    trials = [collect(learn(some, pilot, _N_PILOTS, sampling), some) for sampling in samplings]
    best = samplings[_find_best([sample for _, sample in trials], some)]
    if not is_weighted:
        return best
    pilots = (pilot for members, _ in trials for pilot in members)
    roots = np.sqrt(find_importances(pilots, len(best.chances)))
    chances = np.full(len(roots), 1.0 / len(roots))
    if roots.any():
        chances = (1.0 - _EARNED) * chances + _EARNED * roots / roots.sum()
    return replace(best, chances=chances)


def _take_some(samples: CodedSamples, random: np.random.RandomState) -> CodedSamples:
    """Return the samples for pilot members: of each class its share, but at least two."""
    share = _MOST_PILOT_SAMPLES / len(samples.y)
    if share >= 1.0:
        return samples
    rows = [
        random.permutation(of_class)[: max(2, int(share * len(of_class) + 0.5))]
        for of_class in samples.by_class
    ]
    return samples.take(np.concatenate(rows), np.arange(samples.low.shape[1]))


def _find_best(trials: Sequence[OutOfBag], samples: CodedSamples) -> int:
    """Return the trial in which the classes of samples in all trials are most probable."""
    logs = np.array([_find_logs(sample, samples) for sample in trials])
    is_known = ~np.isnan(logs).any(axis=0)
    return int((logs[:, is_known] @ samples.counted[is_known]).argmax())


def _find_logs(sample: OutOfBag, samples: CodedSamples) -> np.ndarray:
    """Return the logarithms of the probabilities of the samples' classes; NaN if unknown."""
    found = np.full(len(samples.y), np.nan)
    if len(sample.y):
        weights = np.bincount(samples.y, samples.counted, samples.n_classes)
        shares = weights / weights.sum()
        numbers = fit_vote_calibration(sample.values, sample.y, shares, sample.weights)
        probabilities = numbers.apply(log_votes(sample.values), shares)
        found[sample.copies] = np.log(probabilities[np.arange(len(sample.y)), sample.y])
    return found
