"""A fitted model as SQL that answers every row, with the class of the nearest box.

The boxes are a table of the query. Each row is compared with all of them, in the units and in the
order of additions of the model, so that doubles give the very numbers of `predict`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hyperboxes._explain.reading import read_membership, read_scale
from hyperboxes._explain.sql_parts import double

# Additions in one expression: databases bound how deep one is, and the order must be kept.
_MOST_TERMS = 50
# Names that columns of the user's table hardly have, for they would be taken for them.
_PREFIX = "hyperbox_"


def write_nearest_sql(model: Any, columns: list[str], classes: list[str]) -> str:
    """Return the expression for boxes that cover samples; a NULL is a missing value."""
    boxes, scale, membership = model.hyperboxes_, read_scale(model), read_membership(model)
    rows = np.flatnonzero(boxes.labels >= 0)
    lower, upper = scale.transform(boxes.lower[rows]), scale.transform(boxes.upper[rows])
    values = [
        f"({box}, {boxes.labels[box]}, {boxes.counts[box]}, {_numbers(low)}, {_numbers(high)})"
        for box, low, high in zip(rows.tolist(), lower, upper, strict=True)
    ]
    features = range(len(columns))
    names = ["box", "label", "n", *(f"v{j}" for j in features), *(f"w{j}" for j in features)]
    gaps = [
        _gap(j, column, scale.low[j], scale.span[j], membership.gamma[j])
        for j, column in enumerate(columns)
    ]
    if membership.ties != "counts":
        gaps += [
            _away(j, column, scale.low[j], scale.span[j], membership.ties)
            for j, column in enumerate(columns)
        ]
    facts = _names(["box", "label", "n"])
    source = f"(SELECT {facts}, {', '.join(gaps)} FROM {_PREFIX}boxes) {_PREFIX}gaps"
    if membership.is_mean:
        source = _mean(len(columns), facts, source, settles=membership.ties != "counts")
    else:
        source = _largest(len(columns), facts, source)
    distances = f"(SELECT {facts}, {source}) {_PREFIX}distances"
    distance, rank = f"{_PREFIX}distance", f"{_PREFIX}rank"
    closeness = f"CASE WHEN {distance} < 1 THEN 1 - {distance} ELSE -{distance} END AS {rank}"
    label = f"{_PREFIX}label"
    choices = " ".join(f"WHEN {code} THEN {name}" for code, name in enumerate(classes))
    listed = ",\n    ".join(values)
    rule = _by_counts(len(boxes)) if membership.ties == "counts" else _by_place()
    return (
        f"(WITH {_PREFIX}boxes ({_names(names)}) AS (VALUES\n    {listed})\n"
        f"  SELECT CASE {label} {choices} END\n"
        f"  FROM (SELECT {facts}, {closeness}{rule.key} FROM {distances}) {_PREFIX}ranks\n"
        f"  GROUP BY {rank}, {label}{rule.groups}\n"
        f"  ORDER BY {rank} DESC, {rule.order}, SUM({_PREFIX}n) DESC, {label} LIMIT 1)"
    )


class _TieRule(NamedTuple):
    """What settles ties: a key to compute, to group by, and what to order by."""

    key: str
    groups: str
    order: str


def _by_counts(n_boxes: int) -> _TieRule:
    """Return the rule of boxes of a single sample, which come before counts."""
    single = f"{_PREFIX}rank = 1 AND {_PREFIX}n = 1"
    return _TieRule("", "", f"MIN(CASE WHEN {single} THEN {_PREFIX}box ELSE {n_boxes} END)")


def _by_place() -> _TieRule:
    """Return the rule of the nearest centre or corners, the oldest of equals; not far away."""
    distance, away, rank = (f"{_PREFIX}{name}" for name in ("distance", "away", "rank"))
    return _TieRule(
        f", CASE WHEN {distance} < 1 THEN {away} ELSE 0.0e0 END AS {_PREFIX}place",
        f", {_PREFIX}place",
        f"{_PREFIX}place, MIN(CASE WHEN {rank} > 0 THEN {_PREFIX}box ELSE 0 END)",
    )


def _names(names: list[str]) -> str:
    return ", ".join(_PREFIX + name for name in names)


def _numbers(values: np.ndarray) -> str:
    return ", ".join(
        "CAST(NULL AS DOUBLE PRECISION)" if value != value else double(value)
        for value in values.tolist()
    )


def _gap(j: int, column: str, low: float, span: float, gamma: float) -> str:
    """Return what a feature adds; nothing if row or box do not know it."""
    x = f"({column} - {double(float(low))}) / {double(float(span))}"
    v, w, slope = f"{_PREFIX}v{j}", f"{_PREFIX}w{j}", double(float(gamma))
    return (
        f"CASE WHEN {x} > {w} THEN ({x} - {w}) * {slope} "
        f"WHEN {x} < {v} THEN ({v} - {x}) * {slope} ELSE 0.0e0 END AS {_PREFIX}g{j}"
    )


def _away(j: int, column: str, low: float, span: float, ties: str) -> str:
    """Return how far a feature is from the centre or the corners of a box."""
    x = f"({column} - {double(float(low))}) / {double(float(span))}"
    v, w = f"{_PREFIX}v{j}", f"{_PREFIX}w{j}"
    away = f"ABS(({v} + {w}) / 2.0e0 - {x})"
    if ties == "corners":
        away = f"ABS({x} - {v}) + ABS({x} - {w})"
    return f"COALESCE({away}, 0.0e0) AS {_PREFIX}a{j}"


def _mean(n_features: int, facts: str, source: str, *, settles: bool) -> str:
    """Return the mean gap and where it comes from; sums are added up in the order of features.

    With `settles`, also what is away from the centre or the corners.
    """
    gaps = [f"{_PREFIX}g{j}" for j in range(n_features)]
    clipped = [f"CASE WHEN {gap} < 1 THEN {gap} ELSE 1.0e0 END" for gap in gaps]
    terms = {"near": clipped, "far": gaps}
    columns = [gaps]
    if settles:
        terms["away"] = [f"{_PREFIX}a{j}" for j in range(n_features)]
        columns.append(terms["away"])
    sums = dict.fromkeys(terms, "0.0e0")
    for start in range(0, n_features, _MOST_TERMS):
        part = slice(start, start + _MOST_TERMS)
        added = ", ".join(
            f"{' + '.join([sums[name], *terms[name][part]])} AS {_PREFIX}{name}" for name in terms
        )
        rest = "".join(f", {column}" for names in columns for column in names[part.stop :])
        source = f"(SELECT {facts}, {added}{rest} FROM {source}) {_PREFIX}sums{start}"
        sums = {name: f"{_PREFIX}{name}" for name in terms}
    near, far, number = sums["near"], sums["far"], f"{n_features}.0e0"
    beyond = f"CASE WHEN {far} > {number} THEN {far} ELSE {number} END"
    distance = f"CASE WHEN {near} < {number} THEN {near} ELSE {beyond} END / {number}"
    away = f"{sums['away']}, " if settles else ""
    return f"{away}{distance} AS {_PREFIX}distance FROM {source}"


def _largest(n_features: int, facts: str, source: str) -> str:
    """Return the largest gap and where it comes from: in rounds, the larger of two each."""
    gaps = [f"{_PREFIX}g{j}" for j in range(n_features)]
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
        gaps = [f"{_PREFIX}m{level}_{k}" for k in range(len(pairs))]
        named = ", ".join(f"{value} AS {name}" for value, name in zip(larger, gaps, strict=True))
        source = f"(SELECT {facts}, {named} FROM {source}) {_PREFIX}level{level}"
    return f"{gaps[0]} AS {_PREFIX}distance FROM {source}"
