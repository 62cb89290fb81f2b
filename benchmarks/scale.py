"""`make bench-scale`: how the package behaves on much data, on streams and on single samples.

Where there is something to compare with, it runs beside it on the same data: the index beside the
paper's lemma, prediction beside scikit-learn's nearest neighbour, streams beside river.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import gen_batches
from sklearn.utils.validation import validate_data

from benchmarks.data import (
    Split,
    add_data_option,
    generated_for_training,
    in_file_order,
    names_in,
    shared,
    uniform,
)
from benchmarks.timing import (
    Timing,
    added_memory,
    call_in_fresh_process,
    machine,
    medians,
    progress,
    table,
    yes_no,
)
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

try:
    from river.tree import HoeffdingTreeClassifier
except ImportError as error:
    sys.exit(f"This benchmark needs river: pip install 'hyperboxes[bench]' ({error})")

IOL, ONLN, AGGLO_2, AGGLO_SM = "ImprovedOnlineGFMM", "OnlineGFMM", "AGGLO-2", "AGGLO-SM"
LEARNERS: dict[str, Callable[..., Any]] = {
    IOL: partial(ImprovedOnlineGFMM, scaling=None),
    ONLN: partial(OnlineGFMM, scaling=None),
    AGGLO_2: partial(AgglomerativeGFMM, algorithm="agglo2", scaling=None),
    AGGLO_SM: partial(AgglomerativeGFMM, algorithm="agglo-sm", scaling=None),
}
ONLINE, AGGLOMERATIVE = (IOL, ONLN), (AGGLO_2, AGGLO_SM)
THETA = 0.1  # the paper's
THETAS = (0.1, 0.2, 0.3)
SELECTIONS = ("index", "lemma")

REAL_SETS = ("covertype", "skin_segmentation", "shuttle")
LEMMA_LIMIT = 100_000  # training samples: the lemma is slow on more

# How much smaller everything is with --quick.
QUICK = 50

GROWTH_SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
GROWTH_LINES = (
    (IOL, "index", 1_000_000),
    (ONLN, "index", 1_000_000),
    (IOL, "lemma", LEMMA_LIMIT),
    (AGGLO_2, "index", 100_000),
    (AGGLO_SM, "index", 100_000),
)
COLOURS = ("#0072B2", "#E69F00", "#56B4E9", "#009E73", "#D55E00")  # told apart by any eye
MARKERS = "osv^D"

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "scale.png"

BATCHES = (1, 10, 100, 1_000)
TEST_BATCH = 100
STREAM_CALLS = 10_000  # at most: some seconds

MEMORY_CASES = (
    (IOL, 0.1, 1_000_000),
    (IOL, 0.5, 100_000),
    (AGGLO_2, 0.1, 100_000),
    (AGGLO_SM, 0.1, 100_000),
)

# What is wanted: times faster, except where said.
WANTED_FIT = 10.0
WANTED_SMALL = 1.10  # times the lemma's seconds, at most
WANTED_SLOPES = {f"{IOL}, index": 1.3}  # at most
WANTED_PREDICT, WANTED_PREDICT_ANYWHERE = 5.0, 3.0
WANTED_THREADS = 1.7


@dataclass(frozen=True)
class Run:
    """What the user asked for."""

    data: Path
    quick: bool
    picture: Path | None

    def size(self, n_samples: int) -> int:
        """Return a number of samples, a smaller one if there is little time."""
        return n_samples // QUICK if self.quick else n_samples

    def medians(self, functions: dict[str, Callable[[], Any]], **how: Any) -> dict[str, Timing]:
        """Time functions in turns, in a single round if there is little time."""
        return medians(functions, **how | ({"rounds": 1} if self.quick else {}))


@dataclass(frozen=True)
class Goal:
    """A line of the summary."""

    name: str
    wanted: str
    measured: str
    met: bool


@dataclass(frozen=True, eq=False)
class FitSet:
    """Data to fit with the index and the lemma, and how much faster the index is wanted."""

    data: Split
    learners: tuple[str, ...]
    thetas: tuple[float, ...] = (THETA,)
    wanted: float = 1.0


@dataclass(frozen=True)
class Fits:
    """Fits of one learner to the same samples, by selection; the index may stand alone."""

    learner: str
    data: str
    theta: float
    wanted: float
    n_samples: int
    n_boxes: int
    seconds: dict[str, float]
    n_candidates: dict[str, int]
    is_same: bool

    @property
    def ratio(self) -> float:
        """How many times faster the index is."""
        return self.seconds["lemma"] / self.seconds["index"]


@dataclass(frozen=True)
class Line:
    """How seconds and boxes of one learner grow with the number of samples."""

    name: str
    n_samples: list[int]
    seconds: list[float]
    n_boxes: list[int]

    def slope(self, values: list[float] | list[int]) -> float:
        """Fit a straight line to values over samples, both as logarithms."""
        return float(np.polyfit(np.log(self.n_samples), np.log(values), 1)[0])


@dataclass(frozen=True)
class Prediction:
    """Seconds of prediction beside a nearest neighbour's, and with two threads beside one."""

    data: Split
    beside: dict[str, Timing]
    threads: dict[str, Timing]
    n_different: int
    n_wrong: int

    @property
    def ratio(self) -> float:
        """How many times faster than the nearest neighbour we are."""
        return self.beside["neighbour"].seconds / self.beside["boxes"].seconds

    @property
    def gain(self) -> float:
        """How many times faster two threads are."""
        return self.threads["one"].seconds / self.threads["two"].seconds


