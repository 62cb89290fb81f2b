"""How models are put into words: names of features and classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperboxes._explain.pipelines import given_names
from hyperboxes._explain.reading import classes_or_clusters, is_classifier


def name_features(model: Any, names: Any = None, parameter: str = "feature_names") -> list[str]:
    """Return the caller's names of the features, else those of the fit, else x0, x1, ..."""
    if names is None:
        names = given_names(model)
    if names is None:
        names = [f"x{j}" for j in range(model.n_features_in_)]
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
