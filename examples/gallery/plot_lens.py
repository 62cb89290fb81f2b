"""
A surrogate of a forest
=======================

Fifteen boxes, fitted to the predictions of a forest, describe it in rules; the fidelity measures
how well.
"""

# %%
# Fit boxes to predictions
# ------------------------
# Any classifier will do. A forest repeats the labels of its training samples, so we predict other
# samples. Each sample is passed once for every class, weighted by its probability, so the rules
# count samples twice. Coverage and precision are those on a third set of samples, with the forest's
# predictions.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from hyperboxes import BoostedHyperboxes, explain, export_text

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]


def split(seed):
    """Return samples to train the forest, to fit the surrogate, and to test."""
    X_forest, X_rest, y_forest, y_rest = train_test_split(X, y, test_size=0.6, random_state=seed)
    return X_forest, y_forest, *train_test_split(X_rest, y_rest, test_size=0.5, random_state=seed)


def look_at(forest, X_asked, max_boxes=15):
    """Return boxes that answer like the forest."""
    weights = forest.predict_proba(X_asked).ravel()
    rows = np.repeat(np.arange(len(X_asked)), len(forest.classes_))
    labels = np.tile(forest.classes_, len(X_asked))
    boxes = BoostedHyperboxes(max_boxes, random_state=0)
    return boxes.fit(X_asked.iloc[rows], labels, sample_weight=weights)


X_forest, y_forest, X_asked, X_test, y_asked, y_test = split(0)
forest = RandomForestClassifier(random_state=0).fit(X_forest, y_forest)
lens = look_at(forest, X_asked)
print(export_text(lens, X_test, forest.predict(X_test), max_rules=4))
importances = pd.Series(lens.feature_importances_, X.columns)
figure, ax = plt.subplots(layout="constrained")
importances.nlargest(10)[::-1].plot.barh(ax=ax, xlabel="importance")
plt.show()

# %%
# Fidelity
# --------
# Fidelity is how often both models agree on samples that neither was fitted to, here over ten
# splits. Boxes fitted to the true labels of the same samples agree a little less.

agreed, agreed_true = [], []
for seed in range(10):
    X_forest, y_forest, X_asked, X_test, y_asked, y_test = split(seed)
    forest = RandomForestClassifier(random_state=0).fit(X_forest, y_forest)
    answers = forest.predict(X_test)
    lens = look_at(forest, X_asked)
    agreed.append(lens.score(X_test, answers))
    others = BoostedHyperboxes(15, random_state=0).fit(X_asked, y_asked)
    agreed_true.append(others.score(X_test, answers))
print(f"fidelity {np.mean(agreed):.1%}, of boxes fitted to the labels {np.mean(agreed_true):.1%}")

# %%
# Limits
# ------
# A surrogate describes a forest on samples like those it was fitted to. Changed samples are
# different: few of the counterfactuals of the surrogate change the forest's prediction.

explanations = explain(lens, X_test)
print(explanations[0].to_text(max_boxes=3))
changed = X_test.copy()
changed[:] = [explanation.counterfactual.lower for explanation in explanations]
flipped = forest.predict(changed) != answers
print(f"\nOf {len(flipped)} such changes, {flipped.mean():.0%} flip the forest.")
