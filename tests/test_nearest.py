"""Prediction, class memberships and probabilities against the paper's rules."""

import numpy as np
import pytest
from hypothesis import given
from joblib import parallel_config

from hyperboxes._learning.steps import Threads
from tests import reference
from tests.decisions import decide_by
from tests.learners import ImprovedOnlineGFMM, as_reference, models_and_samples


@given(models_and_samples())
def test_predict_equals_the_reference(case):
    """Without a calibration, it is the paper's."""
    model, problem, xl, xu = case
    model = decide_by(model, 1)
    settings = problem.gamma, problem.n_classes, problem.function
    expected = reference.predict(as_reference(model), xl, xu, *settings, calibrated=True)
    np.testing.assert_array_equal(model.predict(xl, X_upper=xu), expected)
    expected = reference.predict(as_reference(model), xl, xu, *settings)
    model = without_calibration(model)
    np.testing.assert_array_equal(model.predict(xl, X_upper=xu), expected)


@given(models_and_samples())
def test_the_box_that_decides_is_the_nearest_of_its_class(case):
    model, problem, xl, xu = case
    model = decide_by(model, 1)
    boxes = model.apply(xl, X_upper=xu)
    labels = np.searchsorted(model.classes_, model.predict(xl, X_upper=xu))
    expected = [
        reference.decider(
            as_reference(model), label, *x, problem.gamma, problem.function, calibrated=True
        )
        for label, *x in zip(labels, xl, xu, strict=True)
    ]
    np.testing.assert_array_equal(boxes, expected)


@given(models_and_samples())
def test_membership_equals_the_paper(case):
    model, problem, xl, xu = case
    expected = reference.class_membership(
        as_reference(model), xl, xu, problem.gamma, problem.n_classes, problem.function
    )
    found = model.membership(xl, X_upper=xu, unlabeled=True)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(model.membership(xl, X_upper=xu), expected[:, 1:])


@given(models_and_samples())
def test_probabilities_sum_to_one_and_agree_with_predict(case):
    model, _, xl, xu = case
    p = model.predict_proba(xl, X_upper=xu)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(xl, X_upper=xu))


def without_calibration(model):
    """Return the model as one with ``calibrate=False``."""
    model._model.calibration = None
    return model


def test_probabilities_without_a_calibration_are_normalised_memberships():
    model = without_calibration(ImprovedOnlineGFMM(scaling=None).fit([[0.0], [1.0]], ["a", "b"]))
    X = [[0.25], [0.9]]
    memberships = model.membership(X)
    np.testing.assert_allclose(memberships, [[0.75, 0.25], [0.1, 0.9]])
    np.testing.assert_allclose(model.predict_proba(X), memberships)


@pytest.mark.parametrize(
    ("counts", "shares"),
    [([2, 4], [1 / 3, 2 / 3]), ([3, 3], [0.5, 0.5]), ([4, 2], [2 / 3, 1 / 3])],
)
def test_tied_classes_without_a_calibration_share_by_samples(counts, shares):
    X = [[0.0]] * counts[0] + [[1.0]] * counts[1]
    y = ["a"] * counts[0] + ["b"] * counts[1]
    model = without_calibration(ImprovedOnlineGFMM(scaling=None).fit(X, y))
    np.testing.assert_allclose(model.predict_proba([[0.5]])[0], shares)
    assert model.predict([[0.5]]) == ("a" if counts[0] >= counts[1] else "b")


def test_a_single_sample_inside_a_box_of_another_class_wins_there():
    model = ImprovedOnlineGFMM(theta=1.0, scaling=None)
    model.fit([[0.0], [1.0], [0.5]], ["a", "a", "b"])
    assert model.predict([[0.5]]) == "b"
    np.testing.assert_array_equal(without_calibration(model).predict_proba([[0.5]]), [[0, 1]])
    assert model.predict([[0.4]]) == "a"


def test_beyond_all_boxes_the_nearest_decides():
    model = ImprovedOnlineGFMM(scaling=None, gamma=4.0).fit([[0.0], [1.0]], ["a", "b"])
    X = [[-3.0], [0.5 - 1e-9], [0.5], [7.0], [-1e300], [1e308]]  # the last: distances overflow
    assert (model.membership(X) == 0).all()
    np.testing.assert_array_equal(model.predict(X), ["a", "a", "a", "b", "a", "a"])
    for p in (model.predict_proba(X), without_calibration(model).predict_proba(X)):
        np.testing.assert_allclose(p.sum(axis=1), 1)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))


def test_many_samples_are_answered_in_slices(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 3)), rng.integers(0, 3, 300)
    model = ImprovedOnlineGFMM().fit(X, y)
    whole = model.predict(X), model.predict_proba(X), model.membership(X)
    monkeypatch.setattr("hyperboxes._models.model.WORK_PER_CALL", 7 * 3 * len(model.hyperboxes_))
    sliced = model.predict(X), model.predict_proba(X), model.membership(X)
    for a, b in zip(whole, sliced, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_change_nothing(n_jobs, monkeypatch):
    monkeypatch.setattr("hyperboxes._estimators.base._ROWS_WORTH_A_THREAD", 3)
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 3)), rng.integers(0, 3, 200)
    alone = ImprovedOnlineGFMM(theta=0.1).fit(X, y)
    model = ImprovedOnlineGFMM(theta=0.1, n_jobs=n_jobs).fit(X, y)
    samples, upper = rng.random((50, 3)), rng.random((50, 3)) + 1
    for method in ("predict", "predict_proba", "membership", "apply"):
        for X_upper in (None, upper):
            expected = getattr(alone, method)(samples, X_upper=X_upper)
            actual = getattr(model, method)(samples, X_upper=X_upper)
            np.testing.assert_array_equal(actual, expected)


def test_a_context_sets_the_number_of_threads(monkeypatch):
    numbers = []

    class Watched(Threads):
        def __init__(self, n_jobs):
            numbers.append(n_jobs)
            super().__init__(n_jobs)

    monkeypatch.setattr("hyperboxes._estimators.base._ROWS_WORTH_A_THREAD", 0)
    monkeypatch.setattr("hyperboxes._estimators.base.Threads", Watched)
    X, y = np.random.default_rng(0).random((40, 2)), np.arange(40) % 2
    model = ImprovedOnlineGFMM().fit(X, y)
    model.predict(X)
    with parallel_config(backend="threading", n_jobs=2):
        model.predict(X)
    assert numbers == [2]  # none for one thread
