"""A rare class: F1 as predicted, and with a threshold that cross-validation has chosen.

Generated sets of 3,000 samples, 2 % of them of the rare class, a third for testing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.tree import DecisionTreeClassifier

from benchmarks.harness import command, machine, progress, table
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

N_SETS = 10
MODELS: dict[str, Any] = {
    "ImprovedOnlineGFMM": ImprovedOnlineGFMM(random_state=0),
    "OnlineGFMM": OnlineGFMM(random_state=0),
    "AgglomerativeGFMM": AgglomerativeGFMM(),
    "tree of depth 5": DecisionTreeClassifier(max_depth=5, random_state=0),
}


def score(seed: int) -> list[tuple[float, float]]:
    """Return F1 of each model on a set, as predicted and with a threshold."""
    X, y = make_classification(
        3000, 10, n_informative=5, weights=[0.98], flip_y=0.0, class_sep=1.0, random_state=seed
    )
    parts = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
    X, X_test, y, y_test = parts
    scores = []
    for model in MODELS.values():
        tuned = TunedThresholdClassifierCV(model, scoring="f1", cv=3, random_state=0).fit(X, y)
        plain = tuned.estimator_
        scores.append(tuple(f1_score(y_test, one.predict(X_test)) for one in (plain, tuned)))
    return scores


def main() -> None:
    """Print means over the sets."""
    command("bench-imbalance", __doc__, data=False).parse_args()
    print(machine("numpy", "scikit-learn"))
    scores = []
    for seed in range(N_SETS):
        progress(f"set {seed}")
        scores.append(score(seed))
    means = np.mean(scores, axis=0)
    rows = ([name, *(f"{f1:.2f}" for f1 in row)] for name, row in zip(MODELS, means, strict=True))
    print(f"\nF1 of the rare class, means over {N_SETS} sets\n")
    print(table(["", "as predicted", "with a threshold"], rows))


if __name__ == "__main__":
    main()
