"""What all displays share: reading a model by its public attributes, and axes to draw on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array

from hyperboxes._estimators.base import NUMBERS
from hyperboxes._estimators.tables import known_categories
from hyperboxes._estimators.validation import CheckedSamples, validate_samples
from hyperboxes._explain import reading
from hyperboxes._explain.pipelines import describe_units, given_names
from hyperboxes._explain.wording import name_features
from hyperboxes._extras import need
from hyperboxes._models.hyperboxes import Hyperboxes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class Display:
    """Base of the displays: keeps the axes and the figure that were drawn on."""

    ax_: Axes
    figure_: Figure | SubFigure

    def _make_axes(self, ax: Axes | None, figsize: tuple[float, float]) -> Axes:
        """Return the axes to draw on, those given or new ones in a figure of their own."""
        if ax is None:
            pyplot = need("matplotlib.pyplot", "plot", type(self).__name__)
            ax = pyplot.subplots(figsize=figsize, layout="constrained")[1]
        assert ax is not None
        self.ax_, self.figure_ = ax, ax.figure
        return ax


class PanelsDisplay(Display):
    """Base of displays with several panels, which share the place of the axes given."""

    axes_: np.ndarray

    def _make_panels(
        self, ax: Axes | None, figsize: tuple[float, float], shape: tuple[int, int], **options: Any
    ) -> np.ndarray:
        """Return axes for the panels; the first are those given or new ones, made smaller."""
        self.axes_ = self._split(self._make_axes(ax, figsize), shape, **options)
        return self.axes_

    def _split(self, ax: Axes, shape: tuple[int, int], **options: Any) -> np.ndarray:
        """Return axes that share the place of some; these are the first, made smaller."""
        place = ax.get_subplotspec()
        if place is None:
            x0, y0, x1, y1 = ax.get_position().extents
            place = self.figure_.add_gridspec(1, 1, left=x0, right=x1, bottom=y0, top=y1)[0]
        grid = place.subgridspec(*shape, **options)
        ax.set_subplotspec(grid[0])
        others = [self.figure_.add_subplot(grid[i]) for i in range(1, grid.nrows * grid.ncols)]
        return np.array([ax, *others])


def boxes_to_draw(model: Any, what: str) -> Hyperboxes:
    """Return the boxes of a fitted model, for the display `what`, if they can be drawn."""
    need("matplotlib", "plot", what)
    return reading.read_boxes(model, what)


def feature_index(model: Any, feature: Any) -> int:
    """Return the index of a feature given by its name or its index."""
    n_features = model.n_features_in_
    if isinstance(feature, str):
        names = [] if given_names(model) is None else name_features(model)
        if feature in names:
            return names.index(feature)
        known = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
        raise ValueError(
            f"The model has no feature {feature!r}. It has {known}."
            if names
            else f"The model was fitted without names of features, so {feature!r} cannot be found. "
            "Give the feature's index."
        )
    if not isinstance(feature, int | np.integer) or isinstance(feature, bool):
        raise TypeError(f"A feature is given by its name or its index, not by {feature!r}.")
    if not -n_features <= feature < n_features:
        raise ValueError(
            f"There is no feature {feature}: the model has {n_features}, 0 to {n_features - 1}."
        )
    return int(feature) % n_features


def axis_names(model: Any) -> list[str]:
    """Return the names of features for axes: they say if values are no longer those of the data."""
    ending = ", transformed" if describe_units(model) else ""
    return [f"{name}{ending}" for name in name_features(model)]


def check_samples(model: Any, X: Any) -> np.ndarray:
    """Return samples as the model takes them; a single one may be given as a row."""
    if type(X) is CheckedSamples or hasattr(X, "columns"):
        return validate_samples(model, X, reset=False, **NUMBERS)
    if known_categories(model):
        rows = np.asarray(X, dtype=object)
        return validate_samples(model, np.atleast_2d(rows), reset=False, **NUMBERS)
    X = np.asarray(X, dtype=np.float64)
    X = check_array(np.atleast_2d(X) if X.ndim == 1 else X, ensure_all_finite="allow-nan")
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"Samples have {X.shape[1]} features, but the model has {model.n_features_in_}."
        )
    return X


def check_one_sample(model: Any, X: Any, name: str) -> np.ndarray:
    """Return the one sample that a parameter of some name holds, of shape (1, n_features)."""
    samples = check_samples(model, X)
    if len(samples) != 1:
        raise ValueError(f"{name} must be one sample, got {len(samples)}.")
    return samples


def check_known_labels(model: Any, y: Any, n_samples: int) -> np.ndarray:
    """Return the labels of samples as indices into those of the model, -1 for none or noise."""
    codes, unknown = reading.encode_labels(model, y, n_samples)
    if unknown:
        raise ValueError(f"y holds labels that the model does not know: {unknown}.")
    return codes


def gaps_to(model: Any, boxes: Hyperboxes, sample: np.ndarray) -> np.ndarray:
    """Return how far a sample is outside each box in each feature, in the learner's units."""
    transform = reading.read_scale(model).transform
    x = transform(sample)
    return np.maximum(transform(boxes.lower) - x, x - transform(boxes.upper))


def limits_of(*parts: Iterable[float] | np.ndarray, margin: float = 0.05) -> tuple[float, float]:
    """Return a range that holds all numbers that are not NaN, with a margin."""
    values = np.concatenate([np.ravel(np.asarray(part, dtype=np.float64)) for part in parts])
    values = values[np.isfinite(values)]
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    pad = margin * (high - low) if high > low else max(0.5, margin * abs(high))
    return float(low - pad), float(high + pad)
