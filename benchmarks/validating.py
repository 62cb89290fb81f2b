"""Cross-validation on the paper's sets at several levels of a handicap, for several contenders."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks.data import add_data_option, in_file_order, names_in
from benchmarks.timing import machine, progress, table

REPEATS = 5
QUICK_LIMIT = 400  # samples

# Accuracies, or numbers of boxes, by contender and level.
Scores = dict[tuple[str, float], float]


def run(
    prog: str,
    description: str | None,
    score: Callable[[np.ndarray, np.ndarray, int], Scores],
    handicap: str,
    levels: Iterable[float],
    form: str = ".0%",
    *,
    confirms: bool = False,
) -> None:
    """Score the contenders on all sets, several at a time, and print means over the sets.

    With `confirms`, apart for the sets that something was chosen on, every other one by name, and
    for those that confirm the choice.
    """
    parser = argparse.ArgumentParser(prog=prog, description=description)
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="small sets, one repeat")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="of 2-fold validation")
    parser.add_argument("--most", type=int, help="samples of a set, drawn at random")
    options = parser.parse_args()
    sets = {name: load(name, options.data) for name in names_in(options.data / "authors")}
    if not sets:
        parser.error(f"{options.data} does not hold the paper's data; name a folder with --data")
    repeats = 1 if options.quick else options.repeats
    chosen = {
        name: (X, y) for name, (X, y) in sets.items() if not options.quick or len(y) <= QUICK_LIMIT
    }
    print(machine("numpy", "scikit-learn"))
    samples = (draw(X, y, options.most) for X, y in chosen.values())
    tasks = (delayed(score)(X, y, repeats) for X, y in samples)
    scores = []
    for name, result in zip(chosen, Parallel(-1, return_as="generator")(tasks), strict=True):
        progress(name)
        scores.append(result)
    kinds = {"sets": scores}
    if confirms:
        kinds = {"sets for choosing": scores[::2], "sets for confirming": scores[1::2], **kinds}
    for kind, some in kinds.items():
        print(f"\nMeans over {len(some)} {kind}, {repeats} x 2-fold cross-validation\n")
        print(mean_table(some, handicap, levels, form))


def draw(X: np.ndarray, y: np.ndarray, most: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return some of the samples, all of them for None; of a class at least two."""
    if most is None or len(y) <= most:
        return X, y
    order = np.random.default_rng(0).permutation(len(y))
    ranks = np.zeros(len(y), int)
    for label in np.unique(y):
        of_class = order[y[order] == label]
        ranks[of_class] = np.arange(len(of_class))
    first = np.argsort(ranks[order] >= 2, kind="stable")  # two of each class come first
    chosen = np.sort(order[first][:most])
    return X[chosen], y[chosen]


def load(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the true data of a set, without missing values of its own."""
    samples = in_file_order(f"{name}_imputed", folder) or in_file_order(name, folder)
    if samples is None:
        raise SystemExit(f"{folder} holds no {name}.csv.gz")
    return samples


def validate(
    X: np.ndarray,
    y: np.ndarray,
    n_repeats: int,
    levels: Iterable[float],
    score: Callable[[np.ndarray, np.ndarray, float, int], Scores],
) -> Scores:
    """Return means over folds of what `score(train, test, level, seed)` returns."""
    splitter = RepeatedStratifiedKFold(n_splits=2, n_repeats=n_repeats, random_state=0)
    folds: dict[tuple[str, float], list[float]] = {}
    for level in levels:
        for seed, (train, test) in enumerate(splitter.split(X, y)):
            for key, value in score(train, test, level, seed).items():
                folds.setdefault(key, []).append(value)
    return {key: float(np.mean(values)) for key, values in folds.items()}


def mean_table(scores: list[Scores], handicap: str, levels: Iterable[float], form: str) -> str:
    """Tabulate means over the sets."""
    levels = list(levels)
    names = dict.fromkeys(name for name, _ in scores[0])
    rows = (
        [name, *(f"{np.mean([score[name, level] for score in scores]):.3f}" for level in levels)]
        for name in names
    )
    return table([handicap, *(f"{level:{form}}" for level in levels)], rows)
