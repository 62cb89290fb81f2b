"""Candidate counts, as in the paper's tables, and that the selection changes no prediction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.reproduce import guesses
from benchmarks.reproduce.cells import Cell, Result
from benchmarks.reproduce.learners import SELECTIONS, Learner, published_runs
from benchmarks.reproduce.loading import MISPARSED, RIGHTLY_PARSED, Source
from benchmarks.reproduce.protocol import as_published, halves


def cells(source: Source, datasets: Iterable[str], algorithms: Iterable[str]) -> list[Cell]:
    """Return a part for each run of the paper, and for its mis-parsed set read rightly."""
    names = [*datasets]
    if MISPARSED in names:
        names.append(RIGHTLY_PARSED)
    return [
        Cell(
            "counts",
            dataset,
            learner.name,
            count,
            (source, dataset, learner),
            guesses.all_selections(MISPARSED if dataset == RIGHTLY_PARSED else dataset),
        )
        for dataset, learner in published_runs(names, algorithms)
    ]


def count(source: Source, dataset: str, learner: Learner) -> Result:
    """Train on each half with every selection; return the means over the halves."""
    X, y = source.paper_input(dataset)
    fits = [fit_half(learner, X, y, *rows) for rows in halves(y)]
    return {
        "candidates": {name: mean(fit["candidates"][name] for fit in fits) for name in SELECTIONS},
        "accuracy": {name: mean(fit["accuracy"][name] for fit in fits) for name in SELECTIONS},
        "boxes": mean(fit["boxes"] for fit in fits),
        "same_boxes": all(fit["same_boxes"] for fit in fits),
        "same_predictions": all(fit["same_predictions"] for fit in fits),
    }


def fit_half(
    learner: Learner, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> Result:
    """Train with every selection and predict the other half."""
    models = {name: as_published(learner, name).fit(X[train], y[train]) for name in SELECTIONS}
    predictions = {name: model.predict(X[test]) for name, model in models.items()}
    first_boxes, *other_boxes = (boxes(model) for model in models.values())
    first_prediction, *other_predictions = predictions.values()
    return {
        "candidates": {name: model.n_candidates_ for name, model in models.items()},
        "accuracy": {name: np.mean(labels == y[test]) for name, labels in predictions.items()},
        "boxes": len(first_boxes),
        "same_boxes": all(np.array_equal(first_boxes, others) for others in other_boxes),
        "same_predictions": all(
            np.array_equal(first_prediction, others) for others in other_predictions
        ),
    }


def boxes(model: Any) -> np.ndarray:
    """Return all that makes up the boxes of a model, a row for each."""
    found = model.hyperboxes_
    return np.column_stack([found.lower, found.upper, found.labels, found.counts])


def mean(values: Iterable[float]) -> float:
    """Return a mean as a plain number."""
    return float(np.mean([*values]))
