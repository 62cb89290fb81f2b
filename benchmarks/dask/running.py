"""Fits on one process and on workers: time, memory, accuracy, and what each task took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import dask
import dask.array
import numpy as np
from distributed import Client, LocalCluster, get_task_stream
from sklearn.base import clone

import hyperboxes.dask
from benchmarks.dask.data import Partitioned
from benchmarks.timing import call_in_fresh_process, peak
from hyperboxes import ImprovedOnlineGFMM


@dataclass(frozen=True)
class Measured:
    """What came of a fit.

    `tasks` lists kind and seconds of all tasks, `fetching` the seconds that workers waited for
    results of others; of one process there are none.
    """

    seconds: float
    accuracy: float
    n_boxes: int
    client_mb: float
    worker_mb: float | None = None
    tasks: list[tuple[str, float]] = field(default_factory=list)
    fetching: float = 0.0
    work: float = 0.0  # processor time of the workers

    def spent(self, kind: str) -> float:
        """Return the seconds that tasks of a kind took, added up."""
        return sum(seconds for name, seconds in self.tasks if name == kind)


def fit_alone(data: Partitioned, model: Any) -> Measured:
    """Fit in a process of its own, with all samples in memory."""
    return call_in_fresh_process(_fit_alone, data, model)


def fit_on_workers(data: Partitioned, model: Any, n_workers: int, **options: int) -> Measured:
    """Fit on worker processes, from a client of its own, with options of `hyperboxes.dask.fit`."""
    return call_in_fresh_process(_fit_on_workers, data, model, n_workers, options)


def fit_twice(n_workers: int) -> tuple[float, float]:
    """Return the seconds that a small first fit and a second one take on new workers."""
    return call_in_fresh_process(_fit_twice, n_workers)


def _fit_twice(n_workers: int) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 2)), rng.integers(3, size=400)
    samples = dask.array.from_array(X, chunks=(100, 2)), dask.array.from_array(y, chunks=100)
    with _cluster(n_workers, is_warm=False) as client:
        times = [time.perf_counter()]
        for _ in range(2):
            hyperboxes.dask.fit(ImprovedOnlineGFMM(random_state=0), *samples, client=client)
            times.append(time.perf_counter())
    return times[1] - times[0], times[2] - times[1]


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


def _fit_on_workers(
    data: Partitioned, model: Any, n_workers: int, options: dict[str, int]
) -> Measured:
    with _cluster(n_workers) as client:
        make = dask.delayed(data.part, pure=False)
        parts = [make(number) for number in range(data.n_parts)]
        samples, labels = ([part[place] for part in parts] for place in range(2))
        before = sum(client.run(time.process_time).values())
        with get_task_stream(client, plot=False) as stream:
            start = time.perf_counter()
            model = hyperboxes.dask.fit(clone(model), samples, labels, **options, client=client)
            seconds = time.perf_counter() - start
        most = peak()
        work = sum(client.run(time.process_time).values()) - before
        accuracy = model.score(*data.test())
        workers = max(client.run(peak).values())
        tasks, fetching = _read_stream(stream.data)
    n_boxes = len(model.hyperboxes_)
    return Measured(seconds, accuracy, n_boxes, most, workers, tasks, fetching, work)


def _read_stream(records: list[dict[str, Any]]) -> tuple[list[tuple[str, float]], float]:
    tasks, fetching = [], 0.0
    for record in records:
        key = str(record["key"])
        kind = key.split("-")[1] if key.startswith("hyperboxes-") else "read"
        for step in record["startstops"]:
            seconds = step["stop"] - step["start"]
            if step["action"] == "compute":
                tasks.append((kind, seconds))
            elif step["action"] == "transfer":
                fetching += seconds
    return tasks, fetching


@contextmanager
def _cluster(n_workers: int, *, is_warm: bool = True) -> Iterator[Client]:
    """Start workers, whose kernels are loaded if they are warm."""
    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster, set_as_default=False) as client:
        if is_warm:
            client.run(warm_up)
            warm_up()
        yield client


def warm_up() -> None:
    """Compile, or load, all kernels that a fit needs."""
    from hyperboxes import merge

    rng = np.random.default_rng(0)
    X, y = rng.random((400, 2)), rng.integers(3, size=400)
    models = [
        ImprovedOnlineGFMM(0.3, scaling=[[0, 0], [1, 1]]).fit(X[i::2], y[i::2]) for i in range(2)
    ]
    merge(models).predict(X)
