"""Accuracy over the number of rules: boosted boxes, trees, rule learners and black boxes.

`make bench-readable` prints mean accuracy and log-loss over groups of sets: those of the paper on
which the defaults of `BoostedHyperboxes` were chosen, the paper's others, of these apart those with
few samples a class, and others: scikit-learn's own, river's, and large ones. 2-fold
cross-validation, at most 1,500 samples a set, the same for all. Learners of rules of one class are
fitted for each class in turn, with its part of the rules.

A fit of the other rule learners or of EBM that takes longer than `--seconds` of processor time is
given up, and so are larger ones of that contender on that set; the same where it raises an error.
Then its mean is one over fewer sets, so the last table compares boxes with each contender on the
sets that it finished. Scores are kept, so that a run may be stopped and continued.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from river.datasets import Bananas, Phishing
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.data import OWN, Samples, in_file_order, load, paper_sets, read_stream
from benchmarks.harness import (
    KEPT,
    ROOT,
    Kept,
    command,
    digest,
    in_processes,
    machine,
    progress,
    table,
)
from benchmarks.probabilities import log_loss
from hyperboxes import AgglomerativeGFMM, BoostedHyperboxes

SIZES = (5, 10, 20, 40, 80, 300, 1000)
LIMIT, QUICK_LIMIT = 1500, 400  # samples of a set
SPLIT = 101

# --- Sets -----------------------------------------------------------------------------------------

FEW_PER_CLASS = 20  # samples, in both folds; sets with fewer are shown apart
CHOSEN_ON = {
    *("balance_scale", "blood_transfusion", "breast_cancer_coimbra", "glass", "haberman", "heart"),
    *("landsat", "optical_digits", "ringnorm", "segmentation", "sonar"),
}
RIVERS = {"bananas (river)": Bananas, "phishing (river)": Phishing}
LARGE = ("covertype", "electricity", "ijcnn1", "skin_segmentation")
UNSEEN = ("others of the paper", "not of the paper")  # groups on which nothing was chosen

Sets = dict[str, Samples]


def groups(folder: Path, limit: int) -> dict[str, Sets]:
    """Read the sets, by group, with so many samples at most."""
    paper = {name: sample(*load(name, folder), limit) for name in paper_sets(folder)}
    rare = {n for n, (_, y) in paper.items() if len(y) < FEW_PER_CLASS * len(np.unique(y))}
    others = paper.keys() - CHOSEN_ON - rare
    rest = {f"{own.__name__[5:]} (scikit-learn)": own(return_X_y=True) for own in OWN}
    for name, stream in RIVERS.items():
        rest[name] = read_stream(stream())
    for name in LARGE:
        if samples := in_file_order(name, folder / "large"):
            rest[name] = samples
    return {
        "defaults chosen on": {n: data for n, data in paper.items() if n in CHOSEN_ON},
        "others of the paper": {n: data for n, data in paper.items() if n in others},
        "with few samples a class": {n: data for n, data in paper.items() if n in rare},
        "not of the paper": {
            n: sample(X, np.unique(y, return_inverse=True)[1], limit) for n, (X, y) in rest.items()
        },
    }


def sample(X: np.ndarray, y: np.ndarray, limit: int) -> Samples:
    """Draw as many samples as the limit allows, and leave out classes with fewer than four."""
    rows = np.random.RandomState(0).permutation(len(y))[:limit]
    X, y = X[rows], y[rows]
    often = np.isin(y, np.flatnonzero(np.bincount(y) >= 4))
    return X[often], np.unique(y[often], return_inverse=True)[1]


# --- Contenders -----------------------------------------------------------------------------------

OURS, AGGLOMERATIVE = "BoostedHyperboxes", "AGGLO-SM"
RULE_LEARNERS = ("FIGS", "BoostedRules", "RuleFit", "RIPPER")  # of at most 80 rules
EBM = "EBM, 4 bags, no interactions"


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


def rules(name: str, n: int, n_classes: int) -> Any:
    """Return a learner of so many rules, or one for each class, with so many in all."""
    import imodels

    if name == "FIGS":
        return imodels.FIGSClassifier(max_rules=n, random_state=0)
    if name == "BoostedRules":
        return imodels.BoostedRulesClassifier(n_estimators=n, random_state=0)
    own = n if n_classes == 2 else max(1, n // n_classes)
    model = Ripper(own)
    if name == "RuleFit":
        model = imodels.RuleFitClassifier(max_rules=own, include_linear=False, random_state=0)
    return model if n_classes == 2 else OneVsRestClassifier(model)


def explainable_boosting() -> Any:
    """Return EBM with fewer bags than by default and no interactions."""
    from interpret.glassbox import ExplainableBoostingClassifier

    how = {"outer_bags": 4, "interactions": 0, "random_state": 0, "n_jobs": 1}
    return ExplainableBoostingClassifier(**how)


UNSIZED: dict[str, Callable[[], Any]] = {
    "random forest": lambda: RandomForestClassifier(random_state=0),
    "ExtraTrees": lambda: ExtraTreesClassifier(random_state=0),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "logistic regression": lambda: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000)
    ),
    AGGLOMERATIVE: AgglomerativeGFMM,
    EBM: explainable_boosting,
}


def contenders(n_classes: int, sizes: tuple[int, ...]) -> Iterator[tuple[str, int | None, Any]]:
    """Yield all learners with their numbers of rules."""
    sized: dict[str, Callable[[int], Any]] = {
        OURS: lambda n: BoostedHyperboxes(n, random_state=0),
        "tree": lambda n: DecisionTreeClassifier(max_leaf_nodes=n, random_state=0),
        **{name: partial(rules, name, n_classes=n_classes) for name in RULE_LEARNERS},
    }
    for name, make in sized.items():
        for size in sizes:
            if size <= (80 if name in RULE_LEARNERS else 1000):
                yield name, size, make(n=size) if name in RULE_LEARNERS else make(size)
    for name, make_one in UNSIZED.items():
        yield name, None, make_one()


# --- Scores ---------------------------------------------------------------------------------------

# Accuracy and log-loss by contender and number of rules; None where it gave up.
Scores = dict[tuple[str, int | None], tuple[float, float] | None]


class OutOfTimeError(Exception):
    """A fit took too long."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `OutOfTimeError` after so much processor time, unless it is 0; needs Unix."""

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
    X: np.ndarray,
    y: np.ndarray,
    sizes: tuple[int, ...],
    seconds: float,
) -> Scores:
    """Return accuracy and log-loss on a set by contender and number of rules."""
    found: Scores = {}
    folds = list(StratifiedKFold(2, shuffle=True, random_state=SPLIT).split(X, y))
    for name, size, model in contenders(len(np.unique(y)), sizes):
        if any(other == name and value is None for (other, _), value in found.items()):
            continue  # it gave up
        limit = seconds if name in (*RULE_LEARNERS, EBM) else 0.0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scores = [score_fold(model, X, y, train, test, limit) for train, test in folds]
            accuracy, loss = np.mean(scores, axis=0).tolist()
            found[name, size] = accuracy, loss
        except Exception as error:  # whatever a contender raises, the others go on
            progress(f"{name}, {size}: {type(error).__name__} {error}")
            found[name, size] = None
    return found


