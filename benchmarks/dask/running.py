"""Fits on one process and on workers: time, memory, accuracy, and what each task took."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import dask
import dask.array
import numpy as np
from distributed import Client, LocalCluster, WorkerPlugin, get_task_stream
from sklearn.base import clone

import hyperboxes.dask
from benchmarks.dask.data import Partitioned
from benchmarks.timing import call_in_fresh_process, peak
from hyperboxes import ImprovedOnlineGFMM


@dataclass(frozen=True)
class Measured:
    """What came of a fit.

    `spent` is what tasks of each kind took, in processor seconds, `fetching` the seconds that
    workers waited for results of others; of one process there are none.
    """

    seconds: float
    accuracy: float
    n_boxes: int
    client_mb: float
    worker_mb: float | None = None
    spent: Counter[str] = field(default_factory=Counter)
    fetching: float = 0.0
    work: float = 0.0  # processor time of the workers


class ProcessorTimes(WorkerPlugin):
    """Notes the processor seconds that tasks of each kind take, on a worker of one thread."""

    name = "processor-times"

    def setup(self, worker: Any) -> None:
        """Find the executor, whose thread is there when the first task runs."""
        self.spent: Counter[str] = Counter()
        self._executor = worker.executors["default"]
        self._started: dict[Any, float] = {}

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Look at the clock when a task begins, and when it is done."""
        if finish == "executing":
            self._started[key] = self._clock()
        elif start == "executing" and key in self._started:
            self.spent[kind_of(key)] += self._clock() - self._started.pop(key)

    def _clock(self) -> float:
        for thread in self._executor._threads:
            return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
        return 0.0


def kind_of(key: Any) -> str:
    """Return what a task does, by its name."""
    return str(key).split("-")[1] if str(key).startswith("hyperboxes-") else "read"


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
        client.register_plugin(ProcessorTimes())
        before = sum(client.run(time.process_time).values())
        with get_task_stream(client, plot=False) as stream:
            start = time.perf_counter()
            model = hyperboxes.dask.fit(clone(model), samples, labels, **options, client=client)
            seconds = time.perf_counter() - start
        most = peak()
        work = sum(client.run(time.process_time).values()) - before
        accuracy = model.score(*data.test())
        workers = max(client.run(peak).values())
        spent = sum(client.run(_spent).values(), Counter())
        fetching = _fetching(stream.data)
    n_boxes = len(model.hyperboxes_)
    return Measured(seconds, accuracy, n_boxes, most, workers, spent, fetching, work)


def _spent(dask_worker: Any) -> Counter[str]:
    return dask_worker.plugins[ProcessorTimes.name].spent


def _fetching(records: list[dict[str, Any]]) -> float:
    steps = [step for record in records for step in record["startstops"]]
    return sum(step["stop"] - step["start"] for step in steps if step["action"] == "transfer")


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
    from hyperboxes.dask._repairing import learn_lost_samples

    rng = np.random.default_rng(0)
    X, y = rng.random((400, 2)), rng.integers(3, size=400)
    models = [
        ImprovedOnlineGFMM(0.3, scaling=[[0, 0], [1, 1]]).fit(X[i::2], y[i::2]) for i in range(2)
    ]
    merged = merge(models)
    merged.predict(X)
    learn_lost_samples(merged, X, y, None)


@dataclass(frozen=True)
class Dispatch:
    """Processor seconds that Dask itself takes for a task: on the worker, and before it."""

    worker: float
    scheduler: float


def measure_dispatch(n_tasks: int = 2_000) -> Dispatch:
    """Have a worker do nothing, many times."""
    return call_in_fresh_process(_measure_dispatch, n_tasks)


def _measure_dispatch(n_tasks: int) -> Dispatch:
    with _cluster(1, is_warm=False) as client:
        for _ in range(2):  # the first time modules are imported
            before = sum(client.run(time.process_time).values()), time.process_time()
            nothing = [dask.delayed(_nothing, pure=False)(number) for number in range(n_tasks)]
            client.compute(dask.delayed(len)(nothing)).result()
            after = sum(client.run(time.process_time).values()), time.process_time()
    return Dispatch(*((end - start) / n_tasks for start, end in zip(before, after, strict=True)))


def _nothing(number: int) -> int:
    return number
