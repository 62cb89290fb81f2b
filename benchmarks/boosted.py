"""Speed and memory of boosted boxes beside gradient boosting, forests, EBM and RuleFit.

`make bench-boosted` prints times of fitting (40 boxes; 100 rounds or trees) and predicting, memory
that fitting adds to the data, and growth with the number of samples. Generated samples of 20
features and two classes, at first also five. Tables of one thread are of processor time, which
holds on a busy machine, too; in the others all cores may be used. EBM and RuleFit get fewer
samples: more would take them many minutes. Samples of the last table are in single precision, as
they would be where memory matters. `--only` prints some tables.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from threadpoolctl import threadpool_limits

from benchmarks.timing import added_memory, call_in_fresh_process, machine, medians, table
from hyperboxes import BoostedHyperboxes

N_FEATURES = 20
BLOCK = 100_000  # samples generated at a time
HIST = "HistGradientBoosting, 100 rounds"
FOREST = "random forest, 100 trees"

Models = dict[str, Callable[[], Any]]


def generate(n_samples: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Draw samples with 10 features that matter."""
    X, y = make_classification(
        n_samples, N_FEATURES, n_informative=10, n_classes=n_classes, random_state=0
    )
    return X, y


def generate_many(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw samples in single precision around 16 centres, which tell the classes apart.

    The centres differ in ten features. Blocks of rows keep what is in memory besides small.
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
    return BoostedHyperboxes(max_boxes, random_state=0, n_jobs=-1)


def peers() -> Models:
    """Return learners for many samples."""
    return {
        HIST: lambda: HistGradientBoostingClassifier(early_stopping=False),
        FOREST: lambda: RandomForestClassifier(random_state=0, n_jobs=-1),
    }


def readable() -> Models:
    """Return readable learners, as far as they are installed, and a forest, with one thread."""
    models: Models = {FOREST: lambda: RandomForestClassifier(random_state=0)}
    if find_spec("interpret"):
        from interpret.glassbox import ExplainableBoostingClassifier

        models["EBM"] = lambda: ExplainableBoostingClassifier(n_jobs=1)
    if find_spec("imodels"):
        from imodels import RuleFitClassifier

        models["RuleFit, 40 rules"] = lambda: RuleFitClassifier(max_rules=40)
    return models


def one_thread(n_samples: int, others: Models, *, n_classes: int = 2) -> str:
    """Time one thread by the processor: figures that hold on a busy machine, too."""
    X, y = generate(n_samples, n_classes)
    models = {"BoostedHyperboxes, 40 boxes": lambda: boxes().set_params(n_jobs=1), **others}
    boxes(5).fit(X[:500], y[:500])  # compiles
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # RuleFit prints hundreds
        return compare_fitted(X, y, models, time.process_time, f", {n_classes} classes, one thread")


def compare(n_samples: int, others: Models) -> str:
    """Time fitting and predicting."""
    X, y = generate(n_samples)
    models = {"BoostedHyperboxes, 40 boxes": boxes, **others}
    for max_boxes in (5, 101):
        boxes(max_boxes).fit(X[:500], y[:500]).predict_proba(X[:500])  # compiles
    return compare_fitted(X, y, models, time.perf_counter, "")


def compare_fitted(
    X: np.ndarray, y: np.ndarray, models: Models, clock: Callable[[], float], title: str
) -> str:
    """Time fitting models and predicting with them."""
    fits = medians(
        {name: (lambda m=make: m().fit(X, y)) for name, make in models.items()}, clock=clock
    )
    asked = medians(
        {name: (lambda m=fits[name].result: m.predict_proba(X)) for name in models}, clock=clock
    )
    rows = [
        [name, f"{fits[name].seconds:.2f} s", f"{asked[name].seconds * 1e9 / len(X):,.0f} ns"]
        for name in models
    ]
    return table([f"{len(X):,} x {N_FEATURES}{title}", "fit", "predict_proba, a sample"], rows)


def measure(n_samples: int) -> tuple[float, float, float, float]:
    """Return seconds to fit by clock and processor, and megabytes of the data and added at most."""
    X, y = generate_many(n_samples)
    boxes().fit(X[:500], y[:500])
    start, work = time.perf_counter(), time.process_time()
    added, _ = added_memory(lambda: boxes().fit(X, y))
    seconds, work = time.perf_counter() - start, time.process_time() - work
    return seconds, work, X.nbytes / 2**20, added


def grow(sizes: list[int]) -> str:
    """Measure fits of more and more samples, each in a process of its own."""
    rows = []
    for size in sizes:
        seconds, work, data, added = call_in_fresh_process(measure, size)
        times, memory = (
            (f"{seconds:.2f} s", f"{work:.2f} s"),
            (f"{data:,.1f} MB", f"{added:,.1f} MB"),
        )
        rows.append([f"{size:,}", *times, *memory, f"{added / data:.2f}"])
    return table(
        ["samples", "fit, 40 boxes", "processor time", "data", "added", "added by data"], rows
    )


def print_one_thread(n_samples: int) -> None:
    """Print the tables of processor time."""
    for n_classes in (2, 5):
        others = {HIST: peers()[HIST]}
        print(one_thread(n_samples, others, n_classes=n_classes), "\n", flush=True)


def print_peers(n_samples: int) -> None:
    """Print times beside learners for many samples."""
    many = {"BoostedHyperboxes, 1,000 boxes": lambda: boxes(1000)}
    print(compare(n_samples, many | peers()), "\n", flush=True)


def print_readable(n_samples: int, without: list[str]) -> None:
    """Print times beside readable learners."""
    others = {name: make for name, make in readable().items() if name not in without}
    print(one_thread(n_samples // 20, others), "\n", flush=True)


TABLES = ["one-thread", "peers", "readable", "growth"]


def main() -> None:
    """Print all tables, or some."""
    parser = argparse.ArgumentParser(prog="bench-boosted", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--most", type=int, default=10_000_000, help="samples in the last table")
    parser.add_argument("--only", nargs="+", default=TABLES, choices=TABLES, help="some tables")
    parser.add_argument("--without", nargs="+", default=[], help="readable learners left out")
    options = parser.parse_args()
    n_samples = 10_000 if options.quick else 100_000
    print(machine("numpy", "scikit-learn"), "\n")
    if "one-thread" in options.only:
        print_one_thread(n_samples)
    if "peers" in options.only:
        print_peers(n_samples)
    if "readable" in options.only:
        print_readable(n_samples, options.without)
    if "growth" in options.only:
        sizes = [10_000, 100_000] if options.quick else [10_000, 100_000, 1_000_000, 10_000_000]
        print(grow([size for size in sizes if size <= options.most]))


if __name__ == "__main__":
    main()
