"""What displays share: base classes, and the features, boxes, samples and limits of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hyperboxes._docstrings import fill_docstrings
from hyperboxes._extras import need
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.records import AdditiveBoxes, NeighborBoxes
from hyperboxes._plots.categories import category_limits, spread_on_axes
from hyperboxes._readers.fitted import FittedModel, ignoring_missing_names

# The order of features compares so many boxes at most, with one another.
_MOST_COMPARED = 200

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


_PASSAGES = {
    "attributes": """
Attributes
----------
ax_ : matplotlib Axes
    The axes drawn on.
figure_ : matplotlib Figure
    Their figure.
""",
    "first_axes": """
ax_ : matplotlib Axes
    The first of them.
figure_ : matplotlib Figure
    Their figure.
""",
    "plot_panels": """
Parameters
----------
{panels}

{self}
""",
    "axes": """
ax : matplotlib Axes, default=None
    The axes to draw on. None: new axes in a new figure.
""",
    "panels": """
ax : matplotlib Axes, default=None
    The axes to draw on, which become the first panel. None: new axes in a new figure.
legend : bool, default=True
    Whether to draw a legend, on the right.
""",
    "display": """
Returns
-------
display : {name}
    The display, drawn.
""",
    "self": """
Returns
-------
self : {name}
    The display.
