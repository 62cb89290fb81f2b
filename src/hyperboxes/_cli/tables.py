"""CSV and Parquet files as tables, which are read some rows at a time.

All cells of a CSV file are text; `columns` gives them their meaning, the same in every chunk.
"""

from __future__ import annotations

import codecs
import csv
import glob
import gzip
import io
import re
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

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

# Bytes of a CSV file that are parsed at a time; no row may be longer.
_BLOCK_BYTES = 1 << 24


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
    def is_parquet(self) -> bool:
        """Whether it is a Parquet file, by its first bytes."""
        if self.stream is not None:
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


class File(ABC):
    """A table in one file; `decimal` is what separates the digits of numbers in text."""

    # The columns that pandas has marked as an index of the rows.
    _pandas_index: Sequence[str] = ()

    def __init__(self, source: Source, columns: Sequence[str], decimal: str) -> None:
        self.name = source.name
        self.columns = [column.strip() for column in columns]
        self._source = source
        self._decimal = decimal
        if len(set(self.columns)) < len(self.columns):
            twice = next(c for c in self.columns if self.columns.count(c) > 1)
            raise ValueError(f"{self.name}: two columns are named {twice!r}")

    @property
    def index_columns(self) -> list[str]:
        """The columns that number or name the rows: an index that was written with the data."""
        found = [c for c in self.columns if _PARQUET_INDEX.fullmatch(c) or c in self._pandas_index]
        first = self.columns[0]
        if first in _NO_NAME and first not in found and self._numbers_rows(first):
            found.insert(0, first)
        return found

    def _numbers_rows(self, column: str) -> bool:
        """Return whether a column contains whole numbers, each once, if it can be read ahead."""
        if self._source.stream is not None:
            return False
        chunk = next(self.chunks([column], _INDEX_ROWS), None)
        cells = [] if chunk is None else [str(cell).strip() for cell in chunk.table[0].to_pylist()]
        return all(cell.isdecimal() for cell in cells) and len(set(cells)) == len(cells)

    def chunks(
        self, columns: Sequence[str], size: int | None = None, *, live: bool = False
    ) -> Iterator[Chunk]:
        """Yield some columns, `size` rows at a time or all at once.

        With `live`, rows of a CSV stream are yielded as soon as they arrive, at most `size`.
        """
        return self._chunks(self._batches(columns, min(size or _BATCH_ROWS, _BATCH_ROWS)), size)

    def _chunks(self, batches: Iterator[Any], size: int | None, start: int = 0) -> Iterator[Chunk]:
        """Yield chunks of `size` rows; `start` rows came before."""
        for group in _regroup(batches, size):
            table = arrow().Table.from_batches(group)
            yield Chunk(self.name, start, table, self._decimal)
            start += table.num_rows

    @abstractmethod
    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        """Yield record batches of any size, with the columns in this order."""


class CsvFile(File):
    """A CSV file; the first row has the names."""

    def __init__(self, source: Source, sep: str | None, decimal: str) -> None:
        is_read_once = source.stream is not None
        with nullcontext(source.open()) if is_read_once else source.open() as stream:
            names, self._sep = _read_header(stream, source.name, sep)
        # What remains after the names, of a stream that is read only once.
        self._rest = stream if is_read_once else None
        super().__init__(source, names, decimal)

    def chunks(
        self, columns: Sequence[str], size: int | None = None, *, live: bool = False
    ) -> Iterator[Chunk]:
        if self._rest is None or not live:
            yield from super().chunks(columns, size)
            return
        start = 0
        with self._rest:
            for rows in _whole_rows(self._rest, self._sep.encode()):
                for chunk in self._chunks(self._read(io.BytesIO(rows), columns), size, start):
                    yield chunk
                    start += len(chunk)

    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        stream = self._rest or self._source.open()
        if self._rest is None:
            _read_header(stream, self.name, self._sep)
        return self._read(stream, columns)

    def _read(self, stream: Any, columns: Sequence[str]) -> Iterator[Any]:
        """Yield batches of the rows of a stream, and close it."""
        with closing(stream), _rewording_errors(self.name):
            pa, pc = arrow(), arrow("csv")
            yield from pc.open_csv(
                stream,
                # Without threads, Arrow's errors have the number of the row.
                pc.ReadOptions(
                    column_names=self.columns, use_threads=False, block_size=_BLOCK_BYTES
                ),
                pc.ParseOptions(
                    delimiter=self._sep,
                    newlines_in_values=True,
                    # An empty line of a single column is a row with a missing value.
                    ignore_empty_lines=len(self.columns) > 1,
                ),
                pc.ConvertOptions(
                    include_columns=list(columns),
                    column_types=dict.fromkeys(self.columns, pa.string()),
                    strings_can_be_null=False,
                ),
            )


