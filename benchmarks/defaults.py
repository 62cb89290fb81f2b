"""Accuracy, log-loss and number of rules of classifiers as they come, with no parameter set.

But for EBM, which gets 4 bags and no interactions: as it comes, it takes a minute of processor time
for 200 samples of 30 features.

`make bench-defaults` prints means over two groups of sets: the paper's on which no default of
`BoostedHyperboxes` was chosen, and others: scikit-learn's own, river's, and large ones. 2-fold
cross-validation, at most 1,000 samples a set, the same folds for all. Learners of two classes are
fitted for each class in turn; hyperbox-brain's gets features between 0 and 1, as it needs. A fit
that takes longer than `--seconds` of processor time, or raises an error, is given up: means are
over the sets that all finished.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from imodels import RuleFitClassifier
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.data import add_data_option, names_in
from benchmarks.readable.contenders import EBM, unsized
from benchmarks.readable.scoring import score_fold
from benchmarks.readable.sets import UNSEEN, Data, groups
from benchmarks.timing import machine, progress, table
from hyperboxes import (
    AgglomerativeGFMM,
    BoostedHyperboxes,
    ImprovedOnlineGFMM,
    OnlineGFMM,
    RandomHyperboxes,
)

LIMIT = 1000  # samples of a set
QUICK_LIMIT = 300
SECONDS = 120.0  # of processor time for a fit
SPLIT = 7


class Size(NamedTuple):
    """How much there is to read: rules, and conditions of a rule; NaN where there are none."""

    rules: float
    conditions: float


class Score(NamedTuple):
    """What a classifier reaches on a set: means over folds."""

    accuracy: float
    loss: float
    size: Size


class HyperboxBrain(ClassifierMixin, BaseEstimator):
    """The IOL-GFMM of hyperbox-brain at its defaults, on features between 0 and 1."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> HyperboxBrain:
        """Learn from samples."""
        from hbbrain.numerical_data.incremental_learner.iol_gfmm import ImprovedOnlineGFMM

        self.scaler_ = MinMaxScaler().fit(X)
        self.model_ = ImprovedOnlineGFMM().fit(self.scaler_.transform(X), y)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return its probabilities."""
        inside = self.scaler_.transform(X).clip(0, 1)
        return np.asarray(self.model_.predict_proba(inside))


def contenders(n_classes: int) -> dict[str, Any]:
    """Return all classifiers with nothing set but the seed."""
    rule_fit = RuleFitClassifier(random_state=0)
    return {
        "BoostedHyperboxes": BoostedHyperboxes(random_state=0),
        "RandomHyperboxes": RandomHyperboxes(random_state=0),
        "AgglomerativeGFMM": AgglomerativeGFMM(),
        "ImprovedOnlineGFMM": ImprovedOnlineGFMM(random_state=0),
        "OnlineGFMM": OnlineGFMM(random_state=0),
        "decision tree": DecisionTreeClassifier(random_state=0),
        "decision tree, 20 leaves": DecisionTreeClassifier(max_leaf_nodes=20, random_state=0),
        "random forest": RandomForestClassifier(random_state=0),
        EBM: unsized()[EBM](),
        "RuleFit": rule_fit if n_classes == 2 else OneVsRestClassifier(rule_fit),
        "hyperbox-brain's IOL-GFMM": HyperboxBrain(),
    }


def size_of(model: Any) -> Size:
    """Count what there is to read in a fitted classifier."""
    for kind, count in COUNTS.items():
        if isinstance(model, kind):
            return count(model)
    if hasattr(model, "hyperboxes_"):
        boxes = model.hyperboxes_
        return Size(len(boxes), boxes.lower.shape[1])
    return Size(np.nan, np.nan)


def _count_votes(model: BoostedHyperboxes) -> Size:
    boxes = model.hyperboxes_
    return Size(len(boxes), boxes.constrains.sum() / max(1, len(boxes)))


def _count_leaves(model: DecisionTreeClassifier) -> Size:
    tree = model.tree_
    depths = np.zeros(tree.node_count)
    for node in range(tree.node_count):  # parents come first
        for child in (tree.children_left[node], tree.children_right[node]):
            if child >= 0:
                depths[child] = depths[node] + 1
    return Size(model.get_n_leaves(), depths[tree.children_left < 0].mean())


def _count_members(model: RandomForestClassifier) -> Size:
    return _together([_count_leaves(tree) for tree in model.estimators_])


def _count_ensemble(model: RandomHyperboxes) -> Size:
    return _together([Size(*member.lower.shape) for member in model.members_])


def _count_rules(model: RuleFitClassifier) -> Size:
    """Count rules, and linear terms as rules of one condition."""
    lengths = [len(rule.agg_dict) for rule in model.rules_]
    linear = np.count_nonzero(model.coef[: model.n_features_in_])
    return _together([Size(1, n) for n in lengths] + [Size(linear, 1)])


def _count_each(model: OneVsRestClassifier) -> Size:
    return _together([size_of(one) for one in model.estimators_])


def _together(sizes: list[Size]) -> Size:
    rules = sum(size.rules for size in sizes)
    return Size(rules, sum(size.rules * size.conditions for size in sizes) / max(1, rules))


def _count_brain(model: HyperboxBrain) -> Size:
    return Size(len(model.model_.V), model.model_.V.shape[1])


COUNTS: dict[type, Callable[[Any], Size]] = {
    BoostedHyperboxes: _count_votes,
    RandomHyperboxes: _count_ensemble,
    RandomForestClassifier: _count_members,
    DecisionTreeClassifier: _count_leaves,
    RuleFitClassifier: _count_rules,
    OneVsRestClassifier: _count_each,
    HyperboxBrain: _count_brain,
}


def score(X: np.ndarray, y: np.ndarray, seconds: float) -> dict[str, Score]:
    """Score the classifiers on a set."""
    folds = list(StratifiedKFold(2, shuffle=True, random_state=SPLIT).split(X, y))
    found = {}
    for name, model in contenders(len(np.unique(y))).items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows = [
                    (*score_fold(model, X, y, train, test, seconds), *size_of(model))
                    for train, test in folds
                ]
        except Exception as error:  # whatever a contender raises, the others go on
            progress(f"{name}: {type(error).__name__} {error}")
            continue
        accuracy, loss, *size = np.mean(rows, axis=0).tolist()
        found[name] = Score(accuracy, loss, Size(*size))
    return found


def summary(scores: list[dict[str, Score]]) -> str:
    """Tabulate means over the sets that all finished, and medians of what there is to read."""
    names = list(dict.fromkeys(name for found in scores for name in found))
    whole = [found for found in scores if len(found) == len(names)]
    rows = []
    for name in names:
        values = [found[name] for found in whole]
        rules, conditions = (
            median(column) for column in zip(*(v.size for v in values), strict=True)
        )
        rows.append(
            [
                name,
                f"{np.mean([value.accuracy for value in values]):.3f}",
                f"{np.mean([value.loss for value in values]):.3f}",
                "" if np.isnan(rules) else f"{rules:,.0f}",
                "" if np.isnan(conditions) else f"{conditions:.1f}",
            ]
        )
    header = ["", "accuracy", "log-loss", "rules", "conditions a rule"]
    return f"{len(whole)} of {len(scores)} sets finished by all\n\n{table(header, rows)}"


def main() -> None:
    """Score all classifiers and print the tables."""
    parser = argparse.ArgumentParser(prog="bench-defaults", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="small sets only")
    parser.add_argument("--samples", type=int, default=LIMIT, help="of a set, at most")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each fit")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: all cores)")
    options = parser.parse_args()
    if not names_in(options.data / "authors"):
        parser.error(f"{options.data} does not hold the paper's data; name a folder with --data")
    print(machine("numpy", "scikit-learn", "interpret-core", "imodels", "hyperbox-brain"))
    everything: list[dict[str, Score]] = []
    read: dict[str, dict[str, Data]] = groups(options.data, options.samples)
    for title in UNSEEN:
        sets = {
            n: d for n, d in read[title].items() if not options.quick or len(d[1]) <= QUICK_LIMIT
        }
        tasks = (delayed(score)(X, y, options.seconds) for X, y in sets.values())
        scores = []
        for name, found in zip(
            sets, Parallel(options.jobs, return_as="generator")(tasks), strict=True
        ):
            progress(name)
            scores.append(found)
        print(f"\n{title}: {summary(scores)}", flush=True)
        everything += scores
    print(f"\nAll: {summary(everything)}")


if __name__ == "__main__":
    main()
