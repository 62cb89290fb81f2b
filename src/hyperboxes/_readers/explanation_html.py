"""Explanations as HTML for notebooks: tables with bars.

Text and background have the colours of the page around them, light or dark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperboxes._readers import explanation_text as words
from hyperboxes._readers.explanation_text import ARROW, format_membership
from hyperboxes._readers.rules import count_boxes, vote_text

if TYPE_CHECKING:
    from hyperboxes._readers.explain import Explanations, VoteExplanation, VoteExplanations
    from hyperboxes._readers.explanation import ExplainedBox, Explanation

# It takes the colours of text and background from the page around it, so it is at home on light and
# dark ones alike.

_MOST_FEATURES = 12
_MOST_SAMPLES = 20

# Told apart with any kind of colour vision, on light and dark pages.
WINNING, COMPETING = "#2a8fd0", "#e08a1e"

_STYLE = """<style>
.hyperboxes-explanation { font: 13px/1.45 system-ui, sans-serif; color: inherit; }
.hyperboxes-explanation div { max-width: 70em; overflow-x: auto; }
.hyperboxes-explanation table { font: inherit; color: inherit; border-collapse: collapse;
  margin: .5em 0; }
.hyperboxes-explanation th, .hyperboxes-explanation td { padding: .15em .7em; text-align: left;
  background: none; color: inherit; white-space: nowrap; border: 0;
  border-bottom: 1px solid rgba(128, 128, 128, .35); font-variant-numeric: tabular-nums; }
.hyperboxes-explanation small { font-size: inherit; opacity: .75; }
.hyperboxes-explanation svg { display: block; }
.hyperboxes-explanation th svg { display: inline; }
.hyperboxes-explanation summary { cursor: pointer; }
</style>"""

_BAR_WIDTH, _BAR_HEIGHT = 180, 18


def explanation_html(explanation: Explanation) -> str:
    """Return the explanation of one sample as a piece of HTML that needs nothing else."""
    return with_style([_body(explanation)])


def explanations_html(explanations: Explanations) -> str:
    """Return the explanations of several samples, each to be opened with a click."""

    def degree(explanation: Explanation) -> str:
        return words.format_membership(explanation.winning.membership)

    return list_samples(explanations, degree, _body)


def list_samples(
    explanations: Sequence[Any], degree: Callable[[Any], str], body: Callable[[Any], str]
) -> str:
    """Return what is said of each sample, behind a line with its class and its degree."""
    is_open = " open" if len(explanations) == 1 else ""
    parts = []
    for row, explanation in enumerate(explanations[:_MOST_SAMPLES]):
        name = escape(explanation.class_name)
        title = f"sample {row}: {name} <small>{degree(explanation)}</small>"
        parts.append(f"<details{is_open}><summary>{title}</summary>{body(explanation)}</details>")
    if len(explanations) > _MOST_SAMPLES:
        parts.append(f"<p>and {len(explanations) - _MOST_SAMPLES} more samples</p>")
    return with_style(parts)


def with_style(parts: Iterable[str]) -> str:
    """Return parts of HTML with what makes them look alike."""
    return f'<div class="hyperboxes-explanation">{_STYLE}{"".join(parts)}</div>'


def _body(explanation: Explanation) -> str:
    features = explanation.features_by_weight()
    shown = features[:_MOST_FEATURES]
    lines = [
        words.memberships(explanation),
        words.other_features(explanation, len(features), len(shown)),
    ]
    changes = words.change_lines(explanation, _MOST_FEATURES)
    lines += [line.replace(words.ARROW, "\xa0\N{RIGHTWARDS ARROW}\xa0") for line in changes]
    lines += [explanation._units] if explanation._units else []
    first, *last = (f"<div>{escape(line)}</div>" for line in lines)
    title = f"<div><b>{escape(words.headline(explanation))}</b></div>"
    return "".join([title, first, _table(explanation, shown) if shown else "", *last])


def _table(explanation: Explanation, features: list[int]) -> str:
    titles = "".join(
        f'<th colspan="2"><svg width="10" height="10"><rect width="10" height="10" '
        f'fill="{colour}"/></svg> {escape(words.box_title(box))}</th>'
        for colour, box in _boxes(explanation)
    )
    rows = "".join(_row(explanation, j) for j in features)
    header = f"<tr><th></th><th></th><th>sample</th><th></th>{titles}</tr>"
    return f"<div><table>{header}{rows}</table></div>"


def _row(explanation: Explanation, j: int) -> str:
    cells = [
        "*" if j == explanation.deciding else "",
        escape(explanation.feature_names[j]),
        escape(words.sample_value(explanation, j)),
        _bar(explanation, j),
    ]
    for _, box in _boxes(explanation):
        cells.append(escape(words.bounds(explanation, box, j)))
        cells.append(f"<small>{escape(words.position(explanation, box, j))}</small>")
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _boxes(explanation: Explanation) -> list[tuple[str, ExplainedBox]]:
    """Return the boxes with their colours."""
    boxes = [(WINNING, explanation.winning)]
    if explanation.competing is not None:
        boxes.append((COMPETING, explanation.competing))
    return boxes


def _bar(explanation: Explanation, j: int) -> str:
    """Draw the range of a feature, the boxes' parts of it one above the other, and the sample."""
    middle = _BAR_HEIGHT / 2
    shapes = [f'<path d="M0 {middle}H{_BAR_WIDTH}" stroke="currentColor" opacity=".3"/>']
    shapes += _range_bars(explanation, j)
    return (
        f'<svg width="{_BAR_WIDTH}" height="{_BAR_HEIGHT}" viewBox="0 0 {_BAR_WIDTH} '
        f'{_BAR_HEIGHT}" role="img" aria-label="{escape(_bar_as_text(explanation, j))}">'
        f"{''.join(shapes)}</svg>"
    )


