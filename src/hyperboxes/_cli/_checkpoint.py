"""Checkpoints of long runs: a folder beside the model's file, from which a run can resume.

`run.json` says what run it is and is written once, `model.hyperboxes` again and again. Both are
replaced whole or not at all, and the model itself says how many rows it has learned, so a kill at
any moment leaves a state to resume from.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperboxes._cli._common import positive_integer

_RUN = "run.json"
_MODEL = "model.hyperboxes"
_SECONDS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class CheckpointInterval:
    """How often to write a checkpoint: after so many rows or seconds."""

    rows: float = float("inf")
    seconds: float = float("inf")

    @classmethod
    def parse(cls, text: str) -> CheckpointInterval | None:
        """Parse 500000 (rows), 30s, 5m, 1h or never."""
        if text == "never":
            return None
        unit = text[-1:] if text[-1:] in _SECONDS else ""
        try:
            number = positive_integer(text.removesuffix(unit))
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a number of rows (500000), a time (30s, 5m, 1h) or never"
            ) from error
        return cls(seconds=number * _SECONDS[unit]) if unit else cls(rows=number)


class Checkpoint:
    """The checkpoint of one run: the same file, learned with the same options."""

    def __init__(
        self, output: Path, data: Path, interval: CheckpointInterval, options: dict[str, Any]
    ) -> None:
        self.folder = output.with_name(f"{output.name}.checkpoint")
        self._data = data
        self._interval = interval
        self._options = options
        self._survey: Any = None
        self._input: dict[str, Any] = {}
        self._rows, self._time = 0, time.monotonic()

    @property
    def exists(self) -> bool:
        """Whether there is something to resume from."""
        return (self.folder / _RUN).exists()

    def begin(self, find_survey: Callable[[], Any]) -> Any:
        """Start anew; return what the first pass over the file finds."""
        if self.exists:
            raise ValueError(
                f"{self.folder} is the checkpoint of a run that has not ended: add --resume to go "
                f"on with it, or delete it to start anew"
            )
        self._input = _fingerprint(self._data)
        self._survey = find_survey()
        if _size_and_time(self._data) != {key: self._input[key] for key in ("size", "mtime_ns")}:
            raise ValueError(f"{self._data} has changed while it was read")
        return self._survey

    def resume(self) -> tuple[Any, Any]:
        """Return what the first pass had found, and the model so far, None if there is none."""
        from hyperboxes import load

        try:
            run = json.loads((self.folder / _RUN).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{self.folder} is damaged: delete it to start anew") from error
        self._check_options(run["options"])
        self._check_input(run["input"])
        self._survey, self._input = run["survey"], run["input"]
        path = self.folder / _MODEL
        return self._survey, load(path) if path.exists() else None

    def save_if_due(self, model: Any, n_rows: int) -> None:
        """Save the model that has learned `n_rows` rows, if it is time to."""
        rows, seconds = n_rows - self._rows, time.monotonic() - self._time
        if rows >= self._interval.rows or seconds >= self._interval.seconds:
            self.save(model)
            self._rows, self._time = n_rows, time.monotonic()

    def save(self, model: Any) -> None:
        """Save the model."""
        from hyperboxes import save
        from hyperboxes._files.atomic import replace_file

        if not self.exists:
            self.folder.mkdir(exist_ok=True)
            run = {"options": self._options, "input": self._input, "survey": self._survey}
            replace_file(self.folder / _RUN, json.dumps(run, indent=1).encode())
        save(model, self.folder / _MODEL)

    def remove(self) -> None:
        """Delete it, once the model is saved."""
        if self.folder.is_dir():
            for path in (self.folder / _RUN, self.folder / _MODEL, *self.folder.glob(".*.tmp")):
                path.unlink(missing_ok=True)
            self.folder.rmdir()

    def _check_options(self, before: dict[str, Any]) -> None:
        for name, value in self._options.items():
            if before.get(name) != value:
                raise ValueError(
                    f"{self.folder} was made with {name} {before.get(name)!r}, not {value!r}: "
                    "resume with the same options, or delete it to start anew"
                )

    def _check_input(self, before: dict[str, Any]) -> None:
        stamp = _size_and_time(self._data)
        same = stamp["size"] == before["size"] and (
            stamp["mtime_ns"] == before["mtime_ns"] or _digest(self._data) == before["sha256"]
        )
        if not same:
            raise ValueError(
                f"{self._data} is not the file that {self.folder} was made from: resume with that "
                "one, or delete the checkpoint to start anew"
            )


def _fingerprint(path: Path) -> dict[str, Any]:
    return {**_size_and_time(path), "sha256": _digest(path)}


def _size_and_time(path: Path) -> dict[str, Any]:
    status = path.stat()
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
