"""What is told of boxes that count categories: how many of their samples have each value."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from hyperboxes._estimators.mixed import MixedGFMM
from hyperboxes._estimators.tables import known_categories

_NOT_KNOWN = "not known"

# Of more values the most frequent stand in explanations, and how many more there are.
_MOST_IN_A_CELL = 2


def counts_categories(model: Any) -> bool:
    """Whether boxes count categories, of which there are some."""
    return isinstance(model, MixedGFMM) and bool(known_categories(model))


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
    texts = []
    counted = read_counts(model, feature)
    for counts, n_samples in zip(counted, model.hyperboxes_.counts.tolist(), strict=True):
        parts = [f"{value} {count}" for value, count in counts.items()]
        if n_samples > (n_known := sum(counts.values())):
            parts.append(f"{_NOT_KNOWN} {n_samples - n_known}")
        texts.append(", ".join(parts))
    return texts


def read_counts(model: MixedGFMM, feature: int, boxes: Any = slice(None)) -> list[dict[Any, int]]:
    """Return how many samples of boxes have each value, the most frequent first."""
    values, counts = known_categories(model)[feature].values, model._model.counts_of(feature)
    return [
        {values[k]: int(row[k]) for k in np.argsort(-row, kind="stable").tolist() if row[k] > 0}
        for row in counts[boxes]
    ]


def read_tallies(
    model: Any, box: int, sample: np.ndarray
) -> tuple[np.ndarray, dict[int, dict[Any, int]]]:
    """Return the share of a box's samples with the sample's category, and what the box counts.

    By feature; NaN and nothing where it counts none.
    """
    shares = np.full(len(sample), np.nan)
    if not counts_categories(model):
        return shares, {}
    shares[model._model.features] = model._model.shares(sample[np.newaxis], np.array([box]))[0, 0]
    counts = {j: read_counts(model, j, [box])[0] for j in known_categories(model)}
    return shares, counts


def read_weights(model: Any) -> tuple[float, float] | None:
    """Return how much numbers and each category count; None where bounds are all there is."""
    return model._model.weights if counts_categories(model) else None


def read_shares(model: Any, boxes: np.ndarray) -> np.ndarray | None:
    """Return the share of each value in boxes, 1 where they know none; None if none is counted."""
    if not counts_categories(model):
        return None
    shares: np.ndarray = np.nan_to_num(model._model.value_shares(boxes), nan=1.0)
    return shares


def name_function(model: Any) -> str:
    """Return what features make of a membership."""
    function: str = model._model.membership.function
    return "mixed" if counts_categories(model) else function


def counts_text(counts: dict[Any, int], most: int = _MOST_IN_A_CELL) -> str:
    """Write what a box counts: the most frequent values, and how many more there are."""
    if len(counts) == 1:
        return f"all {next(iter(counts))}"
    parts = [f"{value} {count}" for value, count in list(counts.items())[:most]]
    if len(counts) > most:
        parts.append(f"{len(counts) - most} more")
    return ", ".join(parts)


def share_text(share: float, counts: dict[Any, int]) -> str:
    """Write how many samples of a box are like another; nothing if that is not known."""
    n_known = sum(counts.values())
    return "" if np.isnan(share) else f"{round(share * n_known)} of {n_known}"


def list_common_values(model: Any, boxes: np.ndarray) -> dict[int, np.ndarray]:
    """Return the numbers of the values that boxes count, the most frequent first, by feature."""
    if not counts_categories(model):
        return {}
    found = {}
    for j, known in known_categories(model).items():
        counts = model._model.counts_of(j)[boxes].sum(axis=0)
        order = np.argsort(-counts, kind="stable")
        found[j] = known.places[order[counts[order] > 0]]
    return found


def spread_evenly(model: MixedGFMM, feature: int, places: np.ndarray) -> np.ndarray:
    """Return where values are drawn: side by side between 0 and 1, for they have no order."""
    known = known_categories(model)[feature].places
    return (number_values(known, places) + 0.5) / max(len(known), 1)


def number_values(known: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return which of the known values places stand for, from 0 on; NaN stays."""
    return np.where(np.isnan(places), np.nan, np.searchsorted(known, places))


def spread_counted(model: Any, values: np.ndarray) -> np.ndarray:
    """Return values with those of counted categories spread evenly; features are the last axis."""
    if not counts_categories(model):
        return values
    spread = np.array(values, float)
    for j in known_categories(model):
        spread[..., j] = spread_evenly(model, j, spread[..., j])
    return spread
