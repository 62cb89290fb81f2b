"""Predict: boxes beside a nearest neighbour, and threads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import geometric_mean
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.data import Split, generated_for_training, uniform
from benchmarks.scale.common import ALONE, Goal, Run, speed_goal
from benchmarks.timing import Timing, progress, table
from hyperboxes import ImprovedOnlineGFMM

# What is wanted: times faster.
WANTED_PREDICT, WANTED_PREDICT_ANYWHERE = 5.0, 4.0
WANTED_THREADS = 1.7

# The metrics in which the nearest point is the one of the largest membership.
METRICS = {"min": "chebyshev", "mean": "manhattan"}


@dataclass(frozen=True)
class Prediction:
    """Seconds of prediction beside a nearest neighbour's, and with two threads beside one."""

    data: Split
    function: str
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


def bench_predict(run: Run) -> list[Goal]:
    """Compare prediction with a nearest neighbour's, and two threads with one."""
    predictions = [
        compare_predictions(run, data.head(run.size(n_training)), function)
        for function in METRICS
        for data in prediction_sets(run)
        for n_training in (20_000, 100_000)
        if n_training <= run.most
    ]
    print(prediction_table(predictions), end="\n\n")
    print(
        "Every training sample is a box. The neighbour is scikit-learn's KNeighborsClassifier\n"
        '(1, algorithm="kd_tree", n_jobs=1) in the metric of the membership: Chebyshev of "min",\n'
        'Manhattan of "mean". Wrong: where labels differ though the nearest points of the two\n'
        "classes are not equally far.\n"
    )
    return prediction_goals(predictions)


def prediction_sets(run: Run) -> Iterator[Split]:
    """Yield data of few and of many features, in clusters and without."""
    n_training = run.size(100_000)
    for n_features in (8, 20):
        yield generated_for_training(n_training, n_features)
        yield uniform(n_training, n_features, n_test=run.size(20_000))


def compare_predictions(run: Run, data: Split, function: str) -> Prediction:
    """Predict a few samples beside the neighbour, and more of them with one and two threads."""
    progress(f"prediction of {data.name}, {len(data.y_train):,} boxes, {function!r}")
    samples = data.X_train, data.y_train
    params: dict[str, Any] = {"membership_function": function, "shuffle": False, **ALONE}
    boxes = ImprovedOnlineGFMM(1e-9, **params).fit(*samples)
    threaded = ImprovedOnlineGFMM(1e-9, n_jobs=2, **params).fit(*samples)
    neighbour = KNeighborsClassifier(1, metric=METRICS[function], algorithm="kd_tree", n_jobs=1)
    neighbour.fit(*samples)
    few, many = data.X_test[: run.size(2_000)], data.X_test[: run.size(20_000)]
    beside = run.medians(
        {"boxes": partial(boxes.predict, few), "neighbour": partial(neighbour.predict, few)},
        clock=time.process_time,
    )
    threads = run.medians(
        {"one": partial(boxes.predict, many), "two": partial(threaded.predict, many)}
    )
    ours, theirs = (timing.result for timing in beside.values())
    different = np.flatnonzero(ours != theirs)
    n_wrong = sum(not is_tie(data, function, few[row], ours[row], theirs[row]) for row in different)
    return Prediction(data, function, beside, threads, len(different), n_wrong)


def is_tie(data: Split, function: str, x: np.ndarray, first: int, second: int) -> bool:
    """Whether the nearest points of two classes are equally far, but for rounding."""
    gaps = np.abs(data.X_train - x)
    distance = gaps.mean(axis=1) if function == "mean" else gaps.max(axis=1)
    nearest = [distance[data.y_train == label].min() for label in (first, second)]
    return abs(nearest[0] - nearest[1]) <= 4 * np.finfo(float).eps


def prediction_table(predictions: list[Prediction]) -> str:
    """Tabulate seconds, ratios and differences."""
    header = (
        "predict", "membership", "boxes", "test", "seconds", "neighbour", "ratio",
        "labels differ", "wrong", "test", "1 thread", "2 threads", "ratio",
    )  # fmt: skip
    return table(header, map(prediction_cells, predictions), left=2)


def prediction_cells(prediction: Prediction) -> tuple[str, ...]:
    """Print one comparison."""
    beside, threads = prediction.beside, prediction.threads
    return (
        prediction.data.name,
        prediction.function,
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
