"""What displays share: base classes, and the features, boxes, samples and limits of a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d

from hyperboxes._docstrings import fill_docstrings
from hyperboxes._extras import need
from hyperboxes._models.categories import Categories
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.records import AdditiveBoxes, NeighborBoxes
from hyperboxes._models.samples import slices
from hyperboxes._plots.styles import escape_math, shorten
from hyperboxes._readers.fitted import FittedModel, check_integer, ignoring_missing_names

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
    "bars": """
max_boxes : int, default=10
    If there are more boxes, those with the largest contributions have a row each, and the others
    share one. None: all.
max_classes : int, default=4
    If there are more classes, those with the largest scores are drawn.
{axes}
bar_kwargs : dict, default=None
    Further options of Matplotlib's `barh`.
""",
    "axes": """
ax : matplotlib Axes, default=None
    The axes to draw on. None: new axes in a new figure.
{legend}
""",
    "panels": """
ax : matplotlib Axes, default=None
    The axes to draw on, which become the first panel. None: new axes in a new figure.
{legend}
""",
    "legend": """
legend : bool, default=True
    Whether to draw a legend, on the right. For a legend elsewhere, pass False and call
    ``display.ax_.legend(...)``.
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


def batches_of(X: Any, y: Any, batch_size: int) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield samples and their labels in batches, in their order."""
    check_integer("batch_size", batch_size, 1, optional=False)
    y = column_or_1d(y)
    check_consistent_length(X, y)
    for batch in slices(len(y), int(batch_size)):
        yield _safe_indexing(X, batch), y[batch]


def read_others(fitted: FittedModel, at: Any, columns: list[int]) -> np.ndarray:
    """Return the values of the features that are not drawn, NaN where they do not matter."""
    if at is None:
        return np.full(fitted.n_features, np.nan)
    others = check_one_sample(fitted, at, "at")[0].copy()
    others[columns] = np.nan
    return others


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


# Categories on axes stand side by side at 0, 1, 2 and so on, with their names, in the order of
# their encoded positions. Categories that share a position, because they are rare, share a slot.
# The outline of a box spans the slots of all categories that it contains.

# As a part of an axis.
_LEAST_BETWEEN_NAMES = 0.06
_LONGEST_NAME = 16

# Half of what is drawn in a slot, whose width is 1. Boxes with the same categories end at
# different distances from the middle, between the first and the second of these.
_HALF = 0.42
_ENDS = 0.24, _HALF

# Bounds of boxes may be off by less. Encoded positions are farther apart.
_ROUNDING = 1e-11

# The fractional parts of multiples of these fill a square evenly.
_STEPS = 0.7548776662466927, 0.5698402909980532


def axis_categories(
    known: Mapping[int, Categories], columns: Sequence[int]
) -> dict[int, dict[str, float]]:
    """Return the names of categories and their slots, for each axis with categories."""
    return {
        axis: {_name(known[columns[axis]], value): float(k) for k, value in enumerate(positions)}
        for axis, positions in _category_axes(known, columns).items()
    }


def _name(categories: Categories, position: float) -> str:
    """Return the name of the category at a position, and how many others share it."""
    first, *others = map(str, categories.values_between(position, position))
    if not others:
        return first
    return f"{first} or {others[0] if len(others) == 1 else f'{len(others)} more'}"


def draw_categories(axis: Any, slots: dict[str, float]) -> None:
    """Write the names of categories on an axis, as far as they fit."""
    shown: dict[str, float] = {}
    least = _LEAST_BETWEEN_NAMES * len(slots)
    for name, slot in slots.items():
        if not shown or slot - max(shown.values()) >= least:
            shown[name] = slot
    names = [escape_math(shorten(name, _LONGEST_NAME)) for name in shown]
    axis.set_ticks(list(shown.values()), names, size="small")


def _category_axes(
    known: Mapping[int, Categories], columns: Sequence[int]
) -> dict[int, np.ndarray]:
    """Return the encoded positions, ascending, for each axis with categories."""
    return {axis: np.unique(known[j].positions) for axis, j in enumerate(columns) if j in known}


def category_limits(
    known: Mapping[int, Categories], columns: Sequence[int]
) -> dict[int, tuple[float, float]]:
    """Return the limits of the axes with categories."""
    axes = _category_axes(known, columns)
    return {axis: (-0.5, max(len(positions), 1) - 0.5) for axis, positions in axes.items()}


def to_axes(
    known: Mapping[int, Categories], columns: Sequence[int], lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the slots of the first and the last category of boxes, on axes with categories.

    Bounds on other axes, and bounds that are infinite or missing, remain as they are.
    """
    first, last = np.array(lower, float), np.array(upper, float)
    for axis, positions in _category_axes(known, columns).items():
        low, high = first[:, axis], last[:, axis]
        begin = np.searchsorted(positions, low - _ROUNDING)
        end = np.searchsorted(positions, high + _ROUNDING, side="right") - 1
        first[:, axis] = np.where(np.isfinite(low), begin, low)
        last[:, axis] = np.where(np.isfinite(high), end, high)
    return first, last


def spread_on_axes(
    known: Mapping[int, Categories], columns: Sequence[int], values: np.ndarray
) -> np.ndarray:
    """Return where samples are drawn, spread over the slots of their categories."""
    drawn = to_axes(known, columns, values, values)[0]
    for axis in _category_axes(known, columns):
        drawn[:, axis] += _HALF * (2.0 * (np.arange(len(drawn)) * _STEPS[axis] % 1.0) - 1.0)
    return drawn


def from_axes(
    known: Mapping[int, Categories], columns: Sequence[int], drawn: np.ndarray
) -> np.ndarray:
    """Return the model's values for points of a picture. Between categories, it is the nearest."""
    values = np.array(drawn, float)
    for axis, positions in _category_axes(known, columns).items():
        nearest = np.clip(np.rint(values[:, axis]), 0, len(positions) - 1).astype(int)
        values[:, axis] = positions[nearest] if len(positions) else np.nan
    return values


def widen_to_slots(
    boxes: np.ndarray, lower: np.ndarray, upper: np.ndarray, axes: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds that span the slots of categories. Those of different boxes end apart."""
    lower, upper = lower.copy(), upper.copy()
    for axis in axes:
        narrow, wide = _ENDS
        half = narrow + (wide - narrow) * (boxes * _STEPS[axis] % 1.0)
        lower[:, axis] -= half
        upper[:, axis] += half
    return lower, upper
