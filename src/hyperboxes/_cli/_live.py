"""Rows of a CSV stream as they arrive: what is there is read, without waiting for more."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

from hyperboxes._cli._tables import Chunk, CsvTable, Table

_MOST_BYTES = 1 << 20

# The rest of a cell in quotes; two quotes stand for one.
_CLOSING_QUOTE = re.compile(rb'[^"]*(?:""[^"]*)*"(?!")')


def live_chunks(table: Table, columns: Sequence[str], size: int) -> Iterator[Chunk]:
    """Yield rows in chunks of at most `size`; those of a stream as soon as they are there."""
    if not isinstance(table, CsvTable) or table.stream is None:
        yield from table.chunks(columns, size)
        return
    start = 0
    with table.stream:
        for lines in _whole_rows(table.stream, table.sep.encode()):
            for chunk in table.parse(io.BytesIO(lines), columns, size, start):
                yield chunk
                start = chunk.start + len(chunk)


def _whole_rows(stream: Any, sep: bytes) -> Iterator[bytes]:
    """Yield the bytes that are there, up to the end of a row."""
    lines: list[bytes] = []
    rest, is_open = b"", False
    while block := stream.read1(_MOST_BYTES):
        *ended, rest = (rest + block).split(b"\n")
        n_whole = 0
        for line in ended:
            lines.append(line + b"\n")
            is_open = _is_open_after(line, is_open, sep)
            if not is_open:
                n_whole = len(lines)
        if n_whole:
            yield b"".join(lines[:n_whole])
            del lines[:n_whole]
    if (rest := b"".join([*lines, rest])).strip():
        yield rest


def _is_open_after(line: bytes, is_open: bool, sep: bytes) -> bool:
    """Whether the end of a line is within a cell in quotes.

    As for Arrow, a quote opens a cell only where the cell begins.
    """
    if b'"' not in line:
        return is_open
    position = 0
    if not is_open and line.startswith(b'"'):
        is_open, position = True, 1
    while True:
        if is_open:
            if (closing := _CLOSING_QUOTE.match(line, position)) is None:
                return True
            position = closing.end()
        if (position := line.find(sep + b'"', position)) < 0:
            return False
        is_open, position = True, position + len(sep) + 1
