"""Accuracy over the number of rules: boosted boxes beside trees, rule learners and black boxes.

`make bench-readable` prints mean accuracy and log-loss over groups of sets: those of the paper on
which the defaults of `BoostedHyperboxes` were chosen, the paper's others, of these apart those with
few samples a class, and scikit-learn's own. 2-fold cross-validation, at most 1,500 samples a set,
the same for all. Learners of rules of one class are fitted for each class in turn, with its part of
the rules.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
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

from benchmarks.data import add_data_option, names_in
from benchmarks.timing import machine, progress, table
from benchmarks.validating import QUICK_LIMIT, load
from hyperboxes import AgglomerativeGFMM, BoostedHyperboxes

SIZES = (5, 10, 20, 40, 80, 300, 1000)
LIMIT = 1500  # samples
FEW_PER_CLASS = 20  # samples, in both folds; sets with fewer are shown apart
LEAST = 0.001  # probability, in log-losses

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
        model = RIPPER(max_rules=self.max_rules, random_state=0)
        self.model_ = model.fit(X, y, pos_class=self.classes_[-1])
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
        "BoostedHyperboxes": lambda n, _: BoostedHyperboxes(n, random_state=0),
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

        models["EBM"] = lambda: ExplainableBoostingClassifier(random_state=0, n_jobs=1)
    return models


def contenders(n_classes: int, sizes: tuple[int, ...]) -> Iterator[tuple[str, int | None, Any]]:
    """List all learners with their numbers of rules."""
    for name, make in sized().items():
        most = 80 if name in ("FIGS", "RuleFit", "RIPPER") else 1000
        for size in sizes:
            if size <= most:
                yield name, size, make(size, n_classes)
    for name, make_one in unsized().items():
        yield name, None, make_one()


def score(X: np.ndarray, y: np.ndarray, sizes: tuple[int, ...], only: list[str]) -> Scores:
    """Return accuracy and log-loss on a set by contender and number of rules."""
    found: dict[tuple[str, int | None], list[tuple[float, float]]] = {}
    folds = StratifiedKFold(2, shuffle=True, random_state=101)
    for train, test in folds.split(X, y):
        for name, size, model in contenders(len(np.unique(y)), sizes):
            if not only or name in only:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    p = model.fit(X[train], y[train]).predict_proba(X[test])
                p = np.clip(np.nan_to_num(p, nan=1 / p.shape[1]), LEAST, 1.0)
                p /= p.sum(axis=1, keepdims=True)
                accuracy = float(np.mean(p.argmax(axis=1) == y[test]))
                loss = float(log_loss(y[test], p, labels=np.arange(p.shape[1])))
                found.setdefault((name, size), []).append((accuracy, loss))
    means = {key: np.mean(values, axis=0) for key, values in found.items()}
    return {key: (float(value[0]), float(value[1])) for key, value in means.items()}


def sample(X: np.ndarray, y: np.ndarray) -> Data:
    """Draw as many samples as the limit allows, and leave out classes with fewer than four."""
    rows = np.random.RandomState(0).permutation(len(y))[:LIMIT]
    X, y = X[rows], y[rows]
    often = np.isin(y, np.flatnonzero(np.bincount(y) >= 4))
    return X[often], np.unique(y[often], return_inverse=True)[1]


def groups(folder: Path) -> dict[str, dict[str, Data]]:
    """Read the sets, by group."""
    paper = {name: sample(*load(name, folder)) for name in names_in(folder / "authors")}
    rare = {n for n, (_, y) in paper.items() if len(y) < FEW_PER_CLASS * len(np.unique(y))}
    others = paper.keys() - CHOSEN_ON - rare
    return {
        "defaults chosen on": {n: data for n, data in paper.items() if n in CHOSEN_ON},
        "others of the paper": {n: data for n, data in paper.items() if n in others},
        "with few samples a class": {n: data for n, data in paper.items() if n in rare},
        "scikit-learn's": {n: sample(*read(return_X_y=True)) for n, read in OWN.items()},
    }


def mean_table(scores: list[Scores], sizes: tuple[int, ...]) -> str:
    """Tabulate means over sets."""
    header = ["rules", *map(str, sizes), "any"]
    rows = []
    for name in dict.fromkeys(name for name, _ in scores[0]):
        cells = [name]
        for size in (*sizes, None):
            values = [found[name, size] for found in scores if (name, size) in found]
            cells.append("{:.3f}/{:.3f}".format(*np.mean(values, axis=0)) if values else "")
        rows.append(cells)
    return table(header, rows)


def main() -> None:
    """Score all contenders and print the tables."""
    parser = argparse.ArgumentParser(prog="bench-readable", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="small sets, 20 and 40 rules")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="contenders")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: all cores)")
    options = parser.parse_args()
    sizes = (20, 40) if options.quick else SIZES
    if not names_in(options.data / "authors"):
        parser.error(f"{options.data} does not hold the paper's data; name a folder with --data")
    print(machine("numpy", "scikit-learn"))
    everything: list[Scores] = []
    for title, sets in groups(options.data).items():
        chosen = {n: d for n, d in sets.items() if not options.quick or len(d[1]) <= QUICK_LIMIT}
        tasks = (delayed(score)(X, y, sizes, options.only) for X, y in chosen.values())
        scores: list[Scores] = []
        results = Parallel(options.jobs, return_as="generator")(tasks)
        for name, result in zip(chosen, results, strict=True):
            progress(name)
            scores.append(result)
        everything += scores
        print(f"\n{title}: {len(scores)} sets, accuracy/log-loss\n")
        print(mean_table(scores, sizes), flush=True)
    print(f"\nAll {len(everything)} sets\n")
    print(mean_table(everything, sizes))


if __name__ == "__main__":
    main()
