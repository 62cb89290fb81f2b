"""Models as ONNX graphs: what onnxruntime says is what the model says, bit for bit."""

import json
import sys
from functools import partial

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import hyperboxes
from hyperboxes import AgglomerativeGFMM, literature, to_onnx
from tests.decisions import decide_by
from tests.graphs import N_ROWS, assert_agrees, in_short_chunks, run
from tests.learners import (
    ImprovedOnlineGFMM,
    OnlineGFMM,
    OverlappingFuzzyMinMax,
    every_function,
    every_learner,
    learn,
)
from tests.strategies import problems

X, Y = load_iris(return_X_y=True)
NAN = float("nan")


def agglomerate(problem, algorithm):
    """Fit an agglomerative learner to the problem, in whatever units."""
    model = AgglomerativeGFMM(
        problem.theta, **problem.membership, algorithm=algorithm, unlabeled=-1
    )
    return model.fit(10 - 3 * problem.xu, problem.y, X_upper=10 - 3 * problem.xl)


LEARNERS = [
    partial(learn, cls=OnlineGFMM),
    partial(learn, cls=ImprovedOnlineGFMM),
    partial(learn, cls=OverlappingFuzzyMinMax),
    partial(agglomerate, algorithm="agglo2"),
    partial(agglomerate, algorithm="agglo-sm"),
]


@st.composite
def models_and_points(draw):
    """Draw a fitted model and points around, between and far away from its boxes."""
    problem = draw(problems())
    model = draw(st.sampled_from(LEARNERS))(problem)
    values = st.integers(-20, 30).map(lambda tenths: tenths / 10) | st.floats(-1e6, 1e6)
    values = draw(st.sampled_from([values, values | st.just(NAN), st.floats(allow_infinity=False)]))
    shape = (draw(st.integers(1, 10)), problem.xl.shape[1])
    points = draw(hnp.arrays(np.float64, shape, elements=values))
    return model, np.concatenate([points, problem.xl, 10 - 3 * problem.xl])


@given(models_and_points())
def test_the_graph_says_what_the_model_says(case):
    model, points = case
    with np.errstate(over="ignore"):
        assert_agrees(model, points)


@every_function
def test_classes_without_a_box_never_win(function):
    model = OnlineGFMM(membership_function=function, scaling=None)
    model.partial_fit([[0.1, 0.2]], [1], classes=[0, 1])
    with np.errstate(over="ignore"):
        assert_agrees(model, np.array([[1.7e308, 1.7e308], [-1e308, 0.1], [0.1, 0.2]]))


@given(models_and_points(), st.sampled_from([1, 2, 5, 10]), st.integers(0, 2))
def test_any_number_of_boxes_of_each_class_decides(case, n_neighbors, width):
    model, points = case
    assume("decision" in model.get_params())
    with np.errstate(over="ignore"):
        assert_agrees(decide_by(model, n_neighbors, width), points)


@every_learner
@every_function
def test_every_learner(cls, function):
    rng = np.random.default_rng(0)
    points = np.round(rng.uniform(X.min(axis=0) - 3, X.max(axis=0) + 3, (500, 4)), 1)
    points[rng.random(points.shape) < 0.1] = NAN
    function = {"membership_function": function}
    model = cls(theta=0.1, gamma=[1, 2, 3, 4], **function).fit(X, Y, X_upper=X + 0.1)
    assert_agrees(model, points)
    points[:, 1] = 4.0
    constant = X.copy()
    constant[:, 1] = 3.0
    assert_agrees(cls(theta=0.1, gamma=20.0, **function).fit(constant, Y), points)


@every_function
def test_granules_of_one_level(function):
    model = literature.MultiGranularGFMM((0.1,), membership_function=function, random_state=0)
    assert_agrees(model.fit(X, Y), np.vstack([X, np.round(X), 100 * X]))


def test_classes_without_boxes():
    data, labels = [[0.0], [1.0], [0.5]], ["b", "b", "d"]
    model = ImprovedOnlineGFMM(1.0, scaling=None, gamma=4.0)
    model.partial_fit(data, labels, classes=["a", "b", "c", "d", "e"])
    points = np.arange(-100, 200)[:, None] / 40
    assert_agrees(model, points)
    label, membership = run(model, points)
    assert set(label) == {"b", "d"}
    assert (membership[:, ::2] == 0).all()
    assert (membership[:, 1::2].max(axis=0) == 1).all()


