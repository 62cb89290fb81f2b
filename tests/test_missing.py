"""Missing values: what is not known holds nothing back.

That learners with missing values equal the reference is tested with all other problems (see
`strategies`).
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from hyperboxes import AdaptiveGFMM, AgglomerativeGFMM, RandomHyperboxes
from tests.learners import ESTIMATORS, ImprovedOnlineGFMM, OnlineGFMM, every_estimator, same_boxes
from tests.strategies import few_examples, problems, without_gaps

NAN = np.nan
WITH_MIN = {n: e for n, e in ESTIMATORS.items() if "membership_function" in e.get_params()}


@pytest.mark.parametrize("learner", WITH_MIN.values(), ids=WITH_MIN)
@few_examples
@given(problem=problems().map(without_gaps), place=st.integers(0, 4))
def test_a_feature_that_is_always_missing_changes_nothing(learner, problem, place):
    """Of a mean, what is not known is a part, too: memberships are larger, boxes the same."""
    params = {"membership_function": "min", "scaling": None, "unlabeled": -1}
    model = clone(learner).set_params(theta=problem.theta, **params)
    place = min(place, problem.xl.shape[1])
    xl, xu = (np.insert(ends, place, NAN, axis=1) for ends in (problem.xl, problem.xu))
    model.fit(problem.xl, problem.y, X_upper=problem.xu)
    expected, answers = model.hyperboxes_, model.predict_proba(problem.xl, X_upper=problem.xu)
    boxes = model.fit(xl, problem.y, X_upper=xu).hyperboxes_
    assert np.isnan(boxes.lower[:, place]).all()
    assert np.isnan(boxes.upper[:, place]).all()
    np.testing.assert_array_equal(np.delete(boxes.lower, place, axis=1), expected.lower)
    np.testing.assert_array_equal(np.delete(boxes.upper, place, axis=1), expected.upper)
    np.testing.assert_array_equal(boxes.counts, expected.counts)
    xl[:, place] = xu[:, place] = 0.3  # no box knows the feature
    np.testing.assert_array_equal(model.predict_proba(xl, X_upper=xu), answers)


@every_estimator
def test_bounds_come_from_samples_that_have_the_feature(learner):
    X = [[0.0, NAN], [0.1, 0.4], [0.2, 0.5], [NAN, 0.6], [NAN, NAN]]
    model = clone(learner).set_params(theta=0.5, scaling=None).fit(X, [0] * 5)
    boxes = model.hyperboxes_
    np.testing.assert_array_equal(boxes.lower, [[0.0, 0.4]])
    np.testing.assert_array_equal(boxes.upper, [[0.2, 0.6]])
    assert boxes.counts.tolist() == [5]


def test_a_box_learns_a_feature_though_it_holds_the_sample_in_all_others():
    model = ImprovedOnlineGFMM(theta=0.5, scaling=None).fit([[0.1, NAN], [0.1, 0.7]], [0, 0])
    np.testing.assert_array_equal(model.hyperboxes_.lower, [[0.1, 0.7]])


def test_boxes_are_told_apart_by_what_both_know():
    X = [[0.1, NAN], [0.2, NAN], [0.9, 0.5], [0.8, 0.4]]
    model = ImprovedOnlineGFMM(theta=0.5, scaling=None).fit(X, ["a", "a", "b", "b"])
    assert model.hyperboxes_.counts.tolist() == [2, 2]
    np.testing.assert_array_equal(model.predict([[0.15, 0.2], [0.85, NAN]]), ["a", "b"])


def test_boxes_that_know_no_feature_in_common_are_in_each_others_way():
    X = [[0.1, NAN], [NAN, 0.5], [0.2, NAN]]
    model = ImprovedOnlineGFMM(theta=0.5, scaling=None).fit(X, ["a", "b", "a"])
    assert model.hyperboxes_.counts.tolist() == [1, 1, 1]
    model.fit([*X, [0.9, 0.6], [0.12, NAN]], ["a", "b", "a", "b", "a"])
    assert model.hyperboxes_.counts.tolist() == [2, 2, 1]


@every_estimator
def test_scaling_leaves_missing_values_out(learner):
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 3)) * [1, 100, 1e-3] + [0, -50, 7], rng.integers(0, 2, 60)
    X[rng.random(X.shape) < 0.2] = NAN
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    scaled = clone(learner).set_params(theta=0.3, scaling="minmax").fit(X, y)
    boxes, answers = scaled.hyperboxes_, scaled.predict_proba(X)
    assert np.nanmin(boxes.lower) == low.min()
    by_hand = (X - low) / (high - low)
    model = scaled.set_params(scaling=None).fit(by_hand, y)
    np.testing.assert_array_equal(model.hyperboxes_.counts, boxes.counts)
    np.testing.assert_array_equal(model.predict_proba(by_hand), answers)


def test_a_sample_without_any_value_ties_with_all_boxes():
    model = ImprovedOnlineGFMM(scaling=None).fit([[0.0], [0.0], [1.0]], ["a", "a", "b"])
    assert model.predict([[NAN]]) == "a"  # its boxes have absorbed the most samples
    model.partial_fit([[1.0]] * 2, ["b"] * 2)
    assert model.predict([[NAN]]) == "b"
    np.testing.assert_array_equal(model.membership([[NAN]]), [[1.0, 1.0]])


def test_missing_values_of_pandas_are_understood():
    frame = pd.DataFrame({"a": [0.0, None, 1.0], "b": pd.array([1, 2, None], dtype="Int64")})
    X = [[0.0, 1.0], [NAN, 2.0], [1.0, NAN]]
    assert same_boxes(*(ImprovedOnlineGFMM().fit(data, [0, 0, 1]) for data in (frame, X)))


def test_a_model_with_unknown_bounds_can_be_pickled():
    X = [[0.0, NAN], [1.0, 0.5], [NAN, 0.2]]
    model = ImprovedOnlineGFMM().fit(X, [0, 1, 1])
    assert same_boxes(pickle.loads(pickle.dumps(model)), model)


def test_the_first_batch_should_know_every_feature():
    model = ImprovedOnlineGFMM()
    with pytest.warns(UserWarning, match="no value of column 1"):
        model.partial_fit([[0.0, NAN], [5.0, NAN]], [0, 1], classes=[0, 1])


# Samples that lack values, of models that were trained on complete ones.

LOSSY = [
    ImprovedOnlineGFMM(random_state=0),
    OnlineGFMM(random_state=0),
    AgglomerativeGFMM(),
    AdaptiveGFMM(),
    RandomHyperboxes(n_estimators=20, random_state=0),
]
every_lossy = pytest.mark.parametrize("model", LOSSY, ids=lambda model: type(model).__name__)


def noisy_samples(n_samples, seed):
    """Return samples of which 4 in 5 are of the first class."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_samples, 5))
    return X, (X[:, 0] + X[:, 1] + 0.7 * random.normal(size=n_samples) > 1.3).astype(int)


