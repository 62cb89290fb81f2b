"""Rows of a file in random order, as far as memory goes.

The order depends on the file alone, not on the chunks it is read in: it is shuffled in blocks of so
many rows as are kept in memory, and a run that goes on finds the same order again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from hyperboxes._cli._survey import Columns
from hyperboxes._cli._tables import Table

# Numbers that are kept in memory: 128 MB, two million rows of eight features.
_VALUES_IN_MEMORY = 16_777_216

Rows = tuple[np.ndarray, np.ndarray]


def shuffled_pieces(
    table: Table,
    columns: Columns,
    chunk_size: int,
    find_order: Callable[[int, np.ndarray, np.ndarray], np.ndarray],
    *,
    skip: int,
    check: Callable[[], None],
) -> Iterator[Rows]:
    """Yield samples and labels as they are to be learned, without the first `skip` of them.

    Pieces end where they would without `skip`. `find_order` gets the number of a block and its
    samples; `check` is called while rows are read.
    """
    size = max(1, _VALUES_IN_MEMORY // len(columns.features))
    start = skip - skip % size
    for X, y in _blocks(table, columns, chunk_size, size, start, check):
        order = find_order(start // size, X, y)
        first = max(skip, start)
        while first < start + len(y):
            stop = min(first - first % chunk_size + chunk_size, start + len(y))
            rows = order[first - start : stop - start]
            yield X[rows], y[rows]
            first = stop
        start += size


def _blocks(
    table: Table,
    columns: Columns,
    chunk_size: int,
    size: int,
    start: int,
    check: Callable[[], None],
) -> Iterator[Rows]:
    """Yield `size` rows at a time, from a row on."""
    parts: list[Rows] = []
    for chunk in table.chunks(columns.all, chunk_size, skip=start):
        check()
        X, y = columns.read(chunk)
        while len(y) > (room := size - sum(len(labels) for _, labels in parts)):
            yield _joined([*parts, (X[:room], y[:room])])
            parts, X, y = [], X[room:], y[room:]
        parts.append((X, y))
    if parts:
        yield _joined(parts)


def _joined(parts: list[Rows]) -> Rows:
    X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return X, y
