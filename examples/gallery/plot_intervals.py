"""
Interval data
=============

Samples whose values are ranges: groups summarised by their lowest and highest values, or
measurements with their uncertainty.
"""

# %%
# Wines by the crate
# ------------------
# A laboratory publishes only the range of each measurement in a crate of eight wines of one
# cultivar. The lower ends are ``X``, the upper ends ``X_upper``.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from hyperboxes import BoxesDisplay, ImprovedOnlineGFMM

wine = load_wine(as_frame=True)
ranges = [wine.data.min(), wine.data.max()]


def pack(X, y, size=8):
    """Return lowest, highest and mean values of crates of wines, and their cultivars."""
    crate = y.groupby(y).cumcount() // size
    crates = X.groupby([crate, y])  # cultivars take turns
    return crates.min(), crates.max(), crates.mean(), crates.mean().index.get_level_values(1)


def learn(X, y, X_upper=None):
    """Return a model; all get the same ranges."""
    return ImprovedOnlineGFMM(theta=0.7, scaling=ranges, random_state=0).fit(X, y, X_upper=X_upper)


# %%
# Ranges, means, or all wines?
# ----------------------------
# On single test wines, the ranges are much better than the means, which lose the spread of the
# cultivars. Here they are even a little better than all single wines, because a crate is a
# ready-made box of eight samples. On digits, grouped in the same way, all samples are better by
# four points.

scores = []
for seed in range(20):
    X, X_test, y, y_test = train_test_split(
        wine.data, wine.target, stratify=wine.target, random_state=seed
    )
    lower, upper, mean, cultivar = pack(X, y)
    models = learn(lower, cultivar, upper), learn(mean, cultivar), learn(X, y)
    scores.append([model.score(X_test, y_test) for model in models])
for name, score in zip(["ranges", "means", "all wines"], np.mean(scores, axis=0), strict=True):
    print(f"{name:9}  accuracy {score:.3f}")

# %%
# Plot
# ----
# The model of the ranges and that of the means, in two of 13 measurements, with the test wines.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, model, title in zip(axes, models, ["learned from ranges", "from means"], strict=False):
    BoxesDisplay.from_estimator(
        model, X_test, y_test, features=["flavanoids", "color_intensity"], ax=ax
    )
    ax.set_title(title)
plt.show()

# %%
# Uncertain measurements
# ----------------------
# Prediction takes intervals, too. If all measurements of a wine are known to 5% of their range, the
# membership is that of the worst values.

one = X_test.iloc[[0]]
blur = 0.05 * (ranges[1] - ranges[0])
print("exact    ", models[0].membership(one).round(2)[0])
print("uncertain", models[0].membership(one - blur, X_upper=one + blur).round(2)[0])
