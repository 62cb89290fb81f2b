"""`make reproduce`: the paper's experiments on its 24 datasets, our results and the published.

What is finished is kept in benchmarks/.reproduce: stop it at any time, and the same command goes on
where it was. When the package's code has changed, all of it is measured again.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from benchmarks.data import generated_for_training
from benchmarks.harness import KEPT, ROOT, command, machine, progress
from benchmarks.reproduce.experiments import EXPERIMENTS
from benchmarks.reproduce.family_published import write_folds
from benchmarks.reproduce.jobs import Cell, Store, run
from benchmarks.reproduce.learners import AS_PUBLISHED, SELECTIONS, datasets
from benchmarks.reproduce.loading import NoDataError, Source
from benchmarks.reproduce.reports import write_reports

QUICK_LIMIT = 300  # samples


def main() -> None:
    """Run the experiments from the command line."""
    options = parse()
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
    quick = f"the sets of up to {QUICK_LIMIT} samples"
    parser = command("reproduce", __doc__, quick=quick)
    add = parser.add_argument
    names = list(datasets().index)
    several = {"nargs": "+", "metavar": "NAME"}
    add("--sets", choices=names, default=names, help="some data sets", **several)
    add("--only", action="append", choices=EXPERIMENTS, help="repeat for several")
    add(
        "--fold-data",
        type=Path,
        metavar="DIR",
        help="folder with the four folds of each set of the IOL-GFMM paper (NAME_dps_1.dat, ...), "
        "for the FMNN family's published results by fold",
    )
    options = parser.parse_args()
    options.is_whole = not (options.quick or options.only or options.sets != names)
    if options.quick:
        samples = datasets()["samples"]
        options.sets = [name for name in options.sets if samples[name] <= QUICK_LIMIT]
    return options


def reproduce(options: argparse.Namespace) -> list[str]:
    """Compute what is not kept, and write the tables; return what failed."""
    source = Source.at(options.data)
    if source.folder is None:
        progress(f"{options.data} does not contain the paper's data")
    progress(f"data: {source}")
    check_data(source, options.sets)
    names = [name for name in EXPERIMENTS if not options.only or name in options.only]
    cells = [cell for name in names for cell in EXPERIMENTS[name](source, options.sets)]
    store = Store(KEPT / "finished.jsonl", str(source))
    failures = compute(cells, store)
    folder = pictures = KEPT / "results"
    if options.is_whole:  # what is committed is of whole runs only
        folder, pictures = ROOT / "benchmarks" / "results", ROOT / "docs"
    finished = [(cell, store[cell]) for cell in cells if cell in store]
    write_reports(finished, folder, pictures, describe(source))
    progress(f"tables are in {folder}, pictures in {pictures}")
    print(write_folds(options.fold_data, folder))
    return failures


def check_data(source: Source, names: list[str]) -> None:
    """Load all data before anything is run; print where its size is not the published one."""
    for name in names:
        source.paper_input(name)
        size = datasets().loc[name, ["samples", "features"]].tolist()
        found = source.true_data(name)[0].shape
        if list(found) != size:
            progress(f"{name}: {found[0]} x {found[1]}, published as {size[0]} x {size[1]}")


def compute(cells: list[Cell], store: Store) -> list[str]:
    """Compute what is not kept; what is timed comes last, alone."""
    missing = [cell for cell in cells if cell not in store]
    if not missing:
        return []
    progress(f"{len(cells) - len(missing)} of {len(cells)} parts are finished already")
    progress("compiling, where Numba's cache is empty, so that worker processes find it there")
    data = generated_for_training(100, 4)
    for learner in AS_PUBLISHED:
        for selection in SELECTIONS:
            model = learner.make(0.1, selection=selection)
            model.fit(data.X_train, data.y_train).predict(data.X_test)
    together = [cell for cell in missing if not cell.is_timed]
    failures = run(together, store, "counts and accuracy")
    return failures + run([cell for cell in missing if cell.is_timed], store, "times", 1)


def describe(source: Source) -> str:
    """Return the facts of a run: command, machine, versions, data."""
    facts = (
        f"`{' '.join(['python -m benchmarks.reproduce', *sys.argv[1:]])}`",
        *machine("numpy", "numba", "scikit-learn", "hyperbox-brain").splitlines(),
        f"Data: {source}",
    )
    return "\n".join(f"- {fact}" for fact in facts)


if __name__ == "__main__":
    main()
