"""Explanations as text, with aligned columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from hyperboxes._readers import rules
from hyperboxes._readers.text import (
    align,
    category_condition,
    category_text,
    half_open_text,
    number_text,
    several_text,
    whole_text,
)

if TYPE_CHECKING:
    from hyperboxes._readers.explanation import ExplainedBox, Explanation

_MOST_CLASSES = 6
WIDTH = 79

# Conditions of a box that are shown where boxes have bounds in many features.
_MOST_CONDITIONS = 3

# Boxes whose contributions are all written as 0.00 share a row, unless those of others are small.
_SMALLEST_SHOWN = 0.005

# What the columns of classes may take of a line; two are always shown.
_MOST_FOR_CLASSES = 40
_BETWEEN = "  "

NO_CHANGE = "The search found no change that gives another class."
_NO_CHANGE_OF_SUM = "The search found no change that gives another prediction."
ENDED_EARLY = "The search has ended at its limit of work."

# Where the box that decides lies.
PLACES = {
    "inside": "contains the sample",
    "near": "is the closest",
    "far": "is the nearest, beyond the reach of all boxes",
}

# No line is broken at these spaces.
ARROW = "\xa0->\xa0"


def write(explanation: Explanation, max_features: int | None, max_boxes: int | None) -> str:
    """Return the whole text."""
    last = [*change_lines(explanation, max_features), *explanation.notes]
    if explanation.layout == "sum":
        table = _sum_table(explanation, max_boxes)
        features = _contributions(explanation, max_features)
        return "\n".join([headline(explanation), "", *table, "", *features, *wrapped(last)])
    features_shown = explanation.features_by_weight()[:max_features]
    lines = wrapped([headline(explanation), memberships(explanation)])
    if features_shown:
        lines += ["", *_duel_table(explanation, features_shown), ""]
    return "\n".join(lines + wrapped([other_features(explanation, len(features_shown)), *last]))


def wrapped(texts: list[str]) -> list[str]:
    """Break long lines, but not at the spaces that must not be, which become ordinary ones."""
    return [
        line.replace("\xa0", " ")
        for text in texts
        for line in textwrap.wrap(text, WIDTH, subsequent_indent="    ", break_long_words=False)
    ]


def headline(explanation: Explanation) -> str:
    """Return what is predicted, and by which boxes."""
    if explanation.layout == "sum":
        n_boxes = sum(box.part == 1.0 for box in explanation.boxes)
        n_partly = len(explanation.boxes) - n_boxes
        partly = f", {n_partly} in part" if n_partly else ""
        verb = "contain{} the sample" if explanation._is_additive else "vote{}"
        which = (
            f"{n_boxes or 'none'} of {rules.count_boxes(explanation.n_boxes)} "
            f"{verb.format('s' if n_boxes == 1 else '')}{partly}"
        )
        if explanation._is_nearest:
            which = several_text(explanation._n_neighbors)
        probability = format_membership(explanation.probabilities[explanation._code])
        return f"{explanation.class_name}, probability {probability}: {which}."
    box = explanation.boxes[0]
    place = PLACES[
        "inside" if box.membership == 1.0 else "far" if box.membership == 0.0 else "near"
    ]
    samples = "1 training sample" if box.count == 1 else f"{box.count} training samples"
    return f"{explanation.class_name}: box {box.index} ({samples}) {place}."


def memberships(explanation: Explanation) -> str:
    """Return the memberships of the classes, the largest first, and whether they tie."""
    order = by_score(explanation)
    parts = [
        f"{explanation.class_names[code]} {format_membership(explanation.scores[code])}"
        for code in order[:_MOST_CLASSES]
    ]
    if len(order) > len(parts):
        parts.append(f"{len(order) - len(parts)} more")
    return f"Memberships: {', '.join(parts)}. {tie(explanation)}".rstrip()


def by_score(explanation: Explanation) -> np.ndarray:
    """Return the classes, those with the largest scores first."""
    return np.argsort(-explanation.scores, kind="stable")


def tie(explanation: Explanation) -> str:
    """Return what settled a tie of classes; nothing if there is none."""
    largest, box = explanation.scores.max(), explanation.boxes[0]
    tied = largest > 0 and (explanation.scores == largest).sum() > 1
    if not tied:
        return ""
    may_settle = explanation.is_complete_in(box)
    return tie_text(by_single=box.membership == 1 and box.count == 1 and may_settle)


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


def box_name(box: ExplainedBox) -> str:
    """Name a box, with its age if it has one."""
    if box.age is not None:
        ago = f"{box.age:,} sample{'' if box.age == 1 else 's'} ago" if box.age else "last sample"
        return f"box {box.index}, {ago}:"
    return f"box {box.index}" if box.member is None else f"member {box.member}, box {box.index}:"


def box_title(box: ExplainedBox) -> str:
    """Name a box and its class."""
    return f"box {box.index}, {box.class_name}"


def value(explanation: Explanation, j: int, low: float, high: float) -> str:
    """Return a value of a sample in a feature, or the ends of an interval."""
    numbers = explanation._numbers
    if np.isnan(low):
        return "missing"
    return numbers.number(j, low) if low == high else numbers.interval(j, low, high)


def sample_value(explanation: Explanation, j: int) -> str:
    """Return the sample's value in a feature, or the ends of an interval."""
    return value(explanation, j, explanation.lower[j], explanation.upper[j])


