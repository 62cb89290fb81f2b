"""
Missing values
==============

Missing values need no imputation, in training and in prediction.
"""

# %%
# Data with gaps
# --------------
# Wines of three cultivars, with 13 measurements. The data is complete, so values are removed at
# random. A box has no bounds in a feature that its samples lack, and a sample is not compared in a
# feature that it lacks.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from hyperboxes import ImprovedOnlineGFMM

X, y = load_wine(return_X_y=True)
SHARES = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
model = ImprovedOnlineGFMM(theta=0.5, random_state=0)
models = {
    "left missing": model,
    "median imputed": make_pipeline(SimpleImputer(strategy="median"), model),
}


def accuracy(model, share):
    """Return mean accuracy with a share of all values removed."""
    rng = np.random.default_rng(0)
    holes = np.where(rng.random(X.shape) < share, np.nan, X)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    return cross_val_score(model, holes, y, cv=folds).mean()


# %%
# Compared with imputation
# ------------------------
# Here, leaving values out is better than the median at every share. On the four measurements of
# iris, medians win from 40% on, because a box without bounds contains nearly anything.

figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
looks = [("o-", "#0072B2"), ("s--", "#D55E00")]
for (name, one), (look, colour) in zip(models.items(), looks, strict=True):
    scores = [accuracy(one, share) for share in SHARES]
    ax.plot(SHARES, scores, look, c=colour, label=name)
    print(f"{name:14}", *(f"{score:.3f}" for score in scores))
ax.xaxis.set_major_formatter("{x:.0%}")
ax.set(xlabel="values removed", ylabel="accuracy, 3 x 5-fold")
ax.legend(frameon=False)
plt.show()

# %%
# Unknown bounds
# --------------
# Bounds are NaN if no sample had a value. With 60% removed, some boxes have few bounds:

rng = np.random.default_rng(0)
boxes = model.fit(np.where(rng.random(X.shape) < 0.6, np.nan, X), y).hyperboxes_
known = np.isfinite(boxes.lower).sum(axis=1)
print(f"{len(boxes)} boxes with bounds in {known.min()} to {known.max()} of {X.shape[1]} features")
