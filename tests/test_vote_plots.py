"""Displays of boxes that vote: what they show is what the model says, and can be read."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris

from hyperboxes import (
    BoostedHyperboxes,
    BoxesDisplay,
    ContributionsDisplay,
    ImprovedOnlineGFMM,
    explain,
)
from tests.boosted import MANY, known_model
from tests.figures import assert_legible, legend_names, outlines, shown_texts

X, Y = load_iris(return_X_y=True)
nan = np.nan

pytestmark = pytest.mark.usefixtures("close_figures")


def bar_lengths(ax):
    """Return the lengths of all bars from top to bottom, but for entries of the legend."""
    bars = [bar for bar in ax.patches if bar.get_width()]
    return [bar.get_width() for bar in sorted(bars, key=lambda bar: bar.get_y())]


def test_votes_of_two_classes_are_one_signed_bar_each():
    display = ContributionsDisplay.from_estimator(known_model(), [3.0, 1.0, 7.0])
    lengths = [0.0123, 2.1, -1.239, 0.456, 0.0123 + 2.1 - 1.239 + 0.456]
    np.testing.assert_allclose(bar_lengths(display.ax_), lengths)
    assert display.boxes.tolist() == [2, 1, 0]
    texts = {text for text, _ in shown_texts(display.figure_)}
    assert {"box 2: 2 < x0 = 3 <= 4.25", "intercept", "sum", "+2.10", "-1.24"} <= texts
    assert "b, probability 0.791" in texts
    assert "contribution: a < 0 < b" in texts
    assert legend_names(display.ax_) == ["a", "b"]
    assert_legible(display.figure_)


@pytest.mark.parametrize("max_boxes", [8, MANY])
def test_votes_of_more_classes_add_up_to_the_scores(max_boxes):
    model = BoostedHyperboxes(max_boxes, random_state=0).fit(X, Y)
    display = ContributionsDisplay.from_estimator(model, X[[70]], max_boxes=None)
    explanation = explain(model, X[[70]])[0]
    np.testing.assert_allclose(display.scores, explanation.scores)
    assert display.boxes.tolist() == [vote.index for vote in explanation.votes]
    rows = [display.intercept, *display.contributions, display.scores]
    expected = [vote for row in rows for vote in row if vote]
    np.testing.assert_allclose(bar_lengths(display.ax_), expected)
    if max_boxes < MANY:
        assert_legible(display.figure_)


def test_votes_beyond_the_limits_are_added_up_or_left_out():
    model = BoostedHyperboxes(MANY, random_state=0).fit(X, Y)
    display = ContributionsDisplay.from_estimator(model, X[[70]], max_boxes=2, max_classes=1)
    winner = display.scores.argmax()
    rows = [
        display.intercept,
        *display.contributions[:2],
        display.contributions[2:].sum(axis=0),
        display.scores,
    ]
    np.testing.assert_allclose(bar_lengths(display.ax_), [row[winner] for row in rows])
    texts = {text for text, _ in shown_texts(display.figure_)}
    assert {f"{len(display.contributions) - 2} more boxes", "2 more not drawn"} <= texts
    assert_legible(display.figure_)


def test_votes_of_a_sample_that_no_box_holds():
    display = ContributionsDisplay.from_estimator(known_model(), [0.0, -1.0, 900.0], legend=False)
    np.testing.assert_allclose(bar_lengths(display.ax_), [0.0123, 0.0123])
    assert display.ax_.get_legend() is None


def test_displays_draw_on_given_axes():
    model = BoostedHyperboxes(5, random_state=0).fit(X, Y)
    figure, axes = plt.subplots(1, 2)
    for ax, display in zip(
        axes,
        [
            ContributionsDisplay.from_estimator(model, X[0], ax=axes[0], bar_kwargs={"alpha": 0.5}),
            BoxesDisplay.from_estimator(model, ax=axes[1]),
        ],
        strict=True,
    ):
        assert display.ax_ is ax
        assert display.figure_ is figure
    assert axes[0].patches[0].get_alpha() == 0.5


def test_boxes_are_drawn_where_they_constrain_the_features_shown():
    model = known_model()
    display = BoxesDisplay.from_estimator(model, features=[0, 2])
    assert display.drawn.tolist() == [0, 2]  # box 1 constrains x1 alone
    assert legend_names(display.ax_) == ["a", "b"]
    title = display.ax_.get_legend().get_title().get_text()
    assert title == "boxes projected\nfrom 3 features\n1 box open here,\nnot drawn"
    box = outlines(display).get_paths()[1].vertices
    assert (box[:, 0].min(), box[:, 0].max()) == (np.nextafter(2.0, 3), 4.25)
    low, high = display.limits[1]
    assert box[:, 1].min() < low
    assert high < box[:, 1].max()
    assert display.regions is None
    strength = outlines(display).get_edgecolors()[:, 3]
    np.testing.assert_allclose(strength, 0.25 + 0.75 * np.array([0.456, 2.1]) / 2.1)


def test_a_cut_shows_regions_and_the_boxes_that_hold_it():
    model = known_model()
    display = BoxesDisplay.from_estimator(model, features=[0, 1], at=[nan, nan, 900.0])
    assert display.nearness.tolist() == [0.0, 1.0, 1.0]  # box 0 ends at 700
    x, y = (np.linspace(*limits, 401)[1::2] for limits in display.limits)
    rows = np.column_stack([x, np.full(200, y[120]), np.full(200, 900.0)])
    np.testing.assert_array_equal(model.classes_[display.regions[120]], model.predict(rows))
    missing = BoxesDisplay.from_estimator(model, features=[0, 2], at=[nan, nan, nan])
    assert missing.nearness.tolist() == [0.0, 1.0, 1.0]  # box 0 wants x1


def test_chosen_boxes_show_the_features_that_they_constrain():
    model = known_model()
    display = BoxesDisplay.from_estimator(model, boxes=1)
    assert display.feature_names == ["x0", "x1"]
    assert display.labels.tolist() == [0]
    first = BoxesDisplay.from_estimator(model, boxes=[0, -1])
    assert first.feature_names == ["x0", "x2"]
    assert first.labels.tolist() == [1, 1]
    covers = ImprovedOnlineGFMM(theta=0.3).fit(X, Y)
    chosen = BoxesDisplay.from_estimator(covers, boxes=[2, 5])
    np.testing.assert_array_equal(chosen.lower, covers.hyperboxes_.lower[[2, 5], :2])


def test_all_features_shown_have_regions():
    model = BoostedHyperboxes(6, random_state=0).fit(X[:, 2:], Y)
    display = BoxesDisplay.from_estimator(model, X[:, 2:], Y)
    assert display.regions is not None
    assert_legible(display.figure_)
    assert BoxesDisplay.from_estimator(model, features=1).lower.shape == (len(model.hyperboxes_), 1)


def test_bad_input_is_refused():
    model = known_model()
    with pytest.raises(ValueError, match="X must be one sample, got 2"):
        ContributionsDisplay.from_estimator(model, np.ones((2, 3)))
    with pytest.raises(ValueError, match="max_boxes must be a whole number"):
        ContributionsDisplay.from_estimator(model, np.ones(3), max_boxes=0)
    with pytest.raises(TypeError, match=r"boxes must be an index or a list of indices, got 0\.5"):
        BoxesDisplay.from_estimator(model, boxes=0.5)
    with pytest.raises(ValueError, match="boxes must be from 0 to 2, got 3"):
        BoxesDisplay.from_estimator(model, boxes=3)
    covers = ImprovedOnlineGFMM().fit(X, Y)
    with pytest.raises(TypeError, match="ParallelCoordinatesDisplay shows a sample"):
        ContributionsDisplay.from_estimator(covers, X[0])
