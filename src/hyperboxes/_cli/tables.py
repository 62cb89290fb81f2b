"""CSV and Parquet files as streams of chunks: tables of some rows, read one after the other.

All cells of a CSV file are text; `columns` gives them their meaning, the same in every chunk.
"""

from __future__ import annotations

import csv
import glob
import gzip
import io
import re
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from hyperboxes._cli.common import STDIO, UsageError, arrow, listing

_SEPARATORS = ",;\t|"
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"

# What pandas calls an index without a name in Parquet files, and reads a CSV column without one as.
_PARQUET_INDEX = re.compile(r"__index_level_\d+__")
_NO_NAME = ("", "Unnamed: 0")

# Rows by which an index is recognised.
_INDEX_ROWS = 1000

# The largest batch of rows that is read from a Parquet file, and of bytes from a stream.
_BATCH_ROWS = 65_536
_BATCH_BYTES = 1 << 20

# The rest of a cell in quotes; two quotes stand for one.
_CLOSING_QUOTE = re.compile(rb'[^"]*(?:""[^"]*)*"(?!")')


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file as an Arrow table, with the number of rows before it."""

    file: str
    start: int
    table: Any
    decimal: str = "."

    def __len__(self) -> int:
        return int(self.table.num_rows)


@dataclass(frozen=True)
class Source:
    """The bytes of a table: a file, memory, or a stream, which is read once."""

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

    @property
    def is_parquet(self) -> bool:
        """Whether it is a Parquet file, by its first bytes."""
        if not self.can_reopen:
            return False
        with self.open() as stream:
            return bool(stream.peek(4)[:4] == _PARQUET)

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


class Table(ABC):
    """Rows with named columns; `decimal` is what separates the digits of numbers in text."""

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self.name = name
        self.decimal = "."
        self.columns = [column.strip() for column in columns]
        if len(set(self.columns)) < len(self.columns):
            twice = next(c for c in self.columns if self.columns.count(c) > 1)
            raise ValueError(f"{name}: two columns are named {twice!r}")

    @property
    @abstractmethod
    def index_columns(self) -> list[str]:
        """The columns that number or name the rows: an index that was written with the data."""

    @abstractmethod
    def chunks(self, columns: Sequence[str], size: int | None = None) -> Iterator[Chunk]:
        """Yield some columns, `size` rows at a time or all at once."""

    def live_chunks(self, columns: Sequence[str], size: int) -> Iterator[Chunk]:
        """Yield at most `size` rows at a time; those of a CSV stream as soon as they arrive."""
        return self.chunks(columns, size)

    def check(self, columns: Sequence[str]) -> None:
        """Raise an error if a column does not exist."""
        if missing := [column for column in columns if column not in self.columns]:
            raise ValueError(
                f"{self.name} has no column {listing(map(repr, missing))}; its columns are "
                f"{listing(self.columns)}"
            )


class FileTable(Table):
    """A single file."""

    def __init__(self, source: Source, columns: Sequence[str]) -> None:
        super().__init__(source.name, columns)
        self._source = source

    def chunks(self, columns: Sequence[str], size: int | None = None) -> Iterator[Chunk]:
        batches = self._batches(columns, min(size or _BATCH_ROWS, _BATCH_ROWS))
        yield from self._make_chunks(batches, columns, size)

    def _make_chunks(
        self, batches: Iterator[Any], columns: Sequence[str], size: int | None, start: int = 0
    ) -> Iterator[Chunk]:
        """Yield chunks of `size` rows; `start` rows came before."""
        pa = arrow()
        for group in _regroup(batches, size):
            table = pa.Table.from_batches(group).rename_columns(list(columns))
            yield Chunk(self.name, start, table, self.decimal)
            start += table.num_rows

    @cached_property
    def index_columns(self) -> list[str]:
        """The columns that are an index, by the metadata of the file and by their values."""
        found = [name for name in self.columns if self._is_index(name)]
        first = self.columns[0]
        if first in _NO_NAME and first not in found and self._numbers_rows(first):
            found.insert(0, first)
        return found

    def _is_index(self, column: str) -> bool:
        """Return whether the file itself marks a column as an index."""
        return _PARQUET_INDEX.fullmatch(column) is not None

    def _numbers_rows(self, column: str) -> bool:
        """Return whether a column holds whole numbers, each once, if it can be read ahead."""
        if not self._source.can_reopen:
            return False
        chunk = next(self.chunks([column], _INDEX_ROWS), None)
        cells = [] if chunk is None else [str(cell).strip() for cell in chunk.table[0].to_pylist()]
        return all(cell.isdecimal() for cell in cells) and len(set(cells)) == len(cells)

    @abstractmethod
    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        """Yield record batches of any size, with the columns in this order."""


class CsvTable(FileTable):
    """A CSV file; the first row has the names."""

    def __init__(self, source: Source, sep: str | None) -> None:
        with source.open() if source.can_reopen else nullcontext(source.open()) as stream:
            names, self._sep = _read_header(stream, source.name, sep)
        # What remains after the names, of a stream that is read only once.
        self._rest: Any = None if source.can_reopen else stream
        super().__init__(source, names)

    def live_chunks(self, columns: Sequence[str], size: int) -> Iterator[Chunk]:
        if self._rest is None:
            yield from self.chunks(columns, size)
            return
        start = 0
        with self._rest:
            for rows in _whole_rows(self._rest, self._sep.encode()):
                batches = self._read(io.BytesIO(rows), columns)
                for chunk in self._make_chunks(batches, columns, size, start):
                    yield chunk
                    start += len(chunk)

    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        stream = self._rest or self._source.open()
        if self._rest is None:
            _read_header(stream, self.name, self._sep)
        yield from self._read(stream, columns)

    def _read(self, stream: Any, columns: Sequence[str]) -> Iterator[Any]:
        """Yield batches of the rows of a stream, and close it."""
        pa = arrow()
        pc = arrow("csv")
        try:
            reader = pc.open_csv(
                stream,
                # Without threads, Arrow's errors have the number of the row.
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


class ParquetTable(FileTable):
    """A Parquet file."""

    def __init__(self, source: Source) -> None:
        with _open_parquet(source) as file:
            schema = file.schema_arrow
        super().__init__(source, schema.names)
        self._as_written = dict(zip(self.columns, schema.names, strict=True))
        self._pandas_index = (schema.pandas_metadata or {}).get("index_columns", [])

    def _is_index(self, column: str) -> bool:
        return super()._is_index(column) or self._as_written[column] in self._pandas_index

    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        names = [self._as_written[column] for column in columns]
        with _open_parquet(self._source) as file:
            for batch in file.iter_batches(size, columns=names):
                yield batch.select(names)


class JoinedTables(Table):
    """Files with the same columns, in any order, which are read one after the other.

    Chunks end with their files, so that errors name the file and the row in it.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        super().__init__(f"{tables[0].name} and {len(tables) - 1} more", tables[0].columns)
        self._tables = tables

    @property
    def index_columns(self) -> list[str]:
        """The columns that are an index, by the first file."""
        return self._tables[0].index_columns

    def check(self, columns: Sequence[str]) -> None:
        """Raise an error if a column does not exist in one of the files."""
        for table in self._tables:
            table.check(columns)

    def chunks(self, columns: Sequence[str], size: int | None = None) -> Iterator[Chunk]:
        self.check(columns)
        for table in self._tables:
            yield from table.chunks(columns, size)


