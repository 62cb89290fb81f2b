"""Learners that keep overlaps: growth and prediction against the reference, and what they say."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import hyperboxes
from hyperboxes import literature
from hyperboxes.literature.files import _LEVELS
from tests import reference
from tests import reference_overlapping as slow
from tests.learners import as_reference, assert_equals_the_paper, assert_same, learn
from tests.strategies import few_examples, problems, without_gaps

OverlappingFuzzyMinMax = partial(literature.OverlappingFuzzyMinMax, shuffle=False, calibrate=False)

PLAIN = {"scaling": None, "unlabeled": -1}

# Two classes whose boxes share [(0.4, 0.3), (0.5, 0.5)].
X = np.array([[0.2, 0.2], [0.5, 0.5], [0.4, 0.3], [0.8, 0.6]])
Y = np.array([0, 0, 1, 1])


def fit(X=X, y=Y, **params):
    """Fit as the papers have it."""
    params = {"theta": 0.5, "membership_function": "min", "scaling": None} | params
    return OverlappingFuzzyMinMax(**params).fit(X, y)


GROWTH = {
    "exclude": {},
    "compensate": {"size": "sum", "locks": True},
    "core": {},
    "levels": {"by_centre": True},
}


def grow(problem, resolution, selection="all"):
    """Learn a problem slowly."""
    return slow.grow(
        *(problem.xl, problem.xu, problem.y),
        theta=problem.theta,
        gamma=problem.gamma,
        function=problem.function,
        selection=selection,
        **GROWTH[resolution],
    )[0]


@pytest.mark.parametrize("resolution", ["exclude", "compensate"])
@few_examples
@given(problem=problems())
def test_growth_equals_the_reference(resolution, problem):
    cls = partial(OverlappingFuzzyMinMax, resolution=resolution)
    assert_equals_the_paper(
        lambda **params: learn(problem, cls, **params),
        lambda selection: grow(problem, resolution, selection),
    )


@few_examples
@given(problems())
def test_regions_and_contention_equal_the_reference(problem):
    model = learn(problem, OverlappingFuzzyMinMax)
    expected = slow.regions(as_reference(model))
    found = model.regions_
    assert found.boxes.tolist() == [[region.first, region.second] for region in expected]
    for n, region in enumerate(expected):
        np.testing.assert_array_equal(found.lower[n], region.lower)
        np.testing.assert_array_equal(found.upper[n], region.upper)
    if not (model.hyperboxes_.labels >= 0).any():
        return
    asked = problem.xl, problem.xu
    degrees = slow.contention(as_reference(model), *asked, problem.gamma, problem.function)
    np.testing.assert_array_equal(model.contention(*asked), degrees)
    classes = reference.class_membership(
        as_reference(model), *asked, problem.gamma, problem.n_classes, problem.function
    )
    np.testing.assert_array_equal(model.in_overlap(*asked), (classes[:, 1:] == 1).sum(axis=1) > 1)


def test_the_example_of_exclusion():
    model = fit()
    np.testing.assert_array_equal(model.hyperboxes_.lower, [[0.2, 0.2], [0.4, 0.3]])
    np.testing.assert_array_equal(model.hyperboxes_.upper, [[0.5, 0.5], [0.8, 0.6]])
    np.testing.assert_array_equal(model.regions_.lower, [[0.4, 0.3]])
    np.testing.assert_array_equal(model.regions_.upper, [[0.5, 0.5]])
    asked = [[0.45, 0.4], [0.3, 0.4], [0.9, 0.6]]
    np.testing.assert_allclose(model.membership(asked), [[1, 1], [1, 0.9], [0.6, 0.9]])
    np.testing.assert_allclose(model.contention(asked), [1, 0.9, 0.6])
    assert model.in_overlap(asked).tolist() == [True, False, False]


@pytest.mark.parametrize("resolution", GROWTH)
def test_models_without_overlaps_have_no_regions(resolution):
    model = fit(X[[0, 3]], [0, 1], resolution=resolution)
    assert len(model.regions_) == 0
    assert repr(model.regions_) == "OverlapRegions(n_regions=0, n_features=2)"
    np.testing.assert_array_equal(model.contention(X), np.zeros(4))
    assert not model.in_overlap(X).any()


@few_examples
@given(problems(), st.data())
def test_compensated_outputs_equal_the_reference(problem, data):
    model = learn(problem, partial(OverlappingFuzzyMinMax, resolution="compensate"))
    boxes = as_reference(model)
    if not (boxes.labels >= 0).any():
        return
    xl, xu = asked_about(problem, data)
    about = xl, xu, problem.gamma, problem.n_classes, problem.function
    expected = np.maximum(slow.outputs(boxes, *about), 0.0)
    np.testing.assert_array_equal(model.membership(xl, xu), expected)
    np.testing.assert_array_equal(model.predict(xl, xu), slow.predict_compensated(boxes, *about))


def asked_about(problem, data):
    """Draw samples around the boxes, or those that were learned."""
    if data.draw(st.booleans()):
        return problem.xl, problem.xu
    values = st.integers(-5, 15).map(lambda tenths: tenths / 10)
    shape = (data.draw(st.integers(1, 10)), problem.xl.shape[1])
    ends = [data.draw(hnp.arrays(np.float64, shape, elements=values)) for _ in range(2)]
    return (
        (ends[0], ends[0]) if data.draw(st.booleans()) else (np.minimum(*ends), np.maximum(*ends))
    )


COMPENSATED = [
    ([0.42, 0.32], [0.74, 0.94494]),
    ([0.48, 0.48], [0.96, 0.816667]),
    ([0.45, 0.4], [0.85, 0.819444]),
    ([0.5, 0.5], [1, 0.816667]),
    ([0.4, 0.3], [0.733333, 1]),
    ([0.3, 0.4], [1, 0.6]),
    ([0.9, 0.6], [0, 0.6]),
]


def test_the_example_of_compensation():
    order = [0, 3, 1, 2]
    model = fit(X[order], Y[order], resolution="compensate", theta=0.4, gamma=4.0)
    np.testing.assert_array_equal(model.hyperboxes_.lower, [[0.2, 0.2], [0.4, 0.3]])
    np.testing.assert_array_equal(model.hyperboxes_.upper, [[0.5, 0.5], [0.8, 0.6]])
    asked, expected = zip(*COMPENSATED, strict=True)
    np.testing.assert_allclose(model.membership(asked), expected, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), Y)
    granule = model.membership([[0.42, 0.32]], [[0.46, 0.36]])
    np.testing.assert_allclose(granule, [[0.82, 0.944940]], atol=1e-6)


def test_a_point_in_a_box_of_another_class_locks_both():
    model = fit(resolution="compensate", theta=0.4, gamma=4.0)
    assert model.hyperboxes_.lower.tolist() == [[0.2, 0.2], [0.4, 0.3], [0.8, 0.6]]
    assert model.hyperboxes_.upper.tolist() == [[0.5, 0.5], [0.4, 0.3], [0.8, 0.6]]
    np.testing.assert_array_equal(model.membership([[0.4, 0.3]]), [[0, 1]])


@few_examples
@given(problems(), st.data())
def test_data_cores_equal_the_reference(problem, data):
    model = learn(problem, partial(OverlappingFuzzyMinMax, resolution="core"))
    boxes, absorbed = slow.grow(
        *(problem.xl, problem.xu, problem.y),
        theta=problem.theta,
        gamma=problem.gamma,
        function=problem.function,
    )
    assert_same(model, boxes, counts_candidates=False)
    means = slow.cores(boxes, absorbed, problem.xl, problem.xu)
    np.testing.assert_array_equal(model.cores_, means)
    if not (boxes.labels >= 0).any():
        return
    xl, xu = asked_about(problem, data)
    about = xl, xu, problem.gamma, problem.n_classes, problem.function
    outputs, classes, deciders = slow.predict_by_core(boxes, means, *about)
    np.testing.assert_array_equal(model.membership(xl, xu), outputs)
    np.testing.assert_array_equal(model.predict(xl, xu), classes)
    np.testing.assert_array_equal(model.apply(xl, xu), deciders)


@few_examples
@given(problems().map(without_gaps), st.data())
def test_levels_equal_the_reference(problem, data):
    settings = {"n_levels": data.draw(st.integers(1, 3)), "shrink": 0.5}
    model = OverlappingFuzzyMinMax(
        "levels", problem.theta, **problem.membership, **settings, **PLAIN
    ).fit(problem.xl, problem.y, X_upper=problem.xu)
    networks = slow.levels(
        *(problem.xl, problem.xu, problem.y),
        theta=problem.theta,
        gamma=problem.gamma,
        function=problem.function,
        **settings,
    )
    assert_same(model, networks[0].model)
    xl, xu = asked_about(problem, data)
    outputs, classes = slow.predict_by_levels(networks, xl, xu, problem.n_classes)
    np.testing.assert_array_equal(model.membership(xl, xu), outputs)
    np.testing.assert_array_equal(model.predict(xl, xu), classes)
    assert len(model.apply(xl, xu)) == len(xl)


def test_the_example_of_data_cores():
    samples, y = np.insert(X, 2, [0.25, 0.25], axis=0), np.insert(Y, 2, 0)
    model = fit(samples, y, resolution="core")
    np.testing.assert_allclose(model.cores_, [[0.316667, 0.316667], [0.6, 0.45]], atol=1e-6)
    assert model.predict([[0.45, 0.4], [0.42, 0.32]]).tolist() == [1, 0]
    away = 1 - model.membership([[0.45, 0.4], [0.42, 0.32]])
    np.testing.assert_allclose(away, [[0.108333, 0.1], [0.053333, 0.155]], atol=1e-6)
    steep = fit(samples, y, resolution="core", gamma=10.0)
    outside = steep.membership([[0.55, 0.55], [0.15, 0.3]])
    np.testing.assert_allclose(outside, [[0.973659, 1], [0.976910, 0.535261]], atol=1e-6)


def test_the_example_of_levels():
    model = fit(resolution="levels", n_levels=2)
    assert model.hyperboxes_.lower.tolist() == [[0.2, 0.2], [0.4, 0.3]]
    asked = [[0.41, 0.31], [0.49, 0.49], [0.45, 0.4], [0.3, 0.4], [0.9, 0.6]]
    assert model.predict(asked).tolist() == [1, 0, 0, 0, 1]
    found = model.membership(asked)
    np.testing.assert_allclose(found[0], [0.380729, 0.941480], atol=1e-6)
    np.testing.assert_allclose(found[2], [0.610094, 0.610094], atol=1e-6)
    np.testing.assert_allclose(found[3:], [[1, 0.644029], [0.126434, 0.644029]], atol=1e-6)


def test_levels_need_all_samples_at_once():
    model = fit(resolution="levels")
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit") as error:
        model.partial_fit(X, Y)
    assert "all samples are needed at once" in str(error.value.__cause__)


@pytest.mark.parametrize("resolution", GROWTH)
def test_saved_models_go_on_as_they_were(resolution, tmp_path):
    rng = np.random.default_rng(0)
    samples, y = rng.random((60, 2)), rng.integers(0, 3, 60)
    samples[3, 0] = np.nan
    params = {"theta": 0.4, "resolution": resolution, "scaling": [[0, 0], [1, 1]]}
    model = OverlappingFuzzyMinMax(**params).fit(samples, y)
    hyperboxes.save(model, tmp_path / "model")
    twin = hyperboxes.load(tmp_path / "model")
    asked = rng.random((40, 2))
    np.testing.assert_array_equal(twin.predict_proba(asked), model.predict_proba(asked))
    assert twin.in_overlap(asked).any()
    if hasattr(model, "partial_fit"):
        for each in (model, twin):
            each.partial_fit(asked, np.arange(40) % 3)
        whole = OverlappingFuzzyMinMax(**params)
        whole.fit(np.concatenate([samples, asked]), np.concatenate([y, np.arange(40) % 3]))
        for each in (twin, whole):
            np.testing.assert_array_equal(each.membership(samples), model.membership(samples))


def test_a_model_of_levels_without_its_networks_is_refused(tmp_path):
    model = fit(resolution="levels")
    model._model.levels = None
    with pytest.raises(ValueError, match="arrays are missing"):
        hyperboxes.save(model, tmp_path / "model")
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize(
    ("name", "place", "value", "problem"),
    [
        ("region_starts", 0, 1, "do not begin with the first"),
        ("region_levels", 0, 0, "a level is invalid"),
        ("inner_labels", 0, 7, "a label that is no class"),
        ("inner_labels", slice(None), -1, "the boxes of a region have no label"),
        ("inner_counts", 0, 0, "holds no sample"),
        ("region_lower", 0, 2.0, "a region has a lower bound above the upper"),
        ("inner_upper", 0, np.inf, "a box of a region has an infinite bound"),
    ],
)
def test_networks_that_cannot_be_are_refused(name, place, value, problem, tmp_path):
    model = fit(resolution="levels")
    levels = model._model.levels
    field = list(vars(levels))[list(_LEVELS).index(name)]
    array = getattr(levels, field).copy()
    array[place] = value
    model._model.levels = replace(levels, **{field: array})
    with pytest.raises(ValueError, match=problem):
        hyperboxes.save(model, tmp_path / "model")


def test_cores_that_cannot_be_are_refused(tmp_path):
    model = fit(resolution="core")
    model._model.cores.n_values[0] = 9
    with pytest.raises(ValueError, match="more values than samples"):
        hyperboxes.save(model, tmp_path / "model")


@pytest.mark.parametrize("resolution", ["compensate", "core", "levels"])
@pytest.mark.parametrize("read", [hyperboxes.to_onnx, hyperboxes.export_sql, hyperboxes.explain])
def test_readers_of_the_nearest_box_are_unsupported(resolution, read):
    model = fit(resolution=resolution)
    asked = [X] if read is hyperboxes.explain else []
    with pytest.raises(TypeError, match=f"unsupported .* resolution='{resolution}' decides"):
        read(model, *asked)
    assert read(fit(), *asked)


def test_models_cannot_be_pruned():
    with pytest.raises(TypeError, match="prune is unsupported for OverlappingFuzzyMinMax"):
        hyperboxes.prune(fit(), X, Y)


def test_models_cannot_be_merged():
    with pytest.raises(TypeError, match="merge is unsupported for OverlappingFuzzyMinMax"):
        hyperboxes.merge([fit(), fit()])


def test_rules_name_their_exceptions():
    text = hyperboxes.export_text(fit(), class_names=["a", "b"])
    assert "1 region is shared by boxes of two classes. There a box of a single training" in text
    first, second = text.split("\n\n")[1:]
    assert first.splitlines()[-1] == "    except, with box 1 (b): x0 0.4 to 0.5; x1 0.3 to 0.5"
    assert second.splitlines()[-1] == "    except, with box 0 (a): x0 0.4 to 0.5; x1 0.3 to 0.5"
    assert hyperboxes.export_frame(fit())["overlaps"].tolist() == ["1", "0"]
    inside = hyperboxes.export_text(fit(np.insert(X, 4, [0.3, 0.4], axis=0), [0, 0, 1, 1, 2]))
    assert "except everywhere: box 0 (class 0) holds it all" in inside


def test_boxes_with_many_exceptions_name_the_first():
    points = np.column_stack([np.linspace(0, 1, 9), np.linspace(0, 1, 9)])
    model = fit(points[[0, 8, 1, 2, 3, 4, 5, 6, 7]], [0, 0, 1, 2, 3, 4, 5, 6, 7], theta=1.0)
    assert "    except in 2 more regions" in hyperboxes.export_text(model).splitlines()


def test_exceptions_are_sets_of_categories():
    colours, sizes = ["red", "blue", "blue", "green"], [1.0, 3.0, 2.0, 4.0]
    frame = pd.DataFrame({"colour": 9 * colours, "size": 9 * sizes})
    model = fit(frame, 9 * [0, 0, 1, 1], scaling="minmax", theta=1.0)
    text = hyperboxes.export_text(model)
    assert "except, with box 1 (class 1): colour = blue; size 2 to 3" in text
    assert model.in_overlap(frame)[:4].tolist() == [False, True, True, False]
