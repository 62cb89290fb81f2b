"""Files that are replaced whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file that is replaced as `replacing` does it."""
    with replacing(path) as file:
        write_all(file, content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file so that at any moment there is the old one or the new one, on disk too.

    It is written beside its place and then moved there. It gets the permissions of the file that it
    replaces, or those of any new file. A symbolic link stays; what it points to is replaced.
    """
    target = Path(os.path.realpath(os.fspath(path)))
    mode = _mode(target)
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            if mode is not None:
                temporary.chmod(mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_directory(target.parent)


def write_all(file: Any, content: bytes) -> None:
    """Write to a binary file that may take a part at a time, as unbuffered ones do."""
    rest = memoryview(content)
    while rest:
        n_written = file.write(rest)
        rest = rest[len(rest) if n_written is None else n_written :]


def _mode(target: Path) -> int | None:
    """Return the permissions of a file that may be replaced, None if there is none yet."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "Not a regular file", str(target))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return stat.S_IMODE(mode)


def _sync_directory(folder: Path) -> None:
    """Have the new name on disk, where the system allows it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(OSError):  # the file is replaced, whatever comes of this
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
