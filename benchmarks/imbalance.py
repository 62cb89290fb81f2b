"""A rare class: F1 and balanced accuracy, as predicted, with class weights, with a threshold.

Generated sets of 3,000 samples, 2 % of them of the rare class, a third for testing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.tree import DecisionTreeClassifier

from benchmarks.harness import command, machine, our_classifiers, progress, table

N_SETS = 10
MODELS: dict[str, Any] = {
    **our_classifiers(),
    "tree of depth 5": DecisionTreeClassifier(max_depth=5, random_state=0),
}


def score(seed: int) -> list[tuple[float, ...]]:
    """Return F1 and balanced accuracy of each model on a set, in three ways."""
    X, y = make_classification(
        3000, 10, n_informative=5, weights=[0.98], flip_y=0.0, class_sep=1.0, random_state=seed
    )
    parts = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
    X, X_test, y, y_test = parts
    scores = []
    for model in MODELS.values():
        tuned = TunedThresholdClassifierCV(model, scoring="f1", cv=3, random_state=0).fit(X, y)
        balanced = clone(model).set_params(class_weight="balanced").fit(X, y)
        models = tuned.estimator_, balanced, tuned
        predictions = [one.predict(X_test) for one in models]
        scores.append(
            tuple(
                metric(y_test, p)
                for p in predictions
                for metric in (f1_score, balanced_accuracy_score)
            )
        )
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
    rows = (
        [name, *(f"{f1:.2f}, {balanced:.2f}" for f1, balanced in row.reshape(-1, 2))]
        for name, row in zip(MODELS, means, strict=True)
    )
    print(f"\nF1 of the rare class and balanced accuracy, means over {N_SETS} sets\n")
    print(table(["", "as predicted", 'class_weight="balanced"', "with a threshold"], rows))


if __name__ == "__main__":
    main()
