"""Clustering: boxes as the reference learns them without labels, and clusters of these."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from hyperboxes import HyperboxClustering
from tests import reference, reference_models
from tests.learners import as_reference, assert_same, deep_trees, learn_slowly, same_boxes
from tests.strategies import Problem, problems

ALGORITHMS = ("online", "agglo2", "agglo-sm")
every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)
MOONS, MOON = make_moons(300, noise=0.04, random_state=0)


def cluster(problem: Problem, **params) -> HyperboxClustering:
    """Fit on the samples of a problem, in deep trees."""
    model = HyperboxClustering(problem.theta, **problem.membership, scaling=None, **params)
    with deep_trees:
        return model.fit(problem.xl, X_upper=problem.xu)


def learn_without_labels(problem: Problem, algorithm: str, selection: str) -> reference.Model:
    """Run the reference's learner on samples without labels."""
    problem = replace(problem, y=np.full(len(problem.xl), -1))
    params = {"selection": selection, "overlap": "closed"}
    if algorithm == "online":
        return learn_slowly(reference.improved_online, problem, **params)
    learner = {"agglo2": reference.agglo2, "agglo-sm": reference.agglo_sm}[algorithm]
    return learn_slowly(learner, problem, similarity="longest", min_similarity=0.0, **params)


@every_algorithm
@given(
    problem=problems(),
    max_gap=st.sampled_from([None, 0.0, 0.1, 0.3]) | st.floats(0, 1),
    min_samples=st.integers(1, 3),
)
def test_boxes_and_clusters_equal_the_reference(problem, algorithm, max_gap, min_samples):
    params = {"algorithm": algorithm, "max_gap": max_gap, "min_samples": min_samples}
    lemma = cluster(problem, selection="lemma", **params)
    expected = learn_without_labels(problem, algorithm, "lemma")
    limit = problem.theta / 2 if max_gap is None else max_gap
    expected.labels = reference_models.clusters(
        expected, problem.gamma, limit, min_samples, problem.function
    )
    assert_same(lemma, expected)
    for selection in ("all", "index"):
        assert same_boxes(cluster(problem, selection=selection, **params), lemma)


@given(problem=problems(), min_samples=st.integers(1, 3))
def test_predict_is_the_cluster_of_the_nearest_box(problem, min_samples):
    model = cluster(problem, min_samples=min_samples)
    boxes = as_reference(model)
    everything = reference.Model(boxes.lower, boxes.upper, 0 * boxes.labels, boxes.counts, 0)
    expected = [
        boxes.labels[reference.decider(everything, 0, *x, problem.gamma, problem.function)]
        for x in zip(problem.xl, problem.xu, strict=True)
    ]
    np.testing.assert_array_equal(model.labels_, expected)
    np.testing.assert_array_equal(model.predict(problem.xl, X_upper=problem.xu), expected)


@every_algorithm
@pytest.mark.parametrize("selection", ["index", "lemma", "all"])
def test_shapes_are_found(algorithm, selection):
    params = {"algorithm": algorithm, "selection": selection}
    for X, y in (
        (MOONS, MOON),
        make_circles(400, factor=0.4, noise=0.03, random_state=0),
        make_blobs(300, cluster_std=0.5, random_state=3),
    ):
        labels = HyperboxClustering(theta=0.1, **params).fit_predict(X)
        assert adjusted_rand_score(y, labels) > 0.95


def test_sparse_boxes_are_noise_or_belong_to_the_nearest_dense_one():
    X = [[0.0]] * 5 + [[0.1], [0.3], [0.9], [1.0]] + [[1.0]] * 5
    model = HyperboxClustering(theta=0.01, max_gap=0.1, min_samples=5, scaling=None).fit(X)
    assert model.n_clusters_ == 2
    assert model.labels_.tolist() == [0] * 6 + [-1] + [1] * 7
    assert model.hyperboxes_.labels.tolist() == [0, 0, -1, 1, 1]
    assert model.predict([[0.31], [2.0]]).tolist() == [-1, 1]