""",
}


class Display:
    """Base class of the displays. It keeps the axes and the figure of the last drawing."""

    ax_: Axes
    figure_: Figure | SubFigure

    def __init_subclass__(cls) -> None:
        """Fill shared passages into the docstrings."""
        fill_docstrings(cls, {**_PASSAGES, "name": cls.__name__})

    def _make_axes(self, ax: Axes | None, figsize: tuple[float, float]) -> Axes:
        """Return the given axes, or new ones in a new figure."""
        if ax is None:
            pyplot = need("matplotlib.pyplot", "plot", type(self).__name__)
            ax = pyplot.subplots(figsize=figsize, layout="constrained")[1]
        assert ax is not None
        self.ax_, self.figure_ = ax, ax.figure
        return ax


class PanelsDisplay(Display):
    """Base class of displays with several panels, which share the area of the given axes."""

    axes_: np.ndarray

    def _make_panels(
        self, ax: Axes | None, figsize: tuple[float, float], shape: tuple[int, int], **options: Any
    ) -> np.ndarray:
        """Return axes for the panels. The first ones are those given, or new ones, made smaller."""
        self.axes_ = self._split(self._make_axes(ax, figsize), shape, **options)
        return self.axes_

    def _split(self, ax: Axes, shape: tuple[int, int], **options: Any) -> np.ndarray:
        """Split the area of some axes. These become the first of the axes returned."""
        area = ax.get_subplotspec()
        if area is None:
            x0, y0, x1, y1 = ax.get_position().extents
            area = self.figure_.add_gridspec(1, 1, left=x0, right=x1, bottom=y0, top=y1)[0]
        grid = area.subgridspec(*shape, **options)
        ax.set_subplotspec(grid[0])
        others = [self.figure_.add_subplot(grid[i]) for i in range(1, grid.nrows * grid.ncols)]
        return np.array([ax, *others])


# Features


def axis_names(fitted: FittedModel) -> list[str]:
    """Return the names of features for axes, marked if a Pipeline transforms the values."""
    ending = ", transformed" if fitted.is_transformed else ""
    return [f"{name}{ending}" for name in fitted.feature_names]


def find_columns(fitted: FittedModel, features: Any, boxes: np.ndarray) -> list[int]:
    """Return the indices of the one or two features to draw."""
    if features is None:
        return np.sort(feature_order(fitted, boxes)[:2]).tolist()
    if isinstance(features, str | int | np.integer):
        features = [features]
    columns = [fitted.find_feature(feature) for feature in features]
    if len(columns) not in (1, 2) or len(set(columns)) < len(columns):
        raise ValueError(f"features must name one feature or two different ones, got {features!r}.")
    return columns


def feature_order(fitted: FittedModel, boxes: np.ndarray) -> np.ndarray:
    """Return the features, those that matter most for some boxes first.

    For nearest boxes, these are the features in which boxes of different classes lie farther apart
    than boxes of one class, as a share of the range; boxes count by their samples.
    """
    record, all_boxes = fitted.record, fitted.hyperboxes
    if isinstance(record, AdditiveBoxes):
        is_open = ~record.constrains[boxes].any(axis=0)
        return np.lexsort((-record.feature_importances, is_open))
    if isinstance(record, NeighborBoxes):
        return np.argsort(-record.feature_weights, kind="stable")
    boxes = boxes[np.argsort(-all_boxes.counts[boxes], kind="stable")[:_MOST_COMPARED]]
    labels, counts = all_boxes.labels[boxes], all_boxes.counts[boxes]
    weights, differs = np.outer(counts, counts).astype(float), labels[:, None] != labels
    np.fill_diagonal(weights, 0.0)
    for pairs in (differs, ~differs):
        weights[pairs] /= max(weights[pairs].sum(), 1.0)
    weights[~differs] *= -1.0
    gaps = [
        np.nansum(weights * np.maximum(low[:, None] - high, 0.0))
        for low, high in zip(all_boxes.lower[boxes].T, all_boxes.upper[boxes].T, strict=True)
    ]
    return np.argsort(-np.array(gaps) / fitted.scale.span, kind="stable")


# Boxes, samples and labels


def main_boxes(counts: np.ndarray, weights: np.ndarray | None, most: int | None) -> np.ndarray:
    """Return the indices of the boxes with the most samples or weight, the least first.

    Boxes of a single sample are left out unless there are no others, or `most` is None.
    """
    order = np.argsort(counts if weights is None else weights, kind="stable")
    if most is None:
        return order
    if weights is None and (counts > 1).any():
        order = order[counts[order] > 1]
    return order[-most:]


def find_boxes(boxes: Hyperboxes, chosen: Any) -> np.ndarray:
    """Return the indices of the boxes to draw."""
    if chosen is None:
        return np.arange(len(boxes))
    indices = np.atleast_1d(np.asarray(chosen))
    if indices.ndim != 1 or indices.dtype.kind not in "iu" or len(indices) == 0:
        raise TypeError(f"boxes must be an index or a list of indices, got {chosen!r}.")
    if indices.min() < -len(boxes) or indices.max() >= len(boxes):
        raise ValueError(f"boxes must be from 0 to {len(boxes) - 1}, got {chosen!r}.")
    return np.unique(indices % len(boxes))


def check_samples(fitted: FittedModel, X: Any) -> np.ndarray:
    """Return validated samples. A single one may be given as a row."""
    with ignoring_missing_names():
        return fitted.encode(X)[0]


def check_one_sample(fitted: FittedModel, X: Any, name: str) -> np.ndarray:
    """Return the one sample that a parameter contains, of shape (1, n_features)."""
    samples = check_samples(fitted, X)
    if len(samples) != 1:
        raise ValueError(f"{name} must be one sample, got {len(samples)}.")
    return samples


def read_data(
    fitted: FittedModel, X: Any, y: Any, columns: list[int], max_samples: int
) -> dict[str, np.ndarray | None]:
    """Return the samples to draw and their labels."""
    if X is None:
        if y is not None:
            raise ValueError("y contains labels of samples: X is needed too.")
        return {"samples": None, "sample_labels": None}
    X, labels = check_samples(fitted, X), None
    if y is not None:
        labels, unknown = fitted.encode_labels(y, len(X))
        if unknown:
            raise ValueError(f"y contains labels that the model was not fitted with: {unknown}.")
    rows = np.flatnonzero(~np.isnan(X[:, columns]).any(axis=1))
    if len(rows) > max_samples:
        rows = np.sort(np.random.default_rng(0).choice(rows, max_samples, replace=False))
    return {
        "samples": spread_on_axes(fitted.categories, columns, X[rows][:, columns]),
        "sample_labels": None if labels is None else labels[rows],
    }


def read_others(fitted: FittedModel, at: Any, columns: list[int]) -> np.ndarray:
    """Return the values of the features that are not drawn, NaN where they do not matter."""
    if at is None:
        return np.full(fitted.n_features, np.nan)
    others = check_one_sample(fitted, at, "at")[0].copy()
    others[columns] = np.nan
    return others


# Limits


def find_limits(
    fitted: FittedModel,
    columns: list[int],
    parts: list[np.ndarray | None],
    margin: float = 0.05,
) -> np.ndarray:
    """Return limits that contain the range of the training data and all that is drawn."""
    shown = [part for part in parts if part is not None]
    if not isinstance(fitted.record, AdditiveBoxes):
        shown += [fitted.scale.low[columns][None], fitted.scale.high[columns][None]]
    limits = [_limits_of([part[:, i] for part in shown], margin) for i in range(len(columns))]
    for axis, ends in category_limits(fitted.categories, columns).items():
        limits[axis] = ends
    return np.array(limits)


def _limits_of(parts: list[np.ndarray], margin: float) -> tuple[float, float]:
    """Return a range that contains all finite numbers, with a margin."""
    values = np.concatenate(parts)
    values = values[np.isfinite(values)]
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    pad = margin * (high - low) if high > low else max(0.5, margin * abs(high))
    return float(low - pad), float(high + pad)
