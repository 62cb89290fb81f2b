"""What lets a page predict by itself, for samples that are changed in it: the model, bit for bit.

Numbers are packed: eight bytes each, so that the page computes with the very numbers of `predict`.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from hyperboxes._explain import text as words
from hyperboxes._explain.reading import read_learned_bounds, read_membership, read_scale
from hyperboxes._explain.votes import number_text
from hyperboxes._report._contents import Contents
from hyperboxes._report._votes import VoteContents

# A slider has so many positions at least, if the values of its feature have the decimals for it.
_LEAST_POSITIONS = 100
_MOST_DECIMALS = 9


def editing_of_covers(contents: Contents) -> dict[str, Any]:
    """Return what the page needs to find the nearest box, or the reason why it does not."""
    if reason := _reason(contents):
        return {"reason": reason}
    lower, upper = read_learned_bounds(contents.model)
    scale, membership = read_scale(contents.model), read_membership(contents.model)
    shown = contents.explanations
    low, high = np.stack([e.lower for e in shown]), np.stack([e.upper for e in shown])
    return {
        "model": {
            "low": pack(scale.low),
            "span": pack(scale.span),
            "gamma": pack(membership.gamma),
            "isMean": membership.is_mean,
            "lower": pack(lower),
            "upper": pack(upper),
            "places": words.PLACES,
            "tie": words.tie_text(by_single=False),
            "tieOfSingle": words.tie_text(by_single=True),
        },
        "lower": pack(low),
        "upper": None if np.array_equal(low, high, equal_nan=True) else pack(high),
        "sliders": list_sliders(np.concatenate([low, high]), *contents.ends),
    }


def editing_of_votes(contents: VoteContents) -> dict[str, Any]:
    """Return what the page needs to add up votes, or the reason why it does not."""
    if reason := _reason(contents):
        return {"reason": reason}
    boxes, values = contents.boxes, contents.values
    at = np.nonzero(boxes.constrains)
    lower, upper = boxes.lower[at], boxes.upper[at]
    below = np.nextafter(lower, -np.inf)
    importances = contents.model.feature_importances_
    shown = values[contents.rows]
    return {
        "model": {
            "lower": pack(lower),
            "upper": pack(upper),
            "missing": boxes.missing[at].astype(int).tolist(),
            "below": [_bound_text(value) for value in below.tolist()],
            "last": [_bound_text(value) for value in upper.tolist()],
            "weights": pack(boxes.weights),
            "intercept": pack(contents.model.intercept_),
        },
        "lower": pack(shown),
        "upper": None,
        "sliders": list_sliders(values, *_range_of_votes(boxes, values)),
        "order": np.argsort(-importances, kind="stable")[: np.count_nonzero(importances)].tolist(),
    }


def _reason(contents: Contents | VoteContents) -> str:
    """Return why a page cannot predict; nothing if it can."""
    n_shown, n_boxes = len(contents.shown_boxes), len(contents.boxes)
    if n_shown < n_boxes:
        return (
            f"it holds {n_shown:,} of the model's {n_boxes:,} boxes, and all have a say. One "
            "written with max_rules=None holds them all."
        )
    return ""


def _range_of_votes(boxes: Any, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the range of thresholds and samples: that of the training samples is not kept."""
    ends = np.concatenate([boxes.lower, boxes.upper])
    rows = np.concatenate([values, np.where(np.isfinite(ends), ends, np.nan)])
    return np.fmin.reduce(rows), np.fmax.reduce(rows)


def list_sliders(values: np.ndarray, least: np.ndarray, most: np.ndarray) -> list[list[int] | None]:
    """Return for each feature where its slider ends, in units of a power of ten, and that power.

    None is for a feature that does not vary. Values have the decimals that those of samples have,
    but not more than are needed to move a slider smoothly.
    """
    ends = np.fmin(least, np.fmin.reduce(values)), np.fmax(most, np.fmax.reduce(values))
    columns = zip(values.T, *(end.tolist() for end in ends), strict=True)
    return [_slider(*column) for column in columns]


def _slider(values: np.ndarray, least: float, most: float) -> list[int] | None:
    span = most - least
    if not 0 < span < math.inf:
        return None
    power = math.floor(math.log10(span / _LEAST_POSITIONS))
    known = values[~np.isnan(values)]
    decimals = (d for d in range(_MOST_DECIMALS) if (np.round(known, d) == known).all())
    power = max(power, -next(decimals, _MOST_DECIMALS)) if power < 0 else power
    unit = 10.0**power
    return [math.floor(round(least / unit, 6)), math.ceil(round(most / unit, 6)), power]


def _bound_text(value: float) -> str | None:
    return number_text(value) if math.isfinite(value) else None


def pack(values: np.ndarray) -> str:
    """Return numbers as text: each in eight bytes, the least first."""
    return base64.b64encode(np.ascontiguousarray(values, "<f8").tobytes()).decode()
