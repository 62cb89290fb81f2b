"""Runs parts in worker processes, the longest first, and keeps each as soon as it is finished."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from threading import Thread

from benchmarks.data import generated_for_training
from benchmarks.reproduce.cells import Cell, Result
from benchmarks.reproduce.learners import AS_PUBLISHED, SELECTIONS
from benchmarks.reproduce.showing import State, display
from benchmarks.reproduce.store import Store

# A worker is a process, and has one thread.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def warm_up() -> None:
    """Compile everything before the workers start, so that they find it in Numba's cache."""
    data = generated_for_training(100, 4)
    for learner in AS_PUBLISHED:
        for selection in SELECTIONS:
            model = learner.make(0.1, selection=selection)
            model.fit(data.X_train, data.y_train).predict(data.X_test)


def run(cells: Iterable[Cell], store: Store, jobs: int, title: str) -> list[str]:
    """Compute what the store does not hold yet; return what failed, and why."""
    waiting = sorted((cell for cell in cells if cell not in store), key=lambda cell: cell.seconds)
    failures: list[str] = []
    if not waiting:
        return failures
    state = State(title, len(waiting), sum(cell.seconds for cell in waiting), jobs)
    with _workers(jobs) as pool, display() as show:
        running: dict[Future, Cell] = {}
        while waiting or running:
            while waiting and len(running) < jobs:
                cell = waiting.pop()
                running[pool.submit(_timed, cell)] = cell
            state.running = running.values()
            show(state)
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                cell = running.pop(future)
                error = future.exception()
                if isinstance(error, BrokenProcessPool):  # killed, perhaps for want of memory
                    raise error
                if error:
                    failures.append(f"{cell.key}: {error!r}")
                else:
                    store.add(cell, *future.result())
                state.finish(cell)
        show(state)
    return failures


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
