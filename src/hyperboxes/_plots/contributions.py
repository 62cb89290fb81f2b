"""`ContributionsDisplay`: what each box adds to the scores of a sample, as bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from hyperboxes._estimators.capabilities import Operation
from hyperboxes._extras import need
from hyperboxes._plots import styles
from hyperboxes._plots.common import Display, check_one_sample
from hyperboxes._readers.explain import explain_encoded
from hyperboxes._readers.explanation_text import baseline_name, main_conditions
from hyperboxes._readers.fitted import check_integer, read_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE_HEIGHT = 0.17  # of a figure, in inches
_LONGEST_CONDITION = 44
_GAP = 0.8  # between rows, in lines


class _Row(NamedTuple):
    """A row of bars, and the lines of text next to it."""

    lines: list[str]
    contributions: np.ndarray


@dataclass(eq=False, kw_only=True)
class ContributionsDisplay(Display):
    """Contributions of boxes to the scores of one sample, as bars that add up.

    Each row is a box that contains the sample, with its conditions and the values that meet them;
    where several nearest boxes of each class decide, one of these, and the scores are
    probabilities. The first row is the intercept or what the classes' shares of the samples give,
    the last one the sum. For two classes, each row has one bar, which points to the right if it
    favours the second class. For more classes, each row has a bar for every class that the box has
    a weight for, among the classes with the largest scores.

    Create it with `from_estimator`. The parameters are also the attributes.

    Parameters
    ----------
    boxes : ndarray of int, shape (n_boxes,)
        The boxes that contribute, as indices into ``hyperboxes_``, in descending order of their
        contributions.
    contributions : ndarray of shape (n_boxes, n_classes)
        What each box adds to the score of each class.
    conditions : list of list of str
        The conditions of each box, the main ones where several nearest boxes decide.
    intercept : ndarray of shape (n_classes,)
        The scores without any box.
    probabilities : ndarray of shape (n_classes,)
        The probabilities of the classes.
    classes : ndarray of shape (n_classes,)
        The class labels.
    intercept_name : str, default="intercept"
        What the first row is called.

    {attributes}

    See Also
    --------
    explain : The same as text, with a counterfactual.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import BoostedHyperboxes, ContributionsDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BoostedHyperboxes(6, random_state=0).fit(X, y)
    >>> display = ContributionsDisplay.from_estimator(model, X[70:71])
    >>> display.contributions.shape == (len(display.boxes), 3)
    True
    """

    boxes: np.ndarray
    contributions: np.ndarray
    conditions: list[list[str]]
    intercept: np.ndarray
    probabilities: np.ndarray
    classes: np.ndarray
    intercept_name: str = "intercept"

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        max_boxes: int | None = 10,
        max_classes: int = 4,
        ax: Axes | None = None,
        legend: bool = True,
        bar_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the contributions to the prediction for one sample.

        Parameters
        ----------
        model : estimator
            A fitted `BoostedHyperboxes`, or a GFMM classifier in which several boxes of each class
            decide (``n_neighbors_ > 1``), or a fitted Pipeline that ends in one. The sample is then
            an input of the Pipeline, and conditions are on transformed values.
        X : array-like of shape (1, n_features) or (n_features,)
            The sample.
        {bars}

        {display}
        """
        need("matplotlib", "plot", cls.__name__)
        fitted = read_fitted(model, Operation.CONTRIBUTIONS)
        explanation = explain_encoded(fitted, check_one_sample(fitted, X, "X"))[0]
        found = explanation.boxes
        display = cls(
            boxes=np.array([box.index for box in found], int),
            contributions=np.array([box.contributions for box in found]).reshape(
                -1, len(explanation.classes)
            ),
            conditions=[main_conditions(explanation, box) for box in found],
            intercept=explanation.baseline,
            probabilities=explanation.probabilities,
            classes=explanation.classes,
            intercept_name=baseline_name(explanation),
        )
        return display.plot(
            ax,
            max_boxes=max_boxes,
            max_classes=max_classes,
            legend=legend,
            bar_kwargs=bar_kwargs,
        )

    @property
    def scores(self) -> np.ndarray:
        """The scores of the classes: the intercept and all contributions, added up."""
        return self.intercept + self.contributions.sum(axis=0)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        max_boxes: int | None = 10,
        max_classes: int = 4,
        legend: bool = True,
        bar_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        {bars}

        {self}
        """
        check_integer("max_boxes", max_boxes, 1)
        check_integer("max_classes", max_classes, 1, optional=False)
        shown = np.sort(np.argsort(-self.scores, kind="stable")[:max_classes])
        rows = self._rows(max_boxes)
        bars = [self._bars(row, shown) for row in rows]
        heights = [max(len(row.lines), len(b), 1) for row, b in zip(rows, bars, strict=True)]
        ax = self._make_axes(ax, (8.0, 1.0 + _LINE_HEIGHT * (sum(heights) + _GAP * len(rows))))
        self._draw(ax, rows, bars, heights, bar_kwargs or {})
        names = styles.display_names(self.classes)
        styles.add_bar_entries(ax, sorted({label for of_row in bars for label, _ in of_row}), names)
        is_binary = len(self.classes) == 2
        if legend:
            n_more = 0 if is_binary else len(self.classes) - len(shown)
            styles.draw_legend(ax, title=f"{n_more} more not drawn" if n_more else "")
        winner = int(self.scores.argmax())
        probability = f"probability {self.probabilities[winner]:.3f}"
        ax.set_title(f"{names[winner]}, {probability}", size="medium")
        ax.set_xlabel("contribution" + (f": {names[0]} < 0 < {names[1]}" if is_binary else ""))
        return self

    def _rows(self, max_boxes: int | None) -> list[_Row]:
        """Return the rows from top to bottom."""
        rows = [_Row([self.intercept_name], self.intercept)]
        for box, contributions, conditions in zip(
            self.boxes[:max_boxes], self.contributions, self.conditions, strict=False
        ):
            short = (styles.shorten(text, _LONGEST_CONDITION) for text in conditions)
            lines = list(map(styles.escape_math, short))
            rows.append(_Row([f"box {box}: {' '.join(lines[:1])}", *lines[1:]], contributions))
        n_more = len(self.boxes) - (len(rows) - 1)
        if n_more:
            rest = self.contributions[len(rows) - 1 :].sum(axis=0)
            rows.append(_Row([f"{n_more} more box{'' if n_more == 1 else 'es'}"], rest))
        return [*rows, _Row(["sum"], self.scores)]

    def _bars(self, row: _Row, shown: np.ndarray) -> list[tuple[int, float]]:
        """Return the class and the length of each bar of a row."""
        added = row.contributions
        if len(self.classes) == 2:
            score = float(added[1] - added[0])
            return [(int(score > 0), score)] if score else []
        return [(int(label), float(added[label])) for label in shown if added[label]]

    def _draw(
        self,
        ax: Axes,
        rows: list[_Row],
        bars: list[list[tuple[int, float]]],
        heights: list[int],
        options: dict[str, Any],
    ) -> None:
        starts = np.concatenate([[0.0], np.cumsum(np.array(heights) + _GAP)])
        centres = starts[:-1] + (np.array(heights) + _GAP) / 2
        for centre, of_row in zip(centres, bars, strict=True):
            for i, (label, length) in enumerate(of_row):
                y = centre + i - (len(of_row) - 1) / 2
                ax.barh(y, length, **{"height": 0.8, **styles.bar_look(label), **options})
                ax.annotate(
                    f"{length:+.2f}",
                    (length, y),
                    xytext=(3 if length > 0 else -3, 0),
                    textcoords="offset points",
                    ha="left" if length > 0 else "right",
                    va="center",
                    size="x-small",
                )
        ax.axvline(0, c=styles.text_colour(), lw=0.8)
        ax.axhline(starts[-2], c=styles.text_colour(), lw=0.8)
        ax.set_ylim(starts[-1], 0)
        ax.set_yticks(centres, ["\n".join(row.lines) for row in rows], size="x-small")
        ax.tick_params(axis="y", length=0)
        lengths = [length for of_row in bars for _, length in of_row]
        low, high = min(lengths, default=0.0), max(lengths, default=0.0)
        pad = 0.17 * ((high if high > 0 else 0) - (low if low < 0 else 0) or 1.0)
        ax.set_xlim(low - pad if low < 0 else -pad / 8, high + pad if high > 0 else pad / 8)
