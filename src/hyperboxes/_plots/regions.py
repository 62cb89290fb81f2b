"""Decision regions: which class a model says in each place of a plane or a line of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hyperboxes._estimators.validation import checked
from hyperboxes._explain.exceptions import read_regions
from hyperboxes._explain.reading import is_classifier
from hyperboxes._plots.categories import (
    hold_on_axes,
    limits_of_categories,
    read_from_axes,
    widen_to_rooms,
)
from hyperboxes._plots.intervals import rectangles
from hyperboxes._plots.styles import (
    COLOURS,
    has_dark_background,
    size_in_points,
    style_of,
    text_colour,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CELLS_AT_ONCE = 2_000_000


def find_regions(
    model: Any, columns: list[int], limits: np.ndarray, resolution: int, at: np.ndarray
) -> np.ndarray:
    """Return the class index in the middle of each cell of a grid, the first feature along rows.

    `at` has the values of the features that are not in the picture, NaN for none.
    """
    middles = [_edges(bounds, resolution) for bounds in limits]
    middles = [(edges[1:] + edges[:-1]) / 2 for edges in middles]
    places = np.stack(np.meshgrid(*middles), axis=-1).reshape(-1, len(columns))
    step = max(1, _CELLS_AT_ONCE // len(at))
    parts = []
    for start in range(0, len(places), step):
        some = places[start : start + step]
        samples = np.tile(at, (len(some), 1))
        samples[:, columns] = read_from_axes(model, columns, some)
        parts.append(model.predict(checked(samples)))
    labels = np.concatenate(parts)
    codes = np.searchsorted(model.classes_, labels) if is_classifier(model) else labels
    return codes.reshape((resolution,) * len(columns))


def find_shared(model: Any, columns: list[int], chosen: np.ndarray) -> np.ndarray | None:
    """Return the corners of what boxes of two classes share, of those to draw.

    None if the picture leaves a feature out, or the model keeps no overlaps.
    """
    shared = read_regions(model)
    if shared is None or len(columns) < 2 or len(columns) < model.n_features_in_:
        return None
    corners = np.stack([shared.lower, shared.upper], axis=1)[:, :, columns]
    is_drawn = np.isin(shared.boxes, chosen).all(axis=1)
    is_known = ~np.isnan(corners).any(axis=(1, 2))
    shown = corners[is_drawn & is_known]
    held = hold_on_axes(model, columns, shown[:, 0], shown[:, 1])
    axes = list(limits_of_categories(model, columns))
    return np.stack(widen_to_rooms(np.zeros(len(shown)), *held, axes), axis=1)


def draw_shared(ax: Axes, shared: np.ndarray) -> None:
    """Hatch what boxes of two classes share."""
    from matplotlib.collections import PolyCollection

    (left, low), (right, high) = shared[:, 0].T, shared[:, 1].T
    look = {"facecolors": "none", "edgecolors": text_colour(), "linewidths": 0.6, "alpha": 0.6}
    corners = list(rectangles((left, low), (right, high)))
    overlaps = PolyCollection(corners, hatch="////", zorder=1.1, label="shared by two", **look)
    ax.add_collection(overlaps, autolim=False)


def draw_regions(ax: Axes, regions: np.ndarray, limits: np.ndarray, heights: np.ndarray) -> None:
    """Tint the regions; `heights` are the limits of the other axis for a single feature."""
    from matplotlib.colors import to_rgb

    plane = np.atleast_2d(regions)
    styles = [style_of(label).colour for label in range(regions.max() + 1)]
    colours = np.array([to_rgb(colour) for colour in (*styles, text_colour())])  # -1: the last
    x = _edges(limits[0], plane.shape[1])
    y = _edges(limits[1] if regions.ndim == 2 else heights, plane.shape[0])
    ax.pcolormesh(
        x,
        y,
        colours[plane],
        alpha=0.3 if has_dark_background(ax) else 0.15,
        zorder=0,
        rasterized=True,
        lw=0,
    )
    if regions.max() >= len(COLOURS):
        _draw_borders(ax, plane, x, y)


def _edges(bounds: np.ndarray, n_cells: int) -> np.ndarray:
    return np.linspace(bounds[0], bounds[1], n_cells + 1)


def _draw_borders(ax: Axes, plane: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """Part the regions by lines: neighbours may have the same colour."""
    from matplotlib.collections import LineCollection

    row, column = np.nonzero(plane[:, 1:] != plane[:, :-1])
    upright = [(x[column + 1], y[row]), (x[column + 1], y[row + 1])]
    row, column = np.nonzero(plane[1:] != plane[:-1])
    level = [(x[column], y[row + 1]), (x[column + 1], y[row + 1])]
    segments = np.concatenate([np.transpose(ends, (2, 0, 1)) for ends in (upright, level)])
    ax.add_collection(
        LineCollection(segments, colors=text_colour(), lw=0.5, alpha=0.3, zorder=0.5),  # type: ignore[arg-type]
        autolim=False,
    )


def label_regions(
    ax: Axes, regions: np.ndarray, limits: np.ndarray, names: list[str], size: float = 8.0
) -> None:
    """Write each class's name where its region is widest, if there is room for it.

    A name lies in the largest circle that its region holds, so that no two can overlap.
    """
    from matplotlib.patheffects import withStroke
    from scipy.ndimage import distance_transform_edt

    pitch = size_in_points(ax)[::-1] / regions.shape
    for label in np.unique(regions):
        name = names[label]
        depth = distance_transform_edt(np.pad(regions == label, 1), sampling=pitch)[1:-1, 1:-1]
        row, column = np.unravel_index(depth.argmax(), depth.shape)
        # Layouts may take a quarter of the room; letters are hardly ever wider than 0.7.
        if 0.75 * depth.max() < np.hypot(0.35 * len(name), 0.6) * size:
            continue
        share = (np.array([column, row]) + 0.5) / regions.shape[::-1]
        place = limits[:, 0] + share * np.diff(limits).ravel()
        outline = withStroke(linewidth=2, foreground=ax.get_facecolor())
        ax.text(
            place[0],
            place[1],
            name,
            size=size,
            ha="center",
            va="center",
            zorder=5,
            path_effects=[outline],
        )
