"""Learners that are asked and taught sample by sample, and what becomes of each."""

from __future__ import annotations

import json
import pickle
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from river import ensemble, forest, neighbors, preprocessing, tree
from sklearn.metrics import cohen_kappa_score

from hyperboxes import AdaptiveGFMM, ImprovedOnlineGFMM

OURS, HAT, ARF = "AdaptiveGFMM", "HoeffdingAdaptiveTree", "ARF"
NO_CHANGE = "repeat the last label"


class NoChange:
    """Repeats the last label: what autocorrelation alone is worth."""

    def __init__(self) -> None:
        self._last: Any = None

    def predict_one(self, x: Any) -> Any:
        """Return the label learned last."""
        return self._last

    def learn_one(self, x: Any, y: Any) -> None:
        """Remember a label."""
        self._last = y


@dataclass(frozen=True)
class Run:
    """What a learner predicted before it learned each sample; maybe not of the whole stream."""

    predicted: np.ndarray
    y: np.ndarray
    seconds: float
    memory: int

    def accuracy(self, n_samples: int | None = None) -> float:
        """Return the share of right predictions, of all or of the first samples, in percent."""
        return 100 * float((self.predicted == self.y)[:n_samples].mean())

    @property
    def kappa(self) -> float:
        """Cohen's kappa, in percent."""
        with np.errstate(invalid="ignore"):
            return 100 * float(cohen_kappa_score(self.y, self.predicted))

    @property
    def speed(self) -> float:
        """Samples per second."""
        return len(self.y) / self.seconds


def contenders(X: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return all learners, in their defaults, for a stream."""
    scaler = preprocessing.StandardScaler
    return {
        NO_CHANGE: NoChange,
        OURS: AdaptiveGFMM,
        "ImprovedOnlineGFMM": lambda: ImprovedOnlineGFMM(scaling=first_ranges(X)),
        "HoeffdingTree": tree.HoeffdingTreeClassifier,
        HAT: lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=1),
        f"{HAT}, scaled": lambda: scaler() | tree.HoeffdingAdaptiveTreeClassifier(seed=1),
        ARF: lambda: forest.ARFClassifier(seed=1),
        "SRP": lambda: ensemble.SRPClassifier(seed=1),
        "KNN": lambda: scaler() | neighbors.KNNClassifier(),
    }


def first_ranges(X: np.ndarray) -> list[np.ndarray]:
    """Return the ranges of the features at the beginning of a stream."""
    return [np.nanmin(X[:1000], axis=0), np.nanmax(X[:1000], axis=0)]


def prequential(
    model: Any, X: np.ndarray, y: np.ndarray, *, limit: float, late: int = 0, every: int = 1
) -> Run:
    """Predict each sample, then learn it or the one `late` samples before; stop after a while.

    Of the labels only every so-manyth comes at all. Times are those of the processor.
    """
    predicted = np.full(len(y), -1)
    waiting: deque[tuple[dict[int, float], int]] = deque()
    start = time.process_time()
    done = 0
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = dict(enumerate(row))
        answer = model.predict_one(x)
        predicted[done] = -1 if answer is None else answer
        if done % every == 0:
            waiting.append((x, label))
        if len(waiting) > late:
            model.learn_one(*waiting.popleft())
        done += 1
        if done % 100 == 0 and time.process_time() - start > limit:
            break
    seconds = time.process_time() - start
    return Run(predicted[:done], y[:done], seconds, len(pickle.dumps(model)))


def kept(path: Path | None, run: Callable[[], Run]) -> Run:
    """Return a run, from a file if it was kept there, and keep it otherwise."""
    if path is not None and path.exists():
        fields = json.loads(path.read_text())
        arrays = {name: np.array(fields[name]) for name in ("predicted", "y")}
        return Run(**fields | arrays)
    result = run()
    if path is not None:
        lists = {"predicted": result.predicted.tolist(), "y": result.y.tolist()}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(result) | lists))
    return result


def in_batches(model: Any, X: np.ndarray, y: np.ndarray, size: int) -> Run:
    """Predict and learn in batches."""
    predicted = np.full(len(y), -1)
    start = time.process_time()
    for first in range(0, len(y), size):
        rows = slice(first, first + size)
        if first:
            predicted[rows] = model.predict(X[rows])
        model.partial_fit(X[rows], y[rows])
    seconds = time.process_time() - start
    return Run(predicted, y, seconds, len(pickle.dumps(model)))
