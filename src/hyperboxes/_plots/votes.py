"""`VotesDisplay`: what each box that holds a sample adds to the scores of the classes, as bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from hyperboxes._estimators.refusals import refuse_memory
from hyperboxes._estimators.validation import checked
from hyperboxes._explain.explaining import explain
from hyperboxes._explain.pipelines import read_pipeline
from hyperboxes._explain.reading import (
    check_integer,
    is_voting,
    read_any_boxes,
)
from hyperboxes._extras import need
from hyperboxes._plots.common import Display, check_one_sample
from hyperboxes._plots.docs import shared_docs
from hyperboxes._plots.styles import (
    add_bar_entries,
    bar_look,
    display_names,
    draw_legend,
    escape_math,
    shorten,
    text_colour,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE_HEIGHT = 0.17  # of a figure, in inches
_LONGEST_CONDITION = 44


class _Row(NamedTuple):
    """A row of bars, with what it stands for in lines."""

    lines: list[str]
    votes: np.ndarray


@shared_docs
@dataclass(eq=False, kw_only=True)
class VotesDisplay(Display):
    """The votes of the boxes that hold a sample, as bars that add up to its scores.

    Each row is a box, with its conditions and the values that meet them; the first is the
    intercept, the last the sum. Of two classes there is one bar in a row, to the right if it is for
    the second class. Of more there is one for each class that the box votes for, among those with
    the largest scores.

    Make one with `from_estimator`. The parameters are the attributes.

    Parameters
    ----------
    boxes : ndarray of int, shape (n_held,)
        The boxes that hold the sample, as indices into ``hyperboxes_``, those with the largest
        votes first.
    votes : ndarray of shape (n_held, n_classes)
        What they add to the score of each class.
    conditions : list of list of str
        Their conditions, with the values that meet them.
    intercept : ndarray of shape (n_classes,)
        What the scores start with.
    probabilities : ndarray of shape (n_classes,)
        The probabilities of the classes.
    classes : ndarray of shape (n_classes,)
        The class labels.

    Attributes
    ----------
    {drawn_on}

    See Also
    --------
    explain : The same as a text, and what would change the prediction.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import BoostedHyperboxes, VotesDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BoostedHyperboxes(6, random_state=0).fit(X, y)
    >>> display = VotesDisplay.from_estimator(model, X[70:71])
    >>> display.votes.shape == (len(display.boxes), 3)
    True
    """

    boxes: np.ndarray
    votes: np.ndarray
    conditions: list[list[str]]
    intercept: np.ndarray
    probabilities: np.ndarray
    classes: np.ndarray

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
        """Draw the votes for one sample.

        Parameters
        ----------
        model : BoostedHyperboxes
            A fitted model, or a fitted Pipeline that ends in one: the sample is then one that the
            Pipeline takes, and conditions are on values as transformed.
        X : array-like of shape (1, n_features) or (n_features,)
            The sample.
        max_boxes : int, default=10
            Of more boxes, those with the largest votes have a row, and the others one together.
            None: all.
        max_classes : int, default=4
            Of more classes, those with the largest scores are drawn.
        {place}
        {legend}
        bar_kwargs : dict, default=None
            Further options of Matplotlib's `barh`.

        {drawn}
        """
        need("matplotlib", "plot", cls.__name__)
        model, X, _ = read_pipeline(model, X)
        read_any_boxes(model, cls.__name__)
        refuse_memory(
            model,
            cls.__name__,
            "explain says which boxes voted, and how recent they are.",
        )
        if not is_voting(model):
            raise TypeError(
                f"{cls.__name__} is for boxes that vote; those of {type(model).__name__} cover "
                "samples. ParallelCoordinatesDisplay shows a sample and the boxes near it."
            )
        sample = check_one_sample(model, X, "X")
        explanation = explain(model, checked(sample))[0]
        held = explanation.votes
        display = cls(
            boxes=np.array([vote.index for vote in held], int),
            votes=np.array([vote.weights for vote in held]).reshape(-1, len(model.classes_)),
            conditions=[explanation.conditions(vote) for vote in held],
            intercept=explanation.intercept,
            probabilities=explanation.probabilities,
            classes=explanation.classes,
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
        """The intercept and all votes, added up."""
        return self.intercept + self.votes.sum(axis=0)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        max_boxes: int | None = 10,
        max_classes: int = 4,
        legend: bool = True,
        bar_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw what the display holds.

        Parameters
        ----------
        {place}
        max_boxes : int, default=10
            Of more boxes, those with the largest votes have a row, and the others one together.
            None: all.
        max_classes : int, default=4
            Of more classes, those with the largest scores are drawn.
        {legend}
        bar_kwargs : dict, default=None
            Further options of Matplotlib's `barh`.

        {itself}
        """
        check_integer("max_boxes", max_boxes, 1)
        check_integer("max_classes", max_classes, 1, optional=False)
        shown = np.sort(np.argsort(-self.scores, kind="stable")[:max_classes])
        rows = self._rows(max_boxes)
        bars = [self._bars(row, shown) for row in rows]
        heights = [
            max(len(row.lines), len(of_row), 1) for row, of_row in zip(rows, bars, strict=True)
        ]
        ax = self._make_axes(ax, (8.0, 1.0 + _LINE_HEIGHT * (sum(heights) + 0.8 * len(rows))))
        self._draw(ax, rows, bars, heights, bar_kwargs or {})
        drawn = sorted({label for of_row in bars for label, _ in of_row})
        add_bar_entries(ax, drawn, self._names)
        if legend:
            draw_legend(ax, title=self._note(len(shown)))
        winner = int(self.scores.argmax())
        probability = f"probability {self.probabilities[winner]:.3f}"
        ax.set_title(f"{self._names[winner]}, {probability}", size="medium")
        ax.set_xlabel(self._meaning())
        return self

    def _rows(self, max_boxes: int | None) -> list[_Row]:
        """Return the rows from top to bottom."""
        rows = [_Row(["intercept"], self.intercept)]
        for box, votes, conditions in zip(
            self.boxes[:max_boxes], self.votes, self.conditions, strict=False
        ):
            lines = [escape_math(shorten(text, _LONGEST_CONDITION)) for text in conditions]
            rows.append(_Row([f"box {box}: {' '.join(lines[:1])}", *lines[1:]], votes))
        n_more = len(self.boxes) - (len(rows) - 1)
        if n_more:
            rest = self.votes[len(rows) - 1 :].sum(axis=0)
            rows.append(_Row([f"{n_more} more box{'' if n_more == 1 else 'es'}"], rest))
        return [*rows, _Row(["sum"], self.scores)]

    def _bars(self, row: _Row, shown: np.ndarray) -> list[tuple[int, float]]:
        """Return the bars of a row: classes, and how long they are."""
        if len(self.classes) == 2:
            score = float(row.votes[1] - row.votes[0])
            return [(int(score > 0), score)] if score else []
        return [(int(label), float(row.votes[label])) for label in shown if row.votes[label]]

    def _draw(
        self,
        ax: Axes,
        rows: list[_Row],
        bars: list[list[tuple[int, float]]],
        heights: list[int],
        options: dict[str, Any],
    ) -> None:
        starts = np.concatenate([[0.0], np.cumsum(np.array(heights) + 0.8)])
        centres = starts[:-1] + (np.array(heights) + 0.8) / 2
        for centre, of_row in zip(centres, bars, strict=True):
            for place, (label, length) in enumerate(of_row):
                y = centre + place - (len(of_row) - 1) / 2
                ax.barh(y, length, **{"height": 0.8, **bar_look(label), **options})
                ax.annotate(
                    f"{length:+.2f}",
                    (length, y),
                    xytext=(3 if length > 0 else -3, 0),
                    textcoords="offset points",
                    ha="left" if length > 0 else "right",
                    va="center",
                    size="x-small",
                )
        ax.axvline(0, c=text_colour(), lw=0.8)
        ax.axhline(starts[-2], c=text_colour(), lw=0.8)
        ax.set_ylim(starts[-1], 0)
        ax.set_yticks(centres, ["\n".join(row.lines) for row in rows], size="x-small")
        ax.tick_params(axis="y", length=0)
        lengths = [length for of_row in bars for _, length in of_row]
        low, high = min(lengths, default=0.0), max(lengths, default=0.0)
        pad = 0.17 * ((high if high > 0 else 0) - (low if low < 0 else 0) or 1.0)
        ax.set_xlim(low - pad if low < 0 else -pad / 8, high + pad if high > 0 else pad / 8)

    @property
    def _names(self) -> list[str]:
        return display_names(self.classes)

    def _meaning(self) -> str:
        """Return what the length of a bar is."""
        if len(self.classes) == 2:
            first, second = self._names[:2]
            return f"vote: {first} < 0 < {second}"
        return "vote"

    def _note(self, n_shown: int) -> str:
        n_more = 0 if len(self.classes) == 2 else len(self.classes) - n_shown
        return f"{n_more} more not drawn" if n_more else ""
