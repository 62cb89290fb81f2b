"""The picture of `hyperboxes demo` and the README: boxes, and learning from a stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hyperboxes._extras import need

_COLOURS = ["#0072B2", "#E69F00"]  # told apart with any kind of colour vision
_BATCH = 50


def draw_picture(data: Any, target: str, features: list[str], theta: float, path: Path) -> None:
    """Draw the boxes of two features, and accuracy on samples not yet learned, of two classes."""
    figure_module = need("matplotlib.figure", "plot", "The picture")
    figure = figure_module.Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    y = data[target].to_numpy()
    _draw_boxes(data[features].to_numpy(), y, features, theta, left)
    _draw_stream(*_learn_stream(data.drop(columns=target).to_numpy(), y, theta), right)
    figure.savefig(path, dpi=120)


def _draw_boxes(X: np.ndarray, y: np.ndarray, names: list[str], theta: float, ax: Any) -> None:
    """Draw the boxes of a model over its decision regions."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Rectangle

    from hyperboxes import ImprovedOnlineGFMM

    model = ImprovedOnlineGFMM(theta=theta).fit(X, y)
    margin = 0.05 * np.ptp(X, axis=0)
    axes = np.linspace(X.min(axis=0) - margin, X.max(axis=0) + margin, 300).T
    plane = np.stack(np.meshgrid(*axes), axis=-1)
    regions = model.predict_proba(plane.reshape(-1, 2)).argmax(axis=1).reshape(300, 300)
    ax.pcolormesh(*axes, regions, alpha=0.15, cmap=ListedColormap(_COLOURS), rasterized=True)
    for label, (name, marker) in enumerate(zip(model.classes_, "o^", strict=True)):
        colour = _COLOURS[label]
        ax.scatter(*X[y == name].T, s=9, c=colour, marker=marker, linewidths=0, label=name)
    boxes = model.hyperboxes_
    for low, high, label in zip(boxes.lower, boxes.upper, boxes.labels, strict=True):
        ax.add_patch(Rectangle(low, *(high - low), fill=False, ec=_COLOURS[label], lw=1.2))
    title = f"{len(boxes)} boxes learned from {len(y)} samples"
    ax.set(xlabel=names[0], ylabel=names[1], title=title)
    ax.legend(loc="lower right", frameon=True)


def _learn_stream(
    X: np.ndarray, y: np.ndarray, theta: float
) -> tuple[list[int], list[int], list[float]]:
    """Learn batch by batch, testing on each batch before learning it; return how it went."""
    from hyperboxes import ImprovedOnlineGFMM

    model = ImprovedOnlineGFMM(theta=theta)
    n_seen, n_boxes, accuracy = [], [], []
    n_right = 0
    for start in range(0, len(y), _BATCH):
        batch = slice(start, start + _BATCH)
        if start:
            n_right += int((model.predict(X[batch]) == y[batch]).sum())
        model.partial_fit(X[batch], y[batch], classes=np.unique(y))
        if start:
            n_seen.append(start + len(y[batch]))
            n_boxes.append(len(model.hyperboxes_))
            accuracy.append(n_right / (n_seen[-1] - _BATCH))
    return n_seen, n_boxes, accuracy


def _draw_stream(n_seen: list[int], n_boxes: list[int], accuracy: list[float], ax: Any) -> None:
    """Draw accuracy and number of boxes over the stream."""
    ax.plot(n_seen, accuracy, c="black", marker="o", ms=3)
    ax.set(
        xlabel="samples learned",
        ylabel="accuracy so far",
        ylim=(0.8, 1),
        title="Learning from a stream",
    )
    twin = ax.twinx()
    twin.plot(n_seen, n_boxes, c="#009E73", ls="--")
    twin.set_ylim(bottom=0)
    twin.set_ylabel("boxes (dashed)", color="#009E73")
