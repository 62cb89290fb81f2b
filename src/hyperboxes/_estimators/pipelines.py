"""What scikit-learn puts around a fitted classifier: steps before it, and a threshold after it."""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

_NOTHING = ("passthrough", None)


class Threshold(NamedTuple):
    """The probability from which on one of two classes is predicted, and the other class below."""

    value: float
    label: Any

    def __str__(self) -> str:
        return f"{self.label} is predicted from a probability of {self.value:.3g} on."


class ModelParts(NamedTuple):
    """A fitted estimator, the steps of a Pipeline that transform samples for it, a threshold."""

    steps: list[Any]
    estimator: Any
    threshold: Threshold | None


def split_model(model: Any) -> ModelParts:
    """Take a fitted model apart; an estimator alone has no steps and no threshold.

    Steps that do nothing are left out.
    """
    *steps, (estimator, threshold) = _flatten(model)
    if any(found is not None for _, found in steps):
        raise TypeError("A threshold must come last in a Pipeline.")
    if estimator in _NOTHING and model is not None:
        raise TypeError("The last step of a Pipeline must be a model, but here it does nothing.")
    return ModelParts([step for step, _ in steps if step not in _NOTHING], estimator, threshold)


def _flatten(model: Any) -> Iterator[tuple[Any, Threshold | None]]:
    """Yield the steps of a model, the last with its threshold."""
    match model:
        case Pipeline():
            check_is_fitted(model)
            for _, step in model.steps:
                yield from _flatten(step)
        case FixedThresholdClassifier() | TunedThresholdClassifierCV():
            check_is_fitted(model, "estimator_")
            *steps, (estimator, inner) = _flatten(model.estimator_)
            yield from steps
            yield estimator, inner or _read_threshold(model)
        case _:
            yield model, None


def _read_threshold(model: Any) -> Threshold:
    is_fixed = isinstance(model, FixedThresholdClassifier)
    value: Any = model.threshold if is_fixed else model.best_threshold_
    is_score = model.response_method == "decision_function"
    if value == "auto":
        value = 0.0 if is_score else 0.5
    label = model.pos_label if is_fixed else model._curve_scorer._get_pos_label()
    label = model.classes_[1] if label is None else label
    label = label.item() if isinstance(label, np.generic) else label
    return Threshold(float(expit(value) if is_score else value), label)


def join_model(parts: ModelParts) -> Any:
    """Put a model together as scikit-learn does: a threshold around a Pipeline."""
    steps, model, threshold = parts
    if steps:
        names = [type(step).__name__.lower() for step in steps]
        model = Pipeline([*zip(names, steps, strict=True), ("model", model)])
    if threshold is None:
        return model
    options = {"threshold": threshold.value, "pos_label": threshold.label}
    decided = FixedThresholdClassifier(model, response_method="predict_proba", **options)
    decided.estimator_ = model
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(decided, name, getattr(model, name))
    return decided


def shift_scores(estimator: Any, threshold: Threshold) -> Any:
    """Return a copy of additive boxes whose largest score decides as the threshold does.

    Of its two intercepts one is 0, as of those that `fit` learns.
    """
    record = estimator._record()
    ahead = np.array([-0.5, 0.5]) if threshold.label == estimator.classes_[1] else [0.5, -0.5]
    least = np.finfo(float).tiny
    odds = logit(np.clip(threshold.value, least, 1.0 - np.finfo(float).epsneg))
    intercept = record.intercept - odds * np.array(ahead)
    intercept -= intercept.min()
    shift = intercept - record.intercept
    missing_scores = record.missing_scores + shift
    shifted = copy(estimator)
    shifted._model = replace(
        record, intercept=intercept, missing_scores=missing_scores, shift=shift
    )
    return shifted
