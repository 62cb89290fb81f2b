"""Rows of a CSV stream as they arrive: what is there is read, without waiting for more."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from hyperboxes._cli._tables import Chunk, CsvTable, Table

_MOST_BYTES = 1 << 20


def live_chunks(table: Table, columns: Sequence[str], size: int) -> Iterator[Chunk]:
    """Yield rows in chunks of at most `size`; those of a stream as soon as they are there."""
    if not isinstance(table, CsvTable) or table.stream is None:
        yield from table.chunks(columns, size)
        return
    start = 0
    with table.stream:
        for lines in _whole_rows(table.stream):
            for chunk in table.parse(io.BytesIO(lines), columns, size, start):
                yield chunk
                start = chunk.start + len(chunk)


def _whole_rows(stream: Any) -> Iterator[bytes]:
    """Yield the bytes there are, up to the end of a row; line ends in quotes end none."""
    rest = b""
    while block := stream.read1(_MOST_BYTES):
        rest += block
        end = rest.rfind(b"\n") + 1
        while end and rest.count(b'"', 0, end) % 2:
            end = rest.rfind(b"\n", 0, end - 1) + 1
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest.strip():
        yield rest
