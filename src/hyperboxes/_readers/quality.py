"""How good rules are on samples: coverage, precision, the conditions that matter, confusion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hyperboxes._estimators.validation import NUMBERS, check_upper, validate_samples
from hyperboxes._readers.fitted import encode_labels, is_voting, read_scale


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
        is_contained = np.zeros(len(samples), bool)
        for box, rows in enumerate(held):
            coverage[box] = len(rows) / len(samples)
            is_contained[rows] |= labels[box] >= 0
            if codes is not None and len(known := codes[rows][codes[rows] >= 0]):
                precision[box] = (known == labels[box]).mean()
        return cls(coverage, None if codes is None else precision, float(is_contained.mean()))

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


# They are found greedily on samples with labels. The other conditions are those of the box all the
# same, but on these samples they tell it from no other class.


def find_short_rules(
    model: Any, samples: GivenSamples, smallest: np.ndarray, largest: np.ndarray
) -> list[np.ndarray]:
    """Return for each box the features whose conditions are needed, those that do most first.

    They keep out all samples of other classes that all conditions keep out, where bounds at the
    ends of a range are none. Each time the feature is taken that keeps out most of those that are
    left; in the end features are dropped that others have made superfluous. A box without a label
    has rivals of all classes.
    """
    assert samples.codes is not None
    boxes, scale = model.hyperboxes_, read_scale(model)
    first, last = scale.transform(samples.upper), scale.transform(samples.lower)
    low = np.where(boxes.lower <= smallest, -np.inf, scale.transform(boxes.lower))
    high = np.where(boxes.upper >= largest, np.inf, scale.transform(boxes.upper))
    return [
        _find_needed(first[rivals], last[rivals], low[box], high[box])
        for box, label in enumerate(boxes.labels)
        for rivals in [(samples.codes >= 0) & (samples.codes != label)]
    ]


def _find_needed(
    first: np.ndarray, last: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return the features that keep samples out of [low, high]; NaN keeps nothing out."""
    is_out = (first > high) | (last < low)
    is_out = is_out[is_out.any(axis=1)]
    needed: list[int] = []
    left = is_out
    while len(left):
        feature = int(left.sum(axis=0).argmax())
        needed.append(feature)
        left = left[~left[:, feature]]
    for feature in needed[::-1]:
        others = [other for other in needed if other != feature]
        if is_out[:, others].any(axis=1).all():
            needed = others
    return np.array(needed, int)


def overall_scores(matrix: np.ndarray) -> tuple[float, float]:
    """Return accuracy and balanced accuracy, the mean recall of the classes that occur."""
    right, support = np.diag(matrix), matrix.sum(axis=1)
    occurs = support > 0
    return float(right.sum() / matrix.sum()), float((right[occurs] / support[occurs]).mean())


def class_scores(matrix: np.ndarray) -> list[dict[str, Any]]:
    """Return precision, recall, F1 and support of each class; the true class is in rows."""
    right, support, predicted = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    return [
        {
            "precision": _ratio(right[i], predicted[i]),
            "recall": _ratio(right[i], support[i]),
            "f1": _ratio(2 * right[i], support[i] + predicted[i]),
            "support": int(support[i]),
        }
        for i in range(len(matrix))
    ]


def _ratio(part: Any, whole: Any) -> float | None:
    return float(part / whole) if whole else None
