"""What commands write: places that are checked before the work begins, and tables.

Tables are written some rows at a time, as CSV, Parquet, or a JSON object per line.
"""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import math
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from hyperboxes._cli._common import STDIO, UsageError, arrow
from hyperboxes._files.atomic import replacing

# How names end that nobody gives a model: tables, pages and the like.
_NO_MODELS = (
    *(".csv", ".csv.gz", ".tsv", ".parquet", ".pq", ".json", ".jsonl", ".xlsx"),
    *(".html", ".sql", ".onnx", ".txt", ".png"),
)


def check_output(output: str, *inputs: str) -> None:
    """Refuse a file that cannot be written to, or that is read from."""
    if output == STDIO:
        return
    path = Path(output)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a folder, not a file", output)
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(path.parent))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "Not allowed to write", output)
    for name in inputs:
        if name != STDIO and path.exists() and Path(name).exists() and path.samefile(name):
            raise UsageError(f"{output} is read from: write to another file")


def check_model_output(output: str, predictions: str) -> None:
    """Refuse what a model is not written to: standard output, and names of other things.

    `predictions` says where these are to be had, which `-o` of other commands writes.
    """
    if output == STDIO:
        raise UsageError("a model cannot be written to standard output: name a file")
    name = Path(output).name
    if name.lower().endswith(_NO_MODELS):
        stem = name.split(".")[0] or "model"
        raise UsageError(
            f"-o says where to save the model, and {output} is no name of one: write "
            f"-o {stem}.hyperboxes. {predictions}"
        )


class Writer(ABC):
    """Takes columns by name, as arrays of Arrow or NumPy, always the same ones."""

    @abstractmethod
    def write(self, columns: dict[str, Any]) -> None:
        """Write some rows."""


class CsvWriter(Writer):
    """Writes CSV, with a first row of names."""

    def __init__(self, stream: Any) -> None:
        self._writer = csv.writer(stream, lineterminator="\n")
        self._begun = False

    def write(self, columns: dict[str, Any]) -> None:
        if not self._begun:
            self._writer.writerow(columns)
            self._begun = True
        self._writer.writerows(zip(*map(_to_list, columns.values()), strict=True))


class JsonWriter(Writer):
    """Writes an object per row and line."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, columns: dict[str, Any]) -> None:
        for row in zip(*map(_to_list, columns.values()), strict=True):
            values = {name: _finite(value) for name, value in zip(columns, row, strict=True)}
            self._stream.write(json.dumps(values, ensure_ascii=False, default=str) + "\n")


class ParquetWriter(Writer):
    """Writes Parquet, a row group at a time."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._writer: Any = None

    def write(self, columns: dict[str, Any]) -> None:
        pa, pq = arrow(), arrow("parquet")
        arrays = {
            name: values if isinstance(values, pa.ChunkedArray) else pa.array(values.tolist())
            for name, values in columns.items()
        }
        table = pa.table(arrays)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._stream, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write the end of the file."""
        if self._writer is not None:
            self._writer.close()


@contextmanager
def open_writer(output: str, *, as_json: bool) -> Iterator[Writer]:
    """Open a file, which is complete or not there at all, or standard output."""
    text_writer = JsonWriter if as_json else CsvWriter
    if output == STDIO:
        yield text_writer(sys.stdout)
        return
    with _open(Path(output)) as file:
        if is_parquet(output):
            with closing(ParquetWriter(file)) as writer:
                yield writer
            return
        zipped = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if output.endswith(".gz") else None
        with zipped or nullcontext(file) as raw:
            stream = io.TextIOWrapper(raw, encoding="utf-8", newline="")
            yield text_writer(stream)
            stream.detach()  # without closing the file


def is_parquet(output: str) -> bool:
    """Whether a Parquet file is to be written."""
    return output.endswith((".parquet", ".pq"))


def _open(path: Path) -> AbstractContextManager[Any]:
    is_special = path.exists() and not path.is_file()  # a pipe, a device
    return path.open("wb") if is_special else replacing(path)


def _to_list(values: Any) -> list[Any]:
    return values.to_pylist() if hasattr(values, "to_pylist") else values.tolist()


def _finite(value: Any) -> Any:
    """Return a value for JSON, which has no NaN and no infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