class HoeffdingTree:
    """river's tree with the methods of scikit-learn; it takes one sample at a time."""

    def __init__(self) -> None:
        self._tree = HoeffdingTreeClassifier()

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: Any = None) -> None:
        """Learn the samples one by one."""
        for sample, label in zip(self._samples(X), y.tolist(), strict=True):
            self._tree.learn_one(sample, label)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict the samples one by one."""
        return np.array([self._tree.predict_one(sample) for sample in self._samples(X)])

    @staticmethod
    def _samples(X: np.ndarray) -> Iterator[dict[int, float]]:
        return (dict(enumerate(row)) for row in X.tolist())


STREAM_LEARNERS: dict[str, Callable[[], Any]] = {
    IOL: partial(ImprovedOnlineGFMM, THETA, scaling=None),
    "river's HoeffdingTree": HoeffdingTree,
    "SGDClassifier": partial(SGDClassifier, random_state=0),
}


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
    options = parser.parse_args()
    picture = options.plot or (None if options.quick else PICTURE)
    run = Run(options.data, options.quick, picture)

    print(machine("numpy", "numba", "scikit-learn", "river"))
    print("gamma 1, one pass, features scaled to [0, 1] beforehand. Seconds are medians of runs in")
    print("turns; of a single run where one round of turns takes 8 seconds or more.\n")
    progress("warm-up")
    warm_up()
    goals = [goal for name in options.only or SECTIONS for goal in SECTIONS[name](run)]
    if goals:
        print(summary(goals))


def warm_up() -> None:
    """Compile everything, or load it from Numba's cache."""
    data = generated_for_training(300, 8)
    for learner in LEARNERS:
        for selection in SELECTIONS:
            fit(learner, THETA, data.X_train, data.y_train, selection).predict(data.X_test)


def fit(
    learner: str, theta: float, X: np.ndarray, y: np.ndarray, selection: str = "index", **how: Any
) -> Any:
    """Fit a new model."""
    return LEARNERS[learner](theta, selection=selection, **how).fit(X, y)


def time_fits(
    run: Run,
    learner: str,
    theta: float,
    X: np.ndarray,
    y: np.ndarray,
    selections: Iterable[str],
    **how: Any,
) -> dict[str, Timing]:
    """Time fits with each selection, in turns."""
    fits = {name: partial(fit, learner, theta, X, y, name) for name in selections}
    return run.medians(fits, **how)


# fit: the index beside the lemma ----------------------------------------------------------------


def bench_fit(run: Run) -> list[Goal]:
    """Compare the index with the lemma on large sets."""
    comparisons = [
        fits
        for fit_set in fit_sets(run)
        for learner in fit_set.learners
        for theta in fit_set.thetas
        for fits in compare_fits(run, fit_set, learner, theta)
    ]
    print(fit_table(comparisons), end="\n\n")
    print(
        f"The lemma learns the first {run.size(LEMMA_LIMIT):,} training samples of a set at most,"
        "\nand the index beside it the same; then the index learns them all (lemma: -).\n"
    )
    both = [fits for fits in comparisons if "lemma" in fits.seconds]
    return [*speed_goals(both), same_boxes_goal(both)]


