"""What holds for all displays: axes, missing Matplotlib, legible names, unchanged models."""

import subprocess
import sys
from functools import partial

import matplotlib.pyplot as plt
import pytest
from sklearn.base import clone

from hyperboxes import (
    AdaptiveGFMM,
    BoostedHyperboxes,
    BoxesDisplay,
    ContributionsDisplay,
    GrowthDisplay,
    MemoryDisplay,
    ParallelCoordinatesDisplay,
    RulesDisplay,
    ThetaDisplay,
)
from tests.figures import iris, iris_arrays, shown_texts
from tests.learners import ImprovedOnlineGFMM

pytestmark = pytest.mark.usefixtures("close_figures")


@pytest.fixture(scope="module")
def draw_all():
    """Return a function for each display, which takes further options."""
    X, y = iris_arrays()
    model, boosted = clone(iris()[2]).fit(X, y), BoostedHyperboxes(3, random_state=0).fit(X, y)
    return [
        partial(BoxesDisplay.from_estimator, model, X, y, grid_resolution=10),
        partial(ParallelCoordinatesDisplay.from_estimator, model, X[:1]),
        partial(RulesDisplay.from_estimator, model),
        partial(ContributionsDisplay.from_estimator, boosted, X[:1]),
        partial(GrowthDisplay.from_estimator, clone(model), X, y),
        partial(ThetaDisplay.from_estimator, clone(model), X, y, thetas=[0.5], cv=2),
        partial(MemoryDisplay.from_estimator, AdaptiveGFMM().fit(X, y)),
    ]


def test_axes_given_or_not(draw_all):
    plt.close("all")  # of tests in other files
    for draw in draw_all:
        display = draw()
        assert len(plt.get_fignums()) == 1
        assert display.ax_.figure is display.figure_
        plt.close(display.figure_)
        figure, ax = plt.subplots(layout="constrained")
        assert draw(ax=ax, legend=False).ax_ is ax
        assert all(panel.get_legend() is None for panel in figure.axes)
        figure.canvas.draw()
        assert len(plt.get_fignums()) == 1
        plt.close(figure)


def test_colours_on_a_dark_background(draw_all):
    with plt.style.context("dark_background"):
        dark = draw_all[0](boxes=0)
        dark.figure_.canvas.draw()
    light = draw_all[0](boxes=0)
    tints = [display.ax_.collections[0].get_alpha() for display in (light, dark)]
    assert tints == [0.15, 0.3]


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


def test_drawing_changes_nothing_on_the_model(draw_all):
    for draw in draw_all:
        model = draw.args[0]
        assert not hasattr(model, "classes_") or len(model.hyperboxes_)  # which is cached
        before = {name: id(value) for name, value in vars(model).items()}
        draw()
        assert {name: id(value) for name, value in vars(model).items()} == before


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
