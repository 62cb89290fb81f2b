"""A fitted model as SQL that answers every row, with the class of the nearest box.

The boxes are a table of the query. Each row is compared with all of them, in the units and in the
order of additions of the model, so that doubles give the very numbers of `predict`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hyperboxes._explain.reading import read_learned_bounds, read_membership, read_scale
from hyperboxes._explain.sql_parts import double
from hyperboxes._explain.tallies import read_shares
from hyperboxes._models.scaling import MinMaxScale

# Additions in one expression: databases bound how deep one is, and the order must be kept.
_MOST_TERMS = 50
# Names that columns of the user's table hardly have, for they would be taken for them.
PREFIX = "hyperbox_"


def write_nearest_sql(
    model: Any, columns: list[str], classes: list[str], ranks: str | None = None
) -> str:
    """Return the expression for boxes that cover samples; a NULL is a missing value.

    `ranks` is what gives the rank of each box, None: by their distances.
    """
    boxes, membership = model.hyperboxes_, read_membership(model)
    rank, label = names(["rank", "label"]).split(", ")
    rule = _by_counts(len(boxes)) if membership.ties == "counts" else _by_place()
    if ranks is None:
        ranks = write_ranks(model, columns, rule.key)
    return (
        f"(WITH {write_boxes(model)}\n"
        f"  SELECT {choose_class(classes)}\n"
        f"  FROM {ranks} {PREFIX}ranks\n"
        f"  GROUP BY {rank}, {label}{rule.groups}\n"
        f"  ORDER BY {rank} DESC, {rule.order}, SUM({PREFIX}n) DESC, {label} LIMIT 1)"
    )


def write_boxes(model: Any) -> str:
    """Return the table of the boxes that have a label, in the units of the model."""
    boxes = model.hyperboxes_
    rows = np.flatnonzero(boxes.labels >= 0)
    facts = np.column_stack([rows, boxes.labels[rows], boxes.counts[rows]])
    lower, upper = read_learned_bounds(model)
    shares = read_shares(model, rows)
    return write_table("boxes", ["box", "label", "n"], facts, lower[rows], upper[rows], shares)


def write_table(
    table: str,
    columns: list[str],
    facts: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    shares: np.ndarray | None = None,
) -> str:
    """Return a table of whole numbers, the corners of boxes, and shares of values if any."""
    features = range(lower.shape[1])
    ends = [*(f"v{j}" for j in features), *(f"w{j}" for j in features)]
    numbers = np.hstack([lower, upper] if shares is None else [lower, upper, shares])
    ends += [f"s{k}" for k in range(numbers.shape[1] - len(ends))]
    rows = [
        f"({', '.join(map(str, whole))}, {_numbers(of_box)})"
        for whole, of_box in zip(facts.tolist(), numbers, strict=True)
    ]
    listed = ",\n    ".join(rows)
    return f"{PREFIX}{table} ({names([*columns, *ends])}) AS (VALUES\n    {listed})"


def write_ranks(model: Any, columns: list[str], key: str = "") -> str:
    """Return what gives the rank of each box, the largest for the nearest, and another key."""
    scale, membership = read_scale(model), read_membership(model)
    gaps = [
        write_gap(j, column, scale, float(membership.gamma[j])) for j, column in enumerate(columns)
    ]
    if membership.ties != "counts":
        gaps += [_away(j, column, scale, membership.ties) for j, column in enumerate(columns)]
    facts = names(["box", "label", "n"])
    source = select_gaps(facts, gaps)
    if membership.is_mean:
        source = _mean(len(columns), facts, source, settles=membership.ties != "counts")
    else:
        source = find_largest(list(range(len(columns))), facts, source)
    distance = f"{PREFIX}distance"
    closeness = f"CASE WHEN {distance} < 1 THEN 1 - {distance} ELSE -{distance} END AS {PREFIX}rank"
    return f"(SELECT {facts}, {closeness}{key} FROM (SELECT {facts}, {source}) {PREFIX}distances)"


def select_gaps(facts: str, values: list[str]) -> str:
    """Return what gives the gaps of each box, or other values of it, beside facts."""
    return f"(SELECT {facts}, {', '.join(values)} FROM {PREFIX}boxes) {PREFIX}gaps"


def choose_class(classes: list[str]) -> str:
    """Return what says the class of a label."""
    choices = " ".join(f"WHEN {code} THEN {name}" for code, name in enumerate(classes))
    return f"CASE {PREFIX}label {choices} END"


class _TieRule(NamedTuple):
    """What settles ties: a key to compute, to group by, and what to order by."""

    key: str
    groups: str
    order: str


def _by_counts(n_boxes: int) -> _TieRule:
    """Return the rule of boxes of a single sample, which come before counts."""
    single = f"{PREFIX}rank = 1 AND {PREFIX}n = 1"
    return _TieRule("", "", f"MIN(CASE WHEN {single} THEN {PREFIX}box ELSE {n_boxes} END)")


def _by_place() -> _TieRule:
    """Return the rule of the nearest centre or corners, the oldest of equals; not far away."""
    distance, away, rank = (f"{PREFIX}{name}" for name in ("distance", "away", "rank"))
    return _TieRule(
        f", CASE WHEN {distance} < 1 THEN {away} ELSE 0.0e0 END AS {PREFIX}place",
        f", {PREFIX}place",
        f"{PREFIX}place, MIN(CASE WHEN {rank} > 0 THEN {PREFIX}box ELSE 0 END)",
    )


def names(columns: list[str]) -> str:
    """Return columns of the query's own tables."""
    return ", ".join(PREFIX + column for column in columns)


