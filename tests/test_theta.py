"""`theta="auto"`: what is chosen, by which scores, and what is fitted with it."""

import io
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine

import hyperboxes as hb
from hyperboxes import AgglomerativeGFMM, merge
from hyperboxes._learning.calibration import THETAS, _folds
from hyperboxes._models.model import ThetaPath
from tests.learners import (
    ImprovedOnlineGFMM,
    OnlineGFMM,
    every_learner,
    every_online_learner,
    same_boxes,
)
from tests.model_files import saved

X, Y = load_wine(return_X_y=True)
RANGES = [X.min(axis=0), X.max(axis=0)]


def assert_same_model(model, expected):
    """Compare boxes and probabilities bit for bit."""
    assert same_boxes(model, expected)
    assert model.n_candidates_ == expected.n_candidates_
    assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


@every_learner
@pytest.mark.parametrize("options", [{}, {"calibrate": False}])
def test_a_fit_is_that_with_the_chosen_number(cls, options):
    model = cls("auto", **options).fit(X, Y)
    assert model.theta == "auto"
    assert model.theta_ in THETAS
    assert_same_model(model, cls(model.theta_, **options).fit(X, Y))
    number = cls(0.3, **options).fit(X, Y)
    assert (number.theta_, number.theta_path_) == (0.3, None)


def test_shuffled_fits_use_an_order_that_the_choice_leaves_alone():
    seeds = [np.random.RandomState(5) for _ in range(2)]
    model = hb.ImprovedOnlineGFMM("auto", random_state=seeds[0]).fit(X, Y)
    numbered = hb.ImprovedOnlineGFMM(model.theta_, random_state=seeds[1]).fit(X, Y)
    assert_same_model(model, numbered)


def test_the_largest_value_within_a_standard_error_is_chosen():
    theta, error, n_boxes = np.array([0.1, 0.2, 0.5, 0.7]), np.full(4, 0.02), np.ones(4)
    for accuracy, expected in (
        ([0.9, 0.8, 0.89, 0.8], 0.5),
        ([0.9, 0.8, 0.87, 0.8], 0.1),
        ([0.9, 0.9, 0.9, 0.9], 0.7),
        ([0.8, 0.84, 0.8, 0.87], 0.7),
        ([np.nan] * 4, 0.7),
    ):
        assert ThetaPath(theta, np.array(accuracy), error, n_boxes).chosen == expected
    one_error = np.array([0.001, 0.05, 0.05, 0.05])  # that of the best counts
    assert ThetaPath(theta, np.array([0.9, 0.88, 0.89, 0.5]), one_error, n_boxes).chosen == 0.1


def test_scores_are_those_of_thirds_that_were_held_out():
    options = {"decision": "nearest", "scaling": RANGES}
    model = AgglomerativeGFMM("auto", **options).fit(X, Y)
    path = model.theta_path_
    samples = model._samples(X, X, Y, model._model.scale)
    for number, theta in enumerate(path["theta"]):
        is_right, n_boxes = [], []
        for part, rows in _folds(samples):
            fitted = AgglomerativeGFMM(theta, **options).fit(part.lower, part.y)
            assert not set(map(tuple, part.lower)) & set(map(tuple, X[rows]))
            is_right.extend(fitted.predict(X[rows]) == Y[rows])
            n_boxes.append(len(fitted.hyperboxes_))
        assert len(is_right) == len(Y)
        assert path["accuracy"][number] == pytest.approx(np.mean(is_right))
        assert path["standard_error"][number] == pytest.approx(np.std(is_right) / len(Y) ** 0.5)
        assert path["n_boxes"][number] == pytest.approx(np.mean(n_boxes))


def test_smaller_values_are_left_out_where_samples_no_longer_join():
    path = AgglomerativeGFMM("auto").fit(X, Y).theta_path_
    assert path["theta"].tolist() == sorted(path["theta"])
    assert path["theta"][-1] == max(THETAS)
    n_samples = 2 / 3 * len(Y)
    assert path["n_boxes"][0] > 0.95 * n_samples
    assert path["theta"][0] == 0.1
    assert (path["n_boxes"][1:] <= 0.95 * n_samples).all()


