"""Classes that overlap: where most boxes that could grow are refused, and the walls count."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.data import Split, shared, tangled
from benchmarks.scale.common import AGGLO_2, AGGLO_SM, IOL, Goal, Run
from benchmarks.scale.fitting import FitSet, compare_fits, fit_table, same_boxes_goal
from benchmarks.timing import progress, table
from hyperboxes import ImprovedOnlineGFMM, merge

THETAS = (0.1, 0.3, 0.5, 0.7)
DEFAULT, OF_AGGLOMERATION = (0.5,), (0.7,)
N_MODELS = 4


def bench_overlap(run: Run) -> list[Goal]:
    """Compare the index with the lemma, and time `merge`."""
    comparisons = [
        fits
        for fit_set in overlap_sets(run)
        for learner in fit_set.learners
        for theta in fit_set.thetas
        for fits in compare_fits(run, fit_set, learner, theta)
    ]
    print(fit_table(comparisons), end="\n\n")
    goals = [
        Goal(
            f"{fits.learner}, theta {fits.theta}, {fits.data}",
            f">= {fits.wanted:g}x",
            f"{fits.ratio:.1f}x",
            fits.ratio >= fits.wanted,
        )
        for fits in comparisons
        if fits.wanted > 1.0
    ]
    return [*goals, same_boxes_goal(comparisons), time_merge(run)]


def overlap_sets(run: Run) -> Iterator[FitSet]:
    """Yield generated sets with and without overlap, and electricity where it is there."""
    few = tangled(run.size(20_000), 20)
    yield FitSet(few, (IOL,), (0.1, 0.3, 0.7))
    yield FitSet(few, (IOL,), DEFAULT, wanted=10.0)
    yield FitSet(tangled(run.size(20_000), 20, overlap=False), (IOL,), THETAS)
    yield FitSet(tangled(run.size(60_000), 20), (IOL,), DEFAULT, wanted=20.0)
    yield FitSet(few, (AGGLO_SM,), OF_AGGLOMERATION, wanted=15.0)
    electricity = shared("electricity", run.data / "large")
    if electricity is None:
        print("electricity: skipped, the shared data is not there (see --data)")
    else:
        data = electricity.head(run.size(40_000))
        yield FitSet(data, (AGGLO_2,), OF_AGGLOMERATION, wanted=10.0)


def time_merge(run: Run) -> Goal:
    """Set the time of merging models beside that of training them."""
    data = tangled(run.size(100_000), 8, n_informative=6, n_classes=3)
    progress(f"merge of {N_MODELS} models of {data.name}")
    trained = run.medians({"training": partial(train_parts, data)})["training"]
    merged = run.medians({"merge": partial(merge, trained.result)})["merge"]
    n_boxes = sum(len(model.hyperboxes_) for model in trained.result)
    rows = [(f"{n_boxes:,} boxes", f"{trained.seconds:.2f}", f"{merged.seconds:.2f}")]
    print(table((f"{N_MODELS} models, {data.name}", "training s", "merge s"), rows), end="\n\n")
    measured = f"{merged.seconds / trained.seconds:.2f} of it"
    return Goal("merge", "< training", measured, merged.seconds < trained.seconds)


def train_parts(data: Split) -> list[ImprovedOnlineGFMM]:
    """Fit a model to each part of the training samples."""
    parts = np.array_split(np.arange(len(data.y_train)), N_MODELS)
    model = partial(ImprovedOnlineGFMM, scaling=None, shuffle=False)
    return [model().fit(data.X_train[part], data.y_train[part]) for part in parts]
