"""Boosted boxes: equal to the slow reference, and what the estimator promises."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from hyperboxes import BoostedHyperboxes
from hyperboxes._kernels import boosting
from hyperboxes._kernels import boosting as boosting_kernels
from hyperboxes._learning import boosting as boosting_learning
from hyperboxes._learning import cells
from tests import reference_boosting as reference
from tests.boosted import MANY, held, parts, problems, small_model
from tests.compiled import FromPython

on_boosting = FromPython(boosting_kernels)


@parametrize_with_checks([BoostedHyperboxes(5), BoostedHyperboxes(MANY)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# One feature


@st.composite
def bin_sums(draw):
    """Draw sums of g and h by bin, many of them alike or 0, with those of NaN in the last."""
    n_bins = draw(st.integers(1, 12))
    size = draw(st.sampled_from([2, 1 << 10, 1 << 24]))
    used = [*range(n_bins), boosting.MISSING]
    g, h = np.zeros((2, 256), np.int64)
    g[used] = draw(hnp.arrays(np.int64, n_bins + 1, elements=st.integers(-size, size)))
    h[used] = draw(hnp.arrays(np.int64, n_bins + 1, elements=st.integers(0, size)))
    return g, h, n_bins, draw(st.sampled_from([1e-3, 1.0, 1e3, 1e9]))


def packed(g, h):
    """Return sums of g and h as the kernels have them."""
    return (g << 32) + h


@given(bin_sums())
def test_best_interval_equals_brute_force(drawn):
    g, h, n_bins, l2 = drawn
    found = on_boosting.best_interval(packed(g, h), n_bins, l2)
    expected = reference.best_interval(g.tolist(), h.tolist(), n_bins, l2)
    score, *run, sum_g, sum_h = expected or (0.0, 0, -1, False, 0, 0)
    assert found == (score, *run, packed(sum_g, sum_h))


@given(bin_sums())
def test_first_interval_has_the_largest_sum(drawn):
    """With an l2 beyond all sums of h, c stays at 0 and the sum of g alone decides."""
    g, h, n_bins, _ = drawn
    *_, found = on_boosting.best_interval(packed(g, h), n_bins, 1e60)
    of_bins = g[:n_bins].tolist()
    largest = max(sum(of_bins[i : j + 1]) for i in range(n_bins) for j in range(i, n_bins))
    assert found >> 32 == (largest + max(g[boosting.MISSING], 0) if largest > 0 else 0)


@given(
    hnp.arrays(
        np.float64,
        st.integers(0, 30),
        elements=st.integers(-4, 4) | st.floats(allow_infinity=False),
    )
)
def test_few_values_have_a_bin_each(column):
    with np.errstate(over="raise"):
        thresholds = cells.find_thresholds(column, None)
    known = np.unique(column[~np.isnan(column)])
    assert_array_equal(np.searchsorted(thresholds, known), np.arange(len(known)))


@given(hnp.arrays(np.int64, 20, elements=st.integers(1, 30)))
def test_thresholds_take_weights_for_copies(counts):
    many = np.random.default_rng(0).random(800)
    weights = np.repeat(counts, 40)
    found = cells.find_thresholds(many, weights.astype(float))
    assert_array_equal(found, cells.find_thresholds(np.repeat(many, weights), None))
    assert 50 < len(found) < cells.MAX_BINS


def test_thresholds_are_short_numbers_between_values():
    low, high = np.array([16.77, 1.0, 1e-9, -3.0]), np.array([16.82, 2.0, 3e-9, 1e6])
    assert cells.between(low, high).tolist() == [16.8, 1.5, 2e-9, 500000.0]
    one = np.array([1.0])
    assert cells.between(one, np.nextafter(one, 2)).tolist() == [1.0]


# Whole models


def conditions(box):
    """Return the conditions of a box by feature."""
    used = zip(*(part.tolist() for part in box), strict=True)
    return {feature: tuple(rest) for feature, *rest in used if feature >= 0}


@pytest.mark.parametrize("max_boxes", [4, MANY])
@settings(max_examples=25, deadline=None)
@given(
    problem=problems(),
    max_conditions=st.integers(1, 4),
    must_help=st.booleans(),
    max_searches=st.sampled_from([4096, 8]),
    max_searched=st.sampled_from([1000, 15]),
)
def test_models_equal_the_reference(
    max_boxes, problem, max_conditions, must_help, max_searches, max_searched
):
    X, y, weights = problem
    n_classes = y.max() + 1
    model = small_model(max_boxes, max_conditions=max_conditions, early_stopping=must_help)
    how, _ = model._settings(n_classes, len(X))
    how = replace(how, max_boxes=4, max_searches=max_searches)
    model._settings = lambda *_: (how, 1)
    random = np.random.RandomState(0)
    with mock.patch.object(boosting_learning, "MAX_SEARCHED", max_searched):
        path = model.fit(X, y, weights)._runs[0].path
        rows = boosting_learning.draw_rows(len(X), random, max_searched)
    expected = reference.Booster(X, y, weights, how, n_classes, random, rows).run()
    stages = [path.indices_at(stage) for stage in range(1, path.n_stages + 1)]
    boxes = [conditions(box) for box in path.boxes]
    assert [[boxes[place] for place in places] for places in stages] == expected.stages
    for found, value in zip(path.votes, expected.votes, strict=True):
        assert_array_equal(found, value)
    assert_array_equal(path.intercepts, expected.intercepts)


def assert_same_model(model, other):
    """Compare what was learned, bit for bit, but for counts of samples."""
    for name in ("lower", "upper", "labels", "weights", "missing_shares"):
        assert_array_equal(getattr(model.hyperboxes_, name), getattr(other.hyperboxes_, name))
    assert_array_equal(model.intercept_, other.intercept_)


def noisy(n_samples, n_classes=3, **parameters):
    """Make samples with some values missing."""
    X, y = make_classification(
        n_samples, 6, n_informative=4, n_classes=n_classes, random_state=0, **parameters
    )
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    return X, y


@pytest.mark.parametrize("max_boxes", [20, MANY])
def test_a_weight_of_2_is_the_sample_twice(max_boxes):
    X, y = noisy(300)
    counts = np.random.default_rng(0).integers(0, 12, len(y))
    model = BoostedHyperboxes(max_boxes, random_state=0)
    order = np.random.default_rng(1).permutation(counts.sum())
    repeated = clone(model).fit(np.repeat(X, counts, axis=0)[order], np.repeat(y, counts)[order])
    assert len(repeated.hyperboxes_) > 10
    assert_same_model(model.fit(X, y, counts), repeated)
    assert_array_equal(repeated.hyperboxes_.counts, counts_inside(repeated, X, counts))


def counts_inside(model, X, counts):
    """Count the samples in each box."""
    return (held(model, X) * counts[:, np.newaxis]).sum(axis=0)


@pytest.mark.parametrize("max_boxes", [20, MANY])
def test_threads_and_the_order_of_samples_change_nothing(max_boxes):
    X, y = noisy(2000)
    model = BoostedHyperboxes(max_boxes, random_state=3).fit(X, y)
    assert_same_model(model, clone(model).set_params(n_jobs=2).fit(X, y))
    assert_same_model(model, clone(model).fit(X[::-1], y[::-1]))
    assert_array_equal(model.predict_proba(X), model.set_params(n_jobs=2).predict_proba(X))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("max_boxes", [20, MANY])
def test_scores_are_the_votes_of_the_boxes_that_hold_a_sample(max_boxes, n_classes):
    X, y = noisy(300, n_classes)
    model = BoostedHyperboxes(max_boxes, random_state=0).fit(X, y)
    boxes = model.hyperboxes_
    scores = model.intercept_ + parts(model, X) @ boxes.weights
    model._record().move_scores(scores, X)
    assert_allclose(model.predict_proba(X), softmax(scores, axis=1))
    assert_array_equal(model.predict(X), scores.argmax(axis=1))
    decision = scores[:, 1] - scores[:, 0] if n_classes == 2 else scores
    assert_allclose(model.decision_function(X), decision, atol=1e-12)
    assert_array_equal(boxes.labels, boxes.weights.argmax(axis=1))
    by_class = [held(model, X[y == label]).sum(axis=0) for label in range(n_classes)]
    assert_array_equal(boxes.class_counts, np.transpose(by_class))


def test_boxes_of_a_readable_model_are_short_and_of_two_classes_vote_for_one():
    boxes = BoostedHyperboxes(random_state=0).fit(*noisy(500)).hyperboxes_
    assert len(boxes) == 20
    assert (boxes.constrains.sum(axis=1) <= 4).all()
    boxes = BoostedHyperboxes(random_state=0).fit(*noisy(500, 2)).hyperboxes_
    assert ((boxes.weights > 0).sum(axis=1) == 1).all()
    assert (boxes.weights >= 0).all()


def test_stages_are_models_of_fewer_boxes():
    X, y = noisy(300)
    model = BoostedHyperboxes(8, random_state=0).fit(X, y)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == 8
    assert_allclose(stages[-1], model.predict_proba(X), atol=1e-12)
    is_complete = ~np.isnan(X).any(axis=1)
    for n_boxes in (1, 5, 8):
        fewer = clone(model).set_params(max_boxes=n_boxes).fit(X, y)
        p = fewer.predict_proba(X)
        assert_allclose(stages[n_boxes - 1][is_complete], p[is_complete], atol=1e-12)
    many = BoostedHyperboxes(MANY, random_state=0).fit(X, y)
    *_, last = many.staged_predict_proba(X)
    assert_allclose(last, many.predict_proba(X), atol=1e-12)


# What boxes look like


def test_a_step_is_found_with_its_end_midway():
    X = np.arange(100.0)[:, np.newaxis]
    model = BoostedHyperboxes(2, random_state=0).fit(X, X[:, 0] > 39)
    boxes = model.hyperboxes_
    ends = {*boxes.lower[:, 0], *boxes.upper[:, 0]} - {-np.inf, np.inf}
    assert ends
    assert all(38 < end < 41 and end % 1 == pytest.approx(0.5) for end in ends)


def test_missing_values_may_be_what_matters():
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    X[rng.random(400) < 0.5, 1] = np.nan
    y = np.isnan(X[:, 1])
    model = BoostedHyperboxes(3, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    boxes = model.hyperboxes_
    assert not boxes.missing_shares[boxes.labels == 0, 1].any()


@pytest.mark.parametrize("max_boxes", [20, MANY])
def test_values_never_missed_in_training_count_in_part_when_missing(max_boxes):
    X, y = load_breast_cancer(return_X_y=True)
    random = np.random.default_rng(0)
    X[random.random(len(X)) < 0.2, 21] = np.nan
    weights = random.integers(1, 4, len(X))
    model = BoostedHyperboxes(max_boxes, random_state=0).fit(X, y, weights)
    boxes = model.hyperboxes_
    for box, j in np.argwhere(boxes.constrains):
        met = (boxes.lower[box, j] <= X[:, j]) & (X[:, j] <= boxes.upper[box, j])
        share = np.average(met, weights=weights)
        if j == 21:
            assert boxes.missing_shares[box, j] in (0.0, 1.0)
        else:
            assert boxes.missing_shares[box, j] == round(share, 3)
    assert (boxes.missing_shares[~boxes.constrains] == 1.0).all()
    assert 21 in np.flatnonzero(boxes.constrains.any(axis=0))


@pytest.mark.parametrize("max_boxes", [20, MANY])
@pytest.mark.parametrize("has_missing", [False, True])
def test_a_sample_without_any_value_gets_the_shares_of_the_classes(max_boxes, has_missing):
    random = np.random.default_rng(0)
    X = random.normal(size=(1000, 6))
    y = np.digitize(X[:, 0] + X[:, 1] - X[:, 2] + random.normal(size=1000), [1.0, 2.5])
    if has_missing:
        X[random.random(X.shape) < 0.3] = np.nan
    weights = random.integers(1, 3, 1000)
    model = BoostedHyperboxes(max_boxes, random_state=0).fit(X, y, weights)
    shares = np.bincount(y, weights) / weights.sum()
    assert_allclose(model.predict_proba(np.full((1, 6), np.nan))[0], shares, atol=0.02)


def test_scores_of_samples_that_lack_values_are_sums_of_parts():
    X, y = load_iris(return_X_y=True)
    model = BoostedHyperboxes(random_state=0).fit(X, y)
    X[np.random.default_rng(0).random(X.shape) < 0.4] = np.nan
    sums = model.intercept_ + parts(model, X) @ model.hyperboxes_.weights
    used = np.flatnonzero(model.hyperboxes_.constrains.any(axis=0))
    weight = np.isnan(X[:, used]).mean(axis=1, keepdims=True) ** 4
    shares = np.full(3, np.log(1 / 3))
    assert_allclose(model.decision_function(X), (1 - weight) * sums + weight * shares, atol=1e-9)


@pytest.mark.parametrize("max_boxes", [20, MANY])
def test_no_two_boxes_are_equal_and_none_is_without_conditions_or_votes(max_boxes):
    X, y = load_breast_cancer(return_X_y=True)
    boxes = BoostedHyperboxes(max_boxes, random_state=0).fit(X.round(1), y).hyperboxes_
    rows = np.hstack([boxes.lower, boxes.upper, boxes.missing_shares])
    assert len(np.unique(rows, axis=0)) == len(boxes)
    assert boxes.constrains.any(axis=1).all()
    assert boxes.weights.any(axis=1).all()


def test_equal_boxes_of_a_path_are_joined():
    X = np.repeat([0.0, 1.0], 50)[:, np.newaxis]
    model = BoostedHyperboxes(MANY, random_state=0).fit(X, X[:, 0])
    assert len(model._runs[0].path.boxes) > 2
    assert len(model.hyperboxes_) == 2


def test_ends_change_once_another_box_explains_a_part():
    X, y = noisy(300)
    model = BoostedHyperboxes(6, random_state=0).fit(X, y)
    path = model._runs[0].path
    assert len(path.boxes) > len(path.votes) == len(model.hyperboxes_) == 6
    for stage in range(2, 7):
        before, after = path.indices_at(stage - 1), path.indices_at(stage)
        assert before[:-1] == after[: stage - 2]  # all but the one before the newest stay


def test_noise_is_left_alone():
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 5)), rng.integers(2, size=400)
    stopped = BoostedHyperboxes(40, random_state=0).fit(X, y)
    assert len(stopped.hyperboxes_) < 15
    not_stopped = BoostedHyperboxes(40, early_stopping=False, random_state=0).fit(X, y)
    assert len(not_stopped.hyperboxes_) > 30


# The estimator


def test_accuracy_on_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    assert cross_val_score(BoostedHyperboxes(10, random_state=0), X, y).mean() > 0.94
    assert cross_val_score(BoostedHyperboxes(MANY, random_state=0), X, y).mean() > 0.95


def test_few_distinct_samples_are_split_between_search_and_judgement():
    """All samples are one of eight, so that draws must take shares of them."""
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(4000, 3)).astype(float)
    y = rng.random(4000) < np.where(X[:, 0] == X[:, 1], 0.8, 0.3)
    model = BoostedHyperboxes(random_state=0).fit(X, y)
    p = model.predict_proba([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]])[:, 1]
    assert_allclose(p, [0.8, 0.3, 0.3, 0.8], atol=0.05)


def test_many_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(40), 10)
    X = np.column_stack([y % 8, y // 8]) + 0.1 * rng.random((400, 2))
    assert BoostedHyperboxes(80, l2=0.1, random_state=0).fit(X, y).score(X, y) > 0.9


def test_boxes_that_vote_for_several_classes_tell_more_classes_than_boxes_apart():
    """A grid of 5 x 5 classes has 8 borders, so that few boxes need to be many classes'."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(25), 12)
    X = np.column_stack([y % 5, y // 5]) + 0.8 * rng.random((300, 2))
    model = BoostedHyperboxes(16, random_state=0).fit(X, y)
    assert len(model.hyperboxes_) < 25
    assert model.score(X, y) > 0.9


def test_class_weight_is_a_weight():
    X, y = noisy(400, 2, weights=[0.9])
    balanced = BoostedHyperboxes(class_weight="balanced", random_state=0).fit(X, y)
    weights = len(y) / (2 * np.bincount(y)[y])
    assert_same_model(balanced, BoostedHyperboxes(random_state=0).fit(X, y, weights))
    plain = BoostedHyperboxes(random_state=0).fit(X, y)
    assert (balanced.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


def test_importances_find_the_feature():
    X = np.random.default_rng(0).random((500, 5))
    importances = BoostedHyperboxes(5, random_state=0).fit(X, X[:, 2] > 0.4).feature_importances_
    assert importances.argmax() == 2
    assert importances.sum() == pytest.approx(1.0)


def test_one_class_needs_no_box():
    model = BoostedHyperboxes().fit([[1.0], [2.0]], ["a", "a"])
    assert len(model.hyperboxes_) == 0
    assert model.predict([[5.0]]).tolist() == ["a"]
    assert list(model.staged_predict_proba([[5.0]])) == []


def test_draws_of_large_data_are_bounded(monkeypatch):
    X, y = noisy(3000)
    drawn = []
    find = boosting_kernels.draw_samples
    monkeypatch.setattr(
        boosting_kernels, "draw_samples", lambda *a: drawn.append(find(*a)) or drawn[-1]
    )
    model = BoostedHyperboxes(3, random_state=0)
    how, _ = model._settings(3, 100)
    model._settings = lambda *_: (replace(how, max_drawn=500), 1)
    assert len(model.fit(X, y).hyperboxes_) == 3
    drawn = [draw for draw in drawn if len(draw.others.rows)]  # the other ones are for the ends
    assert all(200 < len(draw.searched.rows) < 400 for draw in drawn)
    assert all(100 < len(draw.others.rows) < 300 for draw in drawn)


def test_votes_are_fitted_to_all_samples_of_large_data(monkeypatch):
    """Boxes are found on few samples, but counts and intercepts are those of all."""
    X, y = noisy(3000)
    monkeypatch.setattr("hyperboxes._learning.boosting.MAX_SEARCHED", 500)
    model = BoostedHyperboxes(10, random_state=0).fit(X, y)
    assert_same_model(model, clone(model).set_params(n_jobs=2).fit(X, y))
    assert_array_equal(model.hyperboxes_.counts, held(model, X).sum(axis=0))
    mean = model.predict_proba(X).mean(axis=0)
    assert_allclose(mean, np.bincount(y) / len(y), atol=0.005)


@pytest.mark.parametrize("max_boxes", [5, MANY])
def test_single_precision_is_learned_as_it_is(max_boxes):
    X, y = noisy(300)
    X = X.astype(np.float32)
    model = BoostedHyperboxes(max_boxes, random_state=0).fit(X, y)
    same = clone(model).fit(X.astype(np.float64), y)
    assert_same_model(model, same)
    assert_array_equal(model.predict_proba(X), same.predict_proba(X.astype(np.float64)))


@pytest.mark.parametrize(("n_classes", "n_columns"), [(2, 2048), (3, 372), (30, 170)])
def test_of_many_features_some_are_searched(monkeypatch, n_classes, n_columns):
    rng = np.random.default_rng(0)
    y = np.arange(120) % n_classes
    X = np.column_stack([y, rng.random((120, 2999))])
    searched = []
    find = boosting.find_box
    monkeypatch.setattr(boosting, "find_box", lambda *a: searched.append(a[3].columns) or find(*a))
    model = BoostedHyperboxes(2, l2=0.1, random_state=0).fit(X, y)
    assert {columns.size for columns in searched} - set(range(5)) == {n_columns}
    assert len(model.hyperboxes_) == 2


def test_bad_input_is_refused_and_changes_nothing():
    model = BoostedHyperboxes(5, random_state=0).fit([[1.0], [2.0]], [0, 1])
    before = vars(model).copy()
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.fit([[1.0], [2.0]], [0, 1], [0, 0])
    with pytest.raises(ValueError, match="Negative values"):
        model.fit([[1.0], [2.0]], [0, 1], [1, -1])
    with pytest.raises(ValueError, match="infinity"):
        model.fit([[1.0], [np.inf]], [0, 1])
    assert vars(model) == before
    for wrong in ({"max_boxes": 0}, {"subsample": 1.0}, {"l2": 0.0}, {"learning_rate": "fast"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            BoostedHyperboxes(**wrong).fit([[1.0], [2.0]], [0, 1])


def test_boxes_are_read_only_and_say_what_they_are():
    boxes = BoostedHyperboxes(3, random_state=0).fit(*load_iris(return_X_y=True)).hyperboxes_
    assert repr(boxes).startswith("WeightedHyperboxes(n_boxes=3, n_features=4, n_conditions=")
    with pytest.raises(ValueError, match="read-only"):
        boxes.weights[0] = 1.0
