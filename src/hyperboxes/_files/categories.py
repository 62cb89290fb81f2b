"""The categories of features in files: values as JSON has them, with their places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyperboxes._files.archive import ModelFileError
from hyperboxes._models.categories import Categories

_PLAIN = (str, bool, int, float)


def categories_to_json(categories: Mapping[int, Categories]) -> dict[str, Any]:
    """Return what the header has of categories: nothing if there are none."""
    if not categories:
        return {}
    return {"categories": {str(j): _to_json(known) for j, known in categories.items()}}


def _to_json(known: Categories) -> dict[str, Any]:
    return {
        "values": list(known.values),
        "places": known.places.tolist(),
        "tendencies": known.tendencies.tolist(),
        "scores": [list(pair) for pair in known.scores.items()],
        "mean": known.mean,
        "weight": known.weight,
    }


def categories_from_json(header: Mapping[str, Any], n_features: int) -> dict[int, Categories]:
    """Restore the categories of each feature, if they can be."""
    categories = {}
    for key, value in header.get("categories", {}).items():
        if not (key.isdecimal() and key.isascii() and int(key) < n_features):
            raise ModelFileError("there are categories of a feature that does not exist")
        categories[int(key)] = _from_json(value)
    return categories


def _from_json(value: Any) -> Categories:
    match value:
        case {
            "values": list(values),
            "places": list(places),
            "tendencies": list(tendencies),
            "scores": list(scores),
            "mean": float(mean),
            "weight": float(weight),
        } if len(value) == 6 and len(values) == len(places) == len(tendencies):
            pass
        case _:
            raise ModelFileError("its categories are not complete")
    is_plain = all(type(item) in _PLAIN for item in values)
    if not is_plain or len(set(values)) < len(values) or not all(map(_is_pair, scores)):
        raise ModelFileError("its categories are not distinct strings and numbers")
    if not all(type(number) is float for number in (*places, *tendencies)):
        raise ModelFileError("its categories have places that are no numbers")
    ends = np.array(places), np.array(tendencies)
    is_ascending = all((np.diff(numbers) >= 0).all() for numbers in ends)
    is_possible = is_ascending and all(0.0 <= place <= 1.0 for place in places)
    if not (is_possible and np.isfinite([mean, weight, *tendencies]).all() and weight >= 0.0):
        raise ModelFileError("its categories have places that cannot be")
    return Categories(tuple(values), *ends, dict(map(tuple, scores)), mean, weight)


def _is_pair(pair: Any) -> bool:
    match pair:
        case [label, float(score)]:
            return type(label) in _PLAIN and bool(np.isfinite(score))
    return False
