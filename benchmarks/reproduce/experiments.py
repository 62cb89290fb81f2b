"""The experiments: candidate counts (also in the published order of ties), times, accuracies."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.harness import medians
from benchmarks.reproduce import tie_order
from benchmarks.reproduce.jobs import Cell, Result
from benchmarks.reproduce.learners import (
    AS_PUBLISHED,
    IOL,
    ONLN,
    SELECTIONS,
    THETA,
    Learner,
    Peer,
    agglomerative,
    count_boxes,
    datasets,
    halves,
)
from benchmarks.reproduce.loading import MISPARSED, RIGHTLY_PARSED, Source

THETAS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
FOLDS = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)
LEARNERS = [Learner(ONLN), Learner(IOL), Learner(IOL, overlap="paper"), *agglomerative("closed")]
BASELINES: dict[str, Callable[[], Any]] = {
    # The limit of all our learners for a small theta: every sample is a box.
    "1-nn": partial(make_pipeline, MinMaxScaler(), KNeighborsClassifier(1, metric="chebyshev")),
    "decision-tree": partial(DecisionTreeClassifier, random_state=0),
    "random-forest": partial(RandomForestClassifier, random_state=0),
}
PEER_NAME = "hyperbox-brain's IOL-GFMM"
# Seconds: where the ten fits and predictions of hyperbox-brain would take longer, it is left out.
BUDGET = 1200.0

FEW = 100  # samples to warm up with
CALL = "call"  # the name of training on a single sample


def published_cells(
    experiment: str,
    compute: Callable[..., Result],
    source: Source,
    names: Iterable[str],
    **how: Any,
) -> list[Cell]:
    """Return a part for each run of the paper."""
    names = [*names]
    if experiment == "counts" and MISPARSED in names:
        names.append(RIGHTLY_PARSED)
    return [
        Cell(
            experiment,
            dataset,
            learner.name,
            compute,
            (source, dataset, learner),
            guess(dataset),
            **how,
        )
        for dataset in names
        for learner in AS_PUBLISHED
    ]


def guess(dataset: str) -> float:
    """Guess the seconds of a part, to start the longest first."""
    name = MISPARSED if dataset == RIGHTLY_PARSED else dataset
    return 0.1 + 1e-7 * float(datasets().loc[name, "samples"]) ** 2


def accuracy_cells(source: Source, names: Iterable[str]) -> list[Cell]:
    """Return a part for each set, learner and theta."""
    contenders: list[tuple[str, Callable[[], Any], float | None]] = [
        (learner.name, partial(learner.make, theta), theta)
        for learner in LEARNERS
        for theta in THETAS
    ]
    peer = partial(Peer, "iol_gfmm", "ImprovedOnlineGFMM")
    contenders += [(PEER_NAME, partial(peer, theta=theta), theta) for theta in THETAS]
    contenders += [(name, make, None) for name, make in BASELINES.items()]
    found = []
    for dataset, (name, make, theta) in product(names, contenders):
        budget = (BUDGET,) if name == PEER_NAME else ()
        arguments = source, dataset, make, *budget
        seconds = guess(dataset) * (10 if budget else 1)
        is_ours = name != PEER_NAME and name not in BASELINES
        found.append(Cell("accuracy", dataset, name, evaluate, arguments, seconds, theta, is_ours))
    return found


def count(source: Source, dataset: str, learner: Learner) -> Result:
    """Train on each half with every selection; return the means over the halves."""
    X, y = source.paper_input(dataset)
    fits = [fit_half(learner, X, y, *rows) for rows in halves(y)]

    def mean(value: Callable[[Result], float]) -> float:
        return float(np.mean([value(fit) for fit in fits]))

    return {
        "candidates": {name: mean(lambda fit, n=name: fit["candidates"][n]) for name in SELECTIONS},
        "accuracy": {name: mean(lambda fit, n=name: fit["accuracy"][n]) for name in SELECTIONS},
        "boxes": mean(lambda fit: fit["boxes"]),
        "same_boxes": all(fit["same_boxes"] for fit in fits),
        "same_predictions": all(fit["same_predictions"] for fit in fits),
    }


def fit_half(
    learner: Learner, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> Result:
    """Train with every selection and predict the other half."""
    models = {name: learner.as_published(name).fit(X[train], y[train]) for name in SELECTIONS}
    predictions = {name: model.predict(X[test]) for name, model in models.items()}
    boxes, *others = (
        np.column_stack([found.lower, found.upper, found.labels, found.counts])
        for found in (model.hyperboxes_ for model in models.values())
    )
    first, *rest = predictions.values()
    return {
        "candidates": {name: model.n_candidates_ for name, model in models.items()},
        "accuracy": {name: np.mean(labels == y[test]) for name, labels in predictions.items()},
        "boxes": len(boxes),
        "same_boxes": all(np.array_equal(boxes, other) for other in others),
        "same_predictions": all(np.array_equal(first, other) for other in rest),
    }


def count_in_published_order(source: Source, dataset: str, learner: Learner) -> Result:
    """Return the mean counts over the halves, of the original algorithm and with the lemma."""
    X, y = source.paper_input(dataset)
    how = learner.algorithm, learner.similarity
    found = {}
    for selection in ("all", "lemma"):
        choice: dict[str, Any] = {"lemma": selection == "lemma", "theta": THETA}
        counts = [tie_order.count(X[train], y[train], *how, **choice) for train, _ in halves(y)]
        found[selection] = float(np.mean(counts))
    return found


def time_fits(source: Source, dataset: str, learner: Learner) -> Result:
    """Return the median seconds of training on a half with every selection, in turns.

    Training on a single sample takes its turn too: it shows what a call costs before any learning.
    """
    X, y = source.paper_input(dataset)
    parts = [(X[train], y[train]) for train, _ in halves(y)]

    def fit(selection: str, parts: list[Any]) -> None:
        for samples in parts:
            learner.as_published(selection).fit(*samples)

    for selection in SELECTIONS:
        fit(selection, [(X[:FEW], y[:FEW])])
    fits = {name: partial(fit, name, parts) for name in SELECTIONS}
    fits[CALL] = partial(fit, "lemma", [(X[:1], y[:1])] * len(parts))
    timings = medians(fits, rounds=5, at_least=0.02, budget=8.0)
    return {
        "seconds": {name: timing.seconds / len(parts) for name, timing in timings.items()},
        "runs": {name: timing.runs for name, timing in timings.items()},
    }


def fit_folds(source: Source, dataset: str, learner: Learner) -> Result:
    """Return mean candidates and seconds of the processor over shuffled folds, by selection."""
    X, y = source.paper_input(dataset)
    found: Result = {"candidates": {}, "seconds": {}}
    for selection in SELECTIONS:
        learner.as_published(selection).fit(X[:FEW], y[:FEW])
        start, candidates = time.process_time(), []
        for train, _ in FOLDS.split(X, y):
            model = learner.as_published(selection).fit(X[train], y[train])
            candidates.append(model.n_candidates_)
        n_folds = len(candidates)
        found["seconds"][selection] = (time.process_time() - start) / n_folds
        found["candidates"][selection] = float(np.mean(candidates))
    return found


def evaluate(
    source: Source, dataset: str, make: Callable[[], Any], budget: float = np.inf
) -> Result:
    """Return the accuracy of each fold, and the mean number of boxes and share of samples.

    If all folds would take more than `budget` seconds, judging by those done, return that only.
    """
    X, y = source.true_data(dataset)
    accuracies: list[float] = []
    n_boxes, shares = [], []
    start = time.perf_counter()
    for train, test in FOLDS.split(X, y):
        model = make().fit(X[train], y[train])
        accuracies.append(float(np.mean(model.predict(X[test]) == y[test])))
        n_boxes.append(count_boxes(model))
        shares.append(n_boxes[-1] / len(train))
        expected = (time.perf_counter() - start) / len(accuracies) * FOLDS.get_n_splits()
        if expected > budget:
            return {"left_out": expected}
    return {
        "accuracies": accuracies,
        "boxes": float(np.mean(n_boxes)),
        "boxes_per_sample": float(np.mean(shares)),
    }


EXPERIMENTS: dict[str, Callable[[Source, Iterable[str]], list[Cell]]] = {
    "counts": partial(published_cells, "counts", count),
    "published_order": partial(
        published_cells, "published_order", count_in_published_order, is_ours=False
    ),
    "accuracy": accuracy_cells,
    "times": partial(published_cells, "times", time_fits, is_timed=True),
    "folds": partial(published_cells, "folds", fit_folds, is_timed=True),
}
