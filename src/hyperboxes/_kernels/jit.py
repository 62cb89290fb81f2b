"""How kernels, their parts and formulas are compiled: without the GIL and without fast-math.

Compiling is what a user waits for at the first fit, so each function is compiled once if possible:
for one type of each argument (constants are not types of their own here), and for calls from Python
only if it is called from there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.extending import intrinsic

_NOT_FROM_PYTHON: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls."""
    return _compiled(function)


def part(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call."""
    return _compiled(function, **_NOT_FROM_PYTHON)


def formula(function: Callable[..., Any]) -> Any:
    """Compile a formula of few lines into each kernel that uses it.

    Left to itself, LLVM calls the larger ones, which costs more than they compute: every array
    is passed as some seven numbers.
    """
    return _for_plain_types(njit(function, nogil=True, forceinline=True, **_NOT_FROM_PYTHON))


def instruction(function: Callable[..., Any]) -> Any:
    """Let kernels call a function that is written in LLVM's language (`numba.extending`)."""
    return intrinsic(function)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Compile at the first call, and keep the machine code on disk.

    Where no folder can be written (a sealed container, say) Numba refuses to cache at all; the
    function is then compiled anew in each process.
    """
    try:
        dispatcher = njit(function, nogil=True, cache=True, **options)
    except RuntimeError:
        dispatcher = njit(function, nogil=True, **options)
    return _for_plain_types(dispatcher)


def _for_plain_types(dispatcher: Any) -> Any:
    """Have a call with a constant use the code for a variable instead of compiling its own."""
    find_template = dispatcher.get_call_template

    def find_plain_template(args: Any, kws: Any) -> Any:
        plain = {name: types.unliteral(kind) for name, kind in kws.items()}
        return find_template(tuple(types.unliteral(kind) for kind in args), plain)

    dispatcher.get_call_template = find_plain_template
    return dispatcher