def fit_sets(run: Run) -> Iterator[FitSet]:
    """Yield the sets that are there, one at a time."""
    wide = generated_for_training(run.size(100_000), 20, n_classes=5)
    yield FitSet(wide, ONLINE, THETAS, WANTED_FIT)
    yield FitSet(generated_for_training(run.size(1_000_000), 8), ONLINE)
    few = generated_for_training(run.size(20_000), 8)
    yield FitSet(few, AGGLOMERATIVE, THETAS, WANTED_FIT)
    for name in REAL_SETS:
        data = shared(name, run.data / "large")
        if data is None:
            print(f"{name}: skipped, the shared data is not there (see --data)")
        else:
            yield FitSet(data.head(run.size(1_000_000)), ONLINE)


def compare_fits(run: Run, fit_set: FitSet, learner: str, theta: float) -> Iterator[Fits]:
    """Fit with both selections as many samples as the lemma can take, then the rest too."""
    data = fit_set.data
    progress(f"{learner} with theta {theta} on {data.name}")
    n_samples, limit = len(data.y_train), run.size(LEMMA_LIMIT)
    jobs = [(min(n_samples, limit), SELECTIONS)]
    if n_samples > limit:
        jobs.append((n_samples, ("index",)))
    for n_first, selections in jobs:
        part = data.head(n_first)
        timings = time_fits(run, learner, theta, part.X_train, part.y_train, selections)
        models = {name: timing.result for name, timing in timings.items()}
        boxes = [model.hyperboxes_ for model in models.values()]
        yield Fits(
            learner,
            data.name,
            theta,
            fit_set.wanted,
            n_first,
            len(boxes[0]),
            {name: timing.seconds for name, timing in timings.items()},
            {name: model.n_candidates_ for name, model in models.items()},
            are_same(boxes[0], boxes[-1]),
        )


def are_same(boxes: Any, others: Any) -> bool:
    """Whether two sets of boxes are equal bit for bit and in the same order."""
    names = ("lower", "upper", "labels", "counts")
    return all(getattr(boxes, name).tobytes() == getattr(others, name).tobytes() for name in names)


def fit_table(comparisons: list[Fits]) -> str:
    """Tabulate seconds, ratios and candidates."""
    header = (
        "fit", "data", "theta", "train", "boxes", "index s", "lemma s", "ratio", "wanted",
        "same boxes", "tried index", "tried lemma",
    )  # fmt: skip
    return table(header, map(fit_cells, comparisons), left=2)


def fit_cells(fits: Fits) -> tuple[str, ...]:
    """Print a comparison, or the index alone."""
    has_lemma = "lemma" in fits.seconds
    return (
        fits.learner,
        fits.data,
        f"{fits.theta}",
        f"{fits.n_samples:,}",
        f"{fits.n_boxes:,}",
        f"{fits.seconds['index']:.3f}",
        f"{fits.seconds['lemma']:.3f}" if has_lemma else "-",
        f"{fits.ratio:.2f}x" if has_lemma else "-",
        f">= {fits.wanted:g}x" if has_lemma else "-",
        yes_no(fits.is_same) if has_lemma else "-",
        f"{fits.n_candidates['index']:,}",
        f"{fits.n_candidates['lemma']:,}" if has_lemma else "-",
    )


def speed_goals(comparisons: list[Fits]) -> Iterator[Goal]:
    """Set against what is wanted, for each learner, the comparison that falls shortest."""
    for learner in LEARNERS:
        of_learner = [fits for fits in comparisons if fits.learner == learner]
        worst = min(of_learner, key=lambda fits: fits.ratio / fits.wanted)
        yield Goal(
            f"{learner} fit, index against lemma",
            f">= {worst.wanted:g}x",
            f"{worst.ratio:.2f}x (theta {worst.theta}, {worst.data})",
            worst.ratio >= worst.wanted,
        )


def same_boxes_goal(comparisons: list[Fits]) -> Goal:
    """Count the comparisons in which both selections gave the same boxes."""
    n_same = sum(fits.is_same for fits in comparisons)
    measured = f"{n_same} of {len(comparisons)} fits"
    return Goal("same boxes, index and lemma", "all", measured, n_same == len(comparisons))


# small: the same on the paper's data sets -------------------------------------------------------


