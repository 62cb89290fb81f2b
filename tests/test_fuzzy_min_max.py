"""FMNN and its clustering, EFMNN, KNEFMNN and RFMNN against the reference and their papers.

Numbers are those of the papers' figures where there are any; they sit on theta, and come out
right with plain comparisons. What the estimators have in common is tested elsewhere.
"""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from hyperboxes import (
    explain,
    export_html,
    export_sql,
    export_text,
    load,
    merge,
    prune,
    save,
    to_onnx,
)
from hyperboxes.literature import FuzzyMinMax, FuzzyMinMaxClustering
from tests import reference, reference_family
from tests.learners import (
    as_reference,
    assert_equals_the_paper,
    assert_same,
    deep_trees,
    same_boxes,
)
from tests.reference_family import fuzzy_min_max
from tests.strategies import Problem, problems

VARIANTS = ("fmnn", "efmnn", "knefmnn", "rfmnn")
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def learn(problem: Problem, variant, **params):
    """Fit on the problem with all its classes known, even those without a sample."""
    known = {"theta": problem.theta, "gamma": problem.gamma, "scaling": None, "unlabeled": -1}
    model = FuzzyMinMax(variant, **known, calibrate=False, **params)
    with deep_trees:
        return model.partial_fit(
            problem.xl, problem.y, range(problem.n_classes), X_upper=problem.xu
        )


def learn_slowly(problem: Problem, variant, **params):
    """Run the reference on the problem."""
    samples = problem.xl, problem.xu, problem.y
    known = {"theta": problem.theta, "gamma": problem.gamma}
    return fuzzy_min_max(*samples, variant=variant, **known, **params)


def fit(variant, X, y, theta, **params):
    """Learn an example in its order and units."""
    return FuzzyMinMax(variant, theta, scaling=None, shuffle=False, **params).fit(X, y)


def corners(model):
    """List the boxes as (class, lower corner, upper corner)."""
    boxes = model.hyperboxes_
    labels = model.classes_[boxes.labels].tolist()
    rows = zip(labels, boxes.lower.round(9).tolist(), boxes.upper.round(9).tolist(), strict=True)
    return [(label, tuple(low), tuple(high)) for label, low, high in rows]


@every_variant
@settings(max_examples=25)
@given(problem=problems(), n_candidates=st.sampled_from([None, None, 1, 2]))
def test_every_selection_equals_the_reference(problem, variant, n_candidates):
    assert_equals_the_paper(
        partial(learn, problem, variant, n_candidates=n_candidates),
        partial(learn_slowly, problem, variant, n_candidates=n_candidates),
    )


@every_variant
def test_larger_problem_equals_the_reference(variant):
    """Room for boxes is made many times over, and many are cut or split."""
    rng = np.random.default_rng(3)
    X, y = rng.random((400, 3)), rng.integers(0, 3, 400)
    problem = Problem(X, X, y, 0.3, np.ones(3))
    expected = learn_slowly(problem, variant)
    model = learn(problem, variant, selection="all")
    assert_same(model, expected)
    assert same_boxes(learn(problem, variant), model)
    assert model.hyperboxes_.counts.sum() == len(y)


@every_variant
def test_missing_values_in_many_boxes(variant):
    """Where values are missing, boxes that do not hold a sample have a membership of 1, too."""
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 3)), rng.integers(0, 2, 300)
    X[rng.random(X.shape) < 0.3] = np.nan
    by_list = fit(variant, X, y, 0.1, selection="all")
    for selection in ("lemma", "index"):
        assert same_boxes(fit(variant, X, y, 0.1, selection=selection), by_list)


