"""What the parts of the benchmark share: options, learners, and fits with several selections."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import ROOT, Timing, medians
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

IOL, ONLN, AGGLO_2, AGGLO_SM = "ImprovedOnlineGFMM", "OnlineGFMM", "AGGLO-2", "AGGLO-SM"
ALONE: dict[str, Any] = {"scaling": None, "calibrate": False}  # the algorithm, nothing around it
LEARNERS: dict[str, Callable[..., Any]] = {
    IOL: partial(ImprovedOnlineGFMM, shuffle=False, **ALONE),
    ONLN: partial(OnlineGFMM, shuffle=False, **ALONE),
    AGGLO_2: partial(AgglomerativeGFMM, algorithm="agglo2", **ALONE),
    AGGLO_SM: partial(AgglomerativeGFMM, algorithm="agglo-sm", **ALONE),
}
THETA = 0.1  # the paper's
SELECTIONS = ("index", "lemma")
QUICK = 50  # how much smaller everything is with --quick

COLOURS = ("#0072B2", "#E69F00", "#56B4E9", "#009E73", "#D55E00", "#CC79A7", "black", "0.6")
MARKERS = "osv^DP*x"


class Run:
    """The options of a run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.data: Path = options.data
        self.quick: bool = options.quick
        self.membership: str = options.membership

    def size(self, n_samples: int) -> int:
        """Return a number of samples, a smaller one if there is little time."""
        return n_samples // QUICK if self.quick else n_samples

    def medians(self, functions: dict[str, Callable[[], Any]], **how: Any) -> dict[str, Timing]:
        """Time functions in turns by the processor, in a single round if there is little time."""
        how = {"clock": time.process_time} | how | ({"rounds": 1} if self.quick else {})
        return medians(functions, **how)

    def picture(self, name: str) -> Path | None:
        """Return where to save a picture, if it is to be drawn."""
        return None if self.quick else ROOT / "docs" / name


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
    function = {"membership_function": run.membership}
    fits = {name: partial(fit, learner, theta, X, y, name, **function) for name in selections}
    return run.medians(fits, **how)


def save(figure: Any, path: Path) -> None:
    """Save a picture of lines on logarithmic axes."""
    for ax in figure.axes:
        ax.grid(color="0.9")
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    print(f"The picture is in {path.name}\n")
