"""Categories of samples that are not at hand together: counted in pieces, placed once."""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperboxes._learning.categories import Column, learn_categories
from hyperboxes._models.categories import Categories

# How often each value of some features came with each label, None for samples without one.
Tally = dict[int, dict[Any, dict[Any, int]]]


def add_tallies(tally: Tally, other: Tally) -> Tally:
    """Return what both have counted."""
    total: Tally = {}
    for counted in (tally, other):
        take_in(total, counted)
    return total


def take_in(total: Tally, tally: Tally) -> None:
    """Add what was counted to a total."""
    for j, values in tally.items():
        column = total.setdefault(j, {})
        for value, counts in values.items():
            own = column.setdefault(value, {})
            for label, n in counts.items():
                own[label] = own.get(label, 0) + n


def place_categories(tally: Tally, classes: list[Any]) -> dict[int, Categories]:
    """Place the values by what they tell of the classes: what one process would have learned."""
    codes_of = {label: code for code, label in enumerate(classes)} | {None: -1}
    found = {}
    for j, column in sorted(tally.items()):
        rows = [
            (code, codes_of[label], n)
            for code, counts in enumerate(column.values())
            for label, n in counts.items()
        ]
        codes, labels, weights = np.array(rows, np.int64).reshape(-1, 3).T
        found[j] = learn_categories(
            Column(list(column), codes, labels, classes, weights.astype(np.float64))
        )
    return found
