"""Accuracy over the number of rules: boosted boxes beside trees, rule learners and black boxes.

`make bench-readable` prints mean accuracy and log-loss over groups of sets: those of the paper on
which the defaults of `BoostedHyperboxes` were chosen, the paper's others, of these apart those with
few samples a class, and others: scikit-learn's own, river's, and large ones. 2-fold
cross-validation, at most 1,500 samples a set, the same for all. Learners of rules of one class are
fitted for each class in turn, with its part of the rules.

A fit of the other rule learners or of EBM that takes longer than `--seconds` of processor time is
given up, and so are larger ones of that contender on that set; the same where it raises an error.
Then its mean is one over fewer sets, so the last table compares boxes with each contender on the
sets that it finished.
"""

from __future__ import annotations

import argparse
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from river.datasets import Bananas, Phishing
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.data import add_data_option, in_file_order, names_in
from benchmarks.timing import machine, progress, table
from benchmarks.validating import QUICK_LIMIT, load
from hyperboxes import AgglomerativeGFMM, BoostedHyperboxes

SIZES = (5, 10, 20, 40, 80, 300, 1000)
LIMIT = 1500  # samples of a set
FEW_PER_CLASS = 20  # samples, in both folds; sets with fewer are shown apart
LEAST = 0.001  # probability, in log-losses
SECONDS = 10.0  # of processor time for a fit
PICTURE = Path(__file__).resolve().parents[1] / "docs" / "readable.png"

OURS = "BoostedHyperboxes"
RULE_LEARNERS = ("FIGS", "BoostedRules", "RuleFit", "RIPPER")  # asked for at most 80 rules
EBM = "EBM, 4 bags, 5,000 rounds"

CHOSEN_ON = {
    "balance_scale",
    "blood_transfusion",
    "breast_cancer_coimbra",
    "glass",
    "haberman",
    "heart",
    "landsat",
    "optical_digits",
    "ringnorm",
    "segmentation",
    "sonar",
}
OWN = {
    "breast_cancer (scikit-learn)": load_breast_cancer,
    "digits (scikit-learn)": load_digits,
    "iris (scikit-learn)": load_iris,
    "wine (scikit-learn)": load_wine,
}

UNSEEN = ("others of the paper", "not of the paper")  # groups on which nothing was chosen
RIVERS = {"bananas (river)": Bananas, "phishing (river)": Phishing}
LARGE = ("covertype", "electricity", "ijcnn1", "skin_segmentation")

Data = tuple[np.ndarray, np.ndarray]
Scores = dict[tuple[str, int | None], tuple[float, float]]


