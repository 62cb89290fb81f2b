"""
Boosted boxes
=============

A handful of boxes that vote, and the same boxes as a lens on a forest.
"""

# %%
# Ten boxes
# ---------
# Each box constrains a few features and votes for one class. The votes of the boxes that hold a
# sample, and an intercept, add up to its score.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from hyperboxes import BoostedHyperboxes

data = load_breast_cancer()
X_train, X_test, y_train, y_test = train_test_split(
    data.data, data.target_names[data.target], stratify=data.target, random_state=0
)
model = BoostedHyperboxes(max_boxes=10, random_state=0).fit(X_train, y_train)
print(f"accuracy {model.score(X_test, y_test):.3f}")


def describe(boxes, box):
    """Say the conditions of a box."""
    used = np.flatnonzero(boxes.constrains[box])
    ends = zip(
        data.feature_names[used], boxes.lower[box, used], boxes.upper[box, used], strict=True
    )
    return ", ".join(f"{name} in [{low:.4g}, {high:.4g}]" for name, low, high in ends)


boxes = model.hyperboxes_
for box in np.argsort(-boxes.weights.max(axis=1))[:4]:
    label = boxes.labels[box]
    share = boxes.class_counts[box, label] / boxes.counts[box]
    print(f"+{boxes.weights[box, label]:.1f} for {model.classes_[label]}: {describe(boxes, box)}")
    print(f"     holds {boxes.counts[box]} samples, {share:.0%} {model.classes_[label]}")

# %%
# How many boxes?
# ---------------
# ``staged_predict_proba`` gives the probabilities of models with 1, 2, 3 ... boxes from one fit.

many = BoostedHyperboxes(max_boxes=40, random_state=0).fit(X_train, y_train)
losses = [log_loss(y_test, p, labels=many.classes_) for p in many.staged_predict_proba(X_test)]
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(range(1, len(losses) + 1), losses)
ax.set(xlabel="boxes", ylabel="log-loss on test samples", ylim=(0, None))
plt.show()

# %%
# A lens on a forest
# ------------------
# Fitted to the answers of another model, boxes tell what that model does. A forest repeats the
# labels it was trained on, so take answers for other samples. Fidelity is how often both agree on
# samples that neither was fitted to; boxes fitted to the true labels are there to compare.

agreed = {"answers": [], "true labels": []}
for seed in range(10):
    X_other, X, y_other, y = train_test_split(data.data, data.target, random_state=seed)
    forest = RandomForestClassifier(random_state=0).fit(X[:70], y[:70])
    answers = forest.predict(X_other)
    for name, labels in (("answers", answers), ("true labels", y_other)):
        lens = BoostedHyperboxes(max_boxes=15, random_state=0).fit(X_other[:300], labels[:300])
        agreed[name].append(lens.score(X_other[300:], answers[300:]))
for name, values in agreed.items():
    print(f"fitted to {name}: agrees with the forest in {np.mean(values):.1%}")
