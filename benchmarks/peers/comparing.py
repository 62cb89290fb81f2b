"""Time and boxes of one learner in both packages, on one data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.data import Split
from benchmarks.peers.learners import Learner, our_conventions
from benchmarks.timing import Timing, medians, progress

# Seconds: where a fit of the peer takes longer, it is not run again to explain a difference.
EXPLAIN_LIMIT = 45.0


@dataclass(frozen=True, eq=False)
class Boxes:
    """The boxes of a fitted model of either package, oldest first."""

    labels: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, model: Any) -> Boxes:
        """Take the boxes of a model."""
        if hasattr(model, "hyperboxes_"):
            boxes = model.hyperboxes_
            return cls(boxes.labels, boxes.lower, boxes.upper)
        return cls(model.C, model.V, model.W)

    def __len__(self) -> int:
        return len(self.labels)

    def in_both(self, other: Boxes) -> str:
        """Say "yes" if the sets are the same, or else how many boxes are in both."""
        ours, theirs = (
            Counter(map(tuple, np.column_stack([b.labels, b.lower, b.upper]).tolist()))
            for b in (self, other)
        )
        return "yes" if ours == theirs else f"no, {(ours & theirs).total()}"

    def shift(self, other: Boxes) -> str:
        """Return the largest difference of any face, "-" if the boxes do not pair up by age."""
        if not np.array_equal(self.labels, other.labels):
            return "-"
        faces = np.abs([self.lower - other.lower, self.upper - other.upper])
        return f"{faces.max():.1g}"


@dataclass(frozen=True, eq=False)
class Comparison:
    """One learner of both packages on one data set; dictionaries have keys "ours" and "peer"."""

    learner: Learner
    theta: float
    data: Split
    fit: dict[str, Timing]
    predict: dict[str, Timing]
    boxes: dict[str, Boxes]
    same: str
    same_with_our_rules: str

    def accuracy(self, package: str) -> float:
        """Return a package's accuracy on the test samples."""
        return float(np.mean(self.predict[package].result == self.data.y_test))


def compare(learner: Learner, data: Split, theta: float) -> Comparison:
    """Fit and predict with both packages in turns, after a warm-up on a few samples."""
    progress(f"{learner.name} with theta {theta} on {data.name}")
    fits = {"ours": partial(fit, learner.ours, theta), "peer": partial(fit, learner.peer, theta)}
    for fit_package in fits.values():
        fit_package(data.head(200)).predict(data.X_test[:20])
    fitting = medians({name: partial(fit_package, data) for name, fit_package in fits.items()})
    models = {name: timing.result for name, timing in fitting.items()}
    predicting = medians({name: partial(models[name].predict, data.X_test) for name in models})
    boxes = {name: Boxes.of(model) for name, model in models.items()}
    same = boxes["ours"].in_both(boxes["peer"])
    same_with_our_rules = "-"
    if same != "yes" and fitting["peer"].seconds < EXPLAIN_LIMIT:
        with our_conventions():
            same_with_our_rules = boxes["ours"].in_both(Boxes.of(fits["peer"](data)))
    return Comparison(learner, theta, data, fitting, predicting, boxes, same, same_with_our_rules)


def fit(make: Callable[[float], Any], theta: float, data: Split) -> Any:
    """Fit a new model."""
    return make(theta).fit(data.X_train, data.y_train)
