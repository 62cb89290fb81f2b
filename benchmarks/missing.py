"""Missing values beside median imputation: accuracy where cells of the paper's sets are removed.

`make bench-missing` prints means over the 24 sets for each learner, with values left missing and
with medians of the training half in their place. Cells are removed at random, from training and
test samples alike; 5 x 2-fold cross-validation, the same folds and cells for both.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline

from benchmarks.data import add_data_option, in_file_order, names_in
from benchmarks.timing import machine, progress, table
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

RATES = (0.0, 0.05, 0.2, 0.5)
LEARNERS = {
    "ImprovedOnlineGFMM": ImprovedOnlineGFMM(),
    "OnlineGFMM": OnlineGFMM(),
    "AGGLO-2": AgglomerativeGFMM(algorithm="agglo2"),
    "AGGLO-SM": AgglomerativeGFMM(),
}
KEPT, IMPUTED = "missing", "median"
QUICK_LIMIT = 400  # samples

# Accuracies by learner, treatment and rate.
Scores = dict[tuple[str, str, float], float]


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="bench-missing", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="small sets, one repeat")
    options = parser.parse_args()
    names = [name for name in names_in(options.data / "authors") if in_limit(options, name)]
    if not names:
        parser.error(f"{options.data} does not hold the paper's data; name a folder with --data")
    print(machine("numpy", "scikit-learn"))
    tasks = (delayed(score)(name, options.data, 1 if options.quick else 5) for name in names)
    scores = []
    for name, result in zip(names, Parallel(n_jobs=-1, return_as="generator")(tasks), strict=True):
        progress(name)
        scores.append(result)
    report(scores)


def load(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the true data of a set, without missing values of its own."""
    samples = in_file_order(f"{name}_imputed", folder) or in_file_order(name, folder)
    if samples is None:
        raise SystemExit(f"{folder} holds no {name}.csv.gz")
    return samples


def in_limit(options: argparse.Namespace, name: str) -> bool:
    """Whether a set is small enough for a quick run, if that is asked for."""
    return not options.quick or len(load(name, options.data)[1]) <= QUICK_LIMIT


def score(name: str, folder: Path, n_repeats: int) -> Scores:
    """Return the mean accuracies on a set."""
    X, y = load(name, folder)
    scores: dict[tuple[str, str, float], list[float]] = {}
    for rate in RATES:
        for fold, (train, test) in enumerate(folds(X, y, n_repeats)):
            holed = X.copy()
            holed[np.random.default_rng(fold).random(X.shape) < rate] = np.nan
            for learner, model in LEARNERS.items():
                for how, chosen in (
                    (KEPT, clone(model)),
                    (IMPUTED, make_pipeline(imputer(), clone(model))),
                ):
                    chosen.fit(holed[train], y[train])
                    accuracy = np.mean(chosen.predict(holed[test]) == y[test])
                    scores.setdefault((learner, how, rate), []).append(accuracy)
    return {key: float(np.mean(values)) for key, values in scores.items()}


def folds(X: np.ndarray, y: np.ndarray, n_repeats: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows to train and to test on."""
    splitter = RepeatedStratifiedKFold(n_splits=2, n_repeats=n_repeats, random_state=0)
    return splitter.split(X, y)


def imputer() -> SimpleImputer:
    """Return what puts medians in the place of missing values; 0 where there is no value."""
    return SimpleImputer(strategy="median", keep_empty_features=True)


def report(scores: list[Scores]) -> None:
    """Print means over the sets, and on how many leaving values missing is the better choice."""
    rows = []
    for learner in LEARNERS:
        for how in (KEPT, IMPUTED):
            means = [np.mean([s[learner, how, rate] for s in scores]) for rate in RATES]
            rows.append([f"{learner}, {how}", *(f"{mean:.3f}" for mean in means)])
        better = [
            sum(s[learner, KEPT, rate] > s[learner, IMPUTED, rate] for s in scores)
            for rate in RATES
        ]
        rows.append([f"{learner}, sets where missing is better", *map(str, better)])
    header = [f"accuracy, {len(scores)} sets; removed:", *(f"{rate:.0%}" for rate in RATES)]
    print(table(header, rows))


if __name__ == "__main__":
    main()
