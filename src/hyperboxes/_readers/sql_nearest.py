"""A nearest-box model as SQL that gives every row its class.

The boxes are a table of the query. Each row is compared with all of them, in the units and in the
order of additions of the model, so that doubles give the very numbers of `predict`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperboxes._models.records import NearestBoxes
from hyperboxes._readers.sql_text import chain, double, double_or_null, unused_name

# Additions in one expression: databases bound how deep one is, and the order must be kept.
_MOST_TERMS = 50


def write_nearest_sql(record: NearestBoxes, columns: list[str], classes: list[str]) -> str:
    """Return the expression for the class of the nearest box; NULL is a missing value."""
    return _Writer(record, columns, unused_name("hyperbox_", columns)).write(classes)


@dataclass(frozen=True)
class _Writer:
    """Writes the parts of the expression, in which all names begin with a prefix."""

    record: NearestBoxes
    columns: list[str]
    prefix: str

    def write(self, classes: list[str]) -> str:
        """Return the whole expression."""
        p = self.prefix
        choices = " ".join(f"WHEN {code} THEN {name}" for code, name in enumerate(classes))
        settles = f"{p}rank = 1 AND {p}single = 1"
        oldest = f"MIN(CASE WHEN {settles} THEN {p}box ELSE {len(self.record.labels)} END)"
        return (
            f"(WITH {self._boxes()}\n"
            f"  SELECT CASE {p}label {choices} END\n"
            f"  FROM {self._ranks()} {p}ranks\n"
            f"  GROUP BY {p}rank, {p}label\n"
            f"  ORDER BY {p}rank DESC, {oldest}, SUM({p}n) DESC, {p}label LIMIT 1)"
        )

    def _boxes(self) -> str:
        """Return the table of the boxes that have a label, in the units of the model."""
        record, p = self.record, self.prefix
        chosen = np.flatnonzero(record.labels >= 0)
        facts = np.column_stack([chosen, record.labels[chosen], record.counts[chosen]])
        bounds = np.hstack([record.lower[chosen], record.upper[chosen]])
        rows = [
            f"({', '.join([*map(str, of_box), *map(double_or_null, ends)])})"
            for of_box, ends in zip(facts.tolist(), bounds.tolist(), strict=True)
        ]
        ends = [f"{p}{end}{j}" for end in "vw" for j in range(len(self.columns))]
        listed = ",\n    ".join(rows)
        names = [*self._names("box", "label", "n"), *ends]
        return f"{p}boxes ({', '.join(names)}) AS (VALUES\n    {listed})"

    def _names(self, *names: str) -> list[str]:
        return [f"{self.prefix}{name}" for name in names]

    @property
    def _facts(self) -> str:
        return ", ".join(self._names("box", "label", "n", "single"))

    def _single(self) -> str:
        """Return whether a box of a single sample may settle a tie for a row, as 1 or 0."""
        p = self.prefix
        conditions = [
            f"({self.columns[j]} IS NULL) = ({p}v{j} IS NULL)"
            for j in np.flatnonzero(self.record.compared).tolist()
        ]
        is_single = chain([f"{p}n = 1", *conditions], " AND ")
        return f"CASE WHEN {is_single} THEN 1 ELSE 0 END AS {p}single"

    def _ranks(self) -> str:
        """Return the query of the rank of each box, the largest for the nearest."""
        p, facts = self.prefix, self._facts
        gaps = ", ".join(map(self._gap, range(len(self.columns))))
        own = ", ".join([*self._names("box", "label", "n"), self._single()])
        source = f"(SELECT {own}, {gaps} FROM {p}boxes) {p}gaps"
        source = self._mean(source) if self.record.is_mean else self._largest(source)
        distance = f"{p}distance"
        closeness = f"CASE WHEN {distance} < 1 THEN 1 - {distance} ELSE -{distance} END AS {p}rank"
        return f"(SELECT {facts}, {closeness} FROM (SELECT {facts}, {source}) {p}distances)"

    def _gap(self, j: int) -> str:
        """Return the weighted gap in a feature; 0 if row or box lack it."""
        scale, p = self.record.scale, self.prefix
        low, span, gamma = (
            double(float(values[j])) for values in (scale.low, scale.span, self.record.gamma)
        )
        x, v, w = f"({self.columns[j]} - {low}) / {span}", f"{p}v{j}", f"{p}w{j}"
        return (
            f"CASE WHEN {x} > {w} THEN ({x} - {w}) * {gamma} "
            f"WHEN {x} < {v} THEN ({v} - {x}) * {gamma} ELSE 0.0e0 END AS {p}g{j}"
        )

    def _mean(self, source: str) -> str:
        """Return the mean gap and its source; gaps are added up in the order of the features."""
        p, n_features = self.prefix, len(self.columns)
        gaps = [f"{p}g{j}" for j in range(n_features)]
        near_gaps = [f"CASE WHEN {gap} < 1 THEN {gap} ELSE 1.0e0 END" for gap in gaps]
        near, far = "0.0e0", "0.0e0"
        for start in range(0, n_features, _MOST_TERMS):
            end = start + _MOST_TERMS
            near = " + ".join([near, *near_gaps[start:end]])
            far = " + ".join([far, *gaps[start:end]])
            rest = "".join(f", {gap}" for gap in gaps[end:])
            sums = f"{near} AS {p}near, {far} AS {p}far"
            source = f"(SELECT {self._facts}, {sums}{rest} FROM {source}) {p}sums{start}"
            near, far = f"{p}near", f"{p}far"
        number = f"{n_features}.0e0"
        beyond = f"CASE WHEN {far} > {number} THEN {far} ELSE {number} END"
        distance = f"CASE WHEN {near} < {number} THEN {near} ELSE {beyond} END / {number}"
        return f"{distance} AS {p}distance FROM {source}"

    def _largest(self, source: str) -> str:
        """Return the largest gap and its source: in rounds, the larger of two each."""
        p = self.prefix
        gaps = [f"{p}g{j}" for j in range(len(self.columns))]
        level = 0
        while len(gaps) > 1:
            level += 1
            pairs = [gaps[k : k + 2] for k in range(0, len(gaps), 2)]
            gaps = [f"{p}m{level}_{k}" for k in range(len(pairs))]
            named = ", ".join(
                f"{_larger(*pair)} AS {name}" for pair, name in zip(pairs, gaps, strict=True)
            )
            source = f"(SELECT {self._facts}, {named} FROM {source}) {p}level{level}"
        return f"{gaps[0]} AS {p}distance FROM {source}"


def _larger(first: str, second: str = "") -> str:
    """Return the larger of two numbers, or the only one."""
    return f"CASE WHEN {first} > {second} THEN {first} ELSE {second} END" if second else first
