"""Online learners with a budget of boxes: which of them go, and what must make no difference."""

import io
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperboxes
from hyperboxes import load, merge, prune
from tests import reference
from tests.learners import (
    ImprovedOnlineGFMM,
    OnlineGFMM,
    assert_equals_the_paper,
    assert_same,
    every_online_learner,
    every_variant,
    learn,
    learn_slowly,
    same_boxes,
)
from tests.model_files import assert_same_model, saved
from tests.strategies import Problem, few_examples, problems

REFERENCES = {OnlineGFMM: reference.online, ImprovedOnlineGFMM: reference.improved_online}

budgets = st.integers(1, 6)


def drifting(n_samples, n_features=3):
    """Return samples whose place and labels move, so that boxes get old."""
    rng = np.random.default_rng(0)
    X = 0.5 * rng.random((n_samples, n_features))
    X += 0.5 * np.linspace(0.0, 1.0, n_samples)[:, None]
    y = (X[:, 0] > X[:, 1]) + (X[:, 0] > X[:, 2])
    return X, np.where(rng.random(n_samples) < 0.1, rng.integers(0, 3, n_samples), y)


@every_variant
@few_examples
@given(problem=problems(), max_boxes=budgets)
def test_every_selection_equals_the_reference(problem, cls, params, max_boxes):
    params = params | {"max_boxes": max_boxes}
    fit = partial(learn, problem, cls, **params)
    fit_slowly = partial(learn_slowly, REFERENCES[cls], problem, **params)
    assert_equals_the_paper(fit, fit_slowly)
    model = fit()
    assert len(model.hyperboxes_) <= max_boxes
    assert model.n_samples_seen_ == len(problem.y)
    expected = len(problem.y) - 1 - fit_slowly(selection="all").confirmed
    np.testing.assert_array_equal(model.box_ages_, expected)


@every_variant
def test_boxes_come_and_go_as_in_the_reference(cls, params):
    """So many that trees are built anew, and that what is in the way is learned and forgotten."""
    X, y = drifting(500)
    problem = Problem(X, X, y, 0.1, np.ones(3))
    params = params | {"max_boxes": 30}
    model = learn(problem, cls, selection="lemma", **params)
    assert_same(model, learn_slowly(REFERENCES[cls], problem, selection="lemma", **params))
    assert same_boxes(learn(problem, cls, **params), model)
    whole = learn(problem, cls, selection="lemma", **params | {"max_boxes": None})
    assert len(whole.hyperboxes_) > 30 + 30 + 64


@every_online_learner
@few_examples
@given(problem=problems(), max_boxes=budgets, data=st.data())
def test_batches_and_files_make_no_difference(problem, cls, max_boxes, data):
    params = {"theta": problem.theta, **problem.membership, "max_boxes": max_boxes}
    cut = data.draw(st.integers(0, len(problem.y)))
    models = []
    for is_saved in (False, True):
        model = cls(scaling=None, unlabeled=-1, **params)
        for rows in (slice(0, cut), slice(cut, None)):
            if len(problem.y[rows]):
                samples = problem.xl[rows], problem.y[rows], range(problem.n_classes)
                model.partial_fit(*samples, X_upper=problem.xu[rows])
                if is_saved:
                    model = load(io.BytesIO(saved(model)))
        models.append(model)
    if len(set(problem.y.tolist())) > 1:  # otherwise candidates may be tried in another number
        models[0]._model.boxes.n_candidates = models[1]._model.boxes.n_candidates = 0
    assert_same_model(*reversed(models))
    assert same_boxes(models[0], learn(problem, cls, max_boxes=max_boxes))


def test_the_box_confirmed_longest_ago_goes():
    model = ImprovedOnlineGFMM(theta=0.1, scaling=None, max_boxes=3)
    model.partial_fit([[0.0], [0.5], [1.0], [0.0], [0.55]], [0, 0, 1, 0, 0], classes=[0, 1])
    assert model.box_ages_.tolist() == [1, 0, 2]  # held one, grew, and nothing
    model.partial_fit([[0.3]], [1])
    boxes = model.hyperboxes_
    assert boxes.lower.ravel().tolist() == [0.0, 0.5, 0.3]
    assert boxes.labels.tolist() == [0, 0, 1]
    assert boxes.counts.tolist() == [2, 2, 1]
    assert model.n_samples_seen_ == 6


