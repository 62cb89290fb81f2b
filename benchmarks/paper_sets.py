"""Cross-validation on the paper's sets at several levels of a difficulty, for several learners.

`missing`: cells are removed at random, from training and test samples alike; values are left
missing, or the medians of the training half take their place.
`labels`: few training samples keep their label, at least one of each class; "labelled only" is the
same learner without the others. Features are scaled by the ranges of all training samples.
`merging`: the training samples are divided; the models of the parts are merged. Features are scaled
beforehand.
`pruning`: a share of the training samples is held back, to prune with.
`membership`: the minimum or the mean of the features' memberships, over theta; also boxes learned
with the former that predict by the latter. An accuracy is of one theta for all sets; defaults were
chosen on every other set by name.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, minmax_scale
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from benchmarks.data import draw, load, paper_sets
from benchmarks.harness import command, in_processes, machine, table
from benchmarks.internals import fit_with_classes, set_membership
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM, merge, prune

QUICK_LIMIT = 400  # samples

ONLINE: dict[str, Callable[..., Any]] = {
    "ImprovedOnlineGFMM": partial(ImprovedOnlineGFMM, random_state=0),
    "OnlineGFMM": partial(OnlineGFMM, random_state=0),
}
LEARNERS = ONLINE | {
    "AGGLO-2": partial(AgglomerativeGFMM, algorithm="agglo2"),
    "AGGLO-SM": AgglomerativeGFMM,
}
NO_LABEL = -1

Array = np.ndarray
# By contender: accuracy on the test samples, or a number of boxes.
Scores = dict[str, float]


def score_missing(X: Array, y: Array, train: Array, test: Array, rate: float, seed: int) -> Scores:
    """Score learners by themselves and behind an imputer (0 where there is no median)."""
    holed = np.where(np.random.default_rng(seed).random(X.shape) < rate, np.nan, X)
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    found = {}
    for name, make in LEARNERS.items():
        models = {"missing": make(), "median": make_pipeline(imputer, make())}
        for how, model in models.items():
            found[f"{name}, {how}"] = model.fit(holed[train], y[train]).score(holed[test], y[test])
    return found


def score_labels(X: Array, y: Array, train: Array, test: Array, share: float, seed: int) -> Scores:
    """Score learners with and without the samples that have no label."""
    scaler = MinMaxScaler().fit(X[train])
    X_train, X_test = scaler.transform(X[train]), scaler.transform(X[test])
    few, rng = np.full(len(train), NO_LABEL), np.random.default_rng(seed)
    for label in np.unique(y[train]):
        rows = np.flatnonzero(y[train] == label)
        few[rng.choice(rows, max(1, round(share * len(rows))), replace=False)] = label
    of_all = {n: make(unlabeled=NO_LABEL, scaling=None) for n, make in LEARNERS.items()} | {
        "SelfTrainingClassifier(LogisticRegression())": SelfTrainingClassifier(
            LogisticRegression(max_iter=1000)
        ),
        "LabelSpreading(7 neighbors)": LabelSpreading("knn", n_neighbors=7),
    }
    of_labelled = {n: make(scaling=None) for n, make in LEARNERS.items()}
    of_labelled["1 neighbour"] = KNeighborsClassifier(1)
    found = {}
    with np.errstate(invalid="ignore"):  # LabelSpreading, where no label is near
        for name, model in of_all.items():
            found[name] = float(np.mean(model.fit(X_train, few).predict(X_test) == y[test]))
    known = few != NO_LABEL
    for name, model in of_labelled.items():
        model.fit(X_train[known], few[known])
        found[f"{name}, labelled only"] = model.score(X_test, y[test])
    return found


def score_merging(X: Array, y: Array, train: Array, test: Array, parts: float, _: int) -> Scores:
    """Score the merged model, the model of all samples, and that of the first part."""
    X, classes, found = minmax_scale(X), np.unique(y), {}
    for name, make in ONLINE.items():

        def learn(rows: Array, make: Callable[..., Any] = make) -> Any:
            model = make(scaling=None, calibrate=False)
            return fit_with_classes(model, X[rows], y[rows], classes)

        models = [learn(train[start :: int(parts)]) for start in range(int(parts))]
        contenders = {"merged": merge(models), "all samples": learn(train), "one part": models[0]}
        found |= scores_of(name, contenders, X[test], y[test])
    return found


def score_pruning(X: Array, y: Array, train: Array, test: Array, share: float, seed: int) -> Scores:
    """Score pruned models, models without the validation samples, and models of all samples."""
    is_held_back = np.random.default_rng(seed).random(len(train)) < share
    rest, held_back = train[~is_held_back], train[is_held_back]
    held_back = held_back[np.isin(y[held_back], y[rest])]
    found = {}
    for name, make in ONLINE.items():
        model = make().fit(X[rest], y[rest])
        contenders = {
            "all training samples": make().fit(X[train], y[train]),
            "without validation samples": model,
            "harmful dropped": prune(model, X[held_back], y[held_back], keep_unused=True),
            "harmful and unused dropped": prune(model, X[held_back], y[held_back]),
        }
        found |= scores_of(name, contenders, X[test], y[test])
    return found


def scores_of(name: str, models: dict[str, Any], X_test: Array, y_test: Array) -> Scores:
    """Return the accuracy and the number of boxes of some models."""
    found = {f"{name}, {how}": model.score(X_test, y_test) for how, model in models.items()}
    sizes = {how: float(len(model.hyperboxes_)) for how, model in models.items()}
    return found | {f"{name}, boxes, {how}": size for how, size in sizes.items()}


def score_membership(X: Array, y: Array, train: Array, test: Array, theta: float, _: int) -> Scores:
    """Score both membership functions, and boxes per sample."""
    found = {}
    for name, make in LEARNERS.items():
        models = {
            function: make(theta=theta, membership_function=function).fit(X[train], y[train])
            for function in ("min", "mean")
        }
        for function, model in models.items():
            found[f"{name}, {function}"] = model.score(X[test], y[test])
        for function, model in models.items():
            share = len(model.hyperboxes_) / len(train)
            found[f"{name}, boxes per sample, {function}"] = share
        set_membership(models["min"], "mean")
        found[f"{name}, mean in prediction only"] = models["min"].score(X[test], y[test])
    return found


class Kind(NamedTuple):
    """A benchmark: what scores one fold at a level, what levels are, and how they are printed."""

    score: Callable[[Array, Array, Array, Array, float, int], Scores]
    difficulty: str
    levels: tuple[float, ...]
    form: str = ".0%"


KINDS = {
    "missing": Kind(score_missing, "removed", (0.0, 0.05, 0.2, 0.5)),
    "labels": Kind(score_labels, "labelled", (0.01, 0.05, 0.2)),
    "merging": Kind(score_merging, "parts", (1, 2, 4, 8), "d"),
    "pruning": Kind(score_pruning, "validation", (0.1, 0.3, 0.5)),
    "membership": Kind(score_membership, "theta", (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0), "g"),
}


def validate(kind: Kind, X: Array, y: Array, n_repeats: int) -> dict[tuple[str, float], float]:
    """Return means over the folds, by contender and level."""
    splitter = RepeatedStratifiedKFold(n_splits=2, n_repeats=n_repeats, random_state=0)
    folds: dict[tuple[str, float], list[float]] = {}
    for level in kind.levels:
        for seed, (train, test) in enumerate(splitter.split(X, y)):
            for name, value in kind.score(X, y, train, test, level, seed).items():
                folds.setdefault((name, level), []).append(value)
    return {key: float(np.mean(values)) for key, values in folds.items()}


def main() -> None:
    """Score the contenders on all sets, several sets at a time, and print means over the sets."""
    parser = command("bench-paper-sets", __doc__, quick="small sets, one repeat")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--repeats", type=int, default=5, help="of 2-fold validation")
    parser.add_argument("--most", type=int, help="samples of a set, drawn at random")
    options = parser.parse_args()
    kind, repeats = KINDS[options.kind], 1 if options.quick else options.repeats
    sets = {name: load(name, options.data) for name in paper_sets(options.data)}
    if options.quick:
        sets = {name: samples for name, samples in sets.items() if len(samples[1]) <= QUICK_LIMIT}
    print(machine("numpy", "scikit-learn"))
    tasks = {n: (kind, *draw(*samples, options.most), repeats) for n, samples in sets.items()}
    scores = [found for _, found in in_processes(validate, tasks)]
    groups = {"sets": scores}
    if options.kind == "membership":
        groups = {"sets for choosing": scores[::2], "sets for confirming": scores[1::2], **groups}
    header = [kind.difficulty, *(f"{level:{kind.form}}" for level in kind.levels)]
    for title, some in groups.items():
        print(f"\nMeans over {len(some)} {title}, {repeats} x 2-fold cross-validation\n")
        names = dict.fromkeys(name for name, _ in some[0])
        rows = (
            [name, *(f"{np.mean([one[name, level] for one in some]):.3f}" for level in kind.levels)]
            for name in names
        )
        print(table(header, rows))


if __name__ == "__main__":
    main()
