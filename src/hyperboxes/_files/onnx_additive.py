"""Additive models as ONNX graphs, whose long lists of boxes are cut into chunks."""

from typing import NamedTuple

import numpy as np

from hyperboxes._models.records import AdditiveBoxes

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
    """Return the part of a graph that applies a body to all rows, one `chunk` after the other.

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
    """Return the constants of that part; shapes are those of a row of each answer."""
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


class GraphParts(NamedTuple):
    """What differs between the graphs of models.

    The nodes find the `winner`, and further ones the `outputs` besides the label. Constants may be
    referred to by name.
    """

    outputs: str
    nodes: str
    constants: dict[str, np.ndarray]
    more_nodes: str = ""


# Weights are added in the order of the kernel, so that scores are the same bit for bit.

# A loop over the conditions, the first of each box, the second and so on, finds which part of their
# weights boxes add: 1, 0 or, where values are missing, less. Comparisons are false for NaN.
# `CumSum` adds in order, which `ReduceSum` need not do, and in a single step, unlike a loop.
_BODY = """columns = Transpose <perm = [1, 0]> (chunk)
    chunk_shape = Shape (chunk)
    n_rows = Slice (chunk_shape, start, next)
    pairs = Concat <axis = 0> (n_boxes, n_rows)
    all = ConstantOfShape <value = double[1] {{1.0}}> (pairs)
    part = Scan <num_scan_inputs = 4, body = meet (
        double[{n_boxes}, n_rows] old_part, int64[{n_boxes}] feature,
        double[{n_boxes}, 1] low, double[{n_boxes}, 1] high, double[{n_boxes}, 1] share
    ) => (double[{n_boxes}, n_rows] new_part) {{
        x = Gather <axis = 0> (columns, feature)
        is_above = GreaterOrEqual (x, low)
        is_below = LessOrEqual (x, high)
        is_inside = And (is_above, is_below)
        is_missing = IsNaN (x)
        inside = Cast <to = 11> (is_inside)
        met = Where (is_missing, share, inside)
        new_part = Mul (old_part, met)
    }}> (all, features, lower, upper, missing_shares)

    parts = Unsqueeze (part, next)
    added = Mul (parts, weights)
    cells = Concat <axis = 0> (next, n_classes, n_rows)
    intercepts = Expand (intercept, cells)
    summands = Concat <axis = 0> (intercepts, added)
    sums = CumSum (summands, by_box)
    last_sums = Gather <axis = 0> (sums, last_box)
    sums_of_rows = Transpose <perm = [1, 0]> (last_sums)

    is_unknown = IsNaN (chunk)
    unknown = Cast <to = 11> (is_unknown)
    of_used = Mul (unknown, is_used)
    n_unknown = ReduceSum (of_used, next)
    unknown_part = Div (n_unknown, n_used)
    squared = Mul (unknown_part, unknown_part)
    moved_by = Mul (squared, squared)
    differences = Sub (missing_scores, sums_of_rows)
    moves = Mul (moved_by, differences)
    chunk_scores = Add (sums_of_rows, moves)"""

_PROBABILITY = "probability = Softmax <axis = 1> (scores)\n    "

# What `decision_function` gives.
_SCORE = "score = Identity (scores)"
_SCORE_OF_TWO = """of_first = Gather <axis = 1> (scores, first)
    of_second = Gather <axis = 1> (scores, second)
    score = Sub (of_second, of_first)"""


def write_graph(record: AdditiveBoxes) -> GraphParts:
    """Return the graph of additive boxes."""
    n_features, n_classes = record.lower.shape[1], len(record.intercept)
    weights = record.weights if len(record.labels) else np.zeros((1, n_classes))
    n_boxes, is_used = len(weights), np.isin(np.arange(n_features), record.used).astype(float)
    answers = {"scores": f"double[n_rows, {n_classes}]"}
    chunks = write_chunks("X", n_features, _BODY.format(n_boxes=n_boxes), answers)
    score_shape = "n_samples" if n_classes == 2 else f"n_samples, {n_classes}"
    # Rows of few classes take as much memory as their conditions, of many as their weights.
    n_numbers = n_boxes * max(n_classes // 10, 1)
    constants = {
        **list_lengths(n_features, n_numbers, scores=[n_classes]),
        **_conditions(record),
        "weights": weights[:, :, None].copy(),
        "intercept": record.intercept[None, :, None].copy(),
        "missing_scores": record.missing_scores,
        "is_used": is_used,
        "n_used": np.array(max(is_used.sum(), 1.0)),
        "n_boxes": np.array([n_boxes]),
        "n_classes": np.array([n_classes]),
        "by_box": np.array(0),
        "last_box": np.array(n_boxes),
        "first": np.array(0),
        "second": np.array(1),
    }
    return GraphParts(
        f"double[n_samples, {n_classes}] probability, double[{score_shape}] score",
        f"{chunks}\n    winner = ArgMax <axis = 1, keepdims = 0> (scores)",
        constants,
        _PROBABILITY + (_SCORE_OF_TWO if n_classes == 2 else _SCORE),
    )


def _conditions(boxes: AdditiveBoxes) -> dict[str, np.ndarray]:
    """Return the conditions, a row for the first of each box, one for the second, and so on.

    Boxes with fewer have some that everything meets; so has the box of a model without any.
    """
    constrains = boxes.constrains
    most = int(constrains.sum(axis=1).max(initial=1))
    shape = most, max(len(boxes.labels), 1)
    features = np.zeros(shape, np.int64)
    lower, upper = np.full(shape, -np.inf), np.full(shape, np.inf)
    missing_shares = np.ones(shape)
    of_box, feature = np.nonzero(constrains)
    row = np.arange(len(of_box)) - np.searchsorted(of_box, of_box)
    features[row, of_box] = feature
    lower[row, of_box] = boxes.lower[of_box, feature]
    upper[row, of_box] = boxes.upper[of_box, feature]
    missing_shares[row, of_box] = boxes.missing_shares[of_box, feature]
    bounds = {"lower": lower, "upper": upper, "missing_shares": missing_shares}
    return {"features": features, **{name: array[:, :, None] for name, array in bounds.items()}}
