"""Streams: single samples as rows of numbers, classes that appear later, sorted labels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from hyperboxes._estimators.access import access_of
from hyperboxes._estimators.categorical import known_categories
from hyperboxes._estimators.validation import HUGE, check_no_none, unchanged_on_error


class StreamClasses:
    """The sorted classes of a stream, and their codes in the order of appearance; immutable."""

    def __init__(self, classes: np.ndarray, appeared: list[Any]) -> None:
        self.classes = classes
        self.appeared = appeared
        self.sorted_labels = classes.tolist()
        self.codes = {label: code for code, label in enumerate(appeared)}
        # The column of each code in `classes`.
        self.positions = np.searchsorted(classes, np.array(appeared, classes.dtype))

    @classmethod
    def none(cls) -> StreamClasses:
        """Return the state before any label."""
        return cls(np.empty(0), [])

    def with_labels(self, labels: np.ndarray, classes: Any = None) -> StreamClasses:
        """Return the classes after these labels have appeared; `classes` are announced only."""
        known = self.classes
        for more in (labels, classes):
            if more is not None:
                known = union_of_labels(known, np.asarray(more))
        first = np.sort(np.unique(labels, return_index=True)[1])
        new = [label for label in labels[first].tolist() if label not in self.codes]
        if not new and len(known) == len(self.classes):
            return self
        return StreamClasses(known, self.appeared + new)

    def encode(self, labels: np.ndarray) -> np.ndarray:
        """Return the codes of labels that have appeared."""
        columns = np.searchsorted(self.classes, labels)
        codes = np.zeros(len(self.classes), np.int64)
        codes[self.positions] = np.arange(len(self.positions))
        return codes[columns]


def union_of_labels(classes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return all classes in order."""
    if len(labels) == 0:
        return classes
    check_no_none(labels)
    check_classification_targets(labels)
    if len(classes) == 0:
        return np.unique(labels)
    # NumPy would turn numbers into text.
    if _is_text(classes) != _is_text(labels):
        was, now = ("text" if _is_text(which) else "numbers" for which in (classes, labels))
        raise ValueError(
            f"y holds {now}, such as {labels.tolist()[0]!r}, but labels so far were {was}, such as "
            f"{classes.tolist()[0]!r}. Use labels of one type."
        )
    if set(labels.tolist()) <= set(classes.tolist()):
        return classes
    return np.union1d(classes, labels)


def _is_text(labels: np.ndarray) -> bool:
    return labels.dtype.kind in "US" or isinstance(labels.tolist()[0], str)


# Labels of streams often stay the same for some time (the weather, prices). The data of a stream
# are called sorted if its label changes _RARELY times less often than in random order, and not
# before _ENOUGH samples: small batches of one class are fine.
_RARELY = 20
_ENOUGH = 500


class SortedLabelsCheck:
    """How often the label changes from one sample of a stream to the next."""

    def __init__(self, n_classes: int) -> None:
        self._counts = np.zeros(n_classes, np.int64)
        self._n_changes = 0
        self._last = -1
        self._has_warned = False

    def add(self, y: np.ndarray) -> None:
        """Count the labels of some samples; warn once if the stream is sorted by class."""
        y = y[y >= 0]
        if self._has_warned or len(y) == 0:
            return
        self._counts += np.bincount(y, minlength=len(self._counts))
        self._n_changes += int((y[1:] != y[:-1]).sum()) + (self._last not in (-1, y[0]))
        self._last = int(y[-1])
        n = int(self._counts.sum())
        expected = n - float(self._counts @ self._counts) / n
        if n >= _ENOUGH and self._n_changes * _RARELY < expected:
            self._has_warned = True
            warnings.warn(
                f"Labels come in long runs: over {n:,} samples the label changed "
                f"{self._n_changes:,} times; in random order it would have some {expected:,.0f} "
                "times. Boxes depend on the order, and samples sorted by class make many more of "
                "them, which predict worse: shuffle the samples first.",
                stacklevel=5,
            )


def warn_if_sorted(y: np.ndarray) -> None:
    """Warn if each of several classes is a single run of samples."""
    counts = np.unique(y, return_counts=True)[1]
    n_changes = np.count_nonzero(y[1:] != y[:-1])
    if 1 <= n_changes < len(counts) and counts.min() > 2:
        warnings.warn(
            "Samples are sorted by class. AdaptiveGFMM follows changes, so it mostly predicts the "
            "last class: shuffle the samples, or use ImprovedOnlineGFMM.",
            stacklevel=5,
        )


def label_array(label: Any) -> np.ndarray:
    """Return a single label as an array, after a check."""
    labels = np.array([label])
    if labels.ndim > 1:
        raise ValueError(f"y is {label!r}, which is not a label.")
    return labels


