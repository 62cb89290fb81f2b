"""A fitted model as SQL that answers every row, with the class of the nearest box.

The boxes are a table of the query. Each row is compared with all of them, in the units and in the
order of additions of the model, so that doubles give the very numbers of `predict`.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._models.records import NearestBoxes
from hyperboxes._readers.sql_text import double, double_or_null

# Additions in one expression: databases bound how deep one is, and the order must be kept.
_MOST_TERMS = 50
# Names that columns of the user's table hardly have, for they would be taken for them.
PREFIX = "hyperbox_"


def write_nearest_sql(record: NearestBoxes, columns: list[str], classes: list[str]) -> str:
    """Return the expression for the class of the nearest box; NULL is a missing value."""
    rank, label = _names(["rank", "label"]).split(", ")
    single = f"{PREFIX}rank = 1 AND {PREFIX}n = 1"
    oldest = f"MIN(CASE WHEN {single} THEN {PREFIX}box ELSE {len(record.labels)} END)"
    return (
        f"(WITH {_write_boxes(record)}\n"
        f"  SELECT {_choose_class(classes)}\n"
        f"  FROM {_write_ranks(record, columns)} {PREFIX}ranks\n"
        f"  GROUP BY {rank}, {label}\n"
        f"  ORDER BY {rank} DESC, {oldest}, SUM({PREFIX}n) DESC, {label} LIMIT 1)"
    )


def _write_boxes(record: NearestBoxes) -> str:
    """Return the table of the boxes that have a label, in the units of the model."""
    chosen = np.flatnonzero(record.labels >= 0)
    facts = np.column_stack([chosen, record.labels[chosen], record.counts[chosen]])
    numbers = np.hstack([record.lower[chosen], record.upper[chosen]])
    ends = [f"{end}{j}" for end in "vw" for j in range(len(record.gamma))]
    rows = [
        f"({', '.join([*map(str, whole), *map(double_or_null, of_box)])})"
        for whole, of_box in zip(facts.tolist(), numbers.tolist(), strict=True)
    ]
    listed = ",\n    ".join(rows)
    columns = _names(["box", "label", "n", *ends])
    return f"{PREFIX}boxes ({columns}) AS (VALUES\n    {listed})"


def _write_ranks(record: NearestBoxes, columns: list[str]) -> str:
    """Return the query of the rank of each box, the largest for the nearest."""
    gaps = [_write_gap(record, j, column) for j, column in enumerate(columns)]
    facts = _names(["box", "label", "n"])
    source = f"(SELECT {facts}, {', '.join(gaps)} FROM {PREFIX}boxes) {PREFIX}gaps"
    combine = _mean if record.is_mean else _find_largest
    source = combine(len(columns), facts, source)
    distance = f"{PREFIX}distance"
    closeness = f"CASE WHEN {distance} < 1 THEN 1 - {distance} ELSE -{distance} END AS {PREFIX}rank"
    return f"(SELECT {facts}, {closeness} FROM (SELECT {facts}, {source}) {PREFIX}distances)"


def _choose_class(classes: list[str]) -> str:
    """Return the class of a label."""
    choices = " ".join(f"WHEN {code} THEN {name}" for code, name in enumerate(classes))
    return f"CASE {PREFIX}label {choices} END"


def _names(columns: list[str]) -> str:
    """Return columns of the query's own tables."""
    return ", ".join(PREFIX + column for column in columns)


def _write_gap(record: NearestBoxes, j: int, column: str) -> str:
    """Return the weighted gap in a feature; 0 if row or box lack it."""
    low, span, gamma = (
        double(float(values[j])) for values in (record.scale.low, record.scale.span, record.gamma)
    )
    x = f"({column} - {low}) / {span}"
    v, w = f"{PREFIX}v{j}", f"{PREFIX}w{j}"
    return (
        f"CASE WHEN {x} > {w} THEN ({x} - {w}) * {gamma} "
        f"WHEN {x} < {v} THEN ({v} - {x}) * {gamma} ELSE 0.0e0 END AS {PREFIX}g{j}"
    )


def _mean(n_features: int, facts: str, source: str) -> str:
    """Return the mean gap and its source; sums are added up in the order of features."""
    gaps = [f"{PREFIX}g{j}" for j in range(n_features)]
    near_gaps = [f"CASE WHEN {gap} < 1 THEN {gap} ELSE 1.0e0 END" for gap in gaps]
    terms = {"near": near_gaps, "far": gaps}
    source = _add_up(terms, gaps, facts, source)
    near, far, number = f"{PREFIX}near", f"{PREFIX}far", f"{n_features}.0e0"
    beyond = f"CASE WHEN {far} > {number} THEN {far} ELSE {number} END"
    distance = f"CASE WHEN {near} < {number} THEN {near} ELSE {beyond} END / {number}"
    return f"{distance} AS {PREFIX}distance FROM {source}"


def _add_up(terms: dict[str, list[str]], columns: list[str], facts: str, source: str) -> str:
    """Return a query of the sums of terms by name, added up in their order."""
    sums = dict.fromkeys(terms, "0.0e0")
    for start in range(0, len(columns), _MOST_TERMS):
        part = slice(start, start + _MOST_TERMS)
        added = ", ".join(
            f"{' + '.join([sums[name], *terms[name][part]])} AS {PREFIX}{name}" for name in terms
        )
        rest = "".join(f", {column}" for column in columns[part.stop :])
        source = f"(SELECT {facts}, {added}{rest} FROM {source}) {PREFIX}sums{start}"
        sums = {name: f"{PREFIX}{name}" for name in terms}
    return source


def _find_largest(n_features: int, facts: str, source: str) -> str:
    """Return the largest gap and its source: in rounds, the larger of two each."""
    gaps = [f"{PREFIX}g{j}" for j in range(n_features)]
    level = 0
    while len(gaps) > 1:
        level += 1
        pairs = [gaps[k : k + 2] for k in range(0, len(gaps), 2)]
        larger = [
            (
                f"CASE WHEN {pair[0]} > {pair[1]} THEN {pair[0]} ELSE {pair[1]} END"
                if len(pair) > 1
                else pair[0]
            )
            for pair in pairs
        ]
        gaps = [f"{PREFIX}m{level}_{k}" for k in range(len(pairs))]
        named = ", ".join(f"{value} AS {name}" for value, name in zip(larger, gaps, strict=True))
        source = f"(SELECT {facts}, {named} FROM {source}) {PREFIX}level{level}"
    return f"{gaps[0]} AS {PREFIX}distance FROM {source}"
