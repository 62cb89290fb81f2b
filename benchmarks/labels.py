"""Few labels: what samples without a label add, beside scikit-learn's semi-supervised learners.

`make bench-labels` leaves 1, 5 and 20 % of the training samples of the paper's 24 sets their label
(at least one of each class) and prints the mean accuracy on the test halves, 5 x 2-fold
cross-validation. "Labelled only" is the same learner without the others. Features are scaled by the
ranges of all training samples, which need no labels, for all alike.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from benchmarks.validating import Scores, run, validate
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

SHARES = (0.01, 0.05, 0.2)
NONE = -1  # of a label

OURS: dict[str, Callable[..., Any]] = {
    "ImprovedOnlineGFMM": partial(ImprovedOnlineGFMM, random_state=0),
    "OnlineGFMM": partial(OnlineGFMM, random_state=0),
    "AGGLO-2": partial(AgglomerativeGFMM, algorithm="agglo2"),
    "AGGLO-SM": AgglomerativeGFMM,
}


def contenders() -> dict[str, tuple[Any, bool]]:
    """Return models by name, and whether they get the samples without a label."""
    models = {name: (make(unlabeled=NONE, scaling=None), True) for name, make in OURS.items()}
    models |= {f"{name}, labelled only": (make(scaling=None), False) for name, make in OURS.items()}
    return models | {
        "SelfTrainingClassifier(LogisticRegression())": (
            SelfTrainingClassifier(LogisticRegression(max_iter=1000)),
            True,
        ),
        "LabelSpreading(7 neighbours)": (LabelSpreading("knn", n_neighbors=7), True),
        "1 neighbour, labelled only": (KNeighborsClassifier(1), False),
    }


def score(X: np.ndarray, y: np.ndarray, n_repeats: int) -> Scores:
    """Return the mean accuracies on a set by contender and share of labels."""

    def accuracies(train: np.ndarray, test: np.ndarray, share: float, seed: int) -> Scores:
        scaler = MinMaxScaler().fit(X[train])
        X_train, X_test = scaler.transform(X[train]), scaler.transform(X[test])
        few = keep_few(y[train], share, np.random.default_rng(seed))
        has_label = few != NONE
        scores = {}
        for name, (model, takes_all) in contenders().items():
            rows = slice(None) if takes_all else has_label
            with np.errstate(invalid="ignore"):  # LabelSpreading, where no label is near
                model.fit(X_train[rows], few[rows])
                scores[name, share] = float(np.mean(model.predict(X_test) == y[test]))
        return scores

    return validate(X, y, n_repeats, SHARES, accuracies)


def keep_few(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Take away all labels but a share of each class, at least one."""
    few = np.full(len(y), NONE)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        kept = rng.choice(rows, max(1, round(share * len(rows))), replace=False)
        few[kept] = label
    return few


if __name__ == "__main__":
    run("bench-labels", __doc__, score, "labelled", SHARES)
