"""
Pruning
=======

Wrong labels leave boxes that do harm. Samples that were not trained on find them.
"""

# %%
# Digits with wrong labels
# ------------------------
# One label in ten is replaced by a random digit, in training and validation samples; the test
# samples are right. Boxes learn what they are told, and a box around a wrong sample stays.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hyperboxes import ImprovedOnlineGFMM, prune

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
rng = np.random.default_rng(0)
is_wrong = rng.random(len(y_train)) < 0.1
y_train = np.where(is_wrong, rng.integers(0, 10, len(y_train)), y_train)
X_fit, X_val, y_fit, y_val = train_test_split(X_train, y_train, test_size=0.4, random_state=0)

# %%
# Dropping boxes
# --------------
# ``prune`` drops boxes without which more validation samples are right, and then those that have
# no say in any of them. The model says what happened to it:

model = ImprovedOnlineGFMM(theta=0.3).fit(X_fit, y_fit)
careful = prune(model, X_val, y_val, keep_unused=True)
pruned = prune(model, X_val, y_val)
print(pruned.pruning_)

# %%
# What to see
# -----------
# Validation samples are missing in training, so compare with a model that learned from all of them.
# Pruned models are better than that one, with far fewer boxes.
#
# With right labels there is little to gain, and where validation samples are few, boxes that seem
# to do nothing are needed after all: then pass ``keep_unused=True``. A larger ``theta`` is the
# other way to stand wrong labels.

models = {
    "all samples": ImprovedOnlineGFMM(theta=0.3).fit(X_train, y_train),
    "60 % of them": model,
    "harmful dropped": careful,
    "unused dropped, too": pruned,
}
figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", sharey=True)
colours = ["#8C8C8C", "#8C8C8C", "#56B4E9", "#0072B2"]
scores = [model.score(X_test, y_test) for model in models.values()]
sizes = [len(model.hyperboxes_) for model in models.values()]
for ax, values, form in zip(axes, [scores, sizes], ["{:.3f}", "{}"], strict=True):
    bars = ax.barh(list(models), values, color=colours)
    ax.bar_label(bars, [form.format(value) for value in values], padding=3)
    ax.margins(x=0.15)
axes[0].invert_yaxis()
axes[0].set(xlabel="accuracy on right labels", xlim=(0.8, 1))
axes[1].set(xlabel="boxes")
plt.show()
