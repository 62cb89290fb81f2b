"""Additive models as ONNX graphs, whose long lists of boxes are cut into chunks."""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperboxes._models.hyperboxes import WeightedHyperboxes

# A chunk is so short that its pairs of samples and boxes stay in the processor's cache.

# So many numbers are held for rows and boxes at a time: they stay in the cache, and what loops cost
# besides is small.
_PAIRS = 100_000

# Chunks are of equal length, so rows of zeros fill up the last ones, and are cut off at the end. A
# batch without rows is filled up to one.
_CHUNKS = """batch_shape = Shape ({rows})
    n_given = Slice (batch_shape, start, next)
    n_least = Max (n_given, next)
    n_reached = Add (n_least, last_of_most)
    n_chunks = Div (n_reached, most_rows)
    n_shared = Add (n_least, n_chunks)
    n_rounded = Add (n_shared, last)
    chunk_length = Div (n_rounded, n_chunks)
    n_together = Mul (n_chunks, chunk_length)
    n_filled = Sub (n_together, n_given)
    filling = Concat <axis = 0> (start, start, n_filled, start)
    filled = Pad ({rows}, filling)
    chunks_shape = Concat <axis = 0> (n_chunks, chunk_length, row_length)
    chunks = Reshape (filled, chunks_shape)
    {scanned} = Scan <num_scan_inputs = 1, body = answer (
        double[n_rows, {n_columns}] chunk
    ) => ({answers}) {{
    {body}
    }}> (chunks)
    {joined}"""
_JOINED = """{name}_of_filled = Reshape ({name}_of_chunks, {name}_shape)
    {name} = Slice ({name}_of_filled, start, n_given)"""


def write_chunks(rows: str, n_columns: int, body: str, answers: dict[str, str]) -> str:
    """Return the part of a graph that answers for all rows what a body does for those of `chunk`.

    The body makes `chunk_NAME` for each name of the answers, of a type like ``double[n_rows, 3]``.
    """
    return _CHUNKS.format(
        rows=rows,
        n_columns=n_columns,
        body=body,
        answers=", ".join(f"{kind} chunk_{name}" for name, kind in answers.items()),
        scanned=", ".join(f"{name}_of_chunks" for name in answers),
        joined="\n    ".join(_JOINED.format(name=name) for name in answers),
    )


