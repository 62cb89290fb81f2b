"""Dates, times and durations: refused, with what to make of them instead.

NumPy takes them for nanoseconds, unless there are numbers beside them, and nobody means that.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Any

import numpy as np

from hyperboxes._estimators.tables import is_frame, list_columns

_DATES = (
    "Make numbers of them first, such as the days since a date, the month, the weekday or the hour "
    "(in pandas column.dt.month, in polars column.dt.month()), or leave the column out."
)
_TIMES = "Make numbers of them first, such as the hour, or leave the column out."
_DURATIONS = (
    "Make numbers of them first, such as seconds or days (column.dt.total_seconds()), or leave "
    "the column out."
)


def refuse_dates(X: Any) -> None:
    """Refuse tables with a column of dates, times or durations, and say what to do."""
    for name, values in _list_columns(X):
        known = next(_known_cells(values), None)
        if known is None:
            continue
        row, value = known
        for what, advice, kinds in (
            ("durations", _DURATIONS, (timedelta, np.timedelta64)),
            ("dates", _DATES, (date, np.datetime64)),
            ("times", _TIMES, (time,)),
        ):
            if isinstance(value, kinds):
                raise ValueError(f"{name} holds {what}, such as {value} in row {row}. {advice}")
        if type(value).__name__ == "Period":  # of pandas
            raise ValueError(f"{name} holds periods, such as {value} in row {row}. {_DATES}")


def _list_columns(X: Any) -> Iterator[tuple[str, Any]]:
    """Yield the columns that may hold dates, with what errors call them."""
    if is_frame(X):
        for name, values in list_columns(X):
            if not _holds_numbers(values.dtype):
                yield name, values
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OmM":
        for j in range(X.shape[1]):
            yield f"column {j}", X[:, j]


def _holds_numbers(kind: Any) -> bool:
    """Whether a column holds numbers, Booleans or categories, by its type in pandas or polars."""
    names = ("int", "uint", "float", "bool", "categor", "enum", "decimal")
    return str(kind).lower().startswith(names)


def _known_cells(values: Any) -> Iterator[tuple[int, Any]]:
    """Yield cells that are not missing: not None, and equal to themselves."""
    for row, value in enumerate(values):
        is_itself = value == value
        if value is not None and isinstance(is_itself, bool | np.bool_) and is_itself:
            yield row, value
