"""`make bench-dask`: partitions on workers beside one process, and a plan for many more.

Samples are drawn, or read, by the workers, partition by partition. Time is that of the fit, from
the samples' source to the fitted estimator, with kernels compiled; memory is the largest that a
process had, of which Python and its packages take some 200 MB. The plan is a simulation of the
cluster, with costs measured here, that is first compared with the real runs.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sklearn.base import clone

from benchmarks.dask.costs import Costs, boxes_of, measure, measure_at_once, timed
from benchmarks.dask.data import (
    APART,
    N_TEST,
    OVERLAPPING,
    TEST_SEED,
    Partitioned,
    covertype,
    draw,
    generated,
)
from benchmarks.dask.planning import Plan, simulate
from benchmarks.dask.running import (
    Dispatch,
    Measured,
    fit_alone,
    fit_on_workers,
    fit_twice,
    measure_dispatch,
    warm_up,
)
from benchmarks.data import add_data_option
from benchmarks.timing import machine, progress, table
from hyperboxes import ImprovedOnlineGFMM, merge
from hyperboxes._estimators import merge as merging

WORKERS = (1, 2)
KINDS = (
    "read",
    "look_at_partition",
    "learn_partition",
    "merge_partitions",
    "learn_lost",
    "repair",
    "finish",
)
# Kinds of tasks of a run, and of the model.
PAIRS = (
    (("read",), "read"),
    (("look_at_partition",), "look"),
    (("learn_partition",), "learn"),
    (("merge_partitions", "repair"), "merge"),
    (("learn_lost",), "repair"),
)
STAGES = "looking", "learning", "merging after", "repairing", "the end"
PLANNED_WORKERS = 16, 64, 256, 1024
PLANNED_ROWS = 50_000, 200_000, 1_000_000
SECTIONS = ("apart", "overlapping", "covertype", "memory", "cold", "merging", "many", "plan")


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="bench-dask", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--only", action="append", choices=SECTIONS, help="repeat for several")
    parser.add_argument("--samples", type=int, default=10_000_000, help="of the generated set")
    parser.add_argument("--partition", type=int, default=50_000, help="samples of a partition")
    parser.add_argument("--most", type=int, default=400_000, help="training samples of covertype")
    parser.add_argument("--theta", type=float, default=0.5)
    parser.add_argument("--min-box-samples", type=int, default=1)
    parser.add_argument("--repairs", type=int, default=1, help="passes to learn what was lost")
    parser.add_argument(
        "--workers",
        type=int,
        action="append",
        help="how many, 0 for a fit in one process; repeat for several; default: 0, 1 and 2",
    )
    parser.add_argument(
        "--played",
        type=int,
        default=256,
        help="partitions that the model of the cluster is measured on, a power of 4; 0: no model",
    )
    parser.add_argument("--rows", type=int, action="append", help="of the plan's partitions")
    options = parser.parse_args()
    print(machine("numpy", "numba", "scikit-learn", "dask"), end="\n\n")
    model = ImprovedOnlineGFMM(options.theta, random_state=0)
    warm_up()
    for section in options.only or SECTIONS:
        globals()[f"bench_{section}"](options, model)


def bench_apart(options: argparse.Namespace, model: Any) -> None:
    """Compare on classes that hardly overlap."""
    bench_generated(options, model, APART)


def bench_overlapping(options: argparse.Namespace, model: Any) -> None:
    """Compare on classes that overlap."""
    bench_generated(options, model, OVERLAPPING)


def bench_generated(options: argparse.Namespace, model: Any, spread: float) -> None:
    """Compare on a generated set, and the model of the cluster with that."""
    n_parts = max(2, options.samples // options.partition)
    data = generated(options.samples, 8, n_parts, spread)
    runs = compare(data, model, options)
    if options.played > 0 and options.min_box_samples == 1 and options.repairs == 1:
        check_model(options, model, data, spread, runs)


def check_model(
    options: argparse.Namespace,
    model: Any,
    data: Partitioned,
    spread: float,
    runs: dict[int, Measured],
) -> None:
    """Print what the model of the cluster says beside what runs took."""
    rows, dispatch = [], measure_dispatch()
    for n_workers, real in runs.items():
        if n_workers > 0:
            progress(f"costs beside {n_workers - 1} others")
            played = model, 8, options.partition, options.played, spread
            costs = measure_at_once(n_workers, *played)
            plan = simulate(costs, dispatch, data.n_samples, data.n_parts, n_workers)
            rows += [(str(n_workers), *row) for row in differences(real, plan)]
    print(f"The model of the cluster, measured on {options.played} partitions in as many processes")
    print(f"at once as there are workers; Dask takes {of_task(dispatch)}\n")
    print(table(("workers", "seconds", "run", "model", "difference"), rows), end="\n\n")


def differences(real: Measured, plan: Plan) -> list[tuple[str, ...]]:
    """Return what a run took, what the model says, and how far it is off."""
    pairs = [
        ("all, processor", real.work, plan.work),
        ("all", real.seconds, plan.seconds),
        ("(boxes)", float(real.n_boxes), plan.n_boxes),
    ]
    for tasks, kind in PAIRS:
        pairs.append(
            (f"{kind}, processor", sum(real.spent[task] for task in tasks), plan.spent[kind])
        )
    return [
        (name, f"{was:,.1f}", f"{said:,.1f}", f"{said / was - 1:+.0%}") for name, was, said in pairs
    ]


def of_task(dispatch: Dispatch) -> str:
    """Say what Dask itself takes for a task."""
    worker, before = 1e3 * dispatch.worker, 1e3 * dispatch.scheduler
    return f"{worker:.2f} ms of a worker for a task, {before:.2f} of the scheduler"


def bench_covertype(options: argparse.Namespace, model: Any) -> None:
    """Compare on covertype."""
    with tempfile.TemporaryDirectory() as folder:
        n_parts = max(2, options.most // options.partition)
        data = covertype(options.data, options.most, n_parts, Path(folder))
        if data is None:
            print("covertype is not there; name a folder with --data\n")
        else:
            compare(data, model, options)


def compare(data: Partitioned, model: Any, options: argparse.Namespace) -> dict[int, Measured]:
    """Print fits in one process and on workers side by side."""
    runs: dict[int, Measured] = {}
    for n_workers in options.workers or (0, *WORKERS):
        if n_workers == 0:
            progress(f"{data.name}, one process")
            runs[0] = fit_alone(data, model)
            continue
        progress(f"{data.name}, {n_workers} workers")
        runs[n_workers] = fit_on_workers(
            data,
            model,
            n_workers,
            min_box_samples=options.min_box_samples,
            n_repairs=options.repairs,
        )
    print(f"{data.name}, {data.n_parts} partitions, theta {model.theta}, boxes of at least")
    print(
        f"{options.min_box_samples} samples, {options.repairs} repairs, {N_TEST:,} test samples\n"
    )
    print(table(("", "seconds", "accuracy", "boxes", "MB, client", "MB, worker"), rows_of(runs)))
    print(f"\n{comparison(runs)}\n")
    shares = [(str(n), *shares_of(run)) for n, run in runs.items() if run.spent]
    print(table(("workers", *KINDS, "fetching"), shares), end="\n\n")
    return runs


def rows_of(runs: dict[int, Measured]) -> list[tuple[str, ...]]:
    """Return a row for each way."""
    return [
        (
            {0: "one process", 1: "1 worker"}.get(n_workers, f"{n_workers} workers"),
            f"{run.seconds:.1f}",
            f"{run.accuracy:.4f}",
            f"{run.n_boxes:,}",
            f"{run.client_mb:.0f}",
            "" if run.worker_mb is None else f"{run.worker_mb:.0f}",
        )
        for n_workers, run in runs.items()
    ]


def shares_of(run: Measured) -> list[str]:
    """Return what kinds of tasks took of all their processor time."""
    total = run.spent.total() + run.fetching
    spent = [*(run.spent[kind] for kind in KINDS), run.fetching]
    return [f"{seconds:.1f} s, {seconds / total:.0%}" for seconds in spent]


def comparison(runs: dict[int, Measured]) -> str:
    """Say how much faster two workers are, and how accurate beside one process."""
    says = []
    if 1 in runs and 2 in runs:
        gain = runs[1].seconds / runs[2].seconds
        says.append(f"Two workers: {gain:.2f} times as fast as one (wanted: 1.7).")
    if 0 in runs and max(runs) > 0:
        points = 100 * (runs[max(runs)].accuracy - runs[0].accuracy)
        says.append(f"Workers: {points:+.2f} points beside one process (wanted: at least -0.5).")
    return " ".join(says)


def bench_memory(options: argparse.Namespace, model: Any) -> None:
    """Print what the client takes as the partitions multiply."""
    rows = []
    for n_parts in (4, 16, 64):
        progress(f"memory, {n_parts} partitions")
        data = generated(n_parts * options.partition // 10, 8, n_parts, APART)
        run = fit_on_workers(data, model, 2)
        rows.append((f"{data.n_samples:,}", f"{run.client_mb:.0f}", f"{run.n_boxes:,}"))
    print(table(("samples", "MB, client", "boxes of the model"), rows), end="\n\n")


def bench_cold(options: argparse.Namespace, model: Any) -> None:
    """Print what the first fit takes where nothing has been compiled."""
    rows = []
    for n_workers in WORKERS:
        progress(f"cold, {n_workers} workers")
        with tempfile.TemporaryDirectory() as folder, cache_in(folder):
            first, second = fit_twice(n_workers)
        rows.append((str(n_workers), f"{first:.1f}", f"{second:.2f}"))
    print(table(("cold workers", "first fit, s", "second"), rows), end="\n\n")


@contextmanager
def cache_in(folder: str) -> Iterator[None]:
    """Have new processes keep their kernels in a folder."""
    before = os.environ.get("NUMBA_CACHE_DIR")
    os.environ["NUMBA_CACHE_DIR"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["NUMBA_CACHE_DIR"]
        else:
            os.environ["NUMBA_CACHE_DIR"] = before


def bench_merging(options: argparse.Namespace, model: Any) -> None:
    """Merge many models, in trees and at once."""
    n_parts, rows = 64, options.partition // 20
    X_test, y_test = draw(TEST_SEED, N_TEST, 8)
    low, high = [-1.0] * 8, [2.0] * 8
    alike = clone(model).set_params(scaling=[low, high], calibrate=False)
    start = time.perf_counter()
    models = [clone(alike).fit(*draw(number, rows, 8)) for number in range(n_parts)]
    print(f"{n_parts} models of {rows:,} samples: {time.perf_counter() - start:.1f} s to learn\n")
    found = []
    for at_once in (2, 4, 8, n_parts):
        progress(f"merging {at_once} at once")
        merging.AT_ONCE = at_once
        start = time.perf_counter()
        merged = merge(models)
        seconds = time.perf_counter() - start
        accuracy, n_boxes = merged.score(X_test, y_test), len(merged.hyperboxes_)
        found.append((str(at_once), f"{seconds:.1f}", f"{accuracy:.4f}", f"{n_boxes:,}"))
    merging.AT_ONCE = 4
    print(table(("merged at once", "seconds", "accuracy", "boxes"), found), end="\n\n")


def bench_many(options: argparse.Namespace, model: Any) -> None:
    """Merge up to a thousand models, in one call."""
    rows, low, high = options.partition // 10, [-1.0] * 8, [2.0] * 8
    alike = clone(model).set_params(scaling=[low, high], calibrate=False)
    X_test, y_test = draw(TEST_SEED, N_TEST, 8, APART)
    models, learning, found = [], 0.0, []
    for n_models in (16, 64, 250, 1_000):
        progress(f"{n_models} models")
        for number in range(len(models), n_models):
            learned, seconds = timed(clone(alike).fit, *draw(number, rows, 8, APART))
            models.append(learned)
            learning += seconds
        merged, merging_ = timed(merge, models)
        n_in = sum(len(boxes_of(learned)) for learned in models)
        found.append(
            (
                f"{n_models:,}",
                f"{learning:.1f}",
                f"{n_in:,}",
                f"{merging_:.1f}",
                f"{len(boxes_of(merged)):,}",
                f"{merged.score(X_test, y_test):.4f}",
            )
        )
    print(f"Models of {rows:,} x 8, classes apart, theta {model.theta}, processor seconds\n")
    head = "models", "to learn them", "their boxes", "to merge them", "boxes", "accuracy"
    print(table(head, found), end="\n\n")


def bench_plan(options: argparse.Namespace, model: Any) -> None:
    """Plan a billion samples of 20 features from costs measured here."""
    progress("costs of the plan")
    n_samples = 1_000_000_000
    costs, dispatch = (
        measure(model, 20, options.partition, options.played, APART),
        measure_dispatch(),
    )
    print("A billion samples x 20, classes apart, from costs measured on 20 features:")
    for line in describe(costs, dispatch, options.partition):
        print(f"  {line}")
    head = ("workers", "hours", *STAGES, "workers busy", "last merge")
    for rows in options.rows or PLANNED_ROWS:
        n_parts = n_samples // rows
        plans = [simulate(costs, dispatch, n_samples, n_parts, n) for n in PLANNED_WORKERS]
        print(f"\n{n_parts:,} partitions of {rows:,}, {plans[0].n_boxes:,.0f} boxes\n")
        print(table(head, [plan_row(plan) for plan in plans]))


def describe(costs: Costs, dispatch: Dispatch, rows: int) -> list[str]:
    """Say what was measured, for a partition of so many rows."""
    own, last = costs.boxes(rows), math.exp(costs.growth.sizes[-1])
    top = own * costs.growth(last)
    numbers = ", ".join(f"{own * costs.growth(n):,.0f}" for n in (4, 16, 64, last))
    return [
        f"a partition of {rows:,}: reading {costs.read(rows):.3f} s, looking {costs.look(rows):.3f}"
        f", learning {costs.learn(rows):.3f} (rows ^ {costs.learn.exponent:.2f}), {own:,.0f} boxes"
        f" (rows ^ {costs.boxes.exponent:.2f})",
        f"4, 16, 64 and {last:.0f} of them merged: {numbers} boxes",
        f"merging {top:,.0f} boxes: {1e6 * costs.merge(top):.0f} us for each, "
        f"{1e6 * costs.merge(10 * top):.0f} for ten times as many",
        f"repairing a partition: {rows * costs.hold(top):.3f} s to ask (boxes ^ "
        f"{costs.hold.exponent:.2f}), {rows * costs.lost(last):,.0f} rows lost, "
        f"{1e6 * costs.relearn(top):.0f} us to learn one, "
        f"{1e6 * costs.relearn(10 * top):.0f} beside ten times as many boxes",
        f"Dask: {of_task(dispatch)}",
    ]


def plan_row(plan: Plan) -> tuple[str, ...]:
    """Return a plan in hours."""
    stages = plan.looking, plan.learning, plan.merging, plan.repairing, plan.finishing
    hours = [f"{seconds / 3600:.3f}" for seconds in (plan.seconds, *stages)]
    return str(plan.n_workers), *hours, f"{plan.busy:.0%}", f"{plan.last_merge / 3600:.3f}"


if __name__ == "__main__":
    main()
