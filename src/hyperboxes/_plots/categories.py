"""Categories on axes: side by side at 0, 1, 2 and so on, with their names.

They stand in the order of their encoded positions. Categories that share a position, because they
are rare, share a slot. The outline of a box spans the slots of all categories that it contains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hyperboxes._models.categories import Categories
from hyperboxes._plots.styles import escape_math, shorten

# As a part of an axis.
_LEAST_BETWEEN_NAMES = 0.06
_LONGEST_NAME = 16

# Half of what is drawn in a slot, whose width is 1. Boxes with the same categories end at
# different distances from the middle, between the first and the second of these.
_HALF = 0.42
_ENDS = 0.24, _HALF

# Bounds of boxes may be off by less. Encoded positions are farther apart.
_ROUNDING = 1e-11

# The fractional parts of multiples of these fill a square evenly.
_STEPS = 0.7548776662466927, 0.5698402909980532


def axis_categories(
    known: Mapping[int, Categories], columns: Sequence[int]
) -> dict[int, dict[str, float]]:
    """Return the names of categories and their slots, for each axis with categories."""
    return {
        axis: {_name(known[columns[axis]], value): float(k) for k, value in enumerate(positions)}
        for axis, positions in _category_axes(known, columns).items()
    }


def _name(categories: Categories, position: float) -> str:
    """Return the name of the category at a position, and how many others share it."""
    first, *others = map(str, categories.values_between(position, position))
    if not others:
        return first
    return f"{first} or {others[0] if len(others) == 1 else f'{len(others)} more'}"


def draw_categories(axis: Any, slots: dict[str, float]) -> None:
    """Write the names of categories on an axis, as far as they fit."""
    shown: dict[str, float] = {}
    least = _LEAST_BETWEEN_NAMES * len(slots)
    for name, slot in slots.items():
        if not shown or slot - max(shown.values()) >= least:
            shown[name] = slot
    names = [escape_math(shorten(name, _LONGEST_NAME)) for name in shown]
    axis.set_ticks(list(shown.values()), names, size="small")


def _category_axes(
    known: Mapping[int, Categories], columns: Sequence[int]
) -> dict[int, np.ndarray]:
    """Return the encoded positions, ascending, for each axis with categories."""
    return {axis: np.unique(known[j].positions) for axis, j in enumerate(columns) if j in known}


def category_limits(
    known: Mapping[int, Categories], columns: Sequence[int]
) -> dict[int, tuple[float, float]]:
    """Return the limits of the axes with categories."""
    axes = _category_axes(known, columns)
    return {axis: (-0.5, max(len(positions), 1) - 0.5) for axis, positions in axes.items()}


def to_axes(
    known: Mapping[int, Categories], columns: Sequence[int], lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the slots of the first and the last category of boxes, on axes with categories.

    Bounds on other axes, and bounds that are infinite or missing, remain as they are.
    """
    first, last = np.array(lower, float), np.array(upper, float)
    for axis, positions in _category_axes(known, columns).items():
        low, high = first[:, axis], last[:, axis]
        begin = np.searchsorted(positions, low - _ROUNDING)
        end = np.searchsorted(positions, high + _ROUNDING, side="right") - 1
        first[:, axis] = np.where(np.isfinite(low), begin, low)
        last[:, axis] = np.where(np.isfinite(high), end, high)
    return first, last


def spread_on_axes(
    known: Mapping[int, Categories], columns: Sequence[int], values: np.ndarray
) -> np.ndarray:
    """Return where samples are drawn, spread over the slots of their categories."""
    drawn = to_axes(known, columns, values, values)[0]
    for axis in _category_axes(known, columns):
        drawn[:, axis] += _HALF * (2.0 * (np.arange(len(drawn)) * _STEPS[axis] % 1.0) - 1.0)
    return drawn


def from_axes(
    known: Mapping[int, Categories], columns: Sequence[int], drawn: np.ndarray
) -> np.ndarray:
    """Return the model's values for points of a picture. Between categories, it is the nearest."""
    values = np.array(drawn, float)
    for axis, positions in _category_axes(known, columns).items():
        nearest = np.clip(np.rint(values[:, axis]), 0, len(positions) - 1).astype(int)
        values[:, axis] = positions[nearest] if len(positions) else np.nan
    return values


def widen_to_slots(
    boxes: np.ndarray, lower: np.ndarray, upper: np.ndarray, axes: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds that span the slots of categories. Those of different boxes end apart."""
    lower, upper = lower.copy(), upper.copy()
    for axis in axes:
        narrow, wide = _ENDS
        half = narrow + (wide - narrow) * (boxes * _STEPS[axis] % 1.0)
        lower[:, axis] -= half
        upper[:, axis] += half
    return lower, upper