@every_lossy
def test_without_any_value_probabilities_are_the_shares_of_the_classes(model):
    X, y = noisy_samples(400, 0)
    model = clone(model).fit(X, y)
    shares = model.predict_proba(np.full((1, 5), NAN))
    np.testing.assert_allclose(shares, [[np.mean(y == 0), np.mean(y == 1)]], atol=0.02)
    assert model.predict(np.full((1, 5), NAN)) == 0


@every_lossy
def test_samples_that_lack_values_are_answered_no_worse_than_by_the_majority(model):
    model = clone(model).fit(*noisy_samples(400, 0))
    X, y = noisy_samples(2000, 1)
    order = np.random.default_rng(2).random(X.shape).argsort(axis=1)
    for n_unknown in range(1, 6):
        accuracy = model.score(np.where(order < n_unknown, NAN, X), y)
        assert accuracy > np.mean(y == 0) - 0.015


def test_neighbors_that_lack_values_are_not_the_nearest():
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 8))
    log_odds = X @ [1, 0.7, -0.5, 0.3, 0, 0, 0.4, 0] - 1.6
    y = (random.random(4000) < 1 / (1 + np.exp(-log_odds))).astype(int)
    has_gaps = random.random(X.shape) < 0.3
    model = AdaptiveGFMM().fit(np.where(has_gaps, NAN, X)[:2000], y[:2000])
    X, y = X[2000:], y[2000:]
    for n_unknown in range(9):
        X[:, :n_unknown] = NAN
        assert model.score(X, y) > np.mean(y == 0) - 0.01


def test_a_single_sample_does_not_outvote_many_where_values_are_unknown():
    X = [[0.5, 0.1], *[[0.5, 0.9]] * 20]
    y = ["noise", *["usual"] * 20]
    models = [ImprovedOnlineGFMM(scaling=None, calibrate=c).fit(X, y) for c in (True, False)]
    assert [model.predict([[0.5, NAN]]).item() for model in models] == ["usual", "noise"]
    assert [model.predict([[0.5, 0.1]]).item() for model in models] == ["noise", "noise"]


def test_less_is_known_of_samples_that_lack_more_values():
    X, y = noisy_samples(400, 0)
    calibration = ImprovedOnlineGFMM(random_state=0).fit(X, y)._model.calibration
    assert 0.25 < calibration.power < 16
    assert calibration.power_losses.min() < calibration.power_losses.max()