def score_fold(
    model: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, seconds: float
) -> tuple[float, float]:
    """Return accuracy and log-loss on test samples."""
    with limited(seconds):
        p = model.fit(X[train], y[train]).predict_proba(X[test])
    p = np.nan_to_num(p, nan=1 / p.shape[1])
    return float(np.mean(p.argmax(axis=1) == y[test])), log_loss(p, y[test])


# --- Tables and the picture -----------------------------------------------------------------------


def finished_by(name: str, scores: list[Scores]) -> list[Any]:
    """Return the scores on the sets on which a contender finished all sizes."""
    sizes = {size for found in scores for other, size in found if other == name}
    return [found for found in scores if all(found.get((name, size)) for size in sizes)]


def names_of(scores: list[Scores]) -> list[str]:
    """Return the contenders."""
    return list(dict.fromkeys(name for found in scores for name, _ in found))


def mean_table(scores: list[Scores], sizes: tuple[int, ...]) -> str:
    """Tabulate means over the sets that a contender finished, and how many these are."""
    rows = []
    for name in names_of(scores):
        finished, cells = finished_by(name, scores), [name]
        for size in (*sizes, None):
            values = [found[name, size] for found in finished if (name, size) in found]
            cells.append("{:.3f}/{:.3f}".format(*np.mean(values, axis=0)) if values else "")
        rows.append([*cells, f"{len(finished)}"])
    return table(["rules", *map(str, sizes), "any", "sets"], rows)


