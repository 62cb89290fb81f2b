"""
Ensembles
=========

Many models that vote: random hyperboxes, what they find important, and why they decide as they do;
then scikit-learn's own ways to combine models, with the learners of this package in them.
"""

# %%
# Random hyperboxes
# -----------------
# Each member learns boxes from random samples and features. What members say of samples that they
# had not drawn tells how good the whole is, without a test set.

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    BaggingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from hyperboxes import (
    AgglomerativeGFMM,
    BoostedHyperboxes,
    ImprovedOnlineGFMM,
    RandomHyperboxes,
    explain,
)

data = load_breast_cancer(as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    data.data, data.target_names[data.target], stratify=data.target, random_state=0
)
model = RandomHyperboxes(random_state=0).fit(X_train, y_train)
print(f"out of bag {model.oob_score_:.3f}, test samples {model.score(X_test, y_test):.3f}")
importances = pd.Series(model.feature_importances_, X_train.columns)
figure, ax = plt.subplots(layout="constrained")
importances.nlargest(10)[::-1].plot.barh(ax=ax, xlabel="importance")
plt.show()

# %%
# Why this prediction?
# --------------------
# The sample about which it is least certain: how much farther the other class is because of each
# feature, and the boxes that spoke the loudest.

least_certain = model.predict_proba(X_test).max(axis=1).argmin()
print(explain(model, X_test[least_certain : least_certain + 1])[0])

# %%
# Scikit-learn's ensembles
# ------------------------
# Learners are scikit-learn's estimators, so its ensembles take them: the same learner on several
# draws, several learners that vote, or a model that learns from what they say.

single = AgglomerativeGFMM()
learners = [
    ("boxes", single),
    ("rules", BoostedHyperboxes(random_state=0)),
    ("forest", RandomForestClassifier(random_state=0)),
]
contenders = {
    "one model": single,
    "bagging": BaggingClassifier(ImprovedOnlineGFMM(0.1), 20, random_state=0),
    "voting": VotingClassifier(learners, voting="soft"),
    "stacking": StackingClassifier(learners, LogisticRegression()),
    "random hyperboxes": model,
}
for name, contender in contenders.items():
    contender.fit(X_train, y_train)
    loss = log_loss(y_test, contender.predict_proba(X_test))
    print(f"{name:20} accuracy {contender.score(X_test, y_test):.3f}  log-loss {loss:.3f}")
