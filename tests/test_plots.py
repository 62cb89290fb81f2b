"""The displays but `BoxesDisplay`, and what holds of all: data, axes, bad input, legible texts."""

import itertools
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

from hyperboxes import (
    AgglomerativeGFMM,
    BoxesDisplay,
    GrowthDisplay,
    HyperboxClustering,
    ParallelCoordinatesDisplay,
)
from hyperboxes._plots.styles import shorten
from tests.figures import (
    assert_legible,
    iris,
    iris_arrays,
    legend_names,
    letters,
    shown_texts,
)
from tests.learners import ImprovedOnlineGFMM, OnlineGFMM, every_function
from tests.strategies import problems

NAN = float("nan")


pytestmark = pytest.mark.usefixtures("close_figures")


def test_parallel_shows_the_best_box_of_each_class():
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
def test_parallel_agrees_with_the_model(problem):
    model = ImprovedOnlineGFMM(problem.theta, **problem.membership, scaling=None, unlabeled=-1)
    model.fit(problem.xl, problem.y, X_upper=problem.xu)
    fig, ax = plt.subplots()
    sample = problem.xl[:1]
    display = ParallelCoordinatesDisplay.from_estimator(model, sample, n_boxes=99, ax=ax)
    assert model.classes_[display.labels[0]] == model.predict(sample)[0]
    expected = model.membership(sample)[0, display.labels]
    np.testing.assert_allclose(display.memberships, expected, atol=1e-9)
    assert len(display.labels) == len(np.unique(display.labels))
    BoxesDisplay.from_estimator(model, problem.xl, problem.y, grid_resolution=5, ax=ax)
    plt.close(fig)


def test_parallel_of_a_mean():
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
    X = rng.lognormal(size=(60, 3))
    model = ImprovedOnlineGFMM(theta=0.1, membership_function=function)
    model.fit(X, rng.integers(0, 3, 60))
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


def test_parallel_takes_the_telling_features():
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


def test_parallel_of_several_samples_and_long_names():
    X, y, model = iris()
    display = ParallelCoordinatesDisplay.from_estimator(model, X.iloc[[0, 60, 120]])
    assert display.wins.all()
    assert display.labels.tolist() == model.predict(X.iloc[[0, 60, 120]]).tolist()
    named = X.rename(columns=lambda name: f"the measurement that is called {name} by botanists")
    model = clone(model).fit(named, [f"a species of a very long name {label}" for label in y])
    display = ParallelCoordinatesDisplay.from_estimator(model, named.iloc[[3]])
    assert_legible(display.figure_)


def test_parallel_with_missing_values_and_constant_features():
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


