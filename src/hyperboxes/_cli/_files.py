"""Files that commands write are checked before the work begins."""

from __future__ import annotations

import os
from pathlib import Path

from hyperboxes._cli._common import STDIO, UsageError


def check_output(output: str, *inputs: str) -> Path:
    """Refuse a place that cannot be written to, or that would overwrite what is read."""
    path = Path(output)
    if output == STDIO:
        raise UsageError("a model cannot be written to standard output: name a file")
    if path.is_dir():
        raise IsADirectoryError(21, "Is a folder, not a file", output)
    if not path.parent.is_dir():
        raise FileNotFoundError(2, "No such folder", str(path.parent))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(13, "Not allowed to write", output)
    for name in inputs:
        if name != STDIO and path.exists() and Path(name).exists() and path.samefile(name):
            raise UsageError(f"{output} is read from: write to another file")
    return path
