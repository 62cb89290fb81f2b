"""`ParallelCoordinatesDisplay`: a sample in many features, and the boxes nearest to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hyperboxes._estimators.capabilities import Operation, check_labels
from hyperboxes._extras import need
from hyperboxes._models.executor import trace
from hyperboxes._models.records import NearestBoxes, closeness
from hyperboxes._plots import common, styles
from hyperboxes._plots.common import Display
from hyperboxes._readers.fitted import FittedModel, check_integer, read_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_SAMPLES = 10

# Half the height of a box if there is a single row.
_HALF_BAND = 0.25


@dataclass(eq=False, kw_only=True)
class ParallelCoordinatesDisplay(Display):
    """A sample, or a few, in all features at once, with the nearest boxes.

    Each feature is a row with an axis of its own, whose ends are marked in the units of the data. A
    box is a band across the rows, the sample a line: the box contains the sample in the features
    where the line is inside the band. The box that decides, or the nearest of the predicted class
    if several decide together, is drawn strongest. A bar marks the feature in which the sample is
    farthest outside a box. Where a box has no bounds, its band fills the row; where the sample has
    no value, its line is broken.

    Create it with `from_estimator`. The parameters are also the attributes.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_shown)
        The samples in the features shown.
    lower, upper : ndarray of shape (n_boxes, n_shown)
        Bounds of the boxes shown; NaN where a box has none. For categories, the numbers of the
        first and the last category in the box, counted from 0.
    labels : ndarray of int, shape (n_boxes,)
        Their classes as indices into `classes`.
    counts : ndarray of int, shape (n_boxes,)
        The number of training samples in each.
    memberships : ndarray of shape (n_boxes,)
        The membership of the sample in each; for several samples, the largest.
    wins : ndarray of bool, shape (n_boxes,)
        The boxes that decide the class of a sample.
    missed : ndarray of int, shape (n_boxes,)
        The row in which the sample is farthest outside the box; -1 if it is inside.
    ranges : ndarray of shape (n_shown, 2)
        The ends of the axes.
    classes : ndarray of shape (n_classes,)
        The class labels.
    feature_names : list of str
        Names of the features shown, from top to bottom.
    n_features : int
        The number of features of the model.
    categories : dict, default={}
        The names of the categories in a row and their numbers, for each row with categories. They
        stand side by side, in the order of their encoded positions.

    {attributes}

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
            A fitted nearest-box model of this package, or a fitted Pipeline that ends in one. The
            sample is then an input of the Pipeline, and the picture shows transformed values.
        sample : array-like of shape (n_features,) or (n_samples, n_features)
            The sample, or up to ten of them.
        n_boxes : int, default=None
            The number of boxes for each sample: the one that decides, and the box with the largest
            membership of each of the nearest other classes. None: 3, or 1 for several samples.
        max_features : int, default=20
            The number of features to draw at most. If the model has more, the features are drawn in
            which a sample is farthest outside one of the boxes, the farthest on top, and then those
            in which the box that decides is narrowest. None: all, in their order.
        ax : matplotlib Axes, default=None
            The axes to draw on. None: new axes in a new figure.
        legend : bool, default=True
            Whether to draw a legend, below.

        {display}
        """
        need("matplotlib", "plot", cls.__name__)
        fitted = read_fitted(model, Operation.PARALLEL_COORDINATES)
        record, boxes = fitted.record, fitted.hyperboxes
        assert isinstance(record, NearestBoxes)
        check_labels(record)
        check_integer("n_boxes", n_boxes, 1)
        check_integer("max_features", max_features, 1)
        samples = common.check_samples(fitted, sample)
        if len(samples) > _MOST_SAMPLES:
            raise ValueError(
                f"Got {len(samples)} samples, but at most {_MOST_SAMPLES} can be distinguished. "
                "Pass some of them, such as X[:3]."
            )
        if n_boxes is None:
            n_boxes = 3 if len(samples) == 1 else 1
        chosen, ranks, far, wins = _choose_boxes(record, samples, n_boxes)
        columns = _choose_features(record, chosen[wins], far, max_features).tolist()
        ends = boxes.lower[chosen][:, columns], boxes.upper[chosen][:, columns]
        lower, upper = common.to_axes(fitted.categories, columns, *ends)
        shown = samples[:, columns]
        samples = common.to_axes(fitted.categories, columns, shown, shown)[0]
        names = common.axis_names(fitted)
        display = cls(
            samples=samples,
            lower=lower,
            upper=upper,
            labels=boxes.labels[chosen],
            counts=boxes.counts[chosen],
            memberships=np.maximum(ranks, 0.0),
            wins=wins,
            missed=np.where(far.any(axis=1), far[:, columns].argmax(axis=1), -1),
            ranges=_ranges(fitted, columns, [samples, lower, upper]),
            classes=fitted.labels,
            feature_names=[names[column] for column in columns],
            n_features=len(names),
            categories=common.axis_categories(fitted.categories, columns),
        )
        return display.plot(ax, legend=legend)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on. None: new axes in a new figure.
        legend : bool, default=True
            Whether to draw a legend, below.

        {self}
        """
        n_rows = len(self.feature_names)
        n_entries = len(self.samples) + len(self.labels)
        ax = self._make_axes(ax, (6.4, 0.8 + 0.26 * n_rows + 0.2 * n_entries))
        self._draw_axes(ax)
        for i, sample in enumerate(self._rescale(self.samples)):
            name = "sample" if len(self.samples) == 1 else f"sample {i}"
            # Samples differ by their markers, because colours stand for classes.
            look: dict[str, Any] = {"c": styles.text_colour(), "marker": styles.style_of(i).marker}
            ax.plot(sample, range(n_rows), lw=1.5, ms=5, zorder=4, label=name, **look)
        for box in range(len(self.labels)):
            self._draw_band(ax, box)
        if legend:  # below the rows, which need the width
            is_part = n_rows < self.n_features
            title = f"{n_rows} of {self.n_features} features" if is_part else ""
            styles.draw_legend(ax, below=True, title=title)
        return self

    def _draw_axes(self, ax: Axes) -> None:
        """Draw a row for each feature, with its name and the ends of its axis."""
        n_rows = len(self.feature_names)
        rows = np.arange(n_rows)
        ax.hlines(rows, 0, 1, colors=styles.text_colour(), lw=0.6, alpha=0.4, zorder=1)
        ax.set(xlim=(-0.01, 1.01), ylim=(n_rows - 0.5, -0.5), xticks=[])
        ax.spines[:].set_visible(False)
        size = min(8.0, max(2.0, 0.7 * styles.size_in_points(ax)[1] / n_rows))
        ends = [self._ends(row) for row in range(n_rows)]
        look: dict[str, Any] = {"va": "center", "size": size}
        for row, (low, high) in enumerate(ends):
            ax.text(-0.02, row, low, ha="right", **look)
            if high != low:
                ax.text(1.02, row, high, ha="left", **look)
        # Names stand left of the numbers, of which a digit is 0.64 of its height wide.
        widest = max(len(low) for low, _ in ends)
        ax.tick_params(axis="y", length=0, pad=0.7 * size * widest + 10, labelsize=size)
        names = (styles.shorten(name, 32) for name in self.feature_names)
        ax.set_yticks(rows, list(map(styles.escape_math, names)))
        self._name_values(ax, size - 1.5)

    def _ends(self, row: int) -> tuple[str, str]:
        """Return the texts at the ends of a row."""
        if row in self.categories:
            names = list(self.categories[row])
            return styles.shorten(names[0], 12), styles.shorten(names[-1], 12)
        low, high = self.ranges[row]
        return f"{low:.4g}", f"{high:.4g}"

    def _draw_band(self, ax: Axes, box: int) -> None:
        """Draw a box across the rows, and a bar where the sample is farthest outside."""
        style = styles.style_of(int(self.labels[box]))
        wins = self.wins[box]
        left, right = self._rescale(self.lower[box]), self._rescale(self.upper[box])
        left, right = np.where(np.isnan(left), 0, left), np.where(np.isnan(right), 1, right)
        z = 3 if wins else 2
        row = self.missed[box]
        if row >= 0 and len(self.samples) == 1:
            value = self._rescale(self.samples)[0, row]
            near = left[row] if value < left[row] else right[row]
            look: dict[str, Any] = {"lw": 4, "zorder": z + 0.5, "alpha": 0.8}
            ax.plot([value, near], [row, row], c=style.colour, solid_capstyle="butt", **look)
        rows = np.arange(len(left))
        if len(left) == 1:
            rows, left, right = np.array([-_HALF_BAND, _HALF_BAND]), left.repeat(2), right.repeat(2)
        tint: dict[str, Any] = {"alpha": 0.35 if wins else 0.15, "lw": 0, "zorder": z}
        ax.fill_betweenx(rows, left, right, color=style.colour, **tint)
        line: dict[str, Any] = {"ls": style.line, "lw": 2 if wins else 0.9, "zorder": z}
        ax.plot(left, rows, c=style.colour, label=self._describe(box), **line)
        ax.plot(right, rows, c=style.colour, **line)

    def _name_values(self, ax: Axes, size: float) -> None:
        """Write the categories of the sample next to it, except those at an end of the row."""
        if len(self.samples) > 1:
            return
        for row, slots in self.categories.items():
            at = self.samples[0, row]
            name = next((name for name, slot in slots.items() if slot == at), "")
            text = styles.shorten(name, 24)
            if text and text not in self._ends(row):
                x = float(self._rescale(self.samples)[0, row])
                side, shift = ("right", -5) if x > 0.5 else ("left", 5)
                look: dict[str, Any] = {"size": size, "ha": side, "va": "top", "zorder": 5}
                text = styles.escape_math(text)
                ax.annotate(text, (x, row), (shift, -1), textcoords="offset points", **look)

    def _describe(self, box: int) -> str:
        name = styles.display_names(self.classes)[self.labels[box]]
        samples = "1 sample" if self.counts[box] == 1 else f"{self.counts[box]} samples"
        return f"{name}: membership {self.memberships[box]:.2f} in a box of {samples}"

    def _rescale(self, values: np.ndarray) -> np.ndarray:
        """Return values as shares of their axes, 0.5 on an axis without length."""
        low, high = self.ranges.T
        has_length = high > low
        return np.where(
            has_length | np.isnan(values),
            (values - low) / np.where(has_length, high - low, 1.0),
            0.5,
        )


