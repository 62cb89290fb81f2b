"""Boxes of a single feature: intervals, in rows by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hyperboxes._plots.styles import style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TOP, _BOTTOM = -0.38, 0.38  # of a row, whose middle is 0; samples lie below the boxes


def draw_row(
    ax: Axes,
    row: int,
    label: int,
    bounds: tuple[np.ndarray, np.ndarray],
    look: dict[str, Any],
    samples: np.ndarray | None,
    scatter: dict[str, Any],
) -> None:
    """Draw the intervals of a class in as many lanes as they need, and its samples below."""
    from matplotlib.collections import PolyCollection

    style = style_of(label)
    bottom = _BOTTOM if samples is None else 0.15
    if len(bounds[0]):
        lane = lanes(*bounds)
        height = (bottom - _TOP) / (lane.max() + 1)
        upper = row + _TOP + lane * height
        corners = rectangles((bounds[0], upper), (bounds[1], upper + 0.85 * height))
        ax.add_collection(PolyCollection(list(corners), **look), autolim=False)
    if samples is not None:
        heights = np.full(len(samples), row + 0.28)
        options = {"marker": "|", "s": 30, "lw": 0.8, "c": style.colour, **scatter}
        ax.scatter(samples, heights, zorder=3, **options)


def lanes(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return a lane for each interval, such that intervals that meet are in different ones."""
    ends: list[float] = []
    lane = np.zeros(len(lower), dtype=np.intp)
    for box in np.lexsort((upper, lower)):
        free = next((i for i, end in enumerate(ends) if end < lower[box]), len(ends))
        ends[free : free + 1] = [float(upper[box])]
        lane[box] = free
    return lane


def rectangles(
    lower: tuple[np.ndarray, np.ndarray], upper: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return the corners of rectangles, of shape (n, 4, 2)."""
    (left, low), (right, high) = lower, upper
    corners = [(left, low), (right, low), (right, high), (left, high)]
    return np.transpose(corners, (2, 0, 1))


def name_rows(ax: Axes, labels: list[int], names: list[str]) -> None:
    """Write the classes' names beside their rows, the first on top."""
    ax.set_yticks(range(len(labels)), [names[label] for label in labels])
    ax.set_ylim(len(labels) - 0.5, -0.5)
