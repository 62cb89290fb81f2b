"""`FeatureImportancesDisplay`: which features matter in a model, as bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hyperboxes._explain.pipelines import read_pipeline
from hyperboxes._explain.reading import check_integer
from hyperboxes._explain.wording import name_features
from hyperboxes._extras import need
from hyperboxes._plots.common import Display
from hyperboxes._plots.docs import shared_docs
from hyperboxes._plots.styles import COLOURS, escape_math, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@shared_docs
@dataclass(eq=False, kw_only=True)
class FeatureImportancesDisplay(Display):
    """The importances of features in a model, the largest on top.

    Make one with `from_estimator`. The parameters are the attributes.

    Parameters
    ----------
    importances : ndarray of shape (n_features,)
        What ``feature_importances_`` are.
    feature_names : list of str
        Names of the features.

    Attributes
    ----------
    {drawn_on}

    See Also
    --------
    VotesDisplay : What decides about a sample.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import BoostedHyperboxes, FeatureImportancesDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BoostedHyperboxes(6, random_state=0).fit(X, y)
    >>> display = FeatureImportancesDisplay.from_estimator(model)
    >>> print(f"{display.importances.sum():.1f}")
    1.0
    """

    importances: np.ndarray
    feature_names: list[str]

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        max_features: int | None = 20,
        ax: Axes | None = None,
        bar_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the importances of the features of a fitted model.

        Parameters
        ----------
        model : BoostedHyperboxes
            A fitted model, or any other that has ``feature_importances_``, or a fitted Pipeline
            that ends in one.
        max_features : int, default=20
            How many features to draw at most, those of the largest importances. None: all.
        {place}
        bar_kwargs : dict, default=None
            Further options of Matplotlib's `barh`.

        {drawn}
        """
        need("matplotlib", "plot", cls.__name__)
        model, *_ = read_pipeline(model)
        check_is_fitted(model)
        if not hasattr(model, "feature_importances_"):
            raise TypeError(
                f"{cls.__name__} needs feature_importances_, which {type(model).__name__} has not."
            )
        display = cls(
            importances=np.asarray(model.feature_importances_), feature_names=name_features(model)
        )
        return display.plot(ax, max_features=max_features, bar_kwargs=bar_kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        max_features: int | None = 20,
        bar_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw what the display holds.

        Parameters
        ----------
        {place}
        max_features : int, default=20
            How many features to draw at most, those of the largest importances. None: all.
        bar_kwargs : dict, default=None
            Further options of Matplotlib's `barh`.

        {itself}
        """
        check_integer("max_features", max_features, 1)
        order = np.argsort(-self.importances, kind="stable")[:max_features]
        ax = self._make_axes(ax, (6.4, max(1.6, 0.9 + 0.22 * len(order))))
        ax.barh(
            np.arange(len(order)),
            self.importances[order],
            **{"color": COLOURS[0], **(bar_kwargs or {})},
        )
        names = [escape_math(shorten(self.feature_names[j], 32)) for j in order]
        ax.set_yticks(np.arange(len(order)), names, size="small")
        ax.set_ylim(len(order) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.set(xlim=(0, None), xlabel="importance")
        n_more = len(self.importances) - len(order)
        if n_more:
            rest = self.importances.sum() - self.importances[order].sum()
            ax.set_title(f"{n_more} more features: {rest:.2f} together", size="small")
        return self
