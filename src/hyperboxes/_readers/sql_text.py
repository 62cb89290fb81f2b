"""Parts of SQL statements: literals, sums, categories, and the steps of a pipeline."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from hyperboxes._models.categories import Categories

# Databases bound the depth of expressions, and a chain of sums is as deep as it is long.
_MOST_IN_A_CHAIN = 50

CLOSING_QUOTES = {'"': '"', "`": "`", "[": "]"}


def first_largest(scores: dict[int, str]) -> Iterator[tuple[int, list[str]]]:
    """Yield labels, and what must hold for one to have the largest score if none before has it."""
    labels = sorted(scores)
    for i, label in enumerate(labels, start=1):
        yield label, [f"{scores[label]} >= {scores[other]}" for other in labels[i:]]


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


def unused_name(name: str, columns: list[str]) -> str:
    """Return a name, with underscores until it is no part of any column."""
    while any(name in column.lower() for column in columns):
        name += "_"
    return name


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
        return double(value)
    text = str(value).replace("'", "''")
    return f"'{text.replace(chr(92), 2 * chr(92)) if quote == '`' else text}'"


def double(value: float) -> str:
    """Return a literal of double precision: with an exponent, as the standard has it."""
    if not np.isfinite(value):
        raise ValueError(f"SQL has no literal for the number {value}: pass a finite one.")
    digits = repr(value + 0.0)  # no negative zero
    return digits if "e" in digits else f"{digits}e0"


NULL = "CAST(NULL AS DOUBLE PRECISION)"


def double_or_null(value: float) -> str:
    """Return a literal, NULL for NaN."""
    return NULL if np.isnan(value) else double(value)


@dataclass(frozen=True)
class CategoryWriter:
    """Writes conditions on the columns of categorical features, whose values stand in quotes."""

    categories: Mapping[int, Categories]
    quote: str

    def __contains__(self, feature: int) -> bool:
        return feature in self.categories

    def positions(self, columns: list[str]) -> list[str]:
        """Return columns with encoded positions in place of categories, NULL if unknown."""
        return [
            self._position(column, self.categories[j]) if j in self else column
            for j, column in enumerate(columns)
        ]

    def _position(self, column: str, known: Categories) -> str:
        whens = " ".join(
            f"WHEN {literal(value, self.quote)} THEN {double(position)}"
            for value, position in zip(known.values, known.positions.tolist(), strict=True)
        )
        return f"(CASE {column} {whens} END)" if whens else NULL

    def is_known(self, column: str, feature: int) -> str:
        """Return whether a category is known: the others are as good as NULL."""
        return self._among(column, list(self.categories[feature].values))

    def is_contained(
        self, column: str, feature: int, low: float, high: float, or_missing: bool
    ) -> str:
        """Return whether a category is one of those in a box, or NULL or unknown."""
        known = self.categories[feature]
        contained = known.values_between(low, high)
        if not or_missing:
            return self._among(column, contained)
        others = [value for value in known.values if value not in contained]
        if not others:
            return "1 = 1"
        return f"({column} IS NULL OR NOT {self._among(column, others)})"

    def _among(self, column: str, values: list[Any]) -> str:
        listed = [literal(value, self.quote) for value in values]
        if len(listed) == 1:
            return f"{column} = {listed[0]}"
        return f"{column} IN ({', '.join(listed)})" if listed else "1 = 0"


# Each does the same operations on doubles in the same order as scikit-learn, so that the model gets
# the same numbers.


def write_steps_sql(steps: Sequence[Any], columns: list[str]) -> list[str]:
    """Return the expressions for the model's features, of those for the columns of the table."""
    for step in steps:
        write = _WRITERS.get(type(step))
        if write is None or not _is_plain(step):
            raise TypeError(
                f"export_sql cannot write this {type(step).__name__} as SQL, only scalers and "
                "SimpleImputer with plain options. Store what the steps before the model make of "
                "the table, and pass the last step of the Pipeline."
            )
        columns = write(step, columns)
    return columns


def _is_plain(step: Any) -> bool:
    """Whether a step does what is written here, for its options and what it has found."""
    if isinstance(step, SimpleImputer):
        is_number = np.issubdtype(step.statistics_.dtype, np.floating)
        has_all = is_number and not np.isnan(step.statistics_).any()
        return bool(has_all and step.missing_values is np.nan and not step.add_indicator)
    return not getattr(step, "clip", False)


def _apply(columns: list[str], operator: str, numbers: np.ndarray | None) -> list[str]:
    """Return columns with a number each, NULL for NaN; None: they stay as they are."""
    if numbers is None:
        return columns
    pairs = zip(columns, np.asarray(numbers, np.float64).tolist(), strict=True)
    return [f"({column} {operator} {double_or_null(number)})" for column, number in pairs]


def _scale(step: Any, columns: list[str]) -> list[str]:
    """Subtract a centre, if there is one, and divide."""
    centre = getattr(step, "mean_" if isinstance(step, StandardScaler) else "center_", None)
    if isinstance(step, StandardScaler) and not step.with_mean:
        centre = None  # it is known all the same
    return _apply(_apply(columns, "-", centre), "/", step.scale_)


def _min_max(step: Any, columns: list[str]) -> list[str]:
    return _apply(_apply(columns, "*", step.scale_), "+", step.min_)


def _impute(step: Any, columns: list[str]) -> list[str]:
    pairs = zip(columns, step.statistics_.tolist(), strict=True)
    return [f"COALESCE({column}, {double(number)})" for column, number in pairs]


_WRITERS: dict[type, Callable[[Any, list[str]], list[str]]] = {
    StandardScaler: _scale,
    RobustScaler: _scale,
    MaxAbsScaler: _scale,
    MinMaxScaler: _min_max,
    SimpleImputer: _impute,
}
