"""Speed and memory of boosted boxes beside gradient boosting, forests, EBM and RuleFit.

`make bench-boosted` prints times of fitting (40 boxes; 100 rounds or trees) and predicting, memory
that fitting adds to the data, and growth with the number of samples. Generated samples of 20
features and two classes, at first also five. All contenders may use all cores but in the first two
tables, which are about processor time: threads that wait for each other take long on a busy
machine. EBM and RuleFit get fewer samples: more would take them many minutes.
"""

from __future__ import annotations

import argparse
import time
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
HIST = "HistGradientBoosting, 100 rounds"

Models = dict[str, Callable[[], Any]]


def generate(n_samples: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Draw samples with 10 features that matter."""
    X, y = make_classification(
        n_samples, N_FEATURES, n_informative=10, n_classes=n_classes, random_state=0
    )
    return X, y


def boxes(max_boxes: int = 40) -> BoostedHyperboxes:
    """Return the estimator that is measured."""
    return BoostedHyperboxes(max_boxes, random_state=0, n_jobs=-1)


def peers() -> Models:
    """Return learners for many samples."""
    return {
        HIST: lambda: HistGradientBoostingClassifier(early_stopping=False),
        "random forest, 100 trees": lambda: RandomForestClassifier(random_state=0, n_jobs=-1),
    }


def slow_peers() -> Models:
    """Return readable learners, as far as they are installed."""
    models: Models = {}
    if find_spec("interpret"):
        from interpret.glassbox import ExplainableBoostingClassifier

        models["EBM"] = lambda: ExplainableBoostingClassifier(n_jobs=-1)
    if find_spec("imodels"):
        from imodels import RuleFitClassifier

        models["RuleFit, 40 rules"] = lambda: RuleFitClassifier(max_rules=40)
    return models


def one_thread(n_samples: int, *, n_classes: int = 2) -> str:
    """Time fits with one thread by the processor: figures that hold on a busy machine, too."""
    X, y = generate(n_samples, n_classes)
    models = {
        "BoostedHyperboxes, 40 boxes": lambda: boxes().set_params(n_jobs=1).fit(X, y),
        HIST: lambda: peers()[HIST]().fit(X, y),
    }
    boxes(5).fit(X[:500], y[:500])  # compiles
    with threadpool_limits(1):
        fits = medians(models, clock=time.process_time)
    title = f"{n_samples:,} x {N_FEATURES}, {n_classes} classes, one thread"
    return table([title, "fit"], [[name, f"{fits[name].seconds:.2f} s"] for name in models])


def compare(n_samples: int, others: Models) -> str:
    """Time fitting and predicting."""
    X, y = generate(n_samples)
    models = {"BoostedHyperboxes, 40 boxes": boxes, **others}
    for max_boxes in (5, 101):
        boxes(max_boxes).fit(X[:500], y[:500]).predict_proba(X[:500])  # compiles
    fits = medians({name: (lambda m=make: m().fit(X, y)) for name, make in models.items()})
    asked = medians(
        {name: (lambda m=fits[name].result: m.predict_proba(X)) for name in models}, rounds=3
    )
    rows = [
        [name, f"{fits[name].seconds:.2f} s", f"{asked[name].seconds * 1e9 / n_samples:,.0f} ns"]
        for name in models
    ]
    return table([f"{n_samples:,} x {N_FEATURES}", "fit", "predict_proba, a sample"], rows)


def measure(n_samples: int) -> tuple[float, float, float]:
    """Return seconds to fit, and megabytes of the data and of what fitting adds at most."""
    X, y = generate(n_samples)
    boxes().fit(X[:500], y[:500])
    start = time.perf_counter()
    added, _ = added_memory(lambda: boxes().fit(X, y))
    return time.perf_counter() - start, X.nbytes / 2**20, added


def grow(sizes: list[int]) -> str:
    """Measure fits of more and more samples, each in a process of its own."""
    rows = []
    for size in sizes:
        seconds, data, added = call_in_fresh_process(measure, size)
        rows.append([f"{size:,}", f"{seconds:.2f} s", f"{data:,.0f} MB", f"{added:,.0f} MB"])
    return table(["samples", "fit, 40 boxes", "data", "added"], rows)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(prog="bench-boosted", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--most", type=int, default=10_000_000, help="samples in the last table")
    options = parser.parse_args()
    n_samples = 10_000 if options.quick else 100_000
    print(machine("numpy", "scikit-learn"), "\n")
    for n_classes in (2, 5):
        print(one_thread(n_samples, n_classes=n_classes), "\n", flush=True)
    many = {"BoostedHyperboxes, 1,000 boxes": lambda: boxes(1000)}
    print(compare(n_samples, many | peers()), "\n", flush=True)
    print(compare(n_samples // 20, slow_peers()), "\n", flush=True)
    sizes = [10_000, 100_000] if options.quick else [10_000, 100_000, 1_000_000, 10_000_000]
    print(grow([size for size in sizes if size <= options.most]))


if __name__ == "__main__":
    main()
