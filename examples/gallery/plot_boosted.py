"""
Boosted boxes
=============

Ten short rules whose weights add up: read them, explain a prediction, and choose how many rules
to use.
"""

# %%
# Ten boxes
# ---------
# Each box has conditions on a few features and a weight for a class. The weights of the boxes that
# contain a sample, and an intercept, add up to its score.

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from hyperboxes import BoostedHyperboxes, BoxesDisplay, ContributionsDisplay, explain, export_text

data = load_breast_cancer(as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    data.data, data.target_names[data.target], stratify=data.target, random_state=0
)
model = BoostedHyperboxes(max_boxes=10, random_state=0).fit(X_train, y_train)
print(f"accuracy {model.score(X_test, y_test):.3f}\n")
print(export_text(model, max_rules=4))

# %%
# Explain a prediction
# --------------------
# The sample with the least certain prediction: what each box adds, and a small change that leads to
# the other class.

least_certain = abs(model.decision_function(X_test)).argmin()
sample = X_test[least_certain : least_certain + 1]
print(explain(model, sample)[0])
ContributionsDisplay.from_estimator(model, sample)
plt.show()

# The boxes in the two most important features, in a cut through this sample, and the probabilities
# of their sum.

BoxesDisplay.from_estimator(model, X_test, y_test, at=sample)
importances = pd.Series(model.feature_importances_, X_train.columns)
figure, ax = plt.subplots(layout="constrained")
importances.nlargest(10)[::-1].plot.barh(ax=ax, xlabel="importance")
plt.show()

# %%
# How many boxes?
# ---------------
# ``staged_predict_proba`` returns the probabilities of models with 1, 2, 3 ... boxes from one fit.

many = BoostedHyperboxes(max_boxes=40, random_state=0).fit(X_train, y_train)
losses = [log_loss(y_test, p, labels=many.classes_) for p in many.staged_predict_proba(X_test)]
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(range(1, len(losses) + 1), losses)
ax.set(xlabel="boxes", ylabel="log-loss on test samples", ylim=(0, None))
plt.show()