@every_variant
@settings(max_examples=15)
@given(problem=problems(), data=st.data())
def test_ties_go_to_the_nearest_centre_or_corners(problem, variant, data):
    model = learn(problem, variant)
    boxes, n_features = as_reference(model), problem.xl.shape[1]
    values = st.integers(-2, 12).map(lambda tenths: tenths / 10) | st.sampled_from([np.nan, 9.0])
    points = data.draw(st.lists(st.lists(values, min_size=n_features, max_size=n_features)))
    xl = np.vstack([problem.xl, *points])
    xu = np.vstack([problem.xu, *points])
    classes = reference.predict(boxes, xl, xu, problem.gamma, problem.n_classes, "mean")
    deciders = model.apply(xl, X_upper=xu)
    for row, ends in enumerate(zip(xl, xu, strict=True)):
        winner = reference_family.winner(boxes, *ends, problem.gamma, variant)
        if winner is not None:
            assert deciders[row] == winner
            classes[row] = boxes.labels[winner]
    predicted = model.predict(xl, X_upper=xu)
    np.testing.assert_array_equal(predicted, classes)
    np.testing.assert_array_equal(boxes.labels[deciders], classes)
    proba = model.predict_proba(xl, X_upper=xu)
    np.testing.assert_array_equal(proba.argmax(axis=1), classes)
    np.testing.assert_array_equal(
        model.membership(xl, X_upper=xu, unlabeled=True),
        reference.class_membership(boxes, xl, xu, problem.gamma, problem.n_classes, "mean"),
    )


# --- Worked examples ------------------------------------------------------------------------------


SIMPSON = [[0.2, 0.2], [0.6, 0.6], [0.5, 0.5], [0.4, 0.3]]


def test_simpson_1992_figure_8():
    model = fit("fmnn", SIMPSON, [1, 2, 1, 2], 0.3)
    assert corners(model) == [(1, (0.2, 0.2), (0.45, 0.5)), (2, (0.45, 0.3), (0.6, 0.6))]
    np.testing.assert_allclose(model.membership([[0.7, 0.7]]), [[0.775, 0.9]])
    for gamma, of_1992 in ((1, [[0.8875, 0.95], [0.975, 0.9625]]), (4, [[0.55, 0.8], [0.9, 0.85]])):
        steep = fit("fmnn", SIMPSON, [1, 2, 1, 2], 0.3, gamma=gamma)
        found = steep.membership([[0.7, 0.7], [0.3, 0.6]])
        np.testing.assert_allclose((1 + found) / 2, of_1992)
    assert model.predict([[0.45, 0.4]]) == 2  # on the common face: the nearest centre
    np.testing.assert_array_equal(model.membership([[3.0, 3.0]]), [[0.0, 0.0]])
    assert model.predict([[3.0, 3.0]]) == 2  # the nearest box


def test_fmnn_cuts_a_box_that_contains_another():
    X = [[0.4, 0.4], [0.5, 0.5], [0.2, 0.1], [0.8, 0.65]]
    model = fit("fmnn", X, [1, 1, 2, 2], 0.7)
    assert corners(model)[1] == (2, (0.2, 0.1), (0.8, 0.4))
    assert model.membership([[0.8, 0.65]])[0, 1] < 1  # which the box has absorbed


def test_sides_of_fmnn_are_bounded_on_average():
    model = fit("fmnn", [[0.0, 0.5], [0.5, 0.5], [0.0, 0.9]], [1, 1, 1], 0.3)
    assert corners(model) == [(1, (0.0, 0.5), (0.5, 0.5)), (1, (0.0, 0.9), (0.0, 0.9))]
    assert len(fit("efmnn", [[0.0, 0.5], [0.5, 0.5]], [1, 1], 0.3).hyperboxes_) == 2


def test_efmnn_figures_5_and_7():
    X = [[0.2, 0.2], [0.3, 0.3], [0.65, 0.28], [0.75, 0.4], [0.4, 0.3], [0.6, 0.25], [0.7, 0.2]]
    y = [1, 1, 2, 2, 1, 1, 1]
    assert corners(fit("efmnn", X, y, 0.3)) == [
        (1, (0.2, 0.2), (0.4, 0.3)),
        (2, (0.65, 0.28), (0.75, 0.4)),
        (1, (0.6, 0.2), (0.7, 0.25)),
    ]
    assert corners(fit("fmnn", X, y, 0.3)) == [
        (1, (0.2, 0.2), (0.7, 0.29)),
        (2, (0.65, 0.29), (0.75, 0.4)),
    ]


def test_efmnn_sees_equal_boxes():
    X = [[0.2, 0.3], [0.4, 0.5]] * 2
    assert corners(fit("efmnn", X, [1, 1, 2, 2], 0.5)) == [
        (1, (0.3, 0.3), (0.4, 0.5)),
        (2, (0.2, 0.3), (0.3, 0.5)),
    ]
    blind = corners(fit("fmnn", X, [1, 1, 2, 2], 0.5))
    assert blind == [(label, (0.2, 0.3), (0.4, 0.5)) for label in (1, 2)]


