"""`GrowthDisplay`: its numbers are prequential, and those that are recorded are checked."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone

from hyperboxes import AgglomerativeGFMM, GrowthDisplay, HyperboxClustering
from tests.figures import assert_legible, iris, legend_names, letters, shown_texts
from tests.learners import OnlineGFMM

NAN = float("nan")

pytestmark = pytest.mark.usefixtures("close_figures")


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
