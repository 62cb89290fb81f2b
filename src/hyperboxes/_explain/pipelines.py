"""A fitted Pipeline as readers take it: its last step, with samples and names as the others make.

Values stay those that the last step learned from. Readers say which steps made them.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hyperboxes._explain.reading import ignoring_missing_names

_NOTHING = ("passthrough", None)


def read_pipeline(model: Any, X: Any = None, X_upper: Any = None) -> tuple[Any, Any, Any]:
    """Return the last step of a fitted Pipeline, and samples as they come to it.

    The step is a copy that knows the names that the steps before give to features, and which these
    are (`given_names`, `describe_units`). Any other model is returned as it is.
    """
    if not isinstance(model, Pipeline):
        return model, X, X_upper
    if X_upper is not None:
        raise ValueError("A Pipeline transforms points, not intervals: leave out X_upper.")
    steps, last = split_pipeline(model)
    last = copy(last)
    last._read_from = _Steps(_names_after(steps), [type(step).__name__ for step in steps])
    return last, None if X is None else _transform(steps, X), None


def split_pipeline(model: Any) -> tuple[list[Any], Any]:
    """Return the steps of a fitted Pipeline that transform, also of those within it, and the last.

    Steps that do nothing are left out. Any other model has no steps before it.
    """
    if not isinstance(model, Pipeline):
        return [], model
    check_is_fitted(model)
    *steps, last = _flatten(step for _, step in model.steps)
    if last in _NOTHING:
        raise TypeError("A Pipeline is read by its last step, and that of this one does nothing.")
    return [step for step in steps if step not in _NOTHING], last


def _flatten(steps: Iterable[Any]) -> list[Any]:
    flat = []
    for step in steps:
        within = [inner for _, inner in step.steps] if isinstance(step, Pipeline) else None
        flat += [step] if within is None else _flatten(within)
    return flat


def _transform(steps: list[Any], X: Any) -> Any:
    """Return samples as the steps make them; a single one may be given as a row."""
    if not hasattr(X, "columns") and np.ndim(X) == 1:
        with ignoring_missing_names():
            return _transform(steps, np.atleast_2d(X))
    for step in steps:
        X = step.transform(X)
    return X


def _names_after(steps: list[Any]) -> np.ndarray | None:
    """Return the names that steps give to their features; None if they cannot say."""
    names = getattr(steps[0], "feature_names_in_", None) if steps else None
    try:
        for step in steps:
            names = step.get_feature_names_out(names)
    except (AttributeError, ValueError):  # a step that makes features without a name
        return None
    return names


@dataclass(frozen=True)
class _Steps:
    """What is known of the steps before a model."""

    names: np.ndarray | None
    kinds: list[str]


def given_names(model: Any) -> Any:
    """Return the names of the features of a fitted model, by its data or Pipeline, else None."""
    names = getattr(model, "feature_names_in_", None)
    steps = getattr(model, "_read_from", None)
    return steps.names if names is None and steps is not None else names


def describe_units(model: Any) -> str:
    """Return what is to say of the values of a model that was read from a Pipeline, else ""."""
    steps = getattr(model, "_read_from", None)
    if steps is None or not steps.kinds:
        return ""
    return f"Values are as transformed by {', then '.join(steps.kinds)}."
