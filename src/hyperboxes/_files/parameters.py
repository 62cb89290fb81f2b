"""Parameters of estimators as JSON: plain values, lists, pairs, and learners of this package.

NumPy's numbers, its arrays and tuples are saved as the plain values and lists that they hold, and
learners by their name and parameters.
"""

from __future__ import annotations

import math
import sys
from types import NoneType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from hyperboxes._estimators.registry import find_by_class, find_by_file_name
from hyperboxes._files.archive import ModelFileError, is_storable

_PLAIN = (NoneType, bool, int, float, str)
_NOT_FINITE = ("nan", "inf", "-inf")
_MOST_DIMENSIONS = 2
_LARGEST = sys.float_info.max


def to_json(name: str, value: Any) -> Any:
    """Return a parameter's value for JSON, which has no NaN and no infinity."""
    try:
        if isinstance(value, BaseEstimator):
            return _learner_to_json(value)
        if _has_learners(value, BaseEstimator):
            return [_learner_to_json(item) for item in value]
        return _to_json(value, _MOST_DIMENSIONS)
    except TypeError as error:
        raise ModelFileError(
            f"its parameter {name} is a {type(value).__name__}, but only None, Booleans, numbers, "
            "strings, dictionaries of such, and lists, tuples or arrays of such with up to two "
            "dimensions can be stored"
        ) from error


def from_json(name: str, value: Any) -> Any:
    """Return a parameter's value."""
    try:
        if type(value) is dict and value.keys() == {"learner", "parameters"}:
            return _learner_from_json(value)
        if _has_learners(value, dict):
            return [_learner_from_json(item) for item in value]
        return _from_json(value, _MOST_DIMENSIONS)
    except TypeError as error:
        raise ModelFileError(f"its parameter {name[:40]} is not valid ({error})") from error


def _has_learners(value: Any, kind: type) -> bool:
    return type(value) is list and len(value) > 0 and isinstance(value[0], kind)


def _learner_to_json(learner: Any) -> dict[str, Any]:
    entry = find_by_class(type(learner))
    if entry is None or entry.estimator is not type(learner):
        raise TypeError("it is no learner of this package")
    parameters = learner.get_params(deep=False)
    return {
        "learner": entry.file_name,
        "parameters": {
            name: _to_json(value, _MOST_DIMENSIONS) for name, value in parameters.items()
        },
    }


def _learner_from_json(value: Any) -> Any:
    match value:
        case {"learner": str(file_name), "parameters": dict(parameters)} if len(value) == 2:
            entry = find_by_file_name(file_name)
            if entry is not None and parameters.keys() <= entry.estimator().get_params().keys():
                return entry.estimator(
                    **{
                        name: _from_json(parameter, _MOST_DIMENSIONS)
                        for name, parameter in parameters.items()
                    }
                )
    raise TypeError("a learner is expected there")


def _to_json(value: Any, depth: int) -> Any:
    if isinstance(value, np.ndarray | np.generic) and is_storable(value.dtype.str):
        value = value.tolist()
    if depth == _MOST_DIMENSIONS and type(value) is dict:
        return {"dict": [[_to_json(part, 0) for part in pair] for pair in value.items()]}
    if depth and type(value) in (list, tuple):
        return [_to_json(item, depth - 1) for item in value]
    if type(value) is float and not math.isfinite(value):
        return {"float": str(value)}
    return _check_plain(value)


def _from_json(value: Any, depth: int) -> Any:
    match value:
        case {"float": str(word)} if len(value) == 1 and word in _NOT_FINITE:
            return float(word)
        case list() if depth:
            return [_from_json(item, depth - 1) for item in value]
        case {"dict": list(pairs)} if len(value) == 1 and depth == _MOST_DIMENSIONS:
            return dict(_pair_from_json(pair) for pair in pairs)
    return _check_plain(value)


def _pair_from_json(pair: Any) -> tuple[Any, Any]:
    match pair:
        case [key, value]:
            return _from_json(key, 0), _from_json(value, 0)
    raise TypeError("a pair is expected there")


def _check_plain(value: Any) -> Any:
    if type(value) not in _PLAIN:
        raise TypeError(f"a {type(value).__name__} is not expected there")
    if type(value) is int and abs(value) > _LARGEST:
        raise TypeError("an integer beyond float64 is not expected there")
    return value
