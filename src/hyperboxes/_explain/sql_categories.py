"""Categories in SQL: sets of values, and numbers that stand for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hyperboxes._estimators.tables import known_categories
from hyperboxes._explain.sql_parts import double, literal


@dataclass(frozen=True)
class CategoryWriter:
    """Writes what a model knows of its categorical features; its values stand in quotes."""

    model: Any
    quote: str

    def __contains__(self, feature: int) -> bool:
        return feature in known_categories(self.model)

    def place(self, column: str, feature: int) -> str:
        """Return the number that stands for a category; NULL if it is not known."""
        known = known_categories(self.model)[feature]
        whens = " ".join(
            f"WHEN {literal(value, self.quote)} THEN {double(place)}"
            for value, place in zip(known.values, known.places.tolist(), strict=True)
        )
        return f"(CASE {column} {whens} END)" if whens else "CAST(NULL AS DOUBLE PRECISION)"

    def is_known(self, column: str, feature: int) -> str:
        """Return whether the model knows a category: else it is like NULL."""
        return self._among(column, list(known_categories(self.model)[feature].values))

    def is_held(self, column: str, feature: int, low: float, high: float, or_missing: bool) -> str:
        """Return whether a category is one of those that a box holds, or like NULL."""
        known = known_categories(self.model)[feature]
        held = known.held(low, high)
        if not or_missing:
            return self._among(column, held)
        others = [value for value in known.values if value not in held]
        if not others:
            return "1 = 1"
        return f"({column} IS NULL OR NOT {self._among(column, others)})"

    def _among(self, column: str, values: list[Any]) -> str:
        listed = [literal(value, self.quote) for value in values]
        if len(listed) == 1:
            return f"{column} = {listed[0]}"
        return f"{column} IN ({', '.join(listed)})" if listed else "1 = 0"
