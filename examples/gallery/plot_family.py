"""
The family, side by side
========================

Simpson's fuzzy min-max network, its successors, and GFMM: the boxes of each on the same data.
"""

# %%
# Two moons
# ---------
# All networks get the same 200 samples in the same order, and sides of at most 0.3 of the range
# (FMNN and FMCN: on average). Areas have the color of the predicted class.

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs, make_moons

from hyperboxes import (
    AgglomerativeGFMM,
    BoxesDisplay,
    HyperboxClustering,
    ImprovedOnlineGFMM,
    OnlineGFMM,
)
from hyperboxes.literature import (
    FuzzyMinMax,
    FuzzyMinMaxClustering,
    MultiGranularGFMM,
    OverlappingFuzzyMinMax,
)

X, y = make_moons(200, noise=0.18, random_state=0)
learners = {
    "FMNN (1992)": FuzzyMinMax("fmnn", 0.3, random_state=0),
    "EFMNN (2015)": FuzzyMinMax("efmnn", 0.3, random_state=0),
    "KNEFMNN (2017)": FuzzyMinMax("knefmnn", 0.3, random_state=0),
    "RFMNN (2020)": FuzzyMinMax("rfmnn", 0.3, random_state=0),
    "Onln-GFMM (2000)": OnlineGFMM(0.3, random_state=0),
    "IOL-GFMM (2020)": ImprovedOnlineGFMM(0.3, random_state=0),
    "AGGLO-SM (2002)": AgglomerativeGFMM(0.3),
    "two-phase (2021)": MultiGranularGFMM((0.1, 0.2, 0.3), random_state=0),
    "EIFMM (2004)": OverlappingFuzzyMinMax("exclude", 0.3, random_state=0),
    "FMCN (2007)": OverlappingFuzzyMinMax("compensate", 0.3, random_state=0),
    "DCFMN (2011)": OverlappingFuzzyMinMax("core", 0.3, random_state=0),
    "MLF (2014)": OverlappingFuzzyMinMax("levels", 0.3, random_state=0),
}

# %%
# What to see
# -----------
# FMNN, EFMNN, KNEFMNN and Onln-GFMM contract boxes where classes meet, so samples may end up
# outside of their boxes. RFMNN tries only the nearest box and splits boxes around samples of the
# other class, which leaves many small ones. IOL-GFMM and AGGLO-SM never contract: boxes stop
# growing before they meet. The two-phase network joins small boxes level by level; the picture
# shows its coarsest level. EIFMM, FMCN, DCFMN and MLF let boxes overlap and resolve the overlaps in
# prediction.

figure, axes = plt.subplots(3, 4, figsize=(12, 9), layout="constrained", sharex=True, sharey=True)
for ax, (name, learner) in zip(axes.flat, learners.items(), strict=True):
    learner.fit(X, y)
    BoxesDisplay.from_estimator(learner, X, y, max_boxes=None, ax=ax)
    ax.set_title(f"{name}: {len(learner.hyperboxes_)} boxes", size="medium")
    ax.get_legend().remove()
    print(f"{name:17} {len(learner.hyperboxes_):3} boxes, {learner.score(X, y):.3f} on its samples")
plt.show()

# %%
# Clusters
# --------
# Simpson's clustering contracts every box against all others until none changes, and each box is a
# cluster, so ``theta`` must match the size of the clusters. ``HyperboxClustering`` joins small
# boxes that are near each other.

X, _ = make_blobs(200, centers=3, random_state=4)
clusterings = {
    "Simpson (1993)": FuzzyMinMaxClustering(0.5),
    "HyperboxClustering": HyperboxClustering(0.1, max_gap=0.1),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharex=True, sharey=True)
for ax, (name, learner) in zip(axes, clusterings.items(), strict=True):
    learner.fit(X)
    BoxesDisplay.from_estimator(learner, X, max_boxes=None, ax=ax)
    ax.set_title(f"{name}: {learner.n_clusters_} clusters", size="medium")
plt.show()
