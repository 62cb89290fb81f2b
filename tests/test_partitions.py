"""Boosted models of many boxes: partitions of many samples, grown at once."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification

from hyperboxes import BoostedHyperboxes
from hyperboxes._estimators import boosted as estimator
from hyperboxes._learning import boosting
from hyperboxes._models.executor import evaluate
from tests import reference_partitions as reference
from tests.boosted import MANY, held, problems, small_model

N = 2600  # samples, enough for partitions


def samples(n_classes=3, n_features=6):
    """Make samples with ties and some values missing, more often in the last class."""
    X, y = make_classification(
        N, n_features, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=0
    )
    X[:, 0] = X[:, 0].round(1)
    rare = np.where(y == n_classes - 1, 0.15, 0.03)[:, np.newaxis]
    X[np.random.default_rng(0).random(X.shape) < rare] = np.nan
    return X, y


def assert_same(model, other):
    """Compare what was learned, bit for bit."""
    for name in ("lower", "upper", "weights", "counts", "class_counts"):
        assert_array_equal(getattr(model.hyperboxes_, name), getattr(other.hyperboxes_, name))
    assert_array_equal(model.intercept_, other.intercept_)


def conditions(box):
    """Return the conditions of a box by feature."""
    used = zip(*(part.tolist() for part in box), strict=True)
    return {feature: tuple(rest) for feature, *rest in used if feature >= 0}


def larger_problem():
    """Return enough samples for several partitions of boxes that help."""
    X, y = samples(4)
    return np.round(2 * X[:150]), y[:150], np.ones(150)


@settings(max_examples=40, deadline=None)
@example(larger_problem(), 2, True, 4096, 1000)
@example(larger_problem(), 4, True, 4096, 120)
@given(
    problem=problems(),
    max_conditions=st.integers(1, 4),
    must_help=st.booleans(),
    max_searches=st.sampled_from([4096, 64]),
    max_divided=st.sampled_from([1000, 15]),
)
def test_models_equal_the_reference(problem, max_conditions, must_help, max_searches, max_divided):
    X, y, weights = problem
    n_classes = y.max() + 1
    model = small_model(MANY, max_conditions=max_conditions, early_stopping=must_help)
    with (
        mock.patch.object(estimator, "_MANY_SAMPLES", 0),
        mock.patch.object(boosting, "MAX_DIVIDED", max_divided),
    ):
        how, _ = model._settings(n_classes, len(X))
        how = replace(how, max_boxes=14, max_searches=max_searches, n_leaves=5)
        model._settings = lambda *_: (how, 1)
        path = model.fit(X, y, weights)._runs[0].path
        random = np.random.RandomState(0)
        rows = boosting.draw_rows(len(X), random, max_divided)
    rows = np.arange(len(X)) if rows is None else rows
    expected = reference.PartitionBooster(X, y, weights, how, n_classes, random, rows).run()
    found = [conditions(box) for box in path.boxes]
    assert found == expected.boxes
    assert_array_equal(np.array(path.votes), np.array(expected.votes))
    assert [len(path.indices_at(k)) for k in range(1, path.n_stages + 1)] == expected.n_boxes


def test_weights_order_and_threads():
    X, y = samples()
    model = BoostedHyperboxes(MANY, random_state=3).fit(X, y)
    order = np.random.default_rng(0).permutation(N)
    assert_same(model, clone(model).fit(X[order], y[order]))
    assert_same(model, clone(model).set_params(n_jobs=3).fit(X, y))
    twice = clone(model).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    weighted = clone(model).fit(X, y, np.full(N, 2.0))
    assert_array_equal(twice.hyperboxes_.weights, weighted.hyperboxes_.weights)
    assert_array_equal(twice.hyperboxes_.upper, weighted.hyperboxes_.upper)
    assert_array_equal(twice.hyperboxes_.counts, 2 * weighted.hyperboxes_.counts)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_counts_scores_and_stages(n_classes):
    X, y = samples(n_classes)
    model = BoostedHyperboxes(MANY, random_state=0).fit(X, y)
    boxes, rows = model.hyperboxes_, slice(0, 300)
    assert 100 < len(boxes) <= MANY
    assert (boxes.constrains.sum(axis=1) <= 8).all()
    assert (boxes.lower <= boxes.upper).all()
    assert boxes.constrains.any(axis=1).all()
    assert_array_equal(boxes.counts, held(model, X).sum(axis=0))
    expected = evaluate(model._record(), X[rows], X[rows]).scores
    assert_array_equal(model._scores(X[rows]), expected)
    *_, last = model.staged_predict_proba(X[rows])
    np.testing.assert_allclose(last, model.predict_proba(X[rows]))


def test_more_samples_and_boxes_are_more_accurate():
    X, y = make_classification(
        30_000, 10, n_informative=8, n_classes=4, class_sep=0.7, random_state=1
    )
    X, y, X_test, y_test = X[:20_000], y[:20_000], X[20_000:], y[20_000:]
    few = BoostedHyperboxes("auto", random_state=0).fit(X[:4000], y[:4000])
    many = BoostedHyperboxes("auto", random_state=0).fit(X, y)
    assert len(few.hyperboxes_) <= 2000 < len(many.hyperboxes_)
    assert many.score(X_test, y_test) > few.score(X_test, y_test) + 0.01


def test_no_division_ends_the_fit():
    X, y = np.zeros((N, 3)), np.arange(N) % 2
    model = BoostedHyperboxes(MANY, random_state=0).fit(X, y)
    assert len(model.hyperboxes_) == 0
    assert_array_equal(model.predict_proba(X[:2]), 0.5)
