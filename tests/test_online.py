"""The online learners against the paper's algorithms, and what their boxes must satisfy."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import reference
from tests.learners import (
    ImprovedOnlineGFMM,
    OnlineGFMM,
    assert_equals_the_paper,
    assert_same,
    every_online_learner,
    every_overlap,
    every_variant,
    learn,
    learn_slowly,
    overlapping_pairs,
    same_boxes,
)
from tests.strategies import Problem, problems

REFERENCES = {OnlineGFMM: reference.online, ImprovedOnlineGFMM: reference.improved_online}


@every_variant
@given(problem=problems())
def test_every_selection_equals_the_paper(problem, cls, params):
    assert_equals_the_paper(
        partial(learn, problem, cls, **params),
        partial(learn_slowly, REFERENCES[cls], problem, **params),
    )


@every_variant
def test_larger_problem_equals_the_paper(cls, params):
    """Room for boxes is made many times over, and candidates are refused for overlap."""
    rng = np.random.default_rng(3)
    X, y = rng.random((600, 3)), rng.integers(0, 3, 600)
    problem = Problem(X, X, y, 0.2, np.ones(3))
    expected = learn_slowly(REFERENCES[cls], problem, selection="lemma", **params)
    model = learn(problem, cls, selection="lemma", **params)
    assert_same(model, expected)
    assert same_boxes(learn(problem, cls, **params), model)


@every_online_learner
@pytest.mark.parametrize("selection", ["lemma", "index"])
@given(problem=problems(), data=st.data())
def test_any_batching_equals_one_fit(problem, cls, selection, data):
    whole = learn(problem, cls, selection=selection)
    cut = data.draw(st.integers(0, len(problem.y)))
    params = {"theta": problem.theta, **problem.membership, "selection": selection}
    model = cls(scaling=None, unlabeled=-1, **params)
    for rows in (slice(0, cut), slice(cut, None)):
        if len(problem.y[rows]):
            model.partial_fit(
                problem.xl[rows],
                problem.y[rows],
                range(problem.n_classes),
                X_upper=problem.xu[rows],
            )
    assert same_boxes(model, whole)
    if selection == "lemma":
        assert model.n_candidates_ == whole.n_candidates_


@every_online_learner
def test_fit_starts_afresh(cls):
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 2)), rng.integers(0, 2, 50)
    model = cls().fit(X, y)
    assert same_boxes(model.fit(X[:20], y[:20]), cls().fit(X[:20], y[:20]))


@every_overlap
@given(problem=problems())
def test_invariants_of_improved_online(problem, overlap):
    model = learn(problem, overlap=overlap)
    boxes = model.hyperboxes_
    assert boxes.counts.sum() == len(problem.y)
    # A box is wider than theta only if the interval it began with is.
    wide = (boxes.upper - boxes.lower > problem.theta).any(axis=1)
    assert wide.sum() <= (problem.xu - problem.xl > problem.theta).any(axis=1).sum()
    # Every sample lies in a box of its class: membership 1, that is within rounding of it.
    memberships = model.membership(problem.xl, X_upper=problem.xu)
    labelled = np.flatnonzero(problem.y >= 0)
    assert (memberships[labelled, problem.y[labelled]] == 1).all()


@given(problem=problems())
def test_growth_never_makes_classes_overlap(problem):
    """Under "closed" only a new box, which is never tested, can share points with others."""
    model = ImprovedOnlineGFMM(problem.theta, **problem.membership, scaling=None, unlabeled=-1)
    before = set()
    for xl, xu, label in zip(problem.xl, problem.xu, problem.y, strict=True):
        model.partial_fit([xl], [label], range(problem.n_classes), X_upper=[xu])
        boxes = model.hyperboxes_
        newest = len(boxes) - 1 if boxes.counts[-1] == 1 else None
        after = overlapping_pairs(boxes)
        assert all(k == newest for _, k in after - before)
        before = after


def test_contained_samples_try_no_candidate():
    model = ImprovedOnlineGFMM(theta=0.5, scaling=None, selection="all")
    model.fit([[0.1], [0.4], [0.2], [0.4]], [0, 0, 0, 0])
    assert model.n_candidates_ == 1
    assert model.hyperboxes_.counts.tolist() == [4]


def test_the_oldest_of_equal_boxes_grows():
    model = ImprovedOnlineGFMM(theta=0.3, scaling=None).fit([[0.0], [0.5], [0.25]], [0, 0, 0])
    np.testing.assert_array_equal(model.hyperboxes_.upper.ravel(), [0.25, 0.5])


def test_contraction_leaves_touching_faces():
    model = OnlineGFMM(theta=0.6, scaling=None)
    model.fit([[0.0], [0.5], [0.4], [0.9]], ["a", "a", "b", "b"])
    boxes = model.hyperboxes_
    np.testing.assert_allclose(boxes.lower.ravel(), [0.0, 0.45])
    np.testing.assert_allclose(boxes.upper.ravel(), [0.45, 0.9])
