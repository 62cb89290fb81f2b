"""Validation of samples, labels and parameters, with errors that name the column and the cell."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, time, timedelta
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_is_fitted,
    check_non_negative,
    validate_data,
)

from hyperboxes._estimators import categorical
from hyperboxes._estimators.devices import reject_device
from hyperboxes._kernels.structs import NO_LABEL
from hyperboxes._models.categories import looks_like_a_date

# What scikit-learn raises for labels; samples may lack values.
_NAN_LABEL = re.compile(r"Input (y )?contains NaN\.?")

# NumPy would convert dates to nanoseconds, which nobody means.

_DATES = (
    "Put hyperboxes.DateFeatures() before the model in a Pipeline (X must be a data frame), make "
    "numbers of them yourself (in pandas column.dt.month, in polars column.dt.month()), or leave "
    "the column out."
)
_PERIODS = (
    "Make numbers of them first, such as the year and the month (column.dt.month), or leave the "
    "column out."
)
_TIMES = "Make numbers of them first, such as the hour, or leave the column out."
_DURATIONS = (
    "Make numbers of them first, such as seconds or days (column.dt.total_seconds()), or leave "
    "the column out."
)


def refuse_dates(X: Any) -> None:
    """Raise an error for a column of dates, times or durations with advice what to do."""
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
            raise ValueError(f"{name} holds periods, such as {value} in row {row}. {_PERIODS}")


def _list_columns(X: Any) -> Iterator[tuple[str, Any]]:
    """Yield the columns that may hold dates, with what errors call them."""
    if categorical.is_frame(X):
        for name, values in categorical.list_columns(X):
            if not holds_numbers(values.dtype):
                yield name, values
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OmM":
        for j in range(X.shape[1]):
            yield f"column {j}", X[:, j]


def holds_numbers(kind: Any) -> bool:
    """Whether a column holds numbers, Booleans or categories, by its type in pandas or polars."""
    names = ("int", "uint", "float", "bool", "categor", "enum", "decimal")
    return str(kind).lower().startswith(names)


def _known_cells(values: Any) -> Iterator[tuple[int, Any]]:
    """Yield cells that are not missing: not None, and equal to themselves."""
    for row, value in enumerate(values):
        is_itself = value == value
        if value is not None and isinstance(is_itself, bool | np.bool_) and is_itself:
            yield row, value


# More than what rounding in scikit-learn's MinMaxScaler leaves beyond [0, 1].
_ROUNDING = 1e-12

# The arguments of scikit-learn's validation for samples.
NUMBERS = {"dtype": np.float64, "order": "C", "ensure_all_finite": "allow-nan"}

# What limits and numbers of threads may be: kernels take no larger ones, nor do systems.
COUNT = [Interval(Integral, 1, 2**31, closed="both")]
N_JOBS = [Interval(Integral, None, 1000, closed="right"), None]

CLASS_WEIGHT = [dict, StrOptions({"balanced"}), None]

# Larger values have no place in a running variance.
HUGE = 1e150


def check_fitted(estimator: Any) -> None:
    """Check that an estimator is fitted, a hundred times as fast as `check_is_fitted` if it is."""
    if not estimator.__sklearn_is_fitted__():
        check_is_fitted(estimator)


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Undo what scikit-learn's checks have set on the estimator if one of them fails."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


# What validation and `fit` set besides the model.
_DATA_ATTRIBUTES = ("n_features_in_", "feature_names_in_", "classes_", "_categories")


def data_attributes(estimator: Any) -> dict[str, Any]:
    """Return what an estimator has of its training data, besides the model."""
    return {name: vars(estimator)[name] for name in _DATA_ATTRIBUTES if name in vars(estimator)}


class ValidatedArray(np.ndarray):
    """Samples that were validated already, with numbers for categories.

    Scikit-learn's validation takes too long for single samples and for samples of readers.
    """


def mark_validated(samples: np.ndarray) -> ValidatedArray:
    """Mark samples as validated, for the methods of estimators."""
    return np.ascontiguousarray(samples).view(ValidatedArray)


def validate_samples(
    estimator: Any, X: Any, *y: Any, reset: bool, sample_weight: Any = None, **checks: Any
) -> Any:
    """Do what scikit-learn's `validate_data` does, with errors that name cells of a data frame.

    Categories become numbers. New ones are learned if `y` is given, and are missing values if not.
    """
    if type(X) is ValidatedArray:
        return X.view(np.ndarray)
    if not (reset or y) and checks["order"] == "C" and _is_ready(estimator, X):
        return X
    reject_device(estimator, X)
    if categorical.is_frame(X):
        # The error for a wrong number of columns comes first.
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    if reset:
        vars(estimator).pop("_categories", None)
    refuse_dates(X)
    columns = categorical.find_categorical(estimator, X, reset=reset)
    coded = categorical.code_columns(X, columns) if columns and _is_table(X) else {}
    if coded and y:
        X = categorical.with_columns(X, {j: column.codes for j, column in coded.items()})
    elif coded:
        X = categorical.with_columns(X, categorical.look_up(estimator, coded))
    with _naming_cells(estimator, X):
        validated = validate_data(estimator, X, *y, reset=reset, **checks)
    if coded and y:
        numbers, labels = validated
        weights = check_weights(sample_weight, numbers)
        has_label, _ = find_labels(labels, getattr(estimator, "unlabeled", None))
        labels = np.ma.masked_array(labels, ~has_label)
        for j, positions in categorical.learn_positions(estimator, coded, labels, weights).items():
            numbers[:, j] = positions
    return validated


def _is_ready(estimator: Any, X: Any) -> bool:
    """Whether samples to predict are valid as they are, which scikit-learn takes long to find."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.flags.c_contiguous
        and len(X) > 0
        and X.shape[1:] == (estimator.n_features_in_,)
        and not hasattr(estimator, "feature_names_in_")
        and not categorical.known_categories(estimator)
        and bool(np.isfinite(X).all())
    )


