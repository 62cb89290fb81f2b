"""The data that the page's scripts work with: plain values for JSON, rounded to what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hyperboxes._explain import text as words
from hyperboxes._explain.explanation import Change, Explanation
from hyperboxes._explain.reading import read_membership
from hyperboxes._explain.rounding import Rounding
from hyperboxes._report._contents import BoundedResults, Contents, list_categories

_MEMBERSHIP_DECIMALS = 9
# A lead of one membership over the next below which a prediction is called uncertain.
_UNCERTAIN = 0.05


def page_data(contents: Contents) -> dict[str, Any]:
    """Return what the scripts need; `null` stands for what is not known."""
    shown = contents.explanations
    return {
        "features": list_features(contents, [e.lower for e in shown], [e.upper for e in shown]),
        "labels": contents.labels,
        "nClasses": contents.n_classes,
        "nSamples": len(contents.true),
        "nBoxes": len(contents.boxes),
        "uncertain": _UNCERTAIN,
        "noChange": words.NO_CHANGE,
        "roleOfDeciding": words.name_of_deciding(read_membership(contents.model).function),
        "boxes": list_boxes(contents),
        "samples": _samples(contents),
    }


def list_features(
    contents: BoundedResults, lower: Sequence[np.ndarray], upper: Sequence[np.ndarray]
) -> list[dict[str, Any]]:
    """Return names and decimals, the range to draw and the range of what was learned.

    `lower` and `upper` are the ends of the samples shown.
    """
    lowest = np.fmin.reduce([contents.ends[0], *lower])
    highest = np.fmax.reduce([contents.ends[1], *upper])
    least, most = _ends([end[None] for end in contents.ends], contents.rounding)
    low, high = _ends([lowest[None], highest[None]], contents.rounding)
    return [
        {
            "name": name,
            "places": contents.rounding.places[j],
            "least": least[0][j],
            "most": most[0][j],
            "low": low[0][j],
            "high": high[0][j],
        }
        | list_categories(contents.model, j)
        for j, name in enumerate(contents.feature_names)
    ]


def list_boxes(contents: BoundedResults) -> dict[str, Any]:
    """Return the boxes that the page shows, by what is told of them."""
    boxes, shown = contents.boxes, contents.shown_boxes
    quality = contents.quality
    assert quality.coverage is not None
    assert quality.precision is not None
    lower, upper = _ends((boxes.lower[shown], boxes.upper[shown]), contents.rounding)
    return {
        "index": shown.tolist(),
        "label": boxes.labels[shown].tolist(),
        "count": boxes.counts[shown].tolist(),
        "coverage": plain(np.round(quality.coverage[shown], _MEMBERSHIP_DECIMALS)),
        "precision": plain(np.round(quality.precision[shown], _MEMBERSHIP_DECIMALS)),
        "needed": [contents.needed[box].tolist() for box in shown],
        "lower": lower,
        "upper": upper,
    }


def _ends(ends: Sequence[np.ndarray], rounding: Rounding) -> tuple[list[Any], list[Any]]:
    """Return lower and upper ends as the numbers that the page writes."""
    return [plain(row) for row in rounding.lower(*ends)], [
        plain(row) for row in rounding.upper(*ends)
    ]


def _samples(contents: Contents) -> list[dict[str, Any]]:
    place = {box: i for i, box in enumerate(contents.shown_boxes.tolist())}
    ends = _ends_of(contents)
    return [
        told
        | _explained(explanation, place, *ends[:, i])
        | {"change": _change(explanation.change), "isShared": _is_shared(explanation)}
        for i, (told, explanation) in enumerate(
            zip(contents.told_samples(), contents.explanations, strict=True)
        )
    ]


def _is_shared(explanation: Explanation) -> bool:
    """Whether boxes of several classes contain a sample."""
    return int((explanation.memberships == 1.0).sum()) > 1


def _ends_of(contents: Contents) -> np.ndarray:
    """Return the lower and the upper ends of all samples."""
    samples, rounding = contents.explanations, contents.rounding
    both = [[sample.lower for sample in samples], [sample.upper for sample in samples]]
    return np.stack([rounding.values(np.stack(rows)) for rows in both])


def _explained(
    explanation: Explanation, place: dict[int, int], lower: np.ndarray, upper: np.ndarray
) -> dict[str, Any]:
    """Return an explanation; boxes are named by their place among those shown."""
    competing = explanation.competing
    values = {
        "lower": plain(lower),
        "memberships": plain(np.round(explanation.memberships, _MEMBERSHIP_DECIMALS)),
        "winning": place[explanation.winning.index],
        "competing": None if competing is None else place[competing.index],
        "deciding": explanation.deciding,
        "worst": explanation.worst,
        "weighty": explanation.features_by_weight(),
        "why": words.headline(explanation),
        "tie": words.tie(explanation),
    }
    is_point = np.array_equal(lower, upper, equal_nan=True)
    return values if is_point else values | {"upper": plain(upper)}


def _change(change: Change | None) -> dict[str, Any] | None:
    """Return which features change to what, in their order, and what that gives."""
    if change is None:
        return None
    ends = np.stack([change.lower, change.upper])[:, change.features]
    return {
        "features": change.features.tolist(),
        "ends": [plain(pair) for pair in ends.T],
        "title": words.title_of_change(change),
    }


def plain(values: np.ndarray) -> list[Any]:
    """Return numbers for JSON, None for those that are not known."""
    return [_number(value) for value in values.tolist()]


def _number(value: float) -> Any:
    """Return a number as short as JSON can have it."""
    if value != value:
        return None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
