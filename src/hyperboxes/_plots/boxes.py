"""`BoxesDisplay`: boxes, decision regions and samples in one or two features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hyperboxes._estimators.capabilities import Operation
from hyperboxes._extras import need
from hyperboxes._models.executor import neighbor_distances, scaled_gaps
from hyperboxes._models.records import AdditiveBoxes, NearestBoxes, NeighborBoxes, closeness
from hyperboxes._plots import common, styles
from hyperboxes._plots.common import Display
from hyperboxes._readers.fitted import FittedModel, check_integer, read_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# If there are more boxes, their lines are thinner, and those with few samples fainter.
_FEW_BOXES = 50

# The opacity of boosted boxes if there are few.
_TINT = 0.25

# The largest number of values predicted at a time for decision regions.
_CELLS_AT_ONCE = 2_000_000

# The ends of a row of intervals, whose middle is 0. Samples are drawn below the boxes.
_TOP, _BOTTOM = -0.38, 0.38


@dataclass(eq=False, kw_only=True)
class BoxesDisplay(Display):
    """Boxes of a model in one or two of its features, with decision regions and samples.

    In two features, boxes are outlines, projected on the plane. In a single feature, they are
    intervals, in rows by class. A box without bounds in a feature runs across the picture. If there
    are many boxes, those with few samples are fainter, and the legend states how many are drawn.

    Boxes of a `BoostedHyperboxes` are drawn the more strongly the larger their weights, and tinted
    where there are no regions. Those without conditions on the features shown are not drawn.

    Create it with `from_estimator`. The parameters are also the attributes.

    Parameters
    ----------
    lower, upper : ndarray of shape (n_boxes, n_shown)
        Bounds of the boxes in the features shown, one or two; NaN where a box has none. For
        categories, the numbers of the first and the last category in the box, counted from 0.
    labels : ndarray of int, shape (n_boxes,)
        Classes of the boxes as indices into `classes`; -1 for none.
    counts : ndarray of int, shape (n_boxes,)
        The number of training samples in each box.
    classes : ndarray of shape (n_classes,)
        The class labels.
    feature_names : list of str
        Names of the features shown.
    limits : ndarray of shape (n_shown, 2)
        The range of each feature shown.
    nearness : ndarray of shape (n_boxes,), default=None
        How strongly to draw each box, from 0 to 1: the membership of `at` in the features not
        shown.
    regions : ndarray of int, shape (n,) or (n, n), default=None
        The predicted class index in each cell of a grid over `limits`; rows are the second
        feature. None: they are not drawn.
    samples : ndarray of shape (n_samples, n_shown), default=None
        The samples in the features shown.
    sample_labels : ndarray of int, shape (n_samples,), default=None
        Their classes, like `labels`. None: all samples look the same.
    max_boxes : int, default=15
        The number of boxes to draw at most: those with the most samples or the largest weights.
        Boxes of a single sample are left out unless there are no others. None: all boxes.
    weights : ndarray of shape (n_boxes,), default=None
        The largest weight of each box of a `BoostedHyperboxes`.
    no_label : str, default="no label"
        The name of the label -1 in the legend; "noise" for a clustering.
    n_features : int, default=None
        The number of features of the model. If more than are drawn, and the picture is no cut, the
        legend states that boxes are projected: boxes that overlap here may be apart in other
        features. None: the legend does not state it.
    categories : dict, default={}
        The names of the categories on an axis (0 or 1) and their numbers, for each axis with
        categories. They stand side by side, in the order of their encoded positions.

    {attributes}

    See Also
    --------
    ParallelCoordinatesDisplay : One sample and the boxes nearest to it, in many features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import BoxesDisplay, ImprovedOnlineGFMM
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X, y)
    >>> display = BoxesDisplay.from_estimator(
    ...     model, X, y, features=["petal length (cm)", "petal width (cm)"]
    ... )
    >>> display.lower.shape, display.regions.shape
    ((18, 2), (200, 200))
    >>> display.figure_.savefig("boxes.png")  # doctest: +SKIP
    """

    lower: np.ndarray
    upper: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    classes: np.ndarray
    feature_names: list[str]
    limits: np.ndarray
    nearness: np.ndarray | None = None
    regions: np.ndarray | None = None
    samples: np.ndarray | None = None
    sample_labels: np.ndarray | None = None
    max_boxes: int | None = 15
    weights: np.ndarray | None = None
    no_label: str = styles.NO_LABEL
    n_features: int | None = None
    categories: dict[int, dict[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.limits) == 1 and self.samples is not None and self.sample_labels is None:
            raise ValueError("Samples of a single feature are drawn by class: y is needed too.")

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        features: Any = None,
        boxes: Any = None,
        at: Any = None,
        regions: bool = True,
        grid_resolution: int = 200,
        max_boxes: int | None = 15,
        max_samples: int = 2000,
        ax: Axes | None = None,
        legend: bool = True,
        box_kwargs: dict[str, Any] | None = None,
        scatter_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the boxes of a fitted model.

        Parameters
        ----------
        model : estimator
            A fitted model of this package, or a fitted Pipeline that ends in one. Samples are then
            inputs of the Pipeline, and the picture shows transformed values.
        X : array-like of shape (n_samples, n_features), default=None
            Samples to draw, with all features of the model. Samples without a value in a feature
            shown are left out.
        y : array-like of shape (n_samples,), default=None
            Their labels.
        features : sequence of one or two int or str, or one of them, default=None
            The features to draw, by index or name. None: the two that matter most, or the only
            one. These are the most important ones of a `BoostedHyperboxes`; of other models, those
            in which boxes of different classes lie farther apart than boxes of one class.
        boxes : int or sequence of int, default=None
            The boxes to draw, as indices into ``hyperboxes_``. None: all. The default features of
            a `BoostedHyperboxes` are then two that these boxes have conditions on.
        at : array-like of shape (n_features,), default=None
            A sample with the values of the other features: the picture is a cut through it, and
            boxes fade with the distance from the cut. NaN means that a feature does not matter.
            None: no other feature matters, and regions are predictions from the features shown
            alone. Boosted boxes are drawn if they contain the sample in the other features;
            without a sample, a `BoostedHyperboxes` has no regions unless all features are shown.
        regions : bool, default=True
            Whether to tint the decision regions.
        grid_resolution : int, default=200
            The number of predictions for the regions in each direction.
        max_boxes : int, default=15
            The number of boxes to draw at most: those with the most samples or the largest weights.
            Boxes of a single sample are left out unless there are no others. None: all boxes.
            Without effect if `boxes` are given.
        max_samples : int, default=2000
            If there are more samples, a random choice of so many is drawn, always the same.
        {axes}
        box_kwargs, scatter_kwargs : dict, default=None
            Further options of Matplotlib's `PolyCollection` and `scatter`.

        {display}
        """
        need("matplotlib", "plot", cls.__name__)
        fitted = read_fitted(model, Operation.BOXES)
        record, all_boxes = fitted.record, fitted.hyperboxes
        chosen = common.find_boxes(all_boxes, boxes)
        check_integer("max_boxes", max_boxes, 1)
        check_integer("max_samples", max_samples, 1, optional=False)
        check_integer("grid_resolution", grid_resolution, 2, optional=False)
        columns = common.find_columns(fitted, features, chosen)
        data = common.read_data(fitted, X, y, columns, max_samples)
        others = common.read_others(fitted, at, columns)
        ends = (ends[chosen][:, columns] for ends in (all_boxes.lower, all_boxes.upper))
        lower, upper = common.to_axes(fitted.categories, columns, *ends)
        limits = common.find_limits(fitted, columns, [lower, upper, data["samples"]])
        names, weights = common.axis_names(fitted), None
        if isinstance(record, AdditiveBoxes):
            weights = record.weights[chosen].max(axis=1)
        display = cls(
            lower=lower,
            upper=upper,
            labels=all_boxes.labels[chosen],
            counts=all_boxes.counts[chosen],
            classes=fitted.labels,
            feature_names=[names[column] for column in columns],
            limits=limits,
            nearness=None if at is None else _nearness(fitted, others, columns)[chosen],
            regions=_find_regions(fitted, columns, limits, grid_resolution, others)
            if regions and _has_regions(fitted, columns, at)
            else None,
            weights=weights,
            max_boxes=max_boxes if boxes is None else None,
            no_label=fitted.no_label,
            n_features=fitted.n_features,
            categories=common.axis_categories(fitted.categories, columns),
            **data,
        )
        return display.plot(ax, legend=legend, box_kwargs=box_kwargs, scatter_kwargs=scatter_kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        legend: bool = True,
        box_kwargs: dict[str, Any] | None = None,
        scatter_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        {axes}
        box_kwargs, scatter_kwargs : dict, default=None
            Further options of Matplotlib's `PolyCollection` and `scatter`.

        {self}
        """
        found = [self.labels] if self.sample_labels is None else [self.labels, self.sample_labels]
        labels = styles.labels_present(np.concatenate(found))
        if len(self.limits) == 1:
            ax = self._make_axes(ax, (6.4, min(12.0, max(2.4, 1.2 + 0.35 * len(labels)))))
            self._plot_intervals(ax, labels, box_kwargs or {}, scatter_kwargs or {})
        else:
            ax = self._make_axes(ax, (6.4, 4.8))
            self._plot_plane(ax, box_kwargs or {}, scatter_kwargs or {})
            marked = self.sample_labels is not None
            styles.add_class_entries(ax, labels, self._names, lines=True, markers=marked)
            if legend:
                styles.draw_legend(ax, title=self._notes())
        ax.set_xlim(self.limits[0])
        ax.set_xlabel(styles.escape_math(styles.shorten(self.feature_names[0], 60)))
        for number, slots in self.categories.items():
            common.draw_categories((ax.xaxis, ax.yaxis)[number], slots)
        if 0 in self.categories:
            ax.tick_params(axis="x", labelrotation=30)
        return self

    def _plot_plane(self, ax: Axes, box: dict[str, Any], scatter: dict[str, Any]) -> None:
        ax.set(xlim=self.limits[0], ylim=self.limits[1])
        ax.set_ylabel(styles.escape_math(styles.shorten(self.feature_names[1], 40)))
        if self.regions is not None:
            _draw_regions(ax, self.regions, self.limits, self.limits[0])
        if self.samples is not None:
            for label, rows in self._samples_by_class():
                style = styles.style_of(label)
                colour = styles.text_colour() if self.sample_labels is None else style.colour
                options = {"s": 12, "lw": 0, "c": [colour], "marker": style.marker, **scatter}
                ax.scatter(*self.samples[rows].T, zorder=1.5, **options)
        self._draw_outlines(ax, box)
        if self.regions is not None and len(np.unique(self.regions)) > len(styles.COLOURS):
            _label_regions(ax, self.regions, self.limits, self._names)

    def _draw_outlines(self, ax: Axes, box: dict[str, Any]) -> None:
        from matplotlib.collections import PolyCollection

        rows = self.drawn
        lower, upper = self._drawn_bounds(rows)
        corners = _rectangles((lower[:, 0], lower[:, 1]), (upper[:, 0], upper[:, 1]))
        colours = self._colours(rows)
        look = {
            "edgecolors": colours,
            "facecolors": colours * [1, 1, 1, self._tint] if self._tint else "none",
            "linestyles": [styles.style_of(label).line for label in self.labels[rows]],
            "linewidths": self._line_width,
            "zorder": 1.2 if self._tint else 2,
            **box,
        }
        ax.add_collection(PolyCollection(list(corners), **look), autolim=False)
        is_point = (lower == upper).all(axis=1)
        if is_point.any():  # they have no outline
            x, y = lower[is_point].T
            look = {"edgecolors": colours[is_point], "linewidths": self._line_width}
            ax.scatter(x, y, s=20, c="none", marker="s", zorder=2, **look)

    def _plot_intervals(
        self, ax: Axes, labels: list[int], box: dict[str, Any], scatter: dict[str, Any]
    ) -> None:
        """Draw the intervals of each class, and its samples below."""
        from matplotlib.collections import PolyCollection

        ax.set_yticks(range(len(labels)), [self._names[label] for label in labels])
        ax.set_ylim(len(labels) - 0.5, -0.5)
        if self.regions is not None:
            _draw_regions(ax, self.regions, self.limits, np.array([-0.5, len(labels) - 0.5]))
        bottom = _BOTTOM if self.samples is None else 0.15
        for row, label in enumerate(labels):
            rows = self.drawn[self.labels[self.drawn] == label]
            if len(rows):  # in as many lanes as they need
                (lower,), (upper,) = (ends.T for ends in self._drawn_bounds(rows))
                lane = _lanes(lower, upper)
                height = (bottom - _TOP) / (lane.max() + 1)
                top = row + _TOP + lane * height
                corners = _rectangles((lower, top), (upper, top + 0.85 * height))
                colours = self._colours(rows)
                look = {
                    "edgecolors": colours,
                    "facecolors": colours * [1, 1, 1, 0.3],
                    "linewidths": self._line_width,
                    "zorder": 2,
                    **box,
                }
                ax.add_collection(PolyCollection(list(corners), **look), autolim=False)
            if self.samples is not None:
                samples = self.samples[self.sample_labels == label, 0]
                colour = styles.style_of(label).colour
                options = {"marker": "|", "s": 30, "lw": 0.8, "c": colour, **scatter}
                ax.scatter(samples, np.full(len(samples), row + 0.28), zorder=3, **options)

    @property
    def _names(self) -> list[str]:
        return styles.display_names(self.classes, self.no_label)

    def _notes(self) -> str:
        """Return what the legend states about boxes that cannot be seen."""
        notes = []
        if self.nearness is None and (self.n_features or 0) > len(self.limits):
            notes.append(f"boxes projected\nfrom {self.n_features} features")
        if n_open := int(self._is_open.sum()):
            boxes = "box" if n_open == 1 else "boxes"
            notes.append(f"{n_open} {boxes} open here,\nnot drawn")
        if (n_drawn := len(self.drawn)) < len(self.labels) - n_open:
            notes.append(f"{n_drawn} of {len(self.labels) - n_open} boxes")
            n_single = int((self.counts == 1).sum())
            if self.weights is None:
                share = self.counts[self.drawn].sum() / self.counts.sum()
                notes[-1] += f",\nwith {share:.0%} of their samples"
                if n_single and (self.counts[self.drawn] > 1).all():
                    notes.append(f"({n_single} of a single sample)")
        if self.regions is not None:
            notes.append("tint: predicted class")
        elif self._tint:
            notes.append("stronger: larger weight")
        is_unknown = np.isnan(self.lower[self.drawn]).all(axis=1)
        if n_unknown := int(is_unknown.sum()):
            notes.append(f"{n_unknown} without known bounds")
        return "\n".join(notes)

    def _samples_by_class(self) -> list[tuple[int, np.ndarray]]:
        """Return the samples of each class to draw, or all together if there are no labels."""
        assert self.samples is not None
        if self.sample_labels is None:
            return [(-1, np.ones(len(self.samples), dtype=bool))]
        return [
            (label, self.sample_labels == label)
            for label in styles.labels_present(self.sample_labels)[::-1]
        ]

    @property
    def drawn(self) -> np.ndarray:
        """The indices of the boxes drawn, with the most samples or weight last, so on top."""
        closed = np.flatnonzero(~self._is_open)
        weights = None if self.weights is None else self.weights[closed]
        return closed[common.main_boxes(self.counts[closed], weights, self.max_boxes)]

    @property
    def _is_open(self) -> np.ndarray:
        """Which boxes have no condition on the features shown."""
        return np.all(np.isneginf(self.lower) & np.isposinf(self.upper), axis=1)

    def _drawn_bounds(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds to draw, which are outside the picture where a box has none."""
        beyond = self.limits[:, 1] - self.limits[:, 0]
        lower, upper = self.lower[rows], self.upper[rows]
        lower = np.where(np.isfinite(lower), lower, self.limits[:, 0] - beyond)
        upper = np.where(np.isfinite(upper), upper, self.limits[:, 1] + beyond)
        return common.widen_to_slots(rows, lower, upper, list(self.categories))

    @property
    def _line_width(self) -> float:
        return float(1.3 * max(0.4, min(1.0, _FEW_BOXES / len(self.drawn)) ** 0.25))

    @property
    def _tint(self) -> float:
        """The opacity of boosted boxes, which are not filled if there are regions."""
        if self.weights is None or self.regions is not None:
            return 0.0
        return _TINT * min(1.0, (5 / max(len(self.drawn), 1)) ** 0.5)

    def _colours(self, rows: np.ndarray) -> np.ndarray:
        """Return colours of boxes, fainter for few samples and for boxes far from the cut."""
        from matplotlib.colors import to_rgba_array

        colours = to_rgba_array([styles.style_of(label).colour for label in self.labels[rows]])
        if self.weights is not None:
            colours[:, 3] = 0.25 + 0.75 * self.weights[rows] / max(self.weights.max(), 1e-300)
        elif len(rows) > _FEW_BOXES:
            colours[:, 3] = 0.3 + 0.7 * np.sqrt(self.counts[rows] / self.counts.max())
        if self.nearness is not None:
            colours[:, 3] *= self.nearness[rows] ** 2
        return colours


def _nearness(fitted: FittedModel, others: np.ndarray, columns: list[int]) -> np.ndarray:
    """Return how near boxes are to a sample in the features not shown, from 0 to 1.

    For boosted boxes it is the part of their weights that they add there.
    """
    match fitted.record:
        case AdditiveBoxes() as boxes:
            inside = (boxes.lower <= others) & (others <= boxes.upper)
            met = np.where(np.isnan(others), boxes.missing_shares, inside)
            met[:, columns] = 1.0
            parts: np.ndarray = met.prod(axis=1)
            return parts
        case NearestBoxes() as record:
            distances = record.distance(scaled_gaps(record, others, others))
            return np.maximum(closeness(distances), 0.0)
        case NeighborBoxes() as record:
            gaps = np.nan_to_num(np.minimum(neighbor_distances(record, others, others)[1], 1.0))
            return 1.0 - gaps @ record.feature_weights / record.feature_weights.sum()
        case record:
            raise AssertionError(record.kind)


def _has_regions(fitted: FittedModel, columns: list[int], at: Any) -> bool:
    """Whether the features shown and the cut determine predictions.

    For boosted boxes, a feature without a value is missing, which differs from one that does not
    matter.
    """
    if isinstance(fitted.record, AdditiveBoxes):
        return at is not None or len(columns) == fitted.n_features
    return bool((fitted.hyperboxes.labels >= 0).any())


def _find_regions(
    fitted: FittedModel, columns: list[int], limits: np.ndarray, resolution: int, at: np.ndarray
) -> np.ndarray:
    """Return the predicted class index in each cell of a grid, with the first feature along rows.

    `at` has the values of the features that are not shown, NaN for none.
    """
    middles = [_edges(bounds, resolution) for bounds in limits]
    middles = [(edges[1:] + edges[:-1]) / 2 for edges in middles]
    points = np.stack(np.meshgrid(*middles), axis=-1).reshape(-1, len(columns))
    step = max(1, _CELLS_AT_ONCE // len(at))
    parts = []
    for start in range(0, len(points), step):
        some = points[start : start + step]
        samples = np.tile(at, (len(some), 1))
        samples[:, columns] = common.from_axes(fitted.categories, columns, some)
        parts.append(fitted.call("predict", samples))
    labels = np.concatenate(parts)
    codes = labels if fitted.classes is None else np.searchsorted(fitted.classes, labels)
    return codes.reshape((resolution,) * len(columns))


def _draw_regions(ax: Axes, regions: np.ndarray, limits: np.ndarray, heights: np.ndarray) -> None:
    """Tint the regions. For a single feature, `heights` are the limits of the other axis."""
    from matplotlib.colors import to_rgb

    plane = np.atleast_2d(regions)
    of_classes = [styles.style_of(label).colour for label in range(regions.max() + 1)]
    colours = np.array(list(map(to_rgb, [*of_classes, styles.text_colour()])))  # -1: the last
    x = _edges(limits[0], plane.shape[1])
    y = _edges(limits[1] if regions.ndim == 2 else heights, plane.shape[0])
    ax.pcolormesh(
        x,
        y,
        colours[plane],
        alpha=0.3 if styles.has_dark_background(ax) else 0.15,
        zorder=0,
        rasterized=True,
        lw=0,
    )
    if regions.max() >= len(styles.COLOURS):
        _draw_borders(ax, plane, x, y)


def _edges(bounds: np.ndarray, n_cells: int) -> np.ndarray:
    return np.linspace(bounds[0], bounds[1], n_cells + 1)


def _draw_borders(ax: Axes, plane: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """Draw lines between the regions, because neighbors may have the same colour."""
    from matplotlib.collections import LineCollection

    row, column = np.nonzero(plane[:, 1:] != plane[:, :-1])
    upright = [(x[column + 1], y[row]), (x[column + 1], y[row + 1])]
    row, column = np.nonzero(plane[1:] != plane[:-1])
    level = [(x[column], y[row + 1]), (x[column + 1], y[row + 1])]
    segments = np.concatenate([np.transpose(ends, (2, 0, 1)) for ends in (upright, level)])
    ax.add_collection(
        LineCollection(segments, colors=styles.text_colour(), lw=0.5, alpha=0.3, zorder=0.5),  # type: ignore[arg-type]
        autolim=False,
    )


def _label_regions(ax: Axes, regions: np.ndarray, limits: np.ndarray, names: list[str]) -> None:
    """Write the name of each class where its region is widest, if it fits there.

    A name lies in the largest circle within its region, so that no two names can overlap.
    """
    from matplotlib.patheffects import withStroke
    from scipy.ndimage import distance_transform_edt

    pitch, size = styles.size_in_points(ax)[::-1] / regions.shape, 8.0
    for label in np.unique(regions):
        name = names[label]
        depth = distance_transform_edt(np.pad(regions == label, 1), sampling=pitch)[1:-1, 1:-1]
        row, column = np.unravel_index(depth.argmax(), depth.shape)
        # Layouts may shrink axes by a quarter. Letters are hardly ever wider than 0.7.
        if 0.75 * depth.max() < np.hypot(0.35 * len(name), 0.6) * size:
            continue
        share = (np.array([column, row]) + 0.5) / regions.shape[::-1]
        centre = limits[:, 0] + share * np.diff(limits).ravel()
        outline = withStroke(linewidth=2, foreground=ax.get_facecolor())
        ax.text(
            centre[0],
            centre[1],
            name,
            size=size,
            ha="center",
            va="center",
            zorder=5,
            path_effects=[outline],
        )


def _lanes(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return a lane for each interval, such that intervals in the same lane do not meet."""
    ends: list[float] = []
    lane = np.zeros(len(lower), dtype=np.intp)
    for box in np.lexsort((upper, lower)):
        free = next((i for i, end in enumerate(ends) if end < lower[box]), len(ends))
        ends[free : free + 1] = [float(upper[box])]
        lane[box] = free
    return lane


def _rectangles(
    lower: tuple[np.ndarray, np.ndarray], upper: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return the corners of rectangles, of shape (n, 4, 2)."""
    (left, low), (right, high) = lower, upper
    corners = [(left, low), (right, low), (right, high), (left, high)]
    return np.transpose(corners, (2, 0, 1))
