"""CSV and Parquet files as streams of chunks: tables of some rows, read one after the other.

The content says what a file is, not its name. All cells of a CSV file are text; what they mean is
decided in `_columns`, the same way in every chunk.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from hyperboxes._cli._common import STDIO, arrow, listing

_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_SEPARATORS = ",;\t|"


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file: an Arrow table, and how many rows there are before it."""

    file: str
    start: int
    table: Any

    def __len__(self) -> int:
        return int(self.table.num_rows)


class Table(ABC):
    """A file with named columns."""

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self.name = name
        self.columns = [column.strip() for column in columns]
        if len(set(self.columns)) < len(self.columns):
            twice = next(c for c in self.columns if self.columns.count(c) > 1)
            raise ValueError(f"{name}: two columns are named {twice!r}")

    def chunks(
        self, columns: Sequence[str], size: int | None = None, skip: int = 0
    ) -> Iterator[Chunk]:
        """Yield some columns, `size` rows at a time or all at once, without the first `skip` rows.

        Chunks end where they would without `skip`.
        """
        pa = arrow()
        at_once = min(size or 65_536, 65_536)
        for start, batches in _regroup(self._batches(columns, at_once), size, skip):
            table = pa.Table.from_batches(batches).rename_columns(list(columns))
            yield Chunk(self.name, start, table)

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that are not there."""
        if missing := [column for column in columns if column not in self.columns]:
            raise ValueError(
                f"{self.name} has no column {listing(map(repr, missing))}; its columns are "
                f"{listing(self.columns)}"
            )

    @abstractmethod
    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        """Yield record batches of any size, with the columns in this order."""


class CsvTable(Table):
    """A CSV file; the first row has the names."""

    def __init__(self, source: Source, sep: str | None) -> None:
        self._source = source
        with source.open() if source.can_reopen else nullcontext(source.open()) as stream:
            names, self._sep = _read_header(stream, source.name, sep)
        self._stream: Any = None if source.can_reopen else stream
        super().__init__(source.name, names)

    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        pa = arrow()
        pc = arrow("csv")
        stream = self._stream or self._source.open()
        try:
            if self._stream is None:
                _read_header(stream, self.name, self._sep)
            reader = pc.open_csv(
                stream,
                # Without threads Arrow knows the row of an error.
                pc.ReadOptions(column_names=self.columns, use_threads=False),
                pc.ParseOptions(delimiter=self._sep, newlines_in_values=True),
                pc.ConvertOptions(
                    include_columns=list(columns),
                    column_types=dict.fromkeys(self.columns, pa.string()),
                    strings_can_be_null=False,
                ),
            )
            yield from reader
        except pa.ArrowInvalid as error:
            if str(error) != "Empty CSV file":
                raise ValueError(f"{self.name}: {_translate_error(str(error))}") from error
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{self.name} is damaged or cut off ({error})") from error
        finally:
            stream.close()


class ParquetTable(Table):
    """A Parquet file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        with self._open() as file:
            names = file.schema_arrow.names
        super().__init__(source.name, names)
        self._as_written = dict(zip(self.columns, names, strict=True))

    def _open(self) -> Any:
        pa, pq = arrow(), arrow("parquet")
        path, content = self._source.path, self._source.content
        try:
            return pq.ParquetFile(pa.BufferReader(content) if path is None else path)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{self._source.name}: {error}") from error

    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        names = [self._as_written[column] for column in columns]
        with self._open() as file:
            for batch in file.iter_batches(size, columns=names):
                yield batch.select(names)


@dataclass(frozen=True)
class Source:
    """Where bytes come from: a file, memory, or a stream, which is read once."""

    name: str
    path: Path | None = None
    content: bytes | None = None
    stream: Any = None

    @classmethod
    def of(cls, path: str, reread: bool) -> Source:
        """Find the bytes; a stream that will be read again, or is Parquet, is kept in memory."""
        if not is_stream(path):
            return cls(path, Path(path))
        is_stdin = path == STDIO
        stream: Any = sys.stdin.buffer if is_stdin else Path(path).open("rb")  # noqa: SIM115 (a pipe)
        name = "standard input" if is_stdin else path
        if reread or stream.peek(4)[:4] == _PARQUET:
            with stream:
                return cls(name, content=stream.read())
        return cls(name, stream=stream)

    @property
    def can_reopen(self) -> bool:
        """Whether the bytes can be read again."""
        return self.stream is None

    def open(self) -> Any:
        """Open it for reading, unzipped."""
        if self.path is not None:
            with self.path.open("rb") as file:
                is_zipped = file.read(2) == _GZIP
            return gzip.open(self.path) if is_zipped else self.path.open("rb")
        raw: Any = self.stream or io.BufferedReader(io.BytesIO(self.content or b""))
        return gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == _GZIP else raw


def is_stream(path: str) -> bool:
    """Whether it can be read only once: standard input, a pipe, a device."""
    return path == STDIO or (Path(path).exists() and not Path(path).is_file())


def open_table(path: str, sep: str | None = None, *, reread: bool = False) -> Table:
    """Open a file; `reread` says that it will be read more than once."""
    source = Source.of(path, reread)
    if source.can_reopen:
        with source.open() as stream:
            is_parquet = stream.peek(4)[:4] == _PARQUET
        if is_parquet:
            return ParquetTable(source)
    return CsvTable(source, sep)


def _read_header(stream: BinaryIO, name: str, sep: str | None) -> tuple[list[str], str]:
    """Read the names of the columns, and find the separator."""
    line = b"\n"
    while line in (b"\n", b"\r\n"):
        line = stream.readline()
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not in UTF-8: save it in that encoding") from error
    if not text.strip():
        raise ValueError(f"{name} is empty")
    if "\r" in text:
        raise ValueError(
            f"{name} has lines that end with a carriage return: save it with line feeds"
        )
    sep = sep or next((mark for mark in _SEPARATORS if mark in text), ",")
    return next(csv.reader([text], delimiter=sep)), sep


def _translate_error(message: str) -> str:
    """Reword Arrow's messages."""
    if "invalid UTF8" in message:
        return "it is not in UTF-8: save it in that encoding"
    message = message.removeprefix("CSV parse error: ").replace("Row #", "row ")
    return message.replace("Expected", "expected").replace("columns", "cells")


def _regroup(
    batches: Iterator[Any], size: int | None, skip: int
) -> Iterator[tuple[int, list[Any]]]:
    """Yield where groups of `size` rows start, and their batches."""
    group: list[Any] = []
    start, n_rows = skip, 0
    for batch in batches:
        n_skipped = min(skip, batch.num_rows)
        skip -= n_skipped
        batch = batch.slice(n_skipped)
        while size is not None and n_rows + batch.num_rows >= (room := size - start % size):
            head = room - n_rows
            yield start, [*group, batch.slice(0, head)]
            start, group, n_rows = start + room, [], 0
            batch = batch.slice(head)
        if batch.num_rows:
            group.append(batch)
            n_rows += batch.num_rows
    if group:
        yield start, group
