"""Calling compiled parts of kernels, which Python cannot call by itself."""

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit


@cache
def from_python(part: Any) -> Callable[..., Any]:
    """Return a function that calls a part or formula."""
    return njit(lambda *args: part(*args))
