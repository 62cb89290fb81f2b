"""Parameters of estimators as JSON: plain values, NumPy's scalars and arrays, lists and tuples."""

from __future__ import annotations

import math
from types import NoneType
from typing import Any

import numpy as np

from hyperboxes._files.archive import ModelFileError, is_plain

_PLAIN = (NoneType, bool, int, float, str)
_NOT_FINITE = ("nan", "inf", "-inf")


def to_json(name: str, value: Any) -> Any:
    """Return a parameter's value for JSON; what JSON has no word for becomes an object."""
    try:
        return {"tuple": _to_json([*value])} if type(value) is tuple else _to_json(value)
    except TypeError as error:
        raise ModelFileError(
            f"its parameter {name} is a {type(value).__name__}, but only None, Booleans, numbers, "
            "strings, and lists, tuples or arrays of such with up to two dimensions can be stored"
        ) from error


def from_json(name: str, value: Any) -> Any:
    """Undo `to_json`."""
    try:
        match value:
            case {"tuple": list(items)} if len(value) == 1:
                return tuple(_from_json(items))
        return _from_json(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"its parameter {name[:40]} is not valid ({error})") from error


def _to_json(value: Any, depth: int = 2) -> Any:
    if depth and isinstance(value, np.ndarray):
        items = _to_json(value.tolist(), depth)
        return {"array": items, "dtype": _number_type(value.dtype.str)}
    if depth and type(value) is list:
        return [_to_json(item, depth - 1) for item in value]
    return _scalar_to_json(value)


def _scalar_to_json(value: Any) -> Any:
    if isinstance(value, np.generic) and is_plain(value.dtype.str):
        return {"scalar": _scalar_to_json(value.item()), "dtype": value.dtype.str}
    if type(value) is float and not math.isfinite(value):
        return {"float": str(value)}
    if type(value) not in _PLAIN:
        raise TypeError
    return value


def _from_json(value: Any, depth: int = 2, in_array: bool = False) -> Any:
    match value:
        case {"array": items, "dtype": str(descr)} if depth and len(value) == 2 and not in_array:
            plain = _from_json(items, depth, in_array=True)
            return _unwrapped(np.array(plain, _number_type(descr)), plain)
        case list() if depth:
            return [_from_json(item, depth - 1, in_array) for item in value]
    return _scalar_from_json(value)


def _scalar_from_json(value: Any) -> Any:
    match value:
        case {"scalar": item, "dtype": str(descr)} if len(value) == 2 and is_plain(descr):
            plain = _plain_from_json(item)
            return _unwrapped(np.dtype(descr).type(plain), plain)
    return _plain_from_json(value)


def _unwrapped(made: Any, plain: Any) -> Any:
    """Return what NumPy made of integers, if it is those: NumPy 1 wraps those that do not fit."""
    if made.dtype.kind in "iu" and made.tolist() != plain:
        raise OverflowError(f"it does not fit the type {made.dtype}")
    return made


def _plain_from_json(value: Any) -> Any:
    match value:
        case {"float": str(word)} if len(value) == 1 and word in _NOT_FINITE:
            return float(word)
    if type(value) not in _PLAIN:
        raise TypeError(f"a {type(value).__name__} is not expected there")
    return value


def _number_type(descr: str) -> str:
    if not is_plain(descr) or "U" in descr:
        raise TypeError(f"arrays of type {descr[:20]} are not stored")
    return descr