def bounds(explanation: Explanation, box: ExplainedBox, j: int) -> str:
    """Return the bounds of a box in a feature."""
    if np.isnan(box.lower[j]):
        return "any"
    return explanation._numbers.interval(j, box.lower[j], box.upper[j])


def condition(explanation: Explanation, box: ExplainedBox, j: int) -> str:
    """Return the condition of a box in a feature; of additive models, with the value in it."""
    name, low, high = explanation.feature_names[j], box.lower[j], box.upper[j]
    if not explanation._is_additive:
        is_shown = explanation._is_nearest and explanation.layout == "sum" and box.fraction[j] > 0
        where = f" ({position(explanation, box, j)})" if is_shown else ""
        return f"{name} {bounds(explanation, box, j)}{where}"
    value, categories = explanation.lower[j], explanation._categories.get(j)
    if np.isnan(value) and box.missing_shares is not None:
        share = box.missing_shares[j]
        return f"{name} missing" if share == 1.0 else f"{name} missing (counts {share:g})"
    if categories is not None:
        return f"{name} = {category_condition(categories, value, low, high)}"
    if explanation._is_whole[j] and (np.isfinite(low) or np.isfinite(high)):
        return f"{name} = {number_text(value)} ({whole_text(low, high)})"
    return half_open_text(f"{name} = {rules.value_text(value, low, high)}", low, high)


def position(explanation: Explanation, box: ExplainedBox, j: int) -> str:
    """Return on which side of a box's bounds the sample lies, and how far."""
    distance = box.distance[j]
    if np.isnan(distance):
        return ""
    if distance <= 0:
        return "inside"
    if j in explanation._categories:
        return "outside"
    above, below = explanation.upper[j] > box.upper[j], explanation.lower[j] < box.lower[j]
    side = "outside" if above and below else "above" if above else "below"
    return f"{explanation._rounding.length(j, distance)} {side}"


def other_features(explanation: Explanation, n_shown: int) -> str:
    """Return notes on the features that are marked, and on those that are not shown."""
    hold = "the box contains" if explanation.competing is None else "both boxes contain"
    n_features = len(explanation.features_by_weight())
    others = len(explanation.lower) - n_features
    if n_features == 0:
        return f"{hold.capitalize()} the sample in every feature."
    parts = []
    if n_shown and explanation.deciding is not None:
        winning, competing = (box.index for box in explanation.boxes)
        role = name_of_deciding(is_mean=explanation._is_mean)
        parts.append(f"* {role} for box {winning} against box {competing}.")
    if n_features > 1 and explanation.worst is not None:
        worst = explanation.feature_names[explanation.worst]
        parts.append(f"Box {explanation.boxes[0].index} fits worst in {worst}.")
    if n_features > n_shown:
        parts.append(f"{_features(n_features - n_shown, 'more')} not shown.")
    if others:
        parts.append(f"In {_features(others, 'other')} {hold} the sample.")
    return " ".join(parts)


def name_of_deciding(*, is_mean: bool) -> str:
    """Return what the deciding feature does: in a mean it does not decide alone."""
    return "counts most" if is_mean else "decides"


def _features(number: int, which: str) -> str:
    return f"{number} {which} feature{'' if number == 1 else 's'}"


