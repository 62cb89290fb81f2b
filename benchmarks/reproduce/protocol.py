"""The protocol of the paper's runs: one unshuffled split in two halves, each trained on once."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.reproduce.learners import Learner

THETA = 0.1
GAMMA = 1.0


def halves(y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the rows to train and to test on, twice; rows stay in their order.

    The first half has the first ceil(n / 2) of the n samples of each class.
    """
    is_first = np.zeros(len(y), bool)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        is_first[rows[: -(-len(rows) // 2)]] = True
    first, second = np.flatnonzero(is_first), np.flatnonzero(~is_first)
    return [(first, second), (second, first)]


def as_published(learner: Learner, selection: str) -> Any:
    """Return an estimator set up as in the paper's runs."""
    return learner.make(THETA, gamma=GAMMA, selection=selection, scaling=None)