def test_several_boxes_decide_in_scores_where_they_decide_in_the_model():
    rng = np.random.default_rng(0)
    samples = rng.random((600, 4))
    labels = (samples[:, 0] + samples[:, 1] > 1) ^ (rng.random(600) < 0.2)
    found = {
        decision: AgglomerativeGFMM("auto", decision=decision).fit(samples, labels)
        for decision in ("auto", "nearest")
    }
    assert found["auto"].n_neighbors_ > 1
    best = {name: model.theta_path_["accuracy"].max() for name, model in found.items()}
    assert best["auto"] > best["nearest"] + 0.05


@every_learner
def test_weights_are_neither_learned_nor_compared_twice(cls):
    model = cls("auto").fit(X, Y)
    double = cls("auto").fit(X, Y, sample_weight=np.full(len(Y), 2))
    assert_array_equal(double.theta_path_["accuracy"], model.theta_path_["accuracy"])
    half = np.arange(len(Y)) % 2
    weighted, chosen = (
        cls("auto").fit(X, Y, sample_weight=half),
        cls("auto").fit(X[half == 1], Y[half == 1]),
    )
    assert_array_equal(weighted.theta_path_["accuracy"], chosen.theta_path_["accuracy"])
    heavy = np.where(Y == 0, 5, 1)
    of_all = cls("auto").fit(X, Y, sample_weight=heavy).theta_path_
    assert (of_all["accuracy"] != model.theta_path_["accuracy"]).any()


def test_class_weights_change_no_choice():
    paths = [
        ImprovedOnlineGFMM("auto", class_weight=weight).fit(X, Y).theta_path_
        for weight in (None, "balanced")
    ]
    for name in paths[0]:
        assert_array_equal(paths[0][name], paths[1][name])


@every_learner
def test_texts_categories_and_missing_values(cls):
    iris = load_iris(as_frame=True)
    frame = iris.data.assign(kind=pd.Categorical(np.where(iris.data.iloc[:, 2] > 3, "a", "b")))
    frame.iloc[::7, 1] = np.nan
    labels = iris.target_names[iris.target].astype(object)
    labels[::5] = "?"
    model = cls("auto", unlabeled="?").fit(frame, labels)
    assert model.theta_path_["accuracy"].max() > 0.85
    assert model.theta_ in THETAS
    assert set(model.predict(frame)) == set(iris.target_names)


@every_learner
def test_too_few_samples_and_classes_give_the_largest_value(cls):
    for samples, labels in ((X, np.zeros(len(X))), (X[:1], [3]), (X[::90], ["a", "b"])):
        model = cls("auto").fit(samples, labels)
        if len(set(labels)) == 1:
            assert np.isnan(model.theta_path_["accuracy"]).all()
        assert model.theta_ == max(THETAS)


@every_online_learner
def test_the_first_batch_chooses(cls):
    order = np.random.default_rng(0).permutation(len(Y))
    first, second = order[:100], order[100:]
    model = cls("auto").partial_fit(X[first], Y[first], classes=[0, 1, 2])
    chosen, path = model.theta_, model.theta_path_
    model.partial_fit(X[second], Y[second])
    expected = cls(chosen).partial_fit(X[first], Y[first], classes=[0, 1, 2])
    assert_same_model(model, expected.partial_fit(X[second], Y[second]))
    assert_array_equal(model.theta_path_["accuracy"], path["accuracy"])
    model.learn_one(X[0], int(Y[0]))
    assert model.set_params(theta=0.05).partial_fit(X[:9], Y[:9]).theta_ == 0.05


@every_online_learner
def test_streams_that_cannot_choose(cls):
    model = cls("auto", scaling=RANGES)
    for samples, labels in ((X[:40], Y[:40]), (X[:59], np.zeros(59, int))):
        with pytest.raises(ValueError, match=r"at least 50 samples with a label, of two classes"):
            model.partial_fit(samples, labels, classes=[0, 1, 2])
    for counts in (np.arange(len(Y)) % 5 == 0, Y == 0):
        with pytest.raises(ValueError, match=rf"but has {counts.sum()} of"):
            model.partial_fit(X, Y, classes=[0, 1, 2], sample_weight=counts.astype(int))
    with pytest.raises(ValueError, match=r"theta='auto' is chosen by fit or in the first call"):
        model.learn_one(X[0], 0)
    assert vars(model) == vars(cls("auto", scaling=RANGES))
    fitted = cls(0.3).fit(X, Y)
    n_seen = fitted.n_samples_seen_
    with pytest.raises(ValueError, match="pass a number"):
        fitted.set_params(theta="auto").partial_fit(X, Y)
    for label in (0, 3):
        with pytest.raises(ValueError, match="pass a number"):
            fitted.learn_one(X[0], label)
    assert fitted.n_samples_seen_ == n_seen
    assert_array_equal(fitted.classes_, [0, 1, 2])
    assert not hasattr(fitted, "theta_")


