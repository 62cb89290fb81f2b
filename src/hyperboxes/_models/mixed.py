"""Models whose boxes count the categories of their samples: `MixedModel`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from hyperboxes._kernels.records import UNIT, Mixture, Tallies
from hyperboxes._models.boxes import Boxes
from hyperboxes._models.categories import Categories
from hyperboxes._models.model import BoxModel
from hyperboxes._models.records import sum_in_order
from hyperboxes._models.samples import frozen


class TalliedBoxes(Boxes):
    """Boxes with counts: of the samples that have a value, and of those that have any.

    Values are numbered, those of all categorical features together, in the order in which they were
    learned.
    """

    _rows: ClassVar[tuple[str, ...]] = (*Boxes._rows, "_value_counts", "_known")

    def __init__(self, n_features: int, n_classes: int) -> None:
        self._value_counts = np.zeros((0, 0), np.int64)
        self._known = np.zeros((0, 0), np.int64)
        super().__init__(n_features, n_classes)

    @classmethod
    def of_boxes(cls, boxes: Boxes) -> Self:
        """Copy boxes that have counted nothing yet."""
        rows = boxes.lower, boxes.upper, boxes.labels, boxes.counts, boxes.confirmed
        tallied = cls.of_rows(*rows, n_classes=boxes.n_classes, n_seen=boxes.n_seen)
        tallied.n_candidates = boxes.n_candidates
        return tallied

    def set_counts(self, counts: np.ndarray, owners: np.ndarray, n_categorical: int) -> None:
        """Take on what was counted, when a model is restored."""
        self._value_counts = np.array(counts, np.int64, order="C")
        self._known = np.zeros((len(counts), n_categorical), np.int64)
        np.add.at(self._known.T, owners, self._value_counts.T)

    def make_columns(self, n_values: int, n_categorical: int) -> None:
        """Have room to count so many values of so many features."""
        self._value_counts = _with_columns(self._value_counts, len(self._labels), n_values)
        self._known = _with_columns(self._known, len(self._labels), n_categorical)

    @property
    def value_counts(self) -> np.ndarray:
        """How many samples of each box have each value."""
        return self._value_counts[: len(self)]

    def hide(self, box: int) -> None:
        """Let nothing find a box, until it is shown again: the sign of its count says so."""
        super().hide(box)
        self._counts[box] *= -1

    def show(self, box: int) -> None:
        """Let a box be found again that was hidden."""
        super().show(box)
        self._counts[box] *= -1


def _with_columns(table: np.ndarray, n_rows: int, n_columns: int) -> np.ndarray:
    if table.shape == (n_rows, n_columns):
        return table
    wider = np.zeros((n_rows, n_columns), np.int64)
    wider[: len(table), : table.shape[1]] = table
    return wider


@dataclass(eq=False, kw_only=True)
class MixedModel(BoxModel):
    """Boxes in the numbers that count categories.

    `features` are those that are categorical, and `owners` tells of each value which of these it
    belongs to. `mixture` is how numbers and categories decide together.
    """

    features: np.ndarray
    owners: np.ndarray
    mixture: Mixture

    @property
    def mixed(self) -> tuple[Tallies, Mixture]:
        """What kernels are told of categories."""
        boxes, n_categorical = self.boxes, len(self.features)
        assert isinstance(boxes, TalliedBoxes)
        boxes.make_columns(len(self.owners), n_categorical)
        values = np.argsort(self.owners, kind="stable")
        starts = np.searchsorted(self.owners[values], np.arange(n_categorical + 1))
        codes = np.empty(n_categorical, np.int64)
        counted = boxes._value_counts, boxes._known, codes
        return Tallies(
            frozen(self.features), frozen(values), frozen(starts), *counted
        ), self.mixture

    @property
    def weights(self) -> tuple[float, float]:
        """How much of a membership the numbers make, and each categorical feature."""
        n_categorical, alpha = len(self.features), self.mixture.alpha
        if n_categorical == 0:
            return 1.0, 0.0
        if self.mixture.n_numbers == 0:
            return 0.0, 1.0 / n_categorical
        return alpha, (1.0 - alpha) / n_categorical

    def shares(self, xl: np.ndarray, boxes: np.ndarray) -> np.ndarray:
        """Return the share of boxes' samples that have the categories of others.

        Its shape is (n_samples, n_boxes, n_categorical); NaN where sample or box know none.
        """
        numbers = xl[:, self.features]
        codes = np.where(np.isnan(numbers), len(self.owners), np.rint(numbers / UNIT))
        shares = np.pad(self.value_shares(boxes), ((0, 0), (0, 1)), constant_values=np.nan)
        return shares[:, codes.astype(np.int64)].swapaxes(0, 1)

    def value_shares(self, boxes: np.ndarray) -> np.ndarray:
        """Return the share of each value among boxes' samples that have any; NaN if none has."""
        counts = self.value_counts()[boxes]
        known = counts @ (self.owners[:, np.newaxis] == np.arange(len(self.features)))
        with np.errstate(invalid="ignore"):
            return counts / known[:, self.owners]

    def closeness(self, xl: np.ndarray, xu: np.ndarray, boxes: np.ndarray) -> np.ndarray:
        """Rank boxes: in the steps of the kernel, for the same numbers."""
        distance = self._distance(xl, xu, boxes)
        degree = 1.0 - np.minimum(distance, 1.0)
        if len(self.features):
            shares = np.nan_to_num(self.shares(xl, boxes), nan=1.0)
            share = sum_in_order(shares) / len(self.features)
            alpha = self.mixture.alpha
            is_mixed = self.mixture.n_numbers > 0
            degree = alpha * degree + (1.0 - alpha) * share if is_mixed else share
        return np.where(degree > 0.0, degree, -np.maximum(distance, 1.0))

    def counts_of(self, feature: int) -> np.ndarray:
        """Return how many samples of each box have each value of a categorical feature."""
        return self.value_counts()[:, self.values_of(feature)]

    def values_of(self, feature: int) -> np.ndarray:
        """Return the numbers of the values of a categorical feature."""
        place = int(np.flatnonzero(self.features == feature)[0])
        return np.flatnonzero(self.owners == place)

    def value_counts(self) -> np.ndarray:
        """Return how many samples of each box have each value, new ones, too."""
        assert isinstance(self.boxes, TalliedBoxes)
        return _with_columns(self.boxes.value_counts, len(self.boxes), len(self.owners))


def find_owners(categories: dict[int, Categories]) -> tuple[np.ndarray, np.ndarray]:
    """Return the categorical features, and to which of them each numbered value belongs."""
    features = np.array(sorted(categories), np.int64)
    owners = np.empty(sum(len(known.values) for known in categories.values()), np.int64)
    for place, feature in enumerate(features.tolist()):
        owners[np.rint(categories[feature].places / UNIT).astype(np.int64)] = place
    return features, owners
