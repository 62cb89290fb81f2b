"""What rules say of boxes that count categories: how many of their samples have each value."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from hyperboxes._estimators.mixed import MixedGFMM
from hyperboxes._estimators.tables import known_categories

_NOT_KNOWN = "not known"


def counts_categories(model: Any) -> bool:
    """Whether boxes count categories, of which there are some."""
    return isinstance(model, MixedGFMM) and bool(known_categories(model))


def refuse_given(model: Any, X: Any) -> None:
    """Refuse to measure rules on samples where their bounds are not all there is to a box."""
    if counts_categories(model) and X is not None:
        raise ValueError(
            f"Boxes of {type(model).__name__} count categories: no sample is inside or outside of "
            "them, but more or less a member. Leave out X and y."
        )


def describe_counts(model: Any) -> str:
    """Return what is to say of the counts of all rules; nothing if there are none."""
    if not counts_categories(model):
        return ""
    return (
        "Of categories, boxes count how many of their samples have them. A sample is the more a "
        "member of a box the more frequent its categories are there, and none is a condition."
    )


def count_lines(model: Any, box: int, features: list[str], indent: str, width: int) -> list[str]:
    """Return the counts of a box, a line or more for each categorical feature."""
    if not counts_categories(model):
        return []
    lines = []
    for feature in known_categories(model):
        text = f"{features[feature]}: {_list_counts(model, feature)[box]}"
        lines += textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=2 * indent)
    return lines


def tabulate_counts(model: Any, features: list[str]) -> dict[str, np.ndarray]:
    """Return a column for each categorical feature, with the counts of each box in words."""
    if not counts_categories(model):
        return {}
    return {
        f"{features[feature]} counts": np.array(_list_counts(model, feature), dtype=object)
        for feature in known_categories(model)
    }


def _list_counts(model: MixedGFMM, feature: int) -> list[str]:
    """Return the counts of each box in words, the largest first."""
    values, counts = known_categories(model)[feature].values, model._model.counts_of(feature)
    texts = []
    for row, n_samples in zip(counts, model.hyperboxes_.counts, strict=True):
        order = np.argsort(-row, kind="stable")
        parts = [f"{values[value]} {row[value]}" for value in order if row[value] > 0]
        if n_samples > row.sum():
            parts.append(f"{_NOT_KNOWN} {n_samples - row.sum()}")
        texts.append(", ".join(parts))
    return texts
