"""Streams: `learn_one` and `predict_one`, classes that turn up later, sorted labels."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from hyperboxes._estimators.categorical import known_categories
from hyperboxes._estimators.validation import (
    HUGE,
    ValidatedArray,
    check_no_none,
    check_unit_range,
    check_unlabeled,
    unchanged_on_error,
)
from hyperboxes._kernels.structs import NO_LABEL
from hyperboxes._models.samples import Intervals


class StreamClasses:
    """The classes of a stream: `classes` in order, and codes in the order of their appearance.

    It is never changed: `with_labels` returns another one.
    """

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
        """Return the state once these labels have appeared, and other classes are known of."""
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
# are called sorted if its label changes so many times more rarely than it would in random order,
# and not before so many samples: small batches of one class are fine.
_RARELY = 20
_ENOUGH = 500


class SortedLabelsCheck:
    """How often the label changes from one sample of a stream to the next."""

    def __init__(self, n_classes: int) -> None:
        self._counts = np.zeros(n_classes, np.int64)
        self._n_changes = 0
        self._last = -1
        self._is_told = False

    def add(self, y: np.ndarray) -> None:
        """Take in the labels of some samples, those that have one; warn once if they are sorted."""
        y = y[y >= 0]
        if self._is_told or len(y) == 0:
            return
        self._counts += np.bincount(y, minlength=len(self._counts))
        self._n_changes += int((y[1:] != y[:-1]).sum()) + (self._last not in (-1, y[0]))
        self._last = int(y[-1])
        n = int(self._counts.sum())
        expected = n - float(self._counts @ self._counts) / n
        if n >= _ENOUGH and self._n_changes * _RARELY < expected:
            self._is_told = True
            warnings.warn(
                f"Labels come in long runs: over {n:,} samples the label changed "
                f"{self._n_changes:,} times; in random order it would have some {expected:,.0f} "
                "times. Boxes depend on the order, and samples sorted by class make many more of "
                "them, which predict worse: shuffle the samples first.",
                stacklevel=4,
            )


# A sample is a dictionary of features or a plain sequence. Scikit-learn's validation takes longer
# than learning a sample, so there are cheap checks here instead. What fails them changes nothing.

_NAN = math.nan


class OnlineMixin:
    """Learning and predicting single samples; a learner says how with a row of numbers."""

    n_features_in_: int
    classes_: np.ndarray

    @abstractmethod
    def _learn_row(self, row: np.ndarray, label: Any) -> None:
        """Learn a sample, a table of one row; nothing changes if the label is refused."""

    @abstractmethod
    def _predict_row(self, row: np.ndarray) -> Any:
        """Return the label of a sample, a table of one row."""

    @abstractmethod
    def _shares_of_row(self, row: np.ndarray) -> dict[Any, float]:
        """Return the probability of each class."""

    @abstractmethod
    def _can_predict(self) -> bool:
        """Whether anything was learned."""

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn a single sample, as river's models do.

        It gives what `partial_fit` gives, without scikit-learn's validation and callbacks. There is
        no need to name classes in advance.

        Parameters
        ----------
        x : dict or sequence of n_features numbers
            The sample. A dictionary has the features by name, in any order; if the model has no
            names, by number, from 0. Features that are not there are missing. The first sample
            says which features there are.
        y : object
            Its label.
        """
        if hasattr(self, "n_features_in_"):
            row = self._make_row(x)
            self._learn_row(row, y)
            return
        with unchanged_on_error(self):
            self._validate_params()  # type: ignore[attr-defined]
            self._set_features(x)
            row = self._make_row(x)
            self._learn_row(row, y)

    def predict_one(self, x: Any) -> Any:
        """Return the label of a single sample, as river's models do.

        Parameters
        ----------
        x : dict or sequence of n_features numbers
            As in `learn_one`.

        Returns
        -------
        y : object
            What `predict` says, as a plain Python value; None before anything was learned.
        """
        if not self._can_predict():
            return None
        return self._predict_row(self._make_row(x))

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probabilities of the classes for a single sample, as river's models do.

        Parameters
        ----------
        x : dict or sequence of n_features numbers
            As in `learn_one`.

        Returns
        -------
        p : dict of label to float
            What `predict_proba` says; empty before anything was learned.
        """
        if not self._can_predict():
            return {}
        return self._shares_of_row(self._make_row(x))

    def _set_features(self, x: Any) -> None:
        """Learn from the first sample which features there are, and their order."""
        if not isinstance(x, Mapping):
            self.n_features_in_ = len(_values_of(x))
        elif all(isinstance(name, str) for name in x):
            # Sorted, so that the order in a dictionary makes no difference.
            self.feature_names_in_ = np.array(sorted(x), dtype=object)
            self.n_features_in_ = len(x)
        elif set(x) == set(range(len(x))):
            self.n_features_in_ = len(x)
        else:
            raise ValueError(
                "Features are named by strings, or numbered from 0 without a gap; x has "
                f"{_listed(x)}."
            )
        if self.n_features_in_ == 0:
            raise ValueError("x has no features.")

    def _make_row(self, x: Any) -> np.ndarray:
        """Return a sample as a read-only table of one row, after checks."""
        if isinstance(x, Mapping):
            names = self._feature_names()
            if not x.keys() <= names.keys():
                raise ValueError(
                    f"x has features that the model does not know: {_listed(x.keys() - names)}. "
                    f"It was trained with {_listed(names)}."
                )
            values = [x.get(name, _NAN) for name in names]
        else:
            values = _values_of(x)
            if len(values) != self.n_features_in_:
                raise ValueError(
                    f"x has {len(values)} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features."
                )
        return self._checked_row(values)

    def _checked_row(self, values: list[Any]) -> np.ndarray:
        for j, categories in known_categories(self).items():
            values[j] = categories.position(values[j])
        try:
            # One call that looks at all of them: not finite if one of them is not.
            is_fine = math.hypot(*values) <= HUGE
        except (TypeError, ValueError):
            is_fine = False
        if not is_fine:
            values = [self._check_value(j, value) for j, value in enumerate(values)]
        row = np.array([values], np.float64)
        row.flags.writeable = False
        return row

    def _check_value(self, j: int, value: Any) -> float:
        """Return a value as a number, NaN for None; refuse all else."""
        if value is None:
            return _NAN
        names = list(self._feature_names())
        try:
            math.hypot(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"Feature {names[j]!r} is {value!r}, which is no number. Encode it, or leave it "
                "out."
            ) from None
        if not abs(value) <= HUGE and value == value:
            raise ValueError(f"Feature {names[j]!r} is {value}, which is too large or infinite.")
        return value

    def _feature_names(self) -> dict[Any, int]:
        """Return the names of the features, or their numbers, with their places."""
        names = getattr(self, "feature_names_in_", None)
        known = self.__dict__.get("_names")
        if known is None or known[0] is not names or len(known[1]) != self.n_features_in_:
            keys = range(self.n_features_in_) if names is None else names.tolist()
            known = self._names = names, {key: place for place, key in enumerate(keys)}
        return known[1]


class OnlineBoxesMixin(OnlineMixin):
    """Single samples for learners whose boxes have an index."""

    scaling: Any
    unlabeled: Any
    _model: Any

    @abstractmethod
    def _begin(self, lower: np.ndarray, upper: np.ndarray) -> None:
        """Start a model with the first sample, whose class is in `classes_`."""

    @abstractmethod
    def _learn_scaled(self, x: np.ndarray, code: int) -> None:
        """Learn a sample in the learner's units, of the class with this index."""

    @abstractmethod
    def _find_winner(self, x: np.ndarray) -> int:
        """Return the index of the class that is predicted for a sample in the learner's units."""

    def _learn_row(self, row: np.ndarray, label: Any) -> None:
        if self.scaling is None:
            check_unit_range(self, row, row)
        check_unlabeled(self.unlabeled)
        code = self._code_of(label)
        if not hasattr(self, "_model"):
            self._begin(row, row)
        x, _ = Intervals(row, row, self._model.scale).scaled()
        self._learn_scaled(x, code)

    def _code_of(self, label: Any) -> int:
        """Return the index of a label; a new one becomes a class."""
        if self.unlabeled is not None and label == self.unlabeled:
            if not hasattr(self, "classes_"):
                raise ValueError("The first sample must have a label.")
            return NO_LABEL
        codes = self._codes()
        try:
            code = codes.get(label)
        except TypeError:
            raise ValueError(f"y is {label!r}, which is no label.") from None
        if code is None:
            self._add_class(label)
            code = self._codes()[label]
        return int(code)

    def _codes(self) -> dict[Any, int]:
        classes = getattr(self, "classes_", np.empty(0))
        known = self.__dict__.get("_known_codes")
        if known is None or known[0] is not classes:
            codes = {label: code for code, label in enumerate(classes.tolist())}
            known = self._known_codes = classes, codes
        return known[1]

    def _add_class(self, label: Any) -> None:
        """Add a class, and number the labels of the boxes anew."""
        before = getattr(self, "classes_", np.empty(0))
        classes = union_of_labels(before, np.array([label]))
        if hasattr(self, "_model"):
            old = self._model.boxes
            # Labels of boxes may be -1 for none, which takes the last place.
            moved = np.append(np.searchsorted(classes, before), NO_LABEL)
            boxes = old.with_labels(moved[old.labels], len(classes))
            self._model = self._model.with_boxes(boxes)
        self.__dict__.pop("_label_runs", None)  # which counts by class
        self.classes_ = classes

    def _can_predict(self) -> bool:
        return hasattr(self, "_model") and self._model.boxes.has_labels

    def _predict_row(self, row: np.ndarray) -> Any:
        x, _ = Intervals(row, row, self._model.scale).scaled()
        return self.classes_.item(self._find_winner(x))

    def _shares_of_row(self, row: np.ndarray) -> dict[Any, float]:
        shares = self.predict_proba(row.view(ValidatedArray))  # type: ignore[attr-defined]
        return dict(zip(self.classes_.tolist(), shares[0].tolist(), strict=True))


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
