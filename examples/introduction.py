"""Draw the images of docs/introduction.md: boxes, membership, growth and theta."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import make_moons

from hyperboxes import BoxesDisplay, ImprovedOnlineGFMM, explain

NAMES = ["trout", "bream"]


def fish(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return samples of two kinds of fish, in grams and centimetres."""
    X, y = make_moons(n_samples, noise=0.13, random_state=4)
    low, high = np.array([-1.6, -1.1]), np.array([2.6, 1.6])
    return [100, 14] + (X - low) / (high - low) * [200, 16], np.array(NAMES)[y]


def new_axes(title: str, n_axes: int, height: float) -> tuple[Figure, np.ndarray]:
    """Return panels side by side."""
    figure, axes = plt.subplots(
        1, n_axes, figsize=(10, height), layout="constrained", sharex=True, sharey=True
    )
    figure.suptitle(title)
    return figure, axes


def show(
    ax: Axes,
    model: ImprovedOnlineGFMM,
    X: np.ndarray | None = None,
    y: np.ndarray | None = None,
    **how: Any,
) -> None:
    """Draw boxes and samples in one panel."""
    options = {"legend": False, "scatter_kwargs": {"s": 8}, "max_boxes": None, **how}
    BoxesDisplay.from_estimator(model, X, y, ax=ax, **options)
    ax.set(xlabel="weight (g)", ylabel="length (cm)")
    ax.label_outer()


def boxes() -> Figure:
    """Draw boxes on the left, predictions on the right."""
    X, y = fish(60)
    model = ImprovedOnlineGFMM(theta=0.4, decision="nearest", random_state=0).fit(X, y)
    figure, axes = new_axes("The class of the nearest box is predicted", 2, 3.8)
    show(axes[0], model, X, y, regions=False)
    show(axes[1], model, X, y, legend=True)
    axes[0].set_title(f"{len(X)} samples, {len(model.hyperboxes_)} boxes")
    axes[1].set_title("predictions (tints)")
    point_at_nearest(axes[0], model, np.array([165.0, 20.5]))
    return figure


def point_at_nearest(ax: Axes, model: ImprovedOnlineGFMM, sample: np.ndarray) -> None:
    """Draw a sample and its membership in the nearest box of each class."""
    boxes = model.hyperboxes_
    explanation = explain(model, [sample])[0]
    for box, offset in ((explanation.winning, (1, -11)), (explanation.competing, (3, 6))):
        nearest = np.clip(sample, boxes.lower[box.index], boxes.upper[box.index])
        ax.annotate("", nearest, sample, arrowprops={"arrowstyle": "->", "lw": 1.2})
        text = f"membership {box.membership:.2f}"
        ax.annotate(text, nearest, offset, textcoords="offset points", size="small")
    ax.plot(*sample, marker="*", ms=14, c="black", ls="", label="new fish")
    ax.legend(loc="lower left", fontsize="small")


def membership() -> Figure:
    """Draw the membership around one box."""
    ranges = [[0.0, 0.0], [1.0, 1.0]]
    side = np.linspace(0, 1, 201)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    figure, axes = new_axes("Membership falls faster where gamma is larger", 3, 3.6)
    for ax, gamma in zip(axes, (1.0, 4.0, [1.0, 4.0]), strict=True):
        model = ImprovedOnlineGFMM(theta=0.5, gamma=gamma, scaling=ranges, random_state=0)
        model.fit([[0.3, 0.4], [0.55, 0.6]], ["a", "a"])
        levels = model.membership(grid).reshape(len(side), len(side))
        filled = ax.contourf(side, side, levels, np.linspace(0, 1, 11), cmap="Blues")
        show(ax, model, regions=False, box_kwargs={"edgecolors": "white", "linewidths": 2})
        ax.set(title=f"gamma = {gamma}", xlabel="feature 1", ylabel="feature 2", aspect="equal")
        ax.set(xlim=(0, 1), ylim=(0, 1))
        ax.label_outer()
    figure.colorbar(filled, ax=axes, label="membership")
    return figure


def growth() -> Figure:
    """Draw a model after 4, 12, 40 and 200 samples of a stream."""
    X, y = fish(200)
    ranges = [X.min(axis=0), X.max(axis=0)]
    model = ImprovedOnlineGFMM(theta=0.3, scaling=ranges)
    figure, axes = new_axes("Boxes grow, and new ones appear, as samples arrive", 4, 3.0)
    learned = 0
    for ax, n_samples in zip(axes, (4, 12, 40, 200), strict=True):
        model.partial_fit(X[learned:n_samples], y[learned:n_samples], classes=NAMES)
        learned = n_samples
        show(ax, model, X[:learned], y[:learned], regions=False, legend=n_samples == 200)
        ax.set_title(f"{learned} samples, {len(model.hyperboxes_)} boxes")
    return figure


def theta() -> Figure:
    """Draw small, medium and large boxes."""
    X, y = fish(200)
    figure, axes = new_axes("A larger theta gives fewer and larger boxes", 3, 3.4)
    for ax, largest in zip(axes, (0.1, 0.3, 0.6), strict=True):
        model = ImprovedOnlineGFMM(theta=largest, random_state=0).fit(X, y)
        show(ax, model, X, y, legend=largest == 0.6)
        ax.set_title(f"theta = {largest}: {len(model.hyperboxes_)} boxes")
    return figure


def main() -> None:
    """Draw the images."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(), help="the folder for them")
    output = parser.parse_args().output
    for draw in (boxes, membership, growth, theta):
        picture = output / f"introduction-{draw.__name__}.png"
        figure = draw()
        figure.savefig(picture, dpi=100)
        plt.close(figure)
        print(picture)


if __name__ == "__main__":
    main()
