"""`ParallelCoordinatesDisplay`: which boxes and features it draws, and where."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

from hyperboxes import BoxesDisplay, ParallelCoordinatesDisplay
from tests.figures import assert_legible, iris, letters
from tests.learners import ImprovedOnlineGFMM, OnlineGFMM, every_function
from tests.strategies import problems

NAN = float("nan")

pytestmark = pytest.mark.usefixtures("close_figures")


def test_the_best_box_of_each_class_is_drawn():
    X, _, model = iris()
    sample = X.iloc[[100]]
    display = ParallelCoordinatesDisplay.from_estimator(model, sample)
    assert display.labels[0] == model.predict(sample)[0]
    assert display.wins.tolist() == [True, False, False]
    np.testing.assert_allclose(display.memberships, model.membership(sample)[0, display.labels])
    np.testing.assert_array_equal(display.samples, sample)
    outside = np.fmax(display.lower - display.samples, display.samples - display.upper)
    assert (outside[0] <= 0).all()
    assert display.missed[0] == -1
    spans = model.data_max_ - model.data_min_
    assert display.missed[2] == (outside[2] / spans).argmax()
    assert_legible(display.figure_)


@settings(max_examples=30)
@given(problem=problems())
def test_it_agrees_with_the_model(problem):
    model = ImprovedOnlineGFMM(problem.theta, **problem.membership, scaling=None, unlabeled=-1)
    model.fit(problem.xl, problem.y, X_upper=problem.xu)
    ax = plt.gca()
    ax.clear()
    sample = problem.xl[:1]
    display = ParallelCoordinatesDisplay.from_estimator(model, sample, n_boxes=99, ax=ax)
    assert model.classes_[display.labels[0]] == model.predict(sample)[0]
    expected = model.membership(sample)[0, display.labels]
    np.testing.assert_allclose(display.memberships, expected, atol=1e-9)
    assert len(display.labels) == len(np.unique(display.labels))
    BoxesDisplay.from_estimator(model, problem.xl, problem.y, grid_resolution=5, ax=ax)


def test_mean_membership():
    """The nearest box of a class is not the one that the largest gap would choose."""
    model = ImprovedOnlineGFMM(theta=0.1, membership_function="mean", scaling=None)
    model.fit([[0.0, 0.0], [0.5, 0.5], [0.0, 0.8], [1.0, 1.0]], [0, 1, 1, 0])
    display = ParallelCoordinatesDisplay.from_estimator(model, [0.0, 0.2])
    np.testing.assert_allclose(display.memberships, [0.9, 0.7])
    np.testing.assert_array_equal(display.lower, [[0.0, 0.0], [0.0, 0.8]])
    assert display.missed.tolist() == [1, 1]


@every_function
def test_numbers_of_many_digits_lie_inside(function):
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(25, 3))
    model = ImprovedOnlineGFMM(theta=0.1, membership_function=function)
    model.fit(X, rng.integers(0, 3, 25))
    _, ax = plt.subplots()
    for sample, winner in zip(X, model.apply(X), strict=True):
        display = ParallelCoordinatesDisplay.from_estimator(model, sample, ax=ax, legend=False)
        assert display.counts[0] == model.hyperboxes_.counts[winner]
        assert display.memberships[0] == 1
        assert display.missed[0] == -1
        ax.clear()


def test_a_lone_sample_decides_ties():
    X = [[0.0, 0.0], [4.0, 4.0], [2.0, 2.0], [9.0, 9.0]]
    model = OnlineGFMM(theta=0.5).fit(X, ["wide", "wide", "lone", "wide"])
    display = ParallelCoordinatesDisplay.from_estimator(model, [2.0, 2.0])
    assert model.classes_[display.labels].tolist() == ["lone", "wide"]
    assert display.counts.tolist() == [1, 2]
    np.testing.assert_array_equal(display.memberships, 1.0)


def test_features_with_the_largest_distances_are_drawn():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = ImprovedOnlineGFMM(theta=0.4).fit(X, y)
    display = ParallelCoordinatesDisplay.from_estimator(model, X[20:21], max_features=12)
    every = ParallelCoordinatesDisplay.from_estimator(model, X[20:21], max_features=None)
    assert every.feature_names == list(X.columns)
    assert len(display.feature_names) == 12
    missed = every.feature_names[every.missed[1]]
    assert display.feature_names[0] == missed
    assert display.missed[1] == 0
    assert "12 of 30 features" in display.ax_.get_legend().get_title().get_text()
    assert_legible(display.figure_)
    assert_legible(every.figure_)


def test_several_samples_and_long_names():
    X, y, model = iris()
    display = ParallelCoordinatesDisplay.from_estimator(model, X.iloc[[0, 60, 120]])
    assert display.wins.all()
    assert display.labels.tolist() == model.predict(X.iloc[[0, 60, 120]]).tolist()
    named = X.rename(columns=lambda name: f"the measurement that is called {name} by botanists")
    model = clone(model).fit(named, [f"a species of a very long name {label}" for label in y])
    display = ParallelCoordinatesDisplay.from_estimator(model, named.iloc[[3]])
    assert_legible(display.figure_)


def test_missing_values_and_constant_features():
    X = np.array([[1.0, NAN, 3.0], [2.0, NAN, 3.0], [8.0, 5.0, 3.0]])
    model = ImprovedOnlineGFMM().fit(X, ["a", "a", "b"])
    display = ParallelCoordinatesDisplay.from_estimator(model, [NAN, 5.0, 3.0])
    assert np.isnan(display.ax_.lines[0].get_xdata()[0])
    assert display.ax_.lines[0].get_xdata()[2] == 0.5
    assert_legible(display.figure_)
    assert ParallelCoordinatesDisplay.from_estimator(model, [NAN, 9.0, 3.0]).ranges[1, 1] == 9.0


def test_60_features_in_a_small_subplot():
    model, X, _ = letters(3, 60, 300, width=0.1)
    _, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
    ParallelCoordinatesDisplay.from_estimator(model, X[:1], max_features=None, ax=axes[0, 0])
    assert_legible(axes[0, 0].figure)


def test_bad_input():
    X, _, model = iris()
    with pytest.raises(ValueError, match="such as X"):
        ParallelCoordinatesDisplay.from_estimator(model, X)
    unlabelled = OnlineGFMM(unlabeled=-1).partial_fit([[0.0], [1.0]], [-1, -1], classes=[0])
    with pytest.raises(ValueError, match="No box has a label yet"):
        ParallelCoordinatesDisplay.from_estimator(unlabelled, [[0.0]])
    with pytest.raises(ValueError, match="n_boxes"):
        ParallelCoordinatesDisplay.from_estimator(model, X[:1], n_boxes=0)
    with pytest.raises(ValueError, match="max_features"):
        ParallelCoordinatesDisplay.from_estimator(model, X[:1], max_features=0)
    assert plt.get_fignums() == []
