"""What the parts of the benchmark share: what was asked for, the learners, goals."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import generated_for_training, tangled
from benchmarks.timing import Timing, medians
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

IOL, ONLN, AGGLO_2, AGGLO_SM = "ImprovedOnlineGFMM", "OnlineGFMM", "AGGLO-2", "AGGLO-SM"
ALONE: dict[str, Any] = {"scaling": None, "calibrate": False}  # the algorithm, nothing around it
LEARNERS: dict[str, Callable[..., Any]] = {
    IOL: partial(ImprovedOnlineGFMM, shuffle=False, **ALONE),
    ONLN: partial(OnlineGFMM, shuffle=False, **ALONE),
    AGGLO_2: partial(AgglomerativeGFMM, algorithm="agglo2", **ALONE),
    AGGLO_SM: partial(AgglomerativeGFMM, algorithm="agglo-sm", **ALONE),
}
ONLINE, AGGLOMERATIVE = (IOL, ONLN), (AGGLO_2, AGGLO_SM)
THETA = 0.1  # the paper's
THETAS = (0.1, 0.2, 0.3)
SELECTIONS = ("index", "lemma")

LEMMA_LIMIT = 100_000  # training samples: the lemma is slow on more

# How much smaller everything is with --quick.
QUICK = 50


@dataclass(frozen=True)
class Run:
    """What the user asked for."""

    data: Path
    quick: bool
    picture: Path | None
    keep: Path | None = None
    most: int = sys.maxsize
    membership: str = "mean"

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


def warm_up() -> None:
    """Compile everything, or load it from Numba's cache."""
    few, refused = generated_for_training(300, 8), tangled(2_000, 20)
    for learner in LEARNERS:
        for selection in SELECTIONS:
            fit(learner, THETA, few.X_train, few.y_train, selection).predict(few.X_test)
            fit(learner, 0.7, refused.X_train, refused.y_train, selection)  # rooms and bitmaps


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
    """Time fits with each selection, in turns, in seconds of the processor: they use one thread."""
    function = {"membership_function": run.membership}
    fits = {name: partial(fit, learner, theta, X, y, name, **function) for name in selections}
    return run.medians(fits, clock=time.process_time, **how)


def speed_goal(name: str, wanted: float, measured: float) -> Goal:
    """Set a speed-up against what is wanted."""
    return Goal(name, f">= {wanted:g}x", f"{measured:.2f}x", measured >= wanted)
