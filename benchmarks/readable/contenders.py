"""Learners to compare: those whose number of rules can be set, and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.readable.pieces import CHANGES, WHOLE, pieces
from hyperboxes import AgglomerativeGFMM, BoostedHyperboxes

OURS = WHOLE
RULE_LEARNERS = ("FIGS", "BoostedRules", "RuleFit", "RIPPER")  # asked for at most 80 rules
EBM = "EBM, 4 bags, no interactions"
AGGLOMERATIVE = "AGGLO-SM"
BY_THIS_PACKAGE = (OURS, AGGLOMERATIVE, *CHANGES)


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
        AGGLOMERATIVE: AgglomerativeGFMM,
    }
    if find_spec("interpret"):
        from interpret.glassbox import ExplainableBoostingClassifier

        models[EBM] = lambda: ExplainableBoostingClassifier(
            outer_bags=4, interactions=0, random_state=0, n_jobs=1
        )
    return models


def contenders(
    n_classes: int, sizes: tuple[int, ...], with_pieces: bool
) -> Iterator[tuple[str, int | None, Any]]:
    """List all learners with their numbers of rules; or ours, and ours without its pieces."""
    for name, make in (pieces() if with_pieces else sized()).items():
        most = 80 if name in RULE_LEARNERS else 1000
        for size in sizes:
            if size <= most:
                yield name, size, make(size, n_classes)
    for name, make_one in ({} if with_pieces else unsized()).items():
        yield name, None, make_one()
