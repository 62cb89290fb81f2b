"""Calling compiled parts of kernels, which Python cannot call by itself."""

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

from numba import njit


class FromPython:
    """A module of kernels whose parts and formulas can be called."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return _from_python(getattr(self._module, name))


@cache
def _from_python(part: Any) -> Callable[..., Any]:
    """Return a function that calls a part or formula."""
    return njit(lambda *args: part(*args))
