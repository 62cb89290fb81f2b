"""The explanation of a sample by boxes that vote as a text: a table of votes that add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hyperboxes._explain.categories import category_text
from hyperboxes._explain.text import ARROW, WIDTH, format_membership, wrapped
from hyperboxes._explain.votes import count_boxes, first_beyond, value_text, wrap_parts

if TYPE_CHECKING:
    from hyperboxes._explain.vote_explanation import ExplainedVote, VoteExplanation

# What the columns of classes may take of a line; two are always shown.
_MOST_FOR_CLASSES = 40
_BETWEEN = "  "


def to_text(explanation: VoteExplanation, max_boxes: int | None) -> str:
    """Return the whole text."""
    table = _table(explanation, max_boxes)
    last = wrapped([change(explanation), explanation._units])
    return "\n".join([headline(explanation), "", *table, "", *last])


def headline(explanation: VoteExplanation) -> str:
    """Return what is predicted, and by how many boxes."""
    probability = format_membership(explanation.probabilities.max())
    n_held = len(explanation.votes)
    hold = "holds" if n_held == 1 else "hold"
    return (
        f"{explanation.class_name}, probability {probability}: {n_held or 'none'} of "
        f"{count_boxes(explanation.n_boxes)} {hold} the sample."
    )


def change(explanation: VoteExplanation) -> str:
    """Return what would have to change, and what the model says then."""
    if explanation.change is None:
        return "No change of its values was found after which the prediction differs."
    changed = explanation.change
    steps = [
        f"{explanation.feature_names[j]} {_step(explanation, j, changed.values[j])}"
        for j in changed.features
    ]
    return (
        f"It would be {changed.class_name} (probability "
        f"{format_membership(changed.probability)}) with {', '.join(steps)}."
    )


def _step(explanation: VoteExplanation, j: int, new: float) -> str:
    """Return how a value changes, with digits that show it."""
    old, categories = explanation.values[j], explanation._categories.get(j)
    if categories is not None:
        old_text, new_text = category_text(categories, old), category_text(categories, new)
        return f"{old_text}{ARROW}{new_text}"
    if old > new:
        text = value_text(old, np.nextafter(new, np.inf), np.inf)
    else:
        text = value_text(old, -np.inf, np.nextafter(new, -np.inf))
    return f"{text}{ARROW}{first_beyond(new)}".replace(" ", "\xa0")


def by_score(explanation: VoteExplanation) -> np.ndarray:
    """Return the classes, those with the largest scores first."""
    return np.argsort(-explanation.scores, kind="stable")


def _table(explanation: VoteExplanation, max_boxes: int | None) -> list[str]:
    """Return the lines of the table, one or more for each box."""
    columns = _shown_classes(explanation)
    names = [explanation.class_names[label] for label in columns]
    widths = [max(len(name), 7) for name in names]
    indent = sum(widths) + len(_BETWEEN) * len(widths)
    lines = [_row(names, widths)]
    for numbers, parts in _rows(explanation, columns, max_boxes):
        first, *rest = wrap_parts(parts, max(WIDTH - indent, 30))
        lines.append(f"{_row(numbers, widths)}{_BETWEEN}{first}")
        lines += [" " * indent + line for line in rest]
    lines += not_shown(explanation, columns)
    return [line.rstrip() for line in lines]


def votes_for(explanation: VoteExplanation, classes: np.ndarray) -> list[ExplainedVote]:
    """Return the votes that concern some classes."""
    return [vote for vote in explanation.votes if vote.weights[classes].any()]


def not_shown(explanation: VoteExplanation, classes: np.ndarray) -> list[str]:
    """Return what is to say of other classes than those that are shown."""
    n_classes = len(explanation.classes) - len(classes)
    if not n_classes:
        return []
    n_boxes = len(explanation.votes) - len(votes_for(explanation, classes))
    boxes = f", and {count_boxes(n_boxes)} for these alone" if n_boxes else ""
    return [f"{n_classes} more class{'' if n_classes == 1 else 'es'} of smaller scores{boxes}."]


def _shown_classes(explanation: VoteExplanation) -> np.ndarray:
    """Return the classes with the largest scores, as many as fit."""
    order = by_score(explanation)
    widths = [max(len(explanation.class_names[label]), 7) + len(_BETWEEN) for label in order]
    return order[: max(int((np.cumsum(widths) <= _MOST_FOR_CLASSES).sum()), 2)]


def _row(cells: list[str], widths: list[int]) -> str:
    return _BETWEEN.join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))


def _rows(
    explanation: VoteExplanation, columns: np.ndarray, max_boxes: int | None
) -> list[tuple[list[str], list[str]]]:
    """Return the numbers of each row, and what they stand for."""
    votes = votes_for(explanation, columns)
    shown, rest = votes[:max_boxes], votes[len(votes[:max_boxes]) :]
    rows = [(_cells(explanation.intercept[columns]), ["intercept"])]
    for vote in shown:
        conditions = explanation.conditions(vote)
        parts = [f"{condition} and" for condition in conditions[:-1]] + conditions[-1:]
        rows.append((_cells(vote.weights[columns]), [f"box {vote.index} ", *parts]))
    if rest:
        total = np.sum([vote.weights[columns] for vote in rest], axis=0)
        rows.append((_cells(total), [count_boxes(len(rest), "more ")]))
    rows.append(([f"{score:.2f}" for score in explanation.scores[columns]], ["score"]))
    probabilities = explanation.probabilities[columns]
    rows.append(([format_membership(p) for p in probabilities], ["probability"]))
    return rows


def _cells(numbers: np.ndarray) -> list[str]:
    return [f"{number:+.2f}" if number else "" for number in numbers]
