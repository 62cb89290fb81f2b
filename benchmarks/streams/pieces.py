"""What each piece of `AdaptiveGFMM` earns: it is run without it. What budgets do to the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.streams.contenders import first_ranges, prequential
from hyperboxes import AdaptiveGFMM, ImprovedOnlineGFMM, OnlineGFMM
from hyperboxes._learning import adaptive

# What is changed of the settings; horizons and neighbours keep their number, so that there are as
# many experts.
PIECES: dict[str, dict[str, Any]] = {
    "whole": {},
    "one horizon, all boxes": {"horizons": np.full(4, 2**62)},
    "one neighbour": {"neighbors": np.array([1, 1, 1, 1])},
    "experts of equal weight": {"sharpness": 0.0},
    "features of equal weight": {"weighs": False},
}
PARAMETERS: dict[str, dict[str, Any]] = {
    "boxes of a point each (theta=1e-9)": {"theta": 1e-9},
    "theta=0.2": {"theta": 0.2},
    "max_boxes=250": {"max_boxes": 250},
    "max_boxes=500": {"max_boxes": 500},
    "max_boxes=2000": {"max_boxes": 2000},
}

BUDGETS = (None, 1000, 300, 100, 30)


@contextmanager
def settings(changes: dict[str, Any]) -> Iterator[None]:
    """Change the learner's settings for a while."""
    make = adaptive.make_settings

    def make_changed(*args: Any) -> Any:
        return make(*args)._replace(**changes)

    with patch.object(adaptive, "make_settings", make_changed):
        yield


def accuracies(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return the accuracy without each piece, with other parameters, with late and rare labels."""
    found = {}
    for name, changes in PIECES.items():
        with settings(changes):
            found[name] = prequential(AdaptiveGFMM(), X, y, limit=60).accuracy()
    for name, parameters in PARAMETERS.items():
        found[name] = prequential(AdaptiveGFMM(**parameters), X, y, limit=60).accuracy()
    for late in (1, 10, 50, 500):
        run = prequential(AdaptiveGFMM(), X, y, limit=60, late=late)
        found[f"labels {late} samples late"] = run.accuracy()
    for every in (2, 5, 20):
        run = prequential(AdaptiveGFMM(), X, y, limit=60, every=every)
        found[f"one label in {every}"] = run.accuracy()
    return found


def budget_accuracies(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return the accuracy of the other online learners, with budgets of boxes and without."""
    found = {}
    for learner in (ImprovedOnlineGFMM, OnlineGFMM):
        for max_boxes in BUDGETS:
            model = learner(scaling=first_ranges(X), max_boxes=max_boxes, calibrate=False)
            run = prequential(model, X, y, limit=60)
            found[f"{learner.__name__}, max_boxes={max_boxes}"] = run.accuracy()
    return found