# A sample is a dictionary of features or a plain sequence. Scikit-learn's validation takes longer
# than learning a sample, so the checks here are cheaper. If one fails, nothing has changed.

_NAN = math.nan


def learn_sample(
    estimator: Any, x: Any, y: Any, learn_row: Callable[[np.ndarray, Any], None]
) -> None:
    """Learn a sample by a function of a row and a label; the first sample sets the features."""
    access = access_of(estimator)
    with access.turn:
        access.wait_for_readers()
        if hasattr(estimator, "n_features_in_"):
            learn_row(make_row(estimator, x), y)
            return
        with unchanged_on_error(estimator):
            estimator._validate_params()
            _set_features(estimator, x)
            learn_row(make_row(estimator, x), y)


def _set_features(estimator: Any, x: Any) -> None:
    """Set the features and their order by the first sample."""
    if not isinstance(x, Mapping):
        estimator.n_features_in_ = len(_values_of(x))
    elif all(isinstance(name, str) for name in x):
        # Sorted, so that the order in a dictionary makes no difference.
        estimator.feature_names_in_ = np.array(sorted(x), dtype=object)
        estimator.n_features_in_ = len(x)
    elif set(x) == set(range(len(x))):
        estimator.n_features_in_ = len(x)
    else:
        raise ValueError(
            f"Features are named by strings, or numbered from 0 without a gap; x has {_listed(x)}."
        )
    if estimator.n_features_in_ == 0:
        raise ValueError("x has no features.")


def make_row(estimator: Any, x: Any) -> np.ndarray:
    """Return a sample as a read-only table of one row, after checks."""
    if isinstance(x, Mapping):
        names = _feature_positions(estimator)
        if not x.keys() <= names.keys():
            raise ValueError(
                f"x has features that the model was not fitted with: {_listed(x.keys() - names)}. "
                f"It was trained with {_listed(names)}."
            )
        values = [x.get(name, _NAN) for name in names]
    else:
        values = _values_of(x)
        if len(values) != estimator.n_features_in_:
            raise ValueError(
                f"x has {len(values)} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features."
            )
    for j, categories in known_categories(estimator).items():
        try:
            values[j] = categories.position(values[j])
        except TypeError:
            name = list(_feature_positions(estimator))[j]
            raise ValueError(
                f"Feature {name!r} is {values[j]!r}. A category is a string, a number or a Boolean."
            ) from None
    try:
        # One call that checks all of them: the result is not finite if one value is not.
        is_fine = math.hypot(*values) <= HUGE
    except (TypeError, ValueError, OverflowError):
        is_fine = False
    if not is_fine:
        names = _feature_positions(estimator)
        values = [check_value(name, value) for name, value in zip(names, values, strict=True)]
    row = np.array([values], np.float64)
    row.flags.writeable = False
    return row


def check_value(name: Any, value: Any) -> float:
    """Return a value as a number, NaN for None."""
    if value is None:
        return _NAN
    try:
        is_fine = math.hypot(value) <= HUGE or value != value
    except OverflowError:  # an integer
        is_fine = False
    except (TypeError, ValueError):
        raise ValueError(
            f"Feature {name!r} is {value!r}, which is not a number. Encode it, or leave it out."
        ) from None
    if not is_fine:
        raise ValueError(f"Feature {name!r} is {value}, which is too large or infinite.")
    return float(value)


def _feature_positions(estimator: Any) -> dict[Any, int]:
    """Return the position of each feature by its name or, without names, its number."""
    names = getattr(estimator, "feature_names_in_", None)
    known = vars(estimator).get("_names")
    if known is None or known[0] is not names or len(known[1]) != estimator.n_features_in_:
        keys = range(estimator.n_features_in_) if names is None else names.tolist()
        known = estimator._names = names, {key: position for position, key in enumerate(keys)}
    return known[1]


def _values_of(x: Any) -> list[Any]:
    """Return the numbers of a sequence."""
    if isinstance(x, np.ndarray) and x.ndim == 1:
        return x.tolist()
    if isinstance(x, Sequence) and not isinstance(x, str | bytes):
        return list(x)
    if hasattr(x, "to_dict"):
        raise TypeError("x is a single sample: a dictionary, such as row.to_dict(), or a sequence.")
    raise TypeError(
        f"x is a single sample, a dictionary or a sequence of numbers, not {type(x).__name__}."
    )


def _listed(names: Any) -> str:
    """Return the first few names."""
    shown = sorted(map(repr, names))
    return ", ".join(shown[:5]) + (f" and {len(shown) - 5} more" if len(shown) > 5 else "")