def change_lines(explanation: Explanation, max_features: int | None) -> list[str]:
    """Return what would give another prediction, if there is a search for that."""
    competing = explanation.competing
    is_duel = explanation.layout == "duel"
    has_search = explanation._is_additive or explanation._is_nearest
    if competing is None if is_duel else not has_search:
        return []
    lines = []
    if is_duel and competing is not None and competing.holds_sample:
        lines.append(f"Box {competing.index} ({competing.class_name}) also contains it.")
    found = explanation.counterfactual
    if found is None:
        texts = [NO_CHANGE if explanation._is_nearest else _NO_CHANGE_OF_SUM]
    else:
        steps = [
            f"{explanation.feature_names[j]} {_step(explanation, j)}"
            for j in found.features[:max_features]
        ]
        if len(found.features) > len(steps):
            steps.append(_features(len(found.features) - len(steps), "more"))
        texts = [f"{change_title(explanation)} {', '.join(steps)}."]
    if not explanation.is_search_complete:
        texts.append(ENDED_EARLY)
    return [*lines, " ".join(texts)]


def change_title(explanation: Explanation) -> str:
    """Return what a counterfactual is for."""
    found = explanation.counterfactual
    assert found is not None
    if explanation.layout == "duel":
        return f"To get {found.class_name}:"
    probability = format_membership(found.probability)
    return f"It would be {found.class_name} (probability {probability}) with"


def _step(explanation: Explanation, j: int) -> str:
    """Return how a value changes, with digits that show it."""
    assert explanation.counterfactual is not None
    low, high = explanation.counterfactual.lower[j], explanation.counterfactual.upper[j]
    if explanation._is_nearest:
        ends = [explanation._rounding.full(j, end) for end in (low, high)]
        new = ends[0] if low == high else " to ".join(ends)
        return f"{sample_value(explanation, j)}{ARROW}{new}"
    old, categories = explanation.lower[j], explanation._categories.get(j)
    if categories is not None:
        return f"{category_text(categories, old)}{ARROW}{category_text(categories, low)}"
    if explanation._is_whole[j]:
        return f"{number_text(old)}{ARROW}{number_text(low)}"
    if old > low:
        text = rules.value_text(old, np.nextafter(low, np.inf), np.inf)
    else:
        text = rules.value_text(old, -np.inf, np.nextafter(low, -np.inf))
    return f"{text}{ARROW}{rules.first_beyond(low)}".replace(" ", "\xa0")


def _duel_table(explanation: Explanation, features: list[int]) -> list[str]:
    """Return the lines of a table of both boxes, with a mark for the deciding feature."""
    rows = []
    for j in features:
        mark = "*" if j == explanation.deciding else ""
        row = [mark, explanation.feature_names[j], sample_value(explanation, j)]
        for box in explanation.boxes:
            row += [bounds(explanation, box, j), position(explanation, box, j)]
        rows.append(row)
    # A header stands over two columns, of which it widens the second.
    titles = [box_title(box) for box in explanation.boxes]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths[2] = max(widths[2], len("sample"))
    for k, title in enumerate(titles):
        first, second = widths[3 + 2 * k : 5 + 2 * k]
        widths[4 + 2 * k] = max(second, len(title) - first - len(_BETWEEN))
        titles[k] = f"{title:{first + len(_BETWEEN) + widths[4 + 2 * k]}}"
    indent = " " * (widths[0] + widths[1] + 2 * len(_BETWEEN))
    header = indent + _BETWEEN.join(["sample".ljust(widths[2]), *titles])
    lines = [
        _BETWEEN.join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return [line.rstrip() for line in (header, *lines)]


def _sum_table(explanation: Explanation, max_boxes: int | None) -> list[str]:
    """Return the lines of a table of contributions, one or more for each box."""
    columns = _shown_classes(explanation)
    names = [explanation.class_names[label] for label in columns]
    widths = [max(len(name), 7) for name in names]
    indent = sum(widths) + len(_BETWEEN) * len(widths)
    lines = [_row(names, widths)]
    for numbers, parts in _rows(explanation, columns, max_boxes):
        first, *rest = rules.wrap_parts(parts, max(WIDTH - indent, 30))
        lines.append(f"{_row(numbers, widths)}{_BETWEEN}{first}")
        lines += [" " * indent + line for line in rest]
    lines += not_shown(explanation, columns)
    return [line.rstrip() for line in lines]


def boxes_for(explanation: Explanation, classes: np.ndarray) -> list[ExplainedBox]:
    """Return the boxes that contribute to some classes."""
    return [box for box in explanation.boxes if box.contributions[classes].any()]


def not_shown(explanation: Explanation, classes: np.ndarray) -> list[str]:
    """Return notes on other classes than those that are shown."""
    n_classes = len(explanation.classes) - len(classes)
    if not n_classes:
        return []
    n_boxes = len(explanation.boxes) - len(boxes_for(explanation, classes))
    boxes = f", and {rules.count_boxes(n_boxes)} for these alone" if n_boxes else ""
    return [f"{n_classes} more class{'' if n_classes == 1 else 'es'} of smaller scores{boxes}."]


def _shown_classes(explanation: Explanation) -> np.ndarray:
    """Return the classes with the largest scores, as many as fit."""
    order = by_score(explanation)
    widths = [max(len(explanation.class_names[label]), 7) + len(_BETWEEN) for label in order]
    return order[: max(int((np.cumsum(widths) <= _MOST_FOR_CLASSES).sum()), 2)]


def _row(cells: list[str], widths: list[int]) -> str:
    return _BETWEEN.join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))


