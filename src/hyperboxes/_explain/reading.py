"""What readers ask of a fitted model: its boxes, what their labels mean, and in which units."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hyperboxes._estimators.refusals import refuse_ensemble, refuse_undecided, refuse_votes
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.membership import Membership
from hyperboxes._models.scaling import MinMaxScale
from hyperboxes._models.voting import VotingHyperboxes


def read_boxes(model: Any, what: str) -> Hyperboxes:
    """Return the boxes of a fitted model that cover samples, for `what`, which an error names."""
    boxes = read_any_boxes(model, what)
    refuse_votes(model, what)
    return boxes


def read_any_boxes(model: Any, what: str) -> Hyperboxes:
    """Return the boxes of a fitted model, which may be boxes that vote."""
    check_is_fitted(model)
    refuse_ensemble(model, what)
    boxes = getattr(model, "hyperboxes_", None)
    if not isinstance(boxes, Hyperboxes):
        raise TypeError(
            f"{what} needs a model made of boxes, but {type(model).__name__} has no hyperboxes_. "
            "Of a Pipeline, the last step must be one."
        )
    return boxes


def read_classifier(model: Any, what: str) -> Hyperboxes:
    """Return the boxes of a fitted classifier of which the nearest decides; refuse clusterings."""
    boxes = read_boxes(model, what)
    refuse_undecided(model, what)
    if not is_classifier(model):
        raise TypeError(f"{what} needs a fitted classifier; {type(model).__name__} has no classes.")
    return boxes


def is_voting(model: Any) -> bool:
    """Whether a model is fitted and its boxes vote; else they cover samples."""
    return isinstance(getattr(model, "hyperboxes_", None), VotingHyperboxes)


def is_classifier(model: Any) -> bool:
    """Whether the boxes have classes; else they have clusters."""
    return hasattr(model, "classes_")


def classes_or_clusters(model: Any) -> np.ndarray:
    """Return what the labels of boxes are indices into: classes, or the numbers of clusters."""
    return model.classes_ if is_classifier(model) else np.arange(model.n_clusters_)


def read_scale(model: Any) -> MinMaxScale:
    """Return the map from the data's units to the model's."""
    return MinMaxScale(model.data_min_, model.data_max_)


def read_membership(model: Any) -> Membership:
    """Return the membership that the model predicts with: parameters may have changed since.

    It is a copy, for users may get hold of its gamma.
    """
    membership = model._model.membership
    return replace(membership, gamma=membership.gamma.copy())


def read_closeness(model: Any, sample: np.ndarray) -> np.ndarray:
    """Return how close each box is to a sample: its membership, or minus a distance beyond it."""
    with np.errstate(over="ignore"):
        x = read_scale(model).transform(sample)[np.newaxis]
    ranks: np.ndarray = model._model.closeness(x, x, np.arange(len(model.hyperboxes_)))[0]
    return ranks


def read_learned_bounds(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the boxes as the model compares them, in its own units.

    Those of `hyperboxes_` are in the data's, which may lack a number that scales to the same.
    """
    boxes = model._model.boxes
    return boxes.lower.copy(), boxes.upper.copy()


def learned_range(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the range of what was learned: later batches may go beyond that of scaling."""
    boxes = model.hyperboxes_
    low, high = np.fmin.reduce(boxes.lower, axis=0), np.fmax.reduce(boxes.upper, axis=0)
    return np.fmin(low, model.data_min_), np.fmax(high, model.data_max_)


def encode_labels(model: Any, y: Any, n_samples: int) -> tuple[np.ndarray, list[Any]]:
    """Return labels as indices into those of the model, and the labels that it does not know.

    These have the numbers after the model's own. Samples without a label have -1: those of the
    model's `unlabeled`, None, NaN and NA, and for a clustering -1, which is noise.
    """
    y = column_or_1d(y)
    if len(y) != n_samples:
        raise ValueError(f"y has {len(y)} labels, but X has {n_samples} samples.")
    unlabeled = getattr(model, "unlabeled", None) if is_classifier(model) else -1
    labels = classes_or_clusters(model).tolist()
    index = {label: code for code, label in enumerate(labels)}
    codes = np.full(n_samples, -1)
    for row, label in enumerate(y.tolist()):
        label = label.item() if isinstance(label, np.generic) else label
        if not _is_missing(label) and (unlabeled is None or label != unlabeled):
            codes[row] = index.setdefault(label, len(index))
    return codes, list(index)[len(labels) :]


def _is_missing(label: Any) -> bool:
    """Whether a label is None, NaN or the NA of pandas, of which no comparison is True."""
    return label is None or (label == label) is not True


@contextmanager
def ignoring_missing_names() -> Iterator[None]:
    """Silence scikit-learn's warning on samples whose features are in order but have no names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield


def check_integer(name: str, value: Any, least: int, *, optional: bool = True) -> None:
    """Refuse anything but an integer of at least `least`, or None if that is allowed."""
    if value is None and optional:
        return
    if not isinstance(value, int | np.integer) or value < least:
        or_none = " or None" if optional else ""
        raise ValueError(
            f"{name} must be a whole number of at least {least}{or_none}, got {value!r}."
        )


def json_value(value: Any) -> Any:
    """Return a label or number as JSON can have it: no types of NumPy, and None for NaN."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if value != value else value
