"""
Clusters of boxes
=================

Boxes learned without labels, joined where they lie near each other: clusters of any shape,
which can be read as rules.
"""

# %%
# Shapes
# ------
# Two half moons, and some noise. The number of clusters is not given. Boxes of fewer than
# `min_samples` samples make no cluster; where they are near none, they are noise, in grey. `theta`
# was chosen for these moons: with 0.08 the end of one falls off. There is no telling without
# looking.

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
# Flowers
# -------
# The petals of 150 irises of three species. There are two clusters to be found: one of them is
# setosa, the other both of the other species, between which there is no gap. That is what clusters
# without labels are: what the data part, not what botanists part.

iris = load_iris(as_frame=True)
petals = iris.data[["petal length (cm)", "petal width (cm)"]]
flowers = HyperboxClustering(theta=0.2).fit(petals)
rand = adjusted_rand_score(iris.target, flowers.labels_)
print(f"{flowers.n_clusters_} clusters; adjusted Rand index with the species {rand:.2f}")

# %%
# The pictures
# ------------

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, model, data in [(axes[0], shapes, X), (axes[1], flowers, petals)]:
    BoxesDisplay.from_estimator(model, data, model.labels_, max_boxes=None, ax=ax, regions=False)
plt.show()

# %%
# The same as rules
# -----------------
# Other methods give numbers of clusters. Here each box says what its samples are like, in
# centimetres:

print(export_text(flowers, max_rules=4))

# %%
# It goes on
# ----------
# New flowers are assigned with ``predict``, and learned with ``partial_fit``; clusters are joined
# where new boxes close the gap. Two flowers between the clusters do that:

between = petals.iloc[:2].assign(**{"petal length (cm)": [2.3, 2.7], "petal width (cm)": 0.8})
print("assigned to", flowers.predict(between))
print("clusters after learning them:", flowers.partial_fit(between).n_clusters_)

# %%
# If single samples must not join clusters, raise ``min_samples``.
