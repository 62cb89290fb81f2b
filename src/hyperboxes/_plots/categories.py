"""Categories on axes: side by side at 0, 1, 2 and so on, with their names.

They stand in the order of their places, and those that the model does not tell apart as one. A box
takes the room of all that it holds. Where boxes only count categories (`MixedGFMM`), a box is a
strip at each value of its samples, the wider the more frequent the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hyperboxes._estimators.tables import known_categories
from hyperboxes._explain.tallies import read_shares
from hyperboxes._models.categories import Categories
from hyperboxes._plots.styles import escape_math, shorten

# As a part of an axis.
_LEAST_BETWEEN_NAMES = 0.06
_LONGEST_NAME = 16

# Half the room of a category, whose neighbours are at a distance of 1. Boxes that hold the same
# categories end at different places, from the first to the second of these, to be told apart.
_HALF = 0.42
_ENDS = 0.24, _HALF
# The least half of a strip.
_NARROWEST = 0.04

# Bounds of boxes may be off by less; places lie farther apart.
_ROUNDING = 1e-11

# Multiples of these, less whole numbers, fill a square evenly.
STEPS = 0.7548776662466927, 0.5698402909980532


def axis_categories(model: Any, columns: Sequence[int]) -> dict[int, dict[str, float]]:
    """Return the names of categories and where they are on each axis that has any."""
    known = known_categories(model)
    return {
        axis: {_name(known[columns[axis]], place): float(k) for k, place in enumerate(places)}
        for axis, places in _category_axes(model, columns).items()
    }


def _name(categories: Categories, place: float) -> str:
    """Name the category at a place; of several, how many more there are."""
    first, *others = map(str, categories.held(place, place))
    if not others:
        return first
    return f"{first} or {others[0] if len(others) == 1 else f'{len(others)} more'}"


def draw_categories(axis: Any, places: dict[str, float]) -> None:
    """Name categories on an axis, as far as there is room."""
    shown: dict[str, float] = {}
    least = _LEAST_BETWEEN_NAMES * len(places)
    for name, place in places.items():
        if not shown or place - max(shown.values()) >= least:
            shown[name] = place
    names = [escape_math(shorten(name, _LONGEST_NAME)) for name in shown]
    axis.set_ticks(list(shown.values()), names, size="small")


def _category_axes(model: Any, columns: Sequence[int]) -> dict[int, np.ndarray]:
    """Return the model's own numbers of the categories on each axis that has any, ascending."""
    known = known_categories(model)
    return {axis: np.unique(known[j].places) for axis, j in enumerate(columns) if j in known}


def limits_of_categories(model: Any, columns: Sequence[int]) -> dict[int, tuple[float, float]]:
    """Return the limits of the axes that have categories."""
    axes = _category_axes(model, columns)
    return {axis: (-0.5, max(len(places), 1) - 0.5) for axis, places in axes.items()}


def place_on_axes(model: Any, columns: Sequence[int], values: np.ndarray) -> np.ndarray:
    """Return where samples are drawn: values in the columns shown, one row each."""
    return hold_on_axes(model, columns, values, values)[0]


def hold_on_axes(
    model: Any, columns: Sequence[int], lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last category that boxes hold on axes that have any.

    Other bounds, and those that are infinite or not known, are as they were.
    """
    first, last = np.array(lower, float), np.array(upper, float)
    for axis, places in _category_axes(model, columns).items():
        low, high = first[:, axis], last[:, axis]
        begin = np.searchsorted(places, low - _ROUNDING)
        end = np.searchsorted(places, high + _ROUNDING, side="right") - 1
        first[:, axis] = np.where(np.isfinite(low), begin, low)
        last[:, axis] = np.where(np.isfinite(high), end, high)
    return first, last


def spread_on_axes(model: Any, columns: Sequence[int], values: np.ndarray) -> np.ndarray:
    """Return where samples are drawn, spread over the room of their category."""
    placed = place_on_axes(model, columns, values)
    for axis in _category_axes(model, columns):
        placed[:, axis] += _HALF * (2.0 * (np.arange(len(placed)) * STEPS[axis] % 1.0) - 1.0)
    return placed


def read_from_axes(model: Any, columns: Sequence[int], placed: np.ndarray) -> np.ndarray:
    """Return what the model takes for places on axes; between categories, the nearest."""
    values = np.array(placed, float)
    for axis, places in _category_axes(model, columns).items():
        nearest = np.clip(np.rint(values[:, axis]), 0, len(places) - 1).astype(int)
        values[:, axis] = places[nearest] if len(places) else np.nan
    return values


def find_strips(model: Any, columns: Sequence[int], boxes: np.ndarray) -> dict[int, np.ndarray]:
    """Return the shares of values among the samples of boxes, by axis: (n_boxes, n_values).

    A box that has counted none lets all pass.
    """
    shares = read_shares(model, boxes)
    if shares is None:
        return {}
    values_of = model._model.values_of
    return {axis: shares[:, values_of(columns[axis])] for axis in _category_axes(model, columns)}


class Pieces(NamedTuple):
    """Boxes cut into strips: which box each piece is of, and its corners."""

    box: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def cut_into_strips(lower: np.ndarray, upper: np.ndarray, strips: dict[int, np.ndarray]) -> Pieces:
    """Cut boxes at the values of their samples; without strips they stay whole."""
    box = np.arange(len(lower))
    for axis, shares in strips.items():
        piece, value = np.nonzero(shares[box] > 0)
        box, lower, upper = box[piece], lower[piece].copy(), upper[piece].copy()
        half = np.maximum(_HALF * shares[box, value], _NARROWEST)
        lower[:, axis], upper[:, axis] = value - half, value + half
    return Pieces(box, lower, upper)


def widen_to_rooms(
    boxes: np.ndarray, lower: np.ndarray, upper: np.ndarray, axes: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds that take the room of categories; those of numbered boxes end apart."""
    lower, upper = lower.copy(), upper.copy()
    for axis in axes:
        narrow, wide = _ENDS
        half = narrow + (wide - narrow) * (boxes * STEPS[axis] % 1.0)
        lower[:, axis] -= half
        upper[:, axis] += half
    return lower, upper
