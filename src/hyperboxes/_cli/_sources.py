"""Where the bytes of a table come from, and what they are: the content says so, not the name."""

from __future__ import annotations

import gzip
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperboxes._cli._common import STDIO

_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"


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

    @property
    def is_parquet(self) -> bool:
        """Whether it is a Parquet file; a stream of one has been read into memory."""
        return self.can_reopen and self._first_bytes() == _PARQUET

    def _first_bytes(self) -> bytes:
        """Return four bytes, which are still to be read."""
        if not self.can_reopen:
            return bytes(self.stream.peek(4)[:4])
        with self.open() as stream:
            return bytes(stream.peek(4)[:4])

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
