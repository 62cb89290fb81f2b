"""
The first hour with a table
===========================

Loans with dates, text, Booleans, numbers and gaps: from the table to rules and a decision.
"""

# %%
# A table
# -------
# Generated loans. They default more often after late payments, without work, and if opened in 2023.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import classification_report, roc_auc_score
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline

import hyperboxes
from hyperboxes import BoostedHyperboxes, DateFeatures, RulesDisplay

random, n = np.random.default_rng(0), 3000
opened = pd.Timestamp("2021-01-01") + pd.to_timedelta(random.integers(0, 1461, n), unit="D")
loans = pd.DataFrame(
    {
        "id": np.arange(n) + 10001,
        "opened": opened.strftime("%Y-%m-%d"),
        "region": random.choice(["north", "south", "west"], n),
        "product": random.choice(["car", "home", "card"], n),
        "work": random.choice(["employed", "own firm", "none"], n, p=[0.7, 0.2, 0.1]),
        "owns_home": random.random(n) < 0.5,
        "age": random.integers(19, 75, n),
        "income": np.exp(random.normal(10.4, 0.5, n)).round(),
        "amount": np.exp(random.normal(9, 0.7, n)).round(-2),
        "late_payments": random.poisson(0.6, n),
    }
)
risk = loans["late_payments"] + 1.5 * (loans["work"] == "none") + (opened.year == 2023)
risk += loans["amount"] / loans["income"] > 0.5
outcome = np.where(random.random(n) < 1 / (1 + np.exp(3 - 1.2 * risk)), "default", "repaid")
for column in ("work", "age", "income", "late_payments"):
    loans.loc[random.random(n) < 0.05, column] = None
train, test, y, y_test = loans[:2000], loans[2000:], outcome[:2000], outcome[2000:]
print(test.head(3).T)

# %%
# A model
# -------
# The ``id`` is left out, because models would learn it by heart; in a terminal, ``hyperboxes fit``
# warns of such columns. `DateFeatures` makes numbers of dates. The rest stays as it is.

features = [name for name in loans if name != "id"]
model = make_pipeline(DateFeatures(), BoostedHyperboxes(12, random_state=0))
model.fit(train[features], y)
print(f"AUC {roc_auc_score(y_test == 'repaid', model.predict_proba(test[features])[:, 1]):.3f}")
print(hyperboxes.export_text(model, max_rules=4))

# %%
# The most important rules as rows: where a bar is, the condition holds.

RulesDisplay.from_estimator(model, max_rules=6)
plt.show()

# %%
# A decision
# ----------
# The largest probability finds few defaults. scikit-learn chooses the threshold with the best
# balanced accuracy. Explanations include it, and `save` stores it.

decided = TunedThresholdClassifierCV(model).fit(train[features], y)
for name, one in {"largest probability": model, "threshold": decided}.items():
    print(name, classification_report(y_test, one.predict(test[features])), sep="\n")
print(hyperboxes.explain(decided, test[features].iloc[2]))

# %%
# A page
# ------
# One file, with scores, rules and explained rows: ``export_html(..., path="report.html")``.

page = hyperboxes.export_html(decided, test[features], pd.Series(y_test, name="outcome"))
print(f"{len(page) / 1e6:.1f} MB")
