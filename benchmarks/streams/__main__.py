"""Test-then-train on streams that drift, with river's learners for comparison.

`make bench-streams` prints accuracy and samples per second of each learner, sample by
sample, first on streams that nothing was chosen by. Slow learners stop after `--limit` seconds a
stream, and ours is then compared on as many samples. Runs are kept and not repeated. `--labels`
prints what late labels cost `AdaptiveGFMM`, `--budgets` what a limit of boxes does to the other
online learners; `--picture FILE` draws accuracy around drifts.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from river import ensemble, forest, neighbors, preprocessing, tree

from benchmarks.harness import KEPT, Kept, command, digest, machine, progress, table
from benchmarks.streams.data import STREAMS, Stream
from hyperboxes import AdaptiveGFMM, ImprovedOnlineGFMM, OnlineGFMM

OURS, HAT, ARF = "AdaptiveGFMM", "HoeffdingAdaptiveTree", "ARF"
NO_CHANGE = "repeat the last label"
WHOLE = (NO_CHANGE, OURS, "HoeffdingTree", HAT)  # learn whole streams, however long it takes

BUDGETS = (None, 1000, 300, 100, 30)

WINDOW = 200  # samples, of the picture
LOOKS = {
    OURS: ("#0072B2", "-"),
    HAT: ("#D55E00", "--"),
    ARF: ("#009E73", ":"),
    "ImprovedOnlineGFMM": ("#999999", "-."),
}


class NoChange:
    """Repeats the last label: what autocorrelation alone is worth."""

    def __init__(self) -> None:
        self._last: Any = None

    def predict_one(self, x: Any) -> Any:
        """Return the label learned last."""
        return self._last

    def learn_one(self, x: Any, y: Any) -> None:
        """Store a label."""
        self._last = y


@dataclass(frozen=True)
class Run:
    """What a learner predicted before it learned each sample; maybe not of the whole stream."""

    predicted: np.ndarray
    y: np.ndarray
    seconds: float

    def accuracy(self, n_samples: int | None = None) -> float:
        """Return the share of right predictions, of all or of the first samples, in percent."""
        return 100 * float((self.predicted == self.y)[:n_samples].mean())

    @property
    def speed(self) -> float:
        """Samples per second."""
        return len(self.y) / self.seconds


Runs = dict[str, dict[str, Run]]  # by stream and learner


def contenders(X: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return all learners, in their defaults, for a stream."""
    scaler = preprocessing.StandardScaler
    return {
        NO_CHANGE: NoChange,
        OURS: AdaptiveGFMM,
        "ImprovedOnlineGFMM": lambda: ImprovedOnlineGFMM(scaling=first_ranges(X)),
        "HoeffdingTree": tree.HoeffdingTreeClassifier,
        HAT: lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=1),
        f"{HAT}, scaled": lambda: scaler() | tree.HoeffdingAdaptiveTreeClassifier(seed=1),
        ARF: lambda: forest.ARFClassifier(seed=1),
        "SRP": lambda: ensemble.SRPClassifier(seed=1),
        "KNN": lambda: scaler() | neighbors.KNNClassifier(),
    }


def first_ranges(X: np.ndarray) -> list[np.ndarray]:
    """Return the ranges of the features at the beginning of a stream."""
    return [np.nanmin(X[:1000], axis=0), np.nanmax(X[:1000], axis=0)]


def prequential(model: Any, X: np.ndarray, y: np.ndarray, *, limit: float, late: int = 0) -> Run:
    """Predict each sample, then learn it or the one `late` samples before; stop after a while.

    Times are those of the processor.
    """
    predicted = np.full(len(y), -1)
    waiting: deque[tuple[dict[int, float], int]] = deque()
    start = time.process_time()
    done = 0
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = dict(enumerate(row))
        answer = model.predict_one(x)
        predicted[done] = -1 if answer is None else answer
        waiting.append((x, label))
        if len(waiting) > late:
            model.learn_one(*waiting.popleft())
        done += 1
        if done % 100 == 0 and time.process_time() - start > limit:
            break
    seconds = time.process_time() - start
    return Run(predicted[:done], y[:done], seconds)


