"""What all readers have in common: which models they take, and with which membership."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from hyperboxes import (
    BoostedHyperboxes,
    BoxesDisplay,
    GrowthDisplay,
    ParallelCoordinatesDisplay,
    explain,
    export_frame,
    export_html,
    export_sql,
    export_text,
)
from tests.learners import ImprovedOnlineGFMM

pytestmark = pytest.mark.usefixtures("close_figures")

X, Y = load_iris(return_X_y=True)
READERS = {
    "export_text": export_text,
    "export_frame": export_frame,
    "BoxesDisplay": BoxesDisplay.from_estimator,
    "export_sql": export_sql,
    "export_html": lambda model: export_html(model, X, Y),
    "explain": lambda model: explain(model, X),
    "ParallelCoordinatesDisplay": lambda model: ParallelCoordinatesDisplay.from_estimator(
        model, X[0]
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_models_must_be_fitted_and_made_of_boxes(name):
    read = READERS[name]
    with pytest.raises(NotFittedError):
        read(ImprovedOnlineGFMM())
    message = f"^{name} takes an estimator of hyperboxes, not DecisionTreeClassifier"
    with pytest.raises(TypeError, match=message):
        read(DecisionTreeClassifier().fit(X, Y))


def test_boxes_that_vote_do_not_grow_in_a_stream():
    message = "GrowthDisplay needs a classifier with partial_fit; BoostedHyper"
    with pytest.raises(TypeError, match=message):
        GrowthDisplay.from_estimator(BoostedHyperboxes(3), X, Y)


@pytest.mark.parametrize(("function", "other"), [("min", "mean"), ("mean", "min")])
def test_membership_is_that_of_the_fit_as_in_predict(function, other):
    data, samples = X / 3, X / 2.5  # of many digits, so that gamma tells which ends SQL has
    model = ImprovedOnlineGFMM(theta=0.3, gamma=[1, 2, 3, 4], membership_function=function)
    model.fit(data, Y)
    explained, sql = explain(model, samples).to_dicts(), export_sql(model)
    page = export_html(model, samples, Y)
    drawn = ParallelCoordinatesDisplay.from_estimator(model, samples[60])
    model.set_params(gamma=[40, 3, 2, 1], membership_function=other)
    assert explain(model, samples).to_dicts() == explained
    assert export_sql(model) == sql
    assert export_html(model, samples, Y) == page
    again = ParallelCoordinatesDisplay.from_estimator(model, samples[60])
    np.testing.assert_array_equal(again.memberships, drawn.memberships)
    expected = model.membership(samples[[60]])[0, drawn.labels]
    np.testing.assert_allclose(drawn.memberships, expected, rtol=1e-12)
