"""Draw the image of docs/ensembles.md: members, and the votes of all."""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from sklearn.datasets import make_moons

from hyperboxes import AgglomerativeGFMM, Hyperboxes, ImprovedOnlineGFMM, RandomHyperboxes

COLOURS = ("#0072B2", "#E69F00")
AGGLO_2 = AgglomerativeGFMM(0.7, algorithm="agglo2")
PROBABILITIES = LinearSegmentedColormap.from_list(
    "probabilities", [COLOURS[0], "white", COLOURS[1]]
)


def votes() -> Figure:
    """Draw two members with their boxes, and the probabilities of 1, 10 and 100 members."""
    X, y = make_moons(300, noise=0.25, random_state=0)
    low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
    x, y_grid = np.meshgrid(*(np.linspace(low[j], high[j], 160) for j in range(2)))
    points = np.column_stack([x.ravel(), y_grid.ravel()])
    figure, axes = plt.subplots(1, 4, figsize=(11, 3.4), sharey=True, layout="constrained")
    panels = {
        "1 member, online": RandomHyperboxes(ImprovedOnlineGFMM(0.1), 1, random_state=0),
        "1 member, AGGLO-2": RandomHyperboxes(AGGLO_2, 1, random_state=0),
        "10 members": RandomHyperboxes(n_estimators=10, random_state=0),
        "100 members": RandomHyperboxes(n_estimators=100, random_state=0),
    }
    for ax, (title, model) in zip(axes, panels.items(), strict=True):
        model.set_params(max_features=2).fit(X, y)
        plane = model.predict_proba(points)[:, 1].reshape(x.shape)
        extent = (low[0], high[0], low[1], high[1])
        look = {"cmap": PROBABILITIES, "vmin": 0, "vmax": 1, "alpha": 0.5, "aspect": "auto"}
        ax.imshow(plane, extent=extent, origin="lower", **look)
        for label, colour in enumerate(COLOURS):
            ax.scatter(*X[y == label].T, s=4, color=colour, label=f"class {label}")
        if model.n_estimators == 1:
            _outline(ax, model.members_[0], low, high)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="feature 1")
        ax.set_title(title, size="medium")
    axes[0].set_ylabel("feature 2")
    handles, labels = axes[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, markerscale=2)
    figure.suptitle("Members differ; the average of many is smooth (tints are probabilities)")
    return figure


def _outline(ax: Axes, boxes: Hyperboxes, low: np.ndarray, high: np.ndarray) -> None:
    """Draw the boxes of a member; open sides end outside of the picture."""
    for lower, upper, label in zip(boxes.lower, boxes.upper, boxes.labels, strict=True):
        start, stop = np.maximum(lower, low - 1), np.minimum(upper, high + 1)
        colour = COLOURS[label]
        ax.add_patch(Rectangle(start, *(stop - start), fill=False, lw=0.8, ec=colour))


def main() -> None:
    """Draw the image."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(), help="the folder for it")
    output = parser.parse_args().output
    figure, picture = votes(), output / "ensembles-votes.png"
    figure.savefig(picture, dpi=100)
    plt.close(figure)
    print(picture)


if __name__ == "__main__":
    main()
