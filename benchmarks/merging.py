"""Merged models beside a model of all samples: accuracy by the number of parts.

`make bench-merging` divides the training samples of the paper's sets, learns a model on each part,
and prints accuracies of the merged models, of the model of all samples, and of one part's, with how
many boxes they have. 5 x 2-fold cross-validation, features scaled to [0, 1] beforehand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import minmax_scale

from benchmarks.validating import Scores, run, validate
from hyperboxes import ImprovedOnlineGFMM, OnlineGFMM, merge

PARTS = (1, 2, 4, 8)
LEARNERS = {"ImprovedOnlineGFMM": ImprovedOnlineGFMM, "OnlineGFMM": OnlineGFMM}


def score(X: np.ndarray, y: np.ndarray, n_repeats: int) -> Scores:
    """Return the mean accuracies on a set, and numbers of boxes, by contender and parts."""
    X, classes = minmax_scale(X), np.unique(y)

    def results(train: np.ndarray, test: np.ndarray, n_parts: float, _: int) -> Scores:
        found = {}
        for name, cls in LEARNERS.items():
            parts = [train[start :: int(n_parts)] for start in range(int(n_parts))]
            models = [learn(cls, X[part], y[part], classes) for part in parts]
            whole = learn(cls, X[train], y[train], classes)
            contenders = {"merged": merge(models), "all samples": whole, "one part": models[0]}
            for contender, model in contenders.items():
                found[f"{name}, {contender}", n_parts] = model.score(X[test], y[test])
            for contender in ("merged", "all samples"):
                n_boxes = len(contenders[contender].hyperboxes_)
                found[f"{name}, boxes, {contender}", n_parts] = float(n_boxes)
        return found

    return validate(X, y, n_repeats, PARTS, results)


def learn(cls: type, X: np.ndarray, y: np.ndarray, classes: np.ndarray) -> Any:
    """Do what `fit` does, in a random order, and know classes that a part may not have."""
    model = cls(scaling=None, calibrate=False, random_state=0)
    return model._fit_samples(X, y, None, classes)


if __name__ == "__main__":
    run("bench-merging", __doc__, score, "parts", PARTS, form="d")
