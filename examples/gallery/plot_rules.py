"""
Reading the rules
=================

A model is a list of rules. Read them as text, filter them as a table, and run them in a database.
"""

# %%
# A model to read
# ---------------
# Four measurements of cell nuclei, benign or malignant. To read a model, use few features and large
# boxes.

import sqlite3

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from hyperboxes import AgglomerativeGFMM, export_frame, export_sql, export_text

data = load_breast_cancer(as_frame=True)
X = data.data[["worst radius", "worst texture", "worst smoothness", "worst concave points"]]
y = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = AgglomerativeGFMM(theta=0.7, decision="nearest").fit(X_train, y_train)
print(f"{len(model.hyperboxes_)} boxes, accuracy {model.score(X_test, y_test):.3f}")

# %%
# As text
# -------
# The boxes with the most samples come first. With test samples, rules also have coverage and
# precision.

print(export_text(model, X_test, y_test, max_rules=3))

# %%
# How many rules matter?
# ----------------------
# Each dot is a box. A third of the boxes contain most of the samples; the small ones are
# exceptions.

boxes = model.hyperboxes_
sides = (boxes.upper - boxes.lower) / (model.data_max_ - model.data_min_)
figure, ax = plt.subplots(layout="constrained")
ax.scatter(sides.max(axis=1), boxes.counts, c=boxes.labels, alpha=0.6)
ax.set(xlabel="longest side / range", ylabel="samples in the box", yscale="log")
plt.show()

# %%
# As a table
# ----------
# ``export_frame`` returns a DataFrame with the exact bounds. Which rules are wrong on test samples?

frame = export_frame(model, X_test, y_test)
print(frame.loc[frame["precision"] < 1, ["class", "support", "coverage", "precision"]])

# %%
# In a database
# -------------
# ``export_sql`` writes a query that returns what ``predict`` returns for every row. Here SQLite
# runs it. With ``nearest=False`` it contains only the rules, for any database, and returns NULL
# where no box contains the row:

connection = sqlite3.connect(":memory:")
X_test.to_sql("nuclei", connection, index=False)
predicted = model.predict(X_test)
for nearest in (True, False):
    answers = connection.execute(export_sql(model, table="nuclei", nearest=nearest)).fetchall()
    found = [(row[-1], label) for row, label in zip(answers, predicted, strict=True) if row[-1]]
    agree = sum(answer == label for answer, label in found)
    print(f"{len(found)} of {len(X_test)} rows answered, {agree} of them as the model predicts")
connection.close()
