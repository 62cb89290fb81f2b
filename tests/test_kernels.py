"""How kernels are compiled."""

import numba
import pytest

from hyperboxes._kernels import jit


def test_kernels_work_where_nothing_can_be_cached(monkeypatch):
    """Numba refuses to cache where it finds no folder to write to."""

    def njit_without_a_folder(function, *, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(function, **options)

    monkeypatch.setattr(jit, "njit", njit_without_a_folder)

    @jit.kernel
    def double(x):
        return 2 * x

    assert double(4) == 8


def test_other_errors_are_not_hidden(monkeypatch):
    def broken(function, **options):
        raise TypeError

    monkeypatch.setattr(jit, "njit", broken)
    with pytest.raises(TypeError):
        jit.kernel(len)


def test_constants_are_no_types_of_their_own(monkeypatch):
    """Otherwise each constant argument would have the function compiled once more."""
    monkeypatch.setattr(
        jit, "njit", lambda function, cache=False, **rest: numba.njit(**rest)(function)
    )

    @jit.part
    def double(x):
        return 2 * x

    @jit.kernel
    def total(x):
        return double(1) + double(2) + double(x) + double(x=3)

    assert total(4) == 20
    assert len(double.signatures) == 1
