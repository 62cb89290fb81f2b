"""Test-then-train on streams that drift, beside river's learners.

`make bench-streams` prints accuracy, kappa, samples per second and memory of each learner, sample
by sample, first on streams that nothing was chosen by. Slow learners stop after `--limit` seconds a
stream, and ours is then compared on as many samples. With `--keep FOLDER` runs are kept there, and
those that are there already are not repeated, so that it can be done bit by bit. `--pieces` prints
what each piece of `AdaptiveGFMM` earns, and what late and rare labels cost, `--budgets` what a
budget of boxes does to the other online learners; `--picture FILE` draws accuracy around drifts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import add_data_option
from benchmarks.streams.contenders import (
    ARF,
    HAT,
    NO_CHANGE,
    OURS,
    Run,
    contenders,
    in_batches,
    kept,
    prequential,
)
from benchmarks.streams.data import STREAMS, Stream
from benchmarks.streams.picture import draw
from benchmarks.streams.pieces import accuracies, budget_accuracies
from benchmarks.timing import machine, progress, table
from hyperboxes import AdaptiveGFMM

# Streams are learned whole by these, however long it takes.
WHOLE = (NO_CHANGE, OURS, "HoeffdingTree", HAT)

Runs = dict[str, dict[str, Run]]


def run_all(streams: list[Stream], options: argparse.Namespace) -> tuple[Runs, dict[str, Run]]:
    """Run all learners on all streams that are at hand; and ours in batches of 1,000."""
    runs: Runs = {}
    batches = {}
    for stream in streams:
        samples = stream.read(options.samples, options.data)
        if samples is None:
            print(f"{stream.name}: not in the shared data (see --data)")
            continue
        X, y = samples
        runs[stream.name] = {}
        for name, make in contenders(X).items():
            if name in options.without:
                continue
            progress(f"{stream.name}: {name}")
            limit = options.limit if name not in WHOLE else np.inf
            run = partial(prequential, make(), X, y, limit=limit)
            runs[stream.name][name] = kept(_file(options, stream, name), run)
        run = partial(in_batches, AdaptiveGFMM(), X, y, 1_000)
        batches[stream.name] = kept(_file(options, stream, "batches"), run)
    return runs, batches


def _file(options: argparse.Namespace, stream: Stream, name: str) -> Path | None:
    """Return where a run is kept, if any is."""
    return options.keep and options.keep / stream.name / f"{name}.json"


def mean(values: list[float]) -> str:
    """Return a mean as text."""
    return f"{np.mean(values):.1f}"


def accuracy_table(runs: Runs) -> str:
    """Return accuracies of the learners that learn whole streams."""
    names = [name for name in WHOLE if name in next(iter(runs.values()))]
    rows = [
        [stream, *(f"{of[name].accuracy():.1f}" for name in names)] for stream, of in runs.items()
    ]
    rows.append(["mean", *(mean([of[n].accuracy() for of in runs.values()]) for n in names)])
    rows.append(["mean kappa", *(mean([of[n].kappa for of in runs.values()]) for n in names)])
    return table(["accuracy, %", *names], rows)


def prefix_table(runs: Runs) -> str:
    """Return means of the slow learners, and of ours on as many samples of each stream."""
    rows = []
    for name in next(iter(runs.values())):
        if name not in WHOLE:
            pairs = [(of[name], of[OURS]) for of in runs.values()]
            rows.append(
                [
                    name,
                    f"{np.mean([len(run.y) for run, _ in pairs]):,.0f}",
                    mean([run.accuracy() for run, _ in pairs]),
                    mean([ours.accuracy(len(run.y)) for run, ours in pairs]),
                ]
            )
    return table(["as far as they came", "samples", "accuracy, %", f"{OURS} there"], rows)


def speed_table(runs: Runs, batches: dict[str, Run]) -> str:
    """Return samples per second and the size of the pickled model, medians over streams."""
    rows = []
    for name in next(iter(runs.values())):
        of_all = [of[name] for of in runs.values()]
        size = np.median([run.memory for run in of_all]) / 1000
        rows.append([name, f"{np.median([run.speed for run in of_all]):,.0f}", f"{size:,.0f} kB"])
    speed = np.median([batches[stream].speed for stream in runs])
    rows.append([f"{OURS}, batches of 1,000", f"{speed:,.0f}", ""])
    return table(["medians over the streams", "samples a second", "model"], rows)


def against(runs: Runs, other: str) -> str:
    """Return how far ours is from another learner, on average and at worst."""
    gains = {
        stream: of[OURS].accuracy(len(of[other].y)) - of[other].accuracy()
        for stream, of in runs.items()
    }
    worst = min(gains, key=gains.__getitem__)
    ours = {stream: of[OURS] for stream, of in runs.items()}
    return (
        f"{OURS} against {other}: {np.mean(list(gains.values())):+.1f} points, at worst "
        f"{gains[worst]:+.1f} ({worst}), {times_as_fast(ours, runs, other)}"
    )


def times_as_fast(ours: dict[str, Run], runs: Runs, other: str) -> str:
    """Return how many times as fast ours is: median, least and most of the streams."""
    ratios = [run.speed / runs[stream][other].speed for stream, run in ours.items()]
    return f"{np.median(ratios):.1f} times as fast ({min(ratios):.1f} to {max(ratios):.1f})"


def pieces_table(
    streams: list[Stream],
    options: argparse.Namespace,
    accuracies: Callable[[np.ndarray, np.ndarray], dict[str, float]],
) -> str:
    """Return mean accuracies, of what they are found for, by group of streams."""
    found: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    for stream in streams:
        if samples := stream.read(options.samples, options.data):
            progress(stream.name)
            found[stream.chosen_by].append(accuracies(*samples))
    names = next(iter(found[False] or found[True]))
    rows = [
        [name, *(mean([of[name] for of in group]) for group in found.values() if group)]
        for name in names
    ]
    groups = {False: "other streams", True: "streams chosen by"}
    return table(["mean accuracy, %", *(groups[key] for key in found if found[key])], rows)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(prog="bench-streams", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--samples", type=int, default=20_000, help="at most, of each stream")
    parser.add_argument("--limit", type=float, default=5.0, help="seconds a stream, slow learners")
    parser.add_argument("--only", default="", help="streams whose name holds this")
    parser.add_argument("--without", nargs="*", default=[], help="learners to leave out")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="of runs, not to be repeated")
    parser.add_argument("--quick", action="store_true", help="2,000 samples, 1 second")
    parser.add_argument("--pieces", action="store_true", help="print what each piece earns")
    parser.add_argument("--budgets", action="store_true", help="print what max_boxes does")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw accuracy over time")
    options = parser.parse_args()
    if options.quick:
        options.samples, options.limit = 2_000, 1.0
    streams = [stream for stream in STREAMS if options.only in stream.name]
    X = np.random.default_rng(0).random((200, 2))
    for name in (OURS, "ImprovedOnlineGFMM"):  # compiles
        prequential(contenders(X)[name](), X, np.arange(200) % 2, limit=np.inf)
    print(machine("numpy", "scikit-learn", "river"), "\n")
    if options.picture:
        draw(options.picture, options.samples)
    elif options.pieces:
        print(pieces_table(streams, options, accuracies))
    elif options.budgets:
        print(pieces_table(streams, options, budget_accuracies))
    else:
        for chosen_by in (False, True):
            compare([s for s in streams if s.chosen_by == chosen_by], options)


def compare(streams: list[Stream], options: argparse.Namespace) -> None:
    """Print the tables of one group of streams."""
    if not streams:
        return
    what = "that defaults were chosen by" if streams[0].chosen_by else "that nothing was chosen by"
    print(f"## Streams {what}\n")
    runs, batches = run_all(streams, options)
    tables = (accuracy_table(runs), prefix_table(runs), speed_table(runs, batches))
    print(*tables, sep="\n\n", end="\n\n")
    for other in (HAT, ARF, NO_CHANGE):
        if other not in options.without:
            print(against(runs, other))
    if HAT not in options.without:
        print(f"in batches of 1,000 against {HAT}: {times_as_fast(batches, runs, HAT)}")
    print(flush=True)


if __name__ == "__main__":
    main()
