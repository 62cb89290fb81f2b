"""
A first model
=============

Train a classifier on the iris flowers, see how good it is, and look at what it has learned: boxes.
"""

# %%
# The data
# --------
# 150 flowers of three species, with four measurements each. A data frame is best: the model then
# knows the names of the features. Nothing needs to be scaled; the learners do that by themselves,
# and show everything in the units of the data.

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

from hyperboxes import BoxesDisplay, ImprovedOnlineGFMM

iris = load_iris(as_frame=True)
species = iris.target_names[iris.target]
X_train, X_test, y_train, y_test = train_test_split(
    iris.data, species, stratify=species, random_state=0
)

# %%
# Learning
# --------
# Each sample is taken in by the nearest box of its class that can grow to hold it. `theta` says how
# long a side may become, as a share of the feature's range: small for many precise boxes, large for
# few simple ones.

model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X_train, y_train)
print(f"{len(model.hyperboxes_)} boxes, accuracy {model.score(X_test, y_test):.3f}")

# %%
# The picture
# -----------
# Boxes have a side for each of four measurements, of which two are drawn, with the flowers the
# model has not seen. The tint is what it says where it knows these two measurements only. Setosa
# is far away from the others. Versicolor and virginica meet, so boxes are small there. They seem
# to overlap because the picture leaves two measurements out; in all four no boxes of two species
# share a point.

BoxesDisplay.from_estimator(
    model, X_test, y_test, features=["petal length (cm)", "petal width (cm)"]
)
plt.show()

# %%
# How sure is it?
# ---------------
# Membership is 1 where a box of the class holds the sample, and falls off with the distance from
# the nearest. These are the flowers for which the two best species are closest to each other:

memberships = model.membership(X_test)
best = memberships.copy()
best.sort(axis=1)
for row in (best[:, -1] - best[:, -2]).argsort()[:4]:
    found = ", ".join(
        f"{name} {share:.2f}" for name, share in zip(model.classes_, memberships[row], strict=True)
    )
    print(f"{y_test[row]:10}  {found}")

# %%
# Every box holds samples as they came: another order of the training samples gives other boxes. If
# that matters, see :class:`~hyperboxes.AgglomerativeGFMM`, which merges the closest first.
