"""Pruned models beside models as learned: accuracy and boxes by the share of validation samples.

`make bench-pruning` holds back a share of the training samples of the paper's sets for validation,
and prints means over the sets. 5 x 2-fold cross-validation.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from benchmarks.validating import Scores, run, validate
from hyperboxes import ImprovedOnlineGFMM, OnlineGFMM, prune

SHARES = (0.1, 0.3, 0.5)
LEARNERS = {
    "ImprovedOnlineGFMM": ImprovedOnlineGFMM(random_state=0),
    "OnlineGFMM": OnlineGFMM(random_state=0),
}


def score(X: np.ndarray, y: np.ndarray, n_repeats: int) -> Scores:
    """Return the mean accuracies on a set, and numbers of boxes, by contender and share."""

    def results(train: np.ndarray, test: np.ndarray, share: float, seed: int) -> Scores:
        is_held_back = np.random.default_rng(seed).random(len(train)) < share
        rest, held_back = train[~is_held_back], train[is_held_back]
        held_back = held_back[np.isin(y[held_back], y[rest])]
        found = {}
        for name, learner in LEARNERS.items():
            model = clone(learner).fit(X[rest], y[rest])
            contenders = {
                "all training samples": clone(learner).fit(X[train], y[train]),
                "without validation samples": model,
                "harmful dropped": prune(model, X[held_back], y[held_back], keep_unused=True),
                "harmful and unused dropped": prune(model, X[held_back], y[held_back]),
            }
            for contender, other in contenders.items():
                found[f"{name}, {contender}", share] = other.score(X[test], y[test])
                found[f"{name}, boxes, {contender}", share] = float(len(other.hyperboxes_))
        return found

    return validate(X, y, n_repeats, SHARES, results)


if __name__ == "__main__":
    run("bench-pruning", __doc__, score, "validation", SHARES)
