"""
A first model
=============

Fit a classifier to the iris flowers, score it, and look at its boxes.
"""

# %%
# The data
# --------
# 150 flowers of three species, with four measurements each. With a DataFrame, the model stores the
# names of the features. You do not need to scale the data.

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
# Fit
# ---
# The nearest box of the class that can expand absorbs a sample. ``theta`` is the maximum side
# length as a fraction of the feature's range: small for many precise boxes, large for few simple
# ones.

model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X_train, y_train)
print(f"{len(model.hyperboxes_)} boxes, accuracy {model.score(X_test, y_test):.3f}")

# %%
# Plot
# ----
# Boxes have a side for each of four measurements. Two are drawn, with the flowers of the test set.
# The tint is the prediction from these two measurements only. Setosa is far away from the others.
# Versicolor and virginica meet, so boxes are small there. Boxes of two species seem to overlap
# because two measurements are missing in the picture; in all four they share no point.

BoxesDisplay.from_estimator(
    model, X_test, y_test, features=["petal length (cm)", "petal width (cm)"]
)
plt.show()

# %%
# Membership
# ----------
# Membership is 1 if a box of the class contains the sample, and decreases with the distance from
# the nearest box. These are the flowers whose two best species are closest to each other:

memberships = model.membership(X_test)
best = memberships.copy()
best.sort(axis=1)
for row in (best[:, -1] - best[:, -2]).argsort()[:4]:
    found = ", ".join(
        f"{name} {share:.2f}" for name, share in zip(model.classes_, memberships[row], strict=True)
    )
    print(f"{y_test[row]:10}  {found}")

# %%
# Another order of the training samples gives other boxes. If that matters, use
# :class:`~hyperboxes.AgglomerativeGFMM`, which merges the closest boxes first.