def test_the_oldest_single_sample_wins_and_then_votes():
    data = [[0.0], [1.0], [0.5], [0.5]]
    model = ImprovedOnlineGFMM(1.0, scaling=None).fit(data, [2, 2, 1, 0])
    assert run(model, [[0.5]])[0].tolist() == model.predict([[0.5]]).tolist() == [1]
    votes = ImprovedOnlineGFMM(0.1, scaling=None).fit([[0.0]] * 2 + [[1.0]] * 3, [0] * 2 + [1] * 3)
    assert run(votes, [[0.5]])[0].tolist() == votes.predict([[0.5]]).tolist() == [1]
    even = ImprovedOnlineGFMM(0.1, scaling=None).fit([[1.0]] * 2 + [[0.0]] * 2, [1] * 2 + [0] * 2)
    assert run(even, [[0.5]])[0].tolist() == even.predict([[0.5]]).tolist() == [0]


def test_far_away():
    model = ImprovedOnlineGFMM(scaling=None, gamma=4.0).fit([[0.0], [1.0]], ["a", "b"])
    points = [[-3.0], [0.5 - 1e-9], [0.5], [7.0], [-1e300], [1e308]]  # the last overflows
    assert_agrees(model, points)
    plain = model.set_params(gamma=1.0).fit([[0.0], [1.0]], ["a", "b"])
    point = [[2.0**53 + 6]]  # one less the distances is the same for both
    assert plain.predict(point) == "b"
    assert_agrees(plain, point)
    narrow = ImprovedOnlineGFMM().fit([[0.0, NAN], [1e-9, 1.0]], ["a", "b"])
    assert np.isnan(narrow.hyperboxes_.lower).any()
    with np.errstate(over="ignore"):
        assert_agrees(narrow, [[1e308, 5.0], [1e308, NAN], [NAN, 1e308], [NAN, NAN]])


def test_far_away_in_some_features_and_in_all_of_a_mean():
    model = ImprovedOnlineGFMM(scaling=None, membership_function="mean")
    model.fit([[0.0, 0.0], [1.0, 1.0]], ["a", "b"])
    points = [[9.0, 0.25], [0.25, -1e300], [9.0, 3.0], [-9.0, 2.5], [1e308, 1e308]]
    assert_agrees(model, points)
    assert (model.membership(points[:2])[:, 0] > 0).all()
    assert (model.membership(points[2:4]) == 0).all()
    assert model.predict(points).tolist() == ["a", "a", "b", "a", "a"]


def test_boxes_without_a_label_say_nothing():
    model = ImprovedOnlineGFMM(0.1, unlabeled=-1).fit(X, np.where(Y == 1, -1, Y))
    assert (model.hyperboxes_.labels == -1).any()
    assert_agrees(model, X)
    silent = ImprovedOnlineGFMM(unlabeled=-1).partial_fit(X, np.full(len(X), -1), classes=[0, 1])
    with pytest.raises(ValueError, match="No box has a label yet"):
        to_onnx(silent)


@every_function
def test_optimisations_change_nothing(function):
    model = ImprovedOnlineGFMM(0.1, membership_function=function).fit(X, Y)
    level = onnxruntime.GraphOptimizationLevel
    for optimisation in (level.ORT_DISABLE_ALL, level.ORT_ENABLE_BASIC, level.ORT_ENABLE_ALL):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = optimisation
        label, membership = run(model, X, sess_options=options)
        np.testing.assert_array_equal(label, model.predict(X))
        assert membership.tobytes() == model.membership(X).tobytes()


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        (np.array(["setosa", "versicolor", "Jungfräuliche 🙂"]), object),
        (np.array(["a", "b", "c"], object), object),
        (np.array([-1, 5, 100], np.int8), np.int64),
        (np.array([1, 5, 100], np.uint64), np.int64),
        (np.array([-(2**63), 5, 2**63 - 1]), np.int64),
        (np.array([1.0, 2.0, 3.0], np.float16), np.float16),
        (np.array([1.0, 2.0, 3.0], np.float32), np.float32),
        (np.array([1.0, 2.0, 3.0], ">f8"), np.float64),
        (np.array([False, True, True]), bool),
        (np.array(["only"] * 3), object),
    ],
    ids=lambda value: value.dtype.str if isinstance(value, np.ndarray) else "",
)
def test_labels_of_every_kind(labels, dtype):
    model = ImprovedOnlineGFMM(0.2).fit(X, labels[Y])
    label, _ = run(model, X)
    assert label.dtype == dtype
    assert label.tolist() == model.predict(X).tolist()
    assert label.shape == (len(X),)


@pytest.mark.parametrize(
    "classes", [np.array([1, 2**63], np.uint64), np.array(["2020", "2021"], "M8[D]")]
)
def test_labels_that_onnx_does_not_know(classes):
    model = ImprovedOnlineGFMM().fit(X, Y > 0)
    model.classes_ = classes
    with pytest.raises(ValueError, match="have no counterpart in ONNX"):
        to_onnx(model)


