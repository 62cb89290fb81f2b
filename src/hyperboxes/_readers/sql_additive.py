"""An additive model as an SQL expression that gives every row its class.

The innermost query finds the boxes that contain the row, the next ones add up their weights for
each class in the order of `predict`, so that every sum is the same to the last bit, and the
outermost compares the sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hyperboxes._models.records import AdditiveBoxes
from hyperboxes._readers.sql_text import (
    CategoryWriter,
    case,
    chain,
    double,
    first_largest,
    indented,
    unused_name,
)

# A sum is as deep an expression as it is long: databases stop at a thousand, and are slow before.
_MOST_IN_A_SUM = 200


def write_additive_sql(
    record: AdditiveBoxes,
    columns: list[str],
    classes: list[str],
    nullable: bool | None,
    categories: CategoryWriter,
) -> str:
    """Return the expression; columns and classes are written as SQL has them."""
    n_boxes = len(record.labels)
    if n_boxes == 0:
        return classes[int(record.intercept.argmax())]
    queries = _Queries(
        record, columns, categories, unused_name("box", columns), unused_name("score", columns)
    )
    inner = queries.containing(nullable is not False)
    scores = {label: double(start) for label, start in enumerate(record.intercept.tolist())}
    for start in range(0, n_boxes, _MOST_IN_A_SUM):
        inner = queries.adding(inner, scores, range(start, min(start + _MOST_IN_A_SUM, n_boxes)))
    *cases, (last, _) = first_largest(scores)
    whens = [f"WHEN {chain(largest, ' AND ')} THEN {classes[label]}" for label, largest in cases]
    answer = case(whens, classes[last]) if whens else classes[last]
    return f"(SELECT {answer} FROM {inner})"


@dataclass(frozen=True)
class _Queries:
    """Writes the queries within the expression, in which `box` and `score` begin names."""

    record: AdditiveBoxes
    columns: list[str]
    categories: CategoryWriter
    box: str
    score: str

    def _box(self, box: int) -> str:
        """Return the column of whether a box contains the row."""
        return f"{self.box}{box}"

    def _score(self, label: int, start: int) -> str:
        """Return the column of a sum up to a box, of which there are several if boxes are many."""
        return f"{self.score}{label}_{start}" if start else f"{self.score}{label}"

    def containing(self, nullable: bool) -> str:
        """Return the query of which boxes contain the row, as 1 and 0."""
        lines = []
        for box in range(len(self.record.labels)):
            contains = chain(list(self._conditions(box, nullable)) or ["1 = 1"], " AND ")
            lines.append(f"  CASE WHEN {contains} THEN 1 ELSE 0 END AS {self._box(box)}")
        return _subquery("SELECT", lines, "", "boxes")

    def _conditions(self, box: int, nullable: bool) -> Iterator[str]:
        """Yield the conditions of a box; NULL satisfies those that include missing values."""
        boxes, columns = self.record, self.columns
        for j in np.flatnonzero(boxes.constrains[box]).tolist():
            low, high = boxes.lower[box, j], boxes.upper[box, j]
            if j in self.categories:
                or_missing = bool(boxes.missing[box, j])
                yield self.categories.is_contained(columns[j], j, low, high, or_missing)
                continue
            ends = []
            if np.isfinite(low):
                ends.append(f"{columns[j]} {_at_least(float(low))}")
            if np.isfinite(high):
                ends.append(f"{columns[j]} <= {double(float(high))}")
            condition = " AND ".join(ends) or f"{columns[j]} IS NOT NULL"
            or_missing = nullable and boxes.missing[box, j]
            yield f"({columns[j]} IS NULL OR {condition})" if or_missing else condition

    def adding(self, inner: str, scores: dict[int, str], boxes: range) -> str:
        """Return the query that adds the weights of some boxes, and name the sums in `scores`."""
        lines = []
        for label, score in scores.items():
            weights = self.record.weights[boxes.start : boxes.stop, label].tolist()
            terms = [
                f"{self._box(box)} * {double(weight)}"
                for box, weight in zip(boxes, weights, strict=True)
                if weight
            ]
            if terms or boxes.start == 0:
                scores[label] = self._score(label, boxes.start)
                lines.append(f"  {' + '.join([score, *terms])} AS {scores[label]}")
        return _subquery("SELECT *,", lines, f" FROM {inner}", "scores") if lines else inner


def _subquery(start: str, lines: list[str], end: str, name: str) -> str:
    body = ",\n".join(lines)
    return indented(f"({start}\n{body}\n{end.lstrip()}) AS {name}")


def _at_least(low: float) -> str:
    """Return a comparison with a lower end, or with the number below if that is shorter."""
    below = float(np.nextafter(low, -np.inf))
    if len(double(below)) < len(double(low)):
        return f"> {double(below)}"
    return f">= {double(low)}"
