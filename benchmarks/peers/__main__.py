"""`make bench-peers`: this package beside hyperbox-brain, on the same data in one run.

hyperbox-brain is run, never copied. Its rules are changed in one place, `our_conventions`, to show
by experiment why its boxes differ from ours where they do.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import Split, add_data_option, generated, shared
from benchmarks.peers.comparing import compare
from benchmarks.peers.learners import GENERATED, LEARNERS, SMALL, SMALLEST
from benchmarks.peers.starting import cold_start, memory_of_agglo_sm
from benchmarks.peers.tables import (
    NOTES,
    box_table,
    cold_table,
    summary,
    time_table,
)
from benchmarks.timing import machine

QUICK_SETS = (SMALLEST, SMALL)


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="bench-peers", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--theta", type=float, help="largest side of a box, for all learners")
    parser.add_argument("--quick", action="store_true", help="the smallest generated sets only")
    parser.add_argument("--cold", action="store_true", help="imports and first fits only")
    options = parser.parse_args()

    print(machine("hyperbox-brain", "numpy", "numba", "scikit-learn"))
    if options.cold:
        print(cold_table(cold_start()))
        return
    print("gamma 1, one pass, features scaled to [0, 1] beforehand\n")
    comparisons = [
        compare(learner, data if data.is_continuous else data.head(learner.limit), theta)
        for learner in LEARNERS
        for data in data_sets(learner.sets, options.data, options.quick)
        for theta in ((options.theta,) if options.theta else learner.thetas)
    ]
    print(time_table(comparisons), box_table(comparisons), NOTES, sep="\n\n", end="\n\n")
    cold = cold_start()
    print(cold_table(cold), end="\n\n")
    print(summary(comparisons, cold, memory_of_agglo_sm()))


def data_sets(names: tuple[str, ...], folder: Path, quick: bool) -> Iterator[Split]:
    """Yield the sets of these names that are there."""
    for name in names:
        if quick and name not in QUICK_SETS:
            continue
        data = generated(*GENERATED[name]) if name in GENERATED else shared(name, folder)
        if data is None:
            print(f"{name}: skipped, the shared data is not there (see --data)")
        else:
            yield data


if __name__ == "__main__":
    main()
