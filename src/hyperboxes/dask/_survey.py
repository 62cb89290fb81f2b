"""A first look at all partitions: features, ranges, classes, and the positions of categories."""

import copy
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import reduce
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _num_samples

from hyperboxes._estimators.categorical import (
    Tally,
    add_tallies,
    code_columns,
    known_categories,
    learn_category_positions,
    look_up,
    with_columns,
)
from hyperboxes._estimators.streaming import union_of_labels
from hyperboxes._estimators.validation import find_labels
from hyperboxes._models.categories import Categories
from hyperboxes.dask._engine import split_labels


def count_categories(estimator: Any, X: Any, y: np.ndarray | None) -> Tally:
    """Count the values of the features that an estimator has found to be categorical."""
    columns = list(known_categories(estimator))
    if not columns or y is None:
        return {}
    has_label, _ = find_labels(y, getattr(estimator, "unlabeled", None))
    labels = [label if known else None for label, known in zip(y.tolist(), has_label, strict=True)]
    return {
        j: Counter((values[k], y) for k, y in zip(codes.tolist(), labels, strict=True) if k >= 0)
        for j, (values, codes) in code_columns(X, columns).items()
    }


def with_positions(X: Any, categories: dict[int, Categories]) -> Any:
    """Return samples with the encoded positions of their categories, all of which are known."""
    if not categories or X is None:
        return X
    estimator = SimpleNamespace(_categories=categories)  # it has nothing else
    return with_columns(X, look_up(estimator, code_columns(X, list(categories))))


@dataclass(frozen=True, eq=False)
class Survey:
    """What is known of some partitions.

    Attributes
    ----------
    n_rows : dict of int to int
        How many rows the partitions have.
    ranges : ndarray of shape (2, n_features) or None
        Lowest and highest values; None if there are no rows.
    names : list of str or None
        The features' names, where they have any.
    classes : ndarray
        All labels, in order.
    tally : dict
        How often the values of categorical features came with which label.
    problems : dict of int to str
        What is wrong with which partitions.
    """

    n_rows: dict[int, int]
    ranges: np.ndarray | None = None
    names: list[str] | None = None
    classes: np.ndarray = field(default_factory=lambda: np.empty(0))
    tally: Tally = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, estimator: Any, number: int, X: Any, y: Any, X_upper: Any) -> Self:
        """Look at a partition as an unfitted estimator reads it."""
        if is_empty(X, y):
            return cls({number: 0})
        unlabeled = getattr(estimator, "unlabeled", None)
        try:
            lower, upper, labels = estimator._validate_samples(X, y, X_upper)
            classes = np.empty(0)
            tally = count_categories(estimator, X, labels)
            if labels is not None:
                classes = union_of_labels(classes, find_labels(labels, unlabeled)[1])
        except (TypeError, ValueError) as error:
            return cls({number: 0}, problems={number: str(error)})
        ranges = np.array([np.fmin.reduce(lower), np.fmax.reduce(upper)])
        names = getattr(estimator, "feature_names_in_", None)
        names = None if names is None else list(names)
        return cls({number: len(lower)}, ranges, names, classes, tally)

    def with_another(self, other: Self) -> Self:
        """Return this with what is known of later partitions."""
        problems = self.problems | other.problems
        n_rows = self.n_rows | other.n_rows
        if self.ranges is None or other.ranges is None:
            known = other if self.ranges is None else self
            return replace(known, n_rows=n_rows, problems=problems)
        try:
            self._check_columns(other)
            classes = union_of_labels(self.classes, other.classes)
        except ValueError as error:
            where = next(number for number, n in other.n_rows.items() if n > 0)
            return replace(self, n_rows=n_rows, problems={where: str(error)} | problems)
        low = np.fmin(self.ranges[0], other.ranges[0])
        high = np.fmax(self.ranges[1], other.ranges[1])
        tally = add_tallies(self.tally, other.tally)
        return type(self)(n_rows, np.array([low, high]), self.names, classes, tally, problems)

    def _check_columns(self, other: Self) -> None:
        assert self.ranges is not None
        assert other.ranges is not None
        if self.names != other.names:
            raise ValueError(
                f"Its features are {_listed(other.names)}, but those of earlier partitions are "
                f"{_listed(self.names)}."
            )
        if self.ranges.shape != other.ranges.shape:
            raise ValueError(
                f"It has {other.ranges.shape[1]} features, but earlier partitions have "
                f"{self.ranges.shape[1]}."
            )

        for j in self.tally.keys() ^ other.tally.keys():
            numbers = other if j in self.tally else self
            if not np.isnan(numbers.ranges[:, j]).any():  # type: ignore[index]
                name = f"column {j}" if self.names is None else f"column {str(self.names[j])!r}"
                raise ValueError(
                    f"{name} holds categories in some partitions and numbers in others. "
                    "Pass those of categories: categorical_features=[...]."
                )

    @property
    def categories(self) -> dict[int, Categories]:
        """The values of categorical features, with their places."""
        return learn_category_positions(self.tally, self.classes.tolist())

    @property
    def all_ranges(self) -> np.ndarray:
        """Lowest and highest values, of categories the first and the last place."""
        assert self.ranges is not None
        ranges = self.ranges.copy()
        for j, categories in self.categories.items():
            positions = categories.positions
            ranges[:, j] = (positions[0], positions[-1]) if len(positions) else np.nan
        return ranges

    def check(self) -> None:
        """Raise an error about the first partition that is wrong, or if there are no rows."""
        if self.problems:
            first = min(self.problems)
            others = len(self.problems) - 1
            more = f" Others are wrong, too: {others} of {len(self.n_rows)}." if others else ""
            raise ValueError(f"Partition {first}: {self.problems[first]}{more}")
        if self.ranges is None:
            raise ValueError(f"X has no rows: all {len(self.n_rows)} partitions are empty.")


def look_at_partition(estimator: Any, number: int, X: Any, y: Any, X_upper: Any) -> Survey:
    """Find out what one partition has."""
    return Survey.of(copy.copy(estimator), number, *split_labels(X, y), X_upper)


def join_surveys(surveys: list[Survey]) -> Survey:
    """Put together what is known of neighbouring partitions."""
    return reduce(Survey.with_another, surveys)


def is_empty(X: Any, y: Any) -> bool:
    """Whether a partition has neither samples nor labels."""
    return _num_samples(X) == 0 and (y is None or _num_samples(y) == 0)


def _listed(names: list[str] | None) -> str:
    return "without names" if names is None else str([str(name) for name in names])
