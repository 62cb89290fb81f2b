"""How scores become probabilities: both calibrations, and the functions that apply them.

`predict_proba` and the executor call the same functions, because the `exp` and `log` of NumPy and
of compiled code differ in their last digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from hyperboxes._kernels import nearest as nearest_kernels

# The exponents, and the weights of the classes' shares, that are compared.
SLOPES = np.array([0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0, 16.0])
PRIOR_WEIGHTS = np.array([0.01, 0.1, 0.3, 0.6, 0.9])

# The ways to decide that are compared: how many boxes of a class, over which width, in units of the
# typical distance, and with which exponents. More than one box must lower the log-loss by a margin.
N_NEIGHBORS = np.array([1, 2, 5, 10])
WIDTHS = np.array([0.2, 0.8, 3.2])
DOUBLE_SLOPES = 0.5 * 2.0 ** np.arange(6)
_MARGIN = 1.0

# The powers that are compared of the part of the features that samples lack.
POWERS = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0])

# The values assumed before any sample is compared, with the weight of one sample.
_FIRST_SLOPE = 2.0
_FIRST_GAP = 0.05
_FIRST_POWER = 2.0

# The offset of distances, as a part of the typical distance.
_RESOLUTION = 0.2

# In streams every sample is compared at first, then fewer and fewer, and older ones count less.
_EVERY_SAMPLE = 500
FADING = 1.0 - 1.0 / _EVERY_SAMPLE

NEVER = -1

# The power of the part of the features that a sample lacks, as the weight of the classes' shares
# next to the votes of neighbors.
_NEIGHBOR_POWER = 2

# The offset of votes, so that their logarithms are finite.
SMALLEST_VOTE = 0.001

# Votes (samples times classes) to fit a calibration to, and the fewest samples: more do not change
# it visibly.
_MAX_VOTES = 30_000
_MIN_SAMPLES = 1000

# The start of the search for a calibration of votes (power and prior weight as logarithms), the
# first steps, and the limits.
_START = (math.log(1.5), 0.25, math.log(0.03))
_STEPS = (0.5, 0.25, 1.0)
_N_HALVINGS = 4
_SHARE_POWERS = (-1.0, 2.0)
_PRIOR_WEIGHT_LIMITS = (0.002, 0.9)

_Point = tuple[float, ...]


class ClassScores(NamedTuple):
    """What classes are compared by, the first three of shape (n_samples, n_classes).

    Attributes
    ----------
    scores : ndarray
        The closeness of the class's nearest box, or of several together; minus infinity for a class
        without a box.
    tie_counts : ndarray of int
        How many training samples the nearest box, and others at its distance, have absorbed.
    oldest_singleton : ndarray of int
        The oldest of these boxes that has absorbed a single sample, or the number of boxes. With a
        calibration, it counts only if it and the sample have values in all features.
    unknown : ndarray of shape (n_samples,)
        The part of the features in which the sample has no value; 0 where this does not matter.
    """

    scores: np.ndarray
    tie_counts: np.ndarray
    oldest_singleton: np.ndarray
    unknown: np.ndarray


# Nearest boxes.


@dataclass(frozen=True, eq=False)
class DistanceCalibration:
    """How distances become probabilities, from distances of samples that were not yet learned.

    Attributes
    ----------
    losses : ndarray of shape (n_slopes, n_prior_weights)
        The log-loss with each pair of `SLOPES` and `PRIOR_WEIGHTS`, added up over the samples.
    log_gaps, n_gaps : float
        The sum of the logarithms of the distances to the second nearest class, and their number.
    next_update : int
        How many samples are learned before the next one is compared, or `NEVER`.
    power_losses : ndarray of shape (n_powers,)
        The log-loss with each of `POWERS`, added up over copies of samples that lack values.
    decision_losses : ndarray of shape (n_widths, n_numbers, n_slopes, n_prior_weights) or None
        The log-loss with each of `WIDTHS`, `N_NEIGHBORS`, `DOUBLE_SLOPES` and `PRIOR_WEIGHTS`,
        added up over some samples; None if always the nearest box of each class decides.
    """

    losses: np.ndarray
    log_gaps: float
    n_gaps: float
    next_update: int
    power_losses: np.ndarray
    decision_losses: np.ndarray | None = None

    @classmethod
    def start(cls, next_update: int, *, learns_decision: bool = False) -> Self:
        """Return the calibration before any sample."""
        penalties = 0.5 * np.log(SLOPES / _FIRST_SLOPE) ** 2
        losses = np.repeat(penalties[:, np.newaxis], len(PRIOR_WEIGHTS), axis=1)
        power_losses = 0.5 * np.log(POWERS / _FIRST_POWER) ** 2
        decision_losses = None
        if learns_decision:
            shape = len(WIDTHS), len(N_NEIGHBORS), len(DOUBLE_SLOPES), len(PRIOR_WEIGHTS)
            penalties = 0.5 * np.log(DOUBLE_SLOPES / _FIRST_SLOPE) ** 2
            decision_losses = np.broadcast_to(penalties[:, np.newaxis], shape).copy()
        gaps = math.log(_FIRST_GAP), 1.0
        return cls(losses, *gaps, next_update, power_losses, decision_losses)

    @classmethod
    def joined(cls, parts: Sequence[Self], next_update: int) -> Self:
        """Add up several calibrations; their order does not matter."""
        tables = [part.decision_losses for part in parts if part.decision_losses is not None]
        start = cls.start(next_update, learns_decision=len(tables) == len(parts))
        return cls(
            _joined([part.losses for part in parts], start.losses),
            math.fsum([start.log_gaps, *(part.log_gaps - start.log_gaps for part in parts)]),
            math.fsum([start.n_gaps, *(part.n_gaps - start.n_gaps for part in parts)]),
            next_update,
            _joined([part.power_losses for part in parts], start.power_losses),
            None if start.decision_losses is None else _joined(tables, start.decision_losses),
        )

    @cached_property
    def offset(self) -> float:
        """What is added to distances before the logarithm is taken."""
        return _RESOLUTION * math.exp(self.log_gaps / self.n_gaps)

    @property
    def n_neighbors(self) -> int:
        """How many boxes of each class decide."""
        return int(N_NEIGHBORS[self._decision[1]])

    @property
    def width(self) -> float:
        """How much farther than the nearest box another counts e times less, if several decide."""
        return float(self._widths[self._decision[0]])

    @cached_property
    def slope(self) -> float:
        """The power of the distance: the geometric mean of those tried, weighted by likelihood."""
        losses, slopes = self._decided
        return math.exp(float(_weights(losses).sum(axis=1) @ np.log(slopes)))

    @cached_property
    def prior_weight(self) -> float:
        """The weight of the classes' shares: the mean of `PRIOR_WEIGHTS`, weighted likewise."""
        return float(_weights(self._decided[0]).sum(axis=0) @ PRIOR_WEIGHTS)

    @cached_property
    def power(self) -> float:
        """How the weight of the shares grows with the part unknown: the mean as of `slope`."""
        return math.exp(float(_weights(self.power_losses) @ np.log(POWERS)))

    def prior_part(self, unknown: float) -> float:
        """Return the weight of the classes' shares where a part of the features is unknown."""
        return self.prior_weight + (1.0 - self.prior_weight) * unknown**self.power

    @property
    def _widths(self) -> np.ndarray:
        """`WIDTHS` in the unit of distances."""
        return WIDTHS * (self.offset / _RESOLUTION)

    @cached_property
    def _decision(self) -> tuple[int, int]:
        """The positions of the width and the number of boxes with the least log-loss."""
        if self.decision_losses is None:
            return 0, 0
        least = self.decision_losses.min(axis=(2, 3))
        width, number = np.unravel_index(least.argmin(), least.shape)
        is_clear = least[width, number] < least[0, 0] - _MARGIN
        return (int(width), int(number)) if is_clear else (0, 0)

    @property
    def _decided(self) -> tuple[np.ndarray, np.ndarray]:
        """The log-losses with the slopes and prior weights tried, and these slopes."""
        width, number = self._decision
        if number == 0 or self.decision_losses is None:
            return self.losses, SLOPES
        return self.decision_losses[width, number], DOUBLE_SLOPES

    def soften(self, nearest: ClassScores, distances: np.ndarray) -> ClassScores:
        """Return scores by several boxes of each class, whose distances are given in order."""
        scores = np.empty(distances.shape[:2])
        nearest_kernels.soften(distances, self.n_neighbors, self.width, scores)
        return nearest._replace(scores=scores)

    def updated(
        self,
        nearest: ClassScores,
        winners: np.ndarray,
        y: np.ndarray,
        shares: np.ndarray,
        fading: float = 1.0,
    ) -> Self:
        """Compare the scores of samples with their classes; older samples fade."""
        scores = nearest.scores
        gaps = np.where(scores > 0.0, 1.0 - scores, -scores)
        gaps = np.partition(gaps, 1, axis=1)[:, 1]
        gaps = gaps[(gaps > 0.0) & np.isfinite(gaps)]
        new = replace(
            self,
            losses=fading * self.losses,
            log_gaps=fading * self.log_gaps + float(np.log(gaps).sum()),
            n_gaps=fading * self.n_gaps + len(gaps),
        )
        tried = new.offset, SLOPES, PRIOR_WEIGHTS
        rows = np.empty((3, scores.shape[1]))
        nearest_kernels.weigh(scores, winners, y, shares, *tried, *rows, new.losses)
        return new

    def updated_by_neighbors(
        self, distances: np.ndarray, y: np.ndarray, shares: np.ndarray, fading: float = 1.0
    ) -> Self:
        """Compare ways to decide by the distances of the boxes nearest to samples, in order."""
        assert self.decision_losses is not None
        losses = fading * self.decision_losses
        tried = self._widths, N_NEIGHBORS, DOUBLE_SLOPES, PRIOR_WEIGHTS
        likely = np.empty(len(shares))
        rows = np.empty((len(N_NEIGHBORS), len(shares))), likely, np.ones(losses.size)
        of_samples = distances, y, shares, self.offset
        nearest_kernels.weigh_decisions(*of_samples, *tried, *rows, losses.reshape(-1))
        return replace(self, decision_losses=losses)

    def updated_by_copies(
        self,
        nearest: ClassScores,
        winners: np.ndarray,
        y: np.ndarray,
        shares: np.ndarray,
        fading: float = 1.0,
    ) -> Self:
        """Compare the scores of copies of samples that lack values with their classes."""
        losses, likely = fading * self.power_losses, np.empty(nearest.scores.shape)
        of_samples = nearest.scores, nearest.tie_counts, nearest.unknown, winners, shares
        numbers, row = (self.offset, self.slope, self.prior_weight), np.empty(len(shares))
        for p, power in enumerate(POWERS):
            nearest_kernels.calibrated(*of_samples, *numbers, power, row, likely)
            losses[p] -= np.log(likely[np.arange(len(y)), y]).sum()
        return replace(self, power_losses=losses)

    def scheduled(self, n_samples: int) -> Self:
        """Set the next update, after one before which so many samples were learned."""
        return self.resumed(n_samples + 1 + n_samples // _EVERY_SAMPLE)

    def resumed(self, n_samples: int) -> Self:
        """Continue with the sample that comes after so many."""
        return replace(self, next_update=n_samples)


def _weights(losses: np.ndarray) -> np.ndarray:
    """Return how likely numbers are that lead to some log-losses."""
    weights = np.exp(losses.min() - losses)
    return weights / weights.sum()


def _joined(tables: Sequence[np.ndarray], start: np.ndarray) -> np.ndarray:
    """Add up what tables have beyond a start, in any order."""
    added = zip(*((table - start).flat for table in tables), strict=True)
    return start + np.reshape([math.fsum(values) for values in added], start.shape)


def predicted_classes(nearest: ClassScores, n_boxes: int) -> np.ndarray:
    """Return the class of the nearest box for each sample."""
    winners = np.empty(len(nearest.scores), np.int64)
    nearest_kernels.winners(*nearest[:3], n_boxes, winners)
    return winners


def class_shares(labels: np.ndarray, counts: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the classes' shares of the samples of boxes, with one sample more in each class."""
    has_label = labels >= 0
    n_samples = np.bincount(labels[has_label], counts[has_label], minlength=n_classes)
    return (n_samples + 1.0) / (n_samples.sum() + n_classes)


def nearest_probabilities(
    nearest: ClassScores,
    winners: np.ndarray,
    labels: np.ndarray,
    counts: np.ndarray,
    calibration: DistanceCalibration | None,
) -> np.ndarray:
    """Return the probabilities of the classes, of which the winner's is the largest.

    That may be the one of any class where the winner is -1.
    `labels` and `counts` are those of the boxes. Without a calibration, memberships are normalised.
    """
    scores, tie_counts, _, unknown = nearest
    out = np.empty(scores.shape)
    if calibration is None:
        nearest_kernels.probabilities(*nearest[:3], len(labels), winners, out)
    else:
        shares = class_shares(labels, counts, scores.shape[1])
        numbers = (
            calibration.offset,
            calibration.slope,
            calibration.prior_weight,
            calibration.power,
        )
        row = np.empty(scores.shape[1])
        of_samples = scores, tie_counts, unknown, winners
        nearest_kernels.calibrated(*of_samples, shares, *numbers, row, out)
    return out


# Neighbors.


def neighbor_probabilities(
    votes: np.ndarray, class_counts: np.ndarray, unknown: np.ndarray
) -> np.ndarray:
    """Return the probabilities for votes on samples that lack a part of the features.

    The less is known, the more do the classes' shares of the samples count. Each row of votes
    sums to 1.
    """
    if not unknown.any():
        return votes
    part = unknown[:, np.newaxis] ** _NEIGHBOR_POWER
    return (1.0 - part) * votes + part * (class_counts / class_counts.sum())


# Ensembles.


@dataclass(frozen=True)
class VoteCalibration:
    """How the votes of an ensemble become probabilities.

    These are ``(1 - prior_weight) * q + prior_weight * shares``, where q is in proportion to
    ``votes ** power * shares ** share_power``. Of samples that lack a part of the features,
    `share_power` moves towards 1 by that part: without any value, q are the shares.
    """

    power: float
    share_power: float
    prior_weight: float

    def apply(
        self, log_votes: np.ndarray, shares: np.ndarray, unknown: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """Return the probabilities for `log_votes`, given the classes' shares of the samples.

        `unknown` is the part of the features that each sample lacks.
        """
        share_power = self.share_power + (1.0 - self.share_power) * np.expand_dims(unknown, -1)
        scores = self.power * log_votes + share_power * np.log(shares)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely = odds / odds.sum(axis=1, keepdims=True)
        return (1.0 - self.prior_weight) * likely + self.prior_weight * shares


def vote_probabilities(
    votes: np.ndarray,
    class_counts: np.ndarray,
    calibration: VoteCalibration | None,
    unknown: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Return the probabilities for the mean votes of the members; each row sums to 1."""
    if calibration is None:
        return votes
    return calibration.apply(log_votes(votes), class_counts / class_counts.sum(), unknown)


def log_votes(votes: np.ndarray) -> np.ndarray:
    """Return the logarithms of votes, of which each row sums to 1."""
    return np.log(votes + SMALLEST_VOTE)


def fit_vote_calibration(
    votes: np.ndarray, y: np.ndarray, shares: np.ndarray, weights: np.ndarray | None = None
) -> VoteCalibration:
    """Return the calibration with the least log-loss on samples and their weights.

    The search moves one number by one step, whichever helps most; when none helps, steps are
    halved.
    """
    n_samples = min(len(y), max(_MAX_VOTES // len(shares), _MIN_SAMPLES))
    rows = np.linspace(0, len(y) - 1, n_samples).astype(np.int64)
    # By class, because NumPy is slow to add up rows of few numbers.
    logs, y = log_votes(np.asfortranarray(votes[rows])), y[rows]
    weights = np.ones(n_samples) if weights is None else weights[rows]
    rows = np.arange(n_samples)

    def loss(point: _Point) -> float:
        # A prior with the weight of half a sample keeps few samples near the start.
        distance = sum((a - b) ** 2 for a, b in zip(point, _START, strict=True))
        likely = _as_calibration(point).apply(logs, shares)[rows, y]
        return distance / 2 - float((weights * np.log(likely)).sum())

    best: _Point = _START
    losses = {best: loss(best)}
    for halving in range(_N_HALVINGS + 1):
        before: _Point | None = None
        while best != before:
            before = best
            for number, step in enumerate(_STEPS):
                for move in (-step, step):
                    point = tuple(
                        x + (move / 2**halving if i == number else 0.0)
                        for i, x in enumerate(before)
                    )
                    if point not in losses:
                        losses[point] = loss(point)
                    if losses[point] < losses[best]:
                        best = point
    return _as_calibration(best)


def _as_calibration(point: _Point) -> VoteCalibration:
    power, share_power, prior_weight = point
    return VoteCalibration(
        math.exp(power),
        min(max(share_power, _SHARE_POWERS[0]), _SHARE_POWERS[1]),
        min(max(math.exp(prior_weight), _PRIOR_WEIGHT_LIMITS[0]), _PRIOR_WEIGHT_LIMITS[1]),
    )
