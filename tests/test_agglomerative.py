"""The agglomerative learners against the paper's algorithms, and what their boxes must satisfy."""

from functools import partial
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.preprocessing import minmax_scale

from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM
from tests import reference
from tests.learners import (
    assert_equals_the_paper,
    assert_same,
    deep_trees,
    every_overlap,
    learn_slowly,
    overlapping_pairs,
    same_boxes,
)
from tests.strategies import Problem, few_examples, problems, without_gaps

ALGORITHMS = {
    "agglo2": reference.agglo2,
    "agglo2-printed": partial(reference.agglo2, printed=True),
    "agglo-sm": reference.agglo_sm,
}
SIMILARITIES = ("longest", "shortest", "mid-max", "mid-min")

every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)
every_similarity = pytest.mark.parametrize("similarity", SIMILARITIES)


def learn(problem: Problem, **params):
    """Fit on the problem."""
    model = AgglomerativeGFMM(
        theta=problem.theta, **problem.membership, scaling=None, unlabeled=-1, **params
    )
    with deep_trees:
        return model.fit(problem.xl, problem.y, X_upper=problem.xu)


@every_algorithm
@every_similarity
@every_overlap
@few_examples
@given(problem=problems().map(without_gaps), sigma=st.sampled_from([0.0, 0.8]))
def test_every_selection_equals_the_paper(problem, algorithm, similarity, overlap, sigma):
    params = {"similarity": similarity, "overlap": overlap, "min_similarity": sigma}
    assert_equals_the_paper(
        partial(learn, problem, algorithm=algorithm, **params),
        partial(learn_slowly, ALGORITHMS[algorithm], problem, **params),
    )


@every_similarity
@every_overlap
@few_examples
@given(problem=problems().map(without_gaps), n_partners=st.integers(1, 3))
def test_short_lists_of_partners_change_nothing(problem, similarity, overlap, n_partners):
    """AGGLO-SM searches again when a list runs out, and drops what does not fit on it."""
    params = {"similarity": similarity, "overlap": overlap, "algorithm": "agglo-sm"}
    for selection in ("lemma", "index"):
        lengths = {"SHORTLIST": n_partners, "LONG_LIST": n_partners}
        with patch.multiple("hyperboxes._learning.agglomeration", **lengths):
            model = learn(problem, selection=selection, **params)
        expected = learn(problem, selection=selection, **params)
        assert same_boxes(model, expected)
        if selection == "lemma":
            assert model.n_candidates_ == expected.n_candidates_