class Ripper(ClassifierMixin, BaseEstimator):
    """RIPPER of the package wittgenstein for two classes, as scikit-learn expects it."""

    def __init__(self, max_rules: int = 20) -> None:
        self.max_rules = max_rules

    def fit(self, X: np.ndarray, y: np.ndarray) -> Ripper:
        """Learn the rules of the second class."""
        from wittgenstein import RIPPER

        self.classes_ = np.unique(y)
        self.model_ = RIPPER(max_rules=self.max_rules, random_state=0)
        self.model_.fit(X, y, pos_class=self.classes_[-1])
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the shares of the classes among samples of the same rules."""
        return np.asarray(self.model_.predict_proba(X))


def by_class(model: Callable[[int], Any], n_rules: int, n_classes: int) -> Any:
    """Return a learner of rules of one class, or one for each class, with so many in all."""
    if n_classes == 2:
        return model(n_rules)
    return OneVsRestClassifier(model(max(1, n_rules // n_classes)))


def sized() -> dict[str, Callable[[int, int], Any]]:
    """Return learners of a number of rules, for a number of classes."""
    models: dict[str, Callable[[int, int], Any]] = {
        OURS: lambda n, _: BoostedHyperboxes(n, random_state=0),
        "tree": lambda n, _: DecisionTreeClassifier(max_leaf_nodes=n, random_state=0),
    }
    if find_spec("imodels"):
        from imodels import BoostedRulesClassifier, FIGSClassifier, RuleFitClassifier

        models["FIGS"] = lambda n, _: FIGSClassifier(max_rules=n, random_state=0)
        models["BoostedRules"] = lambda n, _: BoostedRulesClassifier(n_estimators=n, random_state=0)
        rule_fit = partial(_rule_fit, RuleFitClassifier)
        models["RuleFit"] = lambda n, n_classes: by_class(rule_fit, n, n_classes)
    if find_spec("wittgenstein"):
        models["RIPPER"] = lambda n, n_classes: by_class(Ripper, n, n_classes)
    return models


def _rule_fit(kind: Any, n_rules: int) -> Any:
    return kind(max_rules=n_rules, include_linear=False, random_state=0)


def unsized() -> dict[str, Callable[[], Any]]:
    """Return learners whose number of rules cannot be set or that have none."""
    models: dict[str, Callable[[], Any]] = {
        "random forest": lambda: RandomForestClassifier(random_state=0),
        "ExtraTrees": lambda: ExtraTreesClassifier(random_state=0),
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
        "logistic regression": lambda: make_pipeline(
            StandardScaler(), LogisticRegression(max_iter=1000)
        ),
        "AGGLO-SM": AgglomerativeGFMM,
    }
    if find_spec("interpret"):
        from interpret.glassbox import ExplainableBoostingClassifier

        models[EBM] = lambda: ExplainableBoostingClassifier(
            outer_bags=4, max_rounds=5000, random_state=0, n_jobs=1
        )
    return models


def contenders(n_classes: int, sizes: tuple[int, ...]) -> Iterator[tuple[str, int | None, Any]]:
    """List all learners with their numbers of rules."""
    for name, make in sized().items():
        most = 80 if name in RULE_LEARNERS else 1000
        for size in sizes:
            if size <= most:
                yield name, size, make(size, n_classes)
    for name, make_one in unsized().items():
        yield name, None, make_one()


class OutOfTimeError(Exception):
    """A fit took too long."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `OutOfTimeError` when so much processor time has gone, unless it is 0; needs Unix."""

    def give_up(*_: object) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def score(
    X: np.ndarray, y: np.ndarray, sizes: tuple[int, ...], only: list[str], seconds: float
) -> Scores:
    """Return accuracy and log-loss on a set by contender and number of rules."""
    found: dict[tuple[str, int | None], list[tuple[float, float]]] = {}
    folds = list(StratifiedKFold(2, shuffle=True, random_state=101).split(X, y))
    gave_up = set()
    for name, size, model in contenders(len(np.unique(y)), sizes):
        if name in gave_up or (only and name not in only):
            continue
        limit = seconds if name in (*RULE_LEARNERS, EBM) else 0.0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name, size] = [
                    score_fold(model, X, y, train, test, limit) for train, test in folds
                ]
        except Exception as error:  # whatever a contender raises, the others go on
            progress(f"{name}, {size}: {type(error).__name__} {error}")
            gave_up.add(name)
    means = {key: np.mean(values, axis=0) for key, values in found.items()}
    return {key: (float(value[0]), float(value[1])) for key, value in means.items()}


def score_fold(
    model: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, seconds: float
) -> tuple[float, float]:
    """Return accuracy and log-loss on test samples."""
    with limited(seconds):
        p = model.fit(X[train], y[train]).predict_proba(X[test])
    p = np.clip(np.nan_to_num(p, nan=1 / p.shape[1]), LEAST, 1.0)
    p /= p.sum(axis=1, keepdims=True)
    accuracy = float(np.mean(p.argmax(axis=1) == y[test]))
    return accuracy, float(log_loss(y[test], p, labels=np.arange(p.shape[1])))


def sample(X: np.ndarray, y: np.ndarray, limit: int) -> Data:
    """Draw as many samples as the limit allows, and leave out classes with fewer than four."""
    rows = np.random.RandomState(0).permutation(len(y))[:limit]
    X, y = X[rows], y[rows]
    often = np.isin(y, np.flatnonzero(np.bincount(y) >= 4))
    return X[often], np.unique(y[often], return_inverse=True)[1]


def groups(folder: Path, limit: int) -> dict[str, dict[str, Data]]:
    """Read the sets, by group, with so many samples at most."""
    paper = {name: sample(*load(name, folder), limit) for name in names_in(folder / "authors")}
    rare = {n for n, (_, y) in paper.items() if len(y) < FEW_PER_CLASS * len(np.unique(y))}
    others = paper.keys() - CHOSEN_ON - rare
    return {
        "defaults chosen on": {n: data for n, data in paper.items() if n in CHOSEN_ON},
        "others of the paper": {n: data for n, data in paper.items() if n in others},
        "with few samples a class": {n: data for n, data in paper.items() if n in rare},
        "not of the paper": {**dict(of_packages(limit)), **dict(large(folder, limit))},
    }


def of_packages(limit: int) -> Iterator[tuple[str, Data]]:
    """Read the sets of installed packages."""
    for name, read in OWN.items():
        yield name, sample(*read(return_X_y=True), limit)
    for name, stream in RIVERS.items():
        rows, labels = zip(*stream(), strict=True)
        X = np.array([list(row.values()) for row in rows], float)
        yield name, sample(X, np.unique(labels, return_inverse=True)[1], limit)


def large(folder: Path, limit: int) -> Iterator[tuple[str, Data]]:
    """Read large sets, as far as they are there."""
    for name in LARGE:
        samples = in_file_order(name, folder / "large")
        if samples is not None:
            X, y = samples
            yield name, sample(X, np.unique(y, return_inverse=True)[1], limit)


