"""Missing values beside median imputation: accuracy where cells of the paper's sets are removed.

`make bench-missing` prints means over the 24 sets for each learner, with values left missing and
with medians of the training half in their place. Cells are removed at random, from training and
test samples alike; 5 x 2-fold cross-validation, the same folds and cells for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from benchmarks.validating import Scores, run, validate
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

RATES = (0.0, 0.05, 0.2, 0.5)
LEARNERS = {
    "ImprovedOnlineGFMM": ImprovedOnlineGFMM(random_state=0),
    "OnlineGFMM": OnlineGFMM(random_state=0),
    "AGGLO-2": AgglomerativeGFMM(algorithm="agglo2"),
    "AGGLO-SM": AgglomerativeGFMM(),
}


def contenders() -> dict[str, Any]:
    """Return each learner by itself and behind an imputer (0 where there is no median)."""
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    models = {}
    for name, model in LEARNERS.items():
        models[f"{name}, missing"] = clone(model)
        models[f"{name}, median"] = make_pipeline(imputer, clone(model))
    return models


def score(X: np.ndarray, y: np.ndarray, n_repeats: int) -> Scores:
    """Return the mean accuracies on a set by contender and rate of removed cells."""

    def accuracies(train: np.ndarray, test: np.ndarray, rate: float, seed: int) -> Scores:
        holed = np.where(np.random.default_rng(seed).random(X.shape) < rate, np.nan, X)
        return {
            (name, rate): float(
                np.mean(model.fit(holed[train], y[train]).predict(holed[test]) == y[test])
            )
            for name, model in contenders().items()
        }

    return validate(X, y, n_repeats, RATES, accuracies)


if __name__ == "__main__":
    run("bench-missing", __doc__, score, "removed", RATES)