def bench_small(run: Run) -> list[Goal]:
    """Compare the index with the lemma on the sets of the paper, where it can gain little."""
    folder = run.data / "authors"
    sets = {
        name: in_file_order(name, folder) for name in names_in(folder)[:: 6 if run.quick else 1]
    }
    if not sets:
        print("The paper's data sets: skipped, the shared data is not there (see --data)\n")
        return []
    ratios = {learner: small_ratios(run, learner, sets) for learner in LEARNERS}
    print(small_table(ratios), end="\n\n")
    return [small_goal(learner, of_sets) for learner, of_sets in ratios.items()]


def small_ratios(run: Run, learner: str, sets: dict[str, Any]) -> dict[str, float]:
    """Return for each set the index's time over the lemma's."""
    ratios = {}
    for name, (X, y) in sets.items():
        progress(f"{learner} on {name}")
        timings = time_fits(
            run, learner, THETA, X, y, SELECTIONS, rounds=7, budget=math.inf, turn=0.05
        )
        ratios[name] = timings["index"].seconds / timings["lemma"].seconds
    return ratios


def small_table(ratios: dict[str, dict[str, float]]) -> str:
    """Tabulate the worst and the median of each learner."""
    n_sets = len(next(iter(ratios.values())))
    return table(
        (f"{n_sets} sets of the paper, theta {THETA}", "worst set", "index/lemma time", "median"),
        (
            (
                learner,
                worst_set(of_sets),
                f"{max(of_sets.values()):.2f}",
                f"{median(of_sets.values()):.2f}",
            )
            for learner, of_sets in ratios.items()
        ),
        left=2,
    )


def worst_set(ratios: dict[str, float]) -> str:
    """Return the set with the largest ratio."""
    return max(ratios, key=lambda name: ratios[name])


def small_goal(learner: str, ratios: dict[str, float]) -> Goal:
    """Set the largest ratio against what is wanted."""
    largest = max(ratios.values())
    return Goal(
        f"{learner} on small sets, index/lemma time",
        f"<= {WANTED_SMALL:.2f}",
        f"{largest:.2f} ({worst_set(ratios)})",
        largest <= WANTED_SMALL,
    )


# growth: seconds over samples -------------------------------------------------------------------


def bench_growth(run: Run) -> list[Goal]:
    """Fit ever more samples of one set."""
    data = generated_for_training(run.size(max(GROWTH_SIZES)), 8)
    lines = [grow(run, data, *line) for line in GROWTH_LINES]
    print(growth_table(lines), slope_table(lines), sep="\n\n", end="\n\n")
    if run.picture:
        draw(lines, run.picture)
    return [slope_goal(line) for line in lines if line.name in WANTED_SLOPES]


def grow(run: Run, data: Split, learner: str, selection: str, limit: int) -> Line:
    """Fit the first samples of a set, more and more of them."""
    line = Line(f"{learner}, {selection}", [], [], [])
    for n_samples in (run.size(size) for size in GROWTH_SIZES if size <= limit):
        progress(f"{line.name} on {n_samples:,} samples")
        X, y = data.X_train[:n_samples], data.y_train[:n_samples]
        timing = time_fits(run, learner, THETA, X, y, [selection])[selection]
        line.n_samples.append(n_samples)
        line.seconds.append(timing.seconds)
        line.n_boxes.append(len(timing.result.hyperboxes_))
    return line


def growth_table(lines: list[Line]) -> str:
    """Tabulate seconds, in all and per sample, and boxes."""
    return table(
        (f"growth, 8 features, theta {THETA}", "train", "seconds", "us per sample", "boxes"),
        (
            (line.name, f"{n:,}", f"{seconds:.3f}", f"{1e6 * seconds / n:.1f}", f"{n_boxes:,}")
            for line in lines
            for n, seconds, n_boxes in zip(line.n_samples, line.seconds, line.n_boxes, strict=True)
        ),
    )


def slope_table(lines: list[Line]) -> str:
    """Tabulate the exponents of growth."""
    return table(
        ("slope on log-log axes", "seconds", "wanted", "boxes"),
        (
            (
                line.name,
                f"{line.slope(line.seconds):.2f}",
                f"<= {WANTED_SLOPES[line.name]}" if line.name in WANTED_SLOPES else "-",
                f"{line.slope(line.n_boxes):.2f}",
            )
            for line in lines
        ),
    )