def _is_table(X: Any) -> bool:
    return categorical.is_frame(X) or (not hasattr(X, "toarray") and np.ndim(X) == 2)


@contextmanager
def _naming_cells(estimator: Any, X: Any) -> Iterator[None]:
    """Name the cell in errors of the conversion to an array."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if categorical.is_frame(X) or (
            isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2
        ):
            _reject_cells(estimator, X, error)
        if _NAN_LABEL.fullmatch(str(error)):
            raise ValueError(f"Input y contains NaN. {_advise_unlabeled(estimator)}") from error
        raise


def _advise_unlabeled(estimator: Any) -> str:
    """Return what to do about samples without a label."""
    advice = "Leave out the samples without a label"
    if "unlabeled" not in estimator.get_params(deep=False):
        return f"{advice}."
    return f"{advice}, or replace NaN by another value, such as -1 or '', and pass it as unlabeled."


def _reject_cells(estimator: Any, X: Any, error: Exception) -> None:
    """Raise an error for the first cell that is not a number, if there is one.

    Arrays of objects may hold anything that becomes a number: only their texts are looked at.
    """
    has_names = categorical.is_frame(X)
    for name, values in categorical.list_columns(X) if has_names else _list_columns(X):
        for row, value in enumerate([] if _are_numbers(values) else values):
            if (has_names or isinstance(value, str)) and not _are_numbers([value]):
                advice = _advise(estimator, value, has_names)
                raise ValueError(
                    f"{name} holds {value!r} in row {row}, which is not a number. {advice}"
                ) from error


def _advise(estimator: Any, value: Any, has_names: bool) -> str:
    """Return what to do about a cell that is not a number."""
    takes_categories = "categorical_features" in estimator.get_params(deep=False)
    if takes_categories and not has_names:
        return (
            "If it is a category, pass a data frame (of a transformer before the model: "
            'set_output(transform="pandas")), or the indices of such columns as '
            "categorical_features."
        )
    if isinstance(value, str) and looks_like_a_date(value):
        return (
            "If these are dates, put hyperboxes.DateFeatures() before the model in a Pipeline. "
            "Otherwise make numbers of them, such as the hour of a time (pandas.to_datetime reads "
            "them), or leave the column out."
        )
    if takes_categories:
        return (
            "Replace it or, if the column holds categories, name it in categorical_features; else "
            "encode the column or leave it out."
        )
    return "Replace it, encode the column, or leave it out."


def _are_numbers(values: Any) -> bool:
    try:
        np.asarray(values).astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def check_upper(estimator: Any, X: np.ndarray, X_upper: Any) -> np.ndarray:
    """Return the upper ends of the samples: `X` itself unless `X_upper` is given."""
    if X_upper is None:
        return X
    if type(X_upper) is ValidatedArray:
        return X_upper.view(np.ndarray)
    validate_data(estimator, X_upper, reset=False, skip_check_array=True)  # names of columns
    refuse_dates(X_upper)
    if (coded := categorical.known_categories(estimator)) and _is_table(X_upper):
        X_upper = categorical.with_columns(
            X_upper, categorical.look_up(estimator, categorical.code_columns(X_upper, list(coded)))
        )
    with _naming_cells(estimator, X_upper):
        X_upper = check_array(
            X_upper,
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan",
            input_name="X_upper",
            estimator=estimator,
        )
    if X_upper.shape != X.shape:
        raise ValueError(f"X_upper has shape {X_upper.shape}, but X has shape {X.shape}.")
    for j in coded:
        if (differs := X_upper[:, j] != X[:, j]).any() and (
            (both := differs & ~(np.isnan(X_upper[:, j]) & np.isnan(X[:, j]))).any()
        ):
            raise ValueError(
                f"X_upper is another category than X in {column_name(estimator, j)}, row "
                f"{int(np.argmax(both))}. There is no interval of categories: both must be the "
                "same."
            )
    if (below := X_upper < X).any():
        row, column = np.argwhere(below)[0]
        raise ValueError(
            f"X_upper is below X in {column_name(estimator, column)}, row {row}: "
            f"{X_upper[row, column]} < {X[row, column]}."
        )
    if (one_end := np.isnan(X_upper) != np.isnan(X)).any():
        row, column = np.argwhere(one_end)[0]
        raise ValueError(
            f"Either both ends of an interval are missing or none: {column_name(estimator, column)}"
            f", row {row}, is {X[row, column]} in X and {X_upper[row, column]} in X_upper."
        )
    return X_upper


def check_training_upper(estimator: Any, X: np.ndarray, X_upper: Any) -> np.ndarray:
    """Return the upper ends of training samples, after checks of both ends."""
    upper = check_upper(estimator, X, X_upper)
    if estimator.scaling is None:
        check_unit_range(estimator, X, upper)
    return upper


def check_gamma(gamma: Any, n_features: int) -> np.ndarray:
    """Return `gamma` as one positive number per feature."""
    vector = check_array(
        np.atleast_1d(gamma), ensure_2d=False, dtype=np.float64, input_name="gamma"
    )
    if vector.shape not in ((1,), (n_features,)) or (
        len(vector) != n_features and np.ndim(gamma) > 0
    ):
        raise ValueError(
            f"gamma must be a number or one per feature: it has shape {np.shape(gamma)}, "
            f"but X has {n_features} features."
        )
    if (vector <= 0).any():
        raise ValueError(f"gamma must be positive, got {gamma!r}.")
    return np.array(np.broadcast_to(vector, (n_features,)))  # writable, as kernels expect


def check_ranges(estimator: Any, n_features: int) -> np.ndarray:
    """Return `scaling`, ranges known in advance, as two tables of one row: lowest and highest."""
    ranges = check_array(
        estimator.scaling,
        dtype=np.float64,
        ensure_2d=False,
        ensure_all_finite="allow-nan",
        input_name="scaling",
    )
    if ranges.shape != (2, n_features):
        raise ValueError(
            f"scaling must be [lowest, highest], each with one number per feature: it has shape "
            f"{ranges.shape}, but X has {n_features} features."
        )
    low, high = ranges
    if (wrong := (low > high) | (np.isnan(low) != np.isnan(high))).any():
        column = int(np.argmax(wrong))
        raise ValueError(
            f"scaling gives {column_name(estimator, column)} the range from {low[column]} to "
            f"{high[column]}; it must not end below its start, and both or none are known."
        )
    return ranges[:, np.newaxis]


def check_unit_range(estimator: Any, lower: np.ndarray, upper: np.ndarray) -> None:
    """Check that training data lie in [0, 1], as `scaling=None` promises."""
    if (outside := (lower < -_ROUNDING) | (upper > 1 + _ROUNDING)).any():
        row, column = np.argwhere(outside)[0]
        value = lower[row, column] if lower[row, column] < -_ROUNDING else upper[row, column]
        raise ValueError(
            f"With scaling=None all features must lie in [0, 1], but "
            f"{column_name(estimator, column)} holds {value} in row {row}. "
            "Scale the data first or use scaling='minmax'."
        )


def check_finite_range(estimator: Any, low: np.ndarray, high: np.ndarray) -> None:
    """Check that the range of each feature is finite in float64."""
    with np.errstate(over="ignore"):
        finite = np.isfinite(high - low)
    if not finite.all():
        column = np.flatnonzero(~finite)[0]
        raise ValueError(
            f"The range of {column_name(estimator, column)}, from {low[column]} to "
            f"{high[column]}, is too large for float64. Scale the data first."
        )


def check_not_huge(estimator: Any, lower: np.ndarray, upper: np.ndarray) -> None:
    """Check that squares of values are finite in float64."""
    for values in (lower, upper):
        if (huge := np.abs(values) > HUGE).any():
            row, column = np.argwhere(huge)[0]
            raise ValueError(
                f"{column_name(estimator, column)} holds {values[row, column]} in row {row}, which "
                "is too large. Scale the data first."
            )


def warn_if_ranges_unknown(estimator: Any, lower: np.ndarray, upper: np.ndarray) -> None:
    """Warn if the first batch of a stream does not have the features' ranges."""
    if not isinstance(estimator.scaling, str):
        return
    problem = ""
    if len(lower) == 1 and upper is lower:
        problem = "one sample: the data"
    elif (unknown := np.isnan(lower).all(axis=0)).any():
        problem = f"no value of {column_name(estimator, int(np.argmax(unknown)))}: it"
    if problem:
        warnings.warn(
            f"The first call of partial_fit learns the features' ranges, but got {problem} "
            "will not be scaled. Start with a larger batch, or give the ranges: "
            "scaling=[lowest, highest].",
            stacklevel=5,
        )


