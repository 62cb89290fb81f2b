"""What decides about a sample, and what would change it, by asking the model again."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.datasets import load_breast_cancer

from hyperboxes import ImprovedOnlineGFMM, OnlineGFMM, explain
from tests.decisions import decide_by, deciding_models
from tests.learners import every_function, models_and_samples


@settings(max_examples=60)
@given(models_and_samples() | deciding_models())
def test_the_change_flips_the_prediction(case):
    model, _, xl, xu = case
    for row, explanation in enumerate(explain(model, xl, X_upper=xu)):
        change = explanation.counterfactual
        if change is None:
            continue
        assert change.prediction != explanation.prediction
        assert model.predict([change.lower], X_upper=[change.upper])[0] == change.prediction
        code = model.classes_.tolist().index(change.prediction)
        probability = model.predict_proba([change.lower], X_upper=[change.upper])[0, code]
        assert probability == change.probability
        same = np.setdiff1d(np.arange(xl.shape[1]), change.features)
        np.testing.assert_array_equal(change.lower[same], xl[row, same])
        np.testing.assert_array_equal(change.upper[same], xu[row, same])
        for j in change.features:  # each is needed
            lower, upper = change.lower.copy(), change.upper.copy()
            lower[j], upper[j] = xl[row, j], xu[row, j]
            assert model.predict([lower], X_upper=[upper])[0] == explanation.prediction


@every_function
def test_changes_are_sparse(function):
    data = load_breast_cancer()
    model = ImprovedOnlineGFMM(membership_function=function)
    model.fit(data.data[::2], data.target[::2])
    explanations = explain(model, data.data[1:61:2])
    sizes = [len(explanation.counterfactual.features) for explanation in explanations]
    assert np.mean(sizes) < 4  # of 30


@settings(max_examples=30)
@given(models_and_samples())
def test_the_deciding_feature_separates_the_boxes(case):
    model, _, xl, xu = case
    model = decide_by(model, 1)
    for explanation in explain(model, xl, X_upper=xu):
        j, winning, competing = explanation.deciding, explanation.winning, explanation.competing
        if j is None:
            continue
        assert competing.fraction[j] > 0
        assert not competing.fraction[j] <= winning.fraction[j]
        assert explanation.separation()[j] > 0
        assert explanation.features_by_weight()[0] == j
        if model.membership_function == "mean" and winning.membership > 0:
            difference = winning.membership - competing.membership
            assert explanation.separation().mean() == pytest.approx(difference, abs=1e-9)
            assert explanation.separation()[j] == explanation.separation().max()


def test_where_no_change_is_found_it_is_said_so():
    """What the one class holds, the other holds, too, and wins there."""
    model = OnlineGFMM(theta=1.0, scaling=None)
    model.fit([[0.0], [1.0], [0.5], [0.5], [0.5]], ["b", "b", "a", "a", "a"])
    for value in (0.25, 0.5):
        explanation = explain(model, [[value]])[0]
        flips = model.predict(np.linspace(-1, 2, 301)[:, None]) != explanation.prediction
        assert (explanation.counterfactual is None) == (not flips.any())
        assert ("The search found no change" in str(explanation)) == (not flips.any())


def test_models_may_go_on_learning():
    model = ImprovedOnlineGFMM(theta=0.3).fit(
        [[0.0], [2.0], [8.0], [10.0]], ["low", "low", "high", "high"]
    )
    explanation = explain(model, [[3.0]])[0]
    model.partial_fit([[3.5], [4.0]], ["high", "high"])
    assert explanation.counterfactual.lower.tolist() == [8]
