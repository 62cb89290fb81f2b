"""Categories on axes: names instead of numbers."""

from __future__ import annotations

from typing import Any

from hyperboxes._estimators.tables import known_categories
from hyperboxes._plots.styles import escape_math, shorten

# As a part of an axis.
_LEAST_BETWEEN_NAMES = 0.06
_LONGEST_NAME = 16


def axis_categories(model: Any, columns: list[int]) -> dict[int, dict[str, float]]:
    """Return the names and places of categories on each axis that has any, by its number."""
    known = known_categories(model)
    return {
        axis: dict(zip(map(str, known[j].values), known[j].places.tolist(), strict=True))
        for axis, j in enumerate(columns)
        if j in known
    }


def draw_categories(axis: Any, places: dict[str, float]) -> None:
    """Name categories on an axis, as far as there is room."""
    shown: dict[str, float] = {}
    for name, place in places.items():
        if not shown or place - max(shown.values()) > _LEAST_BETWEEN_NAMES:
            shown[name] = place
    names = [escape_math(shorten(name, _LONGEST_NAME)) for name in shown]
    axis.set_ticks(list(shown.values()), names, size="small")
