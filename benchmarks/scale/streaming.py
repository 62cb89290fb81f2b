"""Learning in batches and of single samples; memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from river.tree import HoeffdingTreeClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import gen_batches

from benchmarks.data import generated_for_training, in_file_order
from benchmarks.harness import added_memory, call_in_fresh_process, progress, table
from benchmarks.scale.common import AGGLO_2, AGGLO_SM, IOL, THETA, Run, fit
from hyperboxes import ImprovedOnlineGFMM

BATCHES = (1, 10, 100, 1_000)
STREAM_CALLS = 10_000  # at most: some seconds

MEMORY_CASES = (
    (IOL, 0.1, 1_000_000),
    (IOL, 0.5, 100_000),
    (AGGLO_2, 0.1, 100_000),
    (AGGLO_SM, 0.1, 100_000),
)


class HoeffdingTree:
    """river's tree with the methods of scikit-learn; it takes one sample at a time."""

    def __init__(self) -> None:
        self._tree = HoeffdingTreeClassifier()

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: Any = None) -> None:
        """Learn the samples one by one."""
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            self._tree.learn_one(dict(enumerate(row)), label)


STREAM_LEARNERS: dict[str, Callable[[], Any]] = {
    IOL: partial(ImprovedOnlineGFMM, THETA, scaling=None),
    "river's HoeffdingTree": HoeffdingTree,
    "SGDClassifier": partial(SGDClassifier, random_state=0),
}


def bench_stream(run: Run) -> None:
    """Learn electricity in its order, or generated data, in batches."""
    samples = in_file_order("electricity", run.data / "large")
    if samples is None:
        print("electricity: not in the shared data (see --data), generated data instead")
        data = generated_for_training(run.size(45_312), 8)
        name, X, y = data.name, data.X_train, data.y_train
    else:
        X, y = (part[: run.size(len(part))] for part in samples)
        name, X = "electricity", MinMaxScaler(clip=True).fit_transform(X)
    rows = []
    for batch in BATCHES:
        progress(f"stream in batches of {batch}")
        n_samples = min(len(y), batch * run.size(STREAM_CALLS))
        part = X[:n_samples], y[:n_samples]
        functions = {n: partial(learn, make, *part, batch) for n, make in STREAM_LEARNERS.items()}
        timings = run.medians(functions, clock=time.perf_counter)
        speeds = (f"{n_samples / timing.seconds:,.0f}" for timing in timings.values())
        rows.append((f"{name}, batches of {batch:,}", f"{n_samples:,}", *speeds))
    print(table(("samples per second", "samples", *STREAM_LEARNERS), rows), end="\n\n")
    print(
        "river's tree learns with learn_one whatever the batch: it has no learn_many. Making the\n"
        "dictionaries it needs is in its time.\n"
    )


def learn(make: Callable[[], Any], X: np.ndarray, y: np.ndarray, batch: int) -> None:
    """Learn all samples, a batch at a time."""
    model = make()
    classes = np.unique(y)
    for rows in gen_batches(len(y), batch):
        model.partial_fit(X[rows], y[rows], classes=None if rows.start else classes)


def bench_memory(run: Run) -> None:
    """Compare the memory of fits, in new processes, with that of their boxes and their input."""
    rows = []
    for learner, theta, n_samples in MEMORY_CASES:
        name = f"{learner}, theta {theta}, {run.size(n_samples):,} x 8"
        progress(f"memory of {name}")
        n_boxes, *sizes = call_in_fresh_process(fit_memory, learner, theta, run.size(n_samples))
        rows.append((name, f"{n_boxes:,}", *(f"{size:,.1f}" for size in sizes)))
    print(table(("megabytes", "boxes", "used", "of boxes", "of input"), rows), end="\n\n")


def fit_memory(learner: str, theta: float, n_samples: int) -> tuple[int, float, float, float]:
    """Return how many boxes a fit finds, megabytes it adds, and their and its input's size."""
    data = generated_for_training(n_samples, 8)
    X, y = data.X_train, data.y_train
    fit(learner, theta, X[:300], y[:300], scaling="minmax")
    used, model = added_memory(lambda: fit(learner, theta, X, y, scaling="minmax"))
    n_boxes, n_features = model.hyperboxes_.lower.shape
    box_size = n_boxes * (2 * n_features + 2) * 8
    return n_boxes, used, box_size / 2**20, (X.nbytes + y.nbytes) / 2**20
