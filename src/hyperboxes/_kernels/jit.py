"""How kernels and the formulas in them are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call, without the GIL and without fast-math.

    The machine code is kept on disk. Where no folder can be written (a sealed container, say)
    Numba refuses to cache at all; the kernel is then compiled anew in each process.
    """
    try:
        return njit(function, nogil=True, cache=True)
    except RuntimeError:
        return njit(function, nogil=True)


def formula(function: Callable[..., Any]) -> Any:
    """Compile a formula of few lines into each kernel that uses it.

    Left to itself, LLVM calls the larger ones, which costs more than they compute: every array
    is passed as some seven numbers.
    """
    return njit(function, nogil=True, forceinline=True)
