"""The steps of a Pipeline before the model as SQL: what they make of the columns of a table.

Each does the same operations on doubles in the same order as scikit-learn, so that the model gets
the very numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from hyperboxes._explain.sql_parts import double


def write_steps_sql(steps: list[Any], columns: list[str]) -> list[str]:
    """Return the expressions for the model's features, of those for the columns of the table."""
    for step in steps:
        write = _WRITERS.get(type(step))
        if write is None or not _is_plain(step):
            raise TypeError(
                f"export_sql cannot write this {type(step).__name__} as SQL, only scalers and "
                "SimpleImputer with plain options. Store what the steps before the model make of "
                "the table, and pass the last step of the Pipeline."
            )
        columns = write(step, columns)
    return columns


def _is_plain(step: Any) -> bool:
    """Whether a step does what is written here, for its options and what it has found."""
    if isinstance(step, SimpleImputer):
        is_number = np.issubdtype(step.statistics_.dtype, np.floating)
        has_all = is_number and not np.isnan(step.statistics_).any()
        return bool(has_all and step.missing_values is np.nan and not step.add_indicator)
    return not getattr(step, "clip", False)


def _apply(columns: list[str], operator: str, numbers: np.ndarray | None) -> list[str]:
    """Return columns with a number each; None: they stay as they are."""
    if numbers is None:
        return columns
    pairs = zip(columns, np.asarray(numbers, np.float64).tolist(), strict=True)
    return [f"({column} {operator} {double(number)})" for column, number in pairs]


def _scale(step: Any, columns: list[str]) -> list[str]:
    """Subtract a centre, if there is one, and divide."""
    centre = getattr(step, "mean_" if isinstance(step, StandardScaler) else "center_", None)
    if isinstance(step, StandardScaler) and not step.with_mean:
        centre = None  # it is known all the same
    return _apply(_apply(columns, "-", centre), "/", step.scale_)


def _min_max(step: Any, columns: list[str]) -> list[str]:
    return _apply(_apply(columns, "*", step.scale_), "+", step.min_)


def _impute(step: Any, columns: list[str]) -> list[str]:
    pairs = zip(columns, step.statistics_.tolist(), strict=True)
    return [f"COALESCE({column}, {double(number)})" for column, number in pairs]


_WRITERS: dict[type, Callable[[Any, list[str]], list[str]]] = {
    StandardScaler: _scale,
    RobustScaler: _scale,
    MaxAbsScaler: _scale,
    MinMaxScaler: _min_max,
    SimpleImputer: _impute,
}
