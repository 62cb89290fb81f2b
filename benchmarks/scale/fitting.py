"""Fit: the index beside the lemma, on large sets and on the small ones of the paper."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.data import Split, generated_for_training, in_file_order, names_in, shared
from benchmarks.scale.common import (
    AGGLOMERATIVE,
    LEARNERS,
    LEMMA_LIMIT,
    ONLINE,
    SELECTIONS,
    THETA,
    THETAS,
    Goal,
    Run,
    speed_goal,
    time_fits,
)
from benchmarks.timing import progress, table, yes_no

REAL_SETS = ("covertype", "skin_segmentation", "shuttle")

WANTED_FIT = 10.0  # times faster
WANTED_SMALL = 1.10  # times the lemma's seconds, at most


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
        "same boxes", "tried a sample", "by lemma",
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
        f"{fits.n_candidates['index'] / fits.n_samples:.1f}",
        f"{fits.n_candidates['lemma'] / fits.n_samples:.1f}" if has_lemma else "-",
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


def ratio_goal(fits: Fits) -> Goal:
    """Set how many times faster the index is against what is wanted."""
    name = f"{fits.learner}, theta {fits.theta}, {fits.data}"
    return speed_goal(name, fits.wanted, fits.ratio)


def same_boxes_goal(comparisons: list[Fits]) -> Goal:
    """Count the comparisons in which both selections gave the same boxes."""
    n_same = sum(fits.is_same for fits in comparisons)
    measured = f"{n_same} of {len(comparisons)} fits"
    return Goal("same boxes, index and lemma", "all", measured, n_same == len(comparisons))


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
            run, learner, THETA, X, y, SELECTIONS, rounds=7, budget=math.inf, at_least=0.05
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
