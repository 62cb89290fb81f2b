"""
Why this prediction?
====================

Ask a model about a single sample: which box decided, which came next, and what would have to change.
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
gap = np.ptp(explanations.memberships[wrong], axis=1)
case = int(wrong[gap.argmax()])
print(f"{len(wrong)} of {len(y_test)} are wrong; case {case} is {y_test[case]}")

# %%
# In words
# --------
# The features are sorted by what they say between the two boxes. A sample is as far from a box as
# it is in its worst feature, so one feature decides: that makes explanations short, but it also
# means that many small hints together do not count.

print(explanations[case])

# %%
# In a picture
# ------------
# Each row is a measurement, the line is the tumour. It runs inside the band of the box that wins;
# the bar shows where it misses the other.

ParallelCoordinatesDisplay.from_estimator(model, X_test.iloc[[case]])
plt.show()

# %%
# Which boxes are to blame?
# -------------------------
# All explanations at once are in arrays. Do boxes of few samples err more often?

counts = model.hyperboxes_.counts[explanations.winning]
right = explanations.predictions == y_test
for few, many in [(1, 1), (2, 9), (10, counts.max())]:
    rows = (counts >= few) & (counts <= many)
    print(f"boxes of {few} to {many} samples: {right[rows].mean():.3f} right of {rows.sum()}")
