"""`ContributionsDisplay`: its bars add up to the scores of the model."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from hyperboxes import BoostedHyperboxes, ContributionsDisplay, ImprovedOnlineGFMM, explain
from tests.boosted import MANY, known_model
from tests.decisions import decide_by
from tests.figures import assert_legible, iris, iris_arrays, legend_names, shown_texts

X, Y = iris_arrays()

pytestmark = pytest.mark.usefixtures("close_figures")


def bar_lengths(ax):
    """Return the lengths of all bars from top to bottom, but for entries of the legend."""
    bars = [bar for bar in ax.patches if bar.get_width()]
    return [bar.get_width() for bar in sorted(bars, key=lambda bar: bar.get_y())]


def test_two_classes_have_one_signed_bar_a_row():
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
def test_contributions_add_up_to_the_scores(max_boxes):
    model = BoostedHyperboxes(max_boxes, random_state=0).fit(X, Y)
    display = ContributionsDisplay.from_estimator(model, X[[70]], max_boxes=None)
    explanation = explain(model, X[[70]])[0]
    np.testing.assert_allclose(display.scores, explanation.scores)
    assert display.boxes.tolist() == [box.index for box in explanation.boxes]
    rows = [display.intercept, *display.contributions, display.scores]
    expected = [length for row in rows for length in row if length]
    np.testing.assert_allclose(bar_lengths(display.ax_), expected)
    if max_boxes < MANY:
        assert_legible(display.figure_)


def test_boxes_and_classes_beyond_the_limits():
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


def test_a_sample_outside_all_boxes():
    display = ContributionsDisplay.from_estimator(
        known_model(), [0.0, -1.0, 900.0], legend=False, bar_kwargs={"alpha": 0.5}
    )
    assert display.ax_.patches[0].get_alpha() == 0.5
    np.testing.assert_allclose(bar_lengths(display.ax_), [0.0123, 0.0123])
    assert display.ax_.get_legend() is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_several_nearest_boxes_add_up_to_the_probabilities(n_classes):
    iris = load_iris()
    rows = iris.target < n_classes
    samples, labels = iris.data[rows], iris.target[rows]
    model = decide_by(ImprovedOnlineGFMM(theta=0.2).fit(samples, labels), 5)
    sample = samples[[75]]
    display = ContributionsDisplay.from_estimator(model, sample)
    np.testing.assert_allclose(display.scores, model.predict_proba(sample)[0])
    explanation = explain(model, sample)[0]
    assert display.boxes.tolist() == [box.index for box in explanation.boxes]
    assert all(len(conditions) == 4 for conditions in display.conditions)
    assert all(conditions[-1] == "1 more" for conditions in display.conditions)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[0] == "shares of the classes"
    assert labels[1].startswith(f"box {explanation.boxes[0].index}: ")
    assert labels[-1] == "sum"
    assert_legible(display.figure_)


def test_bad_input_is_refused():
    model = known_model()
    with pytest.raises(ValueError, match="X must be one sample, got 2"):
        ContributionsDisplay.from_estimator(model, np.ones((2, 3)))
    with pytest.raises(ValueError, match="max_boxes must be a whole number"):
        ContributionsDisplay.from_estimator(model, np.ones(3), max_boxes=0)
    _, _, nearest = iris()
    with pytest.raises(
        TypeError, match=r"single box .* nothing to add up\. Use explain or Parallel"
    ):
        ContributionsDisplay.from_estimator(decide_by(nearest, 1), X[0])
