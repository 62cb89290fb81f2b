"""The order of the samples: what `fit` does about an unlucky one, and who is warned of it."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

from hyperboxes import ImprovedOnlineGFMM, OnlineGFMM
from tests.learners import same_boxes

X, Y = load_iris(return_X_y=True)
BOTH = pytest.mark.parametrize("cls", [ImprovedOnlineGFMM, OnlineGFMM])


def sorted_by_class(n_samples=600, n_classes=3):
    """Return overlapping classes, one after the other, and test samples."""
    data, labels = make_classification(
        2 * n_samples, 6, n_informative=4, n_classes=n_classes, random_state=0
    )
    order = np.argsort(labels[:n_samples], kind="stable")
    return data[order], labels[order], data[n_samples:], labels[n_samples:]


def test_samples_sorted_by_class_cost_nothing():
    cls = partial(ImprovedOnlineGFMM, decision="nearest")
    X, y, X_test, y_test = sorted_by_class()
    in_order = cls(shuffle=False).fit(X, y)
    model = cls(random_state=0).fit(X, y)
    assert len(model.hyperboxes_) < 0.8 * len(in_order.hyperboxes_)
    assert model.score(X_test, y_test) > in_order.score(X_test, y_test) + 0.05
    mixed = np.random.RandomState(1).permutation(len(y))
    again = cls(random_state=0).fit(X[mixed], y[mixed])
    assert abs(model.score(X_test, y_test) - again.score(X_test, y_test)) < 0.03


def test_boxes_that_grew_too_soon_are_learned_again():
    # A box of class 0 spans the places of class 1 before these come.
    X = np.array([[0.0], [1.0], *([place] for place in np.linspace(0.4, 0.6, 20))])
    y = np.array([0, 0, *[1] * 20])
    in_order = ImprovedOnlineGFMM(2.0, shuffle=False).fit(X, y)
    assert len(in_order.hyperboxes_) == 21
    sizes = {len(ImprovedOnlineGFMM(2.0, random_state=s).fit(X, y).hyperboxes_) for s in range(20)}
    assert sizes == {3}


@BOTH
def test_an_int_gives_the_same_boxes(cls):
    models = [cls(0.3, random_state=seed).fit(X, Y) for seed in (0, 0, 1)]
    assert same_boxes(*models[:2])
    assert not same_boxes(*models[1:])


def test_fit_learns_in_random_order():
    order = np.random.RandomState(3).permutation(len(Y))
    given = OnlineGFMM(0.3, shuffle=False).fit(X[order], Y[order])
    assert same_boxes(OnlineGFMM(0.3, random_state=3).fit(X, Y), given)


@BOTH
def test_partial_fit_learns_in_the_order_given(cls):
    stream = cls(0.3, random_state=3, scaling=[X.min(axis=0), X.max(axis=0)])
    stream.partial_fit(X, Y, classes=[0, 1, 2])
    assert same_boxes(stream, cls(0.3, shuffle=False).fit(X, Y))


def test_the_second_order_is_kept_only_if_it_makes_fewer_boxes():
    for seed in range(10):
        random = np.random.RandomState(seed).permutation(len(Y))
        once = ImprovedOnlineGFMM(0.2, shuffle=False).fit(X[random], Y[random])
        twice = ImprovedOnlineGFMM(0.2, random_state=seed).fit(X, Y)
        assert len(twice.hyperboxes_) <= len(once.hyperboxes_)
        assert twice.n_candidates_ > once.n_candidates_


@BOTH
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_stream_sorted_by_class_is_warned_of_once(cls, size):
    X, y, *_ = sorted_by_class()
    model = cls(1.0, scaling=[X.min(axis=0), X.max(axis=0)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for start in range(0, len(y), size):
            model.partial_fit(X[start : start + size], y[start : start + size], classes=[0, 1, 2])
        model.partial_fit(X, y)
    assert len(caught) == 1
    assert "Labels come in long runs: over 5" in str(caught[0].message) or size == 10_000
    assert caught[0].filename == __file__


@BOTH
def test_other_streams_are_not_warned_of(cls):
    rng = np.random.default_rng(0)
    X = rng.random((2000, 2))
    streams = {
        "random": rng.integers(0, 2, 2000),
        "rare": (rng.random(2000) < 0.001).astype(int),
        "one class": np.zeros(2000, int),
        "slow": np.arange(2000) // 10 % 2,
        "batches of a class": np.repeat(rng.integers(0, 2, 200), 10),
    }
    for y in streams.values():
        model = cls(1.0, scaling=None)
        for start in range(0, 2000, 500):
            model.partial_fit(X[start : start + 500], y[start : start + 500], classes=[0, 1])
    cls(1.0, unlabeled=-1).partial_fit(X, np.full(2000, -1), classes=[0, 1])
    cls().partial_fit(*load_iris(return_X_y=True), classes=[0, 1, 2])
