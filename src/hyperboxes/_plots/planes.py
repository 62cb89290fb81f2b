"""What a picture in one or two features shows: which ones, how far, and which samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperboxes._explain.reading import is_voting
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._plots.categories import limits_of_categories, spread_on_axes
from hyperboxes._plots.common import (
    check_known_labels,
    check_one_sample,
    check_samples,
    feature_index,
    limits_of,
)


def find_limits(model: Any, columns: list[int], parts: list[np.ndarray | None]) -> np.ndarray:
    """Return limits that hold the range of the training data and all that is drawn."""
    shown = [part for part in parts if part is not None]
    if hasattr(model, "data_min_"):
        shown += [model.data_min_[columns][None], model.data_max_[columns][None]]
    limits = [limits_of(*(part[:, i] for part in shown)) for i in range(len(columns))]
    for axis, ends in limits_of_categories(model, columns).items():
        limits[axis] = ends
    return np.array(limits)


def find_boxes(boxes: Hyperboxes, chosen: Any) -> np.ndarray:
    """Return the indices of the boxes to draw."""
    if chosen is None:
        return np.arange(len(boxes))
    indices = np.atleast_1d(np.asarray(chosen))
    if indices.ndim != 1 or indices.dtype.kind not in "iu" or len(indices) == 0:
        raise TypeError(f"boxes must be an index or a list of indices, got {chosen!r}.")
    if indices.min() < -len(boxes) or indices.max() >= len(boxes):
        raise ValueError(f"boxes must be from 0 to {len(boxes) - 1}, got {chosen!r}.")
    return np.unique(indices % len(boxes))


def find_columns(model: Any, features: Any, boxes: np.ndarray) -> list[int]:
    """Return the indices of the features to draw."""
    if features is None:
        return _default_columns(model, boxes)
    if isinstance(features, str | int | np.integer):
        features = [features]
    columns = [feature_index(model, feature) for feature in features]
    if len(columns) not in (1, 2) or len(set(columns)) < len(columns):
        raise ValueError(f"features must name one feature or two different ones, got {features!r}.")
    return columns


def _default_columns(model: Any, boxes: np.ndarray) -> list[int]:
    """Return the first two features; of boxes that vote two that they constrain and that matter."""
    if not is_voting(model):
        return list(range(min(2, model.n_features_in_)))
    is_open = ~model.hyperboxes_.constrains[boxes].any(axis=0)
    order = np.lexsort((-model.feature_importances_, is_open))
    return np.sort(order[:2]).tolist()


def read_data(
    model: Any, X: Any, y: Any, columns: list[int], max_samples: int
) -> dict[str, np.ndarray | None]:
    """Return the samples to draw and their labels."""
    if X is None:
        if y is not None:
            raise ValueError("y holds labels of samples: X is needed too.")
        return {"samples": None, "sample_labels": None}
    X = check_samples(model, X)
    labels = None if y is None else check_known_labels(model, y, len(X))
    rows = np.flatnonzero(~np.isnan(X[:, columns]).any(axis=1))
    if len(rows) > max_samples:
        rows = np.sort(np.random.default_rng(0).choice(rows, max_samples, replace=False))
    return {
        "samples": spread_on_axes(model, columns, X[rows][:, columns]),
        "sample_labels": None if labels is None else labels[rows],
    }


def read_others(model: Any, at: Any, columns: list[int]) -> np.ndarray:
    """Return the values of the features not shown, NaN where they do not matter."""
    if at is None:
        return np.full(model.n_features_in_, np.nan)
    others = check_one_sample(model, at, "at")[0].copy()
    others[columns] = np.nan
    return others
