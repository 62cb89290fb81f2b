"""Models whose boxes of two classes may overlap, as SQL that settles it as `predict` does.

As in `nearest_sql.py`, in the units and in the order of additions of the model. Square roots are
rounded alike everywhere; powers of e are not, so data cores cannot be written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperboxes._explain.nearest_sql import (
    PREFIX,
    add_up,
    choose_class,
    names,
    write_boxes,
    write_gap,
    write_nearest_sql,
    write_ranks,
    write_table,
    write_value,
)
from hyperboxes._explain.reading import read_learned_bounds, read_levels, read_scale
from hyperboxes._models.contention import Levels


def write_settled_sql(model: Any, columns: list[str], classes: list[str]) -> str:
    """Return the expression for a model in which not the nearest box alone decides."""
    levels = read_levels(model)
    if levels is not None:
        return _write_levels(model, levels, columns, classes)
    neurons = _list_neurons(model)
    if len(neurons) == 0:  # nothing overlaps
        return write_nearest_sql(model, columns, classes)
    return _write_compensation(model, columns, classes, neurons)


def _list_neurons(model: Any) -> np.ndarray:
    """Return from which box something is taken where another holds a row, too; and whether all.

    All is taken from a box that contains the other on all sides, and nothing from that one.
    """
    lower, upper = read_learned_bounds(model)
    pairs = model.regions_.boxes
    box, other = np.concatenate([pairs, pairs[:, ::-1]]).T

    def contains(outer: np.ndarray, inner: np.ndarray) -> np.ndarray:
        is_larger = (lower[outer] < lower[inner]) & (upper[inner] < upper[outer])
        return is_larger.all(axis=1)

    takes_all = contains(box, other)
    neurons = np.column_stack([box, other, takes_all])
    return neurons[~contains(other, box)]


def _write_compensation(
    model: Any, columns: list[str], classes: list[str], neurons: np.ndarray
) -> str:
    """Take from classes that hold a row together what their neurons say."""
    box, label, n, rank, near = names(["box", "label", "n", "rank", "near"]).split(", ")
    listed = ",\n    ".join(f"({first}, {second}, {takes})" for first, second, takes in neurons)
    taken = f"CASE WHEN MAX(p.{PREFIX}takes) = 1 THEN 1.0e0 ELSE 1.0e0 - f.{near} END"
    best, votes, single = names(["best", "votes", "single"]).split(", ")
    loss = f"{PREFIX}loss"
    left = f"CASE WHEN {loss} < 1 THEN 1 - {loss} ELSE -{loss} END"
    score = f"CASE WHEN {loss} > 0 THEN {left} ELSE {best} END"
    lone = f"CASE WHEN {rank} = 1 AND {n} = 1 THEN {box} END"
    none = len(model.hyperboxes_)
    return (
        f"(WITH {write_boxes(model)},\n"
        f"  {PREFIX}neurons ({names(['box', 'other', 'takes'])}) AS (VALUES\n    {listed}),\n"
        f"  {PREFIX}ranks AS {write_ranks(model, columns)},\n"
        f"  {PREFIX}faces AS {_write_faces(model, columns)},\n"
        f"  {PREFIX}taken AS (SELECT r.{label}, {taken} AS {PREFIX}taken\n"
        f"    FROM {PREFIX}neurons p JOIN {PREFIX}ranks r ON p.{box} = r.{box}\n"
        f"    JOIN {PREFIX}ranks o ON p.{PREFIX}other = o.{box}\n"
        f"    JOIN {PREFIX}faces f ON p.{box} = f.{box}\n"
        f"    WHERE r.{rank} = 1 AND o.{rank} = 1 GROUP BY r.{box}, r.{label}, f.{near}),\n"
        f"  {PREFIX}losses AS (SELECT {label}, MAX({PREFIX}taken) AS {loss}\n"
        f"    FROM {PREFIX}taken GROUP BY {label}),\n"
        f"  {PREFIX}tops AS (SELECT {label}, MAX({rank}) AS {best}\n"
        f"    FROM {PREFIX}ranks GROUP BY {label}),\n"
        f"  {PREFIX}classes AS (SELECT r.{label} AS {label}, b.{best} AS {best},\n"
        f"    SUM({n}) AS {votes}, COALESCE(MIN({lone}), {none}) AS {single}\n"
        f"    FROM {PREFIX}ranks r JOIN {PREFIX}tops b\n"
        f"    ON r.{label} = b.{label} AND r.{rank} = b.{best} GROUP BY r.{label}, b.{best}),\n"
        f"  {PREFIX}scores AS (SELECT c.{label} AS {label}, {votes}, {single},\n"
        f"    {score} AS {PREFIX}score FROM {PREFIX}classes c\n"
        f"    LEFT JOIN {PREFIX}losses l ON c.{label} = l.{label})\n"
        f"  SELECT {choose_class(classes)} FROM {PREFIX}scores\n"
        f"  ORDER BY {PREFIX}score DESC,\n"
        f"    CASE WHEN {PREFIX}score = 1 THEN {single} ELSE {none} END,\n"
        f"    {votes} DESC, {label} LIMIT 1)"
    )


def _write_faces(model: Any, columns: list[str]) -> str:
    """Return how near a row is to a face of each box, up to 1: the mean of ratios."""
    scale, box = read_scale(model), f"{PREFIX}box"
    ratios = [_write_ratio(j, write_value(j, name, scale)) for j, name in enumerate(columns)]
    source = f"(SELECT {box}, {', '.join(ratios)} FROM {PREFIX}boxes) {PREFIX}ratios"
    terms = [f"{PREFIX}f{j}" for j in range(len(columns))]
    source = add_up({"sum": terms}, [terms], box, source)
    mean = f"{PREFIX}sum / {len(columns)}.0e0"
    near = f"CASE WHEN {mean} < 1 THEN {mean} ELSE 1.0e0 END AS {PREFIX}near"
    return f"(SELECT {box}, {near} FROM {source})"


def _write_ratio(j: int, x: str) -> str:
    v, w = f"{PREFIX}v{j}", f"{PREFIX}w{j}"
    to_upper = f"CASE WHEN {w} <> 0 THEN {x} / {w} ELSE 1.0e0 END"
    to_lower = f"CASE WHEN {x} <> 0 THEN {v} / ({x}) ELSE 1.0e0 END"
    larger = f"CASE WHEN {to_upper} > {to_lower} THEN {to_upper} ELSE {to_lower} END"
    return f"CASE WHEN {v} IS NULL OR {x} IS NULL THEN 1.0e0 ELSE {larger} END AS {PREFIX}f{j}"


def _write_levels(model: Any, levels: Levels, columns: list[str], classes: list[str]) -> str:
    """Let the network of the deepest region that holds a row decide alone, the oldest of equals."""
    tables = [_write_all_boxes(model, levels)]
    if len(levels):
        numbers = np.arange(len(levels))[:, None]
        tables.append(write_table("regions", ["network"], numbers, levels.lower, levels.upper))
    network = _find_network(model, levels, columns)
    facts, scale = names(["box", "label"]), read_scale(model)
    gaps = ", ".join(write_gap(j, column, scale, 1.0) for j, column in enumerate(columns))
    asked = f"{PREFIX}boxes WHERE {PREFIX}network = {network}"
    source = f"(SELECT {facts}, {gaps} FROM {asked}) {PREFIX}gaps"
    of_features = [f"{PREFIX}g{j}" for j in range(len(columns))]
    squares = [f"{gap} * {gap}" for gap in of_features]
    source = add_up({"sum": squares}, [of_features], facts, source)
    distance, square = f"{PREFIX}distance", f"{PREFIX}square"
    root = f"SQRT({PREFIX}sum / {len(columns)}.0e0) AS {distance}"
    source = f"(SELECT {facts}, {root} FROM {source}) {PREFIX}distances"
    near = f"(1 - {distance}) * (1 - {distance}) AS {square}"
    source = f"(SELECT {facts}, {distance}, {near} FROM {source}) {PREFIX}squares"
    rank = f"CASE WHEN {distance} < 1 THEN {square} * {square} * {square} ELSE -{distance} END"
    listed = ",\n  ".join(tables)
    return (
        f"(WITH {listed}\n"
        f"  SELECT {choose_class(classes)} FROM {source}\n"
        f"  ORDER BY {rank} DESC, {PREFIX}box LIMIT 1)"
    )


def _write_all_boxes(model: Any, levels: Levels) -> str:
    """Return the boxes of all networks, those of the root, the last one, first."""
    boxes, (lower, upper) = model.hyperboxes_, read_learned_bounds(model)
    rows = np.flatnonzero(boxes.labels >= 0)
    root = np.column_stack([np.full(len(rows), len(levels)), rows, boxes.labels[rows]])
    networks = np.repeat(np.arange(len(levels)), np.diff(levels.starts))
    places = len(boxes) + np.arange(len(networks))
    facts = np.concatenate([root, np.column_stack([networks, places, levels.box_labels])])
    lower = np.concatenate([lower[rows], levels.box_lower])
    upper = np.concatenate([upper[rows], levels.box_upper])
    return write_table("boxes", ["network", "box", "label"], facts, lower, upper)


def _find_network(model: Any, levels: Levels, columns: list[str]) -> str:
    """Return what gives the first network whose region holds a row; else the root."""
    if len(levels) == 0:
        return "0"
    scale = read_scale(model)
    values = [write_value(j, column, scale) for j, column in enumerate(columns)]
    outside = " OR ".join(f"{x} > {PREFIX}w{j} OR {x} < {PREFIX}v{j}" for j, x in enumerate(values))
    return (
        f"(SELECT COALESCE(MIN({PREFIX}network), {len(levels)}) FROM {PREFIX}regions\n"
        f"    WHERE CASE WHEN {outside} THEN 0 ELSE 1 END = 1)"
    )
