"""What cells mean: numbers of features, text of labels; the same in every chunk and every file.

Spaces around a cell do not count. A label is its text: `1`, `1.0` and `001` are three labels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperboxes._cli._common import arrow, listing
from hyperboxes._cli._tables import Chunk
from hyperboxes._extras import need
from hyperboxes._models.categories import are_categories, looks_like_a_date

# Cells of features that say that a value is missing, in lower case.
MISSING = ("", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>", "?")

# How Booleans are written, in lower case; what they are as numbers, and as categories.
_TRUTH = {"true": "1", "false": "0"}
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class Columns:
    """The features and the target of a table, and the label that marks rows without one."""

    features: list[str]
    target: str
    unlabeled: str | None = None
    categorical: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()  # of these

    @property
    def all(self) -> list[str]:
        """All columns that are read."""
        return [*self.features, self.target]

    def read(self, chunk: Chunk) -> tuple[Any, np.ndarray]:
        """Return the samples as a data frame, and their labels."""
        labels = check_labels(chunk, self.target, self.unlabeled)
        return read_frame(chunk, self.features, self.categorical, self.boolean), labels


def read_numbers(chunk: Chunk, columns: Sequence[str]) -> np.ndarray:
    """Return the columns as a table of float64, NaN for missing values."""
    numbers = np.empty((len(chunk), len(columns)))
    wrong = []
    for j, column in enumerate(columns):
        values = _to_numbers(chunk.table[column], chunk.decimal)
        if values is None:
            wrong.append(column)
        else:
            numbers[:, j] = values
    if wrong:
        row, text = _first_text(chunk, wrong[0])
        raise ValueError(
            f"{chunk.file}: not numbers: {listing(wrong)} (row {row} of {wrong[0]} is {text!r}). "
            f"{_advice(text, chunk.decimal)}"
        )
    if np.isinf(numbers).any():
        i, j = np.argwhere(np.isinf(numbers))[0]
        raise ValueError(
            f"{chunk.file}: row {chunk.start + i + 1} of {columns[j]} is infinite; "
            "leave the cell empty if the value is not known"
        )
    return numbers


def read_frame(
    chunk: Chunk, columns: Sequence[str], categorical: Sequence[str], boolean: Sequence[str] = ()
) -> Any:
    """Return the columns as a data frame: categories, None where missing, and numbers.

    Categories are texts, and True and False in columns that are `boolean`.
    """
    pandas = need("pandas", "cli", "The command line")
    numeric = [column for column in columns if column not in categorical]
    frame = pandas.DataFrame(read_numbers(chunk, numeric), columns=numeric)
    for column in categorical:
        cells = read_categories(chunk, column, boolean)
        frame[column] = pandas.Series(cells, dtype=object)
    return frame[list(columns)]


def read_categories(
    chunk: Chunk, column: str, boolean: Sequence[str] = ()
) -> list[str | bool | None]:
    """Return the texts of a column, None where a cell is missing; or the Booleans."""
    texts = read_labels(chunk, column).tolist()
    others = _BOOLEANS if column in boolean else {}
    return [
        None if (lower := text.lower()) in MISSING else others.get(lower, text) for text in texts
    ]


def find_categorical(chunk: Chunk, columns: Sequence[str]) -> list[str]:
    """Return the columns that hold Booleans, or text of which at most half are numbers."""
    boolean = find_boolean(chunk, columns)
    return [c for c in columns if c in boolean or _holds_categories(chunk, c)]


def find_boolean(chunk: Chunk, columns: Sequence[str]) -> list[str]:
    """Return the columns that hold nothing but true and false, as far as cells are known."""
    return [column for column in columns if _holds_booleans(chunk, column)]


def _holds_booleans(chunk: Chunk, column: str) -> bool:
    values = _plain(chunk.table[column])
    if not _is_text(values.type):
        return bool(arrow().types.is_boolean(values.type))
    known = _distinct(values)
    return bool(known) and known <= set(_BOOLEANS)


def _holds_categories(chunk: Chunk, column: str) -> bool:
    values = _plain(chunk.table[column])
    if not _is_text(values.type) or _to_numbers(values, chunk.decimal) is not None:
        return False
    return are_categories(_distinct(values))


def _distinct(texts: Any) -> set[str]:
    """Return the texts that say something, in lower case."""
    pc = arrow("compute")
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(pc.unique(texts)))
    return set(lower.to_pylist()) - {None, *MISSING}


def _advice(text: str, decimal: str) -> str:
    """Say what to do about a cell that is no number."""
    if looks_like_a_date(text):
        return (
            "Make numbers of dates and times first, such as the days since a date, the weekday or "
            "the hour, or train without such columns (fit --drop)"
        )
    other = "," if decimal == "." else "."
    if re.fullmatch(rf"[+-]?\d*{re.escape(other)}\d+", text.strip()):
        return f"If that is a number with decimals, add --decimal {other}"
    return (
        "Turn them into numbers, train without such columns (fit --drop), or take them as "
        "categories if the learner does (fit --categorical)"
    )


def read_labels(chunk: Chunk, column: str) -> np.ndarray:
    """Return the texts of a column, empty where a cell is missing."""
    pa = arrow()
    pc = arrow("compute")
    values = _plain(chunk.table[column])
    if _is_text(values.type):
        values = pc.utf8_trim_whitespace(values)
    elif pa.types.is_nested(values.type):
        raise ValueError(f"{chunk.file}: {column} has nested values, which are no labels")
    texts = ["" if v is None or v != v else str(v) for v in values.to_pylist()]
    return np.array(texts, dtype=str)


def check_labels(chunk: Chunk, target: str, unlabeled: Any) -> np.ndarray:
    """Return the labels, of which none is empty unless that says that there is none."""
    labels = read_labels(chunk, target)
    if unlabeled != "" and (missing := labels == "").any():
        row = chunk.start + int(np.argmax(missing)) + 1
        raise ValueError(
            f"{chunk.file}: row {row} has no {target}. If that says that a sample has no label, "
            'add --unlabeled ""'
        )
    return labels


def _to_numbers(values: Any, decimal: str) -> np.ndarray | None:
    """Return float64, or None if there are cells that are no numbers."""
    pa = arrow()
    pc = arrow("compute")
    values = _plain(values)
    if pa.types.is_temporal(values.type):
        return None
    try:
        if _is_text(values.type):
            values = _parse(_with_points(values, decimal))
        return pc.cast(values, pa.float64(), safe=False).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _with_points(texts: Any, decimal: str) -> Any:
    """Write decimals after a point; a text that has one already then is no number."""
    if decimal == ".":
        return texts
    pc = arrow("compute")
    return pc.replace_substring(pc.replace_substring(texts, ".", ".."), decimal, ".")


def _parse(texts: Any) -> Any:
    """Return numbers; raise ArrowInvalid if a text is none."""
    pa = arrow()
    pc = arrow("compute")
    texts = pc.utf8_trim_whitespace(texts)
    try:
        return pc.cast(texts, pa.float64())  # the usual case, which is quick
    except pa.ArrowInvalid:
        texts = pc.utf8_lower(texts)
        for word, number in _TRUTH.items():
            texts = pc.if_else(pc.equal(texts, word), number, texts)
        missing = pc.is_in(texts, pa.array(MISSING, texts.type))
        return pc.cast(pc.if_else(missing, None, texts), pa.float64())


def _first_text(chunk: Chunk, column: str) -> tuple[int, str]:
    """Return the row and the text of the first cell that is no number."""
    values = _plain(chunk.table[column])
    for row in range(len(values)):
        if _to_numbers(values.slice(row, 1), chunk.decimal) is None:
            return chunk.start + row + 1, str(values[row].as_py())
    raise AssertionError(column)


def _plain(values: Any) -> Any:
    pa = arrow()
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values


def _is_text(kind: Any) -> bool:
    pa = arrow()
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
