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

import warnings
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from imodels import RuleFitClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.harness import command, in_processes, machine, progress, table
from benchmarks.readable import EBM, UNSEEN, explainable_boosting, groups, score_fold
from benchmarks.reproduce.learners import Peer
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


def contenders(n_classes: int) -> dict[str, Any]:
    """Return all classifiers with nothing set but the seed."""
    rule_fit = RuleFitClassifier(random_state=0)
    return {
        "BoostedHyperboxes": BoostedHyperboxes(random_state=0),
        "RandomHyperboxes": RandomHyperboxes(random_state=0),
        "AgglomerativeGFMM": AgglomerativeGFMM(),
        "ImprovedOnlineGFMM": ImprovedOnlineGFMM(random_state=0),
        "OnlineGFMM": OnlineGFMM(random_state=0),
        "AgglomerativeGFMM, nearest box": AgglomerativeGFMM(decision="nearest"),
        "ImprovedOnlineGFMM, nearest box": ImprovedOnlineGFMM(decision="nearest", random_state=0),
        "OnlineGFMM, nearest box": OnlineGFMM(decision="nearest", random_state=0),
        "5 nearest neighbors, scaled": make_pipeline(MinMaxScaler(), KNeighborsClassifier()),
        "decision tree": DecisionTreeClassifier(random_state=0),
        "decision tree, 20 leaves": DecisionTreeClassifier(max_leaf_nodes=20, random_state=0),
        "random forest": RandomForestClassifier(random_state=0),
        EBM: explainable_boosting(),
        "RuleFit": rule_fit if n_classes == 2 else OneVsRestClassifier(rule_fit),
        "hyperbox-brain's IOL-GFMM": Peer("iol_gfmm", "ImprovedOnlineGFMM"),
    }


def size_of(model: Any) -> Size:
    """Count what there is to read in a fitted classifier."""
    if isinstance(model, RandomHyperboxes):
        return together([Size(*member.lower.shape) for member in model.members_])
    if isinstance(model, RandomForestClassifier | OneVsRestClassifier):
        return together([size_of(one) for one in model.estimators_])
    if isinstance(model, DecisionTreeClassifier):
        tree = model.tree_
        depths = np.zeros(tree.node_count)
        for node in range(tree.node_count):  # parents come first
            for child in (tree.children_left[node], tree.children_right[node]):
                if child >= 0:
                    depths[child] = depths[node] + 1
        return Size(model.get_n_leaves(), depths[tree.children_left < 0].mean())
    if isinstance(model, RuleFitClassifier):  # linear terms are rules of one condition
        linear = np.count_nonzero(model.coef[: model.n_features_in_])
        return together([*(Size(1, len(rule.agg_dict)) for rule in model.rules_), Size(linear, 1)])
    if isinstance(model, Peer):
        return Size(*model.model.V.shape)
    if not hasattr(model, "hyperboxes_"):
        return Size(np.nan, np.nan)
    boxes = model.hyperboxes_
    if isinstance(model, BoostedHyperboxes):
        return Size(len(boxes), boxes.constrains.sum() / max(1, len(boxes)))
    return Size(*boxes.lower.shape)


def together(sizes: list[Size]) -> Size:
    """Add rules up; conditions of a rule are their mean."""
    rules = sum(size.rules for size in sizes)
    return Size(rules, sum(size.rules * size.conditions for size in sizes) / max(1, rules))


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
        accuracy, loss = (np.mean([v[number] for v in values]) for number in range(2))
        sizes = "" if np.isnan(rules) else f"{rules:,.0f}", ""
        if not np.isnan(conditions):
            sizes = sizes[0], f"{conditions:.1f}"
        rows.append([name, f"{accuracy:.3f}", f"{loss:.3f}", *sizes])
    header = ["", "accuracy", "log-loss", "rules", "conditions a rule"]
    return f"{len(whole)} of {len(scores)} sets finished by all\n\n{table(header, rows)}"


def main() -> None:
    """Score all classifiers and print the tables."""
    parser = command("bench-defaults", __doc__, quick="small sets only")
    parser.add_argument("--samples", type=int, default=LIMIT, help="of a set, at most")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each fit")
    options = parser.parse_args()
    print(machine("numpy", "scikit-learn", "interpret-core", "imodels", "hyperbox-brain"))
    everything: list[dict[str, Score]] = []
    read = groups(options.data, options.samples)
    for title in UNSEEN:
        sets = {
            n: d for n, d in read[title].items() if not options.quick or len(d[1]) <= QUICK_LIMIT
        }
        tasks = {name: (*data, options.seconds) for name, data in sets.items()}
        scores = [found for _, found in in_processes(score, tasks)]
        print(f"\n{title}: {summary(scores)}", flush=True)
        everything += scores
    print(f"\nAll: {summary(everything)}")


if __name__ == "__main__":
    main()
