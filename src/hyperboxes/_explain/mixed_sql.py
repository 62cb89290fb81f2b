"""Ranks of boxes that count categories in SQL: the gap in numbers, and how frequent the values are.

The numbers are computed in the steps of the model, so that doubles give those of `predict`.
"""

from __future__ import annotations

from typing import Any

from hyperboxes._explain.nearest_sql import PREFIX, find_largest, names, select_gaps, write_gap
from hyperboxes._explain.reading import read_membership, read_scale
from hyperboxes._explain.sql_categories import CategoryWriter
from hyperboxes._explain.sql_parts import double

# Databases bound how many columns a table has; each value is one.
_MOST_VALUES = 1000

_FACTS = names(["box", "label", "n"])
_SHARE, _DISTANCE, _DEGREE = (PREFIX + name for name in ("share", "distance", "degree"))


def write_mixed_ranks(model: Any, columns: list[str], categories: CategoryWriter) -> str:
    """Return what gives the rank of each box, the largest for the best."""
    n_values = len(model._model.owners)
    if n_values > _MOST_VALUES:
        raise ValueError(
            f"The model counts {n_values:,} values, for which the tables of databases have no "
            f"room: at most {_MOST_VALUES:,}. Predict in Python, or with to_onnx."
        )
    source = _write_distances(model, columns, categories)
    degree = _write_degree(model) if model._model.mixture.n_numbers else _SHARE
    degrees = f"(SELECT {_FACTS}, {_DISTANCE}, {degree} AS {_DEGREE} FROM {source})"
    far = f"CASE WHEN {_DISTANCE} > 1 THEN -{_DISTANCE} ELSE -1.0e0 END"
    rank = f"CASE WHEN {_DEGREE} > 0 THEN {_DEGREE} ELSE {far} END AS {PREFIX}rank"
    return f"(SELECT {_FACTS}, {rank} FROM {degrees} {PREFIX}degrees)"


def _write_distances(model: Any, columns: list[str], categories: CategoryWriter) -> str:
    """Return what gives the largest gap of the numbers and the mean share of each box."""
    scale, gamma = read_scale(model), read_membership(model).gamma
    numbers = [j for j in range(len(columns)) if j not in categories]
    gaps = [write_gap(j, columns[j], scale, float(gamma[j])) for j in numbers]
    shares = [
        categories.share(columns[j], j, [f"{PREFIX}s{k}" for k in model._model.values_of(j)])
        for j in range(len(columns))
        if j in categories
    ]
    total = " + ".join(["0.0e0", *shares])
    mean = f"({total}) / {len(shares)}.0e0 AS {_SHARE}"
    source = select_gaps(_FACTS, [mean, *(gaps or [f"0.0e0 AS {PREFIX}g0"])])
    largest = find_largest(numbers or [0], f"{_FACTS}, {_SHARE}", source)
    return f"(SELECT {_FACTS}, {_SHARE}, {largest}) {PREFIX}distances"


def _write_degree(model: Any) -> str:
    """Return the membership, of numbers and categories."""
    alpha = model._model.mixture.alpha
    near = f"CASE WHEN {_DISTANCE} < 1 THEN 1 - {_DISTANCE} ELSE 0.0e0 END"
    return f"{double(alpha)} * {near} + {double(1.0 - alpha)} * {_SHARE}"
