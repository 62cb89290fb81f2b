"""Predictions for arrays of several libraries, compared with those for NumPy arrays."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import hyperboxes
from hyperboxes._compat import array_api_compat
from hyperboxes.literature import FuzzyMinMax, OverlappingFuzzyMinMax

if array_api_compat is None:
    pytest.skip("scikit-learn has no array API", allow_module_level=True)

METHODS = ["predict", "predict_proba", "membership", "apply", "decision_function"]
MODELS = {
    "mean": hyperboxes.ImprovedOnlineGFMM(theta=0.4, random_state=0),
    "min": hyperboxes.ImprovedOnlineGFMM(
        theta=0.4, gamma=2.0, membership_function="min", calibrate=False, random_state=0
    ),
    "contracted": hyperboxes.OnlineGFMM(theta=0.4, random_state=0),
    "agglomerative": hyperboxes.AgglomerativeGFMM(scaling=None),
    "boosted": hyperboxes.BoostedHyperboxes(10, random_state=0),
    "boosted more": hyperboxes.BoostedHyperboxes(150, random_state=0),
}
TENTHS = st.sampled_from([*(number / 10 for number in range(-2, 13)), np.nan])


@pytest.fixture(autouse=True)
def _dispatch(monkeypatch):
    """Let scikit-learn dispatch; it wants the variable to be set for SciPy."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield


@pytest.fixture(params=["array_api_strict", "torch"], scope="module")
def library(request):
    return pytest.importorskip(request.param)


def draw_samples(seed, n_samples=60, n_classes=3):
    """Return samples in [0, 1] with ties and missing values, and their classes."""
    random = np.random.RandomState(seed)
    X = random.randint(0, 11, (n_samples, 3)) / 10
    X[random.rand(*X.shape) < 0.05] = np.nan
    X[0] = 0.5
    return X, random.randint(0, n_classes, n_samples)


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=15)
@given(data=st.data())
def test_predictions_are_those_for_numpy_arrays(library, name, data):
    seed = data.draw(st.integers(0, 5))
    model = sklearn.base.clone(MODELS[name]).fit(*draw_samples(seed, n_classes=2 + seed % 2))
    shape = data.draw(st.integers(1, 30)), 3
    X = data.draw(hnp.arrays(np.float64, shape, elements=TENTHS))
    on_device = library.asarray(X)
    for method in METHODS:
        if hasattr(model, method):
            found = getattr(model, method)(on_device)
            assert type(found) is type(on_device)
            np.testing.assert_array_equal(np.asarray(found), getattr(model, method)(X))


def test_blocks_change_nothing(library, monkeypatch):
    X, y = draw_samples(0)
    model = hyperboxes.ImprovedOnlineGFMM(random_state=0).fit(X, y)
    expected = model.predict_proba(X)
    monkeypatch.setattr("hyperboxes._models.array_api._BLOCK", 3 * len(model.hyperboxes_))
    found = model.predict_proba(library.asarray(X))
    np.testing.assert_array_equal(np.asarray(found), expected)


def test_intervals_and_samples_without_a_label(library):
    X, y = draw_samples(0)
    y = np.where(np.arange(len(y)) % 5 == 0, -1, y)
    upper = X + 0.1
    model = hyperboxes.ImprovedOnlineGFMM(unlabeled=-1, random_state=0).fit(X, y, upper)
    ends = library.asarray(X), library.asarray(upper)
    np.testing.assert_array_equal(np.asarray(model.predict(*ends)), model.predict(X, upper))
    found = np.asarray(model.membership(*ends, unlabeled=True))
    np.testing.assert_array_equal(found, model.membership(X, upper, unlabeled=True))


@pytest.mark.parametrize("name", ["mean", "boosted"])
def test_numbers_of_other_types(library, name):
    X, y = draw_samples(0)
    model = sklearn.base.clone(MODELS[name]).fit(X, y)
    single = X.astype(np.float32)
    found = model.predict_proba(library.asarray(single))
    assert found.dtype == library.float32
    expected = model.predict_proba(single.astype(np.float64))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)
    whole = np.array([[0, 1, 0], [1, 1, 1]])
    found = model.predict(library.asarray(whole))
    np.testing.assert_array_equal(np.asarray(found), model.predict(whole.astype(float)))


