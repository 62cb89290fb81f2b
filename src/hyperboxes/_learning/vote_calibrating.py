"""Learning what probabilities the votes of an ensemble stand for, from samples new to its members.

Three numbers are sought one step at a time: the best step in one of them is taken, and when none
helps, steps are halved.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hyperboxes._models.vote_calibration import VoteCalibration, take_logs

# More votes, of samples times classes, would not tell the three numbers better; but so many samples
# are asked about in any case.
_ENOUGH_VOTES = 30_000
_FEWEST_SAMPLES = 1000

# Where the search begins, in logarithms but for the power of the shares, and its first steps.
_START = (math.log(1.5), 0.25, math.log(0.03))
_STEPS = (0.5, 0.25, 1.0)
_N_HALVINGS = 4

_SHARE_POWERS = (-1.0, 2.0)
_DOUBTS = (0.002, 0.9)

_Point = tuple[float, ...]


def learn_calibration(
    votes: np.ndarray, y: np.ndarray, shares: np.ndarray, weights: np.ndarray | None = None
) -> VoteCalibration:
    """Choose the numbers that make the classes of the samples, by their weights, most probable."""
    n_samples = min(len(y), max(_ENOUGH_VOTES // len(shares), _FEWEST_SAMPLES))
    rows = np.linspace(0, len(y) - 1, n_samples).astype(np.int64)
    # By class, for NumPy is slow to add up rows of few numbers.
    logs, y = take_logs(np.asfortranarray(votes[rows])), y[rows]
    weights = np.ones(n_samples) if weights is None else weights[rows]
    rows = np.arange(n_samples)

    def loss(point: _Point) -> float:
        # As if half a sample spoke for where the search begins.
        distance = sum((a - b) ** 2 for a, b in zip(point, _START, strict=True))
        likely = _make(point).apply(logs, shares)[rows, y]
        return distance / 2 - float((weights * np.log(likely)).sum())

    return _make(_find_least(loss))


def _find_least(loss: Callable[[_Point], float]) -> _Point:
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
    return best


def _make(point: _Point) -> VoteCalibration:
    power, share_power, doubt = point
    return VoteCalibration(
        math.exp(power),
        min(max(share_power, _SHARE_POWERS[0]), _SHARE_POWERS[1]),
        min(max(math.exp(doubt), _DOUBTS[0]), _DOUBTS[1]),
    )