def _box_bar(row: int, colour: str, x: float, width: float) -> str:
    """Draw the part of a box, the first one above the middle."""
    y = _BAR_HEIGHT / 2 + (-7 if row == 0 else 1)
    return f'<rect x="{x}" y="{y}" width="{width}" height="6" fill="{colour}"/>'


def _range_bars(explanation: Explanation, j: int) -> list[str]:
    boxes = _boxes(explanation)
    ends = [explanation.lower[j], explanation.upper[j], explanation.data_min[j]]
    ends += [explanation.data_max[j], *(box.lower[j] for _, box in boxes)]
    ends += [box.upper[j] for _, box in boxes]
    low, high = np.nanmin(ends), np.nanmax(ends)
    shapes = [
        _box_bar(row, colour, *_place_on_bar(box.lower[j], box.upper[j], low, high))
        for row, (colour, box) in enumerate(boxes)
        if not np.isnan(box.lower[j])
    ]
    if not np.isnan(explanation.lower[j]):
        x, width = _place_on_bar(explanation.lower[j], explanation.upper[j], low, high)
        shapes.append(
            f'<rect x="{x}" y="0" width="{width}" height="{_BAR_HEIGHT}" fill="currentColor" '
            f'opacity="{0.8 if width <= 2 else 0.35}"/>'
        )
    return shapes


def _place_on_bar(first: float, last: float, low: float, high: float) -> tuple[float, float]:
    """Return start and width of an interval on the bar, wide enough to be seen."""
    span = high / 2 - low / 2  # halves, for the whole range may be too large for a float
    if span <= 0:
        return _BAR_WIDTH / 2 - 1, 2
    start, stop = ((value / 2 - low / 2) / span * (_BAR_WIDTH - 2) for value in (first, last))
    return round(float(start), 1), round(float(max(stop - start, 0) + 2), 1)


