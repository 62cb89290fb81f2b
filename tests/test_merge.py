"""Merging models that were learned apart."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import minmax_scale

from hyperboxes import AgglomerativeGFMM, HyperboxClustering, merge
from hyperboxes._estimators.merge import neighbors
from tests import reference, reference_models
from tests.learners import (
    ImprovedOnlineGFMM,
    OnlineGFMM,
    as_reference,
    assert_same,
    deep_trees,
    every_variant,
    same_boxes,
)
from tests.strategies import Problem, problems

X, Y = load_iris(return_X_y=True)
X = minmax_scale(X)


def parts_of(model, n_parts=3):
    """Fit copies of a model on parts of the iris data."""
    model.set_params(scaling=None)
    return [clone(model).fit(X[i::n_parts], Y[i::n_parts]) for i in range(n_parts)]


def rows_of(model):
    """Return the boxes of a model one by one: corners, label and count."""
    boxes = model.hyperboxes_
    return zip(boxes.lower, boxes.upper, boxes.labels, boxes.counts, strict=True)


def learn_parts(problem: Problem, cuts: list[int], cls, **params):
    """Learn stretches of a problem's samples apart."""
    models = []
    for rows in np.split(np.arange(len(problem.y)), sorted(cuts)):
        if len(rows):
            model = cls(
                problem.theta, **problem.membership, scaling=None, unlabeled=-1, **params
            ).partial_fit(
                problem.xl[rows],
                problem.y[rows],
                range(problem.n_classes),
                X_upper=problem.xu[rows],
            )
            models.append(model)
    return models


@every_variant
@given(problem=problems(), selection=st.sampled_from(["index", "all"]), data=st.data())
def test_boxes_equal_the_reference(cls, params, problem, selection, data):
    cuts = data.draw(st.lists(st.integers(0, len(problem.y)), max_size=3))
    with deep_trees:
        models = learn_parts(problem, cuts, cls, selection=selection, **params)
        model = merge(data.draw(st.permutations(models)))
    overlap = params.get("overlap", "paper")
    boxes = reference_models.parted([as_reference(model) for model in models], overlap)
    expected = reference.agglo_sm(
        boxes.lower,
        boxes.upper,
        boxes.labels,
        counts=boxes.counts,
        theta=problem.theta,
        **problem.membership,
        similarity="longest",
        min_similarity=0.0,
        selection="lemma",
        overlap=overlap,
    )
    expected.n_candidates = model.n_candidates_  # as many as were tried, which is not the paper's
    assert_same(model, expected)
    assert model.n_candidates_ >= sum(model.n_candidates_ for model in models)


@given(problem=problems(), cut=st.integers(0, 25))
def test_no_sample_is_lost_and_no_box_is_too_large(problem, cut):
    models = learn_parts(problem, [min(cut, len(problem.y))], ImprovedOnlineGFMM)
    boxes = merge(models).hyperboxes_
    assert boxes.counts.sum() == len(problem.y)
    started = max(np.nanmax(m.hyperboxes_.upper - m.hyperboxes_.lower, initial=0) for m in models)
    sides = boxes.upper - boxes.lower
    assert not (sides > max(problem.theta, started)).any()


@given(problem=problems(), cut=st.integers(0, 25))
def test_classes_share_no_point_but_where_nothing_can_be_cut(problem, cut):
    models = learn_parts(problem, [min(cut, len(problem.y))], ImprovedOnlineGFMM)
    corners = {(label, *v, *w) for model in models for v, w, label, _ in rows_of(model)}
    assume(len({corner[1:] for corner in corners}) == len(corners))  # equal boxes are not cut
    boxes = as_reference(merge(models))
    for i in range(len(boxes.labels)):
        for k in range(i):
            classes = boxes.labels[[i, k]]
            v, w = boxes.lower[[i, k]], boxes.upper[[i, k]]
            if classes[0] == classes[1] or -1 in classes or boxes.counts[[i, k]].min() == 1:
                continue
            inside = not np.any((v[0] != v[1]) | (w[0] != w[1])) or np.isnan(v).any()
            assert inside or not reference.overlaps(v[0], w[0], v[1], w[1], "closed")


@pytest.mark.parametrize(
    "model",
    [
        OnlineGFMM(),
        ImprovedOnlineGFMM(),
        ImprovedOnlineGFMM(overlap="paper"),
        AgglomerativeGFMM(0.3),
        AgglomerativeGFMM(0.3, algorithm="agglo2", similarity="mid-max"),
    ],
    ids=["online", "improved", "paper", "agglo-sm", "agglo2"],
)
def test_order_does_not_matter_and_models_stay(model):
    models = parts_of(model)
    before = [len(model.hyperboxes_) for model in models]
    merged = merge(models)
    assert same_boxes(merged, merge(reversed(models)))
    assert type(merged) is type(model)
    assert merged.hyperboxes_.counts.sum() == len(X)
    assert merged.score(X, Y) > 0.9
    assert [len(model.hyperboxes_) for model in models] == before


