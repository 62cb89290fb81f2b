"""`make bench-dask`: fits in partitions on workers, compared with one process.

Samples are drawn, or read, by the workers, partition by partition. Time is that of the fit, from
the samples' source to the fitted estimator, with kernels compiled; memory is the largest that a
process had, of which Python and its packages take some 200 MB.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from sklearn.base import clone

from benchmarks.dask.running import (
    APART,
    N_TEST,
    OVERLAPPING,
    TEST_SEED,
    Measured,
    Partitioned,
    covertype,
    draw,
    fit_alone,
    fit_on_workers,
    generated,
    warm_up,
)
from benchmarks.harness import command, machine, progress, table
from hyperboxes import ImprovedOnlineGFMM, merge

PARTITION = 50_000  # samples
COVERTYPE = 100_000, 8  # training samples and partitions


def main() -> None:
    """Run the benchmark from the command line."""
    parser = command("bench-dask", __doc__)
    add = parser.add_argument
    add("--only", action="append", choices=SECTIONS, help="repeat for several")
    add("--samples", type=int, default=10_000_000, help="of the generated set")
    options = parser.parse_args()
    print(machine("numpy", "numba", "scikit-learn", "dask"), end="\n\n")
    warm_up()
    for section in options.only or SECTIONS:
        SECTIONS[section](options, ImprovedOnlineGFMM(random_state=0))


def bench_apart(options: argparse.Namespace, model: Any, spread: float = APART) -> None:
    """Compare on generated classes that hardly overlap."""
    n_parts = max(2, options.samples // PARTITION)
    compare(generated(options.samples, 8, n_parts, spread), model)


def bench_overlapping(options: argparse.Namespace, model: Any) -> None:
    """Compare on generated classes that overlap."""
    bench_apart(options, model, OVERLAPPING)


def bench_covertype(options: argparse.Namespace, model: Any) -> None:
    """Compare on covertype."""
    with tempfile.TemporaryDirectory() as folder:
        data = covertype(options.data, *COVERTYPE, Path(folder))
        if data is None:
            print("covertype is not there; name a folder with --data\n")
        else:
            compare(data, model)


def compare(data: Partitioned, model: Any) -> None:
    """Print fits in one process and on workers side by side."""
    runs: dict[int, Measured] = {}
    for n in (0, 1, 2):
        progress(f"{data.name}, {title(n)}")
        runs[n] = fit_on_workers(data, model, n) if n else fit_alone(data, model)
    print(f"{data.name}, {data.n_parts} partitions, theta {model.theta}, {N_TEST:,} test samples\n")
    rows = (
        [
            *(title(n), f"{run.seconds:.1f}", f"{run.accuracy:.4f}", f"{run.n_boxes:,}"),
            "" if run.spent is None else f"{run.spent:.1f}",
            *(f"{run.client_mb:.0f}", "" if run.worker_mb is None else f"{run.worker_mb:.0f}"),
        ]
        for n, run in runs.items()
    )
    header = ("", "seconds", "accuracy", "boxes", "of tasks", "MB, client", "MB, worker")
    print(table(header, rows), end="\n\n")


def title(n_workers: int) -> str:
    """Return the title of a row."""
    return {0: "one process", 1: "1 worker"}.get(n_workers, f"{n_workers} workers")


def alike(model: Any) -> Any:
    """Return a model whose scaling is the same for all partitions, so that they can be merged."""
    return clone(model).set_params(scaling=[[-1.0] * 8, [2.0] * 8], calibrate=False)


def bench_many(options: argparse.Namespace, model: Any) -> None:
    """Merge up to a thousand models, in one call."""
    rows, test = PARTITION // 10, draw(TEST_SEED, N_TEST, 8, APART)
    models: list[Any] = []
    learning, found = 0.0, []
    for n_models in (16, 64, 250, 1_000):
        progress(f"{n_models} models")
        for number in range(len(models), n_models):
            samples = draw(number, rows, 8, APART)
            start = time.process_time()
            models.append(alike(model).fit(*samples))
            learning += time.process_time() - start
        start = time.process_time()
        merged = merge(models)
        merging = time.process_time() - start
        n_in = sum(len(learned.hyperboxes_) for learned in models)
        cells = f"{learning:.1f}", f"{n_in:,}", f"{merging:.1f}", f"{len(merged.hyperboxes_):,}"
        found.append((f"{n_models:,}", *cells, f"{merged.score(*test):.4f}"))
    print(f"Models of {rows:,} x 8, classes apart, theta {model.theta}, processor seconds\n")
    head = "models", "to learn them", "their boxes", "to merge them", "boxes", "accuracy"
    print(table(head, found), end="\n\n")


SECTIONS = {
    "apart": bench_apart,
    "overlapping": bench_overlapping,
    "covertype": bench_covertype,
    "many": bench_many,
}


if __name__ == "__main__":
    main()
