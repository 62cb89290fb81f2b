"""`make bench-dask`: fits in partitions on workers, compared with one process.

Samples are drawn, or read, by the workers, partition by partition. Time is that of the fit, from
the samples' source to the fitted estimator, with kernels compiled; memory is the largest that a
process had, of which Python and its packages take some 200 MB.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.dask.running import (
    N_TEST,
    Measured,
    Partitioned,
    covertype,
    fit_alone,
    fit_on_workers,
    generated,
    warm_up,
)
from benchmarks.harness import command, machine, progress, table
from hyperboxes import ImprovedOnlineGFMM

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


def bench_apart(options: argparse.Namespace, model: Any) -> None:
    """Compare on generated classes that hardly overlap."""
    n_parts = max(2, options.samples // PARTITION)
    compare(generated(options.samples, 8, n_parts), model)


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


SECTIONS = {
    "apart": bench_apart,
    "covertype": bench_covertype,
}


if __name__ == "__main__":
    main()