def list_lengths(n_columns: int, n_boxes: int, **shapes: list[int]) -> dict[str, np.ndarray]:
    """Return what the part refers to by name; shapes are those of a row of each answer."""
    most_rows = max(_PAIRS // n_boxes, 1)
    return {
        "start": np.array([0]),
        "next": np.array([1]),
        "last": np.array([-1]),
        "most_rows": np.array([most_rows]),
        "last_of_most": np.array([most_rows - 1]),
        "row_length": np.array([n_columns]),
        **{f"{name}_shape": np.array([-1, *shape]) for name, shape in shapes.items()},
    }


# Votes are added in the order of the kernel, so that scores are the same bit for bit.

_GRAPH = """
hyperboxes (double[n_samples, {n_features}] X)
=> ({label_type}[n_samples] label, double[n_samples, {n_classes}] probability,
    double[{score_shape}] score)
{{
    {chunks}
    winner = ArgMax <axis = 1, keepdims = 0> (scores)
    label = Gather (labels, winner)
    probability = Softmax <axis = 1> (scores)
    {score}
}}
"""

# A loop over the conditions, the first of each box, the second and so on, finds the boxes that hold
# a sample; comparisons are false for NaN. The others vote -0.0, which changes no sum. `CumSum` adds
# in order, which `ReduceSum` need not do, and in a single step, which a loop over boxes does not.
_BODY = """columns = Transpose <perm = [1, 0]> (chunk)
    chunk_shape = Shape (chunk)
    n_rows = Slice (chunk_shape, start, next)
    pairs = Concat <axis = 0> (n_boxes, n_rows)
    all = ConstantOfShape <value = bool[1] {{1}}> (pairs)
    held = Scan <num_scan_inputs = 4, body = meet (
        bool[{n_boxes}, n_rows] old_held, int64[{n_boxes}] feature,
        double[{n_boxes}, 1] low, double[{n_boxes}, 1] high, bool[{n_boxes}, 1] missing
    ) => (bool[{n_boxes}, n_rows] new_held) {{
        x = Gather <axis = 0> (columns, feature)
        is_above = GreaterOrEqual (x, low)
        is_below = LessOrEqual (x, high)
        is_inside = And (is_above, is_below)
        is_missing = IsNaN (x)
        may_be_missing = And (is_missing, missing)
        is_met = Or (is_inside, may_be_missing)
        new_held = And (old_held, is_met)
    }}> (all, features, lower, upper, missings)

    is_voter = Unsqueeze (held, next)
    votes = Where (is_voter, weights, no_vote)
    cells = Concat <axis = 0> (next, n_classes, n_rows)
    intercepts = Expand (intercept, cells)
    summands = Concat <axis = 0> (intercepts, votes)
    sums = CumSum (summands, by_box)
    last_sums = Gather <axis = 0> (sums, last_box)
    chunk_scores = Transpose <perm = [1, 0]> (last_sums)"""

# What `decision_function` gives.
_SCORE = "score = Identity (scores)"
_SCORE_OF_TWO = """of_first = Gather <axis = 1> (scores, first)
    of_second = Gather <axis = 1> (scores, second)
    score = Sub (of_second, of_first)"""


def write_graph(model: Any, label_type: str) -> str:
    """Return the graph of a fitted model in ONNX's own notation."""
    n_features, n_classes = model.n_features_in_, len(model.classes_)
    body = _BODY.format(n_boxes=max(len(model.hyperboxes_), 1))
    answers = {"scores": f"double[n_rows, {n_classes}]"}
    return _GRAPH.format(
        label_type=label_type,
        n_features=n_features,
        n_classes=n_classes,
        chunks=write_chunks("X", n_features, body, answers),
        score_shape="n_samples" if n_classes == 2 else f"n_samples, {n_classes}",
        score=_SCORE_OF_TWO if n_classes == 2 else _SCORE,
    )


def list_constants(model: Any) -> dict[str, np.ndarray]:
    """Return all that the graph refers to by name, but for the labels."""
    boxes, n_classes = model.hyperboxes_, len(model.classes_)
    weights = boxes.weights if len(boxes) else np.zeros((1, n_classes))
    n_boxes = len(weights)
    # Rows of few classes take as much room as their conditions, of many as their votes.
    n_numbers = n_boxes * max(n_classes // 10, 1)
    constants = {
        **list_lengths(model.n_features_in_, n_numbers, scores=[n_classes]),
        **_conditions(boxes),
        "weights": weights[:, :, None].copy(),
        "intercept": model.intercept_[None, :, None].copy(),
        "no_vote": np.array(-0.0),
        "n_boxes": np.array([n_boxes]),
        "n_classes": np.array([n_classes]),
        "by_box": np.array(0),
        "last_box": np.array(n_boxes),
    }
    if n_classes == 2:
        constants |= {"first": np.array(0), "second": np.array(1)}
    return constants


def _conditions(boxes: WeightedHyperboxes) -> dict[str, np.ndarray]:
    """Return the conditions, a row for the first of each box, one for the second, and so on.

    Boxes with fewer have some that everything meets; so has the box of a model without any.
    """
    constrains = boxes.constrains
    most = int(constrains.sum(axis=1).max(initial=1))
    shape = most, max(len(boxes), 1)
    features = np.zeros(shape, np.int64)
    lower, upper = np.full(shape, -np.inf), np.full(shape, np.inf)
    missings = np.ones(shape, bool)
    of_box, feature = np.nonzero(constrains)
    place = np.arange(len(of_box)) - np.searchsorted(of_box, of_box)
    features[place, of_box] = feature
    lower[place, of_box] = boxes.lower[of_box, feature]
    upper[place, of_box] = boxes.upper[of_box, feature]
    missings[place, of_box] = boxes.missing[of_box, feature]
    bounds = {"lower": lower, "upper": upper, "missings": missings}
    return {"features": features, **{name: array[:, :, None] for name, array in bounds.items()}}