def test_one_sample_and_one_feature():
    model = ImprovedOnlineGFMM().fit(X[:, :1], Y)
    assert_agrees(model, X[:1, :1])
    with pytest.warns(UserWarning, match="ranges"):
        model = OnlineGFMM().partial_fit([[NAN]], [5], classes=[3, 5])
    assert_agrees(model, [[0.0], [NAN]])


@pytest.mark.parametrize("n_samples", range(1, 3 * N_ROWS + 2))
def test_rows_in_chunks(n_samples):
    """Whatever is left over for the last chunk, rows keep their answers and their order."""
    model = ImprovedOnlineGFMM(0.1).fit(X, Y)
    rows = X[:: len(X) // n_samples][:n_samples]
    with in_short_chunks(len(model.hyperboxes_)):
        label, membership = run(model, rows)
    assert label.tolist() == model.predict(rows).tolist()
    assert membership.tobytes() == model.membership(rows).tobytes()


def test_more_boxes_than_fit_a_chunk():
    model = ImprovedOnlineGFMM(0.1).fit(X, Y)
    with in_short_chunks(1):
        label, _ = run(model, X)
    assert label.tolist() == model.predict(X).tolist()


def test_ties_among_rows_without():
    """Only rows where classes tie are settled, and each in its place."""
    model = ImprovedOnlineGFMM(0.1, scaling=None).fit([[0.0], [0.0], [1.0], [0.5]], [0, 0, 1, 2])
    rows = np.array([[0.0], [0.75], [0.25], [0.9], [0.5], [0.25], [np.nan], [0.75], [-1.0]])
    is_best = model.membership(rows) == model.membership(rows).max(axis=1, keepdims=True)
    assert (is_best.sum(axis=1) > 1).tolist() == [0, 1, 1, 0, 0, 1, 1, 1, 1]
    assert_agrees(model, rows)


def test_no_rows():
    model = ImprovedOnlineGFMM(0.1).fit(X, Y)
    label, membership = run(model, X[:0])
    assert (label.shape, membership.shape) == ((0,), (0, 3))


def test_metadata():
    frame = pd.DataFrame(X, columns=["länge", "b", "c", "d"])
    graph = to_onnx(ImprovedOnlineGFMM().fit(frame, np.array(["x", "y", "ß"])[Y]))
    assert (graph.producer_name, graph.producer_version) == ("hyperboxes", hyperboxes.__version__)
    metadata = {prop.key: prop.value for prop in graph.metadata_props}
    assert json.loads(metadata.pop("classes")) == ["x", "y", "ß"]
    assert json.loads(metadata.pop("feature_names")) == list(frame.columns)
    assert metadata == {
        "estimator": "ImprovedOnlineGFMM",
        "hyperboxes_version": hyperboxes.__version__,
    }
    assert "feature_names" not in str(to_onnx(ImprovedOnlineGFMM().fit(X, Y)).metadata_props)


@every_function
def test_the_graph_grows_with_boxes_only(function):
    """No node per feature or class, and no number per sample, box and feature."""
    small = to_onnx(ImprovedOnlineGFMM(membership_function=function).fit(X, Y))
    wide = np.random.default_rng(0).random((300, 50))
    model = ImprovedOnlineGFMM(0.1, membership_function=function)
    large = to_onnx(model.fit(wide, np.arange(300) % 100))
    assert len(large.graph.node) == len(small.graph.node)
    assert len(large.SerializeToString()) < 2 * wide.nbytes + 50_000


def test_bad_input(monkeypatch):
    with pytest.raises(NotFittedError):
        to_onnx(ImprovedOnlineGFMM())
    with pytest.raises(TypeError, match=r"not Pipeline.*pipeline\[-1\]"):
        to_onnx(make_pipeline(ImprovedOnlineGFMM()).fit(X, Y))
    model = ImprovedOnlineGFMM().fit(X, Y)
    for wrong in (X[:, :3], X.astype(np.float32)):
        session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
        with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument):
            session.run(None, {"X": wrong})
    monkeypatch.setattr("hyperboxes._files.onnx._MAX_BYTES", 1000)
    with pytest.raises(ValueError, match="more than the 2 GiB"):
        to_onnx(model)


def test_onnx_is_optional(monkeypatch):
    model = ImprovedOnlineGFMM().fit(X, Y)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"needs onnx: pip install 'hyperboxes\[onnx\]'"):
        to_onnx(model)
