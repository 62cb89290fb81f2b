"""`MemoryDisplay`: ages and expert weights are those of the model, fitted or over a stream."""

import functools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from hyperboxes import (
    AdaptiveGFMM,
    BoostedHyperboxes,
    ContributionsDisplay,
    GrowthDisplay,
    MemoryDisplay,
    export_text,
)
from tests.figures import assert_legible, iris, legend_names

pytestmark = pytest.mark.usefixtures("close_figures")


@functools.cache
def stream(n_classes=2, n_features=2, n_before=700, n_after=60):
    """Return samples with a sudden concept drift."""
    rng = np.random.default_rng(0)
    X = rng.random((n_before + n_after, n_features))
    codes = (X[:, 0] * n_classes).astype(int)
    codes[n_before:] = (codes[n_before:] + 1) % n_classes
    return X, np.array([f"the class of number {code}" for code in codes])


@functools.cache
def drawn(n_classes=2, n_features=2):
    """Return a display of a stream."""
    return MemoryDisplay.from_estimator(AdaptiveGFMM(), *stream(n_classes, n_features))


def test_panels_show_ages_and_experts():
    X, y = stream()
    model = AdaptiveGFMM(max_boxes=100).fit(X, y)
    display = MemoryDisplay.from_estimator(model)
    assert display.model is model
    np.testing.assert_array_equal(display.ages, model.box_ages_)
    np.testing.assert_array_equal(display.horizon_scores, model.horizon_scores_)
    ages, experts = display.axes_
    assert display.ax_ is ages
    assert [line.get_xdata()[0] for line in ages.lines] == [5, 7, 9]  # 32, 128, 512
    young = [bar for bar in ages.patches if bar.get_x() + bar.get_width() < 5]
    assert sum(bar.get_height() for bar in young) == (model.box_ages_ < 32).sum()
    assert sum(bar.get_height() for bar in ages.patches) == 100
    shown = [text.get_text() for text in experts.texts]
    assert shown == [f"{score:.0%}" for score in model.horizon_scores_.ravel()]
    rows = [text.get_text() for text in experts.get_yticklabels()]
    assert rows[0] == f"last 32 ({display.horizon_shares[0]:.0%})"
    assert legend_names(experts)[0] == "horizons"
    assert len(legend_names(experts)) == 3
    assert_legible(display.figure_)


def test_weights_move_to_the_shortest_horizon_after_a_drift():
    display = drawn()
    assert display.horizon_shares.sum() == pytest.approx(1)
    assert display.horizon_shares.argmax() == 0
    before = display.batch_shares[display.n_samples == 700][0]
    assert before[0] < 0.2
    np.testing.assert_array_equal(display.batch_shares[-1], display.horizon_shares)


@pytest.mark.parametrize("batch_size", [40, 60])
def test_each_batch_is_predicted_before_the_update(batch_size):
    X, y = stream()
    learner = AdaptiveGFMM(max_boxes=100)
    display = MemoryDisplay.from_estimator(learner, X, y, batch_size=batch_size)
    assert not hasattr(learner, "classes_")
    model = AdaptiveGFMM(max_boxes=100)
    for batch, start in enumerate(range(0, len(X), batch_size)):
        rows = slice(start, start + batch_size)
        if start:
            assert display.batch_accuracy[batch] == model.score(X[rows], y[rows])
        model.partial_fit(X[rows], y[rows])
        assert display.n_samples[batch] == model.n_samples_seen_
        np.testing.assert_array_equal(display.batch_scores[batch], model.horizon_scores_)
    assert np.isnan(display.batch_accuracy[0])
    np.testing.assert_array_equal(display.ages, model.box_ages_)
    whole, _, _ = display.axes_
    assert legend_names(whole) == ["last 32", "last 128", "last 512", "all", "batch accuracy"]
    # A fitted model is cloned, not updated.
    again = MemoryDisplay.from_estimator(model, X, y, batch_size=batch_size)
    np.testing.assert_array_equal(again.batch_scores, display.batch_scores)
    assert model.n_samples_seen_ == len(X)


@pytest.mark.parametrize("n_features", [2, 30])
@pytest.mark.parametrize("n_classes", [2, 10])
def test_texts_are_legible(n_classes, n_features):
    assert_legible(drawn(n_classes, n_features).plot().figure_)


def test_given_axes_become_the_first_panel():
    _, axes = plt.subplots(2, 2, figsize=(14, 9), layout="constrained")
    display = drawn().plot(ax=axes[0, 0])
    assert display.axes_[0] is axes[0, 0]
    assert_legible(display.figure_)
    display = MemoryDisplay.from_estimator(display.model, ax=axes[1, 1], legend=False)
    assert all(panel.get_legend() is None for panel in display.axes_)
    assert_legible(display.figure_)


def test_one_box_and_a_million_samples():
    one = MemoryDisplay.from_estimator(AdaptiveGFMM().fit([[1.0]], ["a"]))
    assert one.ax_.get_title().startswith("1 box, 1 matched")
    assert_legible(one.figure_)
    ages = np.arange(0, 1_000_000, 1000)
    labels, scores = np.zeros(1000, int), np.full((4, 4), 0.5)
    long = MemoryDisplay(ages=ages, labels=labels, classes=np.array(["a"]), horizon_scores=scores)
    assert_legible(long.plot().figure_)
    np.testing.assert_allclose(long.horizon_shares, 0.25)


def test_bad_input():
    X, y, model = iris()
    with pytest.raises(
        TypeError,
        match=r"MemoryDisplay is unsupported for ImprovedOnlineGFMM: its nearest boxes decide",
    ):
        MemoryDisplay.from_estimator(model)
    with pytest.raises(NotFittedError):
        MemoryDisplay.from_estimator(AdaptiveGFMM())
    with pytest.raises(ValueError, match="pass both or neither"):
        MemoryDisplay.from_estimator(AdaptiveGFMM(), X)
    with pytest.raises(ValueError, match="batch_size"):
        MemoryDisplay.from_estimator(AdaptiveGFMM(), X, y, batch_size=0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MemoryDisplay.from_estimator(AdaptiveGFMM(), X, y[:9])
    assert plt.get_fignums() == []


def test_other_displays_and_the_text_of_an_adaptive_model():
    X, y = stream()
    model = AdaptiveGFMM(max_boxes=30).fit(X, y)
    with pytest.raises(
        TypeError, match=r"weights of its boxes change with every sample\. Use .*explain"
    ):
        ContributionsDisplay.from_estimator(model, X[0])
    with pytest.raises(TypeError, match="MemoryDisplay is unsupported for"):
        MemoryDisplay.from_estimator(BoostedHyperboxes(3, random_state=0).fit(X, y))
    growth = GrowthDisplay.from_estimator(model, X, y, batch_size=200)
    assert growth.n_samples.tolist() == [200, 400, 600, 760]
    n_held = model.hyperboxes_.counts.sum()
    lines = export_text(model).splitlines()
    assert lines[0] == f"30 boxes from {n_held} training samples."
    assert lines[1] == f"Boxes of {760 - n_held} other samples were evicted."
    assert "evicted" not in export_text(AdaptiveGFMM().fit(X, y))
