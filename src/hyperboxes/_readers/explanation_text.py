"""Explanations as text, with aligned columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from hyperboxes._readers.fitted import category_text
from hyperboxes._readers.rules import count_boxes, first_beyond, value_text, wrap_parts

if TYPE_CHECKING:
    from hyperboxes._readers.explain import ExplainedVote, VoteExplanation
    from hyperboxes._readers.explanation import Change, ExplainedBox, Explanation

_MOST_CLASSES = 6
WIDTH = 79

NO_CHANGE = "No change to values of other boxes was found that gives another class."

# Where the box that decides lies.
PLACES = {
    "inside": "holds the sample",
    "near": "is the closest",
    "far": "is the nearest, beyond the reach of all boxes",
}

# No line is broken at these spaces.
ARROW = "\xa0->\xa0"


def to_text(explanation: Explanation, max_features: int | None) -> str:
    """Return the whole text."""
    features = explanation.features_by_weight()
    shown = features[:max_features]
    lines = wrapped([headline(explanation), memberships(explanation)])
    if shown:
        lines += ["", *_table(explanation, shown), ""]
    last = [other_features(explanation, len(features), len(shown))]
    last += [*change_lines(explanation, max_features), explanation._units]
    return "\n".join(lines + wrapped(last))


def wrapped(texts: list[str]) -> list[str]:
    """Break long lines, but not at the spaces that must not be, which become ordinary ones."""
    return [
        line.replace("\xa0", " ")
        for text in texts
        for line in textwrap.wrap(text, WIDTH, subsequent_indent="    ", break_long_words=False)
    ]


def headline(explanation: Explanation) -> str:
    """Return what is predicted, and by which box."""
    box = explanation.winning
    place = PLACES[
        "inside" if box.membership == 1.0 else "far" if box.membership == 0.0 else "near"
    ]
    samples = "1 training sample" if box.count == 1 else f"{box.count} training samples"
    return f"{explanation.class_name}: box {box.index} ({samples}) {place}."


def memberships(explanation: Explanation) -> str:
    """Return the memberships of the classes, the largest first, and whether they tie."""
    order = np.argsort(-explanation.memberships, kind="stable")
    parts = [
        f"{explanation.class_names[code]} {format_membership(explanation.memberships[code])}"
        for code in order[:_MOST_CLASSES]
    ]
    if len(order) > len(parts):
        parts.append(f"{len(order) - len(parts)} more")
    return f"Memberships: {', '.join(parts)}. {tie(explanation)}".rstrip()


def tie(explanation: Explanation) -> str:
    """Return what settled a tie of classes; nothing if there is none."""
    largest = explanation.memberships.max()
    tied = largest > 0 and (explanation.memberships == largest).sum() > 1
    by_single = explanation.winning.membership == 1 and explanation.winning.count == 1
    return tie_text(by_single=by_single) if tied else ""


def tie_text(*, by_single: bool) -> str:
    """Return what settles a tie; a box of a single training sample may."""
    if by_single:
        return "A tie: the oldest box of a single training sample wins."
    return (
        "A tie: the class wins whose closest boxes have the most training samples, then the first."
    )


def format_membership(membership: float) -> str:
    """Return a membership that shows 1 and 0 only where it is that."""
    text = f"{membership:.3f}"
    if membership < 1 and text == "1.000":
        return "0.999+"
    return "<0.001" if membership > 0 and text == "0.000" else text


def box_title(box: ExplainedBox) -> str:
    """Name a box and its class."""
    return f"box {box.index}, {box.class_name}"


def sample_value(explanation: Explanation, j: int) -> str:
    """Return the sample's value of a feature, or the ends of an interval."""
    return _ends(explanation, j, explanation.lower[j], explanation.upper[j])


def new_value(explanation: Explanation, j: int) -> str:
    """Return the changed value of a feature."""
    assert explanation.change is not None
    low, high = explanation.change.lower[j], explanation.change.upper[j]
    ends = [explanation._rounding.full(j, end) for end in (low, high)]
    return ends[0] if low == high else " to ".join(ends)


def _ends(explanation: Explanation, j: int, low: float, high: float) -> str:
    if np.isnan(low):
        return "missing"
    if low == high:
        return explanation._rounding.number(j, low)
    return explanation._rounding.interval(j, low, high)


def bounds(explanation: Explanation, box: ExplainedBox, j: int) -> str:
    """Return the bounds of a box in a feature."""
    if np.isnan(box.lower[j]):
        return "any"
    return explanation._rounding.interval(j, box.lower[j], box.upper[j])


