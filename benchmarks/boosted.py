"""Speed and memory of boosted boxes, gradient boosting, forests, EBM and RuleFit.

`make bench-boosted` prints times of fitting (40 boxes; 100 rounds or trees) and predicting, memory
that fitting adds to the data, and growth with the number of samples. Generated samples of 20
features and two classes, at first also five. Times are of the processor, on one thread but for the
last table. EBM and RuleFit get fewer samples: more would take them many minutes. Samples of the
last table are in single precision, as they would be where memory matters.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from threadpoolctl import threadpool_limits

from benchmarks.harness import added_memory, call_in_fresh_process, command, machine, medians, table
from hyperboxes import BoostedHyperboxes

N_FEATURES = 20
BLOCK = 100_000  # samples generated at a time

Models = dict[str, Callable[[], Any]]


def generate_many(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw samples in single precision around 16 centres, which determine the class.

    The centres differ in ten features. Samples are drawn in blocks of rows, to save memory.
    """
    rng = np.random.default_rng(0)
    centres = np.zeros((16, N_FEATURES), np.float32)
    centres[:, : N_FEATURES // 2] = rng.uniform(-2, 2, (16, N_FEATURES // 2))
    X = np.empty((n_samples, N_FEATURES), np.float32)
    y = np.empty(n_samples, np.int8)
    for start in range(0, n_samples, BLOCK):
        block = X[start : start + BLOCK]
        centre = rng.integers(len(centres), size=len(block))
        rng.standard_normal(out=block, dtype=np.float32)
        block += centres[centre]
        y[start : start + BLOCK] = (centre % 2) ^ (rng.random(len(block)) < 0.02)
    return X, y


def boxes(max_boxes: int = 40) -> BoostedHyperboxes:
    """Return the estimator that is measured."""
    return BoostedHyperboxes(max_boxes, random_state=0)


def explainable_boosting() -> Any:
    """Return EBM with its defaults, on one thread."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1)


def rule_fit() -> Any:
    """Return RuleFit with as many rules as there are boxes."""
    from imodels import RuleFitClassifier

    return RuleFitClassifier(max_rules=40)


READABLE: Models = {
    "random forest, 100 trees": lambda: RandomForestClassifier(random_state=0),
    "EBM": explainable_boosting,
    "RuleFit, 40 rules": rule_fit,
}
GRADIENT_BOOSTING: Models = {
    "HistGradientBoosting, 100 rounds": lambda: HistGradientBoostingClassifier(early_stopping=False)
}


def print_times(n_samples: int, others: Models, n_classes: int) -> None:
    """Print times of fitting and predicting on one thread, by the processor."""
    X, y = make_classification(
        n_samples, N_FEATURES, n_informative=10, n_classes=n_classes, random_state=0
    )
    models: Models = {"BoostedHyperboxes, 40 boxes": boxes, **others}
    boxes(5).fit(X[:500], y[:500])  # compiles
    clock = partial(medians, clock=time.process_time)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # RuleFit prints hundreds
        fits = clock({name: lambda m=make: m().fit(X, y) for name, make in models.items()})
        asked = clock({name: partial(fits[name].result.predict_proba, X) for name in models})
    rows = [
        [name, f"{fits[name].seconds:.2f} s", f"{asked[name].seconds * 1e9 / len(X):,.0f} ns"]
        for name in models
    ]
    title = f"{len(X):,} x {N_FEATURES}, {n_classes} classes, one thread"
    print(table([title, "fit", "predict_proba, a sample"], rows), "\n", flush=True)


def measure(n_samples: int) -> tuple[float, float, float, float]:
    """Return seconds to fit by clock and processor, and megabytes of the data and added at most."""
    X, y = generate_many(n_samples)
    model = boxes().set_params(n_jobs=-1)
    model.fit(X[:500], y[:500])
    start, work = time.perf_counter(), time.process_time()
    added, _ = added_memory(lambda: model.fit(X, y))
    seconds, work = time.perf_counter() - start, time.process_time() - work
    return seconds, work, X.nbytes / 2**20, added


def print_growth(sizes: list[int]) -> None:
    """Print measurements of fits of more and more samples, each in a process of its own."""
    rows = []
    for size in sizes:
        seconds, work, data, added = call_in_fresh_process(measure, size)
        cells = f"{seconds:.2f} s", f"{work:.2f} s", f"{data:,.1f} MB", f"{added:,.1f} MB"
        rows.append([f"{size:,}", *cells, f"{added / data:.2f}"])
    header = ["samples", "fit, 40 boxes", "processor time", "data", "added", "added by data"]
    print(table(header, rows))


TABLES = ["one-thread", "readable", "growth"]


def main() -> None:
    """Print all tables, or some."""
    parser = command("bench-boosted", __doc__, data=False, quick="fewer samples")
    parser.add_argument("--only", nargs="+", default=TABLES, choices=TABLES, help="some tables")
    options = parser.parse_args()
    n_samples = 10_000 if options.quick else 100_000
    print(machine("numpy", "scikit-learn"), "\n")
    if "one-thread" in options.only:
        for n_classes in (2, 5):
            print_times(n_samples, GRADIENT_BOOSTING, n_classes)
    if "readable" in options.only:
        print_times(n_samples // 20, READABLE, 2)
    if "growth" in options.only:
        sizes = [10_000, 100_000, 1_000_000, 10_000_000]
        print_growth(sizes[:2] if options.quick else sizes)


if __name__ == "__main__":
    main()
