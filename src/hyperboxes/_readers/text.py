"""Words and numbers that all readers share: conditions, categories, bounds, aligned columns.

Bounds of boxes have as few digits as are true. One of few digits is written as it is. Others are
rounded outwards, so that what a box contains satisfies what is written, but not so far that another
known value of the feature does: a bound of another box, or a value of the caller's samples. Values
count as different where the model distinguishes them, which compares them after scaling.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cached_property
from typing import Any, Self

import numpy as np

from hyperboxes._models.categories import Categories
from hyperboxes._models.samples import MinMaxScale
from hyperboxes._readers.fitted import FittedModel

# Of more values in a set some are left out of explanations; rules have all.
MOST_SHOWN = 4


def condition_text(
    numbers: Rounding | Bounds,
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


# Beyond so many decimals, or digits before the point, numbers are written with an exponent.
_MOST_DECIMALS = 9
_MOST_DIGITS = 15
_TINY = 1e-4  # others may have more decimals, so that 0.1234567890123 is no 1.2e-1
# Numbers of so many digits are written as they are: people have typed them, or might have.
_FEW_DIGITS = 6
_OWN_DIGITS = 9  # of a sample, which readers compare with their data
# Rounding a bound may widen a box by this part of its side, and of the feature's range.
_SHARE_OF_SIDE, _SHARE_OF_RANGE = 0.1, 0.01
# Bounds move by up to this part of the way to the next value that is known, and values of samples
# by less than the rest of the way to a bound: so neither passes the other.
_SHARE_OF_BOUNDS, _SHARE_OF_VALUES = 0.5, 0.4

# What arithmetic adds to 0.3, as a part of a feature's range.
_NOISE = 1e-12

_EXACT = Context(prec=1000, rounding=ROUND_HALF_EVEN)


@dataclass(frozen=True, eq=False)
class Rounding:
    """How the numbers of each feature are written, or the `categories` that they stand for.

    `n_decimals` are the least numbers of decimals of each feature. `lows` and `highs` are the
    bounds of all boxes, scaled and in order, and `known` both together with values of samples. With
    `is_fixed` all numbers have as many decimals as that, whatever is known.
    """

    scale: MinMaxScale
    ranges: np.ndarray
    n_decimals: list[int]
    lows: list[list[float]]
    highs: list[list[float]]
    known: list[list[float]]
    is_fixed: bool = False
    categories: Mapping[int, Categories] = field(default_factory=dict)
    _written: dict[tuple[int, int, float, float], Decimal] = field(default_factory=dict)
    _inside: dict[tuple[int, float, float], float] = field(default_factory=dict)

    @classmethod
    def of(cls, fitted: FittedModel, *samples: np.ndarray, decimals: int | None = None) -> Self:
        """Return the rounding for the bounds of a model's boxes, and for samples if given.

        Places are the caller's `decimals`, or as many as distinguish 1/100 to 1/1000 of a feature's
        range, less those in which all numbers are 0.
        """
        boxes, scale = fitted.hyperboxes, fitted.scale
        ranges = _ranges(scale)
        values = np.concatenate([boxes.lower, boxes.upper, *samples])
        if decimals is None:
            n_decimals = [_count_decimals(*column) for column in zip(values.T, ranges, strict=True)]
        else:
            n_decimals = [decimals] * len(scale.low)
        ends = boxes.lower, boxes.upper, values
        lows, highs, known = (_in_order(scale.transform(rows)) for rows in ends)
        numbers = scale, ranges, n_decimals, lows, highs, known
        return cls(*numbers, is_fixed=decimals is not None, categories=fitted.categories)

    def beside(self, *samples: np.ndarray) -> Self:
        """Return what also distinguishes bounds from the values of a few samples."""
        known = [values.copy() for values in self.known]
        for sample in samples:
            for values, value in zip(known, self.scale.transform(sample).tolist(), strict=True):
                if value == value:
                    insort(values, value)
        return replace(self, known=known, _written={})

    def interval(self, feature: int, low: float, high: float) -> str:
        """Write an interval: "= 3" for a point that is written in full, else both ends."""
        return condition_text(self, feature, low, high, most=MOST_SHOWN)

    def low(self, feature: int, low: float, high: float) -> str:
        """Write the lower end of an interval."""
        return self._text(feature, self._outwards(feature, low, high - low, -1))

    def high(self, feature: int, low: float, high: float) -> str:
        """Write the upper end of an interval."""
        return self._text(feature, self._outwards(feature, high, high - low, 1))

    def number(self, feature: int, value: float) -> str:
        """Write a value of a sample, which stays on the same side of all bounds."""
        if feature in self.categories:
            return category_text(self.categories[feature], value)
        return self._text(feature, self._nearest(feature, value))

    def length(self, feature: int, value: float) -> str:
        """Write a distance between values, which is never written as 0 unless it is."""
        number = _round(value, self._first_decimals(feature, value))
        return self._text(feature, number) if number or not value else f"{value:.1g}"

    def lower(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the lower ends of intervals, one row each, as the numbers that are written."""
        sides = high - low
        return _each(low, lambda row, j: self._outwards(j, low[row, j], sides[row, j], -1))

    def upper(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the upper ends, likewise."""
        sides = high - low
        return _each(high, lambda row, j: self._outwards(j, high[row, j], sides[row, j], 1))

    def values(self, values: np.ndarray) -> np.ndarray:
        """Return the values of samples, one row each, as the numbers that are written."""
        return _each(values, lambda row, j: self._nearest(j, values[row, j]))

    def full(self, feature: int, value: float) -> str:
        """Write all digits of a value."""
        if feature in self.categories:
            return category_text(self.categories[feature], value)
        return self._text(feature, Decimal(repr(float(value))))

    def inside(self, feature: int, end: float, other_end: float) -> float:
        """Return a number of few digits at an end of an interval: inside, or as near as they go."""
        key = (feature, float(end), float(other_end))
        if key not in self._inside:
            self._inside[key] = self._find_inside(*key)
        return self._inside[key]

    def _find_inside(self, feature: int, end: float, other_end: float) -> float:
        if feature in self.categories:
            return self.categories[feature].nearest(end, *sorted([end, other_end]))
        scaled = self._scaled(feature)
        least, most = sorted([scaled(end), scaled(other_end)])
        first = self._first_decimals(feature, end)
        for n_decimals in range(first, first + 3):
            number = self._beyond(feature, end, n_decimals, 1 if end < other_end else -1)
            if least <= scaled(float(number)) <= most:
                return float(number)
        return float(_round(end, first + 2))

    def _outwards(self, feature: int, end: float, length: float, side: int) -> Decimal:
        """Return the number that is written for the end of an interval, on its side (-1 or 1)."""
        if feature in self.categories:
            return Decimal(repr(float(end)))
        key = (feature, side, float(end), float(length))
        if key not in self._written:
            self._written[key] = self._round_outwards(*key)
        return self._written[key]

    def _round_outwards(self, feature: int, side: int, end: float, length: float) -> Decimal:
        if self.is_fixed:
            return self._beyond(feature, end, self.n_decimals[feature], side)
        if (short := self._short(feature, end)) is not None:
            return short
        scaled = self._scaled(feature)
        position = scaled(end)
        most = min(_SHARE_OF_SIDE * (length or np.inf), _SHARE_OF_RANGE * self.ranges[feature])
        limit = _SHARE_OF_BOUNDS * abs(_next(self.known[feature], position, side) - position)
        for n_decimals in self._tried(feature, end):
            number = self._beyond(feature, end, n_decimals, side)
            is_near = abs(float(number) - end) <= most
            if is_near and abs(scaled(float(number)) - position) <= limit:
                return number
        return Decimal(repr(end))

    def _nearest(self, feature: int, value: float) -> Decimal:
        """Return the number that is written for a value of a sample."""
        value = float(value)
        if feature in self.categories:
            return Decimal(repr(value))
        if self.is_fixed:
            return _round(value, self.n_decimals[feature])
        if (short := self._short(feature, value, _OWN_DIGITS)) is not None:
            return short
        scaled = self._scaled(feature)
        position, lows, highs = scaled(value), self.lows[feature], self.highs[feature]
        least = max(_next(lows, position, -1), _next(highs, position, -1))
        most = min(_next(lows, position, 1), _next(highs, position, 1))
        # What lies on a bound may only move into the box.
        below = 0.0 if _has(lows, position) else _SHARE_OF_VALUES * (position - least)
        above = 0.0 if _has(highs, position) else _SHARE_OF_VALUES * (most - position)
        for n_decimals in self._tried(feature, value):
            number = _round(value, n_decimals)
            if -below <= scaled(float(number)) - position <= above:
                return number
        return Decimal(repr(value))

    def _short(self, feature: int, value: float, digits: int = _FEW_DIGITS) -> Decimal | None:
        """Return a value as it is if it has few digits."""
        short = Decimal(f"{value:.{digits}g}")
        scaled = self._scaled(feature)
        return short if scaled(float(short)) == scaled(value) else None

    def _beyond(self, feature: int, end: float, n_decimals: int, side: int) -> Decimal:
        """Round an end outwards, on its side; a number that the model takes as the same will do."""
        scaled = self._scaled(feature)
        number = _round(end, n_decimals)
        if side * scaled(float(number)) < side * scaled(end):
            number = _EXACT.add(number, Decimal(side).scaleb(-n_decimals, _EXACT))
        return number

    def _tried(self, feature: int, value: float) -> range:
        """Return the decimals to try, the fewest first, until all digits of a float are there."""
        first = self._first_decimals(feature, value)
        return range(first, first + 25)

    def _first_decimals(self, feature: int, value: float) -> int:
        n_decimals = self.n_decimals[feature]
        return max(n_decimals, 0) if abs(value) < 10.0**_MOST_DIGITS else n_decimals

    def _scaled(self, feature: int) -> Callable[[float], float]:
        low, span = self._scales[feature]
        return lambda value: (value - low) / span

    @cached_property
    def _scales(self) -> list[tuple[float, float]]:
        return list(zip(self.scale.low.tolist(), self.scale.span.tolist(), strict=True))

    def _text(self, feature: int, number: Decimal) -> str:
        """Write a number in full, with as many decimals as the feature has at least."""
        number = number.normalize(_EXACT) if number else Decimal(0)  # no "-0"
        decimals = max(self.n_decimals[feature], -_exponent(number), 0)
        is_tiny = decimals > _MOST_DECIMALS and abs(number) < _TINY
        if not is_tiny and abs(number) < 10**_MOST_DIGITS:
            return f"{number:.{decimals}f}"
        return f"{number:e}" if number else "0"


@dataclass(frozen=True)
class Bounds:
    """How the bounds of an ensemble's boxes are written: with few decimals.

    They lie somewhere between values of training samples, so they have only as many decimals as
    distinguish some hundredths of a feature's range.
    """

    decimals: list[int]
    categories: Mapping[int, Categories]

    @classmethod
    def of(cls, fitted: FittedModel) -> Self:
        """Return how the bounds of a model are written."""
        spans = (fitted.scale.high - fitted.scale.low).tolist()
        decimals = [max(0, math.ceil(2.5 - math.log10(s))) if s > 0 else 2 for s in spans]
        return cls(decimals, fitted.categories)

    def listed(
        self, features: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> list[tuple[int, str]]:
        """Return the conditions of a box, as pairs of a feature and a text."""
        ends = zip(features.tolist(), lower.tolist(), upper.tolist(), strict=True)
        return [
            (j, condition_text(self, j, low, high))
            for j, low, high in ends
            if math.isfinite(low) or math.isfinite(high)
        ]

    def low(self, feature: int, low: float, high: float) -> str:
        """Write the lower end of an interval."""
        return f"{low:.{self.decimals[feature]}f}"

    def high(self, feature: int, low: float, high: float) -> str:
        """Write the upper end of an interval."""
        return f"{high:.{self.decimals[feature]}f}"

    def interval(self, feature: int, low: float, high: float) -> str:
        """Write the bounds of a box in a feature."""
        return condition_text(self, feature, low, high, most=MOST_SHOWN)

    def number(self, feature: int, value: float) -> str:
        """Write a value of a sample."""
        if feature in self.categories:
            return category_text(self.categories[feature], value)
        return f"{value:.{_OWN_DIGITS}g}"


def _ranges(scale: MinMaxScale) -> np.ndarray:
    """Return the range of each feature; the size of its value if it has only one."""
    sizes = np.abs(scale.low)
    return np.where(scale.high > scale.low, scale.span, np.where(sizes > 0, sizes, 1.0))


def _count_decimals(values: np.ndarray, span: float) -> int:
    """Return the decimals that distinguish 1/100 to 1/1000 of a range, but for zeros at the end."""
    most = 2 - int(np.floor(np.log10(span)))
    if not 0 < most <= _MOST_DECIMALS:
        return most
    known = values[np.isfinite(values)]
    with np.errstate(over="ignore", invalid="ignore"):
        errors = ((d, np.abs(np.round(known, d) - known)) for d in range(most))
        return next((d for d, error in errors if (error <= _NOISE * span).all()), most)


def _in_order(rows: np.ndarray) -> list[list[float]]:
    """Return the values of each feature, without those that are missing."""
    return [np.unique(column[~np.isnan(column)]).tolist() for column in rows.T]


def _next(values: list[float], position: float, side: int) -> float:
    """Return the next of some values, in order, on a side of a place."""
    after = bisect_right(values, position) if side > 0 else bisect_left(values, position) - 1
    return values[after] if 0 <= after < len(values) else side * np.inf


def _has(values: list[float], position: float) -> bool:
    return bisect_left(values, position) < bisect_right(values, position)


def _round(value: float, n_decimals: int) -> Decimal:
    """Round to decimals, exactly; below 0 of them to tens, hundreds and so on."""
    return Decimal(float(value)).quantize(Decimal(1).scaleb(-n_decimals, _EXACT), context=_EXACT)


def _each(values: np.ndarray, write: Callable[[int, int], Decimal]) -> np.ndarray:
    """Return what is written for all values that are known."""
    written = np.array(values, float)
    for row, j in np.argwhere(np.isfinite(written)).tolist():
        written[row, j] = float(write(row, j))
    return written


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent


def several_text(n_neighbors: int) -> str:
    """Return how several nearest boxes decide."""
    return f"the {n_neighbors} nearest boxes of each class decide together"
