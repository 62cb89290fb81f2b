"""Calling compiled subroutines of kernels, which Python cannot call by itself."""

from collections.abc import Callable
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from hyperboxes._kernels.jit import Reference, kernel


class FromPython:
    """A module of kernels whose subroutines, steps and formulas can be called."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return _from_python(getattr(self._module, name))


@cache
def _from_python(internal: Any) -> Callable[..., Any]:
    """Return a function that calls a subroutine.

    It is kept on disk, as kernels are, under a name of its own: one that closed over its subroutine
    would be compiled in each run, for Numba takes that for another one each time.
    """
    names = {"internal": internal, "pass_on": pass_on, "__name__": __name__}
    function = FunctionType(_call.__code__, names)
    function.__qualname__ = f"{internal.__module__}.{internal.__name__}"
    return kernel(function)


def _call(*args: Any) -> Any:
    return internal(*pass_on(args))  # noqa: F821


@intrinsic
def pass_on(typing: Any, arguments: Any) -> Any:
    """Return arguments as a kernel passes them on: records by reference."""
    kinds = [Reference(k) if isinstance(k, types.BaseNamedTuple) else k for k in arguments]
    passed_on = types.Tuple(kinds)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = cgutils.unpack_tuple(builder, args[0], len(kinds))
        values = [
            cgutils.alloca_once_value(builder, value) if isinstance(kind, Reference) else value
            for kind, value in zip(kinds, values, strict=True)
        ]
        result = context.make_tuple(builder, passed_on, values)
        return impl_ret_borrowed(context, builder, passed_on, result)

    return passed_on(arguments), generate
