"""What calibration and cross-validation choose, in pairs: deciding boxes, or `theta`.

`make bench-decision` prints the difference of `decision="auto"` to `decision="nearest"` over the
sets below, on which nothing was chosen: 2-fold cross-validation, twice, at most 1,000 samples a
set. Then it compares both with 15 nearest neighbors on tables of noisy labels: 3,000 samples of 8
features, 22 % of them positive, with a logistic truth whose coefficients each seed draws.

With `ARGS=--theta` it prints the difference of `theta="auto"` to the default instead: on the sets
of the paper, which the candidates and the rule were chosen by, and on those below.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from river.datasets import Phishing
from sklearn.datasets import (
    make_classification,
    make_gaussian_quantiles,
    make_hastie_10_2,
    make_moons,
)
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from benchmarks import mixed
from benchmarks.data import OWN, draw, in_file_order, paper_sets, read_stream
from benchmarks.harness import command, machine, progress, table
from benchmarks.probabilities import log_loss
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

# These, and scikit-learn's own, were named before any result on one of them was seen.
LARGE = ("covertype", "electricity", "ijcnn1", "moving_squares", "shuttle", "skin_segmentation")
GENERATED: dict[str, Callable[[], Any]] = {
    "hastie": lambda: make_hastie_10_2(1000, random_state=0),
    "moons": lambda: make_moons(1000, noise=0.3, random_state=0),
    "quantiles": lambda: make_gaussian_quantiles(
        n_samples=1000, n_features=6, n_classes=4, random_state=0
    ),
    "flipped": lambda: make_classification(
        1000, 12, n_informative=6, n_classes=5, flip_y=0.1, random_state=0
    ),
}
MIXED = mixed.CHOSEN | mixed.OTHERS

LEARNERS: dict[str, Callable[..., Any]] = {
    "ImprovedOnlineGFMM": lambda **how: ImprovedOnlineGFMM(random_state=0, **how),
    "OnlineGFMM": lambda **how: OnlineGFMM(random_state=0, **how),
    "AgglomerativeGFMM": AgglomerativeGFMM,
}
# The parameters of two fits, by their names in tables.
Hows = dict[str, dict[str, Any]]
DECISIONS: Hows = {how: {"decision": how} for how in ("nearest", "auto")}
THETAS: Hows = {"default": {}, "auto": {"theta": "auto"}}
LIMIT = 1000
N_NOISY, N_FEATURES, POSITIVE = 3000, 8, 0.22


def read_sets(folder: Any) -> dict[str, tuple[Any, np.ndarray]]:
    """Return the sets that are at hand, with at most so many samples."""
    found: dict[str, Any] = {own.__name__[5:]: own(return_X_y=True) for own in OWN}
    found["phishing"] = read_stream(Phishing())
    found |= {name: in_file_order(name, folder / "large") for name in LARGE}
    found |= {name: make() for name, make in GENERATED.items()}
    sets = {}
    for name, data in found.items():
        if data is not None:
            sets[name] = draw(data[0], np.unique(data[1], return_inverse=True)[1], LIMIT)
    for name in MIXED:
        if (frame_and_labels := mixed.read(name, folder)) is not None:
            frame, y = frame_and_labels
            rows, y = draw(np.arange(len(y)), np.unique(y, return_inverse=True)[1], LIMIT)
            sets[name] = frame.iloc[rows], np.unique(y, return_inverse=True)[1]
    return sets


def read_development_sets(folder: Any, most: int | None) -> dict[str, tuple[Any, np.ndarray]]:
    """Return the sets of the paper with two classes or more, and at most so many samples."""
    sets = {}
    for name in paper_sets(folder)[:most]:
        samples = in_file_order(name, folder / "authors")
        if samples is not None and len(np.unique(samples[1])) > 1:
            sets[name] = draw(*samples, LIMIT)
    return sets


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Return some rows of a table or an array."""
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def score(make: Callable[..., Any], hows: Hows, X: Any, y: np.ndarray) -> np.ndarray:
    """Return accuracy, log-loss, boxes and seconds of both fits."""
    found = []
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    for train, test in folds.split(np.empty(len(y)), y):
        row = []
        for how in hows.values():
            begun = time.process_time()
            model = make(**how).fit(rows_of(X, train), y[train])
            seconds = time.process_time() - begun
            p = np.zeros((len(test), y.max() + 1))
            p[:, model.classes_] = model.predict_proba(rows_of(X, test))
            scores = np.mean(p.argmax(axis=1) == y[test]), log_loss(p, y[test])
            row += [*scores, len(model.hyperboxes_), seconds]
        found.append(row)
    return np.mean(found, axis=0)


