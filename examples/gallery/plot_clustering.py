"""
Clusters of boxes
=================

Boxes without labels, joined where they are near each other: clusters of any shape, readable as
rules.
"""

# %%
# Two moons
# ---------
# Two half moons and some noise. The number of clusters is not given. Boxes of fewer than
# ``min_samples`` samples form no cluster; those far from all clusters are noise, in grey. ``theta``
# was chosen for these moons.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import adjusted_rand_score

from hyperboxes import BoxesDisplay, HyperboxClustering, export_text

moons, _ = make_moons(400, noise=0.06, random_state=0)
X = np.vstack([moons, np.random.default_rng(0).uniform([-1.5, -1], [2.5, 1.5], (30, 2))])
shapes = HyperboxClustering(theta=0.1, min_samples=4).fit(X)
print(f"{shapes.n_clusters_} clusters, {(shapes.labels_ < 0).sum()} samples are noise")

# %%
# Iris
# ----
# The petals of 150 irises of three species form two clusters: setosa, and the two other species,
# between which there is no gap.

iris = load_iris(as_frame=True)
petals = iris.data[["petal length (cm)", "petal width (cm)"]]
flowers = HyperboxClustering(theta=0.2).fit(petals)
rand = adjusted_rand_score(iris.target, flowers.labels_)
print(f"{flowers.n_clusters_} clusters; adjusted Rand index with the species {rand:.2f}")

# %%
# Plot
# ----

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, model, data in [(axes[0], shapes, X), (axes[1], flowers, petals)]:
    BoxesDisplay.from_estimator(model, data, model.labels_, max_boxes=None, ax=ax, regions=False)
plt.show()

# %%
# Rules of clusters
# -----------------
# Each box describes its samples, in centimetres:

print(export_text(flowers, max_rules=4))

# %%
# Update
# ------
# ``predict`` assigns new flowers, and ``partial_fit`` learns them. New boxes may close the gap
# between two clusters, as two flowers do here:

between = petals.iloc[:2].assign(**{"petal length (cm)": [2.3, 2.7], "petal width (cm)": 0.8})
print("assigned to", flowers.predict(between))
print("clusters after learning them:", flowers.partial_fit(between).n_clusters_)

# %%
# Raise ``min_samples`` to keep single samples from joining clusters.
