"""The parts of an experiment: computed in worker processes, the longest first, and kept."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from benchmarks.harness import Kept, digest, progress

# What a part yields: numbers by name, as JSON keeps them.
Result = dict[str, Any]

# A worker is a process, and has one thread.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# Modules of `reproduce` that results depend on.
_MEASURE = ("experiments", "learners", "loading", "tie_order", "old_argsort")

PAUSE = 10.0  # seconds between two lines that show how far a run is


@dataclass(frozen=True)
class Cell:
    """A learner on a data set; `compute` is a function of a module, called in another process.

    `seconds` is a rough guess. `is_ours` is whether the package is measured, not another one, and
    `is_timed` whether nothing else may run meanwhile.
    """

    experiment: str
    dataset: str
    learner: str
    compute: Callable[..., Result]
    arguments: tuple[Any, ...]
    seconds: float
    theta: float | None = None
    is_ours: bool = True
    is_timed: bool = False

    @property
    def key(self) -> str:
        """The name under which the result is kept."""
        theta = () if self.theta is None else (f"theta {self.theta}",)
        return ": ".join((self.experiment, self.dataset, self.learner, *theta))

    def __call__(self) -> Result:
        """Compute the result."""
        return self.compute(*self.arguments)


# Finished parts.
Results = list[tuple[Cell, Result]]


class Store:
    """Results by part, in a file to which every finished part is added at once.

    A result counts as long as the code that it depends on is unchanged: the package, if it is
    what the part measures, and the modules of the experiment.
    """

    def __init__(self, path: Path, data: str) -> None:
        self._kept = Kept(path)
        self._data = data

    def __contains__(self, cell: Cell) -> bool:
        return self._key(cell) in self._kept

    def __getitem__(self, cell: Cell) -> Result:
        result: Result = self._kept[self._key(cell)][0]
        return result

    def seconds(self, cell: Cell) -> float:
        """Return how long a part took."""
        return float(self._kept[self._key(cell)][1])

    def add(self, cell: Cell, result: Result, seconds: float) -> None:
        """Keep a result."""
        self._kept[self._key(cell)] = result, seconds

    def _key(self, cell: Cell) -> str:
        sources = digest(*(f"reproduce/{name}" for name in _MEASURE))
        return f"{cell.key}: {sources}{digest() if cell.is_ours else ''}: {self._data}"


def run(cells: Iterable[Cell], store: Store, jobs: int, title: str) -> list[str]:
    """Compute what the store does not contain yet; return what failed, and why."""
    waiting = sorted((cell for cell in cells if cell not in store), key=lambda cell: cell.seconds)
    failures: list[str] = []
    if not waiting:
        return failures
    n_cells, guess, latest = len(waiting), sum(cell.seconds for cell in waiting), time.time()
    with _workers(jobs) as pool:
        running: dict[Future, Cell] = {}
        while waiting or running:
            while waiting and len(running) < jobs:
                cell = waiting.pop()
                running[pool.submit(_timed, cell)] = cell
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                cell = running.pop(future)
                error = future.exception()
                if isinstance(error, BrokenProcessPool):  # killed, perhaps for want of memory
                    raise error
                if error:
                    failures.append(f"{cell.key}: {error!r}")
                else:
                    store.add(cell, *future.result())
            if time.time() - latest >= PAUSE or not (waiting or running):
                latest, left = time.time(), [*waiting, *running.values()]
                share = sum(cell.seconds for cell in left) / guess
                progress(f"{title}: {n_cells - len(left)} of {n_cells}, {share:.0%} of work left")
    return failures


def duration(seconds: float) -> str:
    """Print hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


def _timed(cell: Cell) -> tuple[Result, float]:
    start = time.perf_counter()
    result = cell()
    return result, time.perf_counter() - start


@contextmanager
def _workers(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Start processes; end them at once if the run is interrupted."""
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_follow_parent)
    try:
        yield pool
    except BaseException:
        for process in active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _follow_parent() -> None:
    """Leave Ctrl-C to the parent, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