def test_efmnn_leaves_flat_sides_alone():
    X = [[0.2, 0.5], [0.6, 0.5], [0.3, 0.5], [0.7, 0.5]]
    assert corners(fit("efmnn", X, [1, 1, 2, 2], 0.5)) == [
        (1, (0.2, 0.5), (0.6, 0.5)),
        (2, (0.3, 0.5), (0.7, 0.5)),
    ]


def test_knefmnn_tries_the_next_best():
    X = [[0.1, 0.1], [0.38, 0.38], [0.72, 0.72], [0.45, 0.45]]
    before = fit("knefmnn", X[:3], [1] * 3, 0.3).hyperboxes_
    sides = before.lower, before.upper
    gaps = [np.maximum(0.45 - w, v - 0.45) for v, w in zip(*sides, strict=True)]
    np.testing.assert_allclose(1 - np.mean(gaps, axis=1) / 2, [0.965, 0.865])
    assert len(fit("knefmnn", X, [1] * 4, 0.3, n_candidates=1).hyperboxes_) == 3
    for n_candidates in (2, None):
        model = fit("knefmnn", X, [1] * 4, 0.3, n_candidates=n_candidates)
        assert corners(model)[1] == (1, (0.45, 0.45), (0.72, 0.72))


@pytest.mark.parametrize("height", [0.3, 0.6], ids=["inside", "on a face"])
def test_rfmnn_splits_the_box_around_a_new_point(height):
    X = np.array([[0.2, 0.2], [0.6, 0.6], [0.5, height]])
    as_published = fuzzy_min_max(
        X, X, np.array([0, 0, 1]), variant="rfmnn", theta=0.5, gamma=np.ones(2), gap=0.001
    )
    np.testing.assert_allclose(as_published.upper[0], [0.499, 0.6])
    np.testing.assert_allclose(as_published.lower[2], [0.501, 0.2])
    model = fit("rfmnn", X, [1, 1, 2], 0.5)
    boxes = model.hyperboxes_
    assert boxes.labels.tolist() == [0, 1, 0]
    assert boxes.upper[0].tolist() == [np.nextafter(0.5, 0), 0.6]
    assert boxes.lower[2].tolist() == [np.nextafter(0.5, 1), 0.2]
    assert boxes.counts.tolist() == [1, 1, 1]
    assert model.predict(X).tolist() == [1, 1, 2]


def test_rfmnn_divides_samples_by_length_and_keeps_the_sum():
    X = [[0.0], [0.8], [0.1], [0.7], [0.4], [0.2]]
    model = fit("rfmnn", X, [1, 1, 1, 1, 1, 2], 1.0)
    assert model.hyperboxes_.counts.tolist() == [1, 1, 4]
    # The half of a single sample has nothing to divide, and stays as it is.
    again = fit("rfmnn", [*X, [0.05]], [1, 1, 1, 1, 1, 2, 3], 1.0).hyperboxes_
    assert again.counts.tolist() == [1, 1, 4, 1]
    assert again.upper[0] == model.hyperboxes_.upper[0]


def test_rfmnn_grows_only_where_nothing_overlaps():
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 2)), rng.integers(0, 3, 300)
    model = FuzzyMinMax("rfmnn", 0.4, scaling=None, random_state=0).fit(X, y)
    assert (model.membership(X)[np.arange(300), y] == 1).all()  # no sample fell out
    assert model.score(X, y) == 1.0


# --- Clustering -----------------------------------------------------------------------------------


