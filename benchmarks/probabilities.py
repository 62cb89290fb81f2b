"""How good predictions and probabilities are on new samples, with default parameters.

The scheme and its constants were chosen on one split of the paper's 24 sets in halves. These splits
are others; scikit-learn's sets and the large ones were not used for choosing at all.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.data import add_data_option, in_file_order, names_in
from benchmarks.timing import machine, progress, table
from benchmarks.validating import draw, load
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

OWN = (load_breast_cancer, load_digits, load_iris, load_wine)
LARGE = ("electricity", "ijcnn1", "moving_squares", "shuttle", "skin_segmentation")
N_BINS = 10
LEAST = 0.001  # what a probability counts at least, for all: forests give 0

# Accuracy, log-loss and calibration error by contender.
Scores = dict[str, list[float]]


def stream(X: np.ndarray, y: np.ndarray) -> Any:
    """Learn the samples in random order, a hundred at a time."""
    model = ImprovedOnlineGFMM(scaling=[X.min(axis=0), X.max(axis=0)])
    order = np.random.RandomState(0).permutation(len(y))
    for rows in np.array_split(order, -(-len(y) // 100)):
        model.partial_fit(X[rows], y[rows], classes=np.unique(y))
    return model


def memberships(X: np.ndarray, y: np.ndarray) -> Any:
    """Return a model that gives its memberships, normalised, as version 0.1.0 did."""
    model = ImprovedOnlineGFMM(random_state=0).fit(X, y)
    model._model.calibration = None
    return model


CONTENDERS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "shares of the classes": DummyClassifier(strategy="prior").fit,
    "random forest": RandomForestClassifier(random_state=0).fit,
    "decision tree": DecisionTreeClassifier(random_state=0).fit,
    "nearest neighbour, scaled": make_pipeline(MinMaxScaler(), KNeighborsClassifier(1)).fit,
    "ImprovedOnlineGFMM": ImprovedOnlineGFMM(random_state=0).fit,
    "in a stream": stream,
    "OnlineGFMM": OnlineGFMM(random_state=0).fit,
    "AgglomerativeGFMM": AgglomerativeGFMM().fit,
    "normalised memberships": memberships,
}


def log_loss(p: np.ndarray, y: np.ndarray) -> float:
    """Return the mean of minus the logarithm of what the true classes are given."""
    p = np.maximum(p, LEAST)
    return float(-np.log(p[np.arange(len(y)), y] / p.sum(axis=1)).mean())


def calibration_error(p: np.ndarray, y: np.ndarray) -> float:
    """Return how far the largest probabilities are from accuracy, in bins of a tenth."""
    top, is_right = p.max(axis=1), p.argmax(axis=1) == y
    bins = np.minimum((top * N_BINS).astype(int), N_BINS - 1)
    gaps = (abs(top[bins == b].sum() - is_right[bins == b].sum()) for b in range(N_BINS))
    return float(sum(gaps) / len(y))


def score(X: np.ndarray, y: np.ndarray, repeats: int) -> Scores:
    """Return the scores of each contender, means over folds."""
    y = np.unique(y, return_inverse=True)[1]
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=repeats, random_state=0)
    found: dict[str, list[list[float]]] = {}
    for train, test in folds.split(X, y):
        for name, fit in CONTENDERS.items():
            p = fit(X[train], y[train]).predict_proba(X[test])
            accuracy = float(np.mean(p.argmax(axis=1) == y[test]))
            scores = [accuracy, log_loss(p, y[test]), calibration_error(p, y[test])]
            found.setdefault(name, []).append(scores)
    return {name: np.mean(scores, axis=0).tolist() for name, scores in found.items()}


def sets(folder: Path, most: int) -> Iterator[tuple[str, str, np.ndarray, np.ndarray]]:
    """Yield the kind of a set, its name and samples."""
    for name in names_in(folder / "authors"):
        yield "the paper's", name, *draw(*load(name, folder), most)
    for load_own in OWN:
        yield "others", load_own.__name__, *draw(*load_own(return_X_y=True), most)
    for name in LARGE:
        samples = in_file_order(name, folder / "large")
        if samples is not None:
            yield "others", name, *draw(*samples, most)


def print_table(scores: list[Scores]) -> None:
    """Print what holds over all sets."""
    accuracies = {name: np.mean([each[name][0] for each in scores]) for name in CONTENDERS}
    losses = {name: np.array([each[name][1] for each in scores]) for name in CONTENDERS}
    errors = {name: np.mean([each[name][2] for each in scores]) for name in CONTENDERS}
    shares, forest = losses["shares of the classes"], losses["random forest"]
    rows = (
        [
            name,
            f"{accuracies[name]:.3f}",
            f"{loss.mean():.3f}",
            f"{np.count_nonzero(loss < shares)}",
            f"{np.exp(np.log(loss / forest).mean()):.2f}",
            f"{errors[name]:.3f}",
        ]
        for name, loss in losses.items()
    )
    header = ["", "accuracy", "log-loss", "below shares", "times forest", "calibration error"]
    print(table(header, rows))


def main() -> None:
    """Print a table for each kind of sets."""
    parser = argparse.ArgumentParser(prog="bench-probabilities", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--most", type=int, default=1500, help="samples of a set")
    parser.add_argument("--repeats", type=int, default=2, help="of 2-fold validation")
    options = parser.parse_args()
    print(machine("numpy", "scikit-learn"))
    kinds: dict[str, list[Scores]] = {}
    for kind, name, X, y in sets(options.data, options.most):
        progress(name)
        result = score(X, y, options.repeats)
        kinds.setdefault(kind, []).append(result)
        losses = ", ".join(f"{contender} {loss:.3f}" for contender, (_, loss, _) in result.items())
        print(f"{name}, log-loss: {losses}", flush=True)
    for kind, scores in kinds.items():
        print(f"\n{len(scores)} sets, {kind}\n")
        print_table(scores)


if __name__ == "__main__":
    main()