def check_weights(sample_weight: Any, X: np.ndarray) -> np.ndarray:
    """Return weights of at least 0, of which one or more are larger; None stands for 1."""
    weights: np.ndarray = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    check_non_negative(weights, "`sample_weight`")
    return weights


def check_counts(sample_weight: Any, X: np.ndarray) -> np.ndarray:
    """Return weights as integers, which they must be because boxes count samples."""
    weights = check_weights(sample_weight, X)
    if (wrong := weights != np.floor(weights)).any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"sample_weight holds {weights[row]} in row {row}, but boxes count samples: weights "
            "must be whole numbers, of which 2 is a sample twice. BoostedHyperboxes takes any."
        )
    if weights.sum() > _LARGEST_SUM:
        raise ValueError(
            f"sample_weight sums up to {weights.sum():g}, but boxes count samples, up to "
            f"{_LARGEST_SUM:g}: divide the weights."
        )
    return weights.astype(np.int64)


# Samples of large weights are learned in so many copies, or as many as there are samples.
_MAX_COPIES = 10_000
_LARGEST_SUM = 2.0**53


def bounded(weights: np.ndarray) -> np.ndarray:
    """Return weights in proportion whose sum costs little, or the weights themselves."""
    total, n_copies = weights.sum(), max(_MAX_COPIES, len(weights))
    return weights * (n_copies / total) if total > n_copies + len(weights) else weights


