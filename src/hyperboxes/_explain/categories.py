"""Categories in words: the values that a box holds instead of the places from one to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperboxes._models.categories import Categories

# Of more values in a set some are left out of explanations; rules have all.
MOST_SHOWN = 4


def category_text(categories: Categories, place: float) -> str:
    """Write the value at a place, or the values where several are too rare to tell them apart."""
    return " or ".join(_names(categories.held(place, place))) or "a value that is not known"


def category_value(categories: Categories, place: float) -> Any:
    """Return the value at a place for JSON: a list where there are several, None for none."""
    held = [] if np.isnan(place) else categories.held(place, place)
    return held[0] if len(held) == 1 else held or None


def set_text(categories: Categories, low: float, high: float, most: int | None = None) -> str:
    """Write which values lie between two places: "= a", "in {a, b}" or "not in {c}".

    Of more than `most` values some are left out, and their number is said.
    """
    held = categories.held(low, high)
    others = [value for value in categories.values if value not in held]
    if len(held) == 1:
        return f"= {_names(held)[0]}"
    # Values that are not known are not held, so few must be left for the rest to stand for all.
    if len(others) == 1 and len(held) > 2:
        return f"!= {_names(others)[0]}"
    if others and 3 * len(others) < len(held):
        return f"not in {_braces(others, most)}"
    return f"in {_braces(held, most)}"


def _braces(values: list[Any], most: int | None) -> str:
    names = sorted(_names(values))
    if most is not None and len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} more"]
    return f"{{{', '.join(names)}}}"


def _names(values: list[Any]) -> list[str]:
    return [str(value) for value in values]