def _bar_as_text(explanation: Explanation, j: int) -> str:
    """Return the bar in words."""
    parts = [f"sample {words.sample_value(explanation, j)}"]
    parts += [
        f"{words.box_title(box)} {words.bounds(explanation, box, j)}"
        for _, box in _boxes(explanation)
    ]
    return "; ".join(parts)


_MOST_BOXES = 30
_MOST_CLASSES = 5
_VOTE_WIDTH, _VOTE_HEIGHT = 70, 8


def vote_explanation_html(explanation: VoteExplanation) -> str:
    """Return the explanation of one sample as a piece of HTML that needs nothing else."""
    return with_style([_body_of_votes(explanation)])


def vote_explanations_html(explanations: VoteExplanations) -> str:
    """Return the explanations of several samples, each to be opened with a click."""

    def degree(explanation: VoteExplanation) -> str:
        return format_membership(explanation.probabilities.max())

    return list_samples(explanations, degree, _body_of_votes)


def _body_of_votes(explanation: VoteExplanation) -> str:
    title = f"<div><b>{escape(words.headline_of_votes(explanation))}</b></div>"
    classes = words.by_score(explanation)[:_MOST_CLASSES]
    parts = [title, _table_of_votes(explanation, classes)]
    parts += [f"<div>{line}</div>" for line in words.not_shown(explanation, classes)]
    change = words.change(explanation).replace(ARROW, "\xa0\N{RIGHTWARDS ARROW}\xa0")
    lines = [line for line in (change, explanation._units) if line]
    return "".join([*parts, *(f"<div>{escape(line)}</div>" for line in lines)])


def _table_of_votes(explanation: VoteExplanation, classes: np.ndarray) -> str:
    votes = words.votes_for(explanation, classes)
    shown, rest = votes[:_MOST_BOXES], votes[_MOST_BOXES:]
    rows = [("intercept", explanation.intercept)]
    for vote in shown:
        conditions = escape(" and ".join(explanation.conditions(vote)))
        rows.append((f"box {vote.index}: {conditions}", vote.weights))
    if rest:
        total = np.sum([vote.weights for vote in rest], axis=0)
        rows.append((escape(count_boxes(len(rest), "more ")), total))
    largest = max(np.abs(numbers).max() for _, numbers in rows) or 1.0
    body = "".join(_row_of_votes(name, numbers[classes], largest) for name, numbers in rows)
    names = "".join(f"<th>{escape(explanation.class_names[label])}</th>" for label in classes)
    scores = "".join(f"<td><b>{score:.2f}</b></td>" for score in explanation.scores[classes])
    probabilities = "".join(
        f"<td>{format_membership(p)}</td>" for p in explanation.probabilities[classes]
    )
    return (
        f"<div><table><tr><th></th>{names}</tr>{body}<tr><td><b>score</b></td>{scores}</tr>"
        f"<tr><td>probability</td>{probabilities}</tr></table></div>"
    )


def _row_of_votes(name: str, numbers: np.ndarray, largest: float) -> str:
    """Return a row; the first class is the predicted one."""
    cells = "".join(
        f"<td>{_cell(number, largest, WINNING if place == 0 else COMPETING)}</td>"
        for place, number in enumerate(numbers)
    )
    return f'<tr><td style="white-space: normal; min-width: 24em">{name}</td>{cells}</tr>'


def _cell(number: float, largest: float, colour: str) -> str:
    """Return a vote with a bar as long as it is large, hollow if it is negative."""
    if not number:
        return ""
    width = max(round(abs(number) / largest * (_VOTE_WIDTH - 2), 1), 1)
    fill = colour if number > 0 else "none"
    return (
        f'{vote_text(number)}<svg width="{_VOTE_WIDTH}" height="{_VOTE_HEIGHT}" aria-hidden="true">'
        f'<rect x="1" y="1" width="{width}" height="{_VOTE_HEIGHT - 2}" fill="{fill}" '
        f'stroke="{colour}"/></svg>'
    )