def slope_goal(line: Line) -> Goal:
    """Set the exponent of a line's seconds against what is wanted."""
    slope, wanted = line.slope(line.seconds), WANTED_SLOPES[line.name]
    name = f"{line.name}, growth of seconds with samples"
    return Goal(name, f"slope <= {wanted}", f"{slope:.2f}", slope <= wanted)


def draw(lines: list[Line], path: Path) -> None:
    """Draw seconds over samples, with the legend in the order of the lines."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.subplots()
    last = min(len(line.seconds) for line in lines) - 1
    styled = zip(lines, COLOURS, MARKERS, strict=True)
    for line, colour, marker in sorted(styled, key=lambda style: -style[0].seconds[last]):
        label = f"{line.name}: slope {line.slope(line.seconds):.2f}"
        ax.loglog(line.n_samples, line.seconds, color=colour, marker=marker, label=label)
    ax.set(xlabel="training samples", ylabel="seconds to fit")
    ax.set_title(f"Fit of generated data, 8 features, 3 classes, theta {THETA}")
    ax.grid(color="0.9")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    figure.savefig(path, dpi=150)
    print(f"The picture is in {path}\n")


# predict: boxes beside a nearest neighbour ------------------------------------------------------


def bench_predict(run: Run) -> list[Goal]:
    """Compare prediction with a nearest neighbour's, and two threads with one."""
    predictions = [
        compare_predictions(run, data.head(run.size(n_training)))
        for data in prediction_sets(run)
        for n_training in (20_000, 100_000)
    ]
    print(prediction_table(predictions), end="\n\n")
    print(
        "Every training sample is a box. The neighbour is scikit-learn's KNeighborsClassifier\n"
        '(1, metric="chebyshev", algorithm="kd_tree", n_jobs=1). Wrong: where labels differ\n'
        "though the nearest points of the two classes are not equally far.\n"
    )
    return prediction_goals(predictions)


def prediction_sets(run: Run) -> Iterator[Split]:
    """Yield data of few and of many features, in clusters and without."""
    n_training = run.size(100_000)
    for n_features in (8, 20):
        yield generated_for_training(n_training, n_features)
        yield uniform(n_training, n_features, n_test=run.size(20_000))


def compare_predictions(run: Run, data: Split) -> Prediction:
    """Predict a few samples beside the neighbour, and more of them with one and two threads."""
    progress(f"prediction of {data.name}, {len(data.y_train):,} boxes")
    samples = data.X_train, data.y_train
    boxes = ImprovedOnlineGFMM(1e-9, scaling=None).fit(*samples)
    threaded = ImprovedOnlineGFMM(1e-9, scaling=None, n_jobs=2).fit(*samples)
    neighbour = KNeighborsClassifier(1, metric="chebyshev", algorithm="kd_tree", n_jobs=1)
    neighbour.fit(*samples)
    few, many = data.X_test[: run.size(2_000)], data.X_test[: run.size(20_000)]
    beside = run.medians(
        {"boxes": partial(boxes.predict, few), "neighbour": partial(neighbour.predict, few)}
    )
    threads = run.medians(
        {"one": partial(boxes.predict, many), "two": partial(threaded.predict, many)}
    )
    ours, theirs = (timing.result for timing in beside.values())
    different = np.flatnonzero(ours != theirs)
    n_wrong = sum(not is_tie(data, few[row], ours[row], theirs[row]) for row in different)
    return Prediction(data, beside, threads, len(different), n_wrong)


def is_tie(data: Split, x: np.ndarray, first: int, second: int) -> bool:
    """Whether the nearest points of two classes are equally far, but for rounding."""
    distance = np.abs(data.X_train - x).max(axis=1)
    nearest = [distance[data.y_train == label].min() for label in (first, second)]
    return abs(nearest[0] - nearest[1]) <= 4 * np.finfo(float).eps


def prediction_table(predictions: list[Prediction]) -> str:
    """Tabulate seconds, ratios and differences."""
    header = (
        "predict", "boxes", "test", "seconds", "neighbour", "ratio", "labels differ", "wrong",
        "test", "1 thread", "2 threads", "ratio",
    )  # fmt: skip
    return table(header, map(prediction_cells, predictions))


