"""
Ensembles
=========

Random hyperboxes: importances, explanations, and scikit-learn's own ensembles of our estimators.
"""

# %%
# Random hyperboxes
# -----------------
# Each member is fitted to random samples and features. Its predictions of the samples that it did
# not draw give the out-of-bag accuracy, without a test set.

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
# Explain a prediction
# --------------------
# The sample with the least certain prediction: how much farther the other class is because of each
# feature, and the boxes with the largest shares of the votes.

least_certain = model.predict_proba(X_test).max(axis=1).argmin()
print(explain(model, X_test[least_certain : least_certain + 1])[0])

# %%
# scikit-learn's ensembles
# ------------------------
# scikit-learn's ensembles take all estimators of this package: one estimator on several draws,
# several estimators that vote, or a model fitted to their predictions.

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
