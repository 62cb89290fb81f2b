"""Several files as one table: those that are named, or that a pattern stands for."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path

from hyperboxes._cli._common import STDIO, UsageError
from hyperboxes._cli._tables import Chunk, Table, open_table


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


def open_files(
    files: Sequence[str], sep: str | None, decimal: str | None, *, reread: bool = False
) -> Table:
    """Open one file, or several as one table."""
    tables = [open_table(file, sep, decimal, reread=reread) for file in files]
    return tables[0] if len(tables) == 1 else Parts(tables)


class Parts(Table):
    """Files with the same columns, in whatever order, which are read one after the other.

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
        """Refuse columns that are not there, in any file."""
        for table in self._tables:
            table.check(columns)

    def chunks(self, columns: Sequence[str], size: int | None = None) -> Iterator[Chunk]:
        """Yield the chunks of all files."""
        self.check(columns)
        for table in self._tables:
            yield from table.chunks(columns, size)
