"""Classifiers for river: its own checks, pipelines, evaluations and drift detectors."""

import pickle

import numpy as np
import pandas as pd
import pytest
from river import checks, compose, datasets, drift, evaluate, metrics, preprocessing

import hyperboxes
from hyperboxes import river

MODELS = [river.AdaptiveGFMM(), river.ImprovedOnlineGFMM(), river.OnlineGFMM(max_boxes=5)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_checks_of_river(model):
    for check in checks.yield_checks(model):
        check(model.clone())


def test_in_a_pipeline_with_progress():
    model = compose.Select("empty_server_form_handler", "popup_window", "https", "age_of_domain")
    model |= preprocessing.StandardScaler()
    model |= river.AdaptiveGFMM()
    steps = evaluate.iter_progressive_val_score(
        datasets.Phishing(), model, metrics.Accuracy() + metrics.CohenKappa(), step=500
    )
    *_, last = steps
    assert last["Step"] == 1250
    assert last["Accuracy"].get() > 0.8


def test_predictions_feed_a_drift_detector():
    rng = np.random.default_rng(0)
    model, detector, found = river.ImprovedOnlineGFMM(0.2), drift.ADWIN(), []
    for i in range(1500):
        x = {"u": rng.random(), "v": rng.random()}
        y = (x["u"] > x["v"]) != (i >= 1000)
        detector.update(float(model.predict_one(x) != y))
        if detector.drift_detected and i > 200:
            found.append(i)
            model = model.clone()  # a new one
        model.learn_one(x, y)
    assert found
    assert 1000 < found[0] < 1200


def test_a_feature_that_appears_on_the_way_is_learned():
    rng = np.random.default_rng(0)
    model, hits = river.AdaptiveGFMM(), []
    for i in range(1200):
        x = {"noise": rng.random(), "tells": rng.random()}
        y = x["tells"] > 0.5
        if i < 300:
            del x["tells"]
        hits.append(model.predict_one(x) == y)
        model.learn_one(x, y)
    assert model.feature_names == ["noise", "tells"]
    assert np.mean(hits[:300]) < 0.65
    assert np.mean(hits[600:]) > 0.9
    assert model.model.feature_weights_[1] == pytest.approx(1.0)


def test_batches_equal_single_samples():
    rows = list(datasets.Phishing().take(300))
    one, many = river.AdaptiveGFMM(), river.AdaptiveGFMM()
    for x, y in rows:
        one.learn_one(x, y)
    frame, labels = pd.DataFrame([x for x, _ in rows]), pd.Series([y for _, y in rows])
    assert many.predict_proba_many(frame[:2]).empty
    many.learn_many(frame[:200], labels[:200])
    many.learn_many(frame[200:], labels[200:])
    shares = many.predict_proba_many(frame)
    assert shares.columns.tolist() == [False, True]
    expected = [list(one.predict_proba_one(x).values()) for x, _ in rows]
    np.testing.assert_array_equal(shares, expected)
    assert many.predict_many(frame).tolist() == [one.predict_one(x) for x, _ in rows]


def test_errors_name_features_and_change_nothing():
    model = river.AdaptiveGFMM()
    model.learn_one({"size": 1.0, "mass": 2.0}, "a")
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="Feature 'mass' is 'heavy', which is not a number"):
        model.learn_one({"size": 1.0, "mass": "heavy"}, "a")
    assert pickle.dumps(model) == before


def test_the_model_may_be_saved(tmp_path):
    model = river.AdaptiveGFMM()
    for x, y in datasets.Phishing().take(50):
        model.learn_one(x, y)
    hyperboxes.save(model.model, tmp_path / "model")
    assert len(hyperboxes.load(tmp_path / "model").hyperboxes_) == len(model.model.hyperboxes_)


WRONG = [({"u": "x", "v": 1.0}, True), ({"u": 10**400, "v": 1.0}, True), ({"u": 1.0}, None)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(("x", "y"), [*WRONG, ({"u": 1.0}, (1, 2)), ({"u": 1.0}, [1])])
def test_wrong_samples_are_rejected_at_once_and_forgotten(model, x, y):
    rng = np.random.default_rng(0)
    rows = [{"u": rng.random(), "v": rng.random()} for _ in range(250)]
    model, twin = model.clone(), model.clone()
    for number, row in enumerate(rows):
        if number in (5, 200):  # while the first ones are collected, and later
            with pytest.raises(ValueError, match=r"Feature 'u'|label"):
                model.learn_one(x, y)
        model.learn_one(row, row["u"] > row["v"])
        twin.learn_one(row, row["u"] > row["v"])
    assert [model.predict_proba_one(row) for row in rows] == [
        twin.predict_proba_one(row) for row in rows
    ]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("n_samples", [5, 250])
def test_pickles_go_on_learning(model, n_samples):
    rng = np.random.default_rng(0)
    rows = [{"u": rng.random(), "v": rng.random()} for _ in range(300)]
    model = model.clone()
    for row in rows[:n_samples]:
        model.learn_one(row, row["u"] > row["v"])
    twin = pickle.loads(pickle.dumps(model))
    for row in rows[n_samples:]:
        model.learn_one(row, row["u"] > row["v"])
        twin.learn_one(row, row["u"] > row["v"])
    for row in rows:
        assert twin.predict_proba_one(row) == model.predict_proba_one(row)
