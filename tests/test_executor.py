"""The executor: equal to compiled prediction for every estimator, and traces that add up."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine

from hyperboxes import (
    AdaptiveGFMM,
    AgglomerativeGFMM,
    BoostedHyperboxes,
    HyperboxClustering,
    ImprovedOnlineGFMM,
    OnlineGFMM,
    RandomHyperboxes,
    explain,
    merge,
    prune,
)
from hyperboxes._estimators.validation import NUMBERS, validate_samples
from hyperboxes._models import executor
from hyperboxes._models.samples import Intervals
from tests import boosted
from tests.decisions import decide_by
from tests.strategies import few_examples

RANGE = (-2.0, 3.0)

NEAREST = [
    OnlineGFMM,
    ImprovedOnlineGFMM,
    AgglomerativeGFMM,
    partial(AgglomerativeGFMM, algorithm="agglo2"),
]


@st.composite
def tables(draw):
    """Draw samples, their upper ends, classes, and how to learn them.

    There are ties, duplicates, flat columns, missing values and a column of categories.
    """
    n_classes, n_features = draw(st.sampled_from([1, 2, 5])), draw(st.sampled_from([1, 2, 3, 10]))
    shape = draw(st.integers(n_classes + 1, 25)), n_features
    values = st.integers(0, 10).map(lambda tenths: tenths / 10)
    X = draw(hnp.arrays(np.float64, shape, elements=values | st.floats(*RANGE)))
    if draw(st.booleans()):
        X[:, -1] = X[0, -1]
    if is_categorical := draw(st.booleans()):
        X[:, 0] = draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, 3)))
    if draw(st.booleans()):
        X[draw(hnp.arrays(np.bool_, shape))] = np.nan
    X_upper = None
    if not is_categorical and draw(st.booleans()):
        X_upper = np.minimum(X + draw(hnp.arrays(np.float64, shape, elements=values)), RANGE[1])
    y = draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, n_classes - 1)))
    y[:n_classes] = np.arange(n_classes)
    return X, X_upper, y, [0] if is_categorical else None


@st.composite
def boxes_of(draw):
    """Draw the parameters that all learners of nearest boxes have, for up to ten features."""
    gammas = st.sampled_from([0.5, 1.0, 2.0, 10.0])
    return {
        "theta": draw(st.sampled_from([0.1, 0.3, 1.0])),
        "gamma": draw(st.lists(gammas, min_size=10, max_size=10)),
        "membership_function": draw(st.sampled_from(["min", "mean"])),
    }


def with_gamma(params, n_features):
    return params | {"gamma": params["gamma"][:n_features]}


def queries(X, X_upper):
    """Return the samples, others between, and some beyond the reach of all boxes."""
    lower = np.concatenate([X, X[::-1] / 2 + 0.25, X * 1e3])
    if X_upper is None:
        return lower, None
    return lower, np.concatenate([X_upper, X[::-1] / 2 + 0.5, np.maximum(X_upper, X * 1e3)])


def validated(model, X, X_upper):
    """Return samples as records take them."""
    lower = validate_samples(model, X, reset=False, **NUMBERS)
    return lower, lower if X_upper is None else X_upper


def assert_nearest_equal(model, X, X_upper=None):
    """Compare scores, ties, winners, probabilities and the boxes that decide, bit for bit."""
    record = model._record()
    lower, upper = validated(model, X, X_upper)
    scores = executor.class_scores(record, lower, upper)
    intervals = Intervals(lower, upper, model._model.scale)
    compiled = model._model.find_nearest(*intervals.scaled())
    assert_array_equal(scores.scores, compiled[0])
    assert_array_equal(scores.tie_counts, compiled[1])
    assert_array_equal(scores.oldest_singleton, np.minimum(compiled[2], len(record.labels)))
    found = executor.evaluate(record, lower, upper)
    assert_array_equal(model.classes_[found.winners], model.predict(X, X_upper))
    assert_array_equal(found.probabilities, model.predict_proba(X, X_upper))
    deciding, explained = model.apply(X, X_upper), explain(model, X, X_upper=X_upper)
    for row in range(len(X)):
        trace = executor.trace(record, lower[row : row + 1], upper[row : row + 1])
        first = trace.boxes[:2].tolist()
        assert first == [box.index for box in explained[row].boxes]
        assert first[0] == deciding[row]
        assert len(trace.boxes) == np.isfinite(found.scores[row]).sum()
        has_box = np.isfinite(found.scores[row])
        assert_array_equal(trace.contributions.sum(axis=0)[has_box], found.scores[row, has_box])
        assert ((trace.gaps > 0).any(axis=1) == (record.degree(trace.gaps) < 1)).all()


@few_examples
@given(
    tables(), boxes_of(), st.sampled_from(NEAREST), st.sampled_from([2, 5, 10]), st.integers(0, 2)
)
def test_several_boxes_of_each_class(table, params, learner, n_neighbors, width):
    X, X_upper, y, categorical = table
    params = with_gamma(params, X.shape[1]) | {"unlabeled": -1}
    y[len(np.unique(y)) :: 4] = -1
    model = learner(**params, categorical_features=categorical).fit(X, y, X_upper)
    model = decide_by(model, n_neighbors, width)
    samples = queries(X, X_upper) if categorical is None else (X, X_upper)
    found = executor.evaluate(model._record(), *validated(model, *samples))
    assert_array_equal(found.probabilities, model.predict_proba(*samples))
    assert_array_equal(model.classes_[found.winners], model.predict(*samples))


@few_examples
@given(tables(), boxes_of(), st.sampled_from(NEAREST), st.booleans(), st.booleans())
def test_nearest_boxes(table, params, learner, calibrate, is_scaled):
    X, X_upper, y, categorical = table
    params = with_gamma(params, X.shape[1]) | {"calibrate": calibrate, "unlabeled": -1}
    params["decision"] = "nearest"
    if not is_scaled:
        params["scaling"] = [[low] * X.shape[1] for low in RANGE]
    y[len(np.unique(y)) :: 4] = -1
    model = learner(**params, categorical_features=categorical).fit(X, y, X_upper)
    assert_nearest_equal(model, *(queries(X, X_upper) if categorical is None else (X, X_upper)))


@few_examples
@given(tables(), boxes_of())
def test_merged_and_pruned_models_and_classes_without_a_box(table, params):
    X, X_upper, y, _ = table
    ranges = [[low] * X.shape[1] for low in RANGE]
    params = with_gamma(params, X.shape[1]) | {"scaling": ranges, "decision": "nearest"}
    new = partial(OnlineGFMM, **params)
    parts = []
    for rows in (slice(None, None, 2), slice(1, None, 2)):
        upper = None if X_upper is None else X_upper[rows]
        parts.append(new().partial_fit(X[rows], y[rows], classes=range(7), X_upper=upper))
    merged = merge(parts)
    assert_nearest_equal(merged, *queries(X, X_upper))
    assert_nearest_equal(prune(merged, X, y, X_upper=X_upper), *queries(X, X_upper))


@few_examples
@given(tables(), boxes_of(), st.sampled_from(["online", "agglo-sm", "agglo2"]))
def test_clusters(table, params, algorithm):
    X, X_upper, _, _ = table
    params = with_gamma(params, X.shape[1])
    model = HyperboxClustering(**params, min_samples=2, algorithm=algorithm).fit(X, None, X_upper)
    record = model._record()
    X, X_upper = queries(X, X_upper)
    found = executor.evaluate(record, *validated(model, X, X_upper))
    assert_array_equal(found.winners, model.predict(X, X_upper))
    assert found.probabilities is None
    every = np.arange(len(record.labels))
    lower, upper = Intervals(*validated(model, X, X_upper), model._model.scale).scaled()
    assert_array_equal(found.scores, model._model.closeness(lower, upper, every))
    trace = executor.trace(record, *(ends[:1] for ends in validated(model, X, X_upper)))
    assert record.labels[trace.boxes[0]] == found.winners[0]
    assert sorted(trace.boxes) == every.tolist()


@few_examples
@given(boosted.problems(), st.sampled_from([3, boosted.MANY]))
def test_additive_boxes(problem, max_boxes):
    X, y, weights = problem
    model = boosted.small_model(max_boxes).fit(X, y, sample_weight=weights)
    X, record = boosted.around(model.hyperboxes_, X), model._record()
    found = executor.evaluate(record, X, X)
    assert_array_equal(found.scores, model._scores(X))
    assert_array_equal(model.classes_[found.winners], model.predict(X))
    assert_array_equal(found.probabilities, model.predict_proba(X))
    explained = explain(model, X[:20])
    for row, explanation in enumerate(explained):
        trace = executor.trace(record, X[row : row + 1], X[row : row + 1])
        assert trace.boxes.tolist() == [box.index for box in explanation.boxes]
        added = trace.contributions.sum(axis=0) + explanation.baseline
        assert_allclose(added, found.scores[row], rtol=0, atol=1e-12)
        assert_array_equal(np.isnan(trace.gaps), np.isnan(X[row]) & np.ones_like(trace.gaps, bool))


@few_examples
@given(tables(), st.sampled_from([0.05, 0.3]), st.integers(1, 40), st.integers(1, 6))
def test_neighbors(table, theta, max_boxes, times):
    X, X_upper, y, _ = table
    repeated = [np.tile(part, (times,) + (1,) * (part.ndim - 1)) for part in (X, y)]
    upper = None if X_upper is None else np.tile(X_upper, (times, 1))
    model = AdaptiveGFMM(theta, max_boxes=max_boxes)
    model.partial_fit(*repeated, classes=[-1, *range(7)], X_upper=upper)
    X, X_upper = queries(X, X_upper)
    lower, upper = validated(model, X, X_upper)
    assert_voting_equal(model, lower, upper, executor.evaluate(model._record(), lower, upper))


def assert_voting_equal(model, lower, upper, found):
    """Compare shares to 1e-12, winners where the margin allows it, and let contributions add up."""
    asked = lower, None if upper is lower else upper
    expected = model.predict_proba(*asked)
    assert_allclose(found.probabilities, expected, rtol=0, atol=1e-12)
    last = np.sort(expected, axis=1)[:, -2:]
    is_clear = last[:, -1] - (last[:, 0] if last.shape[1] > 1 else 0.0) > 1e-9
    assert_array_equal(model.classes_[found.winners][is_clear], model.predict(*asked)[is_clear])
    for row in range(min(len(lower), 10)):
        trace = executor.trace(model._record(), lower[row : row + 1], upper[row : row + 1])
        assert_allclose(trace.contributions.sum(axis=0), found.scores[row], rtol=0, atol=1e-12)
        assert (np.diff(trace.contributions.sum(axis=1)) <= 0).all()


@few_examples
@given(tables(), st.sampled_from(NEAREST[1:]), st.sampled_from([0, 0.1]), st.booleans())
def test_ensembles(table, learner, temperature, calibrate):
    X, X_upper, y, categorical = table
    model = RandomHyperboxes(
        learner(theta=0.3),
        n_estimators=4,
        temperature=temperature,
        calibrate=calibrate,
        weighted_features=False,
        categorical_features=categorical,
        random_state=0,
    ).fit(X, y, X_upper)
    lower, upper = validated(model, X, X_upper)
    found = executor.evaluate(model._record(), lower, upper)
    assert_array_equal(found.probabilities, model.predict_proba(X, X_upper))
    assert_array_equal(model.classes_[found.winners], model.predict(X, X_upper))
    if categorical is None:
        assert_voting_equal(model, lower, upper, found)


def test_traces_of_neighbors_name_the_boxes_of_explanations():
    random = np.random.default_rng(0)
    X = random.standard_normal((600, 3))
    model = AdaptiveGFMM().fit(X, (X[:, 0] > X[:, 1]) + (X[:, 2] > 1))
    X = random.standard_normal((20, 3))
    X[::5, 1] = np.nan
    record = model._record()
    for row, explanation in enumerate(explain(model, X)):
        trace = executor.trace(record, X[row : row + 1], X[row : row + 1])
        assert trace.boxes.tolist() == [box.index for box in explanation.boxes]
        shares = [box.membership for box in explanation.boxes]
        assert_allclose(trace.contributions.sum(axis=1), shares, atol=1e-12)
        assert_array_equal(record.age[trace.boxes], [box.age for box in explanation.boxes])
        known = ~np.isnan(X[row])
        gaps = np.where(known, np.minimum(trace.gaps, 1.0), 1 / 3)
        distances = gaps @ record.feature_weights
        assert_allclose(trace.distances, distances, atol=1e-12)
        assert np.isnan(trace.gaps[:, ~known]).all()


@pytest.mark.parametrize("learner", NEAREST[1:3], ids=["max", "sum"])
def test_traces_of_ensembles_name_the_boxes_of_explanations(learner):
    X, y = load_wine(return_X_y=True)
    member = learner(membership_function="min" if learner is NEAREST[1] else "mean")
    model = RandomHyperboxes(member, n_estimators=8, random_state=0).fit(X[::2], y[::2])
    record, X = model._record(), X[1::6].copy()
    X[::4, 2] = np.nan
    for row, explanation in enumerate(explain(model, X)):
        trace = executor.trace(record, X[row : row + 1], X[row : row + 1])
        expected = {(b.member, b.index): b.membership for b in explanation.boxes}
        names, shares = map(tuple, trace.boxes.tolist()), trace.contributions.sum(axis=1)
        found = dict(zip(names, shares, strict=True))
        assert found.keys() == expected.keys()
        assert_allclose([found[key] for key in expected], list(expected.values()), atol=1e-12)
        assert_allclose(trace.feature_contributions, explanation.feature_contributions, atol=1e-12)
        for box, gaps in zip(trace.boxes, trace.gaps, strict=True):
            is_known = np.isin(np.arange(X.shape[1]), record.members[box[0]].features)
            assert_array_equal(np.isnan(gaps), ~is_known | np.isnan(X[row]))


@pytest.mark.parametrize(
    "estimator",
    [
        ImprovedOnlineGFMM(random_state=0),
        AdaptiveGFMM(),
        BoostedHyperboxes(5, random_state=0),
        RandomHyperboxes(n_estimators=3, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_records_are_read_only_and_stay_as_they_are(estimator):
    X, y = load_iris(return_X_y=True)
    model = estimator.fit(X[::2], y[::2])
    record = model._record()
    before = executor.evaluate(record, X, X)
    twin = pickle.loads(pickle.dumps(record))
    if hasattr(model, "partial_fit"):
        model.partial_fit(X[1::2], y[1::2])
    for each in (record, twin):
        for found, expected in zip(executor.evaluate(each, X, X), before, strict=True):
            assert_array_equal(found, expected)
        arrays = [*vars(each).values()]
        for member in vars(each).get("members", ()):
            arrays.extend(member)
        arrays = [array for array in arrays if isinstance(array, np.ndarray)]
        assert arrays
        assert not any(array.flags.writeable for array in arrays)
