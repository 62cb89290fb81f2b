"""
Comparing the algorithms
========================

Four algorithms on four datasets: accuracy and number of boxes.
"""

# %%
# The algorithms
# --------------
# Two are online, and two are agglomerative, which need all samples at once. Each has its default
# ``theta``. A decision tree and the nearest neighbor are there for comparison.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

models = {
    "ImprovedOnlineGFMM": ImprovedOnlineGFMM(random_state=0),
    "OnlineGFMM": OnlineGFMM(random_state=0),
    "AGGLO-2": AgglomerativeGFMM(algorithm="agglo2"),
    "AGGLO-SM": AgglomerativeGFMM(),
    "decision tree": DecisionTreeClassifier(random_state=0),
    "nearest neighbor": make_pipeline(MinMaxScaler(), KNeighborsClassifier(1)),
}
data = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}


def measure(model, X, y):
    """Return mean accuracy and mean number of boxes or leaves, if there are any."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    result = cross_validate(model, X, y, cv=folds, return_estimator=True)
    sizes = [
        len(fitted.hyperboxes_) if hasattr(fitted, "hyperboxes_") else fitted.get_n_leaves()
        for fitted in result["estimator"]
        if not hasattr(fitted, "steps")
    ]
    return result["test_score"].mean(), np.mean(sizes) if sizes else np.nan


# %%
# What to see
# -----------
# All are near the nearest neighbor, which keeps every sample. Most beat the tree, but need more
# rules. Agglomeration makes fewer boxes than the online algorithms; ``OnlineGFMM``, whose default
# ``theta`` is small, makes the most. Digits have 64 features and get hundreds of boxes, too many to
# read.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
places = np.arange(len(data))
colours = ["#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#8C8C8C", "#000000"]
found = {
    name: [measure(model, *load(return_X_y=True)) for load in data.values()]
    for name, model in models.items()
}
for (name, results), colour, marker in zip(found.items(), colours, "oPs^Dx", strict=True):
    shift = 0.12 * (list(models).index(name) - 2.5)
    for ax, values in zip(axes, zip(*results, strict=True), strict=True):
        ax.plot(places + shift, values, marker, c=colour, label=name)
    print(f"{name:18}", *(f"{score:.3f} ({size:.0f})" for score, size in results))
axes[0].set(title="accuracy, 5-fold", ylim=(0.84, 1))
axes[1].set(title="boxes, or leaves of the tree", yscale="log")
for ax in axes:
    ax.set_xticks(places, data)
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
plt.show()
