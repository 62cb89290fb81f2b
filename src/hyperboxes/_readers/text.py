"""Words that all readers share: conditions, values of categories, numbers, aligned columns."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from hyperboxes._models.categories import Categories

# Of more values in a set some are left out of explanations; rules have all.
MOST_SHOWN = 4


class Numbers(Protocol):
    """How the ends of intervals are written."""

    @property
    def categories(self) -> Mapping[int, Categories]:
        """The categories of the features that have them."""

    def low(self, feature: int, low: float, high: float) -> str:
        """Write the lower end of an interval."""

    def high(self, feature: int, low: float, high: float) -> str:
        """Write the upper end of an interval."""


def condition_text(
    numbers: Numbers,
    feature: int,
    low: float,
    high: float,
    *,
    from_start: bool = False,
    to_end: bool = False,
    most: int | None = None,
) -> str:
    """Write which values lie in an interval: "= 3", "<= 3", ">= 1", "1 to 3" or a set.

    An end is left out if it is infinite, or if the interval reaches from the start or to the end of
    all values. Of a set, at most about `most` values are written; None: all.
    """
    if feature in numbers.categories:
        return set_text(numbers.categories[feature], low, high, most)
    first, last = numbers.low(feature, low, high), numbers.high(feature, low, high)
    if first == last:
        return f"= {first}"
    if from_start or np.isinf(low):
        return f"<= {last}"
    return f">= {first}" if to_end or np.isinf(high) else f"{first} to {last}"


def half_open_text(name: str, low: float, high: float) -> str:
    """Write which values of a feature lie in an interval, in full: "1 < width <= 3".

    Lower ends are written as the next number below, which lies outside. Infinite ends are open.
    """
    below, last = number_text(np.nextafter(low, -np.inf)), number_text(high)
    return {
        (False, False): f"{name} is not missing",
        (True, False): f"{name} > {below}",
        (False, True): f"{name} <= {last}",
        (True, True): f"{below} < {name} <= {last}",
    }[bool(np.isfinite(low)), bool(np.isfinite(high))]


def whole_text(low: float, high: float) -> str:
    """Write which whole numbers lie in an interval: "2 or more", "at most 5", "2 to 5" or "2"."""
    first, last = number_text(np.ceil(low)), number_text(np.floor(high))
    if np.isinf(low) or np.isinf(high):
        return f"at most {last}" if np.isinf(low) else f"{first} or more"
    return first if first == last else f"{first} to {last}"


def category_condition(categories: Categories, position: float, low: float, high: float) -> str:
    """Write the category at a position of an interval, and what else lies inside or outside of it.

    That is "employed (not unemployed)" or "employed (or own)", whichever is shorter.
    """
    own = category_text(categories, position)
    contained = categories.values_between(low, high)
    others = [str(value) for value in categories.values if value not in contained]
    alike = categories.values_between(position, position)
    more = [str(value) for value in contained if value not in alike]
    if not others or not more:
        return own
    word, names = ("not", others) if len(others) <= len(more) else ("or", more)
    if len(names) > MOST_SHOWN + 1:
        names = [*names[:MOST_SHOWN], f"{len(names) - MOST_SHOWN} more"]
    return f"{own} ({word} {', '.join(names)})"


def set_text(categories: Categories, low: float, high: float, most: int | None = None) -> str:
    """Write which values lie between two positions: "= a", "in {a, b}" or "not in {c}".

    Of more than `most` values some are left out, and their number is written.
    """
    contained = categories.values_between(low, high)
    others = [value for value in categories.values if value not in contained]
    if len(contained) == 1:
        return f"= {contained[0]}"
    # Unknown values are not contained, so few must be left for the rest to stand for all.
    if len(others) == 1 and len(contained) > 2:
        return f"!= {others[0]}"
    if others and 3 * len(others) < len(contained):
        return f"not in {_braces(others, most)}"
    return f"in {_braces(contained, most)}"


def _braces(values: list[Any], most: int | None) -> str:
    names = sorted(map(str, values))
    if most is not None and len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} more"]
    return f"{{{', '.join(names)}}}"


def category_text(categories: Categories, position: float) -> str:
    """Write the value at a position, or the values where several are too rare to differ."""
    contained = map(str, categories.values_between(position, position))
    return " or ".join(contained) or "a value that is not known"


def category_value(categories: Categories, position: float) -> Any:
    """Return the value at a position for JSON: a list where there are several, None for none."""
    contained = [] if np.isnan(position) else categories.values_between(position, position)
    return contained[0] if len(contained) == 1 else contained or None


def number_text(value: float) -> str:
    """Write a number with as few digits as distinguish it from all others."""
    return repr(float(value) + 0.0).removesuffix(".0")  # no "-0"


def json_value(value: Any) -> Any:
    """Return a label or number as JSON can have it: no types of NumPy, and None for NaN."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if value != value else value


def align(rows: Sequence[Sequence[str]], sides: str = "<", between: str = "  ") -> list[str]:
    """Return the lines of a table, of which `sides` has "<" or ">" for each column.

    The last of them applies to all further columns.
    """
    columns = list(zip(*rows, strict=True))
    sides += sides[-1] * (len(columns) - len(sides))
    widths = [max(map(len, column)) for column in columns]
    return [
        between.join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
