"""`BoxSizesDisplay`: how large boxes are, how many samples they hold, and how few hold most."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_scalar

from hyperboxes._explain.pipelines import read_pipeline
from hyperboxes._explain.reading import classes_or_clusters, read_scale, read_theta
from hyperboxes._explain.wording import name_no_label
from hyperboxes._plots.common import (
    PanelsDisplay,
    axis_names,
    boxes_to_draw,
    feature_index,
    limits_of,
)
from hyperboxes._plots.docs import shared_docs
from hyperboxes._plots.styles import (
    NO_LABEL,
    add_class_entries,
    display_names,
    draw_legend,
    escape_math,
    labels_present,
    shorten,
    size_in_points,
    style_of,
    text_colour,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@shared_docs
@dataclass(eq=False, kw_only=True)
class BoxSizesDisplay(PanelsDisplay):
    """Sizes and supports of the boxes of a model, and how many boxes hold most samples.

    On the left each box is a dot: how many samples it holds over its longest side, or its side in
    one feature. On the right, the share of samples in so many boxes, fullest first.

    Make one with `from_estimator`. The parameters are the attributes.

    Parameters
    ----------
    sides : ndarray of shape (n_boxes,)
        The longest side of each box as a share of the feature's range, or its side in one feature.
    counts : ndarray of int, shape (n_boxes,)
        How many samples each box holds.
    labels : ndarray of int, shape (n_boxes,)
        Classes of the boxes as indices into `classes`; -1 for none.
    classes : ndarray of shape (n_classes,)
        The class labels.
    largest : float, default=None
        The largest side that `theta` allows.
    side_name : str, default="longest side"
        What `sides` are.
    no_label : str, default="no label"
        What the legend calls the label -1; it is "noise" of a clustering.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The two panels.
    {first_of_panels}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import BoxSizesDisplay, ImprovedOnlineGFMM
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X, y)
    >>> display = BoxSizesDisplay.from_estimator(model)
    >>> display.n_boxes_for(0.9)  # of 17
    10
    """

    sides: np.ndarray
    counts: np.ndarray
    labels: np.ndarray
    classes: np.ndarray
    largest: float | None = None
    side_name: str = "longest side"
    no_label: str = NO_LABEL

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        feature: int | str | None = None,
        share: float = 0.9,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw sizes and supports of the boxes of a fitted model.

        Parameters
        ----------
        model : estimator
            A fitted model of this package, or a fitted Pipeline that ends in one.
        feature : int or str, default=None
            A feature, by index or name: sides are those in this feature, in its units. None: the
            longest side of each box, as a share of the feature's range. Boxes are left out on the
            left if they do not know the feature.
        share : float, default=0.9
            The share of samples for which to mark how many boxes hold so many.
        {first_panel}
        {legend}

        {drawn}
        """
        model, *_ = read_pipeline(model)
        boxes = boxes_to_draw(model, cls.__name__)
        sides = boxes.upper - boxes.lower
        span = read_scale(model).span
        if feature is None:
            shown = np.fmax.reduce(sides / span, axis=1)
            largest, name = read_theta(model), "longest side / range"
        else:
            column = feature_index(model, feature)
            shown, largest = sides[:, column], float(read_theta(model) * span[column])
            name = f"side in {axis_names(model)[column]}"
        display = cls(
            sides=shown,
            counts=boxes.counts,
            labels=boxes.labels,
            classes=classes_or_clusters(model),
            largest=largest,
            side_name=name,
            no_label=name_no_label(model),
        )
        return display.plot(ax, share=share, legend=legend)

    @property
    def coverage(self) -> np.ndarray:
        """The share of samples in the 1, 2, ... fullest boxes."""
        held = np.sort(self.counts)[::-1].cumsum()
        return held / held[-1]

    def n_boxes_for(self, share: float) -> int:
        """Return how many boxes hold a share of the samples, if the fullest are taken.

        Parameters
        ----------
        share : float
            More than 0, and at most 1.

        Returns
        -------
        n_boxes : int
            Their number.
        """
        check_scalar(share, "share", Real, min_val=0, max_val=1, include_boundaries="right")
        held = np.sort(self.counts)[::-1].cumsum()
        return int(np.searchsorted(held, share * held[-1] * (1 - 1e-12))) + 1

    def plot(self, ax: Axes | None = None, *, share: float = 0.9, legend: bool = True) -> Self:
        """Draw what the display holds.

        Parameters
        ----------
        {first_panel}
        share : float, default=0.9
            The share of samples for which to mark how many boxes hold so many.
        {legend}

        {itself}
        """
        needed = self.n_boxes_for(share)
        left, right = self._make_panels(ax, (9.0, 3.8), (1, 2), width_ratios=[1.5, 1])
        self._draw_boxes(left)
        self._draw_coverage(right, share, needed)
        if self.largest is not None:  # an entry of the legend, which is beside this panel
            right.plot([], [], c=text_colour(), ls="--", lw=1, alpha=0.6, label="theta")
        names = display_names(self.classes, self.no_label)
        add_class_entries(right, labels_present(self.labels), names, lines=False, markers=True)
        if legend:
            draw_legend(right, room=3 * size_in_points(right)[0])
        return self

    def _draw_boxes(self, ax: Axes) -> None:
        from matplotlib.ticker import LogLocator, NullFormatter

        opacity = float(np.clip((200 / len(self.counts)) ** 0.5, 0.2, 0.8))
        for label in reversed(labels_present(self.labels)):
            style, rows = style_of(label), self.labels == label
            look: dict[str, Any] = {"marker": style.marker, "lw": 0, "s": 22, "alpha": opacity}
            ax.scatter(self.sides[rows], self.counts[rows], color=style.colour, **look)
        ends = [0.0]
        if self.largest is not None:
            ends.append(self.largest)
            ax.axvline(self.largest, c=text_colour(), ls="--", lw=1, alpha=0.6)
        ax.set(xlim=limits_of(self.sides, ends), xlabel=escape_math(shorten(self.side_name, 48)))
        ax.locator_params(axis="x", nbins=3)
        ax.set(yscale="log", ylim=(0.8, 1.3 * self.counts.max()), ylabel="samples in the box")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if self.counts.max() < 1000 else (1,)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter(NullFormatter())
        n_single = int((self.counts == 1).sum())
        ax.set_title(f"{_boxes(len(self.counts))},\n{n_single} of a single sample", size="small")

    def _draw_coverage(self, ax: Axes, share: float, needed: int) -> None:
        numbers = np.arange(len(self.counts) + 1)
        ax.plot(numbers, np.concatenate([[0.0], self.coverage]), c=text_colour(), lw=1.5)
        ax.plot([0, needed, needed], [share, share, 0], c=text_colour(), ls=":", lw=1)
        ax.plot([needed], [share], "o", c=text_colour(), ms=5)
        ax.locator_params(axis="x", nbins=2, integer=True)
        ax.set(xlim=(0, None), ylim=(0, 1.03), xlabel="boxes, fullest first")
        ax.set_ylabel("share of samples")
        ax.yaxis.set_major_formatter("{x:.0%}")
        verb = "holds" if needed == 1 else "hold"
        ax.set_title(f"{_boxes(needed)} {verb}\n{share:.0%} of the samples", size="small")


def _boxes(number: int) -> str:
    return "1 box" if number == 1 else f"{number} boxes"
