"""`make bench-scale`: how the package behaves on much data, on streams and on single samples.

Where there is something to compare with, it runs beside it on the same data: the index beside the
paper's lemma, prediction beside scikit-learn's nearest neighbour, streams beside river.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.data import add_data_option
from benchmarks.scale.beside import bench_beside
from benchmarks.scale.common import QUICK, Goal, Run, warm_up
from benchmarks.scale.exporting import bench_onnx
from benchmarks.scale.fitting import bench_fit, bench_small
from benchmarks.scale.growing import PICTURE, bench_growth
from benchmarks.scale.overlapping import (
    bench_agglomeration,
    bench_merge,
    bench_overlap,
    bench_overlap_growth,
)
from benchmarks.scale.predicting import bench_predict
from benchmarks.scale.pruning import bench_prune
from benchmarks.scale.remembering import bench_memory
from benchmarks.scale.sets import bench_sets
from benchmarks.scale.streaming import bench_overhead, bench_stream
from benchmarks.timing import machine, progress, table, yes_no


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="bench-scale", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help=f"sizes divided by {QUICK}")
    parser.add_argument("--only", action="append", choices=SECTIONS, help="repeat for several")
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="PATH",
        help="picture of the growth (default: docs/scale.png; with --quick none)",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="DIR",
        help="of `beside`, keep what was measured in a folder, and go on with what is missing",
    )
    parser.add_argument(
        "--most",
        type=int,
        default=sys.maxsize,
        metavar="N",
        help="of `overlap-growth`, `predict` and `beside`, sizes up to this only",
    )
    parser.add_argument(
        "--membership",
        choices=("mean", "min"),
        default="mean",
        help="of fits beside the lemma, the default, or the paper's, for which it was made",
    )
    options = parser.parse_args()
    picture = options.plot or (None if options.quick else PICTURE)
    asked = picture, options.keep, options.most, options.membership
    run = Run(options.data, options.quick, *asked)

    print(machine("numpy", "numba", "scikit-learn", "river"))
    print(f"Membership by the {options.membership} of the features.")
    print("gamma 1, one pass, features scaled to [0, 1] beforehand. Seconds are medians of runs in")
    print("turns; of a single run where one round of turns takes 8 seconds or more.\n")
    progress("warm-up")
    warm_up()
    goals = [goal for name in options.only or SECTIONS for goal in SECTIONS[name](run)]
    if goals:
        print(summary(goals))


def summary(goals: list[Goal]) -> str:
    """Set what is wanted against what was measured."""
    return table(
        ("goal", "wanted", "measured (worst)", "met"),
        ((goal.name, goal.wanted, goal.measured, yes_no(goal.met)) for goal in goals),
    )


SECTIONS: dict[str, Callable[[Run], list[Goal]]] = {
    "fit": bench_fit,
    "overlap": bench_overlap,
    "overlap-growth": bench_overlap_growth,
    "agglomeration": bench_agglomeration,
    "merge": bench_merge,
    "prune": bench_prune,
    "small": bench_small,
    "sets": bench_sets,
    "growth": bench_growth,
    "predict": bench_predict,
    "onnx": bench_onnx,
    "beside": bench_beside,
    "stream": bench_stream,
    "memory": bench_memory,
    "overhead": bench_overhead,
}


if __name__ == "__main__":
    main()
