"""Weights of samples: 2 is a sample twice, 0 is none, in all that is learned."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM, RandomHyperboxes, load
from hyperboxes.literature import (
    FrequencyGFMM,
    FuzzyMinMax,
    MixedGFMM,
    MultiGranularGFMM,
    OverlappingFuzzyMinMax,
)
from tests.learners import same_boxes
from tests.model_files import saved
from tests.tables import make_table

LEARNERS = [
    ImprovedOnlineGFMM(random_state=0),
    ImprovedOnlineGFMM(shuffle=False, calibrate=False),
    OnlineGFMM(random_state=0),
    AgglomerativeGFMM(),
    AgglomerativeGFMM(algorithm="agglo2"),
]
OTHERS = [
    MixedGFMM(random_state=0),
    FrequencyGFMM(random_state=0),
    OverlappingFuzzyMinMax(random_state=0),
    MultiGranularGFMM(random_state=0),
]
WEIGHTS = np.arange(60) % 4


def assert_same(weighted, repeated, X):
    assert same_boxes(weighted, repeated)
    assert weighted.classes_.tolist() == repeated.classes_.tolist()
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("model", [*LEARNERS, *OTHERS], ids=str)
def test_weights_repeat_samples(model):
    """In tables with categories, too, of which some only samples of weight 0 have."""
    table, y = make_table(60)
    table.loc[WEIGHTS == 0, "colour"] = "never"
    rows = np.repeat(np.arange(60), WEIGHTS)
    weighted = clone(model).fit(table, y, sample_weight=WEIGHTS)
    repeated = clone(model).fit(table.iloc[rows], y[rows])
    assert weighted.categories_ == repeated.categories_
    assert_same(weighted, repeated, table)
    assert weighted.hyperboxes_.counts.sum() == WEIGHTS.sum()


@pytest.mark.parametrize("model", [*LEARNERS[:3], FuzzyMinMax()], ids=str)
def test_weights_of_intervals_in_batches(model):
    model = clone(model)
    random = np.random.default_rng(0)
    X, y = random.uniform(size=(60, 3)), np.arange(60) % 3
    X_upper = X + 0.05
    model.set_params(scaling=[[0] * 3, [1] * 3])
    weighted, repeated = clone(model), clone(model)
    for rows in np.split(np.arange(60), 2):
        weights, again = WEIGHTS[rows], np.repeat(rows, WEIGHTS[rows])
        weighted.partial_fit(X[rows], y[rows], [0, 1, 2], X_upper[rows], sample_weight=weights)
        repeated.partial_fit(X[again], y[again], [0, 1, 2], X_upper[again])
    assert_same(weighted, repeated, X)
    assert weighted.n_samples_seen_ == WEIGHTS.sum()


def test_whole_weights_of_an_ensemble_repeat_samples():
    """Bit for bit and in any order: draws, members, votes, probabilities, scores, importances."""
    table, y = make_table(60)
    table.loc[WEIGHTS == 0, "colour"] = "never"
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(60), WEIGHTS))
    model = RandomHyperboxes(n_estimators=6, random_state=0)
    weighted = clone(model).fit(table, y, sample_weight=WEIGHTS)
    repeated = clone(model).fit(table.iloc[rows], y[rows])
    assert weighted.categories_ == repeated.categories_
    assert_same_ensembles(weighted, repeated, table)
    assert weighted.n_samples_ == WEIGHTS.sum()
    found = weighted.oob_decision_function_
    assert np.isnan(found[WEIGHTS == 0]).all()
    copies = pd.DataFrame(repeated.oob_decision_function_).groupby(rows).mean()
    np.testing.assert_allclose(found[copies.index], copies, rtol=1e-14)


def assert_same_ensembles(weighted, repeated, X):
    for one, other in zip(weighted._model.members, repeated._model.members, strict=True):
        for part in ("features", "lower", "upper", "labels", "counts"):
            np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
    np.testing.assert_array_equal(weighted.feature_importances_, repeated.feature_importances_)
    assert weighted.oob_score_ == repeated.oob_score_


def test_weights_of_one_change_nothing_in_an_ensemble():
    table, y = make_table(60)
    model = RandomHyperboxes(n_estimators=6, random_state=0)
    weighted = clone(model).fit(table, y, sample_weight=np.ones(60))
    plain = clone(model).fit(table, y)
    assert_same_ensembles(weighted, plain, table)
    np.testing.assert_array_equal(weighted.oob_decision_function_, plain.oob_decision_function_)


def test_members_draw_samples_as_often_as_they_weigh():
    """Counts of boxes tell what was drawn: each sample is alone in the range of its values."""
    weights = np.array([0.2, 0.5, 1, 1.5, 3])
    X, y = np.repeat(np.arange(5.0), 40)[:, np.newaxis], np.repeat(np.arange(5), 40)
    model = RandomHyperboxes(
        ImprovedOnlineGFMM(), n_estimators=50, weighted_features=False, random_state=0
    ).fit(X, y, sample_weight=weights[y])
    drawn = [np.bincount(boxes.labels, boxes.counts) for boxes in model.members_]
    np.testing.assert_allclose(np.mean(drawn, axis=0), 0.8 * 40 * weights, rtol=0.1)
    np.testing.assert_allclose(model._model.n_samples, 40 * weights)


def test_light_samples_leave_a_class_at_least_one():
    X, y = [[0.0], [0.1], [1.0], [0.9]] * 5, [0, 0, 1, 1] * 5
    weights = [1, 1, 0.01, 0.03] * 5
    model = RandomHyperboxes(n_estimators=40, max_features=1, random_state=0)
    model.fit(X, y, sample_weight=weights)
    counts = [np.bincount(boxes.labels, boxes.counts) for boxes in model.members_]
    assert np.median(counts, axis=0).tolist() == [8, 1]


def test_probabilities_of_an_ensemble_know_the_weights():
    """A class of three times the weight has three times the share where nothing tells."""
    random = np.random.default_rng(0)
    X, y = random.uniform(size=(400, 2)), np.arange(400) % 2
    model = RandomHyperboxes(n_estimators=20, random_state=0)
    model.fit(X, y, sample_weight=np.where(y == 1, 0.9, 0.3))
    p = model.predict_proba(random.uniform(size=(400, 2)))
    assert 0.65 < p[:, 1].mean() < 0.85


def test_weights_that_hardly_count_samples_are_warned_of():
    table, y = make_table(60)
    with pytest.warns(UserWarning, match="sums up to 1, and weights count samples"):
        RandomHyperboxes(n_estimators=2).fit(table, y, sample_weight=np.full(60, 1 / 60))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0, 0, 0], "at least one non-zero"),
        ([1, -1, 1], "Negative values"),
        ([1, 2], r"shape"),
    ],
)
def test_wrong_weights_of_an_ensemble_change_nothing(weights, message):
    X, y = pd.DataFrame({"a": [0.0, 0.5, 1.0], "b": ["x", "y", "x"]}), [0, 0, 1]
    model = RandomHyperboxes(n_estimators=2, random_state=0)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sample_weight=weights)
    assert set(vars(model)) == set(model.get_params())


def test_classes_of_samples_without_weight_are_left_out():
    X, y = [[0.0], [0.5], [1.0]], ["a", "b", "c"]
    for model in (ImprovedOnlineGFMM(), RandomHyperboxes(n_estimators=2)):
        assert model.fit(X, y, sample_weight=[1, 0, 2]).classes_.tolist() == ["a", "c"]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 0.5, 1], "sample_weight holds 0.5 in row 1, but boxes count samples"),
        ([0, 0, 0], "at least one non-zero"),
        ([1, -1, 1], "Negative values"),
        ([1, 2], r"shape"),
        ([1, 1e16, 1], "sums up to 1e\\+16, but boxes count samples, up to 9.0072e\\+15: divide"),
    ],
)
def test_wrong_weights_change_nothing(weights, message):
    X, y = pd.DataFrame({"a": [0.0, 0.5, 1.0], "b": ["x", "y", "x"]}), [0, 0, 1]
    model = ImprovedOnlineGFMM(random_state=0)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sample_weight=weights)
    assert set(vars(model)) == set(model.get_params())
    model.fit(X, y)
    counts = model.hyperboxes_.counts
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.hyperboxes_.counts, counts)


@pytest.mark.parametrize("model", [*LEARNERS, *OTHERS], ids=str)
def test_large_weights_cost_no_copies(model):
    """Boxes count all that samples weigh, which took memory and time in proportion."""
    table, y = make_table(60)
    weights = WEIGHTS * 10**9
    model = clone(model).fit(table, y, sample_weight=weights)
    assert_counts(model, y, weights)
    twin = load(io.BytesIO(saved(model)))
    np.testing.assert_array_equal(twin.predict_proba(table), model.predict_proba(table))
    if hasattr(model, "partial_fit") and getattr(model, "resolution", None) != "levels":
        model.partial_fit(table, y, sample_weight=weights)
        assert_counts(model, y, 2 * weights)
        assert model.n_samples_seen_ == 2 * weights.sum()


def assert_counts(model, y, weights):
    boxes = model.hyperboxes_
    for code, label in enumerate(model.classes_):
        assert boxes.counts[boxes.labels == code].sum() == weights[y == label].sum()


def test_large_weights_of_samples_without_a_label():
    X, y = np.array([[0.0], [0.1], [1.0]]), [0, -1, 1]
    model = ImprovedOnlineGFMM(unlabeled=-1, random_state=0)
    model.fit(X, y, sample_weight=[1, 10**9, 1])
    assert model.hyperboxes_.counts.sum() == 10**9 + 2


def test_large_weights_of_an_ensemble_are_drawn_in_proportion():
    X, y = np.repeat(np.arange(5.0), 40)[:, np.newaxis], np.repeat(np.arange(5), 40)
    weights = np.array([1, 2, 3, 4, 10]) * 10**12
    model = RandomHyperboxes(n_estimators=20, weighted_features=False, random_state=0)
    model.fit(X, y, sample_weight=weights[y])
    drawn = np.mean([np.bincount(boxes.labels, boxes.counts) for boxes in model.members_], axis=0)
    np.testing.assert_allclose(drawn / drawn.sum(), weights / weights.sum(), rtol=0.02)
    assert model.n_samples_ == 40 * weights.sum()
