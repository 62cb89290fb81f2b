"""An additive model as an SQL expression that gives every row its class.

The innermost query finds the boxes that contain the row, the next ones add up their weights for
each class in the order of `predict`, so that every sum is the same to the last bit, and move the
sums of rows with NULL. The outermost compares them.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

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
# Beyond it, databases raise errors.
_MOST_EXPONENT = 700.0


def write_additive_sql(
    record: AdditiveBoxes,
    columns: list[str],
    classes: list[str],
    nullable: bool | None,
    categories: CategoryWriter,
    label: int | None = None,
) -> str:
    """Return the expression of the class, or of the probability of the class `label`.

    Columns and classes are written as SQL has them.
    """
    n_boxes = len(record.labels)
    if n_boxes == 0:
        winner, probabilities = record.intercept.argmax(), softmax(record.intercept)
        return classes[winner] if label is None else double(float(probabilities[label]))
    names = [unused_name(name, columns) for name in ("box", "score", "unknown")]
    queries = _Queries(record, columns, categories, *names)
    nullable = nullable is not False or bool(categories.categories)
    inner = queries.counting(nullable)
    scores = {label: double(start) for label, start in enumerate(record.intercept.tolist())}
    for start in range(0, n_boxes, _MOST_IN_A_SUM):
        inner = queries.adding(inner, scores, range(start, min(start + _MOST_IN_A_SUM, n_boxes)))
    if nullable:
        inner = queries.moving(inner, scores)
    if label is not None:
        return f"(SELECT {_write_probability(record, scores, label)} FROM {inner})"
    *cases, (last, _) = first_largest(scores)
    whens = [f"WHEN {chain(largest, ' AND ')} THEN {classes[label]}" for label, largest in cases]
    answer = case(whens, classes[last]) if whens else classes[last]
    return f"(SELECT {answer} FROM {inner})"


def _write_probability(record: AdditiveBoxes, scores: dict[int, str], label: int) -> str:
    """Return the softmax of a score, whose exponents are limited where they may be out of range."""
    largest = np.abs(record.intercept) + np.abs(record.weights).sum(axis=0)
    is_safe = 2.0 * np.maximum(largest, np.abs(record.missing_scores)).max() < _MOST_EXPONENT
    shift = np.broadcast_to(record.shift, record.intercept.shape).tolist()
    terms = ["1.0e0"]
    for other in sorted(scores.keys() - {label}):
        exponent, most = f"{scores[other]} - {scores[label]}", double(_MOST_EXPONENT)
        if shift[other] != shift[label]:
            exponent += f" - ({double(shift[other] - shift[label])})"
        if not is_safe:
            ends = f"WHEN {exponent} > {most} THEN {most} WHEN {exponent} < -{most} THEN -{most}"
            exponent = f"CASE {ends} ELSE {exponent} END"
        terms.append(f"EXP({exponent})")
    return f"1.0e0 / ({chain(terms, ' + ')})"


@dataclass(frozen=True)
class _Queries:
    """Writes the queries within the expression, in which `box` and `score` begin names."""

    record: AdditiveBoxes
    columns: list[str]
    categories: CategoryWriter
    box: str
    score: str
    unknown: str

    def _box(self, box: int) -> str:
        """Return the column of which part of its weights a box adds."""
        return f"{self.box}{box}"

    def _score(self, label: int, start: int) -> str:
        """Return the column of a sum up to a box, of which there are several if boxes are many."""
        return f"{self.score}{label}_{start}" if start else f"{self.score}{label}"

    def counting(self, nullable: bool) -> str:
        """Return the query of which part of its weights each box adds: 1, 0 or less than 1."""
        lines = []
        for box in range(len(self.record.labels)):
            plain, counted = self._conditions(box, nullable)
            if plain:
                counted.insert(0, f"CASE WHEN {chain(plain, ' AND ')} THEN 1 ELSE 0 END")
            counted[:1] = map(_as_double, counted[:1])
            lines.append(f"  {' * '.join(counted) or '1'} AS {self._box(box)}")
        if nullable:
            used = self.record.used.tolist()
            unknown = [f"CASE WHEN {self._is_missing(j)} THEN 1 ELSE 0 END" for j in used]
            n_unknown = _as_double(chain(unknown, " + "))
            lines.append(f"  {n_unknown} / {double(len(used))} AS {self.unknown}")
        return self._subquery("SELECT", lines, "", "boxes")

    def _subquery(self, start: str, lines: list[str], source: str, name: str) -> str:
        # A limit keeps databases from writing out each column again wherever it is used.
        limit = "" if self.categories.quote == "[" else "LIMIT 1"
        end = " ".join(filter(None, [source, limit]))
        body = ",\n".join(lines)
        return indented(f"({start}\n{body}\n{end}) AS {name}")

    def _is_missing(self, feature: int) -> str:
        column = self.columns[feature]
        if feature not in self.categories:
            return f"{column} IS NULL"
        return f"({column} IS NULL OR NOT {self.categories.is_known(column, feature)})"

    def _conditions(self, box: int, nullable: bool) -> tuple[list[str], list[str]]:
        """Return the conditions of a box, and those that NULL meets, in part, as a number each."""
        boxes, columns = self.record, self.columns
        plain, counted = [], []
        for j in np.flatnonzero(boxes.constrains[box]).tolist():
            low, high = float(boxes.lower[box, j]), float(boxes.upper[box, j])
            ends = []
            if j in self.categories:
                ends = [self.categories.is_contained(columns[j], j, low, high, False)]
            else:
                if np.isfinite(low):
                    ends.append(f"{columns[j]} {_at_least(low)}")
                if np.isfinite(high):
                    ends.append(f"{columns[j]} <= {double(high)}")
            condition = " AND ".join(ends) or f"{columns[j]} IS NOT NULL"
            share = float(boxes.missing_shares[box, j])
            if nullable and share > 0.0:
                otherwise = f"WHEN {self._is_missing(j)} THEN {double(share)} ELSE 0 END"
                counted.append(f"CASE WHEN {condition} THEN 1 {otherwise}")
            else:
                plain.append(condition)
        return plain, counted

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
                total = " + ".join([score, *terms]) if terms else _as_double(score)
                lines.append(f"  {total} AS {scores[label]}")
        return self._subquery("SELECT *,", lines, f"FROM {inner}", "scores") if lines else inner

    def moving(self, inner: str, scores: dict[int, str]) -> str:
        """Return the query that moves sums, the more is NULL, and name the results in `scores`."""
        weight = f"({self.unknown} * {self.unknown}) * ({self.unknown} * {self.unknown})"
        lines = []
        for label, goal in enumerate(self.record.missing_scores.tolist()):
            score, scores[label] = scores[label], f"{self.score}{label}_moved"
            lines.append(f"  {score} + {weight} * ({double(goal)} - {score}) AS {scores[label]}")
        return self._subquery("SELECT *,", lines, f"FROM {inner}", "moved")


def _as_double(number: str) -> str:
    """Return a number in double precision, which literals are not in PostgreSQL."""
    return f"CAST({number} AS DOUBLE PRECISION)"


def _at_least(low: float) -> str:
    """Return a comparison with a lower end, or with the number below if that is shorter."""
    below = float(np.nextafter(low, -np.inf))
    if len(double(below)) < len(double(low)):
        return f"> {double(below)}"
    return f">= {double(low)}"