def test_many_models_are_merged_in_a_tree():
    models = parts_of(ImprovedOnlineGFMM(0.3), 6)
    models[0].set_params(n_jobs=2)
    merged = merge(models)
    assert same_boxes(merged, merge(reversed(models)))
    assert merged.n_jobs == 2
    assert merged.hyperboxes_.counts.sum() == len(X)
    groups = [merge(group) for group in neighbors(sorted(models, key=digest_of))]
    assert len(groups) == 2
    assert same_boxes(merged, merge(groups))


def digest_of(model):
    """Return what the order of models in the tree hangs on."""
    return hashlib.sha256(b"".join(a.tobytes() for a in model._model.boxes.rows)).digest()


def test_merged_models_go_on_learning():
    model = merge(parts_of(ImprovedOnlineGFMM(0.3)))
    model.partial_fit(X[:10], Y[:10])
    assert model.hyperboxes_.counts.sum() == len(X) + 10


def test_the_face_that_costs_the_fewest_samples_is_moved():
    many = ImprovedOnlineGFMM(1.0, scaling=None)
    many.partial_fit([[0.0, 0.0]] + [[0.6, 1.0]] * 9, ["a"] * 10, classes=["a", "b"])
    few = ImprovedOnlineGFMM(1.0, scaling=None)
    few.partial_fit([[0.5, 0.0], [1.0, 1.0]], ["b"] * 2, classes=["a", "b"])
    boxes = merge([few, many]).hyperboxes_
    assert boxes.labels.tolist() == [0, 1]
    assert boxes.upper[0].tolist() == [0.6, 1.0]
    assert boxes.lower[1].tolist() == [np.nextafter(0.6, 1), 0.0]


def test_single_samples_stay_as_they_are():
    large = ImprovedOnlineGFMM(1.0, scaling=None)
    large.partial_fit([[0.0], [1.0]], [0, 0], classes=[0, 1])
    single = ImprovedOnlineGFMM(1.0, scaling=None).partial_fit([[0.5]], [1], classes=[0, 1])
    model = merge([large, single])
    assert model.predict([[0.5], [0.4]]).tolist() == [1, 0]


def test_clusters_are_merged():
    data, _ = make_moons(400, noise=0.04, random_state=0)
    data = minmax_scale(data)
    models = [HyperboxClustering(0.1, scaling=None).fit(data[i::2]) for i in range(2)]
    model = merge(models)
    assert model.n_clusters_ == 2
    assert same_boxes(model, merge(models[::-1]))


def fitted(cls=ImprovedOnlineGFMM, data=X, y=Y, **params):
    """Fit a model."""
    return cls(**({"scaling": None} | params)).fit(data, y)


@pytest.mark.parametrize(
    ("others", "error", "message"),
    [
        ([], ValueError, "There is no model to merge"),
        ([fitted(), ImprovedOnlineGFMM()], NotFittedError, "not fitted"),
        (
            [fitted(), LogisticRegression()],
            TypeError,
            "merge takes an estimator of hyperboxes, not",
        ),
        ([fitted(), fitted(OnlineGFMM)], TypeError, "ImprovedOnlineGFMM and OnlineGFMM"),
        ([fitted(), fitted(data=X[:, :2])], ValueError, "numbers of features: 4 and 2"),
        ([fitted(), fitted(theta=0.3)], ValueError, "differ in theta: 0.5 and 0.3"),
        ([fitted(), fitted(unlabeled=-1)], ValueError, "differ in unlabeled: None and -1"),
        ([fitted(), fitted(gamma=2.0)], ValueError, "differ in gamma: 1.0 and 2.0"),
        ([fitted(), fitted(y=Y + 1)], ValueError, r"different classes: \[0, 1, 2\] and \[1, 2, 3"),
        (
            [fitted(scaling="minmax"), fitted(data=X / 2, scaling="minmax")],
            ValueError,
            "scale column 0 differently: 0.0 to 1.0 and 0.0 to 0.5",
        ),
    ],
)
def test_models_must_be_alike(others, error, message):
    with pytest.raises(error, match=message):
        merge(others)


def test_features_must_have_the_same_names():
    models = [fitted(data=pd.DataFrame(X, columns=list(names))) for names in ("abcd", "abce")]
    with pytest.raises(ValueError, match="different feature names"):
        merge(models)


def test_selection_and_threads_may_differ():
    assert len(merge([fitted(selection="all"), fitted(n_jobs=2)]).hyperboxes_) > 0