def _choose_boxes(
    record: NearestBoxes, samples: np.ndarray, n_boxes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return boxes, how close a sample is, how far outside in each feature, and which decide."""
    chosen: dict[int, tuple[float, np.ndarray, bool]] = {}
    for sample in samples:
        found = trace(record, sample[np.newaxis], sample[np.newaxis])
        # Of each class the nearest box, of the predicted class first.
        labels = record.labels[found.boxes]
        order = np.argsort(labels != found.evaluation.winners[0], kind="stable")
        order = order[np.sort(np.unique(labels[order], return_index=True)[1])][:n_boxes]
        ranks, far = closeness(found.distances[order]), record.slopes(found.gaps[order])
        for i, box in enumerate(found.boxes[order].tolist()):
            rank, row, won = chosen.get(box, (-np.inf, far[i], False))
            if ranks[i] > rank:
                rank, row = ranks[i], far[i]
            chosen[box] = rank, row, won or i == 0
    ranks, far, wins = (np.array(column) for column in zip(*chosen.values(), strict=True))
    return np.array(list(chosen)), ranks, far, wins


def _choose_features(
    record: NearestBoxes, winners: np.ndarray, far: np.ndarray, most: int | None
) -> np.ndarray:
    """Return the features to draw, from top to bottom."""
    n_features = len(record.gamma)
    if most is None or n_features <= most:
        return np.arange(n_features)
    narrowest = np.fmin.reduce(record.upper[winners] - record.lower[winners], axis=0)
    # NaN, if no winner has bounds, is last
    return np.lexsort((narrowest, -far.max(axis=0)))[:most]


def _ranges(fitted: FittedModel, columns: list[int], parts: list[np.ndarray]) -> np.ndarray:
    """Return the ranges of the training data, widened to contain all that is drawn."""
    ends = [fitted.scale.low[columns][None], fitted.scale.high[columns][None], *parts]
    values = np.concatenate(ends)
    ranges = np.column_stack([np.fmin.reduce(values), np.fmax.reduce(values)])
    for row, (low, high) in common.category_limits(fitted.categories, columns).items():
        ranges[row] = low + 0.5, high - 0.5
    return ranges
