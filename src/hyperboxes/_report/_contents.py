"""What a report tells: labels beside predictions, and the samples and boxes that it shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import _safe_indexing

from hyperboxes._estimators.tables import known_categories
from hyperboxes._explain.explaining import explain
from hyperboxes._explain.explanation import Explanation
from hyperboxes._explain.quality import GivenSamples, Quality
from hyperboxes._explain.reading import encode_labels, learned_range
from hyperboxes._explain.rounding import Rounding
from hyperboxes._explain.short_rules import find_short_rules
from hyperboxes._explain.wording import name_classes, name_features
from hyperboxes._models.hyperboxes import Hyperboxes


@dataclass(frozen=True, eq=False, kw_only=True)
class Results:
    """What pages on all kinds of models are made from.

    Labels are codes: indices into `labels`, the model's classes and then labels in `y` that it
    does not know; -1 is no label.
    """

    model: Any
    feature_names: list[str]
    labels: list[str]
    true: np.ndarray
    predicted: np.ndarray
    rows: np.ndarray
    shown_boxes: np.ndarray
    quality: Quality

    @property
    def n_classes(self) -> int:
        """How many classes the model has; further labels it does not know."""
        return len(self.model.classes_)

    def told_samples(self) -> Iterator[dict[str, int]]:
        """Return the rows to show, with their labels and the predictions, as the scripts want."""
        for row, true, predicted in zip(
            self.rows.tolist(),
            self.true[self.rows].tolist(),
            self.predicted[self.rows].tolist(),
            strict=True,
        ):
            yield {"row": row + 1, "true": true, "predicted": predicted}

    def confusion(self) -> np.ndarray:
        """Return how often each label (rows) was taken for each (columns)."""
        matrix = np.zeros((len(self.labels), len(self.labels)), np.int64)
        known = self.true >= 0
        np.add.at(matrix, (self.true[known], self.predicted[known]), 1)
        return matrix


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundedResults(Results):
    """The same for boxes with bounds in all features.

    `ends` is the range of each feature, `needed` the features of each box that are told first.
    """

    boxes: Hyperboxes
    ends: tuple[np.ndarray, np.ndarray]
    needed: list[np.ndarray]
    rounding: Rounding


class Answers(NamedTuple):
    """What a model says of samples: `told` has the fields of `Results` that need nothing else."""

    model: Any
    samples: GivenSamples
    explanations: Any
    told: dict[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Contents(BoundedResults):
    """All that a page on boxes that cover samples is made from."""

    explanations: list[Explanation]

    @classmethod
    def of(cls, answers: Answers, max_rules: int | None) -> Self:
        """Choose what to show of the answers of a model."""
        model, samples, explanations, told = answers
        boxes = model.hyperboxes_
        used = np.union1d(explanations.winning, explanations.competing)
        return cls(
            **told,
            boxes=boxes,
            explanations=list(explanations),
            shown_boxes=choose_boxes(boxes.counts, used[used >= 0], max_rules),
            quality=Quality.measure(model, samples),
            ends=learned_range(model),
            needed=find_short_rules(model, samples, *learned_range(model)),
            rounding=Rounding.of(model, samples.lower, samples.upper),
        )


def list_categories(model: Any, feature: int) -> dict[str, Any]:
    """Return the categories of a feature with their places, in order; nothing if it has none."""
    categories = known_categories(model).get(feature)
    if categories is None:
        return {}
    names = [str(value) for value in categories.values]
    return {"categories": list(zip(names, categories.places.tolist(), strict=True))}


def ask(
    model: Any,
    X: Any,
    y: Any,
    X_upper: Any,
    feature_names: Any,
    class_names: Any,
    max_samples: int | None,
) -> Answers:
    """Compare predictions with labels, choose samples to show, and have them explained."""
    samples = GivenSamples.check(model, X, y, X_upper)
    assert samples is not None
    answers = model.predict(X) if X_upper is None else model.predict(X, X_upper)
    predicted = np.searchsorted(model.classes_, answers)
    true, unknown = compare_labels(model, y, len(predicted))
    rows = choose_samples(true, predicted, max_samples)
    upper = None if X_upper is None else _safe_indexing(X_upper, rows)
    explanations = explain(
        model,
        _safe_indexing(X, rows),
        X_upper=upper,
        feature_names=feature_names,
        class_names=class_names,
    )
    told = {
        "model": model,
        "feature_names": name_features(model, feature_names),
        "labels": name_classes(model, class_names) + [f"{name} (unknown)" for name in unknown],
        "true": true,
        "predicted": predicted,
        "rows": rows,
    }
    return Answers(model, samples, explanations, told)


def compare_labels(model: Any, y: Any, n_samples: int) -> tuple[np.ndarray, list[Any]]:
    """Return labels as codes, and those that the model does not know; there must be one."""
    true, unknown = encode_labels(model, y, n_samples)
    if (true < 0).all():
        raise ValueError("y holds no label: a report compares predictions with labels.")
    return true, unknown


def choose_samples(true: np.ndarray, predicted: np.ndarray, most: int | None) -> np.ndarray:
    """Return rows to show, in order: wrong ones as far as they fit, then others evenly spread."""
    most = len(true) if most is None else most
    is_wrong = (true >= 0) & (true != predicted)
    wrong = _spread(np.flatnonzero(is_wrong), most)
    others = _spread(np.flatnonzero(~is_wrong), most - len(wrong))
    return np.sort(np.concatenate([wrong, others]))


def _spread(rows: np.ndarray, most: int) -> np.ndarray:
    """Return some rows at regular distances, all if they fit."""
    if len(rows) <= most:
        return rows
    return rows[np.arange(most) * len(rows) // max(most, 1)]


def choose_boxes(weights: np.ndarray, needed: np.ndarray, most: int | None) -> np.ndarray:
    """Return boxes to show, in order: those needed, then those with the largest weights."""
    most = len(weights) if most is None else most
    by_weight = np.argsort(-weights, kind="stable")
    others = by_weight[~np.isin(by_weight, needed)]
    return np.sort(np.concatenate([needed, others[: max(most - len(needed), 0)]]))
