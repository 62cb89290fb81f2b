"""How models are put into words: names of features and classes, and numbers people can read.

Numbers are rounded by the range of their feature: digits that tell nothing are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hyperboxes._explain.reading import classes_or_clusters, is_classifier, read_scale

# Beyond so many decimals, or digits before the point, numbers are written with an exponent.
_MOST_DECIMALS = 9
_MOST_DIGITS = 15


def name_features(model: Any, names: Any = None, parameter: str = "feature_names") -> list[str]:
    """Return the caller's names of the features, else those of the fit, else x0, x1, ..."""
    if names is None:
        default = [f"x{j}" for j in range(model.n_features_in_)]
        names = getattr(model, "feature_names_in_", default)
    names = _check_names(names, model.n_features_in_, "features", parameter)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"Two features are named {twice!r}: pass {parameter} that tell them apart."
        )
    return names


def name_classes(model: Any, names: Any) -> list[str]:
    """Return the caller's names of the classes, in the order of `classes_`, else the labels.

    Labels that are no strings become "class 0" and the like: a bare number says little.
    """
    kind = "class" if is_classifier(model) else "cluster"
    labels = classes_or_clusters(model)
    if names is None:
        return [str(label) if isinstance(label, str) else f"{kind} {label}" for label in labels]
    plural = "classes" if kind == "class" else "clusters"
    return _check_names(names, len(labels), plural, "class_names")


def name_no_label(model: Any) -> str:
    """Return what the label -1 says of a box or a sample."""
    return "no label" if is_classifier(model) else "noise"


def _check_names(names: Any, number: int, what: str, parameter: str) -> list[str]:
    if isinstance(names, Mapping):
        raise TypeError(f"{parameter} must be a list, in the order of the {what}, not a mapping.")
    names = [names] if isinstance(names, str) else [str(name) for name in names]
    if len(names) != number:
        raise ValueError(f"{parameter} has {len(names)} names, but the model has {number} {what}.")
    return names


@dataclass(frozen=True)
class Decimals:
    """How many decimals the numbers of each feature are written with."""

    places: list[int]

    @classmethod
    def by_range(cls, model: Any, values: np.ndarray, decimals: int | None = None) -> Self:
        """Take the caller's number, or as many as tell apart 1/100 to 1/1000 of each range.

        Decimals in which all of `values` (one row each, one column per feature) are 0 are left
        out.
        """
        if decimals is not None:
            return cls([decimals] * model.n_features_in_)
        places = [_places(span) for span in read_scale(model).span]
        columns = zip(values.T, places, strict=True)
        return cls([_without_zeros(column, most) for column, most in columns])

    def number(self, feature: int, value: float) -> str:
        """Write a value of a feature."""
        return _write(value, self.places[feature])

    def interval(self, feature: int, low: float, high: float) -> str:
        """Write an interval: "= 3" for a point, else with decimals that tell the ends apart."""
        if low == high:
            return f"= {self.number(feature, low)}"
        start = self.places[feature]
        for places in range(start, start + 18):
            ends = _write(low, places), _write(high, places)
            if ends[0] != ends[1]:
                return " to ".join(ends)
        return f"{float(low)!r} to {float(high)!r}"


def _places(span: float) -> int:
    return 2 - int(np.floor(np.log10(span)))


def _without_zeros(values: np.ndarray, most: int) -> int:
    if not 0 < most <= _MOST_DECIMALS:
        return most
    known = values[np.isfinite(values)]
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.round(known, most)
        return next((d for d in range(most) if (np.round(known, d) == rounded).all()), most)


def _write(value: float, places: int) -> str:
    if places <= _MOST_DECIMALS and abs(value) < 10.0**_MOST_DIGITS:
        return f"{value:z.{max(places, 0)}f}"
    if value == 0:
        return "0"
    digits = int(np.clip(np.floor(np.log10(abs(value))) + places, 2, 16))
    return f"{value:.{digits}e}"