def _numbers(values: np.ndarray) -> str:
    return ", ".join(
        "CAST(NULL AS DOUBLE PRECISION)" if value != value else double(value)
        for value in values.tolist()
    )


def write_value(j: int, column: str, scale: MinMaxScale) -> str:
    """Return the value of a feature in the units of the model."""
    return f"({column} - {double(float(scale.low[j]))}) / {double(float(scale.span[j]))}"


def write_gap(j: int, column: str, scale: MinMaxScale, gamma: float) -> str:
    """Return what a feature adds; nothing if row or box do not know it."""
    x, v, w = write_value(j, column, scale), f"{PREFIX}v{j}", f"{PREFIX}w{j}"
    slope = double(gamma)
    return (
        f"CASE WHEN {x} > {w} THEN ({x} - {w}) * {slope} "
        f"WHEN {x} < {v} THEN ({v} - {x}) * {slope} ELSE 0.0e0 END AS {PREFIX}g{j}"
    )


def _away(j: int, column: str, scale: MinMaxScale, ties: str) -> str:
    """Return how far a feature is from the centre or the corners of a box."""
    x, v, w = write_value(j, column, scale), f"{PREFIX}v{j}", f"{PREFIX}w{j}"
    away = f"ABS(({v} + {w}) / 2.0e0 - {x})"
    if ties == "corners":
        away = f"ABS({x} - {v}) + ABS({x} - {w})"
    return f"COALESCE({away}, 0.0e0) AS {PREFIX}a{j}"


def _mean(n_features: int, facts: str, source: str, *, settles: bool) -> str:
    """Return the mean gap and where it comes from; sums are added up in the order of features.

    With `settles`, also what is away from the centre or the corners.
    """
    gaps = [f"{PREFIX}g{j}" for j in range(n_features)]
    terms = {"near": [f"CASE WHEN {gap} < 1 THEN {gap} ELSE 1.0e0 END" for gap in gaps]}
    terms["far"] = gaps
    columns = [gaps]
    if settles:
        terms["away"] = [f"{PREFIX}a{j}" for j in range(n_features)]
        columns.append(terms["away"])
    source = add_up(terms, columns, facts, source)
    near, far, number = f"{PREFIX}near", f"{PREFIX}far", f"{n_features}.0e0"
    beyond = f"CASE WHEN {far} > {number} THEN {far} ELSE {number} END"
    distance = f"CASE WHEN {near} < {number} THEN {near} ELSE {beyond} END / {number}"
    away = f"{PREFIX}away, " if settles else ""
    return f"{away}{distance} AS {PREFIX}distance FROM {source}"


def add_up(terms: dict[str, list[str]], columns: list[list[str]], facts: str, source: str) -> str:
    """Return what has the sums of terms by name, added up in their order; they use the columns."""
    sums = dict.fromkeys(terms, "0.0e0")
    for start in range(0, len(columns[0]), _MOST_TERMS):
        part = slice(start, start + _MOST_TERMS)
        added = ", ".join(
            f"{' + '.join([sums[name], *terms[name][part]])} AS {PREFIX}{name}" for name in terms
        )
        rest = "".join(f", {column}" for of_term in columns for column in of_term[part.stop :])
        source = f"(SELECT {facts}, {added}{rest} FROM {source}) {PREFIX}sums{start}"
        sums = {name: f"{PREFIX}{name}" for name in terms}
    return source


def find_largest(features: list[int], facts: str, source: str) -> str:
    """Return the largest gap and where it comes from: in rounds, the larger of two each."""
    gaps = [f"{PREFIX}g{j}" for j in features]
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
