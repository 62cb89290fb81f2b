"""
Why this prediction?
====================

Explain one prediction: the box that decided, the nearest box of the other class, and a small
change that would lead to it.
"""

# %%
# A wrong prediction
# ------------------
# Tumours, benign or malignant, with ten measurements of their cell nuclei. We take the wrong
# prediction with the largest probability.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from hyperboxes import AgglomerativeGFMM, ParallelCoordinatesDisplay, explain

data = load_breast_cancer(as_frame=True)
X, y = data.data.iloc[:, 20:], data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = AgglomerativeGFMM().fit(X_train, y_train)
explanations = explain(model, X_test)
wrong = np.flatnonzero(explanations.predictions != y_test)
gap = np.ptp([explanations[case].scores for case in wrong], axis=1)
case = int(wrong[gap.argmax()])
print(f"{len(wrong)} of {len(y_test)} are wrong; case {case} is {y_test[case]}")

# %%
# As text
# -------
# The features are sorted by how much they separate the two boxes. The distance from a box is the
# mean over the features, so no feature decides alone: the star marks the one that counts most.

print(explanations[case])

# %%
# As a plot
# ---------
# Each row is a measurement, the line is the tumour, the bands are the two boxes. The bar marks
# where the tumour is farthest outside of the malignant box.

ParallelCoordinatesDisplay.from_estimator(model, X_test.iloc[[case]])
plt.show()

# %%
# Which boxes make mistakes?
# --------------------------
# ``apply`` returns the box that decides for each sample. Boxes with few samples are wrong more
# often, but some boxes with many samples are wrong, too.

counts = model.hyperboxes_.counts[model.apply(X_test)]
right = explanations.predictions == y_test
for name, rows in {"fewer than 20": counts < 20, "20 or more": counts >= 20}.items():
    print(f"boxes of {name:13} samples decide {rows.sum():3} cases, {right[rows].sum():3} right")
