"""Learning in matrix form compared with the compiled estimators: `python -m benchmarks.matrix`.

On NumPy and, where it is installed, PyTorch on the processor. All find the same boxes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import minmax_scale

from benchmarks.harness import command, machine, medians, progress, table
from hyperboxes import ImprovedOnlineGFMM, OnlineGFMM
from hyperboxes.literature import matrix_gfmm

SHAPES = ((5_000, 20), (200, 20_000))
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


def main() -> None:
    """Print a table of seconds."""
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


if __name__ == "__main__":
    main()
