"""`ThetaDisplay`: accuracy and number of boxes over `theta`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV

from hyperboxes._extras import need
from hyperboxes._plots.common import PanelsDisplay
from hyperboxes._plots.styles import draw_legend, style_of, text_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_THETAS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)


@dataclass(eq=False, kw_only=True)
class ThetaDisplay(PanelsDisplay):
    """Cross-validated accuracy and number of boxes over `theta`.

    `theta` bounds how far boxes may grow. A larger value gives fewer boxes as long as they do not
    meet boxes of other classes. Its effect on the accuracy depends on the data.

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

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels: accuracy and boxes.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
        Their figure.

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
    array([0.96, 0.97, 0.96])
    """

    thetas: np.ndarray
    accuracy: np.ndarray
    n_boxes: np.ndarray
    theta: float | None = None

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
        X: Any,
        y: Any,
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
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        thetas : sequence of float, default=(0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
            The values to try.
        cv : int, cross-validation generator or an iterable, default=None
            The folds, as scikit-learn's ``GridSearchCV`` takes them. None: five.
        n_jobs : int, default=None
            How many models are learned at a time.
        ax : matplotlib Axes, default=None
            The axes to draw on, which become the first panel. None: new axes in a new figure.
        legend : bool, default=True
            Whether to draw a legend, on the right.

        Returns
        -------
        display : ThetaDisplay
            The display, drawn.
        """
        need("matplotlib", "plot", cls.__name__)
        if not (is_classifier(model) and "theta" in model.get_params()):
            raise TypeError(
                f"{cls.__name__} needs a classifier with a parameter theta; "
                f"{type(model).__name__} is none."
            )
        if np.ndim(model.theta) > 0:
            raise TypeError(
                f"{cls.__name__} compares models of a single theta; {type(model).__name__} has one "
                "for each level: compare its levels_, or pass a model with a number."
            )
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
            theta=model.theta,
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
        self : ThetaDisplay
            The display.
        """
        axes = self._make_panels(ax, (6.4, 4.8), (2, 1), hspace=0.1)
        axes[0].sharex(axes[1])
        axes[0].tick_params(labelbottom=False)
        for panel, values, name in zip(
            axes, (self.accuracy, self.n_boxes), ("accuracy\non new samples", "boxes"), strict=True
        ):
            self._draw(panel, values)
            panel.set_ylabel(name)
        axes[1].set_ylim(bottom=0)
        axes[1].set_xlabel("theta")
        if legend:
            draw_legend(axes[0])
        return self

    def _draw(self, ax: Axes, values: np.ndarray) -> None:
        """Draw the mean of the folds, and single folds as dots."""
        dots: dict[str, Any] = {"c": style_of(-1).colour, "ls": "", "marker": "."}
        ax.plot(np.repeat(self.thetas, values.shape[1]), values.ravel(), label="fold", **dots)
        line: dict[str, Any] = {"c": text_colour(), "lw": 1.5, "marker": "o", "ms": 4}
        ax.plot(self.thetas, values.mean(axis=1), label="mean", **line)
        if self.theta is not None:
            ax.axvline(self.theta, c=text_colour(), ls=":", lw=1, label="the model's")


def _count_boxes(model: Any, X: Any, y: Any) -> int:
    return len(model.hyperboxes_)


def _by_fold(search: GridSearchCV, name: str) -> np.ndarray:
    """Return a score of each theta, in rows, and fold."""
    folds = range(search.n_splits_)
    return np.column_stack([search.cv_results_[f"split{fold}_test_{name}"] for fold in folds])
