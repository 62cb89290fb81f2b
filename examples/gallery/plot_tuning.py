"""
Tuning theta in a pipeline
==========================

Accuracy is not all: of models that are about as good, take the one with the fewest rules.
"""

# %%
# A pipeline and two scores
# -------------------------
# Some features are selected, then boxes are learned. With ``set_output`` the model gets to know the
# names of the features. The second score is the number of boxes.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.pipeline import Pipeline

from hyperboxes import AgglomerativeGFMM, export_text

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
pipeline = Pipeline([("select", SelectKBest()), ("boxes", AgglomerativeGFMM())])
pipeline.set_output(transform="pandas")
grid = {"select__k": [4, 10, 30], "boxes__theta": [0.1, 0.2, 0.3, 0.5, 0.7, 0.9]}


def count_boxes(fitted, X, y):
    """Return how many boxes the last step has."""
    return len(fitted[-1].hyperboxes_)


# %%
# The choice
# ----------
# The standard errors of means over folds tell which models are about as good as the best: those
# within one of it. Of these the one with the fewest boxes is refitted on all samples.

folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)


def fewest_boxes(results):
    """Return the smallest of the models within a standard error of the best."""
    accuracy, error = results["mean_test_accuracy"], results["std_test_accuracy"]
    best = accuracy.argmax()
    good = accuracy >= accuracy[best] - error[best] / np.sqrt(folds.get_n_splits())
    return np.where(good, results["mean_test_boxes"], np.inf).argmin()


search = GridSearchCV(
    pipeline,
    grid,
    scoring={"accuracy": "accuracy", "boxes": count_boxes},
    refit=fewest_boxes,
    cv=folds,
).fit(X, y)
print(search.best_params_)

# %%
# What to see
# -----------
# Small boxes cost most where features are many. AGGLO-SM, which merges the closest first, loses
# nothing with large boxes; the online learners do at some point, so look at the curve before
# trusting the end of it.

results = search.cv_results_
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharex=True)
looks = [("o-", "#0072B2"), ("s--", "#D55E00"), ("^:", "#009E73")]
for k, (look, colour) in zip(grid["select__k"], looks, strict=True):
    rows = results["param_select__k"] == k
    for ax, score in zip(axes, ["accuracy", "boxes"], strict=True):
        values = results[f"mean_test_{score}"][rows]
        ax.plot(grid["boxes__theta"], values, look, c=colour, label=f"{k} features")
axes[0].set(xlabel="theta", ylabel="accuracy, 2 x 5-fold")
axes[1].set(xlabel="theta", ylabel="boxes", yscale="log")
axes[1].legend(frameon=False)
plt.show()

# %%
# The result can be read; class 1 is benign.

print(export_text(search.best_estimator_[-1], max_rules=1))