def test_growth_is_prequential():
    X, y, _ = iris()
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X.iloc[order], y.iloc[order]
    learner = OnlineGFMM(theta=0.3)
    display = GrowthDisplay.from_estimator(learner, X, y, batch_size=40)
    assert not hasattr(learner, "classes_")
    model = OnlineGFMM(theta=0.3)
    right = []
    for start in range(0, 150, 40):
        batch = slice(start, start + 40)
        if start:
            right.append((model.predict(X[batch]) == y[batch]).tolist())
        model.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
        assert (
            display.n_boxes[start // 40].tolist()
            == np.bincount(model.hyperboxes_.labels, minlength=3).tolist()
        )
    assert display.n_samples.tolist() == [40, 80, 120, 150]
    np.testing.assert_allclose(display.batch_accuracy, [NAN, *map(np.mean, right)])
    np.testing.assert_allclose(display.accuracy[-1], np.mean(list(itertools.chain(*right))))
    np.testing.assert_array_equal(display.model.predict(X), model.predict(X))
    assert legend_names(display.axes_[1]) == ["0", "1", "2"]
    top = display.axes_[1].lines[0].get_ydata()
    np.testing.assert_array_equal(top, display.n_boxes.sum(axis=1))
    assert_legible(display.figure_)


def test_growth_counts_unlabelled_boxes_and_tests_labelled_samples_only():
    X, y, _ = _digits()
    y = np.where(np.arange(len(y)) % 10 == 0, y, -1)
    display = GrowthDisplay.from_estimator(OnlineGFMM(0.5, unlabeled=-1), X, y, batch_size=50)
    assert display.n_boxes.shape[1] == len(display.classes) + 1
    assert display.n_tested.tolist() == [0, 5, 5, 5]
    assert legend_names(display.axes_[1])[-1] == "no label"
    # Nothing can be predicted before there is a label.
    y = np.where(np.arange(len(y)) < 100, -1, y)
    display = GrowthDisplay.from_estimator(OnlineGFMM(0.5, unlabeled=-1), X, y, batch_size=50)
    assert display.n_tested.tolist() == [0, 0, 0, 5]


def _digits():
    model, X, y = letters(10, 5, 200)
    return X, np.unique(y, return_inverse=True)[1], model


def test_growth_from_recorded_numbers():
    display = GrowthDisplay(n_samples=[10, 20], n_boxes=[3, 4]).plot()
    assert len(display.axes_) == 1
    assert display.axes_[0] is display.ax_
    assert np.isnan(display.accuracy).all()
    display = GrowthDisplay(
        n_samples=[10, 20, 30], n_boxes=[3, 4, 4], n_tested=[0, 10, 10], n_right=[0, 5, 10]
    ).plot()
    np.testing.assert_array_equal(display.accuracy, [NAN, 0.5, 0.75])
    assert_legible(display.figure_)


def test_growth_of_26_classes_is_legible():
    model, X, y = letters()
    assert_legible(GrowthDisplay.from_estimator(clone(model), X, y).figure_)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_boxes": [1]}, "n_boxes has 1 entries, but n_samples has 2"),
        ({"n_boxes": [1, 2], "n_right": [1, 2]}, "both n_tested and n_right"),
        ({"n_boxes": [[1], [2]]}, "classes is needed"),
        ({"n_boxes": [[1, 2, 3], [1, 2, 3]], "classes": ["a"]}, "3 columns, but there are 1"),
    ],
)
def test_growth_refuses_numbers_that_do_not_fit(wrong, message):
    with pytest.raises(ValueError, match=message):
        GrowthDisplay(n_samples=[1, 2], **wrong)


def test_growth_needs_an_online_learner_and_a_stream():
    for learner in (AgglomerativeGFMM(), HyperboxClustering()):
        with pytest.raises(TypeError, match="needs a classifier with partial_fit"):
            GrowthDisplay.from_estimator(learner, [[0.0]], [0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GrowthDisplay.from_estimator(OnlineGFMM(), [[0.0], [1.0]], [0])
    with pytest.raises(ValueError, match="no batches"):
        GrowthDisplay.from_stream(OnlineGFMM(), [], classes=[0])
    with pytest.raises(ValueError, match="batch_size"):
        GrowthDisplay.from_estimator(OnlineGFMM(), [[0.0]], [0], batch_size=0)


def draw_all(model, X, y, **options):
    """Draw each display."""
    yield lambda: BoxesDisplay.from_estimator(model, X, y, grid_resolution=10, **options)
    yield lambda: ParallelCoordinatesDisplay.from_estimator(model, X[:1], **options)
    yield lambda: GrowthDisplay.from_estimator(clone(model), X, y, **options)


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_axes_given_or_not(style):
    _, _, model = iris()
    X, y = iris_arrays()
    with plt.style.context(style):
        for draw in draw_all(clone(model).fit(X, y), X, y):
            display = draw()
            assert len(plt.get_fignums()) == 1
            assert display.ax_.figure is display.figure_
            plt.close(display.figure_)
        figure, ax = plt.subplots(layout="constrained")
        for draw in draw_all(clone(model).fit(X, y), X, y, ax=ax, legend=False):
            assert draw().ax_ is ax
            assert ax.get_legend() is None
            figure.canvas.draw()
            ax.clear()
        assert len(plt.get_fignums()) == 1


def test_axes_in_subfigures_and_without_a_grid():
    _, _, model = iris()
    figure = plt.figure(layout="constrained")
    X, y = iris_arrays()
    panels = figure.subfigures(1, 2)
    display = GrowthDisplay.from_estimator(clone(model), X, y, ax=panels[0].subplots())
    figure.canvas.draw()
    assert display.figure_ is display.ax_.figure
    figure = plt.figure()
    ax = figure.add_axes((0.2, 0.2, 0.5, 0.5))
    display.plot(ax=ax, legend=False)
    places = [panel.get_position() for panel in display.axes_]
    assert min(place.y0 for place in places) == pytest.approx(0.2)
    assert max(place.y1 for place in places) == pytest.approx(0.7)


def test_drawing_again_gives_another_figure():
    _, _, model = iris()
    display = BoxesDisplay.from_estimator(model, regions=False)
    first = display.figure_
    assert display.plot() is display
    assert display.figure_ is not first


def test_drawing_changes_nothing_on_the_model():
    X, y, model = iris()
    assert len(model.hyperboxes_)  # which is kept once it was asked for
    before = {name: id(value) for name, value in vars(model).items()}
    for draw in draw_all(model, X, y):
        draw()
    assert {name: id(value) for name, value in vars(model).items()} == before


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"features": ["petal"]}, ValueError, "no feature 'petal'. It has 'sepal length"),
        ({"features": [0, 4]}, ValueError, "no feature 4: the model has 4, 0 to 3"),
        ({"features": [0, 1, 2]}, ValueError, "one feature or two different ones"),
        ({"features": [1, 1]}, ValueError, "one feature or two different ones"),
        ({"features": [1.5]}, TypeError, "by its name or its index"),
        ({"y": [0]}, ValueError, "X is needed too"),
        ({"X": [[1.0, 2.0]]}, ValueError, "Samples have 2 features, but the model has 4"),
        ({"X": np.ones((2, 4)), "y": [0]}, ValueError, "y has 1 labels, but X has 2 samples"),
        ({"X": np.ones((1, 4)), "y": [7]}, ValueError, r"does not know: \[7\]"),
        ({"X": np.ones((1, 4)), "features": 1}, ValueError, "y is needed too"),
        ({"at": np.ones((2, 4))}, ValueError, "at must be one sample, got 2"),
        ({"max_boxes": 0}, ValueError, "max_boxes"),
        ({"max_samples": 0}, ValueError, "max_samples"),
        ({"grid_resolution": 1}, ValueError, "grid_resolution"),
    ],
)
def test_boxes_refuse_bad_input(options, error, message):
    _, _, model = iris()
    with pytest.raises(error, match=message):
        BoxesDisplay.from_estimator(model, **options)
    assert plt.get_fignums() == []