def open_table(
    path: str, sep: str | None = None, decimal: str | None = None, *, reread: bool = False
) -> Table:
    """Open a file; with `reread` it can be read more than once."""
    source = Source.of(path, reread)
    table = ParquetTable(source) if source.is_parquet else CsvTable(source, sep)
    table.decimal = decimal or "."
    return table


def open_tables(
    files: Sequence[str], sep: str | None, decimal: str | None, *, reread: bool = False
) -> Table:
    """Open one file, or several as one table."""
    tables = [open_table(file, sep, decimal, reread=reread) for file in files]
    return tables[0] if len(tables) == 1 else JoinedTables(tables)


def find_files(names: Sequence[str]) -> list[str]:
    """Return the files that names and patterns stand for; those of a pattern by their names."""
    files: list[str] = []
    for name in names:
        if not glob.has_magic(name) or Path(name).exists():
            files.append(name)
        elif found := sorted(glob.glob(name, recursive=True)):  # noqa: PTH207 (absolute)
            files += found
        else:
            raise ValueError(f"No file is named {name}")
    if len(files) > 1 and STDIO in files:
        raise UsageError("standard input is read alone: name the other files without it")
    if twice := [file for file in files if files.count(file) > 1]:
        raise UsageError(f"{twice[0]} is named twice")
    return files


def _open_parquet(source: Source) -> Any:
    pa, pq = arrow(), arrow("parquet")
    try:
        return pq.ParquetFile(source.path or pa.BufferReader(source.content))
    except pa.ArrowInvalid as error:
        raise ValueError(f"{source.name}: {error}") from error


def _read_header(stream: BinaryIO, name: str, sep: str | None) -> tuple[list[str], str]:
    """Read the names of the columns, and find the separator."""
    line = b"\n"
    while line in (b"\n", b"\r\n"):
        line = stream.readline()
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name} is neither CSV in UTF-8 nor Parquet: save the table as one of these"
        ) from error
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


def _regroup(batches: Iterator[Any], size: int | None) -> Iterator[list[Any]]:
    """Yield lists of batches that have `size` rows together, the last one the rest."""
    group: list[Any] = []
    n_rows = 0
    for batch in batches:
        while size is not None and n_rows + batch.num_rows >= size:
            yield [*group, batch.slice(0, size - n_rows)]
            batch = batch.slice(size - n_rows)
            group, n_rows = [], 0
        if batch.num_rows:
            group.append(batch)
            n_rows += batch.num_rows
    if group:
        yield group


def _whole_rows(stream: Any, sep: bytes) -> Iterator[bytes]:
    """Yield the bytes that have arrived, up to the end of a row."""
    lines: list[bytes] = []
    rest, is_open = b"", False
    while block := stream.read1(_BATCH_BYTES):
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
    """Return whether the end of a line is within a cell in quotes.

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
