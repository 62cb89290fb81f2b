"""Classes that overlap: where most boxes that could grow are refused, and the walls count."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.data import Split, shared, tangled
from benchmarks.scale.common import AGGLO_2, AGGLO_SM, IOL, Goal, Run
from benchmarks.scale.fitting import (
    FitSet,
    compare_fits,
    fit_table,
    ratio_goal,
    same_boxes_goal,
)
from benchmarks.timing import progress, table
from hyperboxes import ImprovedOnlineGFMM, merge

THETAS = (0.1, 0.3, 0.5, 0.7)
DEFAULT, OF_AGGLOMERATION = (0.5,), (0.7,)
N_MODELS = 4

# How many times faster than the lemma the index is wanted, by training samples; and how quickly
# its seconds may grow with them.
WANTED = {5_000: 1.0, 20_000: 10.0, 60_000: 20.0}
WANTED_SLOPE = 1.4


def bench_overlap(run: Run) -> list[Goal]:
    """Compare the index with the lemma at all thetas, on classes that overlap and that do not."""
    size = run.size(20_000)
    return compare(
        run,
        (FitSet(tangled(size, 20, overlap=overlap), (IOL,), THETAS) for overlap in (True, False)),
    )


def bench_overlap_growth(run: Run) -> list[Goal]:
    """Compare them on more and more samples, at the default theta."""
    sets = [
        FitSet(tangled(run.size(size), 20), (IOL,), DEFAULT, wanted)
        for size, wanted in WANTED.items()
        if size <= run.most
    ]
    fits = [next(compare_fits(run, fit_set, IOL, DEFAULT[0])) for fit_set in sets]
    print(fit_table(fits), end="\n\n")
    sizes, seconds = zip(*((one.n_samples, one.seconds["index"]) for one in fits), strict=True)
    slope = float(np.log(seconds[-1] / seconds[0]) / np.log(sizes[-1] / sizes[0]))
    name = f"{IOL}, theta {DEFAULT[0]}, growth from {sizes[0]:,} to {sizes[-1]:,} samples"
    goal = Goal(name, f"slope <= {WANTED_SLOPE}", f"{slope:.2f}", slope <= WANTED_SLOPE)
    return [*map(ratio_goal, fits[1:]), goal, same_boxes_goal(fits)]


def bench_agglomeration(run: Run) -> list[Goal]:
    """Compare them in agglomeration at its default theta."""
    return compare(run, agglomerative_sets(run))


def agglomerative_sets(run: Run) -> Iterator[FitSet]:
    """Yield a generated set, and electricity where it is there."""
    electricity = shared("electricity", run.data / "large")
    if electricity is None:
        print("electricity: skipped, the shared data is not there (see --data)")
    else:
        data = electricity.head(run.size(40_000))
        yield FitSet(data, (AGGLO_2,), OF_AGGLOMERATION, wanted=10.0)
    few = tangled(run.size(20_000), 20)
    yield FitSet(few, (AGGLO_SM,), OF_AGGLOMERATION, wanted=15.0)


def compare(run: Run, sets: Iterator[FitSet]) -> list[Goal]:
    """Fit sets with both selections; tabulate."""
    comparisons = [
        fits
        for fit_set in sets
        for learner in fit_set.learners
        for theta in fit_set.thetas
        for fits in compare_fits(run, fit_set, learner, theta)
    ]
    print(fit_table(comparisons), end="\n\n")
    goals = [ratio_goal(fits) for fits in comparisons if fits.wanted > 1.0]
    return [*goals, same_boxes_goal(comparisons)]


def bench_merge(run: Run) -> list[Goal]:
    """Set the time of merging models beside that of training them."""
    data = tangled(run.size(100_000), 8, n_informative=6, n_classes=3)
    progress(f"merge of {N_MODELS} models of {data.name}")
    merge(train_parts(data.head(1_000), shuffle=False))
    training = {
        "in one pass": partial(train_parts, data, shuffle=False),
        "by default": partial(train_parts, data, random_state=0),
    }
    trained = run.medians(training, clock=time.process_time)
    rows, goals = [], []
    for how, timing in trained.items():
        merging = {"merge": partial(merge, timing.result)}
        merged = run.medians(merging, clock=time.process_time)["merge"]
        n_boxes = sum(len(model.hyperboxes_) for model in timing.result)
        rows.append((how, f"{n_boxes:,}", f"{timing.seconds:.2f}", f"{merged.seconds:.2f}"))
        measured = f"{merged.seconds / timing.seconds:.2f} of it"
        met = merged.seconds < timing.seconds
        goals.append(Goal(f"merge of models trained {how}", "< training", measured, met))
    print(table((f"{N_MODELS} models, {data.name}", "boxes", "training s", "merge s"), rows))
    print()
    return goals


def train_parts(data: Split, **parameters: Any) -> list[ImprovedOnlineGFMM]:
    """Fit a model to each part of the training samples."""
    parts = np.array_split(np.arange(len(data.y_train)), N_MODELS)
    model = partial(ImprovedOnlineGFMM, scaling=None, **parameters)
    return [model().fit(data.X_train[part], data.y_train[part]) for part in parts]