@every_algorithm
@every_similarity
@every_overlap
def test_larger_problem_equals_the_paper(algorithm, similarity, overlap):
    """Lists of partners overflow, merged boxes merge again, pairs are refused for overlap."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 40, (70, 2)) / 40
    y = (X[:, 0] + 0.2 * rng.random(len(X)) > 0.6).astype(np.int64)
    problem = Problem(X, X, y, 0.4, np.array([1.0, 0.7]))
    params = {"similarity": similarity, "overlap": overlap, "selection": "lemma"}
    expected = learn_slowly(ALGORITHMS[algorithm], problem, min_similarity=0.0, **params)
    model = learn(problem, algorithm=algorithm, **params)
    assert_same(model, expected)
    assert same_boxes(learn(problem, algorithm=algorithm, **params | {"selection": "index"}), model)


@every_algorithm
@every_overlap
@given(problem=problems().map(without_gaps))
def test_invariants(problem, algorithm, overlap):
    model = learn(problem, algorithm=algorithm, overlap=overlap)
    boxes = model.hyperboxes_
    assert boxes.counts.sum() == len(problem.y)
    merged = boxes.counts > 1
    assert not (boxes.upper[merged] - boxes.lower[merged] > problem.theta).any()
    memberships = model.membership(problem.xl, X_upper=problem.xu)
    labelled = np.flatnonzero(problem.y >= 0)
    assert (memberships[labelled, problem.y[labelled]] == 1).all()
    if overlap == "closed":
        assert not any(merged[i] or merged[k] for i, k in overlapping_pairs(boxes))


@every_similarity
def test_agglo_sm_without_ties_does_not_depend_on_order(similarity):
    rng = np.random.default_rng(2)
    X, y = rng.random((80, 3)), rng.integers(0, 2, 80)
    shuffle = rng.permutation(len(y))
    rows = []
    for order in (slice(None), shuffle):
        model = AgglomerativeGFMM(theta=0.4, algorithm="agglo-sm", similarity=similarity)
        boxes = model.fit(X[order], y[order]).hyperboxes_
        columns = boxes.labels, boxes.counts, boxes.lower, boxes.upper
        rows.append(sorted(np.column_stack(columns).tolist()))
    assert rows[0] == rows[1]


def test_agglo2_as_printed_differs_from_the_runs():
    """A merged box stays at the visited place, or takes the earlier one of the two."""
    X, y = load_iris(return_X_y=True)
    X = minmax_scale(X)
    params = {"membership_function": "min", "overlap": "paper", "selection": "all", "scaling": None}
    as_run, printed = (
        AgglomerativeGFMM(0.3, algorithm=algorithm, **params).fit(X, y)
        for algorithm in ("agglo2", "agglo2-printed")
    )
    assert (as_run.n_candidates_, len(as_run.hyperboxes_)) == (412, 20)
    assert (printed.n_candidates_, len(printed.hyperboxes_)) == (347, 18)


@every_similarity
@pytest.mark.parametrize("function", ["min", "mean"])
@pytest.mark.parametrize("gamma", [2.0, 3.0, 6.0])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_two_boxes_are_left_that_can_merge(algorithm, gamma, function, similarity):
    """Also none of similarity 0, which there are where ``theta * gamma`` is at least 1."""
    X, y = load_iris(return_X_y=True)
    X = minmax_scale(X)
    params = {"gamma": gamma, "membership_function": function, "similarity": similarity}
    model = AgglomerativeGFMM(0.5, algorithm=algorithm, scaling=None, **params).fit(X, y)
    boxes = model.hyperboxes_
    for i, k in combinations(range(len(boxes)), 2):
        v, w = reference.hull(boxes.lower[i], boxes.upper[i], boxes.lower[k], boxes.upper[k])
        if boxes.labels[i] == boxes.labels[k] and reference.is_small(v, w, 0.5):
            others = boxes.labels != boxes.labels[i]
            assert ((v <= boxes.upper[others]) & (boxes.lower[others] <= w)).all(axis=1).any()


@pytest.mark.parametrize(("function", "n_candidates"), [("min", 0), ("mean", 2)])
def test_the_lemma_leaves_pairs_that_are_too_large_to_the_mean(function, n_candidates):
    params = {"algorithm": "agglo2", "selection": "lemma", "membership_function": function}
    model = AgglomerativeGFMM(0.5, scaling=None, **params).fit([[0.0, 0.0], [0.9, 0.0]], [0, 0])
    assert model.n_candidates_ == n_candidates


@pytest.mark.parametrize(("theta", "n_candidates"), [(0.9, 0), (1.0, 1)])
@pytest.mark.parametrize("selection", ["all", "lemma", "index"])
def test_pairs_of_similarity_zero_count_only_where_they_may_merge(selection, theta, n_candidates):
    X, y = [[0.0], [1.0]], [0, 0]
    model = AgglomerativeGFMM(theta, selection=selection, scaling=None).fit(X, y)
    assert model.n_candidates_ == n_candidates
    assert len(model.hyperboxes_) == 2 - n_candidates


@pytest.mark.parametrize(
    ("learner", "n_as_run"), [(ImprovedOnlineGFMM(shuffle=False), 3), (AgglomerativeGFMM(), 4)]
)
def test_equal_intervals_do_not_overlap_as_printed(learner, n_as_run):
    """The inequalities of the four cases are strict; in the runs they were not."""
    X, y = [[0.2], [0.4], [0.2], [0.4]], [0, 0, 1, 1]
    for overlap, n_boxes in (("paper", n_as_run), ("printed", 2)):
        model = clone(learner).set_params(overlap=overlap, scaling=None).fit(X, y)
        assert len(model.hyperboxes_) == n_boxes


@pytest.mark.parametrize("function", ["min", "mean"])
def test_the_best_box_of_a_block_is_tried_first(function):
    """So that where a class is a single block, the tree tries no box that the lemma does not."""
    rng = np.random.default_rng(0)
    centres = rng.random((10, 8))
    y = np.repeat(np.arange(10), 16)
    X = np.clip(centres[y] + 0.2 * rng.standard_normal((160, 8)), 0, 1)
    params = {"algorithm": "agglo2", "membership_function": function, "scaling": None}
    models = {
        selection: AgglomerativeGFMM(0.7, selection=selection, **params).fit(X, y)
        for selection in ("index", "lemma")
    }
    assert same_boxes(*models.values())
    assert models["index"].n_candidates_ <= models["lemma"].n_candidates_


@every_algorithm
def test_small_slices_of_work_change_nothing(algorithm, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.random((150, 3)), rng.integers(0, 3, 150)
    whole = AgglomerativeGFMM(algorithm=algorithm).fit(X, y)
    monkeypatch.setattr("hyperboxes._learning.agglomeration.WORK_PER_CALL", 1)
    sliced = AgglomerativeGFMM(algorithm=algorithm).fit(X, y)
    assert same_boxes(whole, sliced)
    assert whole.n_candidates_ == sliced.n_candidates_
