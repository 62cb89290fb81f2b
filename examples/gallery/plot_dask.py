"""
Learning in partitions
======================

Data that need not fit into memory are learned in partitions with Dask, and the models are merged.
"""

# %%
# Partitions
# ----------
# 200,000 points of two interleaved classes as a Dask array in eight partitions. They could as well
# be files on many machines; with a ``distributed.Client`` its workers would learn them.

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
# Each partition is learned apart, by a copy that knows the ranges and classes of all; then boxes
# are merged in a tree. What comes back is the estimator, fitted: it needs Dask no more.

theta = 0.3
merged = hyperboxes.dask.fit(ImprovedOnlineGFMM(theta, random_state=0), samples, labels)
print(merged.hyperboxes_)

# %%
# Answers come in partitions, too, when they are asked for.

predicted = hyperboxes.dask.predict(merged, samples)
print(predicted)
print(f"right on the training samples: {float((predicted == labels).mean().compute()):.3f}")

# %%
# What to see
# -----------
# The largest boxes of a model of the first partition, of all partitions merged, and of everything
# learned at once.

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
