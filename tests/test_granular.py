"""The two-phase learner: levels against the reference, their vote, files and readers."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperboxes
from hyperboxes import literature
from tests import reference_granular as slow
from tests.learners import assert_same, deep_trees, overlapping_pairs
from tests.strategies import few_examples, problems, without_gaps

MultiGranularGFMM = partial(literature.MultiGranularGFMM, shuffle=False, calibrate=False)

# One of class 1 lies between two of class 0.
X = np.array([[0.10, 0.10], [0.15, 0.12], [0.30, 0.30], [0.22, 0.20]])
Y = np.array([0, 0, 0, 1])
RNG = np.random.default_rng(0)
MANY = RNG.random((80, 3))
LABELS = (MANY.sum(axis=1) > 1.5).astype(int) + (MANY[:, 0] > 0.8)


@few_examples
@given(problems().map(without_gaps), st.data())
def test_levels_equal_the_reference(problem, data):
    n_parts, sigma = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([0.0, 0.5]))
    thetas = [problem.theta / 4, problem.theta / 2, problem.theta]
    with deep_trees:
        model = MultiGranularGFMM(
            thetas,
            n_parts=n_parts,
            min_similarity=sigma,
            selection=data.draw(st.sampled_from(["all", "index"])),
            scaling=None,
            unlabeled=-1,
            **problem.membership,
        ).fit(problem.xl, problem.y, X_upper=problem.xu)
    expected = slow.levels(
        *(problem.xl, problem.xu, problem.y),
        thetas=thetas,
        gamma=problem.gamma,
        function=problem.function,
        n_parts=n_parts,
        sigma=sigma,
    )
    for found, level in zip(model.levels_, expected, strict=True):
        assert_same(found, level, counts_candidates=False)
        assert found.hyperboxes_.counts.sum() == len(problem.y)


def test_the_example():
    params = {"n_parts": 1, "min_similarity": 0.1, "membership_function": "min", "scaling": None}
    model = MultiGranularGFMM([0.1, 0.15, 0.3], **params).fit(X, Y)
    first, second, third = (level.hyperboxes_ for level in model.levels_)
    for boxes in (first, second):
        assert boxes.lower.tolist() == [[0.1, 0.1], [0.3, 0.3], [0.22, 0.2]]
        assert boxes.upper.tolist() == [[0.15, 0.12], [0.3, 0.3], [0.22, 0.2]]
        assert boxes.counts.tolist() == [2, 1, 1]
    assert third.lower.tolist() == [[0.1, 0.1], [0.22, 0.2]]
    assert third.upper.tolist() == [[np.nextafter(0.22, 0), 0.3], [0.22, 0.2]]
    assert third.counts.tolist() == [3, 1]


def test_boxes_of_two_classes_share_no_point():
    model = literature.MultiGranularGFMM(random_state=0, n_parts=3).fit(MANY, LABELS)
    sizes = [len(level.hyperboxes_) for level in model.levels_]
    assert sizes == sorted(sizes, reverse=True)
    for level in model.levels_:
        assert not overlapping_pairs(level.hyperboxes_)


@pytest.mark.parametrize("level", [0, -1])
def test_the_chosen_level_predicts(level):
    model = MultiGranularGFMM(level=level).fit(MANY, LABELS)
    chosen = model.levels_[level]
    np.testing.assert_array_equal(model.predict(MANY), chosen.predict(MANY))
    np.testing.assert_array_equal(model.hyperboxes_.lower, chosen.hyperboxes_.lower)
    np.testing.assert_array_equal(model.apply(MANY), chosen.apply(MANY))
    np.testing.assert_array_equal(model.membership(MANY), chosen.membership(MANY))
    assert hyperboxes.export_text(model) == hyperboxes.export_text(chosen)


def test_all_levels_vote():
    model = literature.MultiGranularGFMM(level=None, random_state=0).fit(MANY, LABELS)
    asked = np.random.default_rng(1).random((50, 3))
    answers = np.array([level.predict(asked) for level in model.levels_])
    shares = np.mean([level.predict_proba(asked) for level in model.levels_], axis=0)
    votes = np.array([(answers == label).sum(axis=0) for label in model.classes_]).T
    np.testing.assert_allclose(model.predict_proba(asked), (votes + shares) / 4)
    np.testing.assert_array_equal(model.predict(asked), (votes + shares).argmax(axis=1))
    for how in ({}, {"unlabeled": True}):
        memberships = np.mean([level.membership(asked, **how) for level in model.levels_], axis=0)
        np.testing.assert_allclose(model.membership(asked, **how), memberships)
    for read in (hyperboxes.to_onnx, hyperboxes.export_sql):
        with pytest.raises(
            TypeError, match="is unsupported for MultiGranularGFMM: all levels vote"
        ):
            read(model)
    assert "the coarsest level. All levels vote" in hyperboxes.export_text(model)
    with pytest.raises(ValueError, match="use one of levels_"):
        model.apply(asked)


def test_a_level_goes_on_learning_and_leaves_the_model_alone():
    model = MultiGranularGFMM().fit(MANY, LABELS)
    before = model.predict_proba(MANY)
    level = model.levels_[-1]
    assert level.theta == 0.3
    level.partial_fit(MANY, 2 - LABELS)
    assert level.hyperboxes_.counts.sum() == 2 * len(MANY)
    np.testing.assert_array_equal(model.predict_proba(MANY), before)
    with pytest.raises(TypeError, match="prune is unsupported for MultiGranularGFMM"):
        hyperboxes.prune(model, MANY, LABELS)


@pytest.mark.parametrize("level", [1, None])
def test_saved_models_are_the_same(level, tmp_path):
    model = literature.MultiGranularGFMM(level=level, random_state=0).fit(MANY, LABELS)
    hyperboxes.save(model, tmp_path / "model")
    twin = hyperboxes.load(tmp_path / "model")
    np.testing.assert_array_equal(twin.predict_proba(MANY), model.predict_proba(MANY))
    assert [len(one.hyperboxes_) for one in twin.levels_] == [
        len(one.hyperboxes_) for one in model.levels_
    ]
    model._model.thetas = (0.1, 0.2)
    with pytest.raises(ValueError, match="not a size for each level"):
        hyperboxes.save(model, tmp_path / "model")


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"theta": [0.2, 0.1]}, "positive numbers that grow"),
        ({"theta": [0.0, 0.1]}, "positive numbers that grow"),
        ({"level": 3}, "There is no level 3"),
        ({"theta": 0.2, "level": -2}, "There is no level -2"),
    ],
)
def test_levels_that_cannot_be_are_refused(params, problem):
    with pytest.raises(ValueError, match=problem):
        MultiGranularGFMM(**params).fit(X, Y)


def test_a_number_is_a_single_level():
    assert len(MultiGranularGFMM(0.2).fit(X, Y).levels_) == 1


def test_sizes_are_compared_by_levels():
    with pytest.raises(TypeError, match="compare its levels_"):
        hyperboxes.ThetaDisplay.from_estimator(literature.MultiGranularGFMM(), MANY, LABELS)
