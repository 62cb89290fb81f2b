"""The least or the mean of the features' memberships: accuracy over theta, in both of its uses.

`make bench-membership` learns the paper's sets with `membership_function="min"` and `"mean"`, and
lets the boxes of the former predict by the mean, too. It prints accuracies and boxes per sample,
first of the sets that defaults were chosen on, then of the others. 5 x 2-fold cross-validation, as
`make reproduce` has it; an accuracy is of one theta for all sets, not of the best in hindsight.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.validating import Scores, run, validate
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

THETAS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
LEARNERS = {
    "IOL-GFMM": partial(ImprovedOnlineGFMM, random_state=0),
    "Onln-GFMM": partial(OnlineGFMM, random_state=0),
    "AGGLO-2": partial(AgglomerativeGFMM, algorithm="agglo2"),
    "AGGLO-SM": AgglomerativeGFMM,
}


def score(X: np.ndarray, y: np.ndarray, n_repeats: int) -> Scores:
    """Return the mean accuracies on a set, and boxes per sample, by contender and theta."""

    def results(train: np.ndarray, test: np.ndarray, theta: float, _: int) -> Scores:
        found = {}
        for name, make in LEARNERS.items():
            least, mean = (
                make(theta=theta, membership_function=function).fit(X[train], y[train])
                for function in ("min", "mean")
            )
            found[f"{name}, min", theta] = least.score(X[test], y[test])
            found[f"{name}, mean", theta] = mean.score(X[test], y[test])
            for model, contender in ((least, "min"), (mean, "mean")):
                share = len(model.hyperboxes_) / len(train)
                found[f"{name}, boxes per sample, {contender}", theta] = share
            by_mean = replace(least._model.membership, function="mean")
            least._model = replace(least._model, membership=by_mean)
            found[f"{name}, mean in prediction only", theta] = least.score(X[test], y[test])
        return found

    return validate(X, y, n_repeats, THETAS, results)


if __name__ == "__main__":
    run("bench-membership", __doc__, score, "theta", THETAS, form="g", confirms=True)
