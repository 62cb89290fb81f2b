"""`DateFeatures`: numbers from columns of dates, for models of boxes."""

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from hyperboxes._estimators.categorical import is_frame
from hyperboxes._estimators.validation import holds_numbers, unchanged_on_error
from hyperboxes._extras import need
from hyperboxes._models.categories import looks_like_a_date

# In the order of the features. The days are always there, the others where they vary.
PARTS = ("year", "month", "weekday", "days", "hour")

# How dates are written in text; a column has one of them.
_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d")
FORMATS = ("ISO8601", *(day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S")))

# What follows the minutes or seconds of a time.
_ZONE = re.compile(r"(:\d\d(?:\.\d+)?) ?(?:Z|[+-]\d\d:?\d\d)$")


class DateColumn(NamedTuple):
    """What is learned of a column: the first day, how text is written, and the features."""

    origin: date
    format: str
    parts: tuple[str, ...]


class DateFeatures(TransformerMixin, BaseEstimator):
    """Replace columns of dates by numbers: year, month, weekday, days and hour.

    Put it before a classifier in a Pipeline. `save` stores such a Pipeline as one model.

    Parameters
    ----------
    columns : list of str, default=None
        The names of the columns of dates. None: all columns of a data frame that contain dates, by
        type or as text, and none of an array.

    Attributes
    ----------
    dates_ : dict
        By the name of a column: its first day, the format of text, and the names of its features.
        The weekday is 1 on Monday; days are counted from the first day. A feature other than the
        days is left out where it is the same in all samples.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the columns, where `X` has them.

    Notes
    -----
    Text has dates as ISO 8601 writes them, 2026-11-19, or with days, months and years in another
    order, if all of a column can be read in one order only. Time zones are left out.
    skrub's ``DatetimeEncoder`` has more features; as its state cannot be stored without code,
    `save` takes this transformer only.

    Examples
    --------
    >>> import pandas as pd
    >>> from hyperboxes import DateFeatures
    >>> X = pd.DataFrame({"opened": ["2026-11-19", "2026-12-25", None], "amount": [3.0, 1.0, 2.0]})
    >>> print(DateFeatures().fit_transform(X))
       amount  opened_month  opened_weekday  opened_days
    0     3.0          11.0             4.0          0.0
    1     1.0          12.0             5.0         36.0
    2     2.0           NaN             NaN          NaN
    """

    dates_: dict[str, DateColumn]
    n_features_in_: int
    feature_names_in_: np.ndarray

    def __init__(self, columns: Any = None) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the first day, the format and the features of each column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            The samples, as a data frame if it has dates.
        y : object, default=None
            Ignored.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        with unchanged_on_error(self):
            self._check(X, reset=True)
            self.dates_ = {name: _learn(name, X[name]) for name in self._find_columns(X)}
            names = self.get_feature_names_out().tolist() if self.dates_ else []
            if twice := [name for name in names if names.count(name) > 1]:
                raise ValueError(f"X has a column {twice[0]!r} already: rename it.")
        return self

    def transform(self, X: Any) -> Any:
        """Return the samples with features in place of dates, after the other columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            The samples, in the columns of `fit`.

        Returns
        -------
        X : array-like of shape (n_samples, n_features)
            A data frame of the same kind, or `X` itself if it has no dates. Missing dates are NaN.
        """
        check_is_fitted(self, "dates_")
        X = self._check(X, reset=False)
        if not self.dates_:
            return X
        if not is_frame(X):
            raise ValueError(f"X must be a data frame with columns {', '.join(self.dates_)}.")
        new = {
            f"{name}_{part}": values
            for name, column in self.dates_.items()
            for part, values in _derive(_read(name, X[name], column.format), column).items()
        }
        if hasattr(X, "assign"):
            return X.drop(columns=list(self.dates_)).assign(**new)
        series = type(X[:, 0])
        return X.drop(list(self.dates_)).with_columns(series(*item) for item in new.items())

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            The names of the columns, if `X` had none in `fit`.

        Returns
        -------
        names : ndarray of str
            The other columns, then the features, such as "opened_month".
        """
        check_is_fitted(self, "dates_")
        names = _check_feature_names_in(self, input_features)
        others = [name for name in names if name not in self.dates_]
        new = [f"{name}_{part}" for name, column in self.dates_.items() for part in column.parts]
        return np.array([*others, *new], object)

    def describe(self) -> str:
        """Return what days are counted from, for people."""
        texts = [
            f"{name}_days counts from {column.origin}." for name, column in self.dates_.items()
        ]
        has_weekday = any("weekday" in column.parts for column in self.dates_.values())
        return " ".join(texts + ["Weekday 1 is Monday."] * has_weekday)

    def _check(self, X: Any, *, reset: bool) -> Any:
        """Check the columns, and the cells of an array."""
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")

    def _find_columns(self, X: Any) -> list[str]:
        if self.columns is None:
            return [name for name in X.columns if _holds_dates(X[name])] if is_frame(X) else []
        names = [self.columns] if isinstance(self.columns, str) else list(self.columns)
        known = list(X.columns) if is_frame(X) else []
        if unknown := [name for name in names if name not in known]:
            raise ValueError(f"columns names {unknown[0]!r}, which is not a column of X: {known}.")
        return names

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _list_cells(values: Any) -> list[Any]:
    """Return the cells of a column without time zones, None where a value is missing."""
    cells: list[Any] = []
    for cell in values:
        if isinstance(cell, str):
            cells.append(_ZONE.sub(r"\1", cell.strip()) or None)
        elif cell is None or (cell == cell) is not True:  # NaT, NaN and NA
            cells.append(None)
        else:
            cells.append(cell.replace(tzinfo=None) if isinstance(cell, datetime) else cell)
    return cells


def _is_date(cell: Any) -> bool:
    return isinstance(cell, str | date | np.datetime64)


def _holds_dates(values: Any) -> bool:
    """Whether a column contains dates, by type or as text, and nothing else."""
    if holds_numbers(values.dtype):
        return False
    known = [cell for cell in _list_cells(values) if cell is not None]
    texts = {cell for cell in known if isinstance(cell, str)}
    are_dates = bool(known) and all(map(_is_date, known))
    return are_dates and (
        not texts or (all(map(looks_like_a_date, texts)) and bool(find_formats(texts)))
    )


def find_formats(cells: Iterable[Any]) -> list[str]:
    """Return the formats in which all text can be read."""
    texts = list({cell for cell in cells if isinstance(cell, str)})
    return [order for order in FORMATS if texts and _parse(texts, order).notna().all()]


def _learn(name: str, values: Any) -> DateColumn:
    """Learn a column."""
    found = find_formats(_list_cells(values))
    if len(found) > 1:
        raise ValueError(
            f"column {name!r} has dates that can be read in several ways, "
            f"{' or '.join(found[:2])}. Write them as 2026-11-19."
        )
    order = found[0] if found else FORMATS[0]
    dates = _read(name, values, order)
    if dates.isna().all():
        raise ValueError(f"column {name!r} has no dates: leave it out.")
    column = DateColumn(dates.min().date(), order, PARTS)
    derived = _derive(dates, column)
    varies = [part for part in PARTS if np.nanmin(derived[part]) < np.nanmax(derived[part])]
    return column._replace(parts=tuple(part for part in PARTS if part in ("days", *varies)))


def _read(name: str, values: Any, order: str) -> Any:
    """Return a Series of dates, NaT for missing ones; raise an error for other cells."""
    cells = _list_cells(values)
    dates = _parse([cell if _is_date(cell) else None for cell in cells], order)
    for row, (cell, is_missing) in enumerate(zip(cells, dates.isna(), strict=True)):
        if cell is not None and is_missing:
            raise ValueError(
                f"column {name!r} holds {cell!r} in row {row} (from 0), which is not a date in "
                f"the format {order}. Correct it, or leave the cell empty."
            )
    return dates


def _parse(cells: list[Any], order: str) -> Any:
    """Return a Series of dates, NaT where one is missing or cannot be read."""
    pandas = need("pandas", "pandas", "DateFeatures")
    options = {"format": order} if any(isinstance(cell, str) for cell in cells) else {}
    series = pandas.Series(cells, dtype=object)
    return pandas.to_datetime(series, errors="coerce", **options)


def _derive(dates: Any, column: DateColumn) -> dict[str, np.ndarray]:
    """Return the features of a column, by the names of their parts."""
    pandas, parts = need("pandas", "pandas", "DateFeatures"), dates.dt
    numbers = {
        "year": parts.year,
        "month": parts.month,
        "weekday": parts.day_of_week + 1,
        "days": (parts.normalize() - pandas.Timestamp(column.origin)).dt.days,
        "hour": parts.hour,
    }
    return {part: numbers[part].to_numpy(np.float64, na_value=np.nan) for part in column.parts}
