"""Values of a feature that are no numbers: each has a place between 0 and 1, where boxes hold it.

Values that tell the same of the classes have places near each other. So a box, which holds the
places from one to another, holds a set of like values, and learners need to know of numbers only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

# Text that was meant as a number: with a decimal comma, or a date or a time, at times after days.
_DECIMAL = re.compile(r"[+-]?\d*,\d+")
_DATE = re.compile(
    r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([T ].*)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}( .*)?|"
    r"(-?\d+ days?,? )?\d{1,2}:\d{2}(:[\d.]+)?"
)

# A column of text with more of them among its values was meant to hold numbers.
_MOST_NUMBERS = 0.5

# Places lie farther apart; bounds of boxes in the data's units may be off by less.
_ROUNDING = 1e-11


def are_categories(texts: Iterable[str]) -> bool:
    """Tell whether texts are categories, or numbers of which some may be misspelt."""
    distinct = set(texts)
    n_numbers = sum(_is_like_a_number(text) for text in distinct)
    return bool(distinct) and n_numbers <= _MOST_NUMBERS * len(distinct)


def _is_like_a_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return _DECIMAL.fullmatch(text.strip()) is not None or looks_like_a_date(text)
    return True


def looks_like_a_date(text: str) -> bool:
    """Tell whether a text may be a date, a time or a duration."""
    return _DATE.fullmatch(text.strip()) is not None


@dataclass(frozen=True, eq=False)
class Categories:
    """The values of a feature in the order of their places.

    Attributes
    ----------
    values : tuple
        Strings, numbers or Booleans.
    places : ndarray of shape (n_values,)
        Ascending; equal for values that are too rare to tell them apart.
    tendencies : ndarray of shape (n_values,)
        What they are ordered by, ascending: the mean score of their samples, drawn to the mean.
    scores : mapping of label to float
        What a sample of each class counts for.
    mean : float
        The mean score of all samples.
    weight : float
        As how many samples of the mean score each value starts: that draws rare ones to the mean.
    """

    values: tuple[Any, ...]
    places: np.ndarray
    tendencies: np.ndarray
    scores: Mapping[Any, float]
    mean: float
    weight: float

    @cached_property
    def _places(self) -> dict[Any, float]:
        return dict(zip(self.values, self.places.tolist(), strict=True))

    def __contains__(self, value: Any) -> bool:
        return value in self._places

    def place(self, value: Any) -> float:
        """Return the place of a value, NaN if it is not known."""
        return self._places.get(value, np.nan)

    def encode(self, values: Iterable[Any]) -> np.ndarray:
        """Return the places of values."""
        places = self._places
        return np.array([places.get(value, np.nan) for value in values], np.float64)

    def held(self, low: float, high: float) -> list[Any]:
        """Return the values between two places, both included."""
        first = np.searchsorted(self.places, low - _ROUNDING)
        last = np.searchsorted(self.places, high + _ROUNDING)
        return list(self.values[first:last])

    def nearest(self, place: float, low: float, high: float) -> float:
        """Return the place of a value between two others that is nearest to a third."""
        is_between = (self.places >= low - _ROUNDING) & (self.places <= high + _ROUNDING)
        known = self.places[is_between] if is_between.any() else self.places
        return float(known[np.abs(known - place).argmin()])
