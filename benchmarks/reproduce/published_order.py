"""Candidate counts in the published runs' own order of ties (see `tie_order`)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.reproduce import guesses
from benchmarks.reproduce.cells import Cell, Result
from benchmarks.reproduce.learners import Learner, published_runs
from benchmarks.reproduce.loading import Source
from benchmarks.reproduce.protocol import THETA, halves
from benchmarks.reproduce.tie_order import count

EXPERIMENT = "published_order"


def cells(source: Source, datasets: Iterable[str], algorithms: Iterable[str]) -> list[Cell]:
    """Return a part for each run of the paper."""
    return [
        Cell(
            EXPERIMENT,
            dataset,
            learner.name,
            count_both,
            (source, dataset, learner),
            guesses.published_order(dataset, learner),
            is_ours=False,
        )
        for dataset, learner in published_runs(datasets, algorithms)
    ]


def count_both(source: Source, dataset: str, learner: Learner) -> Result:
    """Return the mean counts over the halves, of the original algorithm and with the lemma."""
    X, y = source.paper_input(dataset)
    return {
        selection: float(
            np.mean(
                [
                    count(
                        X[train],
                        y[train],
                        learner.algorithm,
                        learner.similarity,
                        lemma=selection == "lemma",
                        theta=THETA,
                    )
                    for train, _ in halves(y)
                ]
            )
        )
        for selection in ("all", "lemma")
    }