class ParquetFile(File):
    """A Parquet file."""

    def __init__(self, source: Source, decimal: str) -> None:
        with _open_parquet(source) as file:
            schema = file.schema_arrow
        super().__init__(source, schema.names, decimal)
        self._as_written = dict(zip(self.columns, schema.names, strict=True))
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        self._pandas_index = [
            name for name, written in self._as_written.items() if written in index
        ]

    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        names = [self._as_written[column] for column in columns]
        with _open_parquet(self._source) as file:
            for batch in file.iter_batches(size, columns=names):
                arrays = batch.select(names).columns
                yield arrow().RecordBatch.from_arrays(arrays, names=list(columns))


class Table:
    """Rows with named columns: one file, or several with the same columns, in any order.

    They are read one after the other. Chunks end with their files, so that errors name the file
    and the row in it.
    """

    def __init__(self, files: Sequence[File]) -> None:
        self._files = files
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        self.name = f"{files[0].name}{more}"
        self.columns = files[0].columns

    @cached_property
    def index_columns(self) -> list[str]:
        """The columns that number or name the rows, by the first file."""
        return self._files[0].index_columns

    def check(self, columns: Sequence[str]) -> None:
        """Raise an error if a column does not exist in one of the files."""
        for file in self._files:
            if missing := [column for column in columns if column not in file.columns]:
                noun = "column" if len(missing) == 1 else "columns"
                raise ValueError(
                    f"{file.name} has no {noun} {listing(map(repr, missing))}; its columns are "
                    f"{listing(file.columns)}"
                )

    def chunks(
        self, columns: Sequence[str], size: int | None = None, *, live: bool = False
    ) -> Iterator[Chunk]:
        """Yield some columns, `size` rows at a time or each file at once, as `File.chunks` does."""
        self.check(columns)
        return chain.from_iterable(file.chunks(columns, size, live=live) for file in self._files)


def open_table(
    *files: str, sep: str | None = None, decimal: str | None = None, reread: bool = False
) -> Table:
    """Open files as one table; with `reread` they can be read more than once."""
    point, sources = decimal or ".", (Source.of(file, reread) for file in files)
    return Table(
        [ParquetFile(s, point) if s.is_parquet else CsvFile(s, sep, point) for s in sources]
    )


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
    paths = [Path(file).resolve() for file in files]
    if twice := [file for file, path in zip(files, paths, strict=True) if paths.count(path) > 1]:
        raise UsageError(f"{twice[0]} is named twice")
    return files


def _open_parquet(source: Source) -> Any:
    pa, pq = arrow(), arrow("parquet")
    try:
        return pq.ParquetFile(source.path or pa.BufferReader(source.content))
    except pa.ArrowInvalid as error:
        raise ValueError(f"{source.name}: {error}") from error


def _read_header(stream: Any, name: str, sep: str | None) -> tuple[list[str], str]:
    """Read the names of the columns, and find the separator."""
    record, is_open, marks = b"", False, (sep or _SEPARATORS).encode()
    with _rewording_errors(name):
        while (is_open or not record.strip()) and (line := stream.readline()):
            line = line.removeprefix(codecs.BOM_UTF8)
            record = record + line if is_open else line
            is_open = _is_open_after(line, is_open, marks)
    try:
        text = record.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name} is neither CSV in UTF-8 nor Parquet: save the table as one of these"
        ) from error
    if not text.strip():
        raise ValueError(f"{name} is empty")
    plain = _without_quoted(text.encode(), marks).decode()
    if "\r" in plain.replace("\r\n", "\n"):
        raise ValueError(
            f"{name} has lines that end with a carriage return: save it with line feeds"
        )
    sep = sep or next((mark for mark in _SEPARATORS if mark in plain), ",")
    return next(csv.reader(io.StringIO(text, newline=""), delimiter=sep)), sep


@contextmanager
def _rewording_errors(name: str) -> Iterator[None]:
    """Reword errors of Arrow, and of files that are damaged."""
    try:
        yield
    except arrow().ArrowInvalid as error:
        if (message := str(error)) != "Empty CSV file":
            raise ValueError(f"{name}: {_translate_error(message)}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{name} is damaged or cut off ({error})") from error


def _translate_error(message: str) -> str:
    """Reword Arrow's messages."""
    if "invalid UTF8" in message:
        return "it is not in UTF-8: save it in that encoding"
    if "straddling" in message:
        return (
            f"a row is longer than {_BLOCK_BYTES >> 20} MB: leave out long cells, check for a "
            "quote that is not closed, or save the table as Parquet"
        )
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


def _is_open_after(line: bytes, is_open: bool, separators: bytes) -> bool:
    """Return whether the end of a line is within a cell in quotes."""
    if b'"' not in line:
        return is_open
    rest = _without_quoted(b'"' * is_open + line, separators)
    return re.search(_opening(separators), rest) is not None


def _without_quoted(text: bytes, separators: bytes) -> bytes:
    """Leave out the cells in quotes; two quotes stand for one."""
    return re.sub(_opening(separators) + rb'[^"]*(?:""[^"]*)*"(?!")', rb"\1", text)


def _opening(separators: bytes) -> bytes:
    """Return the pattern of a quote that opens a cell: as for Arrow, where the cell begins."""
    return rb"(^|[" + re.escape(separators) + rb'])"'
