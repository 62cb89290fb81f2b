"""Fit: the index compared with the lemma, and growth with the number of samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.data import Split, generated_for_training, in_file_order, names_in, shared, tangled
from benchmarks.harness import Timing, progress, table, yes_no
from benchmarks.scale.common import (
    AGGLO_2,
    AGGLO_SM,
    COLOURS,
    IOL,
    LEARNERS,
    MARKERS,
    ONLN,
    SELECTIONS,
    THETA,
    Run,
    fit,
    save,
    time_fits,
)
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

ONLINE, AGGLOMERATIVE = (IOL, ONLN), (AGGLO_2, AGGLO_SM)
REAL_SETS = ("covertype", "skin_segmentation", "shuttle")
LEMMA_LIMIT = 100_000  # training samples: the lemma is slow on more

# A data set, learners and thetas.
Case = tuple[Split, tuple[str, ...], tuple[float, ...]]

DEFAULTS: dict[str, Callable[..., Any]] = {
    IOL: partial(ImprovedOnlineGFMM, random_state=0),
    ONLN: partial(OnlineGFMM, random_state=0),
    AGGLO_2: partial(AgglomerativeGFMM, algorithm="agglo2"),
    AGGLO_SM: partial(AgglomerativeGFMM, algorithm="agglo-sm"),
}
ALL_LIMIT = 2_500  # samples: larger sets are not fitted with "all"

GROWTH_SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
GROWTH_LINES = (
    (IOL, "index", 1_000_000),
    (ONLN, "index", 1_000_000),
    (IOL, "lemma", LEMMA_LIMIT),
    (AGGLO_2, "index", 100_000),
    (AGGLO_SM, "index", 100_000),
)


def warm_up() -> None:
    """Compile everything, or load it from Numba's cache."""
    few, overlapping = generated_for_training(300, 8), tangled(2_000, 20)
    for learner in LEARNERS:
        for selection in SELECTIONS:
            fit(learner, THETA, few.X_train, few.y_train, selection).predict(few.X_test)
            fit(learner, 0.7, overlapping.X_train, overlapping.y_train, selection)


def real(run: Run, name: str, most: int) -> Iterator[Split]:
    """Yield a large set if it is there."""
    data = shared(name, run.data / "large")
    if data is None:
        print(f"{name}: skipped, the shared data is not there (see --data)")
    else:
        yield data.head(run.size(most))


def bench_fit(run: Run) -> None:
    """Compare the selections on large sets."""
    thetas = (0.1, 0.2, 0.3)
    compare(run, [(generated_for_training(run.size(100_000), 20, n_classes=5), ONLINE, thetas)])
    compare(run, [(generated_for_training(run.size(1_000_000), 8), ONLINE, (THETA,))])
    compare(run, [(generated_for_training(run.size(20_000), 8), AGGLOMERATIVE, thetas)])
    for name in REAL_SETS:
        compare(run, ((data, ONLINE, (THETA,)) for data in real(run, name, 1_000_000)))
    print(
        f"The lemma learns the first {run.size(LEMMA_LIMIT):,} training samples of a set at most,"
        "\nand the index the same; then the index learns them all (lemma: -).\n"
    )


def compare(run: Run, cases: Iterable[Case]) -> None:
    """Fit with both selections as many samples as the lemma can take, then the rest; tabulate."""
    rows = []
    for data, learners, thetas in cases:
        n_samples, limit = len(data.y_train), run.size(LEMMA_LIMIT)
        jobs = [(min(n_samples, limit), SELECTIONS)]
        if n_samples > limit:
            jobs.append((n_samples, ("index",)))
        for learner in learners:
            for theta in thetas:
                progress(f"{learner} with theta {theta} on {data.name}")
                for n_first, selections in jobs:
                    part = data.head(n_first)
                    fits = time_fits(run, learner, theta, part.X_train, part.y_train, selections)
                    rows.append((learner, data.name, f"{theta}", *fit_cells(fits, n_first)))
    header = (
        "fit", "data", "theta", "train", "boxes", "index s", "lemma s", "ratio",
        "same boxes", "tried a sample", "by lemma",
    )  # fmt: skip
    if rows:
        print(table(header, rows, left=2), end="\n\n", flush=True)


def fit_cells(fits: dict[str, Timing], n_samples: int) -> tuple[str, ...]:
    """Print a comparison, or the index alone."""
    index, lemma = fits["index"], fits.get("lemma")
    boxes = index.result.hyperboxes_
    tried = f"{index.result.n_candidates_ / n_samples:.1f}"
    cells = f"{n_samples:,}", f"{len(boxes):,}", f"{index.seconds:.3f}"
    if lemma is None:
        return *cells, "-", "-", "-", tried, "-"
    return (
        *cells,
        f"{lemma.seconds:.3f}",
        f"{lemma.seconds / index.seconds:.2f}x",
        yes_no(are_same(boxes, lemma.result.hyperboxes_)),
        tried,
        f"{lemma.result.n_candidates_ / n_samples:.1f}",
    )


