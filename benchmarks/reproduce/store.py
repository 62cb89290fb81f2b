"""Results that were computed already, a line of JSON each: what is finished stays so."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.reproduce.cells import Cell, Result

_HERE = Path(__file__).resolve().parent
_PRODUCT = _HERE.parents[1] / "src" / "hyperboxes"
# Modules that results depend on besides the experiment's own.
_MEASURE = ("learners", "loading", "protocol")
_ALSO = {"published_order": ("tie_order", "old_argsort")}


class Store:
    """Results by part, in a file to which every finished part is added at once.

    A result counts as long as the code that it depends on is unchanged: the package, if it is
    what the part measures, and the modules of the experiment. A torn line, which a killed
    run may leave, counts for nothing.
    """

    def __init__(self, path: Path, data: str) -> None:
        self._path = path
        self._data = data
        self._lines: dict[str, str] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text() if path.exists() else ""
        for line in text.splitlines():
            self._keep(line)
        if not text.endswith("\n"):
            self._append("")

    def __contains__(self, cell: Cell) -> bool:
        return self._key(cell) in self._lines

    def __getitem__(self, cell: Cell) -> Result:
        result: Result = self._record(cell)["result"]
        return result

    def seconds(self, cell: Cell) -> float:
        """Return how long a part took."""
        return float(self._record(cell)["seconds"])

    def add(self, cell: Cell, result: Result, seconds: float) -> None:
        """Keep a result."""
        line = json.dumps({"key": self._key(cell), "seconds": seconds, "result": result})
        self._keep(line)
        self._append(line)

    def forget(self, cells: Iterable[Cell]) -> None:
        """Drop the results of some parts."""
        for cell in cells:
            self._lines.pop(self._key(cell), None)
        whole = self._path.with_suffix(".new")
        whole.write_text("".join(f"{line}\n" for line in self._lines.values()))
        whole.replace(self._path)

    def _keep(self, line: str) -> None:
        try:
            self._lines[json.loads(line)["key"]] = line
        except ValueError:
            return

    def _record(self, cell: Cell) -> dict[str, Any]:
        record: dict[str, Any] = json.loads(self._lines[self._key(cell)])
        return record

    def _append(self, line: str) -> None:
        with self._path.open("a") as file:
            file.write(f"{line}\n")

    def _key(self, cell: Cell) -> str:
        return f"{cell.key}: {_checksum(cell.experiment, cell.is_ours)}: {self._data}"


@cache
def _checksum(experiment: str, is_ours: bool) -> str:
    names = (experiment, *_MEASURE, *_ALSO.get(experiment, ()))
    sources = [_HERE / f"{name}.py" for name in names]
    if is_ours:
        sources += sorted(_PRODUCT.rglob("*.py"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources))
    return digest.hexdigest()[:12]
