"""`ParallelCoordinatesDisplay`: a sample in many features, between the bounds of its boxes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hyperboxes._estimators.validation import checked
from hyperboxes._explain.pipelines import read_pipeline
from hyperboxes._explain.reading import (
    check_integer,
    read_classifier,
    read_closeness,
    read_membership,
    read_scale,
)
from hyperboxes._explain.tallies import read_weights
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._plots.categories import (
    axis_categories,
    find_strips,
    hold_on_axes,
    limits_of_categories,
    place_on_axes,
)
from hyperboxes._plots.common import (
    Display,
    axis_names,
    boxes_to_draw,
    check_samples,
    gaps_to,
)
from hyperboxes._plots.docs import shared_docs
from hyperboxes._plots.styles import (
    display_names,
    draw_legend,
    escape_math,
    shorten,
    size_in_points,
    style_of,
    text_colour,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_SAMPLES = 10

# Of the distance between rows: a value that all samples of a box have.
_HIGHEST_BAR = 0.45
# Bars of several boxes at the same value stand side by side: of the width of the picture.
_BETWEEN_BARS = 0.013
# Of the distance between rows: half the height of a box in a row that stands alone.
_HALF_BAND = 0.25


@shared_docs
@dataclass(eq=False, kw_only=True)
class ParallelCoordinatesDisplay(Display):
    """A sample, or a few, in all features at once, with the boxes that decide about it.

    Each feature is a row with an axis of its own, whose ends are marked in the units of the data. A
    box is a band across the rows, the sample a line: it belongs to the box where it runs inside
    the band. The box that wins is drawn strongest; a bar shows where each other box is missed by
    most. In a feature that a box does not know, its band takes all of the row; where the sample
    has no value, its line is broken. Of categories that boxes count (`MixedGFMM`), bars show how
    frequent each value is in the boxes.

    Make one with `from_estimator`. The parameters are the attributes.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_shown)
        The samples in the features shown.
    lower, upper : ndarray of shape (n_boxes, n_shown)
        Bounds of the boxes shown; NaN where they are not known. Of categories, the number of the
        first and the last that a box holds, from 0 on.
    labels : ndarray of int, shape (n_boxes,)
        Their classes as indices into `classes`.
    counts : ndarray of int, shape (n_boxes,)
        How many training samples each holds.
    memberships : ndarray of shape (n_boxes,)
        The membership of the sample in each; of several samples, the largest.
    wins : ndarray of bool, shape (n_boxes,)
        Which boxes decide the class of a sample.
    missed : ndarray of int, shape (n_boxes,)
        The row in which the sample is farthest outside the box; -1 if it is inside.
    ranges : ndarray of shape (n_shown, 2)
        The ends of the axes.
    classes : ndarray of shape (n_classes,)
        The class labels.
    feature_names : list of str
        Names of the features shown, from top to bottom.
    n_features : int
        How many features the model has.
    categories : dict, default={}
        The names of the categories in a row and their numbers, if it has any: they stand side by
        side, in the order of their places.
    strips : dict, default={}
        Where boxes count categories (`MixedGFMM`), the shares of a row's values among the samples
        of each box, of shape (n_boxes, n_values). They are drawn as bars.

    Attributes
    ----------
    {drawn_on}

    See Also
    --------
    BoxesDisplay : All boxes, in two features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import ImprovedOnlineGFMM, ParallelCoordinatesDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X, y)
    >>> display = ParallelCoordinatesDisplay.from_estimator(model, X[100:101])
    >>> display.labels  # the winner first
    array([2, 1, 0])
    >>> display.memberships.round(2)
    array([1.  , 0.87, 0.55])
    """

    samples: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    memberships: np.ndarray
    wins: np.ndarray
    missed: np.ndarray
    ranges: np.ndarray
    classes: np.ndarray
    feature_names: list[str]
    n_features: int
    categories: dict[int, dict[str, float]] = field(default_factory=dict)
    strips: dict[int, np.ndarray] = field(default_factory=dict)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        sample: Any,
        *,
        n_boxes: int | None = None,
        max_features: int | None = 20,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw a sample and the boxes of a fitted model that are nearest to it.

        Parameters
        ----------
        model : classifier
            A fitted model of this package, or a fitted Pipeline that ends in one: samples are then
            those that the Pipeline takes, and values are drawn as transformed.
        sample : array-like of shape (n_features,) or (n_samples, n_features)
            The sample, or up to ten of them.
        n_boxes : int, default=None
            Of how many classes to draw the box with the largest membership, for each sample: first
            the class that is predicted, then those nearest. None: 3, and of several samples 1.
        max_features : int, default=20
            How many features to draw. If the model has more, those are taken, and drawn from top to
            bottom, in which a sample is farthest outside one of the boxes; then, where samples are
            in all of the boxes, those in which the winner is narrowest. None: all, in their order.
        {place}
        legend : bool, default=True
            Whether to draw a legend, below.

        {drawn}
        """
        model, sample, _ = read_pipeline(model, sample)
        boxes = boxes_to_draw(model, cls.__name__)
        read_classifier(model, cls.__name__)
        check_integer("n_boxes", n_boxes, 1)
        check_integer("max_features", max_features, 1)
        samples = check_samples(model, sample)
        if len(samples) > _MOST_SAMPLES:
            raise ValueError(
                f"Got {len(samples)} samples: more than {_MOST_SAMPLES} cannot be "
                "told apart. Choose some, such as X[:3]."
            )
        if n_boxes is None:
            n_boxes = 3 if len(samples) == 1 else 1
        chosen, ranks, far, wins = _choose_boxes(model, boxes, samples, n_boxes)
        columns = _choose_features(model, boxes, chosen[wins], far, max_features)
        ends = boxes.lower[chosen][:, columns], boxes.upper[chosen][:, columns]
        lower, upper = hold_on_axes(model, columns.tolist(), *ends)
        samples = place_on_axes(model, columns.tolist(), samples[:, columns])
        names = axis_names(model)
        display = cls(
            samples=samples,
            lower=lower,
            upper=upper,
            labels=boxes.labels[chosen],
            counts=boxes.counts[chosen],
            memberships=np.maximum(ranks, 0.0),
            wins=wins,
            missed=np.where(far.any(axis=1), far[:, columns].argmax(axis=1), -1),
            ranges=_ranges(model, columns, [samples, lower, upper]),
            classes=model.classes_,
            feature_names=[names[column] for column in columns],
            n_features=len(names),
            categories=axis_categories(model, columns.tolist()),
            strips=find_strips(model, columns.tolist(), chosen),
        )
        return display.plot(ax, legend=legend)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw what the display holds.

        Parameters
        ----------
        {place}
        legend : bool, default=True
            Whether to draw a legend, below.

        {itself}
        """
        n_rows = len(self.feature_names)
        n_entries = len(self.samples) + len(self.labels)
        ax = self._make_axes(ax, (6.4, 0.8 + 0.26 * n_rows + 0.2 * n_entries))
        self._draw_axes(ax)
        for i, sample in enumerate(self._place(self.samples)):
            name = "sample" if len(self.samples) == 1 else f"sample {i}"
            # Samples differ by their markers: the colours are the classes'.
            marker = style_of(i).marker
            ax.plot(
                sample,
                range(n_rows),
                c=text_colour(),
                lw=1.5,
                ms=5,
                marker=marker,
                zorder=4,
                label=name,
            )
        for box in range(len(self.labels)):
            self._draw_band(ax, box)
        if legend:
            self._draw_legend(ax)
        return self

    def _draw_axes(self, ax: Axes) -> None:
        """Draw a row for each feature, with its name and the ends of its axis."""
        n_rows = len(self.feature_names)
        rows = np.arange(n_rows)
        ax.hlines(rows, 0, 1, colors=text_colour(), lw=0.6, alpha=0.4, zorder=1)
        ax.set(xlim=(-0.01, 1.01), ylim=(n_rows - 0.5, -0.5), xticks=[])
        ax.spines[:].set_visible(False)
        size = min(8.0, max(2.0, 0.7 * size_in_points(ax)[1] / n_rows))
        ends = [self._ends(row) for row in range(n_rows)]
        look: dict[str, Any] = {"va": "center", "size": size}
        for row, (low, high) in enumerate(ends):
            ax.text(-0.02, row, low, ha="right", **look)
            if high != low:
                ax.text(1.02, row, high, ha="left", **look)
        # Names stand left of the numbers, of which a digit is 0.64 of its height wide.
        widest = max(len(low) for low, _ in ends)
        ax.tick_params(axis="y", length=0, pad=0.7 * size * widest + 10, labelsize=size)
        ax.set_yticks(rows, [escape_math(shorten(name, 32)) for name in self.feature_names])
        self._name_values(ax, size - 1.5)

    def _ends(self, row: int) -> tuple[str, str]:
        """Return what stands at the ends of a row."""
        if row in self.categories:
            names = list(self.categories[row])
            return shorten(names[0], 12), shorten(names[-1], 12)
        low, high = self.ranges[row]
        return f"{low:.4g}", f"{high:.4g}"

    def _draw_band(self, ax: Axes, box: int) -> None:
        """Draw a box from row to row, and a bar where a sample misses it by most."""
        style = style_of(int(self.labels[box]))
        wins = self.wins[box]
        left, right = self._place(self.lower[box]), self._place(self.upper[box])
        left, right = np.where(np.isnan(left), 0, left), np.where(np.isnan(right), 1, right)
        z = 3 if wins else 2
        self._draw_counts(ax, box, z + 0.5)
        row = self.missed[box]
        if row >= 0 and row not in self.strips and len(self.samples) == 1:
            value = self._place(self.samples)[0, row]
            near = left[row] if value < left[row] else right[row]
            look: dict[str, Any] = {
                "lw": 4,
                "solid_capstyle": "butt",
                "zorder": z + 0.5,
                "alpha": 0.8,
            }
            ax.plot([value, near], [row, row], c=style.colour, **look)
        rows, left, right = self._outline(left, right)
        tint: dict[str, Any] = {"alpha": 0.35 if wins else 0.15, "lw": 0, "zorder": z}
        ax.fill_betweenx(rows, left, right, color=style.colour, **tint)
        line: dict[str, Any] = {"ls": style.line, "lw": 2 if wins else 0.9, "zorder": z}
        ax.plot(left, rows, c=style.colour, label=self._describe(box), **line)
        ax.plot(right, rows, c=style.colour, **line)

    def _outline(
        self, left: np.ndarray, right: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a band from row to row; of rows alone or among those with bars, a piece each."""
        if len(left) > 1 and not self.strips:
            return np.arange(len(left)), left, right
        alone = np.setdiff1d(np.arange(len(left)), list(self.strips))
        rows = (alone[:, np.newaxis] + [-_HALF_BAND, _HALF_BAND, np.nan]).ravel()
        return rows, left[alone].repeat(3), right[alone].repeat(3)

    def _draw_counts(self, ax: Axes, box: int, z: float) -> None:
        """Draw a bar at each value that a box counts, the higher the more frequent it is there."""
        aside = _BETWEEN_BARS * (box - (len(self.labels) - 1) / 2)
        colour = style_of(int(self.labels[box])).colour
        look: dict[str, Any] = {"lw": 4, "zorder": z, "color": colour}
        for row, shares in self.strips.items():
            values = np.flatnonzero(shares[box])
            places = self._place_in_row(values.astype(float), row) + aside
            ax.vlines(places, row - _HIGHEST_BAR * shares[box, values], row, **look)

    def _name_values(self, ax: Axes, size: float) -> None:
        """Write the sample's categories beside it, unless they stand at an end of the row."""
        if len(self.samples) > 1:
            return
        for row, places in self.categories.items():
            at = self.samples[0, row]
            text = shorten(next((name for name, place in places.items() if place == at), ""), 24)
            if text and text not in self._ends(row):
                x = float(self._place_in_row(np.array([at]), row)[0])
                side, shift = ("right", -5) if x > 0.5 else ("left", 5)
                look: dict[str, Any] = {"size": size, "ha": side, "va": "top", "zorder": 5}
                ax.annotate(
                    escape_math(text), (x, row), (shift, -1), textcoords="offset points", **look
                )

    def _describe(self, box: int) -> str:
        name = display_names(self.classes)[self.labels[box]]
        samples = "1 sample" if self.counts[box] == 1 else f"{self.counts[box]} samples"
        return f"{name}: membership {self.memberships[box]:.2f} in a box of {samples}"

    def _draw_legend(self, ax: Axes) -> None:
        """Draw the legend below: beside it, it would take the rows' room."""
        n_rows = len(self.feature_names)
        title = f"{n_rows} of {self.n_features} features" if n_rows < self.n_features else ""
        draw_legend(ax, below=True, title=title)

    def _place(self, values: np.ndarray) -> np.ndarray:
        """Return where values are on their axes, in the middle of an axis without length."""
        return self._share_of(values, *self.ranges.T)

    def _place_in_row(self, values: np.ndarray, row: int) -> np.ndarray:
        return self._share_of(values, *self.ranges[row])

    @staticmethod
    def _share_of(values: np.ndarray, low: Any, high: Any) -> np.ndarray:
        has_length = high > low
        return np.where(
            has_length | np.isnan(values),
            (values - low) / np.where(has_length, high - low, 1.0),
            0.5,
        )


