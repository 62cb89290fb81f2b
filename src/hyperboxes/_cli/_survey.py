"""What a pass over a file finds: classes and ranges, which a learner must know in advance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hyperboxes._cli._columns import read_frame, read_labels, read_numbers
from hyperboxes._cli._tables import Chunk

# A column with more labels is no class: a measurement, an identifier.
_MOST_CLASSES = 10_000


@dataclass(frozen=True)
class Columns:
    """Which columns of a file are features and target, and which label means none."""

    features: list[str]
    target: str
    unlabeled: str | None = None
    categorical: tuple[str, ...] = ()

    @property
    def all(self) -> list[str]:
        """Every column that is read."""
        return [*self.features, self.target]

    def read(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """Return the samples and their labels, which must be there."""
        labels = check_labels(chunk, self.target, self.unlabeled)
        return read_numbers(chunk, self.features), labels

    def read_frame(self, chunk: Chunk) -> tuple[Any, np.ndarray]:
        """Return the samples as a data frame, with categories as text, and their labels."""
        labels = check_labels(chunk, self.target, self.unlabeled)
        return read_frame(chunk, self.features, self.categorical), labels


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

    @classmethod
    def of(cls, chunks: Iterable[Chunk], columns: Columns) -> Self:
        """Go through all rows."""
        classes: set[str] = set()
        extent = Extent(len(columns.features))
        for chunk in chunks:
            X, labels = columns.read(chunk)
            extent.add(X)
            classes |= set(labels.tolist()) - {columns.unlabeled}
            if len(classes) > _MOST_CLASSES:
                raise ValueError(
                    f"{chunk.file}: {columns.target} has more than {_MOST_CLASSES} different "
                    "values, so it is no class; choose another --target"
                )
        return cls(extent.n_rows, sorted(classes), extent.ranges)

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
        return {"n_rows": self.n_rows, "classes": self.classes, "ranges": ranges}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Undo `to_json`."""
        return cls(value["n_rows"], value["classes"], np.array(value["ranges"], np.float64))
