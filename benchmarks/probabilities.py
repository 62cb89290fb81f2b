"""How good predictions and probabilities are on new samples, with default parameters.

The scheme and its constants were chosen on one split of the paper's 24 sets in halves. These splits
are others; scikit-learn's sets and the large ones were not used for choosing at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.data import all_sets, draw
from benchmarks.harness import command, machine, progress, table
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

LARGE = ("electricity", "ijcnn1", "moving_squares", "shuttle", "skin_segmentation")
MOST = 1500  # samples of a set
N_BINS = 10
LEAST = 0.001  # what a probability counts at least, for all: forests give 0

# Probabilities of test samples by contender, from training samples, their classes and a seed.
Answers = Iterable[tuple[str, np.ndarray]]
Answer = Callable[[np.ndarray, np.ndarray, np.ndarray, int], Answers]
# Accuracy, log-loss and calibration error of each fold, by contender.
Scores = dict[str, list[tuple[float, float, float]]]


def stream(X: np.ndarray, y: np.ndarray) -> Any:
    """Learn the samples in random order, a hundred at a time."""
    model = ImprovedOnlineGFMM(scaling=[X.min(axis=0), X.max(axis=0)])
    order = np.random.RandomState(0).permutation(len(y))
    for rows in np.array_split(order, -(-len(y) // 100)):
        model.partial_fit(X[rows], y[rows], classes=np.unique(y))
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
    "normalised memberships": ImprovedOnlineGFMM(random_state=0, calibrate=False).fit,
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


def cross_validate(X: np.ndarray, y: np.ndarray, repeats: int, answer: Answer) -> Scores:
    """Return accuracy, log-loss and calibration error in each fold, by contender."""
    y = np.unique(y, return_inverse=True)[1]
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=repeats, random_state=0)
    found: Scores = {}
    for seed, (train, test) in enumerate(folds.split(X, y)):
        for name, p in answer(X[train], y[train], X[test], seed):
            accuracy = float(np.mean(p.argmax(axis=1) == y[test]))
            scores = accuracy, log_loss(p, y[test]), calibration_error(p, y[test])
            found.setdefault(name, []).append(scores)
    return found


def answer(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, _: int) -> Answers:
    """Train all contenders and predict the test samples."""
    return ((name, fit(X, y).predict_proba(X_test)) for name, fit in CONTENDERS.items())


def print_table(scores: list[Scores]) -> None:
    """Print means over all sets."""
    found = {n: np.array([np.mean(each[n], axis=0) for each in scores]).T for n in CONTENDERS}
    shares, forest = found["shares of the classes"][1], found["random forest"][1]
    rows = []
    for name, (accuracy, loss, error) in found.items():
        below, times = np.count_nonzero(loss < shares), np.exp(np.log(loss / forest).mean())
        cells = f"{accuracy.mean():.3f}", f"{loss.mean():.3f}", f"{below}", f"{times:.2f}"
        rows.append([name, *cells, f"{error.mean():.3f}"])
    header = ["", "accuracy", "log-loss", "below shares", "times forest", "calibration error"]
    print(table(header, rows))


def main() -> None:
    """Print a table for each kind of sets."""
    options = command("bench-probabilities", __doc__).parse_args()
    print(machine("numpy", "scikit-learn"))
    kinds: dict[str, list[Scores]] = {}
    for name, (is_of_paper, read) in all_sets(options.data, LARGE).items():
        progress(name)
        result = cross_validate(*draw(*read(), MOST), 2, answer)
        kinds.setdefault("the paper's" if is_of_paper else "others", []).append(result)
    for kind, scores in kinds.items():
        print(f"\n{len(scores)} sets, {kind}\n")
        print_table(scores)


if __name__ == "__main__":
    main()
