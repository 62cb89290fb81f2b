"""Draw the image of docs/clustering.md: clusters of boxes, KMeans and HDBSCAN.

The shapes are those of scikit-learn's comparison of clustering algorithms.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from hyperboxes import HyperboxClustering

# Distinct for any kind of colour vision; noise is grey.
COLOURS = np.array(["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#BBBBBB"])
N_SAMPLES = 1000


def shapes() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return samples and their true clusters."""
    blobs = make_blobs(N_SAMPLES, random_state=170)
    return {
        "circles": make_circles(N_SAMPLES, factor=0.5, noise=0.05, random_state=30),
        "moons": make_moons(N_SAMPLES, noise=0.05, random_state=30),
        "densities": make_blobs(N_SAMPLES, cluster_std=[1.0, 2.5, 0.5], random_state=170),
        "slanted": (blobs[0] @ [[0.6, -0.6], [-0.4, 0.8]], blobs[1]),
        "blobs": make_blobs(N_SAMPLES, random_state=30),
    }


def draw(ax: Axes, X: np.ndarray, y: np.ndarray, labels: np.ndarray) -> None:
    """Draw samples in the colours of their clusters, and how well these are met."""
    colours = COLOURS[np.where(labels < 0, -1, labels % (len(COLOURS) - 1))]
    ax.scatter(*X.T, s=2, c=colours, linewidths=0)
    ax.set(xticks=[], yticks=[], xlabel=f"{round(adjusted_rand_score(y, labels), 2) + 0.0:.2f}")


def draw_boxes(ax: Axes, model: HyperboxClustering) -> None:
    """Draw the boxes behind the samples."""
    boxes = model.hyperboxes_
    for low, high in zip(boxes.lower, boxes.upper, strict=True):
        ax.add_patch(Rectangle(low, *(high - low), fill=False, ec="#BBBBBB", lw=0.5, zorder=0))


def main() -> None:
    """Draw the image."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(), help="the folder for it")
    picture = parser.parse_args().output / "clustering.png"
    figure, axes = plt.subplots(3, 5, figsize=(10, 6.4), layout="constrained")
    for column, (name, (X, y)) in zip(axes.T, shapes().items(), strict=True):
        models = {
            "KMeans": KMeans(y.max() + 1, random_state=0),
            "HDBSCAN": HDBSCAN(min_cluster_size=15, copy=True),
            "HyperboxClustering": HyperboxClustering(theta=0.04, max_gap=0.04, min_samples=4),
        }
        column[0].set_title(name)
        for ax, (title, model) in zip(column, models.items(), strict=True):
            draw(ax, X, y, model.fit_predict(X))
            if ax.get_subplotspec().is_first_col():
                ax.set_ylabel(title)
        draw_boxes(column[-1], model)
    figure.suptitle("Clusters by colour, noise in grey; below: adjusted Rand index (1 is best)")
    figure.savefig(picture, dpi=90)
    print(picture)


if __name__ == "__main__":
    main()