def position(explanation: Explanation, box: ExplainedBox, j: int) -> str:
    """Return on which side of a box's bounds the sample lies, and how far."""
    distance = box.distance[j]
    if np.isnan(distance):
        return ""
    if distance <= 0:
        return "inside"
    if j in explanation._rounding.categories:
        return "outside"
    above, below = explanation.upper[j] > box.upper[j], explanation.lower[j] < box.lower[j]
    side = "outside" if above and below else "above" if above else "below"
    return f"{explanation._rounding.length(j, distance)} {side}"


def other_features(explanation: Explanation, n_features: int, n_shown: int) -> str:
    """Return what is to say of the features that are marked, and of those that are not shown."""
    hold = "the box holds" if explanation.competing is None else "both boxes hold"
    others = len(explanation.lower) - n_features
    if n_features == 0:
        return f"{hold.capitalize()} the sample in every feature."
    parts = []
    if n_shown and explanation.deciding is not None:
        parts.append(f"* {_role_of_deciding(explanation)}.")
    if n_features > 1 and explanation.worst is not None:
        worst = explanation.feature_names[explanation.worst]
        parts.append(f"Box {explanation.winning.index} fits worst in {worst}.")
    if n_features > n_shown:
        parts.append(f"{_features(n_features - n_shown, 'more')} not shown.")
    if others:
        parts.append(f"In {_features(others, 'other')} {hold} the sample.")
    return " ".join(parts)


def _role_of_deciding(explanation: Explanation) -> str:
    """Return what is to say of the deciding feature."""
    assert explanation.competing is not None
    role = name_of_deciding(explanation.membership_function)
    boxes = explanation.winning.index, explanation.competing.index
    return f"{role} for box {boxes[0]} against box {boxes[1]}"


def name_of_deciding(membership_function: str) -> str:
    """Return what the deciding feature does: in a mean it does not decide alone."""
    return "decides" if membership_function == "min" else "counts most"


def _features(number: int, which: str) -> str:
    return f"{number} {which} feature{'' if number == 1 else 's'}"


def change_lines(explanation: Explanation, max_features: int | None) -> list[str]:
    """Return what would give another prediction; nothing if there is no other class."""
    competing, change = explanation.competing, explanation.change
    if competing is None:
        return []
    lines = []
    if competing.holds_sample:
        lines.append(f"Box {competing.index} ({competing.class_name}) holds it, too.")
    if change is None:
        return [*lines, NO_CHANGE]
    steps = [
        f"{explanation.feature_names[j]} {sample_value(explanation, j)}{ARROW}"
        f"{new_value(explanation, j)}"
        for j in change.features[:max_features]
    ]
    if len(change.features) > len(steps):
        steps.append(_features(len(change.features) - len(steps), "more"))
    return [*lines, f"{title_of_change(change)} {', '.join(steps)}."]


def title_of_change(change: Change) -> str:
    """Return what a change is for."""
    return f"To get {change.class_name}:"


def _table(explanation: Explanation, features: list[int]) -> list[str]:
    """Return the lines of a table, aligned, with a mark for the deciding feature."""
    boxes = [box for box in (explanation.winning, explanation.competing) if box is not None]
    header = ["", "", "sample"]
    for box in boxes:
        header += [box_title(box), ""]
    rows = [header]
    for j in features:
        row = ["*" if j == explanation.deciding else "", explanation.feature_names[j]]
        row.append(sample_value(explanation, j))
        for box in boxes:
            row += [bounds(explanation, box, j), position(explanation, box, j)]
        rows.append(row)
    return _align(rows)


def _align(rows: list[list[str]]) -> list[str]:
    """Join cells; a header over two columns widens the second."""
    widths = [max(len(row[k]) for row in rows[1:]) for k in range(len(rows[0]))]
    widths[2] = max(widths[2], len(rows[0][2]))
    for k in range(3, len(widths), 2):
        widths[k + 1] = max(widths[k + 1], len(rows[0][k]) - widths[k] - 2)
    lines = []
    for row in rows[1:]:
        lines.append("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)))
    pairs = [f"{rows[0][k]:{widths[k] + 2 + widths[k + 1]}}" for k in range(3, len(widths), 2)]
    start = " " * (widths[0] + widths[1] + 4)
    header = f"{start}{rows[0][2]:{widths[2]}}  {'  '.join(pairs)}"
    return [line.rstrip() for line in (header, *lines)]


# What the columns of classes may take of a line; two are always shown.
_MOST_FOR_CLASSES = 40
_BETWEEN = "  "


def votes_to_text(explanation: VoteExplanation, max_boxes: int | None) -> str:
    """Return the whole text."""
    table = _table_of_votes(explanation, max_boxes)
    last = wrapped([change(explanation), explanation._units])
    return "\n".join([headline_of_votes(explanation), "", *table, "", *last])


def headline_of_votes(explanation: VoteExplanation) -> str:
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


def _table_of_votes(explanation: VoteExplanation, max_boxes: int | None) -> list[str]:
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
