"""What a pass over a file finds: classes and ranges, which a learner must know in advance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from hyperboxes._cli._columns import read_categories, read_frame, read_labels, read_numbers
from hyperboxes._cli._tables import Chunk
from hyperboxes._estimators.tallies import Tally, place_categories, take_in
from hyperboxes._models.categories import Categories

# A column with more labels is no class: a measurement, an identifier.
_MOST_CLASSES = 10_000

# A column of text with more values names each row.
_MOST_CATEGORIES = 1_000_000


@dataclass(frozen=True)
class Columns:
    """Which columns of a file are features and target, and which label means none."""

    features: list[str]
    target: str
    unlabeled: str | None = None
    categorical: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()  # of these
    places: Mapping[int, Categories] = field(default_factory=dict)  # of these, once they are known

    @property
    def all(self) -> list[str]:
        """Every column that is read."""
        return [*self.features, self.target]

    def read(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """Return the samples and their labels, which must be there.

        Categories are their places, and not known where there are none yet.
        """
        labels = check_labels(chunk, self.target, self.unlabeled)
        if not self.categorical:
            return read_numbers(chunk, self.features), labels
        is_number = np.array([name not in self.categorical for name in self.features])
        X = np.full((len(chunk), len(self.features)), np.nan)
        X[:, is_number] = read_numbers(chunk, np.array(self.features)[is_number].tolist())
        for feature, known in self.places.items():
            X[:, feature] = known.encode(self._read_categories(chunk, self.features[feature]))
        return X, labels

    def count_categories(self, chunk: Chunk, labels: np.ndarray) -> Tally:
        """Count how often each category comes with each label."""
        of_samples = [None if label == self.unlabeled else label for label in labels.tolist()]
        tally: Tally = {}
        for name in self.categorical:
            column = tally.setdefault(self.features.index(name), {})
            pairs = Counter(zip(self._read_categories(chunk, name), of_samples, strict=True))
            for (value, label), n in pairs.items():
                if value is not None:
                    column.setdefault(value, {})[label] = n
        return tally

    def read_frame(self, chunk: Chunk) -> tuple[Any, np.ndarray]:
        """Return the samples as a data frame, with categories as they are, and their labels."""
        labels = check_labels(chunk, self.target, self.unlabeled)
        return read_frame(chunk, self.features, self.categorical, self.boolean), labels

    def _read_categories(self, chunk: Chunk, name: str) -> list[Any]:
        return read_categories(chunk, name, self.boolean)


def check_labels(chunk: Chunk, target: str, unlabeled: Any) -> np.ndarray:
    """Return the labels, of which none is empty unless that says that there is none."""
    labels = read_labels(chunk, target)
    if unlabeled != "" and (missing := labels == "").any():
        row = chunk.start + int(np.argmax(missing)) + 1
        raise ValueError(
            f"{chunk.file}: row {row} has no {target}. If that says that a sample has no label, "
            'add --unlabeled ""'
        )
    return labels


class Extent:
    """How many rows there are, and the range of each feature, found as rows come in."""

    def __init__(self, n_features: int) -> None:
        self.n_rows = 0
        self.ranges = np.full((2, n_features), np.nan)

    def add(self, X: Any) -> None:
        """Take in some rows."""
        self.n_rows += len(X)
        self.ranges[0] = np.fmin(self.ranges[0], np.fmin.reduce(np.asarray(X)))
        self.ranges[1] = np.fmax(self.ranges[1], np.fmax.reduce(np.asarray(X)))


@dataclass(frozen=True)
class Survey:
    """What a learner must know in advance."""

    n_rows: int
    classes: list[str]
    ranges: np.ndarray
    tally: Tally = field(default_factory=dict)

    @classmethod
    def of(cls, chunks: Iterable[Chunk], columns: Columns) -> Self:
        """Go through all rows."""
        classes: set[str] = set()
        extent = Extent(len(columns.features))
        tally: Tally = {}
        for chunk in chunks:
            X, labels = columns.read(chunk)
            extent.add(X)
            classes |= set(labels.tolist()) - {columns.unlabeled}
            take_in(tally, columns.count_categories(chunk, labels))
            _check_categories(chunk, columns, tally)
            if len(classes) > _MOST_CLASSES:
                raise ValueError(
                    f"{chunk.file}: {columns.target} has more than {_MOST_CLASSES} different "
                    "values, so it is no class; choose another --target"
                )
        return cls(extent.n_rows, sorted(classes), extent.ranges, tally)

    def place(self) -> dict[int, Categories]:
        """Return the categories of all rows with their places, which are ranges, too."""
        places = place_categories(self.tally, self.classes)
        for feature, known in places.items():
            if known.values:
                self.ranges[:, feature] = known.places[0], known.places[-1]
        return places

    def check(self, file: str, columns: Columns) -> None:
        """Refuse a file that nothing can be learned from."""
        if self.n_rows == 0:
            raise ValueError(f"{file} has no rows")
        if not self.classes:
            raise ValueError(
                f"{file}: no row has a label, every {columns.target} is {columns.unlabeled!r}"
            )

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON, which has no NaN."""
        ranges = [[None if np.isnan(x) else x for x in ends] for ends in self.ranges.tolist()]
        counted = [
            [feature, value, label, n]
            for feature, column in self.tally.items()
            for value, counts in column.items()
            for label, n in counts.items()
        ]
        found = {"n_rows": self.n_rows, "classes": self.classes, "ranges": ranges}
        return found | {"categories": counted}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Undo `to_json`."""
        tally: Tally = {}
        for feature, category, label, n in value["categories"]:
            tally.setdefault(feature, {}).setdefault(category, {})[label] = n
        ranges = np.array(value["ranges"], np.float64)
        return cls(value["n_rows"], value["classes"], ranges, tally)


def _check_categories(chunk: Chunk, columns: Columns, tally: Tally) -> None:
    for feature, column in tally.items():
        if len(column) > _MOST_CATEGORIES:
            name = columns.features[feature]
            raise ValueError(
                f"{chunk.file}: {name} has more than {_MOST_CATEGORIES:,} different values, so it "
                f"holds no categories; leave it out: --drop {name}"
            )
