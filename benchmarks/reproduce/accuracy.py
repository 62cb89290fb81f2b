"""Accuracy and number of boxes over theta, beside other classifiers: 5 x 2-fold validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.reproduce import guesses
from benchmarks.reproduce.cells import Cell, Result
from benchmarks.reproduce.learners import IOL, ONLN, Learner, agglomerative
from benchmarks.reproduce.loading import Source

THETAS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
REPEATS = 5

# Seconds: where the ten fits and predictions of hyperbox-brain would take longer, it is left out.
BUDGET = 1200.0

LEARNERS = [Learner(ONLN), Learner(IOL), Learner(IOL, overlap="paper"), *agglomerative("closed")]


def nearest_neighbour() -> Any:
    """Return the limit of all our learners for a small theta: every sample is a box."""
    return make_pipeline(MinMaxScaler(), KNeighborsClassifier(1, metric="chebyshev"))


BASELINES: dict[str, Callable[[], Any]] = {
    "1-nn": nearest_neighbour,
    "decision-tree": partial(DecisionTreeClassifier, random_state=0),
    "random-forest": partial(RandomForestClassifier, random_state=0),
}
PEER = "hyperbox-brain"
PEER_NAME = "hyperbox-brain's IOL-GFMM"


class Peer:
    """hyperbox-brain's IOL-GFMM; beyond [0, 1] it would print a line for each sample."""

    def __init__(self, theta: float) -> None:
        from hbbrain.numerical_data.incremental_learner.iol_gfmm import ImprovedOnlineGFMM

        self._scaler = MinMaxScaler(clip=True)
        self._model = ImprovedOnlineGFMM(theta=theta)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Peer:
        """Learn ranges and boxes."""
        self._model.fit(self._scaler.fit_transform(X), y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict labels."""
        return self._model.predict(self._scaler.transform(X))

    @property
    def hyperboxes_(self) -> np.ndarray:
        """The labels of the boxes."""
        return self._model.C


def cells(source: Source, datasets: Iterable[str], learners: Iterable[str]) -> list[Cell]:
    """Return a part for each set, learner and theta."""
    return [cell for name in datasets for cell in cells_of(source, name, learners)]


def cells_of(source: Source, dataset: str, learners: Iterable[str]) -> list[Cell]:
    """Return the parts of a set: our learners, hyperbox-brain, and what knows no theta."""
    part = partial(Cell, "accuracy", dataset, compute=evaluate)
    ours = [
        part(
            learner=learner.name,
            arguments=(source, dataset, partial(learner.make, theta)),
            theta=theta,
            seconds=guesses.boxes_validated(dataset),
        )
        for learner in LEARNERS
        if learner.algorithm in learners
        for theta in THETAS
    ]
    peers = [
        part(
            learner=PEER_NAME,
            arguments=(source, dataset, partial(Peer, theta), BUDGET),
            theta=theta,
            seconds=guesses.peer_validated(dataset, theta),
            is_ours=False,
        )
        for theta in (THETAS if PEER in learners else ())
    ]
    baselines = [
        part(
            learner=name,
            arguments=(source, dataset, make),
            seconds=guesses.baseline_validated(dataset, name),
            is_ours=False,
        )
        for name, make in BASELINES.items()
        if name in learners
    ]
    return ours + peers + baselines


def evaluate(
    source: Source, dataset: str, make: Callable[[], Any], budget: float = np.inf
) -> Result:
    """Return the accuracy of each fold, and the mean number of boxes and share of samples.

    If all folds would take more than `budget` seconds, judging by those done, say only that.
    """
    X, y = source.true_data(dataset)
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=REPEATS, random_state=0)
    n_folds = folds.get_n_splits()
    accuracies: list[float] = []
    n_boxes, shares = [], []
    start = time.perf_counter()
    for train, test in folds.split(X, y):
        model = make().fit(X[train], y[train])
        accuracies.append(float(np.mean(model.predict(X[test]) == y[test])))
        n_boxes.append(count_boxes(model))
        shares.append(n_boxes[-1] / len(train))
        expected = (time.perf_counter() - start) / len(accuracies) * n_folds
        if expected > budget:
            return {"left_out": expected}
    return {
        "accuracies": accuracies,
        "boxes": float(np.mean(n_boxes)),
        "boxes_per_sample": float(np.mean(shares)),
    }


def count_boxes(model: Any) -> float:
    """Return how many boxes a model has, NaN if it has none."""
    return len(model.hyperboxes_) if hasattr(model, "hyperboxes_") else np.nan
