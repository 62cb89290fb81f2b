"""Categorical columns: which they are, their codes, and counts of categories in parts of data."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import StrOptions

from hyperboxes._models.categories import (
    Categories,
    Column,
    add_categories,
    are_categories,
    learn_categories,
)

FROM_DTYPE = "from_dtype"

# How the names of pandas' and polars' types of categories and of text begin.
_CATEGORIES = ("categor", "enum", "bool", "dictionary")
_TEXT = ("str", "utf8", "large_string")


# What the parameter `categorical_features` may be.
CATEGORICAL_FEATURES = ["array-like", StrOptions({FROM_DTYPE}), None]


def list_categories(estimator: Any) -> dict[Any, list[Any]]:
    """Return the values of each categorical feature, by its name or index."""
    names = getattr(estimator, "feature_names_in_", None)
    return {
        j if names is None else str(names[j]): list(categories.values)
        for j, categories in known_categories(estimator).items()
    }


class CodedValues(NamedTuple):
    """A column of a table as its distinct values and the index of each row's value, -1 for none."""

    values: list[Any]
    codes: np.ndarray


def is_frame(X: Any) -> bool:
    """Return whether samples are a data frame, of pandas or polars."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def list_columns(frame: Any) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a data frame, of pandas or polars, with what errors call them."""
    for j, name in enumerate(frame.columns):
        yield f"column {str(name)!r}", frame.iloc[:, j] if hasattr(frame, "iloc") else frame[:, j]


def find_categorical(estimator: Any, X: Any, *, reset: bool) -> list[int]:
    """Return the categorical columns: those of the first samples."""
    if not reset:
        return list(known_categories(estimator))
    wanted = getattr(estimator, "categorical_features", None)
    if wanted is None:
        return []
    if isinstance(wanted, str):
        columns = list_columns(X) if is_frame(X) else ()
        return [j for j, (_, values) in enumerate(columns) if _holds_categories(values)]
    return _by_name(wanted, X)


def known_categories(estimator: Any) -> dict[int, Categories]:
    """Return the categories that an estimator has learned, by feature."""
    return getattr(estimator, "_categories", {})


def _holds_categories(values: Any) -> bool:
    kind = str(values.dtype).lower()
    if kind.startswith(_CATEGORIES):
        return True
    if kind == "object":  # strings, or Booleans with missing values between them
        texts = {str(value) for value in values.tolist() if isinstance(value, str | bool)}
    elif kind.startswith(_TEXT):
        texts = {value for value in values.to_list() if isinstance(value, str)}
    else:
        return False
    return are_categories(texts)


def _by_name(wanted: Any, X: Any) -> list[int]:
    """Return the columns of a list of names or indices, or of a mask."""
    items = np.asarray(wanted).tolist() if np.ndim(wanted) == 1 else None
    names = list(X.columns) if is_frame(X) else None
    n_features = len(names) if names is not None else np.shape(X)[-1]
    if items is None or not all(isinstance(item, bool | int | str) for item in items):
        raise ValueError(
            'categorical_features is "from_dtype", None, or a list of names, of indices or of '
            f"Booleans, not {wanted!r}."
        )
    if items and all(isinstance(item, bool) for item in items):
        if len(items) != n_features:
            raise ValueError(
                f"categorical_features has {len(items)} Booleans, but X has {n_features} features."
            )
        return np.flatnonzero(items).tolist()
    return sorted({_find_column(item, names, n_features) for item in items})


def _find_column(item: Any, names: list[Any] | None, n_features: int) -> int:
    if isinstance(item, str):
        if names is None:
            raise ValueError(
                f"categorical_features names {item!r}, but X is not a data frame and has no names."
            )
        if item not in names:
            raise ValueError(
                f"categorical_features names {item!r}, which is not a column of X: it has "
                f"{', '.join(repr(str(name)) for name in names[:5])}"
                f"{' ...' if len(names) > 5 else ''}."
            )
        return names.index(item)
    if not -n_features <= item < n_features:
        raise ValueError(
            f"categorical_features has the index {item}, but X has {n_features} features."
        )
    return item % n_features


def code_columns(X: Any, columns: Sequence[int]) -> dict[int, CodedValues]:
    """Return the distinct values of some columns, and which of them each row has."""
    if is_frame(X):
        named = list(list_columns(X))
        return {j: _code(named[j][0], named[j][1]) for j in columns}
    table = np.asarray(X, dtype=object)
    return {j: _code(f"column {j}", table[:, j]) for j in columns}


