"""
Tuning theta in a pipeline
==========================

Of several models with similar accuracy, choose the shortest.
"""

# %%
# A pipeline and two scores
# -------------------------
# Features are selected, then boxes are fitted; ``set_output`` passes the names of the features. The
# second score is the length of the model: boxes times features.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline

from hyperboxes import AgglomerativeGFMM, export_text

data = load_breast_cancer(as_frame=True)
pipeline = Pipeline([("select", SelectKBest()), ("boxes", AgglomerativeGFMM())])
pipeline.set_output(transform="pandas")
grid = {"select__k": [2, 6, 30], "boxes__theta": [0.1, 0.2, 0.4, 0.7]}


def count_conditions(fitted, X, y):
    """Return boxes times features."""
    return fitted[-1].hyperboxes_.lower.size


# %%
# The choice
# ----------
# Of all models at most 1.5 points below the best, the one with the fewest conditions is refitted to
# all samples.


def shortest(results):
    """Return which of the good models has the fewest conditions."""
    accuracy = results["mean_test_accuracy"]
    good = accuracy >= accuracy.max() - 0.015
    return np.where(good, results["mean_test_conditions"], np.inf).argmin()


search = GridSearchCV(
    pipeline,
    grid,
    scoring={"accuracy": "accuracy", "conditions": count_conditions},
    refit=shortest,
    cv=StratifiedKFold(5, shuffle=True, random_state=0),
).fit(data.data, data.target)
print(search.best_params_)

# %%
# What to see
# -----------
# Along each line ``theta`` grows from right to left. Large boxes make models short at hardly any
# loss for AGGLO-SM, but not always for the online algorithms. All 30 features are a little more
# accurate, but a rule with 30 conditions is hard to read.

results = search.cv_results_
figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
size, accuracy = results["mean_test_conditions"], results["mean_test_accuracy"]
looks = [("o-", "#0072B2"), ("s--", "#D55E00"), ("^:", "#009E73")]
for k, (look, colour) in zip(grid["select__k"], looks, strict=True):
    rows = results["param_select__k"] == k
    ax.plot(size[rows], accuracy[rows], look, c=colour, label=f"{k} features")
best = search.best_index_
ax.plot(size[best], accuracy[best], "o", ms=16, mfc="none", c="black", label="chosen")
ax.set(xscale="log", xlabel="boxes x features", ylabel="accuracy, 5-fold")
ax.legend(frameon=False)
plt.show()
print(export_text(search.best_estimator_[-1], class_names=data.target_names, max_rules=2))
