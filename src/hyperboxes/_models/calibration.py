"""How scores become probabilities: both calibrations, and the functions that apply them.

`predict_proba` and the executor call the same functions, because the `exp` and `log` of NumPy and
of compiled code differ in their last digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hyperboxes._kernels import nearest as nearest_kernels

# The exponents, and the weights of the classes' shares, that are compared.
SLOPES = np.array([0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0, 16.0])
PRIOR_WEIGHTS = np.array([0.01, 0.1, 0.3, 0.6, 0.9])

# The values assumed before any sample is compared, with the weight of one sample.
_FIRST_SLOPE = 2.0
_FIRST_GAP = 0.05

# The offset of distances, as a part of the typical distance.
_RESOLUTION = 0.2

# In streams every sample is compared at first, then fewer and fewer, and older ones count less.
_EVERY_SAMPLE = 500
FADING = 1.0 - 1.0 / _EVERY_SAMPLE

NEVER = -1

# The offset of votes, so that their logarithms are finite.
_SMALLEST_VOTE = 0.001

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

# For each sample and class: the closeness of the nearest boxes, how many training samples these
# have absorbed, and the oldest of them that has absorbed a single one, or the number of boxes.
Nearest = tuple[np.ndarray, np.ndarray, np.ndarray]


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
    """

    losses: np.ndarray
    log_gaps: float
    n_gaps: float
    next_update: int

    @classmethod
    def start(cls, next_update: int) -> Self:
        """Return the calibration before any sample."""
        penalties = 0.5 * np.log(SLOPES / _FIRST_SLOPE) ** 2
        losses = np.repeat(penalties[:, np.newaxis], len(PRIOR_WEIGHTS), axis=1)
        return cls(losses, math.log(_FIRST_GAP), 1.0, next_update)

    @classmethod
    def joined(cls, parts: Sequence[Self], next_update: int) -> Self:
        """Add up several calibrations; their order does not matter."""
        start = cls.start(next_update)
        losses = [part.losses - start.losses for part in parts]
        added = [
            math.fsum(values) for values in zip(*(table.flat for table in losses), strict=True)
        ]
        return cls(
            start.losses + np.reshape(added, start.losses.shape),
            math.fsum([start.log_gaps, *(part.log_gaps - start.log_gaps for part in parts)]),
            math.fsum([start.n_gaps, *(part.n_gaps - start.n_gaps for part in parts)]),
            next_update,
        )

    @property
    def offset(self) -> float:
        """What is added to distances before the logarithm is taken."""
        return _RESOLUTION * math.exp(self.log_gaps / self.n_gaps)

    @property
    def slope(self) -> float:
        """The power of the distance: the geometric mean of `SLOPES`, weighted by likelihood."""
        return math.exp(float(self._weights().sum(axis=1) @ np.log(SLOPES)))

    @property
    def prior_weight(self) -> float:
        """The weight of the classes' shares: the mean of `PRIOR_WEIGHTS`, weighted likewise."""
        return float(self._weights().sum(axis=0) @ PRIOR_WEIGHTS)

    def _weights(self) -> np.ndarray:
        weights = np.exp(self.losses.min() - self.losses)
        return weights / weights.sum()

    def updated(
        self,
        scores: np.ndarray,
        winners: np.ndarray,
        y: np.ndarray,
        shares: np.ndarray,
        fading: float = 1.0,
    ) -> Self:
        """Compare the scores of samples with their classes; older samples fade."""
        gaps = np.where(scores > 0.0, 1.0 - scores, -scores)
        gaps = np.partition(gaps, 1, axis=1)[:, 1]
        gaps = gaps[(gaps > 0.0) & np.isfinite(gaps)]
        new = replace(
            self,
            losses=fading * self.losses,
            log_gaps=fading * self.log_gaps + float(np.log(gaps).sum()),
            n_gaps=fading * self.n_gaps + len(gaps),
        )
        working_arrays = np.empty((2, scores.shape[1]))
        tried = new.offset, SLOPES, PRIOR_WEIGHTS
        nearest_kernels.weigh(scores, winners, y, shares, *tried, *working_arrays, new.losses)
        return new

    def scheduled(self, n_samples: int) -> Self:
        """Set the next update, after one before which so many samples were learned."""
        return self.resumed(n_samples + 1 + n_samples // _EVERY_SAMPLE)

    def resumed(self, n_samples: int) -> Self:
        """Continue with the sample that comes after so many."""
        return replace(self, next_update=n_samples)


def predicted_classes(nearest: Nearest, n_boxes: int) -> np.ndarray:
    """Return the class that is predicted for each sample."""
    winners = np.empty(len(nearest[0]), np.int64)
    nearest_kernels.winners(*nearest, n_boxes, winners)
    return winners


def class_shares(labels: np.ndarray, counts: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the classes' shares of the samples of boxes, with one sample more in each class."""
    has_label = labels >= 0
    n_samples = np.bincount(labels[has_label], counts[has_label], minlength=n_classes)
    return (n_samples + 1.0) / (n_samples.sum() + n_classes)


def nearest_probabilities(
    nearest: Nearest,
    winners: np.ndarray,
    labels: np.ndarray,
    counts: np.ndarray,
    calibration: DistanceCalibration | None,
) -> np.ndarray:
    """Return the probabilities of the classes, of which the winner's is the largest.

    `labels` and `counts` are those of the boxes. Without a calibration, memberships are normalised.
    """
    scores, *ties = nearest
    out = np.empty(scores.shape)
    if calibration is None:
        nearest_kernels.probabilities(scores, *ties, len(labels), winners, out)
    else:
        shares = class_shares(labels, counts, scores.shape[1])
        numbers = calibration.offset, calibration.slope, calibration.prior_weight
        row = np.empty(scores.shape[1])
        nearest_kernels.calibrated(scores, winners, shares, *numbers, row, out)
    return out


# Ensembles.


@dataclass(frozen=True)
class VoteCalibration:
    """How the votes of an ensemble become probabilities.

    These are ``(1 - prior_weight) * q + prior_weight * shares``, where q is in proportion to
    ``votes ** power * shares ** share_power``.
    """

    power: float
    share_power: float
    prior_weight: float

    def apply(self, log_votes: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Return the probabilities for `log_votes`, given the classes' shares of the samples."""
        scores = self.power * log_votes + self.share_power * np.log(shares)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely = odds / odds.sum(axis=1, keepdims=True)
        return (1.0 - self.prior_weight) * likely + self.prior_weight * shares


def vote_probabilities(
    votes: np.ndarray, class_counts: np.ndarray, calibration: VoteCalibration | None
) -> np.ndarray:
    """Return the probabilities for the mean votes of the members; each row sums to 1."""
    if calibration is None:
        return votes
    return calibration.apply(log_votes(votes), class_counts / class_counts.sum())


def log_votes(votes: np.ndarray) -> np.ndarray:
    """Return the logarithms of votes, of which each row sums to 1."""
    return np.log(votes + _SMALLEST_VOTE)


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