def prediction_cells(prediction: Prediction) -> tuple[str, ...]:
    """Print one comparison."""
    beside, threads = prediction.beside, prediction.threads
    return (
        prediction.data.name,
        f"{len(prediction.data.y_train):,}",
        f"{len(beside['boxes'].result):,}",
        f"{beside['boxes'].seconds:.4f}",
        f"{beside['neighbour'].seconds:.4f}",
        f"{prediction.ratio:.1f}x",
        f"{prediction.n_different}",
        f"{prediction.n_wrong}",
        f"{len(threads['one'].result):,}",
        f"{threads['one'].seconds:.3f}",
        f"{threads['two'].seconds:.3f}",
        f"{prediction.gain:.2f}x",
    )


def prediction_goals(predictions: list[Prediction]) -> list[Goal]:
    """Set ratios and labels against what is wanted."""
    mean = geometric_mean(prediction.ratio for prediction in predictions)
    least = min(prediction.ratio for prediction in predictions)
    gain = min(prediction.gain for prediction in predictions)
    n_wrong = sum(prediction.n_wrong for prediction in predictions)
    name = "predict against KNeighborsClassifier"
    return [
        speed_goal(f"{name}, geometric mean", WANTED_PREDICT, mean),
        speed_goal(f"{name}, smallest", WANTED_PREDICT_ANYWHERE, least),
        Goal(f"{name}, labels", "same but for ties", f"{n_wrong} differ", n_wrong == 0),
        speed_goal("predict with n_jobs=2, smallest", WANTED_THREADS, gain),
    ]


def speed_goal(name: str, wanted: float, measured: float) -> Goal:
    """Set a speed-up against what is wanted."""
    return Goal(name, f">= {wanted:g}x", f"{measured:.2f}x", measured >= wanted)


# stream: learning in batches --------------------------------------------------------------------


def bench_stream(run: Run) -> list[Goal]:
    """Learn a stream in batches beside other learners; nothing is wanted of it."""
    name, X, y = stream(run)
    print(stream_table(run, name, X, y), end="\n\n")
    print(accuracy_table(X, y), end="\n\n")
    print(
        "river's tree learns with learn_one whatever the batch: it has no learn_many. Making the\n"
        "dictionaries it needs is in its time.\n"
    )
    return []


def stream(run: Run) -> tuple[str, np.ndarray, np.ndarray]:
    """Return the electricity data in its order, or else generated data."""
    samples = in_file_order("electricity", run.data / "large")
    if samples is None:
        print("electricity: not in the shared data (see --data), generated data instead")
        data = generated_for_training(run.size(45_312), 8)
        return data.name, data.X_train, data.y_train
    X, y = (part[: run.size(len(part))] for part in samples)
    return "electricity", MinMaxScaler(clip=True).fit_transform(X), y


def stream_table(run: Run, name: str, X: np.ndarray, y: np.ndarray) -> str:
    """Tabulate samples per second; where batches are small, of the first samples only."""
    rows = []
    for batch in BATCHES:
        progress(f"stream in batches of {batch}")
        limit = batch * run.size(STREAM_CALLS)
        part = X[:limit], y[:limit]
        timings = run.medians(
            {
                learner: partial(learn_stream, make, *part, batch)
                for learner, make in STREAM_LEARNERS.items()
            }
        )
        n_samples = len(part[1])
        speeds = (f"{n_samples / timing.seconds:,.0f}" for timing in timings.values())
        rows.append((f"{name}, batches of {batch:,}", f"{n_samples:,}", *speeds))
    return table(("samples per second", "samples", *STREAM_LEARNERS), rows)


def learn_stream(make: Callable[[], Any], X: np.ndarray, y: np.ndarray, batch: int) -> None:
    """Learn all samples, a batch at a time."""
    model = make()
    classes = np.unique(y)
    for rows in gen_batches(len(y), batch):
        model.partial_fit(X[rows], y[rows], classes=None if rows.start else classes)


def accuracy_table(X: np.ndarray, y: np.ndarray) -> str:
    """Tabulate the accuracy on samples not yet learned."""
    progress("accuracy on the stream")
    header = (f"accuracy, each batch of {TEST_BATCH} tested, then learned", "")
    return table(
        header,
        (
            (learner, f"{test_then_train(make(), X, y):.4f}")
            for learner, make in STREAM_LEARNERS.items()
        ),
    )


