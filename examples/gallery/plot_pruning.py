"""
Pruning
=======

Wrong labels leave boxes that do harm. Validation samples find them.
"""

# %%
# Tumours with wrong labels
# -------------------------
# One label in ten is wrong, in training and validation samples; the test samples are right.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from hyperboxes import ImprovedOnlineGFMM, prune

X, y = load_breast_cancer(return_X_y=True)


def learn(seed):
    """Return a model of all training samples, one of 60 %, and that pruned with the others."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=seed)
    is_wrong = np.random.default_rng(seed).random(len(y_train)) < 0.1
    y_train = np.where(is_wrong, 1 - y_train, y_train)
    X_fit, X_val, y_fit, y_val = train_test_split(
        X_train, y_train, test_size=0.4, random_state=seed
    )
    full = ImprovedOnlineGFMM(theta=0.5, random_state=0).fit(X_train, y_train)
    model = ImprovedOnlineGFMM(theta=0.5, random_state=0).fit(X_fit, y_fit)
    models = {"all samples": full, "60 % of them": model, "pruned": prune(model, X_val, y_val)}
    return models, X_test, y_test


# %%
# Drop boxes
# ----------
# ``prune`` drops boxes without which more validation samples are right, and then boxes that decide
# none of them:

print(learn(0)[0]["pruned"].pruning_)

# %%
# What to see
# -----------
# The fair comparison is a model that is fitted to all samples, those for validation included.
# Pruning regains about half of what they are worth, with about a quarter of the boxes. Each dot is
# one of 20 splits.
#
# With right labels there is no accuracy to gain. If validation samples are few, pass
# ``keep_unused=True``.

found = {"accuracy on right labels": {}, "boxes": {}}
for seed in range(20):
    models, X_test, y_test = learn(seed)
    for name, model in models.items():
        values = model.score(X_test, y_test), len(model.hyperboxes_)
        for what, value in zip(found.values(), values, strict=True):
            what.setdefault(name, []).append(value)
figure, axes = plt.subplots(1, 2, figsize=(9, 2.6), layout="constrained", sharey=True)
for ax, (title, values) in zip(axes, found.items(), strict=True):
    for place, (name, dots) in enumerate(values.items()):
        ax.plot(dots, np.full(len(dots), place), "o", c="#0072B2", alpha=0.3, mew=0)
        ax.plot(np.mean(dots), place, "|", c="#D55E00", ms=24, mew=3)
        print(f"{title}, {name}: {np.mean(dots):.3g}")
    ax.set(xlabel=f"{title} (bar: mean)", yticks=range(len(values)), yticklabels=values)
axes[0].set(ylim=(2.5, -0.5))
plt.show()
