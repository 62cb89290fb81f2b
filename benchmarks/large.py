"""Accuracy, log-loss and size over the time to fit, on many samples.

Boosted boxes and random hyperboxes run with scikit-learn's gradient boosting and random forest on
the same samples, each on one thread. Gradient boosting also runs without its early stopping, which
ends soon on some sets with rare classes. A quarter of the samples is for testing.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.data import Samples, names_in
from benchmarks.harness import KEPT, Kept, command, digest, machine, progress, table
from hyperboxes import BoostedHyperboxes, RandomHyperboxes

SEEDS = {"generated": 0, "generated, other seed": 7}
SETS = (
    *SEEDS,
    "covertype",
    "electricity",
    "skin_segmentation",
    "ijcnn1",
    "shuttle",
    "kddcup99_10pct",
)
SIZES = (10_000, 60_000, 500_000)  # training samples, or all where a set has fewer
N_TEST = 20_000
FORMATS = {
    "fit s": "{:.2f}",
    "predict us": "{:.1f}",
    "boxes, leaves": "{:,}",
    "accuracy": "{:.4f}",
    "log-loss": "{:.4f}",
}
OURS, THEIRS = 'BoostedHyperboxes("auto")', "HistGradientBoosting"

HistGradientBoosting = partial(HistGradientBoostingClassifier, random_state=0)
CONTENDERS: dict[str, Callable[[], Any]] = {
    "BoostedHyperboxes()": partial(BoostedHyperboxes, random_state=0),
    "BoostedHyperboxes(1000)": partial(BoostedHyperboxes, 1000, random_state=0),
    OURS: partial(BoostedHyperboxes, "auto", random_state=0),
    "RandomHyperboxes": partial(RandomHyperboxes, random_state=0),
    THEIRS: HistGradientBoosting,
    "the same, 100 rounds": partial(HistGradientBoosting, early_stopping=False),
    "the same, 300 rounds": partial(HistGradientBoosting, early_stopping=False, max_iter=300),
    "random forest": partial(RandomForestClassifier, random_state=0),
}


def read(name: str, folder: Path) -> Samples | None:
    """Read a set, with text as codes, or generate it; None if the file is missing."""
    if name in SEEDS:
        return make_classification(
            SIZES[-1] * 4 // 3,
            20,
            n_informative=15,
            n_classes=5,
            class_sep=1.0,
            random_state=SEEDS[name],
        )
    if name not in names_in(folder / "large"):
        return None
    frame = pd.read_csv(folder / "large" / f"{name}.csv.gz")
    y = pd.factorize(frame.pop("class"))[0]
    for column in frame.select_dtypes(exclude="number"):
        frame[column] = pd.factorize(frame[column])[0]
    known = np.bincount(y)[y] >= 8
    return frame.to_numpy(float)[known], np.unique(y[known], return_inverse=True)[1]


def parts(X: np.ndarray, y: np.ndarray, n_samples: int) -> list[np.ndarray]:
    """Return samples for training and for testing, and their labels, at random.

    Classes with few samples for training are left out: gradient boosting fails with one of a class.
    """
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    rows = np.random.default_rng(0).permutation(len(y))[:n_samples]
    known = np.flatnonzero(np.bincount(y[rows], minlength=y.max() + 1) >= 8)
    rows, tested = rows[np.isin(y[rows], known)], np.flatnonzero(np.isin(y_test, known))[:N_TEST]
    labels = [np.searchsorted(known, some) for some in (y[rows], y_test[tested])]
    return [X[rows], labels[0], X_test[tested], labels[1]]


def size_of(model: Any) -> int:
    """Return how many boxes or leaves a model has."""
    if isinstance(model, RandomHyperboxes):
        return model.n_boxes_
    if isinstance(model, BoostedHyperboxes):
        return len(model.hyperboxes_)
    if isinstance(model, RandomForestClassifier):
        return int(sum(tree.get_n_leaves() for tree in model.estimators_))
    return sum(tree.get_n_leaf_nodes() for trees in model._predictors for tree in trees)


def measure(name: str, X: Any, y: Any, X_test: Any, y_test: Any) -> dict[str, float]:
    """Return what one fit takes and gives, in seconds of the processor."""
    CONTENDERS[name]().fit(X[:3000], y[:3000]).predict_proba(X_test[:300])  # compiles
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        model = CONTENDERS[name]().fit(X, y)
        fitted = time.process_time()
        p = model.predict_proba(X_test)
        seconds = time.process_time() - fitted
    every = np.zeros((len(p), max(y.max(), y_test.max()) + 1))
    every[:, model.classes_] = p
    return {
        "fit s": fitted - start,
        "predict us": 1e6 * seconds / len(p),
        "boxes, leaves": size_of(model),
        "accuracy": float(np.mean(every.argmax(axis=1) == y_test)),
        "log-loss": float(-np.log(np.maximum(every[np.arange(len(p)), y_test], 1e-7)).mean()),
    }


def run(
    folder: Path, is_quick: bool, kept: Kept
) -> Iterator[tuple[str, dict[str, dict[str, float]]]]:
    """Yield what each contender does on each set and size."""
    for title in ("generated", "electricity") if is_quick else SETS:
        data = read(title, folder)
        if data is None:
            progress(f"{title} is missing (see --data)")
            continue
        done = set()
        for size in SIZES[:1] if is_quick else SIZES:
            train = parts(*data, size)
            n_samples = len(train[0])
            if n_samples in done:
                continue
            done.add(n_samples)
            case, found = f"{title}, {n_samples:,} x {train[0].shape[1]}", {}
            for name in CONTENDERS:
                key = f"{case} {name} {digest() if 'Hyperboxes' in name else ''}"
                if key not in kept:
                    progress(f"{name} on {case}")
                    kept[key] = measure(name, *train)
                found[name] = kept[key]
            yield case, found


def print_differences(cases: dict[str, dict[str, dict[str, float]]]) -> None:
    """Print mean differences from gradient boosting, with standard errors over sets and sizes."""
    rows = []
    for name in next(iter(cases.values())):
        cells = [name]
        for what in ("accuracy", "log-loss"):
            d = np.array([found[name][what] - found[THEIRS][what] for found in cases.values()])
            cells.append(f"{d.mean():+.4f} ({d.std(ddof=1) / len(d) ** 0.5:.4f})")
        ratios = [found[name]["fit s"] / found[THEIRS]["fit s"] for found in cases.values()]
        rows.append([*cells, f"{np.exp(np.mean(np.log(ratios))):.2f}"])
    header = [f"less {THEIRS}, {len(cases)} cases", "accuracy", "log-loss", "times as long"]
    print(table(header, rows))


def main() -> None:
    """Print a table for each set and size, and the differences."""
    parser = command("bench-large", __doc__, quick="two sets, 10,000 samples")
    options = parser.parse_args()
    print(machine("numpy", "scikit-learn"), "\n")
    cases = {}
    for case, found in run(options.data, options.quick, Kept(KEPT / "large.jsonl")):
        rows = [
            [name, *(how.format(of[what]) for what, how in FORMATS.items())]
            for name, of in found.items()
        ]
        print(table([case, *FORMATS], rows), "\n", flush=True)
        cases[case] = found
    if len(cases) > 1:
        print_differences(cases)


if __name__ == "__main__":
    main()