@patch("hyperboxes._models.box_store._REJECTIONS", 1)
def test_what_was_in_the_way_is_forgotten_with_its_box():
    model = ImprovedOnlineGFMM(theta=1.0, scaling=None, max_boxes=3)
    X, y = [[0.0], [0.5], [0.9], [0.0], [0.9]], [0, 1, 0, 0, 0]
    model.partial_fit(X, y, classes=[0, 1, 2])
    assert len(model.hyperboxes_) == 3  # the box at 0.5 parts the two others
    model.partial_fit([[1.0], [0.3], [0.55]], [2, 0, 0])
    assert model.hyperboxes_.lower.ravel().tolist() == [0.0, 1.0, 0.9]
    assert model.hyperboxes_.upper.ravel().tolist() == [0.55, 1.0, 0.9]


def test_a_smaller_budget_holds_from_the_next_sample_on():
    X, y = drifting(200)
    model = ImprovedOnlineGFMM(theta=0.1, scaling=None).fit(X, y)
    boxes = model.hyperboxes_
    youngest = np.sort(np.argsort(model.box_ages_)[:5])
    last = int(np.argmin(model.box_ages_))
    model.set_params(max_boxes=5).partial_fit(boxes.lower[[last]], boxes.labels[[last]])
    np.testing.assert_array_equal(model.hyperboxes_.lower, boxes.lower[youngest])
    assert model.hyperboxes_.counts.sum() == boxes.counts[youngest].sum() + 1
    assert model.n_samples_seen_ == 201


def test_labels_may_all_be_forgotten():
    model = OnlineGFMM(theta=0.1, scaling=None, unlabeled=-1, max_boxes=2)
    model.partial_fit([[0.0], [0.4], [0.8]], [0, -1, -1], classes=[0, 1])
    with pytest.raises(ValueError, match="No box has a label yet"):
        model.predict([[0.0]])
    assert model.predict_one([0.0]) is None
    assert model.partial_fit([[0.0]], [1]).predict([[0.9]]) == 1


def test_a_new_class_on_the_way_keeps_ages():
    model = hyperboxes.ImprovedOnlineGFMM(theta=0.1, scaling=[[0.0], [1.0]], max_boxes=2)
    for x, label in [(0.0, "b"), (0.5, "b"), (0.0, "b"), (0.9, "a")]:
        model.learn_one([x], label)
    assert model.box_ages_.tolist() == [1, 0]
    assert model.hyperboxes_.lower.ravel().tolist() == [0.0, 0.9]
    assert model.hyperboxes_.labels.tolist() == [1, 0]


def test_fit_shuffles_and_keeps_the_budget():
    X, y = drifting(400)
    model = hyperboxes.ImprovedOnlineGFMM(0.2, max_boxes=20, random_state=0).fit(X, y)
    assert len(model.hyperboxes_) == 20
    assert model.n_samples_seen_ == 400
    assert model.box_ages_.min() == 0
    unlimited = hyperboxes.ImprovedOnlineGFMM(0.2, random_state=0).fit(X, y)
    roomy = hyperboxes.ImprovedOnlineGFMM(0.2, max_boxes=400, random_state=0).fit(X, y)
    assert same_boxes(roomy, unlimited)


def test_merge_and_prune_keep_ages_and_budget():
    X, y = drifting(300)
    new = partial(ImprovedOnlineGFMM, theta=0.2, scaling=None, max_boxes=20)
    parts = [new().fit(X[i::3], y[i::3]) for i in range(3)]
    merged = merge(parts)
    assert len(merged.hyperboxes_) == 20
    assert merged.n_samples_seen_ == 300
    assert merged.box_ages_.min() == 0
    assert merged.box_ages_.max() <= max(part.box_ages_.max() for part in parts)
    assert saved(merge(parts[::-1])) == saved(merged)
    pruned = prune(parts[0], X, y)
    kept = np.setdiff1d(np.arange(20), [*pruned.pruning_.harmful, *pruned.pruning_.unused])
    np.testing.assert_array_equal(pruned.box_ages_, parts[0].box_ages_[kept])
    assert pruned.n_samples_seen_ == 100


@pytest.mark.parametrize("max_boxes", [0, 2.5, "many"])
def test_a_budget_is_a_positive_number(max_boxes):
    with pytest.raises(ValueError, match="max_boxes"):
        ImprovedOnlineGFMM(max_boxes=max_boxes).fit([[0.0], [1.0]], [0, 1])