def _choose_boxes(
    model: Any, boxes: Hyperboxes, samples: np.ndarray, n_boxes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return boxes, how close the nearest sample is, how far outside by feature, and which win."""
    chosen: dict[int, tuple[float, np.ndarray, bool]] = {}
    winners = model.apply(checked(samples)).tolist()
    for sample, winner in zip(samples, winners, strict=True):
        ranks, far = read_closeness(model, sample), _misses(model, boxes, sample)
        for box in _best_of_classes(boxes, ranks, winner)[:n_boxes]:
            rank, row, won = chosen.get(box, (-np.inf, far[box], False))
            if ranks[box] > rank:
                rank, row = ranks[box], far[box]
            chosen[box] = rank, row, won or box == winner
    ranks, far, wins = (np.array(column) for column in zip(*chosen.values(), strict=True))
    return np.array(list(chosen)), ranks, far, wins


def _misses(model: Any, boxes: Hyperboxes, sample: np.ndarray) -> np.ndarray:
    """Return by how much a sample misses each box in each feature."""
    far = read_membership(model).slopes(gaps_to(model, boxes, sample))
    if weights := read_weights(model):
        far *= weights[0]
        shares = model._model.shares(sample[np.newaxis], np.arange(len(boxes)))[0]
        far[:, model._model.features] = weights[1] * np.nan_to_num(1.0 - shares)
    return far


def _best_of_classes(boxes: Hyperboxes, ranks: np.ndarray, winner: int) -> list[int]:
    """Return the box that decides, and the nearest box of each other class, the nearest first.

    Of boxes as near the one with the most samples is taken.
    """
    order = np.lexsort((-boxes.counts, -ranks))
    labels = boxes.labels[order]
    order = order[(labels >= 0) & (labels != boxes.labels[winner])]
    _, first = np.unique(boxes.labels[order], return_index=True)
    return [winner, *order[np.sort(first)].tolist()]


def _choose_features(
    model: Any, boxes: Hyperboxes, winners: np.ndarray, far: np.ndarray, most: int | None
) -> np.ndarray:
    """Return the features to draw, from top to bottom."""
    n_features = model.n_features_in_
    if most is None or n_features <= most:
        return np.arange(n_features)
    sides = (boxes.upper[winners] - boxes.lower[winners]) / read_scale(model).span
    narrowest = np.fmin.reduce(sides, axis=0)  # NaN, where no winner knows the feature, is last
    return np.lexsort((narrowest, -far.max(axis=0)))[:most]


def _ranges(model: Any, columns: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    """Return the training data's ranges, widened to hold all that is drawn."""
    ends = [model.data_min_[columns][None], model.data_max_[columns][None], *parts]
    values = np.concatenate(ends)
    ranges = np.column_stack([np.fmin.reduce(values), np.fmax.reduce(values)])
    for row, (low, high) in limits_of_categories(model, columns.tolist()).items():
        ranges[row] = low + 0.5, high - 0.5
    return ranges