def _code(name: str, column: Any) -> CodedValues:
    listed = column.to_list() if hasattr(column, "to_list") else column.tolist()
    try:
        distinct = dict.fromkeys(listed)
    except TypeError:
        raise ValueError(
            f"{name} holds lists or the like. A category is a string, a number or a Boolean."
        ) from None
    codes: dict[Any, int] = {}
    values: list[Any] = []
    for value in distinct:
        plain = value.item() if isinstance(value, np.generic) else value
        if plain is None or (plain == plain) is not True:
            codes[value] = -1
        elif not isinstance(plain, str | bool | int | float):
            raise ValueError(
                f"{name} holds {plain!r} in row {listed.index(value)}, a {type(plain).__name__}. "
                "A category is a string, a number or a Boolean."
            )
        elif plain in (math.inf, -math.inf):
            raise ValueError(
                f"{name} holds {plain} in row {listed.index(value)}. A category is a string, a "
                "finite number or a Boolean: replace it, by None if the value is missing."
            )
        elif values and isinstance(plain, str) != isinstance(values[0], str):
            raise ValueError(
                f"{name} holds both text and numbers, such as {values[0]!r} and {plain!r} in row "
                f"{listed.index(value)}. Make all of them text, or all of them numbers."
            )
        else:
            codes[value] = len(values)
            values.append(plain)
    return CodedValues(values, np.array([codes[value] for value in listed], np.int64))


def with_columns(X: Any, columns: dict[int, np.ndarray]) -> Any:
    """Return a copy of a table in which some columns are numbers."""
    if hasattr(X, "isetitem"):  # pandas
        X = X.copy(deep=False)
        for j, numbers in columns.items():
            X.isetitem(j, numbers)
        return X
    if is_frame(X):
        return X.with_columns(
            type(X[:, j])(name, columns[j]) for j, name in enumerate(X.columns) if j in columns
        )
    table = np.array(X, dtype=object)
    for j, numbers in columns.items():
        table[:, j] = numbers
    return table


def look_up(estimator: Any, coded: dict[int, CodedValues]) -> dict[int, np.ndarray]:
    """Return the encoded positions of values, NaN for values that were never learned."""
    positions = {}
    for j, column in coded.items():
        known = known_categories(estimator)[j]
        _check_type(estimator, j, column.values, known)
        positions[j] = np.append(known.encode(column.values), np.nan)[column.codes]
    return positions


def learn_positions(
    estimator: Any, coded: dict[int, CodedValues], y: np.ndarray, weights: np.ndarray
) -> dict[int, np.ndarray]:
    """Learn the values that are new to an estimator; return the encoded positions of all.

    `y` is masked where samples have no label. Samples of weight 0 are ignored.
    """
    labels = np.full(len(y), -1)
    has_label = ~np.ma.getmaskarray(y)
    classes, labels[has_label] = np.unique(np.ma.getdata(y)[has_label], return_inverse=True)
    columns = {}
    for j, (values, codes) in coded.items():
        if (known := known_categories(estimator).get(j)) is not None:
            _check_type(estimator, j, values, known)
        column = Column(values, codes, labels, classes.tolist(), weights)
        columns[j] = column.without_unweighted()
    update = getattr(estimator, "_update_categories", _update_categories)
    estimator._categories = update(known_categories(estimator), columns)
    return look_up(estimator, coded)


def _update_categories(
    known: dict[int, Categories], columns: dict[int, Column]
) -> dict[int, Categories]:
    """Return the categories of each feature after those of more columns are learned."""
    learned = {
        j: add_categories(known[j], column) if j in known else learn_categories(column)
        for j, column in columns.items()
    }
    return known | learned


def _check_type(estimator: Any, j: int, values: list[Any], known: Categories) -> None:
    """Check that values are strings if the categories are, and numbers if these are."""
    for value in values[:1]:
        if known.values and isinstance(value, str) != isinstance(known.values[0], str):
            names = getattr(estimator, "feature_names_in_", None)
            name = f"column {j}" if names is None else f"column {str(names[j])!r}"
            raise ValueError(
                f"{name} holds {value!r}, but the model was fitted with categories such as "
                f"{known.values[0]!r} there. Pass the values themselves, not codes of them."
            )


# How often each value of some features came with each label, None for samples without one.
Tally = dict[int, Counter[tuple[Any, Any]]]


def add_tallies(tally: Tally, other: Tally) -> Tally:
    """Return what both have counted."""
    none = Counter[tuple[Any, Any]]()
    return {j: tally.get(j, none) + other.get(j, none) for j in {**tally, **other}}


def learn_category_positions(tally: Tally, classes: list[Any]) -> dict[int, Categories]:
    """Return the categories that one process would have learned from all samples."""
    label_codes = {label: code for code, label in enumerate(classes)} | {None: -1}
    found = {}
    for j, counts in sorted(tally.items()):
        values = dict.fromkeys(value for value, _ in counts)
        value_codes = {value: code for code, value in enumerate(values)}
        rows = [(value_codes[v], label_codes[label], n) for (v, label), n in counts.items()]
        codes, labels, weights = np.array(rows, np.int64).reshape(-1, 3).T
        column = Column(list(values), codes, labels, classes, weights.astype(np.float64))
        found[j] = learn_categories(column)
    return found