def repeat_by_counts(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to learn, each as often as it counts, and how often it counts beyond that.

    Where counts are large, rows are repeated in proportion to them, and once at least.
    """
    copies = np.maximum(np.rint(bounded(counts)), counts > 0).astype(np.int64)
    return np.repeat(np.arange(len(counts)), copies), counts - copies


def check_unlabeled(unlabeled: Any) -> None:
    """Check that the mark of samples without a label equals itself, unlike NaN."""
    try:
        equals_itself = bool(unlabeled == unlabeled)
    except TypeError:  # pandas' NA
        equals_itself = False
    if not equals_itself:
        raise ValueError(
            f"unlabeled={unlabeled!r} does not equal itself. Put another value in its place in y, "
            "such as -1, and name that."
        )


def check_no_none(labels: np.ndarray) -> None:
    """Check that no label is None."""
    if labels.dtype == object and any(label is None for label in labels.tolist()):
        raise ValueError(
            "y holds None. If these samples have no label, put a value of its own in its place, "
            "such as '' or -1, and name that: unlabeled=''."
        )


def find_classes(y: np.ndarray, unlabeled: Any) -> np.ndarray:
    """Return the sorted labels of training samples, after checks."""
    _, labels = find_labels(y, unlabeled)
    check_any_label(labels, unlabeled)
    check_no_none(labels)
    check_classification_targets(labels)
    return np.unique(labels)


def check_any_label(labels: np.ndarray, unlabeled: Any) -> None:
    """Check that some sample has a label."""
    if len(labels) == 0:
        raise ValueError(
            f"y holds no label: every value is {unlabeled!r}, which marks a missing one. To "
            "find groups in such data, use HyperboxClustering."
        )


def find_labels(y: np.ndarray, unlabeled: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return which samples have a label, and these labels."""
    if unlabeled is None:
        return np.ones(len(y), bool), y
    has_label = np.array([label != unlabeled for label in y.tolist()], bool)
    return has_label, _as_one_type(y[has_label])


def _as_one_type(labels: np.ndarray) -> np.ndarray:
    """Return labels of one type out of an array of objects as an array of that type."""
    if labels.dtype != object:
        return labels
    values = labels.tolist()
    of_one_type = np.array(values)
    return of_one_type if of_one_type.tolist() == values else labels


def encode(y: np.ndarray, classes: np.ndarray, unlabeled: Any) -> np.ndarray:
    """Return the labels as indices into `classes`, `NO_LABEL` for samples without one."""
    has_label, labels = find_labels(y, unlabeled)
    codes = np.full(len(y), NO_LABEL)
    codes[has_label] = np.searchsorted(classes, labels)
    return codes


def check_known_classes(
    y: np.ndarray, classes: np.ndarray, unlabeled: Any, *, name: str, advice: str
) -> None:
    """Check that all labels are in `classes`."""
    _, labels = find_labels(y, unlabeled)
    # NumPy would take the text "1" for the number 1.
    if unknown := set(labels.tolist()) - set(classes.tolist()):
        raise ValueError(
            f"{name} holds labels that are not in classes_: {sorted(unknown, key=str)}. {advice}"
        )


def column_name(estimator: Any, column: int) -> str:
    """Return the name of a column for errors: its header, or its index if there is none."""
    names = getattr(estimator, "feature_names_in_", None)
    return f"column {column}" if names is None else f"column {str(names[column])!r}"
