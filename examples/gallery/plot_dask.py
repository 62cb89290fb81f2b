"""
Distributed training
====================

Fit data larger than memory in partitions with Dask, and merge the models.
"""

# %%
# Partitions
# ----------
# 200,000 points of two interleaved classes as a Dask array in eight partitions. They could also be
# files on many machines, for the workers of a ``distributed.Client``.

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import hyperboxes.dask
from hyperboxes import BoxesDisplay, ImprovedOnlineGFMM

N_PARTITIONS = 8
X, y = make_moons(200_000, noise=0.15, random_state=0)
X_test, y_test = make_moons(20_000, noise=0.15, random_state=1)
rows = len(y) // N_PARTITIONS
samples, labels = da.from_array(X, chunks=(rows, 2)), da.from_array(y, chunks=rows)
print(samples)

# %%
# One model
# ---------
# A copy of the estimator with the ranges and classes of all data is fitted to each partition; then
# the boxes are merged in a tree. The result is the fitted estimator, which no longer needs Dask.

theta = 0.3
merged = hyperboxes.dask.fit(ImprovedOnlineGFMM(theta, random_state=0), samples, labels)
print(merged.hyperboxes_)

# %%
# Predictions are also made by partition, when they are computed.

predicted = hyperboxes.dask.predict(merged, samples)
print(predicted)
print(f"right on the training samples: {float((predicted == labels).mean().compute()):.3f}")

# %%
# What to see
# -----------
# The largest boxes of a model of the first partition, of all partitions merged, and of all data in
# one process.

models = {
    "one partition": ImprovedOnlineGFMM(theta, random_state=0).fit(X[:rows], y[:rows]),
    "eight, merged": merged,
    "all at once": ImprovedOnlineGFMM(theta, random_state=0).fit(X, y),
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    largest = np.argsort(-model.hyperboxes_.counts)[:60]
    BoxesDisplay.from_estimator(model, boxes=largest, ax=ax, legend=False)
    score = model.score(X_test, y_test)
    ax.set_title(f"{name}: {score:.3f}\n{len(model.hyperboxes_):,} boxes", size="medium")
    ax.label_outer()
plt.show()
