"""`MemoryDisplay`: how old the boxes of a memory that adapts are, and which horizons it trusts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from hyperboxes._estimators.adaptive import AdaptiveGFMM
from hyperboxes._explain.pipelines import read_pipeline
from hyperboxes._explain.reading import check_integer
from hyperboxes._extras import need
from hyperboxes._models.memory import HORIZONS, NEIGHBORS, expert_weights
from hyperboxes._models.samples import slices
from hyperboxes._plots.common import PanelsDisplay
from hyperboxes._plots.docs import shared_docs
from hyperboxes._plots.styles import (
    add_bar_entries,
    bar_look,
    display_names,
    draw_legend,
    labels_present,
    size_in_points,
    text_colour,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HORIZON_NAMES = [*(f"last {horizon}" for horizon in HORIZONS[:-1]), "all"]

# Greys, for colours stand for classes: the darker, the more recent.
_HORIZON_COLOURS = ("0.4", "0.6", "0.77", "0.92")

# The share in the votes from which on an expert is drawn black.
_DARKEST = 0.3


@shared_docs
@dataclass(eq=False, kw_only=True)
class MemoryDisplay(PanelsDisplay):
    """The memory of an `AdaptiveGFMM`: how old its boxes are, and whom it trusts.

    One panel counts boxes by how long ago they were last confirmed, on a logarithmic scale. Dashed
    lines are the horizons: boxes to the left of one vote in it. Another panel tells how often the
    experts were right of late; the darker, the larger their share in the votes. Of a stream, a
    panel above them shows how the shares of the horizons moved while it was learned, and how many
    samples of each batch were predicted right before it was.

    Make one with `from_estimator`. The parameters are the attributes.

    Parameters
    ----------
    ages : ndarray of int, shape (n_boxes,)
        How many samples were learned since each box was last confirmed.
    labels : ndarray of int, shape (n_boxes,)
        Classes of the boxes as indices into `classes`.
    classes : ndarray of shape (n_classes,)
        The class labels.
    horizon_scores : ndarray of shape (4, 4)
        How often the experts were right of late: a row for each horizon (32, 128, 512, all), a
        column for each number of neighbours (1, 3, 7, 15).
    n_samples : ndarray of int, shape (n_batches,), default=None
        How many samples of a stream were learned after each batch.
    batch_scores : ndarray of shape (n_batches, 4, 4), default=None
        What `horizon_scores` were then.
    batch_accuracy : ndarray of shape (n_batches,), default=None
        The accuracy on each batch before it was learned; NaN for the first.
    model : AdaptiveGFMM, default=None
        The model that is drawn.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels: ages and experts, and before them the stream if there is one.
    {first_of_panels}

    See Also
    --------
    explain : Which boxes voted on a sample, and how recent they are.
    GrowthDisplay : Accuracy and number of boxes over a stream.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperboxes import AdaptiveGFMM, MemoryDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((1900, 2))
    >>> y = X[:, 0] > X[:, 1]
    >>> y[1500:] = ~y[1500:]  # the world is turned upside down
    >>> display = MemoryDisplay.from_estimator(AdaptiveGFMM(), X, y)
    >>> display.horizon_shares.round(1)  # of the last 32 samples, 128, 512 and all
    array([0.6, 0.4, 0. , 0. ])
    """

    ages: np.ndarray
    labels: np.ndarray
    classes: np.ndarray
    horizon_scores: np.ndarray
    n_samples: np.ndarray | None = None
    batch_scores: np.ndarray | None = None
    batch_accuracy: np.ndarray | None = None
    model: Any = None

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        batch_size: int = 50,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw the memory of a fitted model, or train a clone on a stream and draw that.

        Parameters
        ----------
        model : AdaptiveGFMM
            A fitted model; with `X` and `y` it need not be fitted, and is left as it is. Or a
            fitted Pipeline that ends in one, and samples that it takes.
        X : array-like of shape (n_samples, n_features), default=None
            The samples of a stream, in their order. A clone of the model learns them from the
            start. None: only what the model remembers now is drawn.
        y : array-like of shape (n_samples,), default=None
            Their labels.
        batch_size : int, default=50
            How many samples of a stream are predicted, and then learned, at a time. It changes how
            finely the stream is drawn, not what is learned.
        {first_panel}
        {legend}

        Returns
        -------
        display : MemoryDisplay
            The display, drawn; its `model` has learned the stream.
        """
        need("matplotlib", "plot", cls.__name__)
        model, X, _ = read_pipeline(model, X)
        if not isinstance(model, AdaptiveGFMM):
            raise TypeError(
                f"{cls.__name__} is for AdaptiveGFMM, which forgets and weighs its boxes by age; "
                f"{type(model).__name__} does not."
            )
        if (X is None) != (y is None):
            raise ValueError("A stream is X and y: both are needed, or none.")
        stream: dict[str, Any] = {}
        if X is None:
            check_is_fitted(model)
        else:
            model = clone(model)
            stream = _learn_stream(model, X, y, batch_size)
        display = cls(
            ages=model.box_ages_,
            labels=model.hyperboxes_.labels,
            classes=model.classes_,
            horizon_scores=model.horizon_scores_,
            model=model,
            **stream,
        )
        return display.plot(ax, legend=legend)

    @property
    def horizon_shares(self) -> np.ndarray:
        """The share of each horizon in the votes; they add up to 1."""
        return expert_weights(self.horizon_scores).sum(axis=1)

    @property
    def batch_shares(self) -> np.ndarray | None:
        """The share of each horizon after each batch of a stream, of shape (n_batches, 4)."""
        if self.batch_scores is None:
            return None
        return np.array([expert_weights(scores).sum(axis=1) for scores in self.batch_scores])

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw what the display holds.

        {plot}
        """
        below: dict[str, Any] = {"width_ratios": [1.4, 1]}
        if self.batch_shares is None:
            left, right = self._make_panels(ax, (9.0, 3.6), (1, 2), **below)
        else:
            top, left = self._make_panels(ax, (9.0, 6.2), (2, 1), height_ratios=[1, 1.2])
            left, right = self._split(left, (1, 2), **below)
            self.axes_ = np.array([top, left, right])
            self._draw_stream(top, self.batch_shares)
        self._draw_ages(left)
        self._draw_experts(right)
        right.plot([], [], c=text_colour(), ls="--", lw=1, label="horizons")
        add_bar_entries(right, labels_present(self.labels), display_names(self.classes))
        if legend:
            draw_legend(right, room=3 * size_in_points(right)[0])
            if len(self.axes_) == 3:
                draw_legend(self.axes_[0])
        return self

    def _draw_stream(self, ax: Axes, shares: np.ndarray) -> None:
        """Draw the shares of the horizons on top of each other, the most recent one on top."""
        from matplotlib.patheffects import withStroke

        assert self.n_samples is not None
        floors = 1 - shares.cumsum(axis=1)
        tops = floors + shares
        for name, colour, floor, top in zip(
            _HORIZON_NAMES, _HORIZON_COLOURS, floors.T, tops.T, strict=True
        ):
            ax.fill_between(self.n_samples, floor, top, color=colour, lw=0, label=name)
        if self.batch_accuracy is not None:
            outline = withStroke(linewidth=3, foreground=ax.get_facecolor())
            look: dict[str, Any] = {"c": text_colour(), "lw": 1.3, "path_effects": [outline]}
            ax.plot(self.n_samples, self.batch_accuracy, label="batch accuracy", **look)
        ax.set(xlabel="samples learned", ylabel="share in the votes", ylim=(0, 1.03))
        ax.margins(x=0)
        ax.locator_params(axis="x", nbins=6)
        ax.yaxis.set_major_formatter("{x:.0%}")

    def _draw_ages(self, ax: Axes) -> None:
        """Draw bars for ages below 1, 2, 4, 8 and so on, which have the horizons among them."""
        octaves = np.ceil(np.log2(self.ages + 1.0)).astype(int)
        n_bars = max(octaves.max(), 9) + 1
        floor = np.zeros(n_bars)
        for label in labels_present(self.labels):
            heights = np.bincount(octaves[self.labels == label], minlength=n_bars)
            places = np.arange(n_bars) - 0.5
            ax.bar(places, heights, width=0.92, bottom=floor, **bar_look(label))
            floor += heights
        for horizon in HORIZONS[:-1]:
            ax.axvline(np.log2(horizon), c=text_colour(), ls="--", lw=1)
        ticks = [*range(1, 10, 2), *range(13, n_bars, 4)]  # fewer where numbers are long
        ax.set_xticks(ticks, [str(2**tick) for tick in ticks], size="small")
        ax.set(xlim=(-1.1, n_bars - 0.9), xlabel="samples since last confirmed")
        ax.set(ylim=(0, 1.05 * floor.max()), ylabel="boxes")
        ax.locator_params(axis="y", integer=True)
        n_boxes, n_young = len(self.ages), int((self.ages < HORIZONS[0]).sum())
        boxes = "1 box" if n_boxes == 1 else f"{n_boxes:,} boxes"
        title = f"{boxes}, {n_young} confirmed by\nthe last {HORIZONS[0]} samples"
        ax.set_title(title, size="small")

    def _draw_experts(self, ax: Axes) -> None:
        weights = expert_weights(self.horizon_scores)
        ax.imshow(weights, cmap="Greys", vmin=0, vmax=_DARKEST, aspect="auto")
        for (row, column), score in np.ndenumerate(self.horizon_scores):
            is_dark = weights[row, column] > _DARKEST / 2
            look: dict[str, Any] = {"ha": "center", "va": "center", "size": "small"}
            ax.text(column, row, f"{score:.0%}", color="white" if is_dark else "black", **look)
        rows = [
            f"{name} ({share:.0%})"
            for name, share in zip(_HORIZON_NAMES, self.horizon_shares, strict=True)
        ]
        ax.set_yticks(range(len(rows)), rows, size="small")
        ax.set_xticks(range(len(NEIGHBORS)), list(map(str, NEIGHBORS)), size="small")
        ax.tick_params(length=0)
        ax.set(xlabel="neighbours", ylabel="horizon (votes)")
        ax.set_title("how often right of late\n(darker: more votes)", size="small")


def _learn_stream(model: AdaptiveGFMM, X: Any, y: Any, batch_size: int) -> dict[str, Any]:
    """Predict and then learn batch by batch; return what was seen of each."""
    check_integer("batch_size", batch_size, 1, optional=False)
    y = column_or_1d(y)
    check_consistent_length(X, y)
    n_samples: list[int] = []
    scores: list[np.ndarray] = []
    accuracy: list[float] = []
    for batch in slices(len(y), int(batch_size)):
        samples, labels = _safe_indexing(X, batch), y[batch]
        accuracy.append(model.score(samples, labels) if n_samples else np.nan)
        model.partial_fit(samples, labels)
        n_samples.append(model.n_samples_seen_)
        scores.append(model.horizon_scores_)
    return {
        "n_samples": np.array(n_samples),
        "batch_scores": np.array(scores),
        "batch_accuracy": np.array(accuracy),
    }
