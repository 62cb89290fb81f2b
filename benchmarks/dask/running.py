"""Samples in partitions that never meet in memory, and fits of them: in one process, on workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.array
import numpy as np
from distributed import Client, LocalCluster, WorkerPlugin
from sklearn.base import clone

import hyperboxes.dask
from benchmarks.data import Samples, shared
from benchmarks.harness import call_in_fresh_process, peak
from hyperboxes import ImprovedOnlineGFMM, merge

N_CLUSTERS, N_CLASSES = 15, 3
TEST_SEED = 1_000_000_000
N_TEST = 20_000

# The standard deviation of clusters, half of that in `benchmarks.data`, where classes overlap.
SPREAD = 0.1


@dataclass(frozen=True)
class Partitioned:
    """A set of `n_parts` partitions that `part` makes by number, and samples to test with."""

    name: str
    n_samples: int
    n_parts: int
    part: Callable[[int], Samples]
    test: Callable[[], Samples]


def draw(seed: int, n_samples: int, n_features: int) -> Samples:
    """Draw classes of five Gaussian clusters each, anywhere in the unit cube."""
    centres = np.random.default_rng(0).random((N_CLUSTERS, n_features))
    rng = np.random.default_rng([1, seed])
    cluster = rng.integers(N_CLUSTERS, size=n_samples)
    X = centres[cluster] + SPREAD * rng.standard_normal((n_samples, n_features))
    return X, cluster % N_CLASSES


def generated(n_samples: int, n_features: int, n_parts: int) -> Partitioned:
    """Return a set that workers draw part by part."""
    rows = n_samples // n_parts
    return Partitioned(
        f"generated, classes apart, {n_samples:,} x {n_features}",
        rows * n_parts,
        n_parts,
        partial(draw, n_samples=rows, n_features=n_features),
        partial(draw, TEST_SEED, N_TEST, n_features),
    )


def covertype(folder: Path, most: int, n_parts: int, scratch: Path) -> Partitioned | None:
    """Return the shared set in files of some rows each; None where it is not there."""
    data = shared("covertype", folder / "large")
    if data is None:
        return None
    data = data.head(most)
    parts = [(data.X_train[n::n_parts], data.y_train[n::n_parts]) for n in range(n_parts)]
    for number, (X, y) in enumerate([*parts, (data.X_test[:N_TEST], data.y_test[:N_TEST])]):
        np.savez(scratch / f"part-{number}.npz", X=X, y=y)
    name = f"covertype {len(data.y_train):,} x {data.X_train.shape[1]}"
    read = partial(_read, scratch)
    return Partitioned(name, len(data.y_train), n_parts, read, partial(read, n_parts))


def _read(folder: Path, number: int) -> Samples:
    with np.load(folder / f"part-{number}.npz") as file:
        return file["X"], file["y"]


@dataclass(frozen=True)
class Measured:
    """What came of a fit; `spent` are the processor seconds of all tasks on workers."""

    seconds: float
    accuracy: float
    n_boxes: int
    client_mb: float
    worker_mb: float | None = None
    spent: float | None = None


class ProcessorTimes(WorkerPlugin):
    """Adds up the processor seconds that tasks take, on a worker of one thread."""

    name = "processor-times"

    def setup(self, worker: Any) -> None:
        """Find the executor, whose thread is there when the first task runs."""
        self.spent = 0.0
        self._executor = worker.executors["default"]
        self._started: dict[Any, float] = {}

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Look at the clock when a task begins, and when it is done."""
        if finish == "executing":
            self._started[key] = self._clock()
        elif start == "executing" and key in self._started:
            self.spent += self._clock() - self._started.pop(key)

    def _clock(self) -> float:
        for thread in self._executor._threads:
            return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
        return 0.0


def fit_alone(data: Partitioned, model: Any) -> Measured:
    """Fit in a process of its own, with all samples in memory."""
    return call_in_fresh_process(_fit_alone, data, model)


def fit_on_workers(data: Partitioned, model: Any, n_workers: int) -> Measured:
    """Fit on worker processes, from a client of its own."""
    return call_in_fresh_process(_fit_on_workers, data, model, n_workers)


def _fit_small(client: Client) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 2)), rng.integers(3, size=400)
    samples = dask.array.from_array(X, chunks=(100, 2)), dask.array.from_array(y, chunks=100)
    hyperboxes.dask.fit(ImprovedOnlineGFMM(random_state=0), *samples, client=client)


def _fit_alone(data: Partitioned, model: Any) -> Measured:
    warm_up()
    parts = [data.part(number) for number in range(data.n_parts)]
    X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    del parts
    start = time.perf_counter()
    model = clone(model).fit(X, y)
    seconds = time.perf_counter() - start
    most = peak()
    return Measured(seconds, model.score(*data.test()), len(model.hyperboxes_), most)


def _fit_on_workers(data: Partitioned, model: Any, n_workers: int) -> Measured:
    with _cluster(n_workers) as client:
        make = dask.delayed(data.part, pure=False)
        parts = [make(number) for number in range(data.n_parts)]
        samples, labels = ([part[place] for part in parts] for place in range(2))
        client.register_plugin(ProcessorTimes())
        start = time.perf_counter()
        model = hyperboxes.dask.fit(clone(model), samples, labels, client=client)
        seconds = time.perf_counter() - start
        most = peak()
        accuracy = model.score(*data.test())
        workers = max(client.run(peak).values())
        spent = sum(client.run(_spent).values())
    return Measured(seconds, accuracy, len(model.hyperboxes_), most, workers, spent)


def _spent(dask_worker: Any) -> float:
    return dask_worker.plugins[ProcessorTimes.name].spent


@contextmanager
def _cluster(n_workers: int) -> Iterator[Client]:
    """Start workers, and load the kernels there and here."""
    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster, set_as_default=False) as client:
        client.run(warm_up)
        _fit_small(client)
        warm_up()
        yield client


def warm_up() -> None:
    """Compile, or load, the kernels of a fit."""
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 2)), rng.integers(3, size=400)
    model = ImprovedOnlineGFMM(0.3, scaling=[[0, 0], [1, 1]])
    merged = merge([clone(model).fit(X[i::2], y[i::2]) for i in range(2)])
    merged.partial_fit(X, y).predict(X)
