"""`RulesDisplay`: the most important rules of a model at a glance."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hyperboxes._estimators.capabilities import Operation
from hyperboxes._extras import need
from hyperboxes._models.records import AdditiveBoxes
from hyperboxes._plots import common, styles
from hyperboxes._plots.common import Display
from hyperboxes._readers.fitted import check_integer, read_fitted
from hyperboxes._readers.text import number_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, kw_only=True)
class RulesDisplay(Display):
    """Rules of a model as rows, features as columns: bars are the values that a rule allows.

    The width of a column is the range of the feature. A rule has no bar in a feature that it does
    not bound. Colours are classes. Create it with `from_estimator`.

    Parameters
    ----------
    lower, upper : ndarray of shape (n_rules, n_shown)
        The ends of the bars, from 0 to 1 of the range; NaN where there is no bar.
    labels : ndarray of int, shape (n_rules,)
        Classes of the rules as indices into `classes`; -1 for none.
    rule_names, feature_names : list of str
        The texts next to the rows and below the columns.
    classes : ndarray of shape (n_classes,)
        The class labels.
    title : str, default=""
        The title.
    no_label : str, default="no label"
        The name of the label -1 in the legend.

    {attributes}

    See Also
    --------
    export_text : The rules as a text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import ImprovedOnlineGFMM, RulesDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X, y)
    >>> RulesDisplay.from_estimator(model, max_rules=5).rule_names[0]
    'box 4, 33 samples'
    """

    lower: np.ndarray
    upper: np.ndarray
    labels: np.ndarray
    rule_names: list[str]
    feature_names: list[str]
    classes: np.ndarray
    title: str = ""
    no_label: str = "no label"

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        max_rules: int = 15,
        max_features: int = 6,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw the rules of a fitted model.

        Parameters
        ----------
        model : estimator
            A fitted model, or a fitted Pipeline that ends in one.
        max_rules : int, default=15
            The number of rules to draw at most: those with the most training samples, or the
            largest weights. Rules of a single sample are left out unless there are no others.
        max_features : int, default=6
            The number of features to draw at most: those that matter most.
        {axes}

        {display}
        """
        need("matplotlib", "plot", cls.__name__)
        check_integer("max_rules", max_rules, 1, optional=False)
        check_integer("max_features", max_features, 1, optional=False)
        fitted = read_fitted(model, Operation.BOXES)
        boxes, record = fitted.hyperboxes, fitted.record
        weights = record.weights.max(axis=1) if isinstance(record, AdditiveBoxes) else None
        rows = common.main_boxes(boxes.counts, weights, max_rules)[::-1]
        columns = common.feature_order(fitted, np.arange(len(boxes)))[:max_features].tolist()
        ends = boxes.lower[rows][:, columns], boxes.upper[rows][:, columns]
        lower, upper = common.to_axes(fitted.categories, columns, *ends)
        margin = 0.0 if weights is None else 0.1  # thresholds lie inside of the range
        low, high = common.find_limits(fitted, columns, [lower, upper], margin).T
        bounds = common.find_limits(fitted, columns, [lower, upper], 0.0)
        slots = common.axis_categories(fitted.categories, columns)
        is_open = ~(np.isfinite(lower) | np.isfinite(upper))
        for axis in slots:
            lower[:, axis], upper[:, axis] = lower[:, axis] - 0.5, upper[:, axis] + 0.5
        starts, ends = (np.clip((end - low) / (high - low), 0, 1) for end in (lower, upper))
        names = []
        for axis, j in enumerate(columns):
            ticks = _slots(list(slots[axis])) if axis in slots else _range(*bounds[axis])
            names.append(f"{styles.shorten(common.axis_names(fitted)[j], 18)}\n{ticks}")
        more = [f", {weights[box]:+.2f}" if weights is not None else "" for box in rows]
        display = cls(
            lower=np.where(is_open, np.nan, starts),
            upper=np.where(is_open, np.nan, ends),
            labels=boxes.labels[rows],
            rule_names=[
                f"box {box}, {count:,} sample{'' if count == 1 else 's'}{text}"
                for box, count, text in zip(rows, boxes.counts[rows], more, strict=True)
            ],
            feature_names=names,
            classes=fitted.labels,
            title=f"{len(rows)} of {len(boxes)} rules, {len(columns)} of {fitted.n_features} "
            "features\nbars: the values that a rule allows\nbelow: the outermost bounds",
            no_label=fitted.no_label,
        )
        return display.plot(ax, legend=legend)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw the display.

        Parameters
        ----------
        {axes}

        {self}
        """
        n_rules, n_features = self.lower.shape
        ax = self._make_axes(ax, (3.2 + 1.15 * n_features, 1.5 + 0.26 * n_rules))
        for row, label in enumerate(self.labels.tolist()):
            shown = np.flatnonzero(~np.isnan(self.lower[row]))
            left = shown + 0.9 * self.lower[row, shown]
            width = np.maximum(0.9 * (self.upper - self.lower)[row, shown], 0.02)
            ax.barh(np.full(len(shown), row), width, 0.7, left, **styles.bar_look(label))
        for column in range(n_features):
            ax.axvspan(column, column + 0.9, color="gray", alpha=0.1, lw=0, zorder=0)
        labels = styles.labels_present(self.labels)
        styles.add_bar_entries(ax, labels, styles.display_names(self.classes, self.no_label))
        ax.set(xlim=(-0.05, n_features - 0.05), ylim=(n_rules - 0.4, -0.6), title=self.title)
        ax.set_yticks(range(n_rules), self.rule_names, size="small")
        names = [styles.escape_math(name) for name in self.feature_names]
        ax.set_xticks(np.arange(n_features) + 0.45, names, size="small")
        if legend:
            styles.draw_legend(ax)
        return self


def _range(low: float, high: float) -> str:
    """Write the outermost bounds of a feature."""
    return " to ".join(number_text(float(f"{end:.3g}")) for end in (low, high))


def _slots(names: list[str]) -> str:
    """Write the categories in their order, or how many there are."""
    if len(names) > 3:
        return f"{len(names)}"
    return textwrap.fill(" | ".join(styles.shorten(name, 12) for name in names), 16)