def in_batches(model: Any, X: np.ndarray, y: np.ndarray, size: int) -> Run:
    """Predict and learn in batches."""
    predicted = np.full(len(y), -1)
    start = time.process_time()
    for first in range(0, len(y), size):
        rows = slice(first, first + size)
        if first:
            predicted[rows] = model.predict(X[rows])
        model.partial_fit(X[rows], y[rows])
    seconds = time.process_time() - start
    return Run(predicted, y, seconds)


def accuracies(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return the accuracy with late labels."""
    found = {}
    for late in (0, 50, 500):
        run = prequential(AdaptiveGFMM(), X, y, limit=60, late=late)
        found[f"labels {late} samples late"] = run.accuracy()
    return found


def budget_accuracies(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return the accuracy of the other online learners, with limits of boxes and without."""
    found = {}
    for learner in (ImprovedOnlineGFMM, OnlineGFMM):
        for max_boxes in BUDGETS:
            model = learner(scaling=first_ranges(X), max_boxes=max_boxes, calibrate=False)
            run = prequential(model, X, y, limit=60)
            found[f"{learner.__name__}, max_boxes={max_boxes}"] = run.accuracy()
    return found


def print_means(
    streams: list[Stream],
    options: argparse.Namespace,
    accuracies: Callable[[np.ndarray, np.ndarray], dict[str, float]],
) -> None:
    """Print mean accuracies by group of streams."""
    found: dict[str, list[dict[str, float]]] = {"other streams": [], "streams chosen by": []}
    for stream in streams:
        if samples := stream.read(options.samples, options.data):
            progress(stream.name)
            group = "streams chosen by" if stream.chosen_by else "other streams"
            found[group].append(accuracies(*samples))
    groups = {title: group for title, group in found.items() if group}
    names = next(iter(groups.values()))[0]
    rows = [[n, *(mean([of[n] for of in group]) for group in groups.values())] for n in names]
    print(table(["mean accuracy, %", *groups], rows))


def compare(streams: list[Stream], options: argparse.Namespace, kept: Kept) -> None:
    """Run all learners on a group of streams, and ours in batches; print the tables."""
    if not streams:
        return
    what = "that defaults were chosen by" if streams[0].chosen_by else "that nothing was chosen by"
    print(f"## Streams {what}\n")
    runs: Runs = {}
    batches = {}

    def run(stream: Stream, name: str, compute: Callable[[], Run]) -> Run:
        key = f"{stream.name}, {name}, {options.samples}, {options.limit}, {digest()}"
        if key not in kept:
            progress(f"{stream.name}: {name}")
            found = compute()
            kept[key] = found.predicted.tolist(), found.y.tolist(), found.seconds
        predicted, y, seconds = kept[key]
        return Run(np.array(predicted), np.array(y), seconds)

    for stream in streams:
        samples = stream.read(options.samples, options.data)
        if samples is None:
            print(f"{stream.name}: not in the shared data (see --data)")
            continue
        runs[stream.name] = {}
        for name, make in contenders(samples[0]).items():
            limit = np.inf if name in WHOLE else options.limit
            compute = partial(prequential, make(), *samples, limit=limit)
            runs[stream.name][name] = run(stream, name, compute)
        compute = partial(in_batches, AdaptiveGFMM(), *samples, 1_000)
        batches[stream.name] = run(stream, "batches", compute)
    tables = accuracy_table(runs), prefix_table(runs), speed_table(runs, batches)
    print(*tables, sep="\n\n", end="\n\n")
    for other in (HAT, ARF, NO_CHANGE):
        print(against(runs, other))
    print(f"in batches of 1,000 against {HAT}: {times_as_fast(batches, runs, HAT)}\n", flush=True)


def mean(values: list[float]) -> str:
    """Return a mean as text."""
    return f"{np.mean(values):.1f}"


def accuracy_table(runs: Runs) -> str:
    """Return accuracies of the learners that learn whole streams."""
    rows = [
        [stream, *(f"{of[name].accuracy():.1f}" for name in WHOLE)] for stream, of in runs.items()
    ]
    rows.append(["mean", *(mean([of[n].accuracy() for of in runs.values()]) for n in WHOLE)])
    return table(["accuracy, %", *WHOLE], rows)


def prefix_table(runs: Runs) -> str:
    """Return means of the slow learners, and of ours on as many samples of each stream."""
    rows = []
    for name in next(iter(runs.values())):
        if name not in WHOLE:
            pairs = [(of[name], of[OURS]) for of in runs.values()]
            cells = (
                f"{np.mean([len(run.y) for run, _ in pairs]):,.0f}",
                mean([run.accuracy() for run, _ in pairs]),
                mean([ours.accuracy(len(run.y)) for run, ours in pairs]),
            )
            rows.append([name, *cells])
    return table(["within the time limit", "samples", "accuracy, %", f"{OURS} there"], rows)


def speed_table(runs: Runs, batches: dict[str, Run]) -> str:
    """Return samples per second, medians over streams."""
    by_name = {name: [of[name] for of in runs.values()] for name in next(iter(runs.values()))}
    by_name[f"{OURS}, batches of 1,000"] = [batches[stream] for stream in runs]
    rows = [
        [name, f"{np.median([run.speed for run in found]):,.0f}"] for name, found in by_name.items()
    ]
    return table(["medians over the streams", "samples a second"], rows)


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


def draw(path: Path, n_samples: int) -> None:
    """Draw the accuracy over the last samples on a stream of four concepts, and save it."""
    n_samples = min(n_samples, 6_000)
    stream = next(stream for stream in STREAMS if stream.name == "Sine")
    samples = stream.read(n_samples, Path())
    assert samples is not None
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    ax = figure.subplots()
    models = contenders(samples[0])
    for name, (colour, line) in LOOKS.items():
        progress(f"picture: {name}")
        run = prequential(models[name](), *samples, limit=np.inf)
        hits = np.convolve(run.predicted == run.y, np.ones(WINDOW) / WINDOW, "valid")
        times = np.arange(WINDOW, WINDOW + len(hits))
        ax.plot(times, 100 * hits, line, c=colour, label=name, lw=1.8)
    for change in range(n_samples // 4, n_samples, n_samples // 4):
        ax.axvline(change, c="0.75", lw=1, zorder=0)
    ax.set(xlabel="samples", ylabel=f"accuracy, last {WINDOW}, %")
    ax.set(xlim=(0, n_samples), ylim=(0, 102))
    ax.set_title("Sine: the concept changes at each line", loc="left", fontsize=10)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)


def main() -> None:
    """Print all tables."""
    parser = command("bench-streams", __doc__, quick="2,000 samples, 1 second")
    add = parser.add_argument
    add("--samples", type=int, default=20_000, help="at most, of each stream")
    add("--limit", type=float, default=5.0, help="seconds a stream, slow learners")
    add("--only", default="", help="streams whose name contains this")
    add("--labels", action="store_true", help="print what late labels do")
    add("--budgets", action="store_true", help="print what max_boxes does")
    add("--picture", type=Path, metavar="FILE", help="draw accuracy over time")
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
    elif options.labels:
        print_means(streams, options, accuracies)
    elif options.budgets:
        print_means(streams, options, budget_accuracies)
    else:
        kept = Kept(KEPT / "streams.jsonl")
        for chosen_by in (False, True):
            compare([s for s in streams if s.chosen_by == chosen_by], options, kept)


if __name__ == "__main__":
    main()
