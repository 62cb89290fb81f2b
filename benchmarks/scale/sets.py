"""The paper's sets at the defaults: on none of them may the index be slower than the lemma."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks.data import in_file_order, names_in
from benchmarks.scale.common import AGGLO_2, AGGLO_SM, IOL, ONLN, SELECTIONS, Goal, Run
from benchmarks.scale.fitting import are_same
from benchmarks.timing import progress, table, yes_no
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

DEFAULTS: dict[str, Callable[..., Any]] = {
    IOL: partial(ImprovedOnlineGFMM, random_state=0),
    ONLN: partial(OnlineGFMM, random_state=0),
    AGGLO_2: partial(AgglomerativeGFMM, algorithm="agglo2"),
    AGGLO_SM: partial(AgglomerativeGFMM, algorithm="agglo-sm"),
}
WANTED = 1.05  # times the lemma's seconds, at most
ALL_LIMIT = 2_500  # samples: larger sets are not fitted with "all"


@dataclass(frozen=True)
class SetFits:
    """Seconds of fits of one learner to one set, by selection; with `all` only if it is small."""

    learner: str
    name: str
    n_samples: int
    n_features: int
    n_boxes: int
    seconds: dict[str, float]
    is_same: bool

    @property
    def ratio(self) -> float:
        """The index's time over the lemma's."""
        return self.seconds["index"] / self.seconds["lemma"]


def bench_sets(run: Run) -> list[Goal]:
    """Compare the selections on each set of the paper, with everything a default fit does."""
    folder = run.data / "authors"
    names = names_in(folder)[:: 6 if run.quick else 1]
    if not names:
        print("The paper's data sets: skipped, the shared data is not there (see --data)\n")
        return []
    comparisons = [compare(run, learner, name) for learner in DEFAULTS for name in names]
    print(sets_table(comparisons), end="\n\n")
    print(summary_table(comparisons), end="\n\n")
    print(
        "Defaults: scaling, the order of samples, a second pass and calibration are in the time."
        f"\nSets of more than {ALL_LIMIT:,} samples are not fitted with all.\n"
    )
    n_same = sum(one.is_same for one in comparisons)
    same = f"{n_same} of {len(comparisons)} fits"
    goal = Goal("same boxes, all selections", "all", same, n_same == len(comparisons))
    return [*(slowest_goal(learner, comparisons) for learner in DEFAULTS), goal]


def compare(run: Run, learner: str, name: str) -> SetFits:
    """Fit a set with all selections, in turns."""
    progress(f"{learner} on {name}")
    samples = in_file_order(name, run.data / "authors")
    assert samples is not None  # it was listed
    X, y = samples
    selections = (*SELECTIONS, "all") if len(y) <= ALL_LIMIT else SELECTIONS
    fits = {selection: partial(fit, learner, X, y, selection) for selection in selections}
    timings = run.medians(fits, rounds=15, budget=3.0, at_least=0.02, clock=time.process_time)
    boxes, *others = (timing.result.hyperboxes_ for timing in timings.values())
    return SetFits(
        learner,
        name,
        *X.shape,
        len(boxes),
        {selection: timing.seconds for selection, timing in timings.items()},
        all(are_same(boxes, other) for other in others),
    )


def fit(learner: str, X: np.ndarray, y: np.ndarray, selection: str) -> Any:
    """Fit a new model."""
    return DEFAULTS[learner](selection=selection).fit(X, y)


def sets_table(comparisons: list[SetFits]) -> str:
    """Tabulate milliseconds and ratios of all sets."""
    header = (
        "fit at the defaults", "data", "samples", "features", "boxes", "index ms", "lemma ms",
        "all ms", "index/lemma", "same boxes",
    )  # fmt: skip
    return table(header, map(set_cells, comparisons), left=2)


def set_cells(fits: SetFits) -> tuple[str, ...]:
    """Print a comparison."""
    milliseconds = (
        f"{1e3 * fits.seconds[name]:.1f}" if name in fits.seconds else "-"
        for name in (*SELECTIONS, "all")
    )
    return (
        fits.learner,
        fits.name,
        f"{fits.n_samples:,}",
        f"{fits.n_features}",
        f"{fits.n_boxes:,}",
        *milliseconds,
        f"{fits.ratio:.2f}",
        yes_no(fits.is_same),
    )


def summary_table(comparisons: list[SetFits]) -> str:
    """Tabulate the smallest, the median and the largest ratio of each learner."""
    rows = []
    for learner in DEFAULTS:
        ratios = [fits.ratio for fits in comparisons if fits.learner == learner]
        values = (min(ratios), median(ratios), max(ratios))
        rows.append((learner, *(f"{value:.2f}" for value in values)))
    return table(("index/lemma time", "smallest", "median", "largest"), rows)


def slowest_goal(learner: str, comparisons: list[SetFits]) -> Goal:
    """Set the largest ratio of a learner against what is wanted."""
    of_learner = (fits for fits in comparisons if fits.learner == learner)
    worst = max(of_learner, key=lambda fits: fits.ratio)
    return Goal(
        f"{learner} at its defaults, index/lemma time",
        f"<= {WANTED:.2f}",
        f"{worst.ratio:.2f} ({worst.name})",
        worst.ratio <= WANTED,
    )