def test_names_need_a_model_with_names():
    model = ImprovedOnlineGFMM().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="fitted without names"):
        BoxesDisplay.from_estimator(model, features="a")


def test_other_bad_input():
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


def test_matplotlib_is_imported_when_it_is_needed():
    script = """
import sys
sys.modules["matplotlib"] = None  # as if it were not installed
from hyperboxes import BoxesDisplay, GrowthDisplay, ImprovedOnlineGFMM
try:
    BoxesDisplay.from_estimator(ImprovedOnlineGFMM())
except ImportError as error:
    print(error)
try:
    GrowthDisplay(n_samples=[1], n_boxes=[1]).plot()
except ImportError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "BoxesDisplay needs matplotlib: pip install 'hyperboxes[plot]'",
        "GrowthDisplay needs matplotlib: pip install 'hyperboxes[plot]'",
    ]


def test_names_are_shortened_in_the_middle():
    assert shorten("short") == "short"
    assert shorten("the same beginning 1", 9) == "the …ng 1"
    assert len(shorten("x" * 100, 24)) == 24


def test_names_are_no_formulas():
    """Matplotlib would refuse them, or show them in italics."""
    X, y = iris_arrays()
    names = ["$\\frac$", "from $1 to $2", "$", r"a\b"]
    X = type(iris()[0])(X, columns=names)
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, [f"a name of $ and a lot of ${k}$" for k in y])
    for display in (
        BoxesDisplay.from_estimator(model, regions=False),
        ParallelCoordinatesDisplay.from_estimator(model, X[:1]),
    ):
        texts = [text for text, _ in shown_texts(display.figure_)]
        assert any(r"\$" in text for text in texts)
        assert not any(text.replace(r"\$", "").count("$") > 1 for text in texts)


def test_growth_over_many_samples_keeps_numbers_apart():
    display = GrowthDisplay(
        n_samples=20_000 * np.arange(1, 11),
        n_boxes=np.full((10, 10), 40),
        n_tested=np.full(10, 20_000),
        n_right=np.full(10, 19_500),
        classes=np.arange(10),
    ).plot()
    numbers = [box for text, box in shown_texts(display.figure_) if text.endswith("000")]
    assert len(numbers) >= 3
    for one, other in itertools.pairwise(sorted(numbers, key=lambda box: box.x0)):
        assert other.x0 - one.x1 > 5
