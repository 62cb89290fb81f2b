"""Draw the images of docs/boosted.md: how a box is found, and how boxes add up."""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from sklearn.datasets import load_iris, make_moons

from hyperboxes import BoostedHyperboxes

BLUE, ORANGE = "#0072B2", "#E69F00"
PROBABILITIES = LinearSegmentedColormap.from_list("probabilities", [BLUE, "white", ORANGE])


def interval() -> Figure:
    """Draw the residuals over a feature, and the interval with the largest sum."""
    iris = load_iris()
    values, is_class = iris.data[:, 2], iris.target == 1
    residuals = is_class - is_class.mean()
    model = BoostedHyperboxes(1, max_conditions=1, random_state=0).fit(values[:, None], is_class)
    box = model.hyperboxes_
    figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
    edges = np.arange(0.95, 7.0, 0.2)
    sums = np.histogram(values, edges, weights=residuals)[0]
    colours = np.where(sums > 0, ORANGE, BLUE)
    ax.bar((edges[:-1] + edges[1:]) / 2, sums, 0.18, color=colours)
    ax.axhline(0, c="k", lw=0.8)
    ax.axvspan(box.lower[0, 0], box.upper[0, 0], color=ORANGE, alpha=0.15)
    ax.text(box.upper[0, 0] + 0.05, 0.85 * sums.max(), "first box", color="#8a5f00")
    ax.set(xlabel=iris.feature_names[2], ylabel="sum of residuals", xlim=(0.9, 7))
    title = "The first box is the interval with the largest sum of residuals (versicolor or not)"
    ax.set_title(title, size="medium")
    return figure


def stages() -> Figure:
    """Draw the probabilities after some boxes, and the boxes."""
    X, y = make_moons(400, noise=0.25, random_state=0)
    low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
    x, y_grid = np.meshgrid(*(np.linspace(low[j], high[j], 160) for j in range(2)))
    figure, axes = plt.subplots(1, 4, figsize=(11, 3.4), sharey=True, layout="constrained")
    for ax, n_boxes in zip(axes, (1, 2, 4, 12), strict=True):
        # A model of n boxes is the n-th stage of a larger one.
        model = BoostedHyperboxes(n_boxes, random_state=0).fit(X, y)
        grid = np.column_stack([x.ravel(), y_grid.ravel()])
        plane = model.predict_proba(grid)[:, 1].reshape(x.shape)
        extent = (low[0], high[0], low[1], high[1])
        look = {"cmap": PROBABILITIES, "vmin": 0, "vmax": 1, "alpha": 0.5, "aspect": "auto"}
        ax.imshow(plane, extent=extent, origin="lower", **look)
        for label, colour in enumerate((BLUE, ORANGE)):
            ax.scatter(*X[y == label].T, s=4, color=colour, label=f"class {label}")
        for box in range(min(n_boxes, len(model.hyperboxes_))):
            _outline(ax, model, box, low, high, newest=box == n_boxes - 1)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="feature 1")
        ax.set_title("1 box" if n_boxes == 1 else f"{n_boxes} boxes", size="medium")
    axes[0].set_ylabel("feature 2")
    handles, labels = axes[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, markerscale=2)
    figure.suptitle("Weights of boxes add up to probabilities (tints); the newest box is thick")
    return figure


def _outline(
    ax: Axes, model: BoostedHyperboxes, box: int, low: np.ndarray, high: np.ndarray, newest: bool
) -> None:
    """Draw a box; open sides end outside of the picture."""
    start = np.maximum(model.hyperboxes_.lower[box], low - 1)
    stop = np.minimum(model.hyperboxes_.upper[box], high + 1)
    width, height = stop - start
    ax.add_patch(Rectangle(start, width, height, fill=False, lw=1.8 if newest else 0.7, ec="k"))


def main() -> None:
    """Draw the images."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(), help="the folder for them")
    output = parser.parse_args().output
    for draw in (interval, stages):
        picture = output / f"boosted-{draw.__name__}.png"
        figure = draw()
        figure.savefig(picture, dpi=100)
        plt.close(figure)
        print(picture)


if __name__ == "__main__":
    main()
