"""The explanation of a sample by boxes that vote as HTML for notebooks: bars that add up."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from hyperboxes._explain import vote_text as words
from hyperboxes._explain.html import COMPETING, WINNING, list_samples, with_style
from hyperboxes._explain.text import ARROW, format_membership
from hyperboxes._explain.votes import count_boxes, vote_text

if TYPE_CHECKING:
    from hyperboxes._explain.vote_explaining import VoteExplanations
    from hyperboxes._explain.vote_explanation import VoteExplanation

_MOST_BOXES = 30
_MOST_CLASSES = 5
_BAR_WIDTH, _BAR_HEIGHT = 70, 8


def explanation_html(explanation: VoteExplanation) -> str:
    """Return the explanation of one sample as a piece of HTML that needs nothing else."""
    return with_style([_body(explanation)])


def explanations_html(explanations: VoteExplanations) -> str:
    """Return the explanations of several samples, each to be opened with a click."""

    def degree(explanation: VoteExplanation) -> str:
        return format_membership(explanation.probabilities.max())

    return list_samples(explanations, degree, _body)


def _body(explanation: VoteExplanation) -> str:
    title = f"<div><b>{escape(words.headline(explanation))}</b></div>"
    classes = words.by_score(explanation)[:_MOST_CLASSES]
    parts = [title, _table(explanation, classes)]
    parts += [f"<div>{line}</div>" for line in words.not_shown(explanation, classes)]
    change = words.change(explanation).replace(ARROW, "\xa0\N{RIGHTWARDS ARROW}\xa0")
    lines = [line for line in (change, explanation._units) if line]
    return "".join([*parts, *(f"<div>{escape(line)}</div>" for line in lines)])


def _table(explanation: VoteExplanation, classes: np.ndarray) -> str:
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
    body = "".join(_row(name, numbers[classes], largest) for name, numbers in rows)
    names = "".join(f"<th>{escape(explanation.class_names[label])}</th>" for label in classes)
    scores = "".join(f"<td><b>{score:.2f}</b></td>" for score in explanation.scores[classes])
    probabilities = "".join(
        f"<td>{format_membership(p)}</td>" for p in explanation.probabilities[classes]
    )
    return (
        f"<div><table><tr><th></th>{names}</tr>{body}<tr><td><b>score</b></td>{scores}</tr>"
        f"<tr><td>probability</td>{probabilities}</tr></table></div>"
    )


def _row(name: str, numbers: np.ndarray, largest: float) -> str:
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
    width = max(round(abs(number) / largest * (_BAR_WIDTH - 2), 1), 1)
    fill = colour if number > 0 else "none"
    return (
        f'{vote_text(number)}<svg width="{_BAR_WIDTH}" height="{_BAR_HEIGHT}" aria-hidden="true">'
        f'<rect x="1" y="1" width="{width}" height="{_BAR_HEIGHT - 2}" fill="{fill}" '
        f'stroke="{colour}"/></svg>'
    )
