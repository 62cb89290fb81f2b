"""`matrix_gfmm` on arrays of several libraries, compared with the compiled estimators."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hyperboxes import ImprovedOnlineGFMM, OnlineGFMM
from hyperboxes.literature import matrix_gfmm

pytest.importorskip("sklearn.externals.array_api_compat")

LEARNERS = {"iol-gfmm": ImprovedOnlineGFMM, "onln-gfmm": OnlineGFMM}
TENTHS = st.integers(0, 10).map(lambda number: number / 10)


def load_library(name: str):
    """Return functions that make arrays of a library, and NumPy arrays of these."""
    xp = pytest.importorskip(name)
    if name == "array_api_strict":
        return xp.asarray, lambda array: np.from_dlpack(array)
    return xp.asarray, np.asarray


def assert_same_boxes(X, y, library, algorithm, selection, theta, gamma):
    """Compare the boxes and candidates of both."""
    to_library, to_numpy = library
    chosen = {"theta": theta, "gamma": gamma, "selection": selection}
    found = matrix_gfmm(to_library(X), to_library(y), algorithm=algorithm, **chosen)
    model = LEARNERS[algorithm](
        **chosen, membership_function="min", scaling=None, shuffle=False, calibrate=False
    ).fit(X, y)
    boxes = model.hyperboxes_
    np.testing.assert_array_equal(to_numpy(found.lower), boxes.lower)
    np.testing.assert_array_equal(to_numpy(found.upper), boxes.upper)
    np.testing.assert_array_equal(to_numpy(found.labels), model.classes_[boxes.labels])
    np.testing.assert_array_equal(to_numpy(found.counts), boxes.counts)
    assert found.n_candidates == model.n_candidates_


every_algorithm = pytest.mark.parametrize("algorithm", LEARNERS)
every_selection = pytest.mark.parametrize("selection", ["all", "lemma"])


@every_algorithm
@every_selection
@settings(max_examples=60)
@given(st.data())
def test_boxes_are_those_of_the_compiled_estimator(algorithm, selection, data):
    shape = data.draw(st.tuples(st.integers(1, 25), st.integers(1, 4)))
    X = data.draw(hnp.arrays(np.float64, shape, elements=TENTHS))
    y = data.draw(hnp.arrays(np.int64, shape[0], elements=st.integers(0, 2)))
    theta, gamma = data.draw(st.sampled_from([0.1, 0.3, 0.5])), data.draw(st.sampled_from([1, 2.0]))
    assert_same_boxes(X, y, load_library("numpy"), algorithm, selection, theta, gamma)


@every_algorithm
@pytest.mark.parametrize("name", ["numpy", "array_api_strict", "torch"])
def test_any_library_gives_the_same_boxes(name, algorithm):
    random = np.random.default_rng(0)
    X, y = random.random((400, 3)), random.integers(0, 3, 400)
    assert_same_boxes(X, y, load_library(name), algorithm, "lemma", 0.2, 1.0)


@every_algorithm
def test_float32_stays_float32(algorithm):
    random = np.random.default_rng(0)
    X, y = random.random((50, 3)), random.integers(0, 3, 50)
    boxes = matrix_gfmm(X.astype(np.float32), y, algorithm=algorithm, theta=0.3)
    assert boxes.lower.dtype == boxes.upper.dtype == np.float32
    assert boxes.counts.sum() == 50


X, Y = np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([0, 1])
fit = partial(matrix_gfmm, X, Y)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (partial(fit, algorithm="agglo2"), ValueError, "'algorithm' parameter"),
        (partial(fit, selection="index"), ValueError, "'selection' parameter"),
        (partial(fit, theta=0.0), ValueError, "'theta' parameter"),
        (partial(matrix_gfmm, X, [0, 1]), TypeError, "one library"),
        (partial(matrix_gfmm, X, Y[:1]), ValueError, r"must have the shape .* \(2, 2\) and \(1,\)"),
        (partial(matrix_gfmm, X, X[:, 0]), TypeError, "y integers"),
        (partial(matrix_gfmm, Y[:, None], Y), TypeError, "X must have real numbers"),
        (partial(matrix_gfmm, X * np.nan, Y), ValueError, "NaN or infinite"),
    ],
)
def test_input_that_cannot_be_learned(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_arrays_of_two_libraries():
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(TypeError, match="one library"):
        matrix_gfmm(strict.asarray(X), Y)
    devices = strict.Device("CPU_DEVICE"), strict.Device("device1")
    arrays = [strict.asarray(a, device=d) for a, d in zip((X, Y), devices, strict=True)]
    with pytest.raises(ValueError, match="move one to the other's device"):
        matrix_gfmm(*arrays)