def compare(sets: dict[str, tuple[Any, np.ndarray]], hows: Hows) -> None:
    """Print the paired differences."""
    scores = {}
    for name, (X, y) in sets.items():
        progress(name)
        scores[name] = np.array([score(make, hows, X, y) for make in LEARNERS.values()])
    values = np.array(list(scores.values()))
    rows = []
    for number, learner in enumerate(LEARNERS):
        before, after = values[:, number, :4].T, values[:, number, 4:].T
        points, losses = 100 * (after[0] - before[0]), after[1] - before[1]
        boxes, seconds = after[2:] / before[2:]
        worst = points.argmin()
        cells = [f"{before[0].mean():.4f}", f"{after[0].mean():.4f}"]
        cells += [
            f"{d.mean():+.4f} ({d.std(ddof=1) / len(d) ** 0.5:.4f})" for d in (points, losses)
        ]
        cells += [f"{np.count_nonzero(points > 0)} : {np.count_nonzero(points < 0)}"]
        cells += [f"{points[worst]:+.1f} {list(scores)[worst]}"]
        ratios = [
            f"{np.median(boxes):.2f}",
            f"{np.exp(np.log(seconds).mean()):.1f}",
            f"{seconds.max():.1f}",
        ]
        rows.append([learner, *cells, *ratios])
    header = ["", *hows, "points (s.e.)", "log-loss (s.e.)", "wins : losses", "worst"]
    header += ["median ratio of boxes", "mean ratio of seconds", "largest"]
    print(f"{len(scores)} sets\n\n{table(header, rows)}\n", flush=True)


def noisy(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw samples whose classes are drawn by a logistic function of the features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_NOISY, N_FEATURES))
    logits = X @ rng.normal(0.0, 0.5, N_FEATURES)
    low, high = -20.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        is_many = np.mean(1 / (1 + np.exp(-logits - middle))) > POSITIVE
        low, high = (low, middle) if is_many else (middle, high)
    return X, (rng.random(N_NOISY) < 1 / (1 + np.exp(-logits - low))).astype(int)


def compare_noisy(n_seeds: int) -> None:
    """Print accuracy, area under the ROC curve and log-loss on noisy tables, halved."""
    contenders: dict[str, Callable[[], Any]] = {
        "15 nearest neighbors": lambda: make_pipeline(MinMaxScaler(), KNeighborsClassifier(15))
    }
    for name, make in LEARNERS.items():
        for how in ("nearest", "auto"):
            contenders[f"{name}, {how}"] = lambda make=make, how=how: make(decision=how)
    found: dict[str, list[tuple[float, ...]]] = {}
    for seed in range(n_seeds):
        X, y = noisy(seed)
        half = N_NOISY // 2
        test = y[half:]
        found.setdefault("majority", []).append((1 - test.mean(), 0.5, np.nan))
        for name, make in contenders.items():
            p = make().fit(X[:half], y[:half]).predict_proba(X[half:])
            scores = np.mean(p.argmax(axis=1) == test), roc_auc_score(test, p[:, 1])
            found.setdefault(name, []).append((*scores, log_loss(p, test)))
    rows = []
    for name, values in found.items():
        first, mean = values[0], np.mean(values, axis=0)
        rows.append([name, *(f"{value:.3f}" for value in (*first, *mean))])
    header = ["", "accuracy", "AUC", "log-loss", "accuracy", "AUC", "log-loss"]
    print(f"\nNoisy labels: the first seed, and means over {n_seeds}\n\n{table(header, rows)}")


def main() -> None:
    """Print both comparisons."""
    parser = command("bench-decision", __doc__, quick="a few sets and seeds")
    parser.add_argument("--theta", action="store_true", help="compare theta instead")
    options = parser.parse_args()
    print(machine("numpy", "scikit-learn"))
    most = 3 if options.quick else None
    sets = dict(list(read_sets(options.data).items())[:most])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.theta:
            development = read_development_sets(options.data, most)
            for title, group in (("Development", development), ("Confirmation", sets)):
                print(f"\n{title}: ", end="")
                compare(group, THETAS)
        else:
            compare(sets, DECISIONS)
            compare_noisy(2 if options.quick else 10)


if __name__ == "__main__":
    main()
