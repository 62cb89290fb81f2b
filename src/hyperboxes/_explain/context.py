"""What explanations of one model share, and where samples lie relative to its boxes."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hyperboxes._estimators.validation import checked
from hyperboxes._explain.explanation import ExplainedBox
from hyperboxes._explain.pipelines import describe_units
from hyperboxes._explain.reading import read_membership, read_scale
from hyperboxes._explain.rounding import Rounding
from hyperboxes._explain.wording import name_classes, name_features
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.membership import Membership
from hyperboxes._models.scaling import MinMaxScale


@dataclass(frozen=True, eq=False)
class SampleBounds:
    """Both ends of samples."""

    lower: np.ndarray
    upper: np.ndarray

    def __getitem__(self, rows: slice | np.ndarray | None) -> SampleBounds:
        return SampleBounds(self.lower[rows], self.upper[rows])

    def as_input(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return what methods of models take: no upper ends for points, which is faster."""
        is_point = np.array_equal(self.lower, self.upper, equal_nan=True)
        return checked(self.lower), None if is_point else checked(self.upper)


@dataclass(frozen=True, eq=False)
class Context:
    """What the explanations of one model share. It has a copy of the model, which may go on."""

    model: Any
    boxes: Hyperboxes
    classes: np.ndarray
    class_names: list[str]
    feature_names: list[str]
    scale: MinMaxScale
    membership: Membership
    rounding: Rounding
    units: str

    @classmethod
    def of(cls, model: Any, feature_names: Any, class_names: Any) -> Self:
        """Read a model, with the caller's names."""
        return cls(
            deepcopy(model),
            model.hyperboxes_,
            model.classes_,
            name_classes(model, class_names),
            name_features(model, feature_names),
            read_scale(model),
            read_membership(model),
            Rounding.of(model),
            describe_units(model),
        )

    def code(self, labels: Any) -> Any:
        """Return labels as indices into the classes."""
        return np.searchsorted(self.classes, labels)

    def explained(self, box: int, sample: SampleBounds, memberships: np.ndarray) -> ExplainedBox:
        """Return a box with the place of a sample relative to it."""
        low, high, code = self.boxes.lower[box], self.boxes.upper[box], self.boxes.labels[box]
        distance = self._distance(sample, low, high)
        return ExplainedBox(
            int(box),
            self.classes[code],
            self.class_names[code],
            int(self.boxes.counts[box]),
            float(memberships[code]),
            low,
            high,
            distance,
            distance / self.scale.span,
        )

    def _distance(self, sample: SampleBounds, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return how far outside of bounds a sample is, at most 0 where that takes no membership.

        It may lie outside by a rounding error that scaling takes away.
        """
        transform = self.scale.transform
        with np.errstate(over="ignore"):
            distance = np.maximum(sample.upper - high, low - sample.lower)
            gaps = np.maximum(
                transform(sample.upper) - transform(high), transform(low) - transform(sample.lower)
            )
            is_outside = self.membership.slopes(gaps) > 0
            return np.where(is_outside, distance, np.minimum(distance, 0.0))

    def closeness(self, samples: SampleBounds, boxes: np.ndarray) -> np.ndarray:
        """Return how close some boxes are to samples, as the model has it."""
        transform = self.scale.transform
        with np.errstate(over="ignore"):
            scaled = transform(samples.lower), transform(samples.upper)
        ranks: np.ndarray = self.model._model.closeness(*scaled, boxes)
        return ranks
