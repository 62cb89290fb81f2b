"""Labels in files beside the classes of a model, and how well a model finds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np

from hyperboxes._explain.scores import class_scores, overall_scores


def match_spelling(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return labels as the model spells them, whose classes may be numbers.

    A model trained in Python may have the class 1 or 1.0, and a file may say `1`, `1.0` or `True`.
    """
    if classes.dtype.kind not in "biuf":
        return labels
    names = {float(label): str(label) for label in classes}
    known = {str(label) for label in classes}

    def translate(text: str) -> str:
        if text in known:  # large integers may be the same as floats
            return text
        try:
            number = float({"true": "1", "false": "0"}.get(text.lower(), text))
        except ValueError:
            return text
        return names.get(number, text)

    texts, inverse = np.unique(labels, return_inverse=True)
    return np.array([translate(text) for text in texts.tolist()], dtype=str)[inverse]


def to_classes(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return labels as the model has them; those that it does not know stay texts."""
    known = {str(label): label for label in classes.tolist()}
    found = [known.get(text, text) for text in match_spelling(labels, classes).tolist()]
    return np.array(found, classes.dtype if classes.dtype.kind == "U" else object)


class Confusion:
    """How often each class was taken for each, counted as samples come in."""

    def __init__(self, classes: np.ndarray) -> None:
        self._classes = classes
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, labels: np.ndarray, predicted: np.ndarray) -> None:
        """Count samples, whose labels are texts."""
        known = match_spelling(labels, self._classes)
        self._counts.update(zip(known.tolist(), map(str, predicted.tolist()), strict=True))

    @property
    def n_samples(self) -> int:
        """How many were counted."""
        return self._counts.total()

    def table(self) -> tuple[list[str], np.ndarray]:
        """Return the classes, and the counts with the true class in rows."""
        known = {str(label) for label in self._classes.tolist()}
        names = sorted(known | {true for true, _ in self._counts}, key=_by_number)
        place = {name: i for i, name in enumerate(names)}
        matrix = np.zeros((len(names), len(names)), np.int64)
        for (true, predicted), count in self._counts.items():
            matrix[place[true], place[predicted]] = count
        return names, matrix


@dataclass(frozen=True)
class Scores:
    """What a confusion matrix says; a score that would be 0 / 0 is None.

    `held` is the share of the samples that a box holds, unless boxes vote. In cross-validation
    there is an accuracy of each fold, and `n_boxes` is their mean, rounded.
    """

    n_samples: int
    n_boxes: int
    accuracy: float
    balanced_accuracy: float
    by_class: dict[str, dict[str, Any]]
    matrix: list[list[int]]
    fold_accuracies: list[float] = field(default_factory=list)
    held: float | None = None

    @classmethod
    def of(
        cls,
        confusion: Confusion,
        n_boxes: int,
        fold_accuracies: Sequence[float] = (),
        held: float | None = None,
    ) -> Self:
        """Compute the scores; balanced accuracy is the mean recall of classes that occur."""
        names, matrix = confusion.table()
        accuracy, balanced_accuracy = overall_scores(matrix)
        return cls(
            n_samples=int(matrix.sum()),
            n_boxes=n_boxes,
            accuracy=accuracy,
            balanced_accuracy=balanced_accuracy,
            by_class=dict(zip(names, class_scores(matrix), strict=True)),
            matrix=matrix.tolist(),
            fold_accuracies=list(fold_accuracies),
            held=held,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return them for JSON."""
        values = asdict(self)
        if not self.fold_accuracies:
            del values["fold_accuracies"]
        if self.held is None:
            del values["held"]
        values["confusion_matrix"] = {"classes": list(self.by_class), "rows": values.pop("matrix")}
        return values


def held_by_boxes(model: Any, X: Any) -> list[np.ndarray]:
    """Return which rows a box holds, as a list of one array; of none if boxes do not cover."""
    return [model.membership(X).max(axis=1) == 1] if hasattr(model, "membership") else []


def _by_number(name: str) -> tuple[int, float, str]:
    """Sort numbers by value and before words."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
