"""`MemoryDisplay`: the ages of the boxes of an `AdaptiveGFMM`, and the weights of its experts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from hyperboxes._estimators.adaptive import AdaptiveGFMM
from hyperboxes._estimators.capabilities import Operation, require
from hyperboxes._estimators.pipelines import split_model
from hyperboxes._extras import need
from hyperboxes._models.adaptive_state import HORIZONS, NEIGHBORS, expert_weights
from hyperboxes._plots import styles
from hyperboxes._plots.common import PanelsDisplay, batches_of
from hyperboxes._readers.fitted import transform

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HORIZON_NAMES = [*(f"last {horizon}" for horizon in HORIZONS[:-1]), "all"]

# Greys, because colours stand for classes. The darker, the more recent.
_HORIZON_COLOURS = ("0.4", "0.6", "0.77", "0.92")

# From this weight on, an expert is drawn black.
_DARKEST = 0.3


@dataclass(eq=False, kw_only=True)
class MemoryDisplay(PanelsDisplay):
    """Ages of the boxes of an `AdaptiveGFMM`, and the weights of its experts.

    One panel counts boxes by their age, the number of samples since they were last matched, on a
    logarithmic scale. Dashed lines are the horizons: a horizon uses the boxes to its left. Another
    panel shows the recent accuracy of each expert; the darker, the larger its weight. For a stream,
    a panel above them shows the weights of the horizons and the accuracy on each batch, which is
    predicted before the model is updated with it.

    Create it with `from_estimator`. The parameters are also the attributes.

    Parameters
    ----------
    ages : ndarray of int, shape (n_boxes,)
        The number of samples since each box was last matched.
    labels : ndarray of int, shape (n_boxes,)
        Classes of the boxes as indices into `classes`.
    classes : ndarray of shape (n_classes,)
        The class labels.
    horizon_scores : ndarray of shape (4, 4)
        The recent accuracy of the experts: a row for each horizon (32, 128, 512, all), a column
        for each number of neighbors (1, 3, 7, 15).
    n_samples : ndarray of int, shape (n_batches,), default=None
        The number of samples of a stream up to the end of each batch.
    batch_scores : ndarray of shape (n_batches, 4, 4), default=None
        The `horizon_scores` after each batch.
    batch_accuracy : ndarray of shape (n_batches,), default=None
        The accuracy on each batch before the update with it; NaN for the first.
    model : AdaptiveGFMM, default=None
        The model.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels: ages and experts, after the stream if there is one.
    {first_axes}

    See Also
    --------
    explain : The boxes that decide about a sample, and their ages.
    GrowthDisplay : Accuracy and number of boxes over a stream.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperboxes import AdaptiveGFMM, MemoryDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((1900, 2))
    >>> y = X[:, 0] > X[:, 1]
    >>> y[1500:] = ~y[1500:]  # a sudden concept drift
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
        """Draw a fitted model, or update a clone with a stream and draw both.

        Parameters
        ----------
        model : AdaptiveGFMM
            A fitted model, or a fitted Pipeline that ends in one. With `X` and `y`, the model
            remains unchanged and need not be fitted.
        X : array-like of shape (n_samples, n_features), default=None
            The samples of a stream, in their order, for a clone of the model. None: the fitted
            model is drawn, without a stream.
        y : array-like of shape (n_samples,), default=None
            Their labels.
        batch_size : int, default=50
            The number of samples of a stream in a batch. It changes the resolution of the picture,
            not the fitted model.
        {panels}

        Returns
        -------
        display : MemoryDisplay
            The display, drawn. Its `model` is fitted to the stream, if there is one.
        """
        need("matplotlib", "plot", cls.__name__)
        steps, model, _ = split_model(model)
        require(model, Operation.MEMORY)
        if (X is None) != (y is None):
            raise ValueError("A stream is X and y: pass both or neither.")
        stream: dict[str, Any] = {}
        if X is None:
            check_is_fitted(model)
        else:
            model = clone(model)
            stream = _run_stream(model, transform(steps, X), y, batch_size)
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
        """The weight of each horizon. The weights add up to 1."""
        return expert_weights(self.horizon_scores).sum(axis=1)

    @property
    def batch_shares(self) -> np.ndarray | None:
        """The weight of each horizon after each batch of a stream, of shape (n_batches, 4)."""
        if self.batch_scores is None:
            return None
        return np.array([expert_weights(scores).sum(axis=1) for scores in self.batch_scores])

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw the display.

        {plot_panels}
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
        right.plot([], [], c=styles.text_colour(), ls="--", lw=1, label="horizons")
        names = styles.display_names(self.classes)
        styles.add_bar_entries(right, styles.labels_present(self.labels), names)
        if legend:
            styles.draw_legend(right, width=3 * styles.size_in_points(right)[0])
            if len(self.axes_) == 3:
                styles.draw_legend(self.axes_[0])
        return self

    def _draw_stream(self, ax: Axes, shares: np.ndarray) -> None:
        """Draw the weights of the horizons, stacked with the shortest horizon on top."""
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
            look: dict[str, Any] = {"c": styles.text_colour(), "lw": 1.3, "path_effects": [outline]}
            ax.plot(self.n_samples, self.batch_accuracy, label="batch accuracy", **look)
        ax.set(xlabel="samples learned", ylabel="weight", ylim=(0, 1.03))
        ax.margins(x=0)
        ax.locator_params(axis="x", nbins=6)
        ax.yaxis.set_major_formatter("{x:.0%}")

    def _draw_ages(self, ax: Axes) -> None:
        """Draw bars for ages below 1, 2, 4, 8 and so on, so that horizons lie between bars."""
        octaves = np.ceil(np.log2(self.ages + 1.0)).astype(int)
        n_bars = max(octaves.max(), 9) + 1
        floor = np.zeros(n_bars)
        for label in styles.labels_present(self.labels):
            heights = np.bincount(octaves[self.labels == label], minlength=n_bars)
            look = {"width": 0.92, "bottom": floor, **styles.bar_look(label)}
            ax.bar(np.arange(n_bars) - 0.5, heights, **look)
            floor += heights
        for horizon in HORIZONS[:-1]:
            ax.axvline(np.log2(horizon), c=styles.text_colour(), ls="--", lw=1)
        ticks = [*range(1, 10, 2), *range(13, n_bars, 4)]  # fewer where numbers are long
        ax.set_xticks(ticks, [str(2**tick) for tick in ticks], size="small")
        ax.set(xlim=(-1.1, n_bars - 0.9), xlabel="samples since last match")
        ax.set(ylim=(0, 1.05 * floor.max()), ylabel="boxes")
        ax.locator_params(axis="y", integer=True)
        n_boxes, n_young = len(self.ages), int((self.ages < HORIZONS[0]).sum())
        boxes = "1 box" if n_boxes == 1 else f"{n_boxes:,} boxes"
        title = f"{boxes}, {n_young} matched by\nthe last {HORIZONS[0]} samples"
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
        ax.set(xlabel="neighbors", ylabel="horizon (weight)")
        ax.set_title("recent accuracy\n(darker: larger weight)", size="small")


def _run_stream(model: AdaptiveGFMM, X: Any, y: Any, batch_size: int) -> dict[str, Any]:
    """Predict each batch and update the model. Return the numbers of each batch to draw."""
    n_samples: list[int] = []
    scores: list[np.ndarray] = []
    accuracy: list[float] = []
    for samples, labels in batches_of(X, y, batch_size):
        accuracy.append(model.score(samples, labels) if n_samples else np.nan)
        model.partial_fit(samples, labels)
        n_samples.append(model.n_samples_seen_)
        scores.append(model.horizon_scores_)
    return {
        "n_samples": np.array(n_samples),
        "batch_scores": np.array(scores),
        "batch_accuracy": np.array(accuracy),
    }
