"""`AdaptiveGFMM`: equal to the reference, whatever the batches; labels and errors."""

import copy
import io
import itertools
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperboxes import AdaptiveGFMM, load
from tests.model_files import saved
from tests.reference_adaptive import AdaptiveMemory


@st.composite
def streams(draw, max_samples=260):
    """Draw a stream that is long enough for horizons and weights, and where its concept changes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_samples, n_features = draw(st.integers(1, max_samples)), draw(st.integers(1, 3))
    n_classes = draw(st.integers(1, 3))
    X = rng.standard_normal((n_samples, n_features)) * draw(st.sampled_from([1e-3, 1.0, 1e6]))
    if draw(st.booleans()):
        X = np.round(X)  # ties, duplicates
    if draw(st.booleans()):
        X[:, 0] = X[0, 0]
    y = np.digitize(X[:, -1], np.quantile(X[:, -1], np.arange(1, n_classes) / n_classes))
    y[n_samples // 2 :] = (y[n_samples // 2 :] + draw(st.integers(0, 1))) % n_classes
    X_upper = X + np.abs(rng.standard_normal(X.shape)) * draw(st.sampled_from([0.0, 0.1]))
    if draw(st.booleans()):
        lacks = rng.random(X.shape) < 0.2
        X[lacks] = X_upper[lacks] = np.nan
    theta, max_boxes = draw(st.sampled_from([0.01, 0.05, 0.3])), draw(st.integers(1, 40))
    return X, X_upper, y, {"theta": theta, "max_boxes": max_boxes}


def state(model):
    """Return all that a model knows."""
    memory = model._model.state.kept()
    return {**memory, "classes": model.classes_, "appeared": np.array(model._model.labels.appeared)}


def assert_same(one, two):
    one, two = state(one), state(two)
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)


@settings(max_examples=settings().max_examples // 3)
@given(streams())
def test_equals_the_reference(stream):
    X, X_upper, y, params = stream
    model = AdaptiveGFMM(**params).fit(X, y, X_upper=X_upper)
    codes = model._model.labels.encode(y)
    slow = AdaptiveMemory(X.shape[1], len(model.classes_), **params)
    for xl, xu, label in zip(X.tolist(), X_upper.tolist(), codes.tolist(), strict=True):
        slow.learn(xl, xu, label)
    boxes = model.hyperboxes_
    np.testing.assert_array_equal(boxes.lower, [box.lower for box in slow.boxes])
    np.testing.assert_array_equal(boxes.upper, [box.upper for box in slow.boxes])
    places = model._model.labels.positions
    assert boxes.labels.tolist() == [places[box.label] for box in slow.boxes]
    assert boxes.counts.tolist() == [box.count for box in slow.boxes]
    assert model.box_ages_.tolist() == [slow.age(box) for box in slow.boxes]
    assert model.horizon_scores_.ravel().tolist() == list(slow.scores.values())
    assert model.feature_weights_.tolist() == [feature.weight for feature in slow.features]
    shares = model.predict_proba(X[-5:], X_upper[-5:])[:, places]
    ends = zip(X[-5:].tolist(), X_upper[-5:].tolist(), strict=True)
    assert shares.tolist() == [slow.probabilities(xl, xu) for xl, xu in ends]


@settings(max_examples=10)
@given(streams(), st.lists(st.integers(0, 260), max_size=5))
def test_any_batches_give_the_same_model(stream, cuts):
    X, X_upper, y, params = stream
    labels = np.array(["c", "a", "b"])[y]
    model = AdaptiveGFMM(**params).fit(X, labels, X_upper=X_upper)
    in_batches, ends = AdaptiveGFMM(**params), sorted({0, *cuts, len(y)})
    for start, stop in itertools.pairwise(ends):
        rows = slice(start, min(stop, len(y)))
        if len(y[rows]):
            in_batches.partial_fit(X[rows], labels[rows], X_upper=X_upper[rows])
    assert_same(model, in_batches)


def drifting(n_samples=600, seed=0):
    """Return a stream in two features whose classes change places halfway."""
    X = np.random.default_rng(seed).random((n_samples, 2))
    y = (X[:, 0] > X[:, 1]).astype(int)
    y[n_samples // 2 :] = 1 - y[n_samples // 2 :]
    return X, y


def test_it_follows_an_abrupt_drift_and_forgets():
    X, y = drifting()
    model = AdaptiveGFMM(max_boxes=100)
    model.partial_fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) < 0.1
    model.partial_fit(X[300:400], y[300:400])
    assert model.score(X[400:], y[400:]) > 0.85
    model.partial_fit(X[400:], y[400:])
    assert len(model.hyperboxes_) == 100
    assert model.box_ages_.max() < 300


def test_fit_warns_of_samples_sorted_by_class():
    X, y = drifting(100)
    order = np.argsort(y)
    with pytest.warns(UserWarning, match="sorted by class.*shuffle the samples") as caught:
        AdaptiveGFMM().fit(X[order], y[order])
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AdaptiveGFMM().partial_fit(X[order], y[order])
        AdaptiveGFMM().fit(X, y).fit(X, np.zeros(100)).fit(X[:4], [0, 0, 1, 1])


def test_fewer_boxes_may_be_asked_for_on_the_way():
    X, y = drifting()
    model = AdaptiveGFMM(max_boxes=100).partial_fit(X[:300], y[:300])
    youngest = np.sort(model.box_ages_)[:20]
    twin = copy.deepcopy(model).set_params(max_boxes=20)
    twin._model.state.evict(20)
    np.testing.assert_array_equal(np.sort(twin.box_ages_), youngest)
    assert len(twin.partial_fit(X[300:], y[300:]).hyperboxes_) == 20


def test_classes_may_come_on_the_way_or_be_announced():
    X, y = drifting(100)
    labels = np.where(y == 0, "b", "c").astype("U5")
    labels[60:70] = "apple"
    model = AdaptiveGFMM().partial_fit(X[:50], labels[:50])
    assert model.classes_.tolist() == ["b", "c"]
    model.partial_fit(X[50:], labels[50:])
    assert model.classes_.tolist() == ["apple", "b", "c"]
    assert set(model.predict(X)) == {"apple", "b", "c"}
    told = AdaptiveGFMM().partial_fit(X[:50], labels[:50], classes=["c", "z", "b"])
    assert told.classes_.tolist() == ["b", "c", "z"]
    proba = told.predict_proba(X)
    assert proba.shape == (100, 3)
    assert not proba[:, 2].any()
    told.partial_fit(X[50:], labels[50:])
    assert told.classes_.tolist() == ["apple", "b", "c", "z"]
    np.testing.assert_array_equal(model.predict(X), told.predict(X))


def test_the_largest_share_is_predicted():
    X, y = drifting()
    model = AdaptiveGFMM().fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, 2.0, 3.0]], [0], "X has 3 features, but AdaptiveGFMM is expecting 2"),
        ([[1.0, np.inf]], [0], "infinity"),
        ([[1.0, 1e200]], [0], "column 1 holds 1e[+]200 in row 0, which is too large"),
        ([[1.0, 2.0]], ["a"], "y holds text, such as 'a', but labels so far were numbers, such as"),
        ([[1.0, 2.0]], [None], "None|unknown"),
        ([[1.0, 2.0]], [0.5], "Unknown label type"),
    ],
)
def test_errors_change_nothing(X, y, message):
    model = AdaptiveGFMM().fit(*drifting(50))
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, np.array(y))
    assert pickle.dumps(model) == before


def test_other_columns_are_refused_by_name():
    X, y = drifting(50)
    model = AdaptiveGFMM().fit(pd.DataFrame(X, columns=["a", "b"]), y)
    with pytest.raises(ValueError, match="c"):
        model.partial_fit(pd.DataFrame(X, columns=["a", "c"]), y)


def test_copies_go_on_alike(tmp_path):
    X, y = drifting(300)
    model = AdaptiveGFMM(max_boxes=50).fit(X[:150], y[:150])
    joblib.dump(model, tmp_path / "model")
    twins = [pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model", mmap_mode="r")]
    expected = AdaptiveGFMM(max_boxes=50).fit(X, y)
    for twin in twins:
        assert_same(model, twin)
        assert_same(expected, twin.partial_fit(X[150:], y[150:]))
    assert model.n_samples_seen_ == 150


@settings(max_examples=10)
@given(streams(), st.integers(0, 260))
def test_a_saved_model_goes_on_bit_for_bit(stream, cut):
    X, X_upper, y, params = stream
    cut = min(cut, len(y) - 1) + 1
    labels = np.array(["c", "a", "b"])[y]
    model = AdaptiveGFMM(**params).partial_fit(X[:cut], labels[:cut], ["z"], X_upper[:cut])
    twin = load(io.BytesIO(saved(model)))
    assert twin.get_params() == params | {"class_weight": None}
    assert_same(model, twin)
    if cut < len(y):
        assert_same(
            model.partial_fit(X[cut:], labels[cut:], X_upper=X_upper[cut:]),
            twin.partial_fit(X[cut:], labels[cut:], X_upper=X_upper[cut:]),
        )
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))
