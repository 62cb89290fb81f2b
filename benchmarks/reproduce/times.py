"""Training seconds with every selection, in turns, on the paper's runs.

Training on a single sample takes its turn too: it shows what a call costs before any learning.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.reproduce import guesses
from benchmarks.reproduce.cells import Cell, Result
from benchmarks.reproduce.learners import SELECTIONS, Learner, published_runs
from benchmarks.reproduce.loading import Source
from benchmarks.reproduce.protocol import as_published, halves
from benchmarks.timing import medians

# Turns of each selection, and how long a turn repeats what is fast.
ROUNDS, TURN = 5, 0.02
BUDGET = 8.0  # seconds, after which no further round starts

# Samples to warm up with.
FEW = 100

# The name of training on a single sample.
CALL = "call"


def cells(source: Source, datasets: Iterable[str], algorithms: Iterable[str]) -> list[Cell]:
    """Return a part for each run of the paper."""
    return [
        Cell(
            "times",
            dataset,
            learner.name,
            time_fits,
            (source, dataset, learner),
            guesses.timed(dataset),
            is_timed=True,
        )
        for dataset, learner in published_runs(datasets, algorithms)
    ]


def time_fits(source: Source, dataset: str, learner: Learner) -> Result:
    """Return the median seconds of training on a half with every selection, and of a call."""
    X, y = source.paper_input(dataset)
    parts = [(X[train], y[train]) for train, _ in halves(y)]
    for selection in SELECTIONS:
        fit(learner, selection, [(X[:FEW], y[:FEW])])
    fits = {name: partial(fit, learner, name, parts) for name in SELECTIONS}
    fits[CALL] = partial(fit, learner, "lemma", [(X[:1], y[:1])] * len(parts))
    timings = medians(fits, rounds=ROUNDS, at_least=TURN, budget=BUDGET)
    return {
        "seconds": {name: timing.seconds / len(parts) for name, timing in timings.items()},
        "runs": {name: timing.runs for name, timing in timings.items()},
    }


def fit(learner: Learner, selection: str, parts: list[tuple[np.ndarray, np.ndarray]]) -> Any:
    """Train on one part after another."""
    for X, y in parts:
        as_published(learner, selection).fit(X, y)
