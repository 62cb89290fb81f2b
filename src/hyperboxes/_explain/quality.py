"""How good rules are on samples: which share of them a box holds, and how many are of its class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from hyperboxes._estimators.base import NUMBERS
from hyperboxes._estimators.validation import check_upper
from hyperboxes._explain.reading import encode_labels, read_scale


@dataclass(frozen=True, eq=False)
class Quality:
    """Coverage and precision of each box, None where there was no data to measure them."""

    coverage: np.ndarray | None = None
    precision: np.ndarray | None = None

    @classmethod
    def measure(cls, model: Any, X: Any, y: Any, X_upper: Any) -> Self:
        """Measure what `export_text` promises on the samples."""
        if X is None:
            _refuse_without_samples(y, X_upper)
            return cls()
        lower = validate_data(model, X, reset=False, **{**NUMBERS, "order": "F"})
        upper = check_upper(model, lower, X_upper)
        boxes = model.hyperboxes_
        scale = read_scale(model)
        first, last = scale.transform(upper), scale.transform(lower)
        bounds = zip(scale.transform(boxes.lower), scale.transform(boxes.upper), strict=True)
        held = (rows_between(first, last, low, high) for low, high in bounds)
        return cls._of_rows(model, held, len(lower), y)

    @classmethod
    def measure_votes(cls, model: Any, X: Any, y: Any, X_upper: Any) -> Self:
        """Measure the same of boxes that vote, which take no intervals."""
        if X is None:
            _refuse_without_samples(y, X_upper)
            return cls()
        if X_upper is not None:
            raise ValueError(f"{type(model).__name__} takes no interval samples: no X_upper.")
        X = validate_data(model, X, reset=False, **{**NUMBERS, "order": "F"})
        held = map(np.flatnonzero, model.hyperboxes_.contains(X).T)
        return cls._of_rows(model, held, len(X), y)

    @classmethod
    def _of_rows(cls, model: Any, held: Iterable[np.ndarray], n_samples: int, y: Any) -> Self:
        """Measure boxes by the rows that each holds."""
        codes = None if y is None else encode_labels(model, y, n_samples)[0]
        labels = model.hyperboxes_.labels
        coverage, precision = np.empty(len(labels)), np.full(len(labels), np.nan)
        for box, rows in enumerate(held):
            coverage[box] = len(rows) / n_samples
            if codes is not None and len(known := codes[rows][codes[rows] >= 0]):
                precision[box] = (known == labels[box]).mean()
        return cls(coverage, None if codes is None else precision)

    def measured(self) -> dict[str, np.ndarray]:
        """Return what was measured, by name."""
        both = {"coverage": self.coverage, "precision": self.precision}
        return {name: values for name, values in both.items() if values is not None}


def _refuse_without_samples(y: Any, X_upper: Any) -> None:
    if y is not None or X_upper is not None:
        raise ValueError("y and X_upper describe samples: pass X as well.")


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
