"""`GrowthDisplay`: accuracy and number of boxes while a model is fitted to a stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d

from hyperboxes._estimators.validation import find_labels
from hyperboxes._extras import need
from hyperboxes._models.samples import slices
from hyperboxes._plots.common import PanelsDisplay
from hyperboxes._plots.styles import (
    add_class_entries,
    display_names,
    draw_legend,
    style_of,
    text_colour,
)
from hyperboxes._readers.fitted import check_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, kw_only=True)
class GrowthDisplay(PanelsDisplay):
    """Prequential accuracy and number of boxes of an online classifier over a stream.

    Each batch is predicted before the model is updated with it, so that the accuracy is that on
    new samples. Dots are single batches, the line is all batches so far.

    Create it with `from_estimator` or `from_stream`, or from numbers that you recorded. The
    parameters are also the attributes.

    Parameters
    ----------
    n_samples : array-like of int, shape (n_batches,)
        The number of samples up to the end of each batch.
    n_boxes : array-like of int, shape (n_batches,) or (n_batches, n_classes)
        The number of boxes then, in all or for each class. With one column more than `classes`, the
        last one counts boxes without a label.
    n_tested : array-like of int, shape (n_batches,), default=None
        The number of labelled samples of each batch that were predicted.
    n_right : array-like of int, shape (n_batches,), default=None
        The number of correct predictions among them. None: no accuracy is drawn.
    classes : array-like of shape (n_classes,), default=None
        The class labels, if `n_boxes` counts boxes by class.
    model : estimator, default=None
        The model fitted to the stream.

    Attributes
    ----------
    accuracy : ndarray of shape (n_batches,)
        The accuracy on all predicted samples so far; NaN before the first.
    batch_accuracy : ndarray of shape (n_batches,)
        The accuracy on each batch; NaN where no sample was predicted.
    axes_ : ndarray of matplotlib Axes
        The panels: accuracy (if there is one) and boxes.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hyperboxes import GrowthDisplay, ImprovedOnlineGFMM
    >>> X, y = load_digits(return_X_y=True)
    >>> display = GrowthDisplay.from_estimator(
    ...     ImprovedOnlineGFMM(theta=0.7), X, y, batch_size=300
    ... )
    >>> display.n_samples
    array([ 300,  600,  900, 1200, 1500, 1797])
    >>> display.accuracy.round(2)
    array([ nan, 0.78, 0.82, 0.86, 0.88, 0.89])

    From numbers that you recorded:

    >>> display = GrowthDisplay(n_samples=[100, 200], n_boxes=[12, 17]).plot()
    """

    n_samples: np.ndarray
    n_boxes: np.ndarray
    n_tested: np.ndarray | None = None
    n_right: np.ndarray | None = None
    classes: np.ndarray | None = None
    model: Any = None
    accuracy: np.ndarray = field(init=False)
    batch_accuracy: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.n_samples = column_or_1d(self.n_samples)
        self.n_boxes = np.asarray(self.n_boxes)
        counted = ("n_boxes", "n_tested", "n_right")
        for name in counted:
            if (values := getattr(self, name)) is not None and len(values) != len(self.n_samples):
                raise ValueError(
                    f"{name} has {len(values)} entries, but n_samples has {len(self.n_samples)}."
                )
        if (self.n_tested is None) != (self.n_right is None):
            raise ValueError("Accuracy needs both n_tested and n_right.")
        self._check_classes()
        nothing = np.zeros(len(self.n_samples))
        tested = nothing if self.n_tested is None else np.asarray(self.n_tested, np.float64)
        right = nothing if self.n_right is None else np.asarray(self.n_right, np.float64)
        with np.errstate(invalid="ignore"):
            self.accuracy = right.cumsum() / tested.cumsum()
            self.batch_accuracy = right / tested

    def _check_classes(self) -> None:
        if self.n_boxes.ndim == 1:
            return
        if self.classes is None:
            raise ValueError("n_boxes counts boxes by class: classes is needed too.")
        self.classes = np.asarray(self.classes)
        if self.n_boxes.shape[1] - len(self.classes) not in (0, 1):
            raise ValueError(
                f"n_boxes has {self.n_boxes.shape[1]} columns, but there are {len(self.classes)} "
                "classes."
            )

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        batch_size: int = 100,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Update a clone of a model with samples in their order, and draw its growth.

        Parameters
        ----------
        model : classifier with `partial_fit`
            The estimator, which remains unchanged.
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels, or the model's `unlabeled`.
        batch_size : int, default=100
            The number of samples in a batch. The first batch should span the ranges of the
            features.
        ax : matplotlib Axes, default=None
            The axes to draw on, which become the first panel. None: new axes in a new figure.
        legend : bool, default=True
            Whether to draw a legend, on the right.

        Returns
        -------
        display : GrowthDisplay
            The display, drawn. Its `model` is fitted to all samples.
        """
        check_integer("batch_size", batch_size, 1, optional=False)
        labels = column_or_1d(y)
        check_consistent_length(X, labels)
        rows = slices(len(labels), int(batch_size))
        batches = ((_safe_indexing(X, batch), labels[batch]) for batch in rows)
        _, known = find_labels(labels, getattr(model, "unlabeled", None))
        return cls.from_stream(model, batches, classes=np.unique(known), ax=ax, legend=legend)

    @classmethod
    def from_stream(
        cls,
        model: Any,
        batches: Iterable[tuple[Any, Any]],
        *,
        classes: Any,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Update a clone of a model with the batches of a stream, and draw its growth.

        Parameters
        ----------
        model : classifier with `partial_fit`
            The estimator, which remains unchanged.
        batches : iterable of (X, y)
            Samples and their labels.
        classes : array-like of shape (n_classes,)
            All labels that may occur.
        ax : matplotlib Axes, default=None
            The axes to draw on, which become the first panel. None: new axes in a new figure.
        legend : bool, default=True
            Whether to draw a legend, on the right.

        Returns
        -------
        display : GrowthDisplay
            The display, drawn. Its `model` is fitted to all batches.
        """
        need("matplotlib", "plot", cls.__name__)
        if not (is_classifier(model) and hasattr(model, "partial_fit")):
            raise TypeError(
                f"{cls.__name__} needs a classifier with partial_fit; "
                f"{type(model).__name__} is not one."
            )
        model = clone(model)
        steps = [_test_and_update(model, X, y, classes) for X, y in batches]
        if not steps:
            raise ValueError("The stream is empty: there are no batches.")
        n_tested, n_right, n_learned, n_boxes = map(np.array, zip(*steps, strict=True))
        if not n_boxes[:, -1].any():
            n_boxes = n_boxes[:, :-1]
        display = cls(
            n_samples=n_learned.cumsum(),
            n_boxes=n_boxes,
            n_tested=n_tested,
            n_right=n_right,
            classes=model.classes_,
            model=model,
        )
        return display.plot(ax, legend=legend)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on, which become the first panel. None: new axes in a new figure.
        legend : bool, default=True
            Whether to draw a legend, on the right.

        Returns
        -------
        self : GrowthDisplay
            The display.
        """
        with_accuracy = self.n_tested is not None
        heights = {"height_ratios": [1, 1.3], "hspace": 0.1} if with_accuracy else {}
        axes = self._make_panels(ax, (6.4, 4.8), (1 + with_accuracy, 1), **heights)
        if with_accuracy:
            axes[0].sharex(axes[-1])
            axes[0].tick_params(labelbottom=False)
            self._draw_accuracy(axes[0])
        self._draw_boxes(axes[-1])
        axes[-1].set(xlabel="samples learned", ylabel="boxes")
        axes[-1].margins(x=0.02)
        axes[-1].locator_params(axis="x", nbins=5)  # numbers of samples may be long
        if legend:
            for panel in axes:
                draw_legend(panel)
        return self

    def _draw_accuracy(self, ax: Axes) -> None:
        looks: dict[str, Any] = {
            "all batches so far": {"c": text_colour(), "lw": 1.5},
            "single batch": {"c": style_of(-1).colour, "ls": "", "marker": "."},
        }
        for (name, look), values in zip(
            looks.items(), (self.accuracy, self.batch_accuracy), strict=True
        ):
            ax.plot(self.n_samples, values, label=name, **look)
        ax.set_ylabel("accuracy\non new samples")

    def _draw_boxes(self, ax: Axes) -> None:
        """Draw the numbers of boxes, stacked by class with the first class on top."""
        if self.n_boxes.ndim == 1:
            ax.plot(self.n_samples, self.n_boxes, c=text_colour(), lw=1.5)
            ax.set_ylim(bottom=0)
            return
        assert self.classes is not None
        n_columns = self.n_boxes.shape[1]
        labels = [label if label < len(self.classes) else -1 for label in range(n_columns)]
        tops = np.cumsum(self.n_boxes[:, ::-1], axis=1)[:, ::-1]
        floors = np.column_stack([tops[:, 1:], np.zeros(len(tops))])
        for label, top, floor in zip(labels, tops.T, floors.T, strict=True):
            style = style_of(label)
            ax.fill_between(self.n_samples, floor, top, color=style.colour, alpha=0.35, lw=0)
            ax.plot(self.n_samples, top, c=style.colour, ls=style.line, lw=1.2)
        ax.set_ylim(0, 1.05 * max(1, tops.max()))
        names = display_names(self.classes)
        add_class_entries(ax, labels, names, lines=True, markers=False)


def _test_and_update(model: Any, X: Any, y: Any, classes: Any) -> tuple[int, int, int, np.ndarray]:
    """Predict a batch and update the model.

    Return the numbers of samples tested, right and seen, and the number of boxes of each class.
    """
    y = column_or_1d(y)
    has_label, _ = find_labels(y, getattr(model, "unlabeled", None))
    n_tested = n_right = 0
    if hasattr(model, "classes_") and (model.hyperboxes_.labels >= 0).any():
        right = model.predict(X) == y
        n_tested, n_right = int(has_label.sum()), int(np.sum(right[has_label]))
    model.partial_fit(X, y, classes=classes)
    boxes = model.hyperboxes_
    labels = np.where(boxes.labels >= 0, boxes.labels, len(model.classes_))
    n_boxes = np.bincount(labels, minlength=len(model.classes_) + 1)
    return n_tested, n_right, len(y), n_boxes
