"""How kernels are compiled."""

import pytest

from hyperboxes._kernels import jit


def test_kernels_work_where_nothing_can_be_cached(monkeypatch):
    """Numba refuses to cache where it finds no folder to write to."""

    def njit_without_a_folder(function, *, nogil, cache=False):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return function

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
