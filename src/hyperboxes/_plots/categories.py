"""Categories on axes: names instead of numbers, and strips where boxes count them.

Categories have places of their own on an axis, or none, if boxes only count them (`MixedGFMM`).
Then they stand side by side at 0, 1, 2 and so on, and a box is a strip at each value of its
samples, the wider the more frequent the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hyperboxes._estimators.tables import known_categories
from hyperboxes._explain.tallies import counts_categories, number_values, read_shares
from hyperboxes._plots.styles import escape_math, shorten

# As a part of an axis.
_LEAST_BETWEEN_NAMES = 0.06
_LONGEST_NAME = 16

# Half the width of strips, of values next to each other at a distance of 1: of all samples of a
# box, and the least that can be seen.
_WIDEST, _NARROWEST = 0.42, 0.04

# Multiples of these, less whole numbers, fill a square evenly.
_STEPS = 0.7548776662466927, 0.5698402909980532


def axis_categories(model: Any, columns: Sequence[int]) -> dict[int, dict[str, float]]:
    """Return the names and places of categories on each axis that has any, by its number."""
    known = known_categories(model)
    is_counted = counts_categories(model)
    return {
        axis: dict(
            zip(
                map(str, known[j].values),
                map(float, range(len(known[j].values))) if is_counted else known[j].places.tolist(),
                strict=True,
            )
        )
        for axis, j in enumerate(columns)
        if j in known
    }


def draw_categories(axis: Any, places: dict[str, float]) -> None:
    """Name categories on an axis, as far as there is room."""
    shown: dict[str, float] = {}
    least = _LEAST_BETWEEN_NAMES * max(1.0, max(places.values(), default=1.0))
    for name, place in places.items():
        if not shown or place - max(shown.values()) > least:
            shown[name] = place
    names = [escape_math(shorten(name, _LONGEST_NAME)) for name in shown]
    axis.set_ticks(list(shown.values()), names, size="small")


def counted_axes(model: Any, columns: Sequence[int]) -> dict[int, np.ndarray]:
    """Return the model's own numbers of the values on each axis whose categories boxes count."""
    if not counts_categories(model):
        return {}
    known = known_categories(model)
    return {axis: known[j].places for axis, j in enumerate(columns) if j in known}


def limits_of_strips(n_values: int) -> tuple[float, float]:
    """Return the limits of an axis with so many values side by side."""
    return -0.5, max(n_values, 1) - 0.5


def place_on_axes(model: Any, columns: Sequence[int], values: np.ndarray) -> np.ndarray:
    """Return where samples are drawn: values in the columns shown, one row each."""
    placed = np.array(values, float)
    for axis, numbers in counted_axes(model, columns).items():
        placed[:, axis] = number_values(numbers, placed[:, axis])
    return placed


def spread_on_axes(model: Any, columns: Sequence[int], values: np.ndarray) -> np.ndarray:
    """Return the same, but spread over the room of their value: there are many of each."""
    placed = place_on_axes(model, columns, values)
    for axis in counted_axes(model, columns):
        evenly = np.arange(len(placed)) * _STEPS[axis] % 1.0
        placed[:, axis] += _WIDEST * (2.0 * evenly - 1.0)
    return placed


def read_from_axes(model: Any, columns: Sequence[int], placed: np.ndarray) -> np.ndarray:
    """Return what the model takes for places on axes; between values, the nearest."""
    values = np.array(placed, float)
    for axis, numbers in counted_axes(model, columns).items():
        nearest = np.clip(np.rint(values[:, axis]), 0, len(numbers) - 1).astype(int)
        values[:, axis] = numbers[nearest] if len(numbers) else np.nan
    return values


def find_strips(model: Any, columns: Sequence[int], boxes: np.ndarray) -> dict[int, np.ndarray]:
    """Return the shares of values among the samples of boxes, by axis: (n_boxes, n_values).

    A box that has counted none lets all pass.
    """
    counted = counted_axes(model, columns)
    if not counted:
        return {}
    shares = read_shares(model, boxes)
    assert shares is not None
    return {axis: shares[:, model._model.values_of(columns[axis])] for axis in counted}


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
        half = np.maximum(_WIDEST * shares[box, value], _NARROWEST)
        lower[:, axis], upper[:, axis] = value - half, value + half
    return Pieces(box, lower, upper)
