"""The learners as scikit-learn estimators: its checks, its tools, every kind of table and label."""

import copy
import inspect
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from hyperboxes import AgglomerativeGFMM, HyperboxClustering
from hyperboxes._estimators.registry import all_learners
from hyperboxes.literature import FuzzyMinMax, FuzzyMinMaxClustering, OverlappingFuzzyMinMax
from tests.learners import ImprovedOnlineGFMM, every_learner, every_online_learner, same_boxes

X, Y = load_iris(return_X_y=True)

_NEEDS_SAMPLES = "it calls partial_fit with 15 samples, of which theta cannot be chosen"


@parametrize_with_checks(
    [
        *(learner.estimator() for learner in all_learners()),
        AgglomerativeGFMM(algorithm="agglo2", selection="all", overlap="paper"),
        AgglomerativeGFMM("auto"),
        ImprovedOnlineGFMM("auto"),
        FuzzyMinMax("rfmnn"),
        FuzzyMinMaxClustering(),
        HyperboxClustering(algorithm="agglo-sm", min_samples=2),
        *(OverlappingFuzzyMinMax(resolution=name) for name in ("compensate", "core", "levels")),
    ],
    expected_failed_checks=lambda estimator: (
        {"check_n_features_in_after_fitting": _NEEDS_SAMPLES}
        if getattr(estimator, "theta", None) == "auto" and hasattr(estimator, "partial_fit")
        else {}
    ),
)
@pytest.mark.filterwarnings("ignore:Boxes still change")  # of Simpson's clustering
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


@every_learner
@pytest.mark.parametrize(
    "labels",
    [
        np.array(["setosa", "versicolor", "virginica"]),
        np.array(["setosa", "versicolor", "virginica"], dtype=object),
        np.array([-1, 5, 100]),
        np.array([1.0, 2.0, 3.0]),
    ],
    ids=["str", "object", "int", "float"],
)
def test_labels_of_every_kind(cls, labels):
    y = labels[Y]
    model = cls().fit(X, y)
    np.testing.assert_array_equal(model.classes_, labels)
    assert model.predict(X).dtype == y.dtype
    assert model.score(X, y) > 0.9
    assert same_boxes(model, cls().fit(X, Y))


@every_learner
def test_boolean_labels(cls):
    model = cls().fit(X, Y == 1)
    assert model.classes_.tolist() == [False, True]
    assert model.predict(X).dtype == bool


@every_learner
def test_one_class(cls):
    model = cls().fit(X, np.full(len(X), "only"))
    assert set(model.predict(X)) == {"only"}
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))


@every_learner
@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_tables(cls, table):
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    frame = table(dict(zip(names, X.T, strict=True)))
    labels = type(frame[names[0]])(["abc"[label] for label in Y])
    model = cls().fit(frame, labels)
    assert model.feature_names_in_.tolist() == names
    assert same_boxes(model, cls().fit(X, Y))
    assert model.score(frame, labels) > 0.9
    assert cls().fit(frame, labels, X_upper=frame).score(frame, labels) > 0.9


@every_learner
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, bool])
def test_numbers_of_every_kind(cls, dtype):
    data = (X * 10).astype(dtype)
    assert same_boxes(cls().fit(data, Y), cls().fit(data.astype(np.float64), Y))


@every_learner
@pytest.mark.parametrize("scaling", ["minmax", None])
def test_layouts_of_every_kind(cls, scaling, tmp_path):
    data = MinMaxScaler().fit_transform(X)
    expected = cls(scaling=scaling).fit(data, Y)
    read_only = data.copy()
    read_only.flags.writeable = False
    np.save(tmp_path / "X.npy", data)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for variant in (np.asfortranarray(data), np.repeat(data, 2, axis=0)[::2], read_only, mapped):
        before = variant.copy()
        model = cls(scaling=scaling).fit(variant, Y)
        np.testing.assert_array_equal(model.predict(variant), expected.predict(data))
        assert same_boxes(model, expected)
        np.testing.assert_array_equal(variant, before)