def _rows(
    explanation: Explanation, columns: np.ndarray, max_boxes: int | None
) -> list[tuple[list[str], list[str]]]:
    """Return the numbers of each row, and what they stand for."""
    boxes = boxes_for(explanation, columns)
    sizes = np.array([np.abs(box.contributions[columns]).max() for box in boxes])
    least = 0.0 if max_boxes is None else min(_SMALLEST_SHOWN, sizes.max(initial=0.0) / 20)
    is_small = sizes < least
    order = np.argsort(is_small, kind="stable")
    n_shown = min(np.count_nonzero(~is_small), len(boxes[:max_boxes]))
    shown, rest = ([boxes[k] for k in part] for part in (order[:n_shown], order[n_shown:]))
    rows = []
    if name := baseline_name(explanation):
        rows.append((_cells(explanation.baseline[columns]), [name]))
    for box in shown:
        conditions = main_conditions(explanation, box)
        parts = [f"{text} and" for text in conditions[:-1]] + conditions[-1:]
        rows.append((_cells(box.contributions[columns]), [f"{box_name(box)} ", *parts]))
    if rest:
        total = np.sum([box.contributions[columns] for box in rest], axis=0)
        rows.append((_cells(total), [rules.count_boxes(len(rest), "more ")]))
    if not explanation._is_nearest:
        rows.append(([f"{score:.2f}" for score in explanation.scores[columns]], ["score"]))
    probabilities = explanation.probabilities[columns]
    rows.append(([format_membership(p) for p in probabilities], ["probability"]))
    return rows


def baseline_name(explanation: Explanation) -> str:
    """Return what the baseline of a sum is called, "" if there is none."""
    if explanation._is_nearest:
        return "shares of the classes"
    return "intercept" if explanation._is_additive else ""


def main_conditions(explanation: Explanation, box: ExplainedBox) -> list[str]:
    """Return the conditions of a box; if it has bounds in most features, those that weigh most."""
    features = box.constrained
    if explanation._is_additive:
        return explanation.conditions(box)
    weights = np.abs(explanation._feature_weights(box)[features])
    order = features[np.argsort(-weights, kind="stable")]
    shown = [condition(explanation, box, j) for j in order[:_MOST_CONDITIONS].tolist()]
    n_more = len(order) - len(shown)
    return [*shown, f"{n_more} more"] if n_more else shown


def _cells(numbers: np.ndarray) -> list[str]:
    return [f"{number:+.2f}" if number else "" for number in numbers]


def _contributions(explanation: Explanation, max_features: int | None) -> list[str]:
    """Return how much nearer the predicted class is than the next one by each feature."""
    added = explanation.feature_contributions
    features = explanation.features_by_weight()
    if added is None or not features:
        return []
    shown = features[:max_features]
    rows = [
        [explanation.feature_names[j], sample_value(explanation, j), f"{added[j]:+.4f}"]
        for j in shown
    ]
    if len(shown) < len(features):
        rest = added.sum() - added[shown].sum()
        rows.append([f"{_features(len(features) - len(shown), 'more')}", "", f"{rest:+.4f}"])
    rival = explanation.class_names[explanation._rival]
    title = f"How much nearer {explanation.class_name} is than {rival}:"
    return [*wrapped([title]), *(f"    {line}" for line in align(rows)), ""]
