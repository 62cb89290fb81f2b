"""Several boxes of each class that decide together, against their definition."""

import io
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import hyperboxes as hb
from hyperboxes import AgglomerativeGFMM, load, merge
from hyperboxes._models import executor
from hyperboxes._models.calibration import (
    DOUBLE_SLOPES,
    N_NEIGHBORS,
    PRIOR_WEIGHTS,
    WIDTHS,
    DistanceCalibration,
)
from tests.decisions import decide_by, deciding_models
from tests.learners import (
    ImprovedOnlineGFMM,
    OnlineGFMM,
    every_function,
    every_learner,
    same_boxes,
)
from tests.model_files import saved


def noisy(n_samples=600, seed=0):
    """Return samples of two classes, a fifth with the wrong label."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, 4))
    y = X[:, 0] + X[:, 1] > 1
    return X, np.where(rng.random(n_samples) < 0.2, ~y, y).astype(int)


def all_distances(model, xl, xu):
    """Return the distances of the boxes of each class in order, for each sample."""
    boxes, membership = model._model.boxes, model._model.membership
    for low, high in zip(xl, xu, strict=True):
        gaps = np.maximum(high - boxes.upper, boxes.lower - low)
        distances = membership.distance(gaps)
        yield [np.sort(distances[boxes.labels == c]) for c in range(boxes.n_classes)]


@given(deciding_models(), st.integers(1, 16))
def test_the_nearest_boxes_of_each_class_are_found(case, n_neighbors):
    model, _, xl, xu = case
    nearest, distances = model._model.find_neighbors(xl, xu, n_neighbors)
    for row, by_class in enumerate(all_distances(model, xl, xu)):
        for label, in_order in enumerate(by_class):
            room = np.full(n_neighbors, np.inf)
            room[: len(in_order)] = in_order[:n_neighbors]
            assert_array_equal(distances[row, label], room)
    for found, expected in zip(nearest, model._model.find_nearest(xl, xu), strict=True):
        assert_array_equal(found, expected)


@settings(max_examples=50)
@given(deciding_models())
def test_probabilities_are_as_defined(case):
    model, _, xl, xu = case
    boxes, calibration = model._model.boxes, model._model.calibration
    k, width = calibration.n_neighbors, calibration.width
    assert width == pytest.approx(WIDTHS[width_of(calibration)] * calibration.offset / 0.2)
    is_labelled = boxes.labels >= 0
    counts = np.bincount(boxes.labels[is_labelled], boxes.counts[is_labelled], boxes.n_classes)
    shares = (counts + 1) / (counts + 1).sum()
    p = model.predict_proba(xl, X_upper=xu)
    is_complete = ~np.isnan(xl).any(axis=1)
    for row, by_class in enumerate(all_distances(model, xl, xu)):
        soft = [
            d[0] - width * np.log(np.exp((d[0] - d[:k]) / width).sum() / k) if len(d) else 1e300
            for d in by_class
        ]
        odds = (np.minimum(soft, 1e300) + calibration.offset) ** -calibration.slope
        likely = odds / odds.sum()
        expected = (1 - calibration.prior_weight) * likely + calibration.prior_weight * shares
        if is_complete[row]:
            assert_allclose(p[row], expected, rtol=1e-7, atol=1e-9)
    with patch("hyperboxes._models.model._FEW", 0):
        assert_array_equal(model.predict(xl, X_upper=xu), model.classes_[p.argmax(axis=1)])


@pytest.mark.parametrize("scale", [1e-45, 1.0, 1e3, 1e30, 1e39, 1e300])
@every_function
def test_single_precision_decides_only_what_is_certain(scale, function):
    """Samples far apart, among them those on which two classes have nearly the same probability."""
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 3)), rng.integers(0, 3, 400)
    X[40:] = np.where(rng.random((360, 3)) < 0.05, X[40:] * scale, X[40:])
    model = ImprovedOnlineGFMM(0.05, membership_function=function)
    with np.errstate(over="ignore"):
        model.partial_fit(X[:40], y[:40], range(3)).partial_fit(X[40:], y[40:])
        decide_by(model, 10)
        ends = rng.random((2, 200, 3))
        for _ in range(60):  # towards where the class changes
            middle = ends.mean(axis=0)
            is_same = model.predict_proba(middle).argmax(axis=1) == model.predict_proba(
                ends[0]
            ).argmax(axis=1)
            ends = np.where(is_same[:, None], [middle, ends[1]], [ends[0], middle])
        samples = np.vstack([*ends, rng.random((200, 3)), X, X * np.nan])
        expected = model.predict_proba(samples).argmax(axis=1)
        assert_array_equal(model.predict(samples), expected)
        intervals = model._intervals(samples, None)
        _, is_certain = model._model._classify_roughly(*intervals.scaled())
    assert not is_certain[:100].all()
    assert is_certain.any() == (scale <= 1e3)


def width_of(calibration):
    """Return the position of the width that decides."""
    return int(calibration.decision_losses.min(axis=(1, 2, 3)).argmin())


def test_losses_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    distances = np.sort(rng.random((40, 3, 10)), axis=2)
    distances[:5, 1, 4:] = np.inf
    distances[5:8, 2] = np.inf
    y, shares = rng.integers(0, 2, 40), np.array([0.5, 0.3, 0.2])
    start = DistanceCalibration.start(0, learns_decision=True)
    found = start.updated_by_neighbors(distances, y, shares, 0.5)
    for position in np.ndindex(found.decision_losses.shape):
        w, k, s, d = position
        width, n = WIDTHS[w] * start.offset / 0.2, N_NEIGHBORS[k]
        with np.errstate(invalid="ignore"):
            nearness = np.exp((distances[:, :, :1] - distances[:, :, :n]) / width)
            soft = distances[:, :, 0] - width * np.log(nearness.sum(axis=2) / n)
        soft = np.where(np.isinf(distances[:, :, 0]), 1e300, soft)
        odds = (soft + start.offset) ** -DOUBLE_SLOPES[s]
        likely = (odds / odds.sum(axis=1, keepdims=True))[np.arange(40), y]
        p = (1 - PRIOR_WEIGHTS[d]) * likely + PRIOR_WEIGHTS[d] * shares[y]
        before = start.decision_losses[position]
        assert found.decision_losses[position] == pytest.approx(0.5 * before - np.log(p).sum())


@every_learner
def test_several_boxes_decide_where_labels_are_noisy(cls):
    X, y = noisy()
    X_test, _ = noisy(2000, seed=1)
    truth = (X_test[:, 0] + X_test[:, 1] > 1).astype(int)
    model, nearest = cls(theta=0.3).fit(X, y), cls(theta=0.3, decision="nearest").fit(X, y)
    assert model.n_neighbors_ > 1
    assert nearest.n_neighbors_ == 1
    assert model.score(X_test, truth) > nearest.score(X_test, truth)
    assert same_boxes(model, nearest)
    assert_array_equal(model.membership(X_test), nearest.membership(X_test))


def test_the_nearest_box_decides_where_others_are_no_better():
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    y = np.floor(X[:, 0] * 4).astype(int) % 2
    X += y[:, None] * 3
    model, nearest = AgglomerativeGFMM().fit(X, y), AgglomerativeGFMM(decision="nearest").fit(X, y)
    assert model.n_neighbors_ == 1
    assert_array_equal(model.predict_proba(X), nearest.predict_proba(X))
    assert AgglomerativeGFMM(calibrate=False).fit(X, y).n_neighbors_ == 1


def test_streams_decide_by_what_they_have_seen():
    X, y = noisy(1500)
    model = OnlineGFMM(theta=0.3, scaling=None)
    numbers = []
    for rows in np.array_split(np.arange(1500), 15):
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
        numbers.append(model.n_neighbors_)
    assert numbers[-1] > 1
    one = OnlineGFMM(theta=0.3, scaling=None)
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        one.learn_one(x, label)
    assert one.n_neighbors_ == numbers[-1]
    assert_array_equal(one.predict_proba(X), model.predict_proba(X))
    assert one.predict_one(X[0].tolist()) == model.predict(X[:1])[0]


def test_merged_models_add_up_their_losses():
    X, y = noisy(900)
    new = {"theta": 0.3, "scaling": None}
    parts = [OnlineGFMM(**new).fit(X[i::3], y[i::3]) for i in range(3)]
    merged = merge(parts)
    start = DistanceCalibration.start(0, learns_decision=True).decision_losses
    added = sum(part._model.calibration.decision_losses - start for part in parts)
    assert_allclose(merged._model.calibration.decision_losses, start + added)
    assert merged.n_neighbors_ > 1
    nearest = [OnlineGFMM(**new, decision="nearest").fit(X[i::3], y[i::3]) for i in range(3)]
    assert merge(nearest)._model.calibration.decision_losses is None
    with pytest.raises(ValueError, match="differ in decision"):
        merge([parts[0], nearest[1]])


def test_saved_models_decide_as_before():
    X, y = noisy()
    model = decide_by(ImprovedOnlineGFMM().fit(X, y), 5)
    twin = load(io.BytesIO(saved(model)))
    assert twin.n_neighbors_ == 5
    assert_array_equal(twin.predict_proba(X), model.predict_proba(X))


def test_samples_without_any_value_have_the_shares_of_the_classes():
    X, y = noisy()
    model = decide_by(AgglomerativeGFMM(theta=0.3).fit(X, y), 10)
    p = model.predict_proba([[np.nan] * 4])
    assert_allclose(p, [(np.bincount(y) + 1) / (len(y) + 2)])


def test_a_box_of_the_predicted_class_is_the_nearest_one():
    X, y = noisy()
    model = decide_by(AgglomerativeGFMM(theta=0.3).fit(X, y), 10)
    boxes = model.hyperboxes_
    assert_array_equal(boxes.labels[model.apply(X)], model.predict(X))


@pytest.mark.parametrize("n_neighbors", [2, 5, 10])
def test_traces_divide_the_probabilities(n_neighbors):
    X, y = noisy(300)
    X[::7, 1] = np.nan
    model = decide_by(ImprovedOnlineGFMM(theta=0.3).fit(X, y), n_neighbors)
    record, calibration = model._record(), model._model.calibration
    shares = (np.bincount(y) + 1) / (len(y) + 2)
    for row in range(20):
        sample = X[row : row + 1]
        trace = executor.trace(record, sample, sample)
        found = trace.evaluation.probabilities[0]
        unknown = np.isnan(sample).mean()
        part = calibration.prior_weight + (1 - calibration.prior_weight) * (
            unknown**calibration.power if unknown else 0.0
        )
        assert_allclose(trace.contributions.sum(axis=0), found - part * shares, atol=1e-12)
        assert (np.diff(trace.contributions.sum(axis=1)) <= 0).all()
        assert len(trace.boxes) <= 2 * model.n_neighbors_
        assert_array_equal(trace.contributions.argmax(axis=1), record.labels[trace.boxes])


@pytest.mark.parametrize("decision", ["several", None, 5])
def test_decisions_that_do_not_exist(decision):
    with pytest.raises(ValueError, match="'decision' parameter"):
        hb.ImprovedOnlineGFMM(decision=decision).fit([[0.0], [1.0]], [0, 1])
