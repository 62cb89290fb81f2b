"""Model files as archives of arrays and JSON, read with suspicion and replaced at once.

A file is data, never code: names, types, shapes and sums are checked before anything is used.
"""

import errno
import hashlib
import io
import json
import math
import os
import re
import secrets
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file that is replaced as `replacing` does it."""
    with replacing(path) as file:
        write_all(file, content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file so that at any moment there is the old one or the new one, on disk too.

    It is written next to its place and then moved there. It gets the permissions of the file that
    it replaces, or those of any new file. A symbolic link stays; what it points to is replaced.
    """
    target = Path(os.path.realpath(os.fspath(path)))
    if not target.parent.exists():
        raise FileNotFoundError(
            f"The folder {target.parent} does not exist: create it, or save elsewhere."
        )
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


# It is written the same way each time, and read with suspicion: nothing is allocated that the file
# is not long enough to hold, and nothing in it is ever executed.

JSON = "model.json"
SUMS = "SHA256SUMS"
_SIGNATURE = b"PK\x03\x04"

_NPY = re.compile(
    rb"\x93NUMPY\x01\x00(?s:(..))"
    rb"\{'descr': '([<>|][a-zA-Z]\d{1,9})', 'fortran_order': False, "
    rb"'shape': \((|(?:0|[1-9]\d{0,17}),(?: [1-9]\d{0,17}(?:, [1-9]\d{0,17})?)?)\), \} *\n"
)
_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|U[1-9]\d{0,7})")
_LAST_CHARACTER = 0x10FFFF


class ModelFileError(ValueError):
    """A file that is not a complete and consistent model.

    :func:`hyperboxes.load` raises it for files that are damaged, cut off, of another kind, or
    written in another version of the format.
    """

    __module__ = "hyperboxes"


def pack(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """Return the archive as bytes, which depend on nothing but the arguments."""
    members = {JSON: json.dumps(header, indent=1, sort_keys=True, allow_nan=False).encode()}
    for name in sorted(arrays):
        buffer = io.BytesIO()
        array = np.ascontiguousarray(arrays[name])
        np.lib.format.write_array(buffer, array, (1, 0), allow_pickle=False)
        members[f"{name}.npy"] = buffer.getvalue()
    members[SUMS] = _sums(members)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo(name)  # dated 1980
            member.create_system = 3
            member.external_attr = 0o644 << 16
            archive.writestr(member, content)
    return buffer.getvalue()


def unpack(file: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Read the header and the other members from a binary file, which may be of a newer format."""
    members = _read_members(file)
    if members.pop(SUMS, None) != _sums(members):
        raise ModelFileError(f"its content differs from the checksums in {SUMS}")
    return _parse_json(members.pop(JSON, b"")), members


def parse_arrays(members: dict[str, bytes]) -> dict[str, np.ndarray]:
    """Return the arrays by name; they are views of the bytes."""
    arrays = {}
    for name, content in members.items():
        if not name.endswith(".npy"):
            raise ModelFileError(f"it contains an unknown file, {name[:40]!r}")
        arrays[name.removesuffix(".npy")] = _parse_npy(name, content)
    return arrays


def is_storable(descr: str) -> bool:
    """Whether arrays of a type, named as in .npy files, are stored: Booleans, numbers, strings."""
    return _DTYPE.fullmatch(descr) is not None


def _sums(members: dict[str, bytes]) -> bytes:
    """Return the checksums of all members, as `sha256sum` prints them."""
    lines = (f"{hashlib.sha256(members[name]).hexdigest()}  {name}\n" for name in sorted(members))
    return "".join(lines).encode()


def _read_members(file: Any) -> dict[str, bytes]:
    start = file.read(len(_SIGNATURE))
    if not isinstance(start, bytes):
        raise TypeError("load reads binary files: open this one with mode 'rb'.")
    if start != _SIGNATURE:
        raise ModelFileError("hyperboxes.save has not written it")
    data = start + file.read()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_listing(archive.infolist(), len(data))
            return {member.filename: archive.read(member) for member in archive.infolist()}
    except ModelFileError:
        raise
    except Exception as error:  # zipfile raises many errors for a damaged file
        raise ModelFileError(f"it is damaged or cut off ({error})") from error


def _check_listing(listing: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse what would unfold to more than the file holds, and what hides something."""
    if any(member.compress_type != zipfile.ZIP_STORED for member in listing):
        raise ModelFileError("it is compressed, which hyperboxes.save never does")
    if sum(member.file_size for member in listing) > size:
        raise ModelFileError("its files are larger than itself")
    if len({member.filename for member in listing}) < len(listing):
        raise ModelFileError("it contains a file twice")


def _parse_json(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(
            content.decode(),
            object_pairs_hook=_no_duplicates,
            parse_float=_finite,
            parse_constant=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its {JSON} cannot be read ({error})") from error
    if not isinstance(value, dict):
        raise ModelFileError(f"its {JSON} is not an object")
    return value


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key occurs twice")
    return value


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text} is not a finite number")
    return value


def _parse_npy(name: str, content: bytes) -> np.ndarray:
    match = _NPY.match(content)
    if match is None or match.end() != 10 + int.from_bytes(match[1], "little"):
        raise ModelFileError(f"{name} is not an array of a kind that is stored")
    descr = match[2].decode()
    if not is_storable(descr):
        raise ModelFileError(f"{name} has values of type {descr}, which are never stored")
    dtype = np.dtype(descr)
    shape = tuple(int(length) for length in re.findall(rb"\d+", match[3]))
    if math.prod(shape) * dtype.itemsize != len(content) - match.end():
        raise ModelFileError(f"{name} does not have the length of its shape {shape}")
    array: np.ndarray = np.ndarray(shape, dtype, content, match.end())
    if dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise ModelFileError(f"{name} has Booleans that are neither true nor false")
    if dtype.kind == "U":
        code_points = np.frombuffer(array.tobytes(), f"{array.dtype.str[0]}u4")
        if (code_points > _LAST_CHARACTER).any():
            raise ModelFileError(f"{name} has characters that do not exist")
    return array