def test_all_may_be_noise():
    model = HyperboxClustering(theta=0.1, min_samples=10).fit([[0.0], [1.0]])
    assert model.n_clusters_ == 0
    assert model.labels_.tolist() == [-1, -1]


def test_gamma_weighs_gaps():
    X = [[0.0, 0.0], [0.2, 0.0], [0.0, 0.2]]
    for gamma, labels in (([1, 1], [0, 0, 0]), ([1, 2], [0, 0, 1]), ([2, 1], [0, 1, 0])):
        model = HyperboxClustering(theta=0.1, max_gap=0.2, gamma=gamma, scaling=None)
        assert model.fit_predict(X).tolist() == labels


def test_learning_goes_on_and_clusters_join():
    model = HyperboxClustering(theta=0.1, max_gap=0.11, scaling=None)
    model.partial_fit([[0.0], [0.05], [0.3], [0.35]])
    assert model.n_clusters_ == 2
    assert model.predict([[0.0], [0.3]]).tolist() == [0, 1]
    assert not hasattr(model, "labels_")
    model.partial_fit([[0.15], [0.25]])
    assert model.n_clusters_ == 1
    assert model.predict([[0.0], [0.3]]).tolist() == [0, 0]


@pytest.mark.parametrize("size", [1, 7, 100])
def test_any_batching_equals_one_fit(size):
    X = (MOONS - MOONS.min(axis=0)) / np.ptp(MOONS, axis=0)
    whole = HyperboxClustering(scaling=None).fit(X)
    model = HyperboxClustering(scaling=None)
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size])
    assert same_boxes(model, whole)
    np.testing.assert_array_equal(model.predict(X), whole.labels_)


def test_only_the_online_learner_goes_on():
    model = HyperboxClustering(algorithm="agglo2")
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as caught:
        model.partial_fit(MOONS)
    assert "use fit" in str(caught.value.__cause__)


def test_missing_values_and_intervals():
    X = MOONS.copy()
    X[::10, 0] = np.nan
    model = HyperboxClustering(theta=0.1).fit(X)
    assert len(model.labels_) == len(X)
    assert not np.isnan(model.data_max_).any()
    wide = HyperboxClustering(theta=0.1).fit(MOONS, X_upper=MOONS + 0.01)
    assert adjusted_rand_score(MOON, wide.labels_) > 0.95


def test_many_boxes_are_joined_in_slices(monkeypatch):
    whole = HyperboxClustering(theta=0.02).fit(MOONS)
    monkeypatch.setattr("hyperboxes._estimators.clustering.WORK_PER_CALL", 1)
    assert same_boxes(HyperboxClustering(theta=0.02).fit(MOONS), whole)


def test_pickle_predicts_the_same():
    model = HyperboxClustering(min_samples=2).fit(MOONS)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict(MOONS), model.labels_)
    assert same_boxes(twin, model)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_gap": -0.1}, "'max_gap' parameter"),
        ({"min_samples": 0}, "'min_samples' parameter"),
        ({"algorithm": "kmeans"}, "'algorithm' parameter"),
        ({"scaling": None}, "With scaling=None all features must lie in"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        HyperboxClustering(**params).fit(MOONS)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[np.inf, 0.0]], "infinity"),
        (np.empty((0, 2)), "0 sample"),
        ([["a", "b"]], "could not convert string"),
        ([0.0, 1.0], "Expected 2D array"),
    ],
)
def test_bad_samples_change_nothing(X, message):
    model = HyperboxClustering().fit(MOONS)
    labels = model.labels_
    for method in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            method(X)
        np.testing.assert_array_equal(model.predict(MOONS), labels)


def test_nothing_to_read_before_fit():
    for name in ("hyperboxes_", "labels_", "n_clusters_"):
        assert not hasattr(HyperboxClustering(), name)
    with pytest.raises(NotFittedError):
        HyperboxClustering().predict(MOONS)
