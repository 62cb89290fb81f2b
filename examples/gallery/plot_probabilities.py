"""
Probabilities that hold
=======================

Of the samples with a predicted probability of 0.8, about 80% should be of that class.
"""

# %%
# Memberships and probabilities
# -----------------------------
# A membership measures how near a box is. Most samples are near boxes of several classes, so
# normalised memberships are close to each other. ``predict_proba`` is calibrated on held-out
# samples.

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
# Smaller is better; that of a coin is 0.69.

print(f"{log_loss(y_test, normalised):.3f}  memberships of ImprovedOnlineGFMM, normalised")
for name, model in models.items():
    print(f"{log_loss(y_test, model.predict_proba(X_test)):.3f}  {name}")

# %%
# What to see
# -----------
# Left: how often the samples with a predicted probability are of the class; on the dotted line both
# are equal. The forest is underconfident. Right: the distribution of the probabilities.

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
right.set(xlabel="probability of class 1", ylabel="test samples", title="Predicted probabilities")
right.legend(frameon=False, loc="upper left")
plt.show()