@every_online_learner
def test_pickle_and_copy_go_on_learning(cls):
    model = cls().fit(X[::2], Y[::2])
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert same_boxes(twin, model)
        twin.partial_fit(X[1::2], Y[1::2])
        assert twin.hyperboxes_.counts.sum() == len(X)
    assert model.hyperboxes_.counts.sum() == len(X[::2])


@every_online_learner
def test_memory_mapped_model_goes_on_learning(cls, tmp_path):
    joblib.dump(cls().fit(X[::2], Y[::2]), tmp_path / "model.joblib")
    model = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    expected = cls().fit(X[::2], Y[::2]).partial_fit(X[1::2], Y[1::2])
    np.testing.assert_array_equal(model.predict(X), cls().fit(X[::2], Y[::2]).predict(X))
    assert same_boxes(model.partial_fit(X[1::2], Y[1::2]), expected)


def test_spare_room_is_not_pickled():
    model = ImprovedOnlineGFMM(theta=1.0).fit(X, np.zeros(len(X)))
    assert len(pickle.dumps(model._model.boxes)) < 1500


@every_learner
def test_pickle_predicts_the_same(cls):
    model = cls().fit(X, Y)
    twin = pickle.loads(pickle.dumps(model))
    assert same_boxes(twin, model)
    assert twin.n_candidates_ == model.n_candidates_
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))


@every_learner
def test_clone_carries_no_data(cls):
    model = cls(theta=0.2, gamma=[1, 2, 3, 4]).fit(X, Y)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert set(vars(twin)) == set(model.get_params())


def test_arguments_are_left_alone():
    gamma = [1, 2, 3, 4]
    model = ImprovedOnlineGFMM(gamma=gamma).fit(X, Y)
    assert model.gamma is gamma
    assert gamma == [1, 2, 3, 4]


def test_grid_search_with_processes_and_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), ImprovedOnlineGFMM())
    thetas = [0.1, 0.5]
    search = GridSearchCV(pipeline, {"improvedonlinegfmm__theta": thetas}, cv=3, n_jobs=2)
    search.fit(X, Y)
    assert search.best_score_ > 0.9
    serial = [cross_val_score(ImprovedOnlineGFMM(theta=t), X, Y, cv=3).mean() for t in thetas]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], serial, atol=0.05)


def test_intervals_are_routed():
    """With metadata routing, X_upper is split along with X and reaches fit, predict and score."""
    wide = X + 0.1
    with sklearn.config_context(enable_metadata_routing=True):
        model = (
            ImprovedOnlineGFMM(theta=0.4)
            .set_fit_request(X_upper=True)
            .set_score_request(X_upper=True)
        )
        scores = cross_validate(model, X, Y, params={"X_upper": wide}, cv=3, error_score="raise")
        assert scores["test_score"].mean() > 0.8
        pipeline = make_pipeline(
            ImprovedOnlineGFMM(theta=0.4)
            .set_fit_request(X_upper=True)
            .set_predict_request(X_upper=True)
        )
        fitted = pipeline.fit(X, Y, X_upper=wide)
        direct = ImprovedOnlineGFMM(theta=0.4).fit(X, Y, X_upper=wide)
        assert same_boxes(fitted[-1], direct)
        np.testing.assert_array_equal(
            pipeline.predict(X, X_upper=wide), direct.predict(X, X_upper=wide)
        )
        assert (direct.hyperboxes_.upper > direct.hyperboxes_.lower).all()


@every_learner
def test_nothing_to_read_before_fit(cls):
    model = cls()
    for name in ("hyperboxes_", "n_candidates_", "classes_"):
        assert not hasattr(model, name)
    for method in (model.predict, model.predict_proba, model.membership):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            method(X)


def test_docstrings_are_whole():
    for learner in all_learners():
        text = inspect.getdoc(learner.estimator)
        for heading in ("Parameters", "Attributes", "Examples"):
            assert heading in text
        for name in learner.estimator().get_params():
            assert f"\n{name} : " in text
        if learner.kind in ("nearest", "clusters"):  # made of parts that these learners share
            assert "References" in text
            assert "{" not in text.replace('{"', "")


def test_theta_above_the_range_warns():
    with pytest.warns(UserWarning, match="theta=3 does not limit boxes"):
        ImprovedOnlineGFMM(theta=3).fit(X, Y)