def test_scores_of_scikit_learn(library):
    X, y = draw_samples(0)
    model = hyperboxes.ImprovedOnlineGFMM(random_state=0).fit(X, y)
    score = model.score(library.asarray(X), library.asarray(y))
    assert score == pytest.approx(model.score(X, y), abs=1e-6)  # of single precision in PyTorch


def test_a_device_without_doubles(library, monkeypatch):
    X, y = draw_samples(0)
    model = hyperboxes.ImprovedOnlineGFMM(random_state=0).fit(X, y)
    values = library.asarray(X.astype(np.float32))
    info = array_api_compat.array_namespace(values).__array_namespace_info__
    monkeypatch.setattr(type(info()), "dtypes", lambda *_, **__: {"float32": library.float32})
    found = model.predict_proba(values)
    assert found.dtype == library.float32
    np.testing.assert_allclose(np.asarray(found), model.predict_proba(X), atol=1e-4)


def test_invalid_samples_are_named(library):
    X, y = draw_samples(0)
    model = hyperboxes.ImprovedOnlineGFMM(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(library.asarray(X[:, :2]))
    with pytest.raises(ValueError, match="infinity"):
        model.predict(library.asarray(np.full((1, 3), np.inf)))
    with pytest.raises(TypeError, match="must be real numbers"):
        model.predict(library.asarray(np.ones((1, 3), bool)))
    with pytest.raises(TypeError, match="X_upper"):
        model.predict(library.asarray(X), X)
    with pytest.raises(ValueError, match="X_upper must be at least X"):
        model.predict(library.asarray(X), library.asarray(X - 1))
    with pytest.raises(TypeError, match="take such arrays"):
        model.fit(library.asarray(X), library.asarray(y))


def test_classes_that_a_device_cannot_hold(library):
    X, y = draw_samples(0)
    model = hyperboxes.ImprovedOnlineGFMM(random_state=0).fit(X, y.astype(str))
    with pytest.raises(TypeError, match="LabelEncoder"):
        model.predict(library.asarray(X))
    found = model.predict_proba(library.asarray(X))
    np.testing.assert_array_equal(np.asarray(found), model.predict_proba(X))


def test_categories_need_tables(library):
    X, y = draw_samples(0)
    X = np.nan_to_num(X)
    model = hyperboxes.ImprovedOnlineGFMM(categorical_features=[0], random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="categorical features"):
        model.predict(library.asarray(X))


@pytest.mark.parametrize(
    "model",
    [
        hyperboxes.RandomHyperboxes(n_estimators=3, random_state=0),
        hyperboxes.HyperboxClustering(),
        hyperboxes.AdaptiveGFMM(),
        OverlappingFuzzyMinMax("compensate"),
        FuzzyMinMax(),
    ],
)
def test_other_estimators_refuse_devices_by_name(library, model):
    X, y = draw_samples(0)
    model.fit(np.nan_to_num(X), y)
    with pytest.raises(TypeError, match="take such arrays"):
        model.predict(library.asarray(X))


def test_several_boxes_decide(library):
    random = np.random.default_rng(0)
    X = random.random((600, 6))
    y = ((X[:, 0] + X[:, 1] > 1) ^ (random.random(600) < 0.25)).astype(int)
    samples = np.where(random.random((100, 6)) < 0.1, np.nan, 1.2 * random.random((100, 6)))
    model = hyperboxes.OnlineGFMM(random_state=0).fit(X, y)
    assert model.n_neighbors_ > 1
    for method in ("predict", "predict_proba", "apply"):
        found = getattr(model, method)(library.asarray(samples))
        np.testing.assert_array_equal(np.asarray(found), getattr(model, method)(samples))
