"""`ThetaDisplay`: its numbers are those of cross-validation."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold

from hyperboxes import AgglomerativeGFMM, BoostedHyperboxes, HyperboxClustering, ThetaDisplay
from tests.figures import assert_legible
from tests.learners import ImprovedOnlineGFMM

X, Y = load_iris(return_X_y=True)

pytestmark = pytest.mark.usefixtures("close_figures")


@pytest.mark.parametrize("model", [ImprovedOnlineGFMM(), AgglomerativeGFMM()])
def test_numbers_are_those_of_cross_validation(model):
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    display = ThetaDisplay.from_estimator(model, X, Y, thetas=[0.1, 0.6], cv=folds)
    assert display.accuracy.shape == display.n_boxes.shape == (2, 3)
    for row, theta in enumerate(display.thetas):
        for column, (train, test) in enumerate(folds.split(X, Y)):
            fitted = clone(model).set_params(theta=theta).fit(X[train], Y[train])
            assert display.n_boxes[row, column] == len(fitted.hyperboxes_)
            assert display.accuracy[row, column] == fitted.score(X[test], Y[test])
    assert not hasattr(model, "classes_")
    assert display.theta == model.theta


def test_recorded_numbers_are_drawn():
    numbers = {"accuracy": [[0.9, 1.0], [0.5, 0.7]], "n_boxes": [[10, 12], [3, 5]]}
    display = ThetaDisplay(thetas=[0.1, 0.5], theta=0.3, **numbers).plot()
    accuracy, boxes = display.axes_
    assert display.ax_ is accuracy
    np.testing.assert_allclose(accuracy.lines[1].get_ydata(), [0.95, 0.6])
    np.testing.assert_allclose(boxes.lines[1].get_ydata(), [11, 4])
    assert [text.get_text() for text in accuracy.get_legend().texts] == [
        "fold",
        "mean",
        "theta of the model",
    ]
    assert_legible(display.figure_)
    assert len(ThetaDisplay(thetas=[0.1, 0.5], **numbers).plot(legend=False).ax_.lines) == 2


def test_the_scores_of_a_choice_are_drawn():
    model = AgglomerativeGFMM("auto").fit(X, Y)
    display = ThetaDisplay.from_estimator(model)
    path = model.theta_path_
    assert display.theta == model.theta_
    accuracy, boxes = display.axes_
    np.testing.assert_array_equal(accuracy.lines[0].get_xdata(), path["theta"])
    np.testing.assert_array_equal(accuracy.lines[0].get_ydata(), path["accuracy"])
    np.testing.assert_array_equal(boxes.lines[0].get_ydata(), path["n_boxes"])
    (errors,) = accuracy.collections
    ends = np.array([segment[:, 1] for segment in errors.get_segments()])
    np.testing.assert_allclose(np.diff(ends)[:, 0], 2 * path["standard_error"])
    assert not boxes.collections
    assert_legible(display.figure_)
    compared = ThetaDisplay.from_estimator(model, X, Y, thetas=[0.3])
    assert compared.accuracy.shape == (1, 5)
    assert compared.theta is None


def test_bad_input():
    for model in (AgglomerativeGFMM("auto"), AgglomerativeGFMM(0.3).fit(X, Y)):
        with pytest.raises(ValueError, match="or a model that was fitted with theta='auto'"):
            ThetaDisplay.from_estimator(model)
    for model in (HyperboxClustering(), BoostedHyperboxes()):
        with pytest.raises(TypeError, match="needs a classifier with a parameter theta"):
            ThetaDisplay.from_estimator(model, X, Y)
    with pytest.raises(ValueError, match="at least one theta"):
        ThetaDisplay.from_estimator(ImprovedOnlineGFMM(), X, Y, thetas=[])
    with pytest.raises(ValueError, match="theta"):
        ThetaDisplay.from_estimator(ImprovedOnlineGFMM(), X, Y, thetas=[-1.0])
    with pytest.raises(ValueError, match=r"n_boxes must have a row for each of the 2 thetas"):
        ThetaDisplay(thetas=[0.1, 0.2], accuracy=[[1.0], [1.0]], n_boxes=[[1.0]])