def test_many_samples_give_the_same_choice_each_time():
    rng = np.random.default_rng(1)
    samples = rng.random((4000, 2))
    labels = (samples[:, 0] > 0.5) ^ (samples[:, 1] > 0.3)
    first, second = (hb.ImprovedOnlineGFMM("auto").fit(samples, labels) for _ in range(2))
    assert_array_equal(first.theta_path_["theta"], second.theta_path_["theta"])
    assert first.theta_path_["n_boxes"].max() < 2000
    assert first.theta_path_["accuracy"].max() > 0.95


@every_learner
def test_copies_and_files_have_the_choice(cls):
    model = cls("auto").fit(X, Y)
    assert not hasattr(clone(model), "_model")
    assert clone(model).theta == "auto"
    for twin in (pickle.loads(pickle.dumps(model)), hb.load(io.BytesIO(saved(model)))):
        assert twin.theta == "auto"
        assert twin.theta_ == model.theta_
        for name, values in model.theta_path_.items():
            assert_array_equal(twin.theta_path_[name], values)
        assert_same_model(twin, model)
        if hasattr(twin, "partial_fit"):
            copies = pickle.loads(pickle.dumps(model)), twin
            assert_same_model(*(copy.partial_fit(X, Y) for copy in copies))
    single = cls("auto").fit(X, np.zeros(len(X)))
    assert np.isnan(hb.load(io.BytesIO(saved(single))).theta_path_["accuracy"]).all()
    model.theta_path_["accuracy"][:] = 0.0
    assert model.theta_path_["accuracy"].max() > 0.9


@every_learner
def test_models_that_chose_the_same_are_merged(cls):
    model = cls("auto", scaling=RANGES).fit(X, Y)
    number = cls(model.theta_, scaling=RANGES).fit(X, Y)
    merged = merge([model, model])
    assert merged.theta_ == model.theta_
    assert_same_model(merged, merge([number, number]))
    other = cls("auto", scaling=RANGES).fit(X, Y)
    path = other._model.theta_path
    is_last = path.theta == path.theta.min()
    other._model.theta_path = path._replace(accuracy=is_last.astype(float))
    assert other.theta_ != model.theta_
    with pytest.raises(ValueError, match=rf"differ in theta: {model.theta_} and {other.theta_}"):
        merge([model, other])


def test_what_does_not_choose():
    for model in (hb.HyperboxClustering(theta="auto"), hb.AdaptiveGFMM(theta="auto")):
        with pytest.raises(ValueError, match="The 'theta' parameter"):
            model.fit(X, Y)
    for cls in (ImprovedOnlineGFMM, OnlineGFMM, AgglomerativeGFMM):
        with pytest.raises(ValueError, match="Members have a number as theta"):
            hb.RandomHyperboxes(cls("auto")).fit(X, Y)
        with pytest.raises(ValueError, match=r"'theta' parameter .* must be .*'auto'"):
            cls("best").fit(X, Y)
    dask = pytest.importorskip("hyperboxes.dask")
    parts = [pytest.importorskip("dask").delayed(part) for part in (X, Y)]
    for train in (dask.fit, dask.partial_fit):
        with pytest.raises(ValueError, match=r"not supported on Dask: .* theta=model\.theta_"):
            train(ImprovedOnlineGFMM("auto"), *[[part] for part in parts])


def test_reports_have_the_chosen_number():
    model = AgglomerativeGFMM("auto").fit(X, Y)
    page = hb.export_html(model, X, Y)
    assert f"theta={model.theta_}," in page
    assert "theta=&#39;auto" not in page
    changed = AgglomerativeGFMM(0.3).fit(X, Y).set_params(theta="auto")
    assert "theta=&#39;auto" in hb.export_html(changed, X, Y)
