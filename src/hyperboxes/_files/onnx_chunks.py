"""Rows of an ONNX graph in chunks: memory and time per sample do not grow with the batch.

A chunk is so short that its pairs of samples and boxes stay in the processor's cache.
"""

from __future__ import annotations

import numpy as np

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
