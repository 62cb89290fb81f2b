"""Explanations as HTML for notebooks: tables with bars."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from hyperboxes._readers import explanation_text as texts
from hyperboxes._readers.rules import count_boxes, weight_text

if TYPE_CHECKING:
    from hyperboxes._readers.explanation import ExplainedBox, Explanation

_MOST_FEATURES = 12
_MOST_SAMPLES = 20
_MOST_BOXES = 12
_MOST_CLASSES = 5

# They differ for people with any kind of colour vision, on light and dark pages.
WINNING, COMPETING = "#2a8fd0", "#e08a1e"

_RANGE_WIDTH, _CONTRIBUTION_WIDTH = 180, 70


@cache
def read_template(package: str, name: str) -> Template:
    """Return a template of a package, which escapes all that it is given."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    ).get_template(name)


def write(explanations: Sequence[Explanation]) -> str:
    """Return explanations as a piece of HTML that needs nothing else.

    Each of several samples is opened with a click.
    """
    shown = [_sample(explanation) for explanation in explanations[:_MOST_SAMPLES]]
    template = read_template("hyperboxes._readers", "explanation.html")
    return template.render(samples=shown, n_samples=len(explanations))


def _sample(explanation: Explanation) -> dict[str, Any]:
    """Return what is shown of a sample."""
    is_duel = explanation.layout == "duel"
    features = explanation.features_by_weight()[:_MOST_FEATURES]
    classes = texts.by_score(explanation)[:_MOST_CLASSES]
    if is_duel:
        before = [texts.memberships(explanation)]
        after = [texts.other_features(explanation, len(features))]
        degree = explanation.boxes[0].membership
    else:
        before, after = [], texts.not_shown(explanation, classes)
        degree = explanation.probabilities[explanation._code]
    changes = texts.change_lines(explanation, _MOST_FEATURES)
    after += [line.replace(texts.ARROW, "\xa0\N{RIGHTWARDS ARROW}\xa0") for line in changes]
    return {
        "class_name": explanation.class_name,
        "degree": texts.format_membership(degree),
        "title": texts.headline(explanation),
        "before": before,
        "duel": _duel(explanation, features) if is_duel and features else None,
        "sum": None if is_duel else _sum(explanation, classes),
        "after": [*after, *explanation.notes],
    }


def _duel(explanation: Explanation, features: list[int]) -> dict[str, Any]:
    boxes = list(zip((WINNING, COMPETING), explanation.boxes, strict=False))
    return {
        "boxes": [{"colour": colour, "title": texts.box_title(box)} for colour, box in boxes],
        "rows": [_row(explanation, boxes, j) for j in features],
    }


def _row(explanation: Explanation, boxes: list[tuple[str, ExplainedBox]], j: int) -> dict[str, Any]:
    """Return a feature: the boxes' parts of its range one above the other, and the sample."""
    scale = explanation._scale
    ends = [end[j] for end in (explanation.lower, explanation.upper, scale.low, scale.high)]
    ends += [end for _, box in boxes for end in (box.lower[j], box.upper[j])]
    low, high = np.nanmin(ends), np.nanmax(ends)
    value = texts.sample_value(explanation, j)
    bounds = [texts.bounds(explanation, box, j) for _, box in boxes]
    names = [f"{texts.box_title(box)} {text}" for (_, box), text in zip(boxes, bounds, strict=True)]
    return {
        "mark": "*" if j == explanation.deciding else "",
        "name": explanation.feature_names[j],
        "value": value,
        "width": _RANGE_WIDTH,
        "label": "; ".join([f"sample {value}", *names]),
        "bars": [
            {"colour": colour, "y": y, **_place(box.lower[j], box.upper[j], low, high)}
            for y, (colour, box) in zip((2, 10), boxes, strict=False)
            if not np.isnan(box.lower[j])
        ],
        "sample": None
        if np.isnan(explanation.lower[j])
        else _place(explanation.lower[j], explanation.upper[j], low, high),
        "cells": [
            (text, texts.position(explanation, box, j))
            for (_, box), text in zip(boxes, bounds, strict=True)
        ],
    }


def _place(first: float, last: float, low: float, high: float) -> dict[str, float]:
    """Return start and width of an interval on the bar, wide enough to be seen."""
    span = high / 2 - low / 2  # halves, for the whole range may be too large for a float
    if span <= 0:
        return {"x": _RANGE_WIDTH / 2 - 1, "width": 2}
    start, stop = ((value / 2 - low / 2) / span * (_RANGE_WIDTH - 2) for value in (first, last))
    return {"x": round(float(start), 1), "width": round(float(max(stop - start, 0) + 2), 1)}


def _sum(explanation: Explanation, classes: np.ndarray) -> dict[str, Any]:
    boxes = texts.boxes_for(explanation, classes)
    shown, rest = boxes[:_MOST_BOXES], boxes[_MOST_BOXES:]
    name = texts.baseline_name(explanation)
    rows = [(name, explanation.baseline)] if name else []
    for box in shown:
        conditions = " and ".join(texts.main_conditions(explanation, box))
        rows.append((f"{texts.box_name(box).removesuffix(':')}: {conditions}", box.contributions))
    if rest:
        total = np.sum([box.contributions for box in rest], axis=0)
        rows.append((count_boxes(len(rest), "more "), total))
    largest = max((np.abs(numbers).max() for _, numbers in rows), default=0.0) or 1.0
    return {
        "classes": [explanation.class_names[label] for label in classes],
        "rows": [
            {
                "name": name,
                "cells": [_cell(number, largest, k) for k, number in enumerate(numbers[classes])],
            }
            for name, numbers in rows
        ],
        "scores": []
        if explanation._is_nearest
        else [f"{score:.2f}" for score in explanation.scores[classes]],
        "probabilities": [
            texts.format_membership(p) for p in explanation.probabilities[classes].tolist()
        ],
    }


def _cell(number: float, largest: float, column: int) -> dict[str, Any] | None:
    """Return a contribution with a bar; the first column is the predicted class."""
    if not number:
        return None
    return {
        "text": weight_text(number),
        "width": max(round(float(abs(number)) / largest * (_CONTRIBUTION_WIDTH - 2), 1), 1),
        "colour": WINNING if column == 0 else COMPETING,
        "is_positive": number > 0,
    }
