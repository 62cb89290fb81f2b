"""What the order of the samples does to the online learners, and what `fit` does about it.

Each set is sorted by class, and learned in that order, in random orders, and by `fit` as it is by
default. A third of the samples is for testing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from benchmarks.data import load
from benchmarks.harness import command, machine, progress, table
from hyperboxes import ImprovedOnlineGFMM, OnlineGFMM

N_ORDERS = 10
SETS = ("spambase", "shuttle", "landsat", "pendigits", "page_blocks", "ringnorm")
LEARNERS = {"ImprovedOnlineGFMM": ImprovedOnlineGFMM(), "OnlineGFMM": OnlineGFMM()}


def fits(model: Any, X: np.ndarray, y: np.ndarray, seeds: range) -> Iterator[tuple[str, list[Any]]]:
    """Yield what the models are called, and a model of each seed."""
    by_class = np.argsort(y, kind="stable")
    as_given = clone(model).set_params(shuffle=False)
    yield "sorted by class, `shuffle=False`", [as_given.fit(X[by_class], y[by_class])]
    orders = [np.random.RandomState(seed).permutation(len(y)) for seed in seeds]
    once = [clone(as_given).fit(X[order], y[order]) for order in orders]
    yield "in random order, once", once
    shuffled = [clone(model).set_params(random_state=seed) for seed in seeds]
    yield "sorted by class, default", [one.fit(X[by_class], y[by_class]) for one in shuffled]


def main() -> None:
    """Print a table for each learner."""
    options = command("bench-order", __doc__).parse_args()
    print(machine("numpy", "scikit-learn"))
    for name, model in LEARNERS.items():
        rows = []
        for title in SETS:
            progress(f"{name}, {title}")
            folder = options.data / ("large" if title == "shuttle" else "")
            X, y = load(title, folder)
            parts = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
            X, X_test, y, y_test = parts
            for how, models in fits(model, X, y, range(N_ORDERS)):
                scores = [one.score(X_test, y_test) for one in models]
                sizes = [len(one.hyperboxes_) for one in models]
                cells = f"{np.mean(scores):.3f}", f"{min(scores):.3f}"
                rows.append([title, how, *cells, f"{min(sizes):,} to {max(sizes):,}"])
        print(f"\n{name}, {N_ORDERS} random orders\n")
        print(table(["set", "order", "accuracy", "worst", "boxes"], rows))


if __name__ == "__main__":
    main()