def test_then_train(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Predict each batch but the first, then learn it; return the share of hits."""
    model.partial_fit(X[:TEST_BATCH], y[:TEST_BATCH], classes=np.unique(y))
    X, y = X[TEST_BATCH:], y[TEST_BATCH:]
    n_hits = 0
    for rows in gen_batches(len(y), TEST_BATCH):
        n_hits += np.sum(model.predict(X[rows]) == y[rows])
        model.partial_fit(X[rows], y[rows])
    return n_hits / len(y)


# memory: what a fit needs -----------------------------------------------------------------------


def bench_memory(run: Run) -> list[Goal]:
    """Set the memory of fits, in fresh processes, against that of their boxes and their input."""
    rows, goals = [], []
    for learner, theta, n_samples in MEMORY_CASES:
        name = f"{learner}, theta {theta}, {run.size(n_samples):,} x 8"
        progress(f"memory of {name}")
        used, n_boxes, box_size, input_size = call_in_fresh_process(
            fit_memory, learner, theta, run.size(n_samples)
        )
        limit = 3 * box_size + input_size
        is_met = used < limit
        sizes = (f"{size:,.1f}" for size in (used, box_size, input_size, limit))
        rows.append((name, f"{n_boxes:,}", *sizes, yes_no(is_met)))
        goals.append(Goal(f"memory, {name}", f"< {limit:,.1f} MB", f"{used:,.1f} MB", is_met))
    header = ("megabytes", "boxes", "used", "of boxes", "of input", "3 boxes + input", "used < it")
    print(table(header, rows), end="\n\n")
    return goals


def fit_memory(learner: str, theta: float, n_samples: int) -> tuple[float, int, float, float]:
    """Return the megabytes a fit adds, how many boxes it finds, and their and its input's size."""
    data = generated_for_training(n_samples, 8)
    X, y = data.X_train, data.y_train
    fit(learner, theta, X[:300], y[:300], scaling="minmax")
    used, model = added_memory(lambda: fit(learner, theta, X, y, scaling="minmax"))
    n_boxes, n_features = model.hyperboxes_.lower.shape
    box_size = n_boxes * (2 * n_features + 2) * 8
    return used, n_boxes, box_size / 2**20, (X.nbytes + y.nbytes) / 2**20


# overhead: single samples -----------------------------------------------------------------------


def bench_overhead(run: Run) -> list[Goal]:
    """Time calls with single samples beside scikit-learn's; nothing is wanted of them."""
    progress("single samples")
    timings = run.medians(single_calls(generated_for_training(1_000, 8)))
    print(
        table(
            ("calls with one sample, fitted on 1,000 x 8", "microseconds"),
            ((name, f"{1e6 * timing.seconds:.0f}") for name, timing in timings.items()),
        ),
        end="\n\n",
    )
    return []


def single_calls(data: Split) -> dict[str, Callable[[], Any]]:
    """Return functions that call a method with the next test sample."""
    boxes, linear, neighbours = (
        model.fit(data.X_train, data.y_train)
        for model in (
            ImprovedOnlineGFMM(THETA, scaling=None),
            SGDClassifier(random_state=0),
            KNeighborsClassifier(),
        )
    )
    rows = [slice(row, row + 1) for row in range(len(data.y_test))]
    labelled = cycle([(data.X_test[row], data.y_test[row]) for row in rows])
    unlabelled = cycle([data.X_test[row] for row in rows])
    validate = partial(validate_data, boxes, reset=False, dtype=np.float64, order="C")
    return {
        f"{IOL}.partial_fit": lambda: boxes.partial_fit(*next(labelled)),
        "  of which validate_data(X, y)": lambda: validate(*next(labelled)),
        "SGDClassifier.partial_fit": lambda: linear.partial_fit(*next(labelled)),
        f"{IOL}.predict": lambda: boxes.predict(next(unlabelled)),
        "  of which validate_data(X)": lambda: validate(next(unlabelled)),
        "SGDClassifier.predict": lambda: linear.predict(next(unlabelled)),
        "KNeighborsClassifier.predict": lambda: neighbours.predict(next(unlabelled)),
    }


def summary(goals: list[Goal]) -> str:
    """Set what is wanted against what was measured."""
    return table(
        ("goal", "wanted", "measured (worst)", "met"),
        ((goal.name, goal.wanted, goal.measured, yes_no(goal.met)) for goal in goals),
    )


SECTIONS: dict[str, Callable[[Run], list[Goal]]] = {
    "fit": bench_fit,
    "small": bench_small,
    "growth": bench_growth,
    "predict": bench_predict,
    "stream": bench_stream,
    "memory": bench_memory,
    "overhead": bench_overhead,
}


if __name__ == "__main__":
    main()
