"""How good rules are on samples: which share of them a box holds, and how many are of its class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hyperboxes._estimators.base import NUMBERS
from hyperboxes._estimators.validation import check_upper, validate_samples
from hyperboxes._explain.reading import encode_labels, is_voting, read_scale


@dataclass(frozen=True, eq=False)
class GivenSamples:
    """The samples that rules are measured on, checked: both ends, and labels as codes if known."""

    lower: np.ndarray
    upper: np.ndarray
    codes: np.ndarray | None

    @classmethod
    def check(cls, model: Any, X: Any, y: Any, X_upper: Any) -> Self | None:
        """Check the caller's samples; None if there are none."""
        if X is None:
            if y is not None or X_upper is not None:
                raise ValueError("y and X_upper describe samples: pass X as well.")
            return None
        if X_upper is not None and is_voting(model):
            raise ValueError(f"{type(model).__name__} takes no interval samples: no X_upper.")
        lower = validate_samples(model, X, reset=False, **{**NUMBERS, "order": "F"})
        codes = None if y is None else encode_labels(model, y, len(lower))[0]
        return cls(lower, check_upper(model, lower, X_upper), codes)

    def __len__(self) -> int:
        return len(self.lower)


@dataclass(frozen=True, eq=False)
class Quality:
    """Coverage and precision of each box, None where there was no data to measure them.

    `held` is the share of the samples that any box with a label holds.
    """

    coverage: np.ndarray | None = None
    precision: np.ndarray | None = None
    held: float | None = None

    @classmethod
    def measure(cls, model: Any, samples: GivenSamples | None) -> Self:
        """Measure what `export_text` promises on the samples."""
        if samples is None:
            return cls()
        boxes, scale = model.hyperboxes_, read_scale(model)
        first, last = scale.transform(samples.upper), scale.transform(samples.lower)
        bounds = zip(scale.transform(boxes.lower), scale.transform(boxes.upper), strict=True)
        held = (rows_between(first, last, low, high) for low, high in bounds)
        return cls._of_rows(boxes.labels, held, samples)

    @classmethod
    def measure_votes(cls, model: Any, samples: GivenSamples | None) -> Self:
        """Measure the same of boxes that vote."""
        if samples is None:
            return cls()
        boxes = model.hyperboxes_
        held = map(np.flatnonzero, boxes.contains(samples.lower).T)
        return cls._of_rows(boxes.labels, held, samples)

    @classmethod
    def _of_rows(
        cls, labels: np.ndarray, held: Iterable[np.ndarray], samples: GivenSamples
    ) -> Self:
        """Measure boxes by the rows that each holds."""
        codes = samples.codes
        coverage, precision = np.empty(len(labels)), np.full(len(labels), np.nan)
        is_held = np.zeros(len(samples), bool)
        for box, rows in enumerate(held):
            coverage[box] = len(rows) / len(samples)
            is_held[rows] |= labels[box] >= 0
            if codes is not None and len(known := codes[rows][codes[rows] >= 0]):
                precision[box] = (known == labels[box]).mean()
        return cls(coverage, None if codes is None else precision, float(is_held.mean()))

    def measured(self) -> dict[str, np.ndarray]:
        """Return what was measured of each box, by name."""
        both = {"coverage": self.coverage, "precision": self.precision}
        return {name: values for name, values in both.items() if values is not None}


def rows_between(
    first: np.ndarray, last: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return the rows with `first <= high` and `last >= low` in every feature; NaN lets pass.

    With lower and upper ends of boxes these are the boxes that share a point with [low, high];
    with upper and lower ends of samples the samples that [low, high] holds.
    """
    rows = np.arange(len(first))
    for j in range(first.shape[1]):
        if not np.isnan(low[j]):
            rows = rows[~((first[rows, j] > high[j]) | (last[rows, j] < low[j]))]
    return rows
