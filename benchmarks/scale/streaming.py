"""Streams: learning in batches, and single samples."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import gen_batches
from sklearn.utils.validation import validate_data

from benchmarks.data import Split, generated_for_training, in_file_order
from benchmarks.scale.common import IOL, THETA, Goal, Run
from benchmarks.timing import progress, table
from hyperboxes import ImprovedOnlineGFMM

try:
    from river.tree import HoeffdingTreeClassifier
except ImportError as error:
    sys.exit(f"This benchmark needs river: pip install 'hyperboxes[bench]' ({error})")


BATCHES = (1, 10, 100, 1_000)
TEST_BATCH = 100
STREAM_CALLS = 10_000  # at most: some seconds


class HoeffdingTree:
    """river's tree with the methods of scikit-learn; it takes one sample at a time."""

    def __init__(self) -> None:
        self._tree = HoeffdingTreeClassifier()

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: Any = None) -> None:
        """Learn the samples one by one."""
        for sample, label in zip(self._samples(X), y.tolist(), strict=True):
            self._tree.learn_one(sample, label)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict the samples one by one."""
        return np.array([self._tree.predict_one(sample) for sample in self._samples(X)])

    @staticmethod
    def _samples(X: np.ndarray) -> Iterator[dict[int, float]]:
        return (dict(enumerate(row)) for row in X.tolist())


STREAM_LEARNERS: dict[str, Callable[[], Any]] = {
    IOL: partial(ImprovedOnlineGFMM, THETA, scaling=None),
    "river's HoeffdingTree": HoeffdingTree,
    "SGDClassifier": partial(SGDClassifier, random_state=0),
}


def bench_stream(run: Run) -> list[Goal]:
    """Learn a stream in batches beside other learners; nothing is wanted of it."""
    name, X, y = stream(run)
    print(stream_table(run, name, X, y), end="\n\n")
    print(accuracy_table(X, y), end="\n\n")
    print(
        "river's tree learns with learn_one whatever the batch: it has no learn_many. Making the\n"
        "dictionaries it needs is in its time.\n"
    )
    return []


def stream(run: Run) -> tuple[str, np.ndarray, np.ndarray]:
    """Return the electricity data in its order, or else generated data."""
    samples = in_file_order("electricity", run.data / "large")
    if samples is None:
        print("electricity: not in the shared data (see --data), generated data instead")
        data = generated_for_training(run.size(45_312), 8)
        return data.name, data.X_train, data.y_train
    X, y = (part[: run.size(len(part))] for part in samples)
    return "electricity", MinMaxScaler(clip=True).fit_transform(X), y


def stream_table(run: Run, name: str, X: np.ndarray, y: np.ndarray) -> str:
    """Tabulate samples per second; where batches are small, of the first samples only."""
    rows = []
    for batch in BATCHES:
        progress(f"stream in batches of {batch}")
        limit = batch * run.size(STREAM_CALLS)
        part = X[:limit], y[:limit]
        timings = run.medians(
            {
                learner: partial(learn_stream, make, *part, batch)
                for learner, make in STREAM_LEARNERS.items()
            }
        )
        n_samples = len(part[1])
        speeds = (f"{n_samples / timing.seconds:,.0f}" for timing in timings.values())
        rows.append((f"{name}, batches of {batch:,}", f"{n_samples:,}", *speeds))
    return table(("samples per second", "samples", *STREAM_LEARNERS), rows)


def learn_stream(make: Callable[[], Any], X: np.ndarray, y: np.ndarray, batch: int) -> None:
    """Learn all samples, a batch at a time."""
    model = make()
    classes = np.unique(y)
    for rows in gen_batches(len(y), batch):
        model.partial_fit(X[rows], y[rows], classes=None if rows.start else classes)


def accuracy_table(X: np.ndarray, y: np.ndarray) -> str:
    """Tabulate the accuracy on samples not yet learned."""
    progress("accuracy on the stream")
    header = (f"accuracy, each batch of {TEST_BATCH} tested, then learned", "")
    return table(
        header,
        (
            (learner, f"{test_then_train(make(), X, y):.4f}")
            for learner, make in STREAM_LEARNERS.items()
        ),
    )


def test_then_train(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Predict each batch but the first, then learn it; return the share of hits."""
    model.partial_fit(X[:TEST_BATCH], y[:TEST_BATCH], classes=np.unique(y))
    X, y = X[TEST_BATCH:], y[TEST_BATCH:]
    n_hits = 0
    for rows in gen_batches(len(y), TEST_BATCH):
        n_hits += np.sum(model.predict(X[rows]) == y[rows])
        model.partial_fit(X[rows], y[rows])
    return n_hits / len(y)


def bench_overhead(run: Run) -> list[Goal]:
    """Time calls with single samples beside scikit-learn's; nothing is wanted of them."""
    progress("single samples")
    timings = run.medians(single_calls(generated_for_training(1_000, 8)))
    print(
        table(
            ("calls with one sample, fitted on 1,000 x 8", "microseconds"),
            ((name, f"{1e6 * timing.seconds:.0f}") for name, timing in timings.items()),
        ),
        end="\n\n",
    )
    return []


def single_calls(data: Split) -> dict[str, Callable[[], Any]]:
    """Return functions that call a method with the next test sample."""
    boxes, linear, neighbours = (
        model.fit(data.X_train, data.y_train)
        for model in (
            ImprovedOnlineGFMM(THETA, scaling=None, shuffle=False),
            SGDClassifier(random_state=0),
            KNeighborsClassifier(),
        )
    )
    rows = [slice(row, row + 1) for row in range(len(data.y_test))]
    labelled = cycle([(data.X_test[row], data.y_test[row]) for row in rows])
    unlabelled = cycle([data.X_test[row] for row in rows])
    validate = partial(validate_data, boxes, reset=False, dtype=np.float64, order="C")
    return {
        f"{IOL}.partial_fit": lambda: boxes.partial_fit(*next(labelled)),
        "  of which validate_data(X, y)": lambda: validate(*next(labelled)),
        "SGDClassifier.partial_fit": lambda: linear.partial_fit(*next(labelled)),
        f"{IOL}.predict": lambda: boxes.predict(next(unlabelled)),
        "  of which validate_data(X)": lambda: validate(next(unlabelled)),
        "SGDClassifier.predict": lambda: linear.predict(next(unlabelled)),
        "KNeighborsClassifier.predict": lambda: neighbours.predict(next(unlabelled)),
    }
