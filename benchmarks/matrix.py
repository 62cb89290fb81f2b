"""Learning and prediction by array operations, and by the compiled estimators.

Learning runs on NumPy and, where it is installed, PyTorch on the processor; prediction on PyTorch.
All find the same boxes and probabilities.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.preprocessing import minmax_scale

from benchmarks.harness import command, machine, medians, progress, table
from hyperboxes import ImprovedOnlineGFMM, OnlineGFMM
from hyperboxes.literature import matrix_gfmm

SHAPES = ((5_000, 20), (200, 20_000))
N_DISTANCES = 10**8  # of single features, in prediction
LEARNERS = {"iol-gfmm": ImprovedOnlineGFMM, "onln-gfmm": OnlineGFMM}
THETA = 0.5


def compiled(X: np.ndarray, y: np.ndarray, algorithm: str, selection: str) -> int:
    """Return how many boxes the compiled estimator makes."""
    chosen = {"theta": THETA, "membership_function": "min", "selection": selection}
    model = LEARNERS[algorithm](**chosen, scaling=None, shuffle=False, calibrate=False)
    return len(model.fit(X, y).hyperboxes_)


def in_matrix_form(X: Any, y: Any, algorithm: str) -> int:
    """Return how many boxes the matrix form makes."""
    return int(matrix_gfmm(X, y, algorithm=algorithm, theta=THETA).labels.shape[0])


def make_ways(X: np.ndarray, y: np.ndarray, algorithm: str) -> dict[str, Callable[[], int]]:
    """Return the ways to learn by their names."""
    ways: dict[str, Callable[[], int]] = {
        "compiled, all": partial(compiled, X, y, algorithm, "all"),
        "compiled, index": partial(compiled, X, y, algorithm, "index"),
        "matrix form, NumPy": partial(in_matrix_form, X, y, algorithm),
    }
    if find_spec("torch") is not None:
        convert = import_module("torch").asarray
        ways["matrix form, torch"] = partial(in_matrix_form, convert(X), convert(y), algorithm)
    return ways


def show_predictions() -> None:
    """Print a table of the seconds of `predict_proba`, compiled and as operations of PyTorch."""
    if find_spec("torch") is None:
        progress("predictions on a device need PyTorch: pip install torch")
        return
    os.environ["SCIPY_ARRAY_API"] = "1"  # scikit-learn wants it to be set
    convert, rows = import_module("torch").asarray, []
    for n_samples, n_features in SHAPES:
        X, y = make_classification(
            n_samples, n_features, n_informative=10, n_classes=5, random_state=0
        )
        model = ImprovedOnlineGFMM(random_state=0).fit(X, y)
        n_predicted = N_DISTANCES // (n_features * len(model.hyperboxes_))
        samples = np.resize(X, (n_predicted, n_features))
        on_device = convert(samples)

        def dispatched(model: Any = model, samples: Any = on_device) -> np.ndarray:
            with config_context(array_api_dispatch=True):
                return np.asarray(model.predict_proba(samples))

        ways = {"compiled": partial(model.predict_proba, samples), "PyTorch": dispatched}
        times = medians(ways, clock=time.process_time, budget=4.0)
        assert (times["compiled"].result == times["PyTorch"].result).all()
        seconds = [f"{times[name].seconds:.3g} s" for name in ways]
        shape = f"{n_predicted:,} x {n_features:,}"
        rows.append([shape, f"{len(model.hyperboxes_):,}", *seconds])
    print(table(["samples", "boxes", "compiled", "PyTorch"], rows))


def main() -> None:
    """Print tables of seconds."""
    command("benchmarks.matrix", __doc__, data=False).parse_args()
    rows, names = [], []
    for n_samples, n_features in SHAPES:
        X, y = make_classification(
            n_samples, n_features, n_informative=10, n_classes=5, random_state=0
        )
        X = minmax_scale(X)
        for algorithm in LEARNERS:
            progress(f"{n_samples} x {n_features}, {algorithm}")
            for way in make_ways(X[:20], y[:20], algorithm).values():
                way()  # compiles
            times = medians(make_ways(X, y, algorithm), clock=time.process_time, budget=4.0)
            n_boxes = {timing.result for timing in times.values()}
            assert len(n_boxes) == 1, f"different numbers of boxes: {n_boxes}"
            names = list(times)
            seconds = [f"{timing.seconds:.3g} s" for timing in times.values()]
            rows.append(
                [f"{n_samples:,} x {n_features:,}", algorithm, *map(str, n_boxes), *seconds]
            )
    print(machine("numpy", "scikit-learn"))
    print(table(["data", "algorithm", "boxes", *names], rows))
    show_predictions()


if __name__ == "__main__":
    main()
