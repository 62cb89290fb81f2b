"""How kernels are compiled."""

from collections import namedtuple

import numba
import numpy as np
import pytest

from hyperboxes._kernels import jit
from hyperboxes._kernels.box_index import build
from hyperboxes._kernels.nearest import nearest_per_class
from hyperboxes._kernels.online import learn
from tests.learners import ImprovedOnlineGFMM


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

    @jit.internal
    def double(x):
        return 2 * x

    @jit.kernel
    def total(x):
        return double(1) + double(2) + double(x) + double(x=3)

    assert total(4) == 20
    assert len(double.signatures) == 1


def test_records_are_passed_on_by_reference():
    """Also those within records, and numbers; what kernels write, Python sees."""
    Inner = namedtuple("Inner", "values")
    Outer = namedtuple("Outer", "inner factor flag")

    @numba.njit
    def scale(outer, place):
        outer.inner.values[place] *= outer.factor
        return outer.flag

    @numba.njit
    def scale_all(outer):
        outer = jit.pass_by_pointer(outer)
        n_flags = 0
        for place in range(outer.inner.values.shape[0]):
            n_flags += scale(outer, place)
        return n_flags

    values = np.arange(4.0)
    assert scale_all(Outer(Inner(values), 2.0, True)) == 4
    assert values.tolist() == [0.0, 2.0, 4.0, 6.0]


def test_only_named_tuples_are_passed_by_reference():
    with pytest.raises(numba.TypingError):
        numba.njit(lambda x: jit.pass_by_pointer(x))((1, 2.0))


def test_a_single_feature_or_class_has_nothing_compiled_anew():
    """Arrays of length 1 are contiguous in any order, and broadcasting leaves them read-only."""
    X, y = np.random.default_rng(0).random((20, 2)), np.arange(20) % 2
    ImprovedOnlineGFMM(gamma=[1.0, 2.0]).fit(X, y).predict(X)
    kernels = build, learn, nearest_per_class
    before = [len(each.signatures) for each in kernels]
    ImprovedOnlineGFMM().fit(X[:, :1], y).predict(X[:, :1])
    ImprovedOnlineGFMM().fit(X[:, :1], np.zeros(20, int)).predict(X[:1, :1])
    assert [len(each.signatures) for each in kernels] == before


def test_kernels_are_compiled_with_all_that_they_call(monkeypatch):
    """However deep, and if two of them call the same; parts have no code of their own."""
    monkeypatch.setattr(
        jit, "njit", lambda function, cache=False, **rest: numba.njit(**rest)(function)
    )

    @jit.forceinline
    def square(x):
        return x * x

    @jit.internal
    def total(values):
        result = 0.0
        for value in values:
            result += square(value)
        return result

    @jit.internal
    def norm(values):
        return np.sqrt(total(values))

    @jit.kernel
    def normalise(values):
        length = norm(values)
        for place in range(values.shape[0]):
            values[place] /= length
        return total(values)

    @jit.kernel
    def length(values):
        return norm(values)

    values = np.array([3.0, 4.0])
    assert length(values) == 5.0
    assert normalise(values) == pytest.approx(1.0)
    assert values.tolist() == [0.6, 0.8]
