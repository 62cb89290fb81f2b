"""CSV and Parquet files as streams of chunks: tables of some rows, read one after the other.

All cells of a CSV file are text; what they mean is decided in `_columns`, the same way in every
chunk.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

from hyperboxes._cli._common import arrow, listing
from hyperboxes._cli._sources import Source

_SEPARATORS = ",;\t|"

# What pandas calls an index without a name in Parquet files, and reads a CSV column without one as.
_PARQUET_INDEX = re.compile(r"__index_level_\d+__")
_NO_NAME = ("", "Unnamed: 0")

# The largest batch of rows that is read from a Parquet file.
_BATCH_ROWS = 65_536

# An index is recognised by so many rows.
_ROWS_OF_INDEX = 1000


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file: an Arrow table, and how many rows there are before it."""

    file: str
    start: int
    table: Any
    decimal: str = "."

    def __len__(self) -> int:
        return int(self.table.num_rows)


class Table(ABC):
    """A file with named columns; `decimal` is what separates the digits of numbers in text."""

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

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that are not there."""
        if missing := [column for column in columns if column not in self.columns]:
            raise ValueError(
                f"{self.name} has no column {listing(map(repr, missing))}; its columns are "
                f"{listing(self.columns)}"
            )


class FileTable(Table):
    """A single file."""

    def chunks(self, columns: Sequence[str], size: int | None = None) -> Iterator[Chunk]:
        """Yield some columns, `size` rows at a time or all at once."""
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
        """The columns that are an index, by what the file says and what they hold."""
        found = [name for name in self.columns if self._is_index(name)]
        first = self.columns[0]
        if first in _NO_NAME and first not in found and self._numbers_rows(first):
            found.insert(0, first)
        return found

    def _is_index(self, column: str) -> bool:
        """Tell whether the file itself says that a column is an index."""
        return _PARQUET_INDEX.fullmatch(column) is not None

    def _numbers_rows(self, column: str) -> bool:
        """Tell whether a column holds whole numbers, each once, as far as it can be read ahead."""
        if not self._can_reread:
            return False
        chunk = next(self.chunks([column], _ROWS_OF_INDEX), None)
        cells = [] if chunk is None else [str(cell).strip() for cell in chunk.table[0].to_pylist()]
        return all(cell.isdecimal() for cell in cells) and len(set(cells)) == len(cells)

    @property
    @abstractmethod
    def _can_reread(self) -> bool:
        """Whether rows that were read can be read again."""

    @abstractmethod
    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        """Yield record batches of any size, with the columns in this order."""


class CsvTable(FileTable):
    """A CSV file; the first row has the names."""

    def __init__(self, source: Source, sep: str | None) -> None:
        self._source = source
        with source.open() if source.can_reopen else nullcontext(source.open()) as stream:
            names, self.sep = _read_header(stream, source.name, sep)
        self._stream: Any = None if source.can_reopen else stream
        super().__init__(source.name, names)

    @property
    def _can_reread(self) -> bool:
        return self._source.can_reopen

    @property
    def stream(self) -> Any:
        """What rows are read from, after the names, if they can be read only once; else None."""
        return self._stream

    def parse(
        self, stream: Any, columns: Sequence[str], size: int, n_before: int
    ) -> Iterator[Chunk]:
        """Yield rows without names, of which so many came before, in chunks of at most `size`."""
        yield from self._make_chunks(self._read(stream, columns), columns, size, n_before)

    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        stream = self._stream or self._source.open()
        if self._stream is None:
            _read_header(stream, self.name, self.sep)
        yield from self._read(stream, columns)

    def _read(self, stream: Any, columns: Sequence[str]) -> Iterator[Any]:
        """Yield batches of the rows of a stream, and close it."""
        pa = arrow()
        pc = arrow("csv")
        try:
            reader = pc.open_csv(
                stream,
                # Without threads Arrow knows the row of an error.
                pc.ReadOptions(column_names=self.columns, use_threads=False),
                pc.ParseOptions(delimiter=self.sep, newlines_in_values=True),
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
        self._source = source
        with self._open() as file:
            schema = file.schema_arrow
        super().__init__(source.name, schema.names)
        self._as_written = dict(zip(self.columns, schema.names, strict=True))
        self._pandas_index = (schema.pandas_metadata or {}).get("index_columns", [])

    def _is_index(self, column: str) -> bool:
        return super()._is_index(column) or self._as_written[column] in self._pandas_index

    @property
    def _can_reread(self) -> bool:
        return True

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


def open_table(
    path: str, sep: str | None = None, decimal: str | None = None, *, reread: bool = False
) -> Table:
    """Open a file; `reread` says that it will be read more than once."""
    source = Source.of(path, reread)
    table = ParquetTable(source) if source.is_parquet else CsvTable(source, sep)
    table.decimal = decimal or "."
    return table


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
