"""`make reproduce`: the paper's experiments on its 24 data sets, ours beside the published.

What is finished is kept in benchmarks/.reproduce: stop it at any time, and the same command goes on
where it was. When the package's code has changed, all of it is measured anew.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

from benchmarks.data import add_data_option
from benchmarks.reproduce import accuracy, counts, published, published_order, times
from benchmarks.reproduce.cells import Cell
from benchmarks.reproduce.family_published import write_family, write_folds
from benchmarks.reproduce.learners import ALGORITHMS
from benchmarks.reproduce.loading import NoDataError, Source
from benchmarks.reproduce.running import run, warm_up
from benchmarks.reproduce.showing import duration
from benchmarks.reproduce.store import Store
from benchmarks.reproduce.summary import write_reports
from benchmarks.timing import machine, progress

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "benchmarks" / ".reproduce"

EXPERIMENTS = {
    "counts": counts.cells,
    published_order.EXPERIMENT: published_order.cells,
    "accuracy": accuracy.cells,
    "times": times.cells,
}
LEARNERS = (*ALGORITHMS, *accuracy.BASELINES, accuracy.PEER)
QUICK_LIMIT = 300  # samples


def main() -> None:
    """Run the experiments from the command line."""
    options = parse()
    if find_spec("hbbrain") is None:
        sys.exit("This benchmark needs hyperbox-brain: pip install 'hyperboxes[bench]'")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        failures = reproduce(options)
    except NoDataError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped. What is finished is kept: the same command goes on from here.")
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    sys.exit(bool(failures))


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="reproduce", description=__doc__)
    add_data_option(parser)
    names = list(published.datasets().index)
    several = {"nargs": "+", "metavar": "NAME"}
    parser.add_argument("--sets", choices=names, default=names, help="some data sets", **several)
    parser.add_argument(
        "--learners",
        choices=LEARNERS,
        default=LEARNERS,
        help=f"some of {', '.join(LEARNERS)}",
        **several,
    )
    parser.add_argument("--only", action="append", choices=EXPERIMENTS, help="repeat for several")
    parser.add_argument(
        "--quick", action="store_true", help=f"the sets of up to {QUICK_LIMIT} samples"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--fresh", action="store_true", help="forget finished parts first")
    parser.add_argument(
        "--results",
        type=Path,
        metavar="DIR",
        help="folder of the tables (default: benchmarks/results, its pictures in docs; of a run "
        "that is limited in any way: benchmarks/.reproduce/results)",
    )
    parser.add_argument(
        "--peer-data",
        type=Path,
        metavar="DIR",
        help="folder `dataset` of hyperbox-brain's repository, for the FMNN family's published "
        "numbers",
    )
    parser.add_argument(
        "--fold-data",
        type=Path,
        metavar="DIR",
        help="folder with the four folds of each set of the IOL-GFMM paper (NAME_dps_1.dat, ...), "
        "for the FMNN family's published results by fold",
    )
    options = parser.parse_args()
    options.is_whole = not (
        options.quick or options.only or options.sets != names or options.learners != LEARNERS
    )
    if options.quick:
        samples = published.datasets()["samples"]
        options.sets = [name for name in options.sets if samples[name] <= QUICK_LIMIT]
    return options


def reproduce(options: argparse.Namespace) -> list[str]:
    """Compute what is not kept, and write the tables; return what failed."""
    source = Source.at(options.data)
    if source.folder is None:
        progress(f"{options.data} does not hold the paper's data")
    progress(f"data: {source}")
    check_data(source, options.sets)
    cells = chosen_cells(options, source)
    store = Store(KEPT / "finished.jsonl", str(source))
    if options.fresh:
        store.forget(cells)
    failures = compute(cells, store, options.jobs)
    finished = [cell for cell in cells if cell in store]
    folder, pictures = places(options)
    seconds = sum(map(store.seconds, finished))
    facts = describe(source, seconds)
    write_reports([(cell, store[cell]) for cell in finished], folder, pictures, facts)
    progress(f"tables are in {folder}, pictures in {pictures}")
    print(write_family(options.peer_data, folder))
    print(write_folds(options.fold_data, folder))
    return failures


def check_data(source: Source, names: list[str]) -> None:
    """Load all data before anything is run, and say where its size is not the published one."""
    for name in names:
        source.paper_input(name)
        size = published.datasets().loc[name, ["samples", "features"]].tolist()
        found = source.true_data(name)[0].shape
        if list(found) != size:
            progress(f"{name}: {found[0]} x {found[1]}, published as {size[0]} x {size[1]}")


def chosen_cells(options: argparse.Namespace, source: Source) -> list[Cell]:
    """Return the parts that were asked for."""
    names = [name for name in EXPERIMENTS if not options.only or name in options.only]
    return [
        cell for name in names for cell in EXPERIMENTS[name](source, options.sets, options.learners)
    ]


def compute(cells: list[Cell], store: Store, jobs: int) -> list[str]:
    """Compute what is not kept; what is timed comes last, with nothing beside it."""
    missing = [cell for cell in cells if cell not in store]
    if not missing:
        return []
    together = [cell for cell in missing if not cell.is_timed]
    alone = [cell for cell in missing if cell.is_timed]
    guess = sum(cell.seconds for cell in together) / jobs + sum(cell.seconds for cell in alone)
    progress(
        f"{len(cells) - len(missing)} of {len(cells)} parts are finished already, "
        f"the others will take about {duration(guess)}"
    )
    progress("compiling, where Numba's cache is empty")
    warm_up()
    failures = run(together, store, jobs, "counts and accuracy")
    return failures + run(alone, store, 1, "times")


def places(options: argparse.Namespace) -> tuple[Path, Path]:
    """Return the folders of tables and pictures; what is committed is of whole runs only."""
    if options.results:
        return options.results, options.results
    if options.is_whole:
        return ROOT / "benchmarks" / "results", ROOT / "docs"
    return KEPT / "results", KEPT / "results"


def describe(source: Source, seconds: float) -> str:
    """Return the facts of a run: command, machine, versions, data."""
    command = " ".join(["python -m benchmarks.reproduce", *sys.argv[1:]])
    lines = machine("numpy", "numba", "scikit-learn", "hyperbox-brain").splitlines()
    facts = (
        f"`{command}`",
        *lines,
        f"Data: {source}",
        f"Computing took {duration(seconds)} in all",
    )
    return "\n".join(f"- {fact}" for fact in facts)


if __name__ == "__main__":
    main()