def find_clusters(X, theta, max_iter=10, **params):
    """Fit the clustering in the data's units, stable or not."""
    model = FuzzyMinMaxClustering(theta, scaling=None, max_iter=max_iter, selection="all", **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


@settings(max_examples=30)
@given(problem=problems(), max_iter=st.integers(1, 3))
def test_clusters_equal_the_reference(problem, max_iter):
    known = {"gamma": problem.gamma, "max_iter": max_iter}
    expected, n_iter, is_stable = reference_family.cluster(
        problem.xl, problem.xu, theta=problem.theta, **known
    )
    model = FuzzyMinMaxClustering(problem.theta, scaling=None, **known)
    for selection in ("all", "index"):
        model.set_params(selection=selection)
        with deep_trees, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", "theta=.* does not limit boxes")
            model.fit(problem.xl, X_upper=problem.xu)
        assert (model.n_iter_, not caught) == (n_iter, is_stable)
        boxes = model.hyperboxes_
        np.testing.assert_array_equal(boxes.labels, range(len(boxes)))
        for name in ("lower", "upper", "counts"):
            np.testing.assert_array_equal(getattr(boxes, name), getattr(expected, name))
        if selection == "all":
            assert model.n_candidates_ == expected.n_candidates


def test_simpson_1993_figure_6():
    X = [[0.2, 0.2], [0.6, 0.6], [0.7, 0.7], [0.4, 0.7], [0.7, 0.4]]
    boxes = find_clusters(X, 0.4, max_iter=1).hyperboxes_
    np.testing.assert_allclose(boxes.lower, [[0.2, 0.2], [0.5, 0.5]])
    np.testing.assert_allclose(boxes.upper, [[0.5, 0.5], [0.7, 0.7]])


def test_simpson_1993_figures_8_and_9():
    """The published numbers of clusters, but for the smallest theta, which sits on a rounding."""
    first = [18, 19, 20, 18, 22, 22, 23, 24, 23, 23, 25, 25, 27, 27, 27, 34, 43, 44, 45, 47, 47, 47]
    second = [28, 26, 28, 30, 26, 24, 28, 22, 20, 18, 20, 18, 20, 18, 16, 22, 26, 28, 24, 26, 24]
    X = np.array([[*first, 47, 49], [*second, 22, 20, 22]]).T / 100
    found = [find_clusters(X, theta).n_clusters_ for theta in (0.25, 0.2, 0.15, 0.1, 0.075)]
    assert found == [1, 2, 2, 3, 4]
    model = find_clusters(X, 0.1)
    assert model.n_iter_ == 2  # the second pass changes nothing
    assert sorted(model.labels_[[0, 15, 16]]) == [0, 1, 2]
    assert model.hyperboxes_.counts.sum() == len(X)


def test_clustering_that_does_not_come_to_rest_says_so():
    X = [[0.2, 0.2], [0.6, 0.6], [0.7, 0.7], [0.4, 0.7], [0.7, 0.4]]
    model = FuzzyMinMaxClustering(0.4, scaling=None)
    with pytest.warns(ConvergenceWarning, match="still change after 10 passes"):
        model.fit(X)
    assert not hasattr(model, "partial_fit")


# --- Readers --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def grid():
    """Return samples on a grid, where classes tie often, some of which are missing."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (120, 3)) * 1.25
    samples = rng.integers(-4, 20, (150, 3)) * 0.625
    samples[rng.random(samples.shape) < 0.1] = np.nan
    samples[:5] *= 100
    return X, rng.integers(0, 3, 120), samples


@every_variant
def test_saved_models_resolve_ties_as_before(variant, grid, tmp_path):
    X, y, samples = grid
    model = FuzzyMinMax(variant, random_state=0, calibrate=False).fit(X, y)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(samples), model.predict(samples))
    np.testing.assert_array_equal(loaded.apply(samples), model.apply(samples))
    assert "class 1" in export_text(model)


@every_variant
@pytest.mark.parametrize("read", [explain, export_sql, to_onnx, export_html, prune, merge])
def test_readers_of_the_nearest_box_are_unsupported(read, variant, grid):
    X, y, samples = grid
    model = FuzzyMinMax(variant, random_state=0, calibrate=False).fit(X, y)
    asked = {explain: [samples], export_html: [X, y], prune: [X, y]}.get(read, [])
    with pytest.raises(
        TypeError,
        match=r"is unsupported for FuzzyMinMax: .*(where classes tie|neither merged nor pruned)",
    ):
        read([model, model] if read is merge else model, *asked)


def test_parameters_are_checked():
    for params in ({"variant": "fmcn"}, {"n_candidates": 0}):
        with pytest.raises(ValueError, match=next(iter(params))):
            FuzzyMinMax(**params).fit([[0.0], [1.0]], [0, 1])