def mean_table(scores: list[Scores], sizes: tuple[int, ...]) -> str:
    """Tabulate means over the sets that a contender finished, and how many it did with most rules.

    Sets on which it finished some sizes only do not count.
    """
    rows = []
    for name in names_of(scores):
        finished = finished_by(name, scores)
        cells = [name]
        for size in (*sizes, None):
            values = [found[name, size] for found in finished if (name, size) in found]
            cells.append("{:.3f}/{:.3f}".format(*np.mean(values, axis=0)) if values else "")
        rows.append([*cells, f"{len(finished)}"])
    return table(["rules", *map(str, sizes), "any", "sets"], rows)


def names_of(scores: list[Scores]) -> list[str]:
    """Return the contenders."""
    return list(dict.fromkeys(name for found in scores for name, _ in found))


def finished_by(name: str, scores: list[Scores]) -> list[Scores]:
    """Return the scores on the sets on which a contender finished all sizes."""
    sizes = {size for found in scores for other, size in found if other == name}
    return [found for found in scores if all((name, size) in found for size in sizes)]


def difference_table(scores: list[Scores], sizes: tuple[int, ...]) -> str:
    """Tabulate by how many points boxes are above each learner of as many rules."""
    rows = []
    for name in names_of(scores):
        finished = finished_by(name, scores)
        cells = []
        for size in sizes:
            gains = [
                found[OURS, size][0] - found[name, size][0]
                for found in finished
                if (name, size) in found and (OURS, size) in found
            ]
            cells.append(f"{100 * np.mean(gains):+.1f}" if gains else "")
        if name != OURS and any(cells):
            rows.append([name, *cells, f"{len(finished)}"])
    return table(["rules", *map(str, sizes), "sets"], rows)


def frontier(scores: list[Scores], sizes: tuple[int, ...]) -> Figure:
    """Draw mean accuracy over the number of rules, of contenders that finished all sets."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    styles = cycle(("-", "--", ":", "-."))
    for name in names_of(scores):
        if len(finished_by(name, scores)) < len(scores):
            continue
        found = {
            size: np.mean([score[name, size][0] for score in scores])
            for size in (*sizes, None)
            if (name, size) in scores[0]
        }
        if None in found:
            axes.axhline(found[None], color="gray", linewidth=1, linestyle=next(styles), label=name)
        else:
            is_ours = name == OURS
            width = 2.5 if is_ours else 1.2
            axes.plot(list(found), list(found.values()), marker="o", linewidth=width, label=name)
    axes.set(xscale="log", xlabel="rules", ylabel="mean accuracy")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xticks([], minor=True)
    axes.set_title(f"{len(scores)} sets on which nothing was chosen", fontsize=10)
    axes.legend(loc="lower right", fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def main() -> None:
    """Score all contenders and print the tables."""
    parser = argparse.ArgumentParser(prog="bench-readable", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="small sets, 20 and 40 rules")
    parser.add_argument("--groups", nargs="+", metavar="TITLE", help="of sets (default: all)")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="numbers of rules")
    parser.add_argument("--samples", type=int, default=LIMIT, help="of a set, at most")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="contenders")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each fit")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="file, if all is run")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: all cores)")
    options = parser.parse_args()
    sizes = tuple(options.sizes or ((20, 40) if options.quick else SIZES))
    if not names_in(options.data / "authors"):
        parser.error(f"{options.data} does not hold the paper's data; name a folder with --data")
    print(machine("numpy", "scikit-learn"))
    everything: list[Scores] = []
    unseen: list[Scores] = []
    for title, sets in groups(options.data, options.samples).items():
        if options.groups and title not in options.groups:
            continue
        chosen = {n: d for n, d in sets.items() if not options.quick or len(d[1]) <= QUICK_LIMIT}
        tasks = (
            delayed(score)(X, y, sizes, options.only, options.seconds) for X, y in chosen.values()
        )
        scores: list[Scores] = []
        results = Parallel(options.jobs, return_as="generator")(tasks)
        for name, result in zip(chosen, results, strict=True):
            progress(name)
            scores.append(result)
        everything += scores
        unseen += scores if title in UNSEEN else []
        print(f"\n{title}: {len(scores)} sets, accuracy/log-loss\n")
        print(mean_table(scores, sizes), flush=True)
    print(f"\nAll {len(everything)} sets\n")
    print(mean_table(everything, sizes))
    print(f"\nPoints of accuracy that {OURS} is above, on all sets that a contender finished\n")
    print(difference_table(everything, sizes))
    is_whole = sizes == SIZES and options.samples == LIMIT and not options.groups
    if is_whole and not options.quick:
        frontier(unseen, sizes).savefig(options.picture, dpi=110)


if __name__ == "__main__":
    main()
