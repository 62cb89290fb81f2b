"""
Where classes overlap
=====================

Four ways to resolve overlaps between boxes of different classes, and how to find the samples in
them.
"""

# %%
# Two moons
# ---------
# The same 200 samples for all, and sides of at most 0.3 of the range (with ``"compensate"`` on
# average). Areas have the color of the predicted class.

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from hyperboxes import BoxesDisplay
from hyperboxes.literature import MultiGranularGFMM, OverlappingFuzzyMinMax

X, y = make_moons(200, noise=0.18, random_state=0)
resolutions = {
    "exclude": "EIFMM",
    "compensate": "FMCN",
    "core": "DCFMN",
    "levels": "MLF",
}

# %%
# What to see
# -----------
# With ``"exclude"`` the class whose box has more samples gets the whole overlap. With
# ``"compensate"`` boxes stop growing once they overlap, and the nearer face decides. With
# ``"core"`` the nearer mean of the samples decides, and with ``"levels"`` smaller boxes that are
# fitted to the samples in the overlap.

figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained", sharex=True, sharey=True)
for ax, (resolution, name) in zip(axes.flat, resolutions.items(), strict=True):
    model = OverlappingFuzzyMinMax(resolution, 0.3, random_state=0).fit(X, y)
    BoxesDisplay.from_estimator(model, X, y, max_boxes=None, ax=ax)
    n_boxes, n_regions = len(model.hyperboxes_), len(model.regions_)
    ax.set_title(f'"{resolution}" ({name}): {n_boxes} boxes, {n_regions} regions', size="medium")
    ax.get_legend().remove()
plt.show()

# %%
# Samples in an overlap
# ---------------------
# ``in_overlap`` returns which samples lie in an overlap. The model is more accurate on the others,
# as moons with more noise show.

X_noisy, y_noisy = make_moons(200, noise=0.3, random_state=0)
X_new, y_new = make_moons(2000, noise=0.3, random_state=1)
model = OverlappingFuzzyMinMax("exclude", 0.3, random_state=0).fit(X_noisy, y_noisy)
in_doubt = model.in_overlap(X_new)
print(f"{in_doubt.mean():.0%} of the samples lie in a region.")
print(f"Accuracy there {model.score(X_new[in_doubt], y_new[in_doubt]):.3f}, ", end="")
print(f"elsewhere {model.score(X_new[~in_doubt], y_new[~in_doubt]):.3f}.")

# %%
# Levels of boxes
# ---------------
# ``MultiGranularGFMM`` joins small boxes to larger ones, level by level, without overlaps. One fit
# gives a model of each size.

X_new, y_new = make_moons(2000, noise=0.18, random_state=1)
granular = MultiGranularGFMM([0.1, 0.2, 0.4], random_state=0).fit(X, y)
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained", sharey=True)
for ax, level in zip(axes, granular.levels_, strict=True):
    BoxesDisplay.from_estimator(level, X, y, max_boxes=None, ax=ax)
    accuracy = level.score(X_new, y_new)
    ax.set_title(f"theta {level.theta}: {len(level.hyperboxes_)} boxes, accuracy {accuracy:.3f}")
    ax.get_legend().remove()
plt.show()
granular.set_params(level=None).fit(X, y)
print(f"All three vote: accuracy {granular.score(X_new, y_new):.3f}")
