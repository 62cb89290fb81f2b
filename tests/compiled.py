"""Calling compiled parts of kernels, which Python cannot call by itself, by the paper's names."""

from collections.abc import Callable
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from numba import njit

from hyperboxes._kernels import geometry

# Similarities by the names of the parameter.
MEASURES = {
    "longest": geometry.LONGEST,
    "shortest": geometry.SHORTEST,
    "mid-max": geometry.MID_MAX,
    "mid-min": geometry.MID_MIN,
}


class FromPython:
    """A module of kernels whose parts and formulas can be called."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return _from_python(getattr(self._module, name))


@cache
def _from_python(part: Any) -> Callable[..., Any]:
    """Return a function that calls a part or formula.

    It is kept on disk, as kernels are, under a name of its own: one that closed over its part
    would be compiled in each run, for Numba takes that for another part each time.
    """
    function = FunctionType(_call.__code__, {"part": part, "__name__": __name__})
    function.__qualname__ = f"{part.__module__}.{part.__name__}"
    return njit(function, cache=True)


def _call(*args: Any) -> Any:
    return part(*args)  # noqa: F821
