"""Accuracy and number of boxes over a stream (`GrowthDisplay`) or `theta` (`ThetaDisplay`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV
from sklearn.utils import column_or_1d

from hyperboxes._estimators.validation import find_labels
from hyperboxes._extras import need
from hyperboxes._plots.common import PanelsDisplay, batches_of
from hyperboxes._plots.styles import (
    add_class_entries,
    display_names,
    draw_legend,
    style_of,
    text_colour,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_THETAS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)


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
    {first_axes}

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
    array([ nan, 0.81, 0.84, 0.87, 0.89, 0.9 ])

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
        {panels}

        Returns
        -------
        display : GrowthDisplay
            The display, drawn. Its `model` is fitted to all samples.
        """
        _, known = find_labels(column_or_1d(y), getattr(model, "unlabeled", None))
        batches, classes = batches_of(X, y, batch_size), np.unique(known)
        return cls.from_stream(model, batches, classes=classes, ax=ax, legend=legend)

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
        {panels}

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

        {plot_panels}
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
        both = self.accuracy, self.batch_accuracy
        for (name, look), values in zip(looks.items(), both, strict=True):
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


@dataclass(eq=False, kw_only=True)
class ThetaDisplay(PanelsDisplay):
    """Cross-validated accuracy and number of boxes over `theta`.

    A larger value gives fewer boxes as long as they do not meet boxes of other classes. Its effect
    on the accuracy depends on the data.

    Create it with `from_estimator`, or from numbers that you recorded. The parameters are also the
    attributes.

    Parameters
    ----------
    thetas : array-like of shape (n_thetas,)
        The values of `theta`.
    accuracy : array-like of shape (n_thetas, n_folds)
        The accuracy on each fold of a model that was fitted to the others.
    n_boxes : array-like of shape (n_thetas, n_folds)
        The number of boxes of these models.
    theta : float, default=None
        The value of the model, which is marked.
    standard_error : array-like of shape (n_thetas,), default=None
        The standard errors of the mean accuracies, drawn as bars.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels: accuracy and boxes.
    {first_axes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import ImprovedOnlineGFMM, ThetaDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ImprovedOnlineGFMM(random_state=0)
    >>> display = ThetaDisplay.from_estimator(model, X, y, thetas=[0.1, 0.5, 1.0])
    >>> display.n_boxes.mean(axis=1)
    array([55.8, 11.8,  8.6])
    >>> display.accuracy.mean(axis=1).round(2)
    array([0.95, 0.96, 0.96])
    >>> ThetaDisplay.from_estimator(ImprovedOnlineGFMM("auto", random_state=0).fit(X, y)).theta
    0.5
    """

    thetas: np.ndarray
    accuracy: np.ndarray
    n_boxes: np.ndarray
    theta: float | None = None
    standard_error: np.ndarray | None = None

    def __post_init__(self) -> None:
        self.thetas = np.asarray(self.thetas, np.float64)
        for name in ("accuracy", "n_boxes"):
            values = np.asarray(getattr(self, name), np.float64)
            if values.ndim != 2 or len(values) != len(self.thetas):
                raise ValueError(
                    f"{name} must have a row for each of the {len(self.thetas)} thetas and a "
                    f"column for each fold, but its shape is {values.shape}."
                )
            setattr(self, name, values)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        thetas: Sequence[float] = _THETAS,
        cv: Any = None,
        n_jobs: int | None = None,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Cross-validate a model for each `theta`, and draw accuracy and number of boxes.

        Parameters
        ----------
        model : classifier with a parameter `theta`
            The estimator, which remains unchanged: clones are fitted.
        X : array-like of shape (n_samples, n_features), default=None
            The samples. None: draw the scores by which a model fitted with ``theta="auto"`` has
            chosen `theta`.
        y : array-like of shape (n_samples,), default=None
            Their labels.
        thetas : sequence of float, default=(0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
            The values to try.
        cv : int, cross-validation generator or an iterable, default=None
            The folds, as scikit-learn's ``GridSearchCV`` takes them. None: five.
        n_jobs : int, default=None
            The number of models fitted at a time.
        {panels}

        {display}
        """
        need("matplotlib", "plot", cls.__name__)
        if not (is_classifier(model) and "theta" in model.get_params()):
            raise TypeError(
                f"{cls.__name__} needs a classifier with a parameter theta; "
                f"{type(model).__name__} has none."
            )
        if np.ndim(model.theta) > 0:
            raise TypeError(
                f"{cls.__name__} compares models of a single theta; {type(model).__name__} has one "
                "for each level: compare its levels_, or pass a model with a number."
            )
        if X is None:
            path = getattr(model, "theta_path_", None)
            if path is None:
                raise ValueError("Pass X and y, or a model that was fitted with theta='auto'.")
            display = cls(
                thetas=path["theta"],
                accuracy=path["accuracy"][:, np.newaxis],
                n_boxes=path["n_boxes"][:, np.newaxis],
                theta=model.theta_,
                standard_error=path["standard_error"],
            )
            return display.plot(ax, legend=legend)
        if len(thetas) == 0:
            raise ValueError("There must be at least one theta.")
        search = GridSearchCV(
            clone(model),
            {"theta": list(thetas)},
            scoring={"accuracy": "accuracy", "boxes": _count_boxes},
            refit=False,
            cv=cv,
            n_jobs=n_jobs,
            error_score="raise",
        ).fit(X, y)
        display = cls(
            thetas=np.asarray(thetas),
            accuracy=_by_fold(search, "accuracy"),
            n_boxes=_by_fold(search, "boxes"),
            theta=None if model.theta == "auto" else model.theta,
        )
        return display.plot(ax, legend=legend)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw the display.

        {plot_panels}
        """
        axes = self._make_panels(ax, (6.4, 4.8), (2, 1), hspace=0.1)
        axes[0].sharex(axes[1])
        axes[0].tick_params(labelbottom=False)
        for panel, values, name in zip(
            axes, (self.accuracy, self.n_boxes), ("accuracy\non new samples", "boxes"), strict=True
        ):
            self._draw(panel, values)
            panel.set_ylabel(name)
        if self.standard_error is not None:
            errors: dict[str, Any] = {"fmt": "none", "c": text_colour(), "lw": 1}
            errors |= {"yerr": self.standard_error, "label": "standard error"}
            axes[0].errorbar(self.thetas, self.accuracy.mean(axis=1), **errors)
        axes[1].set_ylim(bottom=0)
        axes[1].set_xlabel("theta")
        if legend:
            draw_legend(axes[0])
        return self

    def _draw(self, ax: Axes, values: np.ndarray) -> None:
        """Draw the mean of the folds, and single folds as dots."""
        if values.shape[1] > 1:
            dots: dict[str, Any] = {"c": style_of(-1).colour, "ls": "", "marker": "."}
            ax.plot(np.repeat(self.thetas, values.shape[1]), values.ravel(), label="fold", **dots)
        line: dict[str, Any] = {"c": text_colour(), "lw": 1.5, "marker": "o", "ms": 4}
        ax.plot(self.thetas, values.mean(axis=1), label="mean", **line)
        if self.theta is not None:
            ax.axvline(self.theta, c=text_colour(), ls=":", lw=1, label="theta of the model")


def _count_boxes(model: Any, X: Any, y: Any) -> int:
    return len(model.hyperboxes_)


def _by_fold(search: GridSearchCV, name: str) -> np.ndarray:
    """Return a score of each theta, in rows, and fold."""
    folds = range(search.n_splits_)
    return np.column_stack([search.cv_results_[f"split{fold}_test_{name}"] for fold in folds])