def difference_table(scores: list[Scores], sizes: tuple[int, ...]) -> str:
    """Tabulate by how many points boxes are above each learner of as many rules."""
    rows = []
    for name in names_of(scores):
        finished, cells = finished_by(name, scores), []
        for size in sizes:
            pairs = [(found.get((OURS, size)), found.get((name, size))) for found in finished]
            gains = [ours[0] - other[0] for ours, other in pairs if ours and other]
            cells.append(f"{100 * np.mean(gains):+.1f}" if gains else "")
        if name != OURS and any(cells):
            rows.append([name, *cells, f"{len(finished)}"])
    return table(["rules", *map(str, sizes), "sets"], rows)


def frontier(scores: list[Scores], sizes: tuple[int, ...]) -> Figure:
    """Draw mean accuracy over the number of rules, of contenders that finished all sets."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    others = {}
    for name in names_of(scores):
        finished = finished_by(name, scores)
        if len(finished) < len(scores):
            continue
        known = [size for size in (*sizes, None) if (name, size) in finished[0]]
        means = [float(np.mean([found[name, size][0] for found in finished])) for size in known]
        if known == [None]:
            others[name] = means[0]
        else:
            width = 2.5 if name == OURS else 1.2
            axes.plot(known, means, marker="o", linewidth=width, label=name)
    styles = cycle(("-", "--", ":", "-.", (0, (8, 3)), (0, (1, 4))))
    for name in sorted(others, key=others.__getitem__, reverse=True):
        line = {"color": "gray", "linewidth": 1, "linestyle": next(styles)}
        axes.axhline(others[name], label=name, **line)
    axes.set(xscale="log", xlabel="rules (of a tree: leaves)", ylabel="mean accuracy")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xticks([], minor=True)
    title = f"Boosted boxes are more accurate than as many other rules ({len(scores)} datasets)"
    axes.set_title(title, fontsize=9, loc="left")
    axes.legend(loc="lower right", fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def main() -> None:
    """Score all contenders and print the tables."""
    parser = command("bench-readable", __doc__, quick="small sets, 20 and 40 rules")
    parser.add_argument("--seconds", type=float, default=10.0, help="of processor time, a fit")
    options = parser.parse_args()
    sizes = (20, 40) if options.quick else SIZES
    print(machine("numpy", "scikit-learn"))
    kept = Kept(KEPT / "readable.jsonl")
    everything: list[Scores] = []
    unseen: list[Scores] = []
    for title, sets in groups(options.data, LIMIT).items():
        chosen = {
            f"{name} {sizes} {options.seconds} {digest()}": (X, y, sizes, options.seconds)
            for name, (X, y) in sets.items()
            if not options.quick or len(y) <= QUICK_LIMIT
        }
        tasks = {key: task for key, task in chosen.items() if key not in kept}
        for key, found in in_processes(score, tasks):
            kept[key] = [(*which, value) for which, value in found.items()]
        scores = [{(name, size): value for name, size, value in kept[key]} for key in chosen]
        everything += scores
        unseen += scores if title in UNSEEN else []
        print(f"\n{title}: {len(scores)} sets, accuracy/log-loss\n")
        print(mean_table(scores, sizes), flush=True)
    print(f"\nAll {len(everything)} sets\n")
    print(mean_table(everything, sizes))
    print(f"\nPoints of accuracy that {OURS} is above, on all sets that a contender finished\n")
    print(difference_table(everything, sizes))
    if not options.quick:
        frontier(unseen, sizes).savefig(ROOT / "docs" / "readable.png", dpi=110)


if __name__ == "__main__":
    main()
