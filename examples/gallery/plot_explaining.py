"""
Why this prediction?
====================

Ask a model about one sample: which box decided, which came next, and what would have to change.
"""

# %%
# A doubtful case
# ---------------
# Tumours, benign or malignant, by ten measurements of their cell nuclei. Of those that the model
# gets wrong, take the one it is most sure about.

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
# In words
# --------
# The features are sorted by what they say between the two boxes. A sample is as far from a box as
# it is in the mean of its features, so none decides alone: the star marks the one that counts most.

print(explanations[case])

# %%
# In a picture
# ------------
# Each row is a measurement, the line is the tumour, the bands are the two boxes. It stays within
# the band of the benign box. The bar shows where it misses the malignant one by most: its nuclei
# are small, as those of benign tumours are.

ParallelCoordinatesDisplay.from_estimator(model, X_test.iloc[[case]])
plt.show()

# %%
# Which boxes are to blame?
# -------------------------
# `apply` returns the box that decides for each sample. Boxes that hold few samples are wrong more
# often, but some mistakes are made by boxes that hold many: such a box is no proof that the model
# is right.

counts = model.hyperboxes_.counts[model.apply(X_test)]
right = explanations.predictions == y_test
for name, rows in {"fewer than 20": counts < 20, "20 or more": counts >= 20}.items():
    print(f"boxes of {name:13} samples decide {rows.sum():3} cases, {right[rows].sum():3} right")
