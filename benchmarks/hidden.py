"""Values hidden from trained classifiers: accuracy and log-loss as fewer and fewer are known.

Generated samples of 8 features: `balanced` and `80/20` have classes of these sizes that 5 features
tell apart, `noise` is a logistic model of 5 features in which 23 % are positive. Of 2,000 training
samples all values are known, or 30 % of them are removed; of the test samples some features are
hidden, others in each (`random`) or the same in all (`columns`). The forest has medians in the
place of missing values. A difference is that to the majority's accuracy on the same samples, with
its standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

from benchmarks.harness import command, machine, our_classifiers, table
from hyperboxes import BoostedHyperboxes

N_TRAIN, N_FEATURES = 2000, 8
HIDDEN = (0, 2, 4, 6, 8)
Samples = tuple[np.ndarray, np.ndarray]


CONTENDERS: dict[str, Any] = {
    **our_classifiers(),
    "BoostedHyperboxes, 1000": BoostedHyperboxes(1000, random_state=0),
    "forest, medians": make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        RandomForestClassifier(random_state=0),
    ),
    "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
}


def _make_blobs(n_samples: int, share: float) -> Samples:
    X, y = make_classification(
        n_samples, N_FEATURES, n_informative=5, weights=[share], flip_y=0.05, random_state=3
    )
    return X, y


def _make_noise(n_samples: int) -> Samples:
    random = np.random.default_rng(0)
    X = random.normal(size=(n_samples, N_FEATURES))
    logit = X @ np.array([1, 0.7, -0.5, 0.3, 0, 0, 0.4, 0]) - 1.6
    return X, (random.random(n_samples) < 1 / (1 + np.exp(-logit))).astype(int)


PROBLEMS: dict[str, Callable[[int], Samples]] = {
    "balanced": partial(_make_blobs, share=0.5),
    "80/20": partial(_make_blobs, share=0.8),
    "noise": _make_noise,
}


def hide(X: np.ndarray, n_hidden: int, *, by_column: bool) -> np.ndarray:
    """Return samples without some of their values."""
    random = np.random.default_rng(1)
    order = random.random(X.shape).argsort(axis=1)
    return np.where((order[:1] if by_column else order) < n_hidden, np.nan, X)


def main() -> int:
    """Print a table for each problem."""
    parser = command("benchmarks.hidden", __doc__, quick="few test samples", data=False)
    args = parser.parse_args()
    n_test = 1000 if args.quick else 20_000
    print(machine("scikit-learn"))
    for problem, make in PROBLEMS.items():
        X, y = make(N_TRAIN + n_test)
        X, y, X_test, y_test = X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:]
        is_majority = y_test == np.bincount(y).argmax()
        print(f"\n{problem}: majority {is_majority.mean():.3f}")
        is_removed = np.random.default_rng(2).random(X.shape) < 0.3
        rows = []
        for training, lower in (("all", X), ("70 %", np.where(is_removed, np.nan, X))):
            for name, contender in CONTENDERS.items():
                model = clone(contender).fit(lower, y)
                for mode in ("random", "columns"):
                    row = [name, training, mode]
                    for n_hidden in HIDDEN:
                        samples = hide(X_test, n_hidden, by_column=mode == "columns")
                        p = model.predict_proba(samples)
                        gain = (p.argmax(axis=1) == y_test) - is_majority.astype(float)
                        error = gain.std() / np.sqrt(len(gain))
                        row.append(f"{gain.mean():+.3f} ({error:.3f}) {log_loss(y_test, p):.3f}")
                    rows.append(row)
        print(table(["classifier", "known in training", "hidden", *map(str, HIDDEN)], rows, left=3))
    return 0


if __name__ == "__main__":
    sys.exit(main())