def are_same(boxes: Any, others: Any) -> bool:
    """Whether two sets of boxes are equal bit for bit and in the same order."""
    names = ("lower", "upper", "labels", "counts")
    return all(getattr(boxes, name).tobytes() == getattr(others, name).tobytes() for name in names)


def paper_sets(run: Run) -> Iterator[tuple[str, Any]]:
    """Yield names and samples of the paper's sets."""
    names = names_in(run.data / "authors")[:: 6 if run.quick else 1]
    if not names:
        print("The paper's data sets: skipped, the shared data is not there (see --data)\n")
    for name in names:
        yield name, in_file_order(name, run.data / "authors")


def print_ratios(title: str, ratios: dict[str, dict[str, float]]) -> None:
    """Tabulate the smallest, the median and the largest ratio of each learner."""
    rows = []
    for learner, of_sets in ratios.items():
        ordered = sorted(of_sets, key=of_sets.__getitem__)
        least, most = (f"{of_sets[name]:.2f} ({name})" for name in (ordered[0], ordered[-1]))
        rows.append((learner, least, f"{median(of_sets.values()):.2f}", most))
    if rows:
        print(table((title, "smallest", "median", "largest"), rows), end="\n\n")


def bench_sets(run: Run) -> None:
    """Compare the selections on the sets of the paper, with everything a default fit does."""
    rows, ratios, same = [], dict[str, dict[str, float]](), []
    for name, (X, y) in paper_sets(run):
        selections = (*SELECTIONS, "all") if len(y) <= ALL_LIMIT else SELECTIONS
        for learner, make in DEFAULTS.items():
            progress(f"{learner} on {name}")
            fits = {s: partial(make(selection=s).fit, X, y) for s in selections}
            timings = run.medians(fits, rounds=15, budget=3.0, at_least=0.02)
            boxes, *others = (timing.result.hyperboxes_ for timing in timings.values())
            same.append(all(are_same(boxes, other) for other in others))
            ratio = timings["index"].seconds / timings["lemma"].seconds
            ratios.setdefault(learner, {})[name] = ratio
            ms = [f"{1e3 * timing.seconds:.1f}" for timing in timings.values()] + ["-"]
            sizes = (f"{n:,}" for n in (*X.shape, len(boxes)))
            rows.append((learner, name, *sizes, *ms[:3], f"{ratio:.2f}", yes_no(same[-1])))
    if not rows:
        return
    header = (
        "fit at the defaults", "data", "samples", "features", "boxes", "index ms", "lemma ms",
        "all ms", "index/lemma", "same boxes",
    )  # fmt: skip
    print(table(header, sorted(rows), left=2), end="\n\n")
    print_ratios("index/lemma time", ratios)
    print(f"{sum(same)} of {len(same)} fits have the same boxes with all selections.")
    print("Defaults: scaling, the order of samples, a second pass and calibration are in the time.")
    print(f"Sets of more than {ALL_LIMIT:,} samples are not fitted with all.\n")


def bench_growth(run: Run) -> None:
    """Fit ever more samples of one set."""
    data = generated_for_training(run.size(max(GROWTH_SIZES)), 8)
    rows, slopes, lines = [], [], []
    for learner, selection, limit in GROWTH_LINES:
        name, points = f"{learner}, {selection}", []
        for size in (run.size(size) for size in GROWTH_SIZES if size <= limit):
            progress(f"{name} on {size:,} samples")
            X, y = data.X_train[:size], data.y_train[:size]
            timing = time_fits(run, learner, THETA, X, y, [selection])[selection]
            n_boxes, us = len(timing.result.hyperboxes_), 1e6 * timing.seconds / size
            points.append((size, timing.seconds, n_boxes))
            rows.append((name, f"{size:,}", f"{timing.seconds:.3f}", f"{us:.1f}", f"{n_boxes:,}"))
        logs = np.log(points)
        slope, of_boxes = np.polyfit(logs[:, 0], logs[:, 1:], 1)[0]
        slopes.append((name, f"{slope:.2f}", f"{of_boxes:.2f}"))
        lines.append((f"{name}: slope {slope:.2f}", points))
    header = (f"growth, 8 features, theta {THETA}", "train", "seconds", "us per sample", "boxes")
    print(table(header, rows), end="\n\n")
    print(table(("slope on log-log axes", "seconds", "boxes"), slopes), end="\n\n")
    if path := run.picture("scale.png"):
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        ax = figure.subplots()
        last = min(len(points) for _, points in lines) - 1
        styled = zip(lines, COLOURS, MARKERS, strict=False)
        for (label, points), colour, marker in sorted(styled, key=lambda s: -s[0][1][last][1]):
            sizes, seconds, _ = zip(*points, strict=True)
            ax.loglog(sizes, seconds, color=colour, marker=marker, label=label)
        ax.set(xlabel="training samples", ylabel="seconds to fit")
        ax.set_title(f"Fit of generated data, 8 features, 3 classes, theta {THETA}")
        ax.legend(frameon=False)
        save(figure, path)
