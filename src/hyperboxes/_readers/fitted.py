"""How readers read a fitted estimator or pipeline: boxes, scale, names of features and classes.

What exports, explanations, displays and reports take from an estimator comes through here.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from hyperboxes._estimators.capabilities import Operation, read_record, require
from hyperboxes._estimators.categorical import known_categories
from hyperboxes._estimators.dates import DateFeatures
from hyperboxes._estimators.pipelines import Threshold, shift_scores, split_model
from hyperboxes._estimators.validation import NUMBERS, check_upper, mark_validated, validate_samples
from hyperboxes._extras import need
from hyperboxes._models.categories import Categories
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.records import AdditiveBoxes, NearestBoxes, Record
from hyperboxes._models.samples import MinMaxScale


@dataclass(frozen=True, eq=False)
class FittedModel:
    """What readers take of a fitted estimator or Pipeline.

    Attributes
    ----------
    estimator : estimator
        The fitted estimator, of a Pipeline the last step; readers use what is public of it.
    record : Record
        What it has learned.
    classes : ndarray of shape (n_classes,) or None
        Its classes; None for clusters.
    feature_names, class_names : list of str
        The names of the features, and of the classes or clusters.
    has_names : bool
        Whether features have names by the data, the Pipeline or the caller, and not x0, x1, ...
    categories : mapping of int to Categories
        The values of the features that have categories; samples have their positions.
    steps : tuple
        The steps of a Pipeline that transform samples before the estimator takes them.
    threshold : Threshold or None
        What decides between two classes, as a part of the intercept.
    """

    estimator: Any
    record: Record
    classes: np.ndarray | None
    feature_names: list[str]
    class_names: list[str]
    has_names: bool
    categories: Mapping[int, Categories]
    steps: tuple[Any, ...] = ()
    threshold: Threshold | None = None

    @property
    def name(self) -> str:
        """The name of the estimator's class."""
        return type(self.estimator).__name__

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.feature_names)

    @property
    def labels(self) -> np.ndarray:
        """What labels of boxes are indices into: classes, or the numbers of clusters."""
        return np.arange(len(self.class_names)) if self.classes is None else self.classes

    @property
    def no_label(self) -> str:
        """What the label -1 of a box or a sample means."""
        return "noise" if self.classes is None else "no label"

    @property
    def is_transformed(self) -> bool:
        """Whether values have other units than those of the samples."""
        return any(not isinstance(step, DateFeatures) for step in self.steps)

    @property
    def remarks(self) -> str:
        """What values and scores mean where they are not those of the data; "" if they are."""
        names = [type(step).__name__ for step in self.steps if not isinstance(step, DateFeatures)]
        remarks = [step.describe() for step in self.steps if isinstance(step, DateFeatures)]
        if names:
            remarks.append(f"Values are as transformed by {', then '.join(names)}.")
        if self.threshold is not None:
            remarks.append(f"{self.threshold} The intercept includes this threshold.")
        return " ".join(remarks)

    @property
    def hyperboxes(self) -> Hyperboxes:
        """The boxes in data units; `WeightedHyperboxes` if they add weights, none of ensembles."""
        boxes: Hyperboxes = self.estimator.hyperboxes_
        return boxes

    @property
    def scale(self) -> MinMaxScale:
        """The range of each feature, except for additive boxes, which have none."""
        if isinstance(self.record, NearestBoxes):
            return self.record.scale
        return MinMaxScale(self.estimator.data_min_, self.estimator.data_max_)

    @property
    def learned_range(self) -> tuple[np.ndarray, np.ndarray]:
        """The range of all that was learned, which later batches may extend beyond the scale's."""
        boxes, scale = self.hyperboxes, self.scale
        low, high = np.fmin.reduce(boxes.lower, axis=0), np.fmax.reduce(boxes.upper, axis=0)
        return np.fmin(low, scale.low), np.fmax(high, scale.high)

    def find_feature(self, feature: Any) -> int:
        """Return the index of a feature, which is given by its name or its index."""
        if isinstance(feature, str):
            names = self.feature_names if self.has_names else []
            if feature in names:
                return names.index(feature)
            known = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
            raise ValueError(
                f"The model has no feature {feature!r}. It has {known}."
                if names
                else f"The model was fitted without feature names, so {feature!r} cannot be found. "
                "Pass the index of the feature."
            )
        if not isinstance(feature, int | np.integer) or isinstance(feature, bool):
            raise TypeError(f"A feature is given by its name or its index, not by {feature!r}.")
        if not -self.n_features <= feature < self.n_features:
            raise ValueError(
                f"There is no feature {feature}: the model has {self.n_features}, "
                f"0 to {self.n_features - 1}."
            )
        return int(feature) % self.n_features

    def encode(
        self, X: Any, X_upper: Any = None, *, order: str = "C"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Check samples and return both ends, with positions for categories.

        Those of points are one array. Samples are as a Pipeline takes them.
        """
        if X_upper is not None and self.steps:
            raise ValueError("A Pipeline transforms points, not intervals: leave out X_upper.")
        if X_upper is not None and isinstance(self.record, AdditiveBoxes):
            raise ValueError(f"{self.name} takes no interval samples: no X_upper.")
        X = transform(self.steps, self._as_table(X))
        options = {**NUMBERS, "order": order}
        lower: np.ndarray = validate_samples(self.estimator, X, reset=False, **options)
        return lower, check_upper(self.estimator, lower, self._as_table(X_upper))

    def _as_table(self, X: Any) -> Any:
        """Return a single sample, a dictionary, a Series or a flat list, as a table of one row."""
        if X is None or hasattr(X, "columns") or not (isinstance(X, Mapping) or np.ndim(X) == 1):
            return X
        fitted_names = getattr((*self.steps, self.estimator)[0], "feature_names_in_", None)
        names = self.feature_names if fitted_names is None else list(fitted_names)
        values = list(X.values() if isinstance(X, Mapping) else X)
        keys = range(len(values)) if not hasattr(X, "keys") else X.keys()
        if list(keys) != list(range(len(values))):
            row = dict(zip(keys, values, strict=True))
            if missing := [name for name in names if name not in row]:
                raise ValueError(
                    f"The sample has no {', '.join(map(repr, missing))}: add a value for each "
                    "feature, NaN if it is missing."
                )
            values = [row[name] for name in names]
        if len(values) != len(names) and not (fitted_names is None and self.steps):
            raise ValueError(
                f"A flat list is one sample: it has {len(values)} values, but the model takes "
                f"{len(names)}."
            )
        if fitted_names is None:
            return np.array([values], object if self.categories else None)
        pandas = need("pandas", "pandas", "A single sample of a model with feature names")
        return pandas.DataFrame([values], columns=names)

    def call(self, method: str, lower: np.ndarray, upper: np.ndarray | None = None) -> np.ndarray:
        """Return what a method of the estimator, such as `predict`, gives for encoded samples."""
        samples = [lower] if upper is None or upper is lower else [lower, upper]
        found: np.ndarray = getattr(self.estimator, method)(*map(mark_validated, samples))
        return found

    def encode_labels(self, y: Any, n_samples: int) -> tuple[np.ndarray, list[Any]]:
        """Return labels as indices into `labels`, and the labels that are unknown.

        These have the numbers after the model's own. Samples without a label have -1: those of the
        estimator's `unlabeled`, None, NaN and NA, and for clusters -1, which is noise.
        """
        y = column_or_1d(y)
        if len(y) != n_samples:
            raise ValueError(f"y has {len(y)} labels, but X has {n_samples} samples.")
        unlabeled = -1 if self.classes is None else getattr(self.estimator, "unlabeled", None)
        labels = self.labels.tolist()
        index = {label: code for code, label in enumerate(labels)}
        codes = np.full(n_samples, -1)
        for row, label in enumerate(y.tolist()):
            label = label.item() if isinstance(label, np.generic) else label
            if not _is_missing(label) and (unlabeled is None or label != unlabeled):
                codes[row] = index.setdefault(label, len(index))
        return codes, list(index)[len(labels) :]


def read_fitted(
    estimator: Any, operation: Operation, *, feature_names: Any = None, class_names: Any = None
) -> FittedModel:
    """Return what an operation reads of a fitted estimator, or of a Pipeline that ends in one."""
    steps, estimator, threshold = split_model(estimator)
    require(estimator, operation, has_threshold=threshold is not None)
    if not isinstance(read_record(estimator), AdditiveBoxes):
        threshold = None  # boxes are listed as they are
    elif threshold is not None:
        estimator = shift_scores(estimator, threshold)
    record = read_record(estimator)
    names = feature_names
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    if names is None and steps:
        names = _names_after(steps)
    classes = getattr(estimator, "classes_", None)
    return FittedModel(
        estimator,
        record,
        classes,
        check_feature_names(names, estimator.n_features_in_),
        _class_names(estimator, classes, class_names),
        names is not None,
        known_categories(estimator),
        tuple(steps),
        threshold,
    )


def check_feature_names(names: Any, n_features: int, parameter: str = "feature_names") -> list[str]:
    """Return the names of features, x0, x1, ... for None; all must differ."""
    if names is None:
        return [f"x{j}" for j in range(n_features)]
    names = _check_names(names, n_features, "features", parameter)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Two features are named {twice!r}: pass {parameter} that differ.")
    return names


def _class_names(estimator: Any, classes: np.ndarray | None, names: Any) -> list[str]:
    """Return the caller's names of the classes or clusters, else the labels.

    Labels that are no strings become "class 0" and the like: a bare number means little.
    """
    kind, kinds = ("cluster", "clusters") if classes is None else ("class", "classes")
    labels = np.arange(estimator.n_clusters_) if classes is None else classes
    if names is None:
        return [str(label) if isinstance(label, str) else f"{kind} {label}" for label in labels]
    return _check_names(names, len(labels), kinds, "class_names")


def _is_missing(label: Any) -> bool:
    """Whether a label is None, NaN or the NA of pandas, of which no comparison is True."""
    return label is None or (label == label) is not True


@contextmanager
def ignoring_missing_names() -> Iterator[None]:
    """Silence scikit-learn's warning on samples whose features are in order but have no names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield


def check_integer(name: str, value: Any, least: int, *, optional: bool = True) -> None:
    """Refuse anything but an integer of at least `least`, or None if that is allowed."""
    if value is None and optional:
        return
    if not isinstance(value, int | np.integer) or value < least:
        or_none = " or None" if optional else ""
        raise ValueError(
            f"{name} must be a whole number of at least {least}{or_none}, got {value!r}."
        )


# Values stay those that the last step learned from. Readers name the steps that made them.


def transform(steps: Sequence[Any], X: Any) -> Any:
    """Return samples as the steps make them."""
    for step in steps:
        X = step.transform(X)
    return X


def _names_after(steps: Sequence[Any]) -> np.ndarray | None:
    """Return the names that steps give to their features; None if they have no names."""
    names = getattr(steps[0], "feature_names_in_", None) if steps else None
    try:
        for step in steps:
            names = step.get_feature_names_out(names)
    except (AttributeError, ValueError):  # a step that makes features without a name
        return None
    return names


def _check_names(names: Any, number: int, what: str, parameter: str) -> list[str]:
    if isinstance(names, Mapping):
        raise TypeError(f"{parameter} must be a list, in the order of the {what}, not a mapping.")
    names = [names] if isinstance(names, str) else [str(name) for name in names]
    if len(names) != number:
        raise ValueError(f"{parameter} has {len(names)} names, but the model has {number} {what}.")
    return names
