"""Pieces of SQL: names, literals and expressions that databases of all kinds understand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

# Databases bound the depth of expressions, and a chain of sums is as deep as it is long.
_MOST_IN_A_CHAIN = 50

CLOSING_QUOTES = {'"': '"', "`": "`", "[": "]"}


def first_largest(scores: dict[int, str]) -> Iterator[tuple[int, list[str]]]:
    """Yield labels, and what must hold for one to have the largest score if none before has it."""
    labels = sorted(scores)
    for place, label in enumerate(labels, start=1):
        yield label, [f"{scores[label]} >= {scores[other]}" for other in labels[place:]]


def case(whens: Iterable[str], default: str) -> str:
    """Return a CASE expression."""
    lines = [f"  {when}" for when in whens]
    if default != "NULL":
        lines.append(f"  ELSE {default}")
    return "\n".join(["CASE", *lines, "END"])


def indented(text: str) -> str:
    """Return lines to stand within another expression."""
    return text.replace("\n", "\n  ")


def chain(terms: list[str], operator: str) -> str:
    """Join terms, in brackets where there are many, so that the expression is not deep."""
    while len(terms) > _MOST_IN_A_CHAIN:
        starts = range(0, len(terms), _MOST_IN_A_CHAIN)
        groups = (terms[start : start + _MOST_IN_A_CHAIN] for start in starts)
        terms = [f"({operator.join(group)})" for group in groups]
    return operator.join(terms)


def identifier(name: str, quote: str) -> str:
    """Return a quoted name."""
    closing = CLOSING_QUOTES[quote]
    return f"{quote}{name.replace(closing, 2 * closing)}{closing}"


def literal(value: Any, quote: str) -> str:
    """Return a label as SQL."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not np.isfinite(value):
            raise ValueError(f"SQL has no literal for the default {value}: pass another one.")
        return double(value)
    text = str(value).replace("'", "''")
    return f"'{text.replace(chr(92), 2 * chr(92)) if quote == '`' else text}'"


def double(value: float) -> str:
    """Return a literal of double precision: with an exponent, as the standard has it."""
    digits = repr(value + 0.0)  # no negative zero
    return digits if "e" in digits else f"{digits}e0"
