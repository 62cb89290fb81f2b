"""`BoxesDisplay`: boxes, decision regions and samples in one or two features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hyperboxes._explain.pipelines import read_pipeline
from hyperboxes._explain.reading import (
    check_integer,
    classes_or_clusters,
    is_voting,
    read_any_boxes,
    read_closeness,
)
from hyperboxes._explain.wording import name_no_label
from hyperboxes._extras import need
from hyperboxes._models.voting import VotingHyperboxes
from hyperboxes._plots.categories import (
    axis_categories,
    cut_into_strips,
    draw_categories,
    find_strips,
    hold_on_axes,
    widen_to_rooms,
)
from hyperboxes._plots.common import Display, axis_names
from hyperboxes._plots.docs import shared_docs
from hyperboxes._plots.intervals import draw_row, name_rows, rectangles
from hyperboxes._plots.planes import find_boxes, find_columns, find_limits, read_data, read_others
from hyperboxes._plots.regions import (
    draw_regions,
    draw_shared,
    find_regions,
    find_shared,
    label_regions,
)
from hyperboxes._plots.styles import (
    COLOURS,
    NO_LABEL,
    add_class_entries,
    display_names,
    draw_legend,
    escape_math,
    labels_present,
    shorten,
    style_of,
    text_colour,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More boxes are drawn with thinner lines, and those that hold few samples fainter.
_FEW_BOXES = 50

# How much boxes that vote are filled if they are few.
_TINT = 0.25


@shared_docs
@dataclass(eq=False, kw_only=True)
class BoxesDisplay(Display):
    """Boxes of a model in one or two of its features, with decision regions and samples.

    Boxes are drawn as outlines, projected on the plane of two features; those of a single feature
    as intervals, in rows by class. A box that does not know a feature runs across the picture. If
    there are many boxes, those that hold few samples are fainter, and the legend says how many are
    drawn.

    Boxes that vote (`BoostedHyperboxes`) are drawn the more strongly the larger their votes, and
    tinted where no regions are. Those that are open in all features shown are not drawn.

    Make one with `from_estimator`. The parameters are the attributes.

    Parameters
    ----------
    lower, upper : ndarray of shape (n_boxes, n_shown)
        Bounds of the boxes in the features shown, one or two; NaN where they are not known. Of
        categories, the number of the first and the last that a box holds, from 0 on.
    labels : ndarray of int, shape (n_boxes,)
        Classes of the boxes as indices into `classes`; -1 for none.
    counts : ndarray of int, shape (n_boxes,)
        How many samples each box holds.
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
        Their classes, like `labels`. None: they are not known.
    max_boxes : int, default=300
        How many boxes to draw, those that hold the most samples or have the largest votes. None:
        all.
    votes : ndarray of shape (n_boxes,), default=None
        The largest vote of each box, if boxes vote.
    no_label : str, default="no label"
        What the legend calls the label -1; it is "noise" of a clustering.
    n_features : int, default=None
        How many features the model has. If there are more than are drawn, and the picture is no
        cut, the legend says that boxes are projected: they may overlap here though they do not
        meet. None: say nothing.
    categories : dict, default={}
        The names of the categories on an axis (0 or 1) and their numbers, if it has any. They
        stand side by side, in the order of their places; boxes of the same ones end apart.
    shared : ndarray of shape (n_regions, 2, 2), default=None
        What boxes of two classes share, by design (`ContentiousFuzzyMinMax`): lower and upper
        corner of each region, which is hatched. None if another feature, which is not shown, may
        part them, or in a single feature.
    strips : dict, default={}
        Where boxes count categories (`MixedGFMM`), the shares of the values on an axis (0 or 1)
        among the samples of each box, of shape (n_boxes, n_values). Boxes are drawn as strips, the
        wider the more frequent the value.

    Attributes
    ----------
    {drawn_on}

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
    max_boxes: int | None = 300
    votes: np.ndarray | None = None
    no_label: str = NO_LABEL
    n_features: int | None = None
    categories: dict[int, dict[str, float]] = field(default_factory=dict)
    shared: np.ndarray | None = None
    strips: dict[int, np.ndarray] = field(default_factory=dict)

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
        max_boxes: int | None = 300,
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
            A fitted model of this package, or a fitted Pipeline that ends in one: samples are then
            those that the Pipeline takes, and values are drawn as transformed.
        X : array-like of shape (n_samples, n_features), default=None
            Samples to draw, with all features of the model. Those that lack a feature shown are
            left out.
        y : array-like of shape (n_samples,), default=None
            Their labels.
        features : sequence of one or two int or str, or one of them, default=None
            The features to draw, by index or name. None: the first two, or the only one; of boxes
            that vote the two that matter most.
        boxes : int or sequence of int, default=None
            Which boxes to draw, as indices into ``hyperboxes_``. None: all. If they vote and no
            features are given, these are two that they constrain.
        at : array-like of shape (n_features,), default=None
            A sample whose values the other features have: the picture is a cut through it, and
            boxes fade with the distance from the cut. NaN for a feature that is not to matter.
            None: no other feature matters; regions show what the model says if it knows nothing
            but the features shown. Boxes that vote are drawn if they hold the sample in the other
            features, and without one there are no regions, unless there are no other features.
        regions : bool, default=True
            Whether to tint the decision regions.
        grid_resolution : int, default=200
            How many places to ask for the class in each direction.
        max_boxes : int, default=300
            Of more boxes, those that hold the most samples are drawn. None: all.
        max_samples : int, default=2000
            Of more samples, so many are drawn, taken at random but always the same.
        {place}
        legend : bool, default=True
            Whether to draw a legend, on the right. To place it elsewhere, pass False and call
            ``display.ax_.legend(...)``.
        box_kwargs, scatter_kwargs : dict, default=None
            Further options of Matplotlib's `PolyCollection` and `scatter`.

        {drawn}
        """
        need("matplotlib", "plot", cls.__name__)
        at = read_pipeline(model, at)[1]
        model, X, _ = read_pipeline(model, X)
        all_boxes = read_any_boxes(model, cls.__name__)
        chosen = find_boxes(all_boxes, boxes)
        check_integer("max_boxes", max_boxes, 1)
        check_integer("max_samples", max_samples, 1, optional=False)
        check_integer("grid_resolution", grid_resolution, 2, optional=False)
        columns = find_columns(model, features, chosen)
        data = read_data(model, X, y, columns, max_samples)
        others = read_others(model, at, columns)
        ends = (ends[chosen][:, columns] for ends in (all_boxes.lower, all_boxes.upper))
        lower, upper = hold_on_axes(model, columns, *ends)
        limits = find_limits(model, columns, [lower, upper, data["samples"]])
        names = axis_names(model)
        display = cls(
            lower=lower,
            upper=upper,
            labels=all_boxes.labels[chosen],
            counts=all_boxes.counts[chosen],
            classes=classes_or_clusters(model),
            feature_names=[names[column] for column in columns],
            limits=limits,
            nearness=None if at is None else _nearness(model, others, columns)[chosen],
            regions=find_regions(model, columns, limits, grid_resolution, others)
            if regions and _has_regions(model, columns, at)
            else None,
            votes=all_boxes.weights[chosen].max(axis=1)
            if isinstance(all_boxes, VotingHyperboxes)
            else None,
            max_boxes=max_boxes,
            no_label=name_no_label(model),
            n_features=model.n_features_in_,
            categories=axis_categories(model, columns),
            shared=find_shared(model, columns, chosen),
            strips=find_strips(model, columns, chosen),
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
        """Draw what the display holds.

        Parameters
        ----------
        {place}
        {legend}
        box_kwargs, scatter_kwargs : dict, default=None
            Further options of Matplotlib's `PolyCollection` and `scatter`.

        {itself}
        """
        found = [self.labels] if self.sample_labels is None else [self.labels, self.sample_labels]
        labels = labels_present(np.concatenate(found))
        if len(self.limits) == 1:
            ax = self._make_axes(ax, (6.4, min(12.0, max(2.4, 1.2 + 0.35 * len(labels)))))
            self._plot_intervals(ax, labels, box_kwargs or {}, scatter_kwargs or {})
        else:
            ax = self._make_axes(ax, (6.4, 4.8))
            self._plot_plane(ax, box_kwargs or {}, scatter_kwargs or {})
            marked = self.sample_labels is not None
            add_class_entries(ax, labels, self._names, lines=True, markers=marked)
            if legend:
                draw_legend(ax, title=self._notes())
        ax.set(xlim=self.limits[0], xlabel=escape_math(shorten(self.feature_names[0], 60)))
        for number, places in self.categories.items():
            draw_categories((ax.xaxis, ax.yaxis)[number], places)
        if 0 in self.categories:
            ax.tick_params(axis="x", labelrotation=30)
        return self

    def _plot_plane(self, ax: Axes, box: dict[str, Any], scatter: dict[str, Any]) -> None:
        ax.set(xlim=self.limits[0], ylim=self.limits[1])
        ax.set_ylabel(escape_math(shorten(self.feature_names[1], 40)))
        if self.regions is not None:
            draw_regions(ax, self.regions, self.limits, self.limits[0])
        if self.shared is not None and len(self.shared):
            draw_shared(ax, self.shared)
        if self.samples is not None:
            for label, rows in self._samples_by_class():
                style = style_of(label)
                colour = text_colour() if self.sample_labels is None else style.colour
                options = {"s": 12, "lw": 0, "c": [colour], "marker": style.marker, **scatter}
                ax.scatter(*self.samples[rows].T, zorder=1.5, **options)
        self._draw_outlines(ax, box)
        if self.regions is not None and len(np.unique(self.regions)) > len(COLOURS):
            label_regions(ax, self.regions, self.limits, self._names)

    def _draw_outlines(self, ax: Axes, box: dict[str, Any]) -> None:
        from matplotlib.collections import PolyCollection

        rows, lower, upper = self._strips_of(self.drawn)
        corners = rectangles((lower[:, 0], lower[:, 1]), (upper[:, 0], upper[:, 1]))
        colours = self._colours(rows)
        look = {
            "edgecolors": colours,
            "facecolors": colours * [1, 1, 1, self._tint] if self._tint else "none",
            "linestyles": [style_of(label).line for label in self.labels[rows]],
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
        name_rows(ax, labels, self._names)
        if self.regions is not None:
            draw_regions(ax, self.regions, self.limits, np.array([-0.5, len(labels) - 0.5]))
        for row, label in enumerate(labels):
            rows, lower, upper = self._strips_of(self.drawn[self.labels[self.drawn] == label])
            colours = self._colours(rows)
            look = {
                "edgecolors": colours,
                "facecolors": colours * [1, 1, 1, 0.3],
                "linewidths": self._line_width,
                "zorder": 2,
                **box,
            }
            samples = None
            if self.samples is not None:
                samples = self.samples[self.sample_labels == label, 0]
            draw_row(ax, row, label, (lower[:, 0], upper[:, 0]), look, samples, scatter)

    @property
    def _names(self) -> list[str]:
        return display_names(self.classes, self.no_label)

    def _notes(self) -> str:
        """Return what the legend must say about boxes that are not to be seen."""
        notes = []
        if self.nearness is None and (self.n_features or 0) > len(self.limits):
            notes.append(f"boxes projected\nfrom {self.n_features} features")
        if n_open := int(self._is_open.sum()):
            boxes = "box" if n_open == 1 else "boxes"
            notes.append(f"{n_open} {boxes} open here,\nnot drawn")
        if (n_drawn := len(self.drawn)) < len(self.labels) - n_open and self.votes is not None:
            notes.append(f"{n_drawn} of {len(self.labels) - n_open} boxes")
        elif n_drawn < len(self.labels) - n_open:
            share = self.counts[self.drawn].sum() / self.counts.sum()
            notes.append(
                f"{n_drawn} of {len(self.labels)} boxes,\nwith {share:.0%} of their samples"
            )
        is_unknown = np.isnan(self.lower[self.drawn]).all(axis=1)
        if (n_unknown := int(is_unknown.sum())) and len(self.strips) < len(self.limits):
            notes.append(f"{n_unknown} without known bounds")
        return "\n".join(notes)

    def _samples_by_class(self) -> list[tuple[int, np.ndarray]]:
        """Return which samples to draw for each class; all as one if classes are not known."""
        assert self.samples is not None
        if self.sample_labels is None:
            return [(-1, np.ones(len(self.samples), dtype=bool))]
        return [
            (label, self.sample_labels == label)
            for label in labels_present(self.sample_labels)[::-1]
        ]

    @property
    def drawn(self) -> np.ndarray:
        """Which boxes are drawn, those of the most samples or votes last and so on top."""
        order = np.argsort(self.counts if self.votes is None else self.votes, kind="stable")
        order = order[~self._is_open[order]]
        return order if self.max_boxes is None else order[-self.max_boxes :]

    @property
    def _is_open(self) -> np.ndarray:
        """Which boxes constrain none of the features shown."""
        return np.all(np.isneginf(self.lower) & np.isposinf(self.upper), axis=1)

    def _known_bounds(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds; where a box is open or does not know a feature they are outside."""
        beyond = self.limits[:, 1] - self.limits[:, 0]
        lower, upper = self.lower[rows], self.upper[rows]
        lower = np.where(np.isfinite(lower), lower, self.limits[:, 0] - beyond)
        return lower, np.where(np.isfinite(upper), upper, self.limits[:, 1] + beyond)

    def _strips_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what is drawn of boxes: of which one, and its corners."""
        shares = {axis: table[rows] for axis, table in self.strips.items()}
        rooms = [axis for axis in self.categories if axis not in shares]
        bounds = widen_to_rooms(rows, *self._known_bounds(rows), rooms)
        pieces = cut_into_strips(*bounds, shares)
        return rows[pieces.box], pieces.lower, pieces.upper

    @property
    def _line_width(self) -> float:
        return float(1.3 * max(0.4, min(1.0, _FEW_BOXES / len(self.drawn)) ** 0.25))

    @property
    def _tint(self) -> float:
        """How much to fill boxes: those that vote, unless regions show what they add up to."""
        if self.votes is None or self.regions is not None:
            return 0.0
        return _TINT * min(1.0, (5 / max(len(self.drawn), 1)) ** 0.5)

    def _colours(self, rows: np.ndarray) -> np.ndarray:
        """Return colours of boxes, fainter if they hold few samples or are far from the cut."""
        from matplotlib.colors import to_rgba_array

        colours = to_rgba_array([style_of(label).colour for label in self.labels[rows]])
        if self.votes is not None:
            colours[:, 3] = 0.25 + 0.75 * self.votes[rows] / max(self.votes.max(), 1e-300)
        elif len(rows) > _FEW_BOXES:
            colours[:, 3] = 0.3 + 0.7 * np.sqrt(self.counts[rows] / self.counts.max())
        if self.nearness is not None:
            colours[:, 3] *= self.nearness[rows] ** 2
        return colours


def _nearness(model: Any, others: np.ndarray, columns: list[int]) -> np.ndarray:
    """Return how near the boxes are to a sample in the features that are not shown.

    Boxes that vote hold it there or do not.
    """
    boxes = model.hyperboxes_
    if not isinstance(boxes, VotingHyperboxes):
        return np.maximum(read_closeness(model, others), 0.0)
    outside = (others < boxes.lower) | (others > boxes.upper)
    keeps_out = np.where(np.isnan(others), ~boxes.missing, outside)
    keeps_out[:, columns] = False
    return np.where(keeps_out.any(axis=1), 0.0, 1.0)


def _has_regions(model: Any, columns: list[int], at: Any) -> bool:
    """Whether the picture says what the model predicts.

    Boxes that vote take a feature that is not known as one that is missing, not as one that does
    not matter.
    """
    if is_voting(model):
        return at is not None or len(columns) == model.n_features_in_
    return bool((model.hyperboxes_.labels >= 0).any())
