"""The data that the page's scripts work with: plain values for JSON, rounded to what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hyperboxes._estimators.tables import known_categories
from hyperboxes._estimators.validation import checked
from hyperboxes._explain import text as words
from hyperboxes._explain.exceptions import Exceptions, keeps_overlaps
from hyperboxes._explain.explanation import Change, Explanation
from hyperboxes._explain.rounding import Rounding
from hyperboxes._explain.tallies import counts_categories, name_function, spread_counted
from hyperboxes._report._contents import BoundedResults, Contents, list_categories

_MEMBERSHIP_DECIMALS = 9
# A lead of one membership over the next below which a prediction is called uncertain.
_UNCERTAIN = 0.05

_BOTH = ("lower", "upper")


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
        "roleOfDeciding": words.name_of_deciding(name_function(contents.model)),
        "boxes": list_boxes(contents) | _exceptions(contents) | _counts(contents),
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


def _exceptions(contents: Contents) -> dict[str, Any]:
    """Return where boxes of other classes hold parts of boxes; nothing for models without such."""
    if not keeps_overlaps(contents.model):
        return {}
    exceptions = Exceptions(
        contents.model, contents.rounding, contents.feature_names, contents.labels
    )
    return {"exceptions": [exceptions.found_in(box) for box in contents.shown_boxes.tolist()]}


def _counts(contents: Contents) -> dict[str, Any]:
    """Return how many samples of boxes have each category, by feature; nothing if none counts."""
    model, shown = contents.model, contents.shown_boxes
    if not counts_categories(model):
        return {}
    tables = {j: model._model.counts_of(j)[shown].tolist() for j in known_categories(model)}
    return {"counts": [{j: tables[j][row] for j in tables} for row in range(len(shown))]}


def _ends(ends: Sequence[np.ndarray], rounding: Rounding) -> tuple[list[Any], list[Any]]:
    """Return lower and upper ends as the numbers that the page writes."""
    return [plain(row) for row in rounding.lower(*ends)], [
        plain(row) for row in rounding.upper(*ends)
    ]


def _samples(contents: Contents) -> list[dict[str, Any]]:
    place = {box: i for i, box in enumerate(contents.shown_boxes.tolist())}
    ends = _ends_of(contents)
    shared = _are_shared(contents)
    return [
        told
        | _explained(explanation, place, *ends[:, i])
        | {"change": _change(contents.model, explanation.change), "isShared": bool(shared[i])}
        for i, (told, explanation) in enumerate(
            zip(contents.told_samples(), contents.explanations, strict=True)
        )
    ]


def _are_shared(contents: Contents) -> np.ndarray:
    """Return which samples boxes of several classes hold."""
    shown = contents.explanations
    if keeps_overlaps(contents.model):
        lower, upper = (checked(np.stack([getattr(e, end) for e in shown])) for end in _BOTH)
        return contents.model.is_contentious(lower, upper)
    return np.array([(e.memberships == 1.0).sum() > 1 for e in shown])


def _ends_of(contents: Contents) -> np.ndarray:
    """Return the lower and the upper ends of all samples."""
    samples, rounding = contents.explanations, contents.rounding
    both = [[sample.lower for sample in samples], [sample.upper for sample in samples]]
    ends = np.stack([rounding.values(np.stack(rows)) for rows in both])
    return spread_counted(contents.model, ends)


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


def _change(model: Any, change: Change | None) -> dict[str, Any] | None:
    """Return which features change to what, in their order, and what that gives."""
    if change is None:
        return None
    both = np.stack([change.lower, change.upper])
    ends = spread_counted(model, both)[:, change.features]
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
