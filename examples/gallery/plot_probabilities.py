"""
Probabilities that hold
=======================

Of samples that a model gives a probability of 0.8, about 80 % should be of that class.
"""

# %%
# Memberships and probabilities
# -----------------------------
# A membership says how near a box is. Most samples are near boxes of several classes, so the
# memberships are close to each other: normalised, they say that nearly nothing is known.
# ``predict_proba`` has learned what they stand for, from samples that were left out.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM

X, y = make_classification(4000, 10, n_informative=6, flip_y=0.1, class_sep=0.8, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
models = {
    "ImprovedOnlineGFMM": ImprovedOnlineGFMM(random_state=0),
    "AgglomerativeGFMM": AgglomerativeGFMM(),
    "random forest": RandomForestClassifier(random_state=0),
}
for model in models.values():
    model.fit(X_train, y_train)
memberships = models["ImprovedOnlineGFMM"].membership(X_test)
normalised = memberships / memberships.sum(axis=1, keepdims=True)

# %%
# Log-loss
# --------
# The smaller, the better; 0.69 is that of a coin.

print(f"{log_loss(y_test, normalised):.3f}  memberships of ImprovedOnlineGFMM, normalised")
for name, model in models.items():
    print(f"{log_loss(y_test, model.predict_proba(X_test)):.3f}  {name}")

# %%
# What to see
# -----------
# Left: how many of the samples that are given a probability are of the class. On the dotted line
# what is said is what happens. The forest is too careful: it lies below the line on the left and
# above it on the right. Right: how probabilities are spread. Normalised memberships say nothing.

looks = [("o", "#0072B2"), ("s", "#D55E00"), ("^", "#009E73")]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for (name, model), (marker, colour) in zip(models.items(), looks, strict=True):
    look = {"marker": marker, "color": colour}
    CalibrationDisplay.from_estimator(
        model, X_test, y_test, n_bins=10, strategy="quantile", name=name, ax=left, **look
    )
left.set(xlabel="probability of class 1", ylabel="share of class 1", title="Reliability")
left.legend(frameon=False, loc="upper left")
shown = {"memberships, normalised": normalised[:, 1]}
shown["ImprovedOnlineGFMM"] = models["ImprovedOnlineGFMM"].predict_proba(X_test)[:, 1]
for (name, p), colour in zip(shown.items(), ("#999999", "#0072B2"), strict=True):
    right.hist(p, np.linspace(0, 1, 41), color=colour, alpha=0.7, label=name)
right.set(xlabel="probability of class 1", ylabel="test samples", title="What is said")
right.legend(frameon=False, loc="upper left")
plt.show()
