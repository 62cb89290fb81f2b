"""Saved models: the same after loading, and the format as documented."""

import hashlib
import io
import json
import pickle
import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hyperboxes
from hyperboxes import HyperboxClustering, ModelFileError, load, save
from tests.learners import (
    ImprovedOnlineGFMM,
    OnlineGFMM,
    every_learner,
    every_online_learner,
    learn,
    same_boxes,
)
from tests.model_files import (
    as_plain,
    assert_same_model,
    golden_members,
    golden_model,
    saved,
    sealed,
    zipped,
)
from tests.strategies import problems

X, Y = load_iris(return_X_y=True)


def restored(model):
    """Return the model saved and loaded."""
    return load(io.BytesIO(saved(model)))


@given(problem=problems(), cls=st.sampled_from([OnlineGFMM, ImprovedOnlineGFMM]))
def test_a_loaded_model_predicts_and_goes_on_learning_the_same(problem, cls):
    model = learn(problem, cls)
    twin = restored(model)
    assert_same_model(twin, model)
    for method in ("predict", "predict_proba", "membership"):
        expected = getattr(model, method)(problem.xl, X_upper=problem.xu)
        actual = getattr(twin, method)(problem.xl, X_upper=problem.xu)
        assert actual.tobytes() == expected.tobytes()
    more = problem.xl[::-1], problem.y[::-1]
    assert same_boxes(twin.partial_fit(*more), model.partial_fit(*more))


@pytest.mark.parametrize("algorithm", ["online", "agglo-sm"])
def test_clusterings_are_saved_without_what_is_said_of_samples(algorithm):
    model = HyperboxClustering(theta=0.2, algorithm=algorithm, min_samples=3).fit(X)
    twin = restored(model)
    assert same_boxes(twin, model)
    assert twin.n_clusters_ == model.n_clusters_
    np.testing.assert_array_equal(twin.predict(X), model.labels_)
    assert not hasattr(twin, "labels_")


@every_online_learner
@pytest.mark.parametrize("selection", ["all", "lemma", "index"])
def test_learning_goes_on_with_the_saved_scale(cls, selection):
    model = cls(theta=0.1, selection=selection).fit(X[::2], Y[::2])
    twin = restored(model)
    model.partial_fit(2 * X, Y)
    assert same_boxes(twin.partial_fit(2 * X, Y), model)
    assert selection == "index" or twin.n_candidates_ == model.n_candidates_


@every_learner
def test_every_learner(cls):
    data = X.copy()
    data[::7, 1] = np.nan
    data[:, 2] = 3.0
    model = cls(theta=0.2, gamma=[1, 2.0, 3, 4]).fit(data, Y, X_upper=data + 0.1)
    assert_same_model(restored(model), model)
    np.testing.assert_array_equal(restored(model).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "labels",
    [
        *[np.array([1, 5, 100], code) for code in "bBhHiIlLqQ"],
        *[np.array([1.0, 2.0, 3.0], code) for code in "efd"],
        np.array([1, 5, 100], ">i4"),
        np.array(["a", "b", "längeres 漢字 🙂"]),
        np.array(["a", "b", "c"], "U30"),
        np.array(["a", "b", "c"], object),
        np.array([False, True]),
        np.array(["only"]),
        np.array([-(2**63), 0, 2**63 - 1]),
        np.array([0, 1, 2**64 - 1], np.uint64),
    ],
    ids=lambda labels: f"{labels.dtype.str}-{len(labels)}",
)
def test_labels_of_every_kind(labels):
    codes = np.minimum(Y, len(labels) - 1)
    model = ImprovedOnlineGFMM().partial_fit(X, labels[codes], classes=labels)
    model.classes_ = labels  # whatever scikit-learn has made of them
    twin = restored(model)
    assert_same_model(twin, model)
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        (np.array(["2020", "2021"], "M8[D]"), "datetime64"),
        (np.array([1, "a"], object), "object"),
        (np.array([b"a", b"b"]), "S1"),
        (np.array([1.0, 2.0], np.clongdouble), "complex"),
        (np.array(["a", "b\0"], object), "object"),
    ],
    ids=["dates", "mixed", "bytes", "complex", "trailing zero"],
)
def test_other_labels_are_refused(labels, name):
    model = ImprovedOnlineGFMM().fit(X, Y > 0)
    model.classes_ = labels
    with pytest.raises(ValueError, match=f"cannot be saved: its class labels are of type .*{name}"):
        saved(model)


@pytest.mark.parametrize(
    "parameters",
    [
        {"theta": 1},
        {"theta": np.float32(0.3), "n_jobs": np.int8(2)},
        {"theta": 0.1 + 0.2, "gamma": np.array([0.1, 0.2, 0.3, 0.4], np.float32)},
        {"gamma": (1, 2.5, np.float64(3), True)},
        {"gamma": [1, 2.5, np.float64(3), 4]},
        {"gamma": np.array(0.5)},
        {"unlabeled": -1},
        {"unlabeled": "?\ud800\0"},
        {"unlabeled": np.str_("none")},
        {"unlabeled": float("inf")},
        {"unlabeled": np.float64("-inf")},
        {"unlabeled": False, "scaling": None},
        {"scaling": [[0, 0, 0, 0.5], [1, 2, 3, 1]]},
        {"scaling": (np.zeros(4), np.arange(1, 5))},
        {"scaling": np.array([[0.0, 0, 0, np.nan], [1, 2, 3, np.nan]])},
        {"unlabeled": 10**30, "selection": "lemma", "overlap": "paper"},
    ],
    ids=str,
)
def test_parameters_of_every_kind(parameters):
    data = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    model = ImprovedOnlineGFMM(**parameters).fit(data, Y + 5)
    twin = restored(model)
    assert_same_model(twin, model)
    for name, value in parameters.items():
        assert repr(getattr(twin, name)) == repr(as_plain(value))


@pytest.mark.parametrize(
    ("parameter", "kind"),
    [
        ({"unlabeled": Decimal(1)}, "unlabeled is a Decimal"),
        ({"gamma": pd.Series([1.0, 2, 3, 4])}, "gamma is a Series"),
        ({"gamma": np.ones(4, np.longdouble)}, "gamma is a ndarray"),
        ({"gamma": [[[1.0]]]}, "gamma is a list"),
        ({"scaling": np.zeros((2, 4, 1))}, "scaling is a ndarray"),
        ({"unlabeled": b"?"}, "unlabeled is a bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_parameters_are_refused(parameter, kind):
    model = ImprovedOnlineGFMM().fit(X, Y).set_params(**parameter)
    with pytest.raises(ValueError, match=f"cannot be saved: its parameter {kind}"):
        saved(model)


def test_what_could_not_be_loaded_is_not_saved():
    model = ImprovedOnlineGFMM().fit(X, Y)
    with pytest.raises(ValueError, match="'theta' parameter"):
        saved(model.set_params(theta=-1))
    far = ImprovedOnlineGFMM().partial_fit([[0.0], [1e-300]], [0, 1], classes=[0, 1])
    with np.errstate(over="ignore"):
        far.partial_fit([[1e300]], [1])
    with pytest.raises(ValueError, match="cannot be saved: a box has an infinite bound"):
        saved(far)


def test_names_of_columns():
    frame = pd.DataFrame(X, columns=["länge", "b", "c", "d"])
    model = ImprovedOnlineGFMM().fit(frame, Y)
    twin = restored(model)
    assert twin.feature_names_in_.dtype == object
    assert twin.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        twin.predict(frame.rename(columns={"b": "e"}))
    assert not hasattr(restored(ImprovedOnlineGFMM().fit(X, Y)), "feature_names_in_")


def test_smallest_models():
    for data in ([[0.5]], [[np.nan]]):
        with pytest.warns(UserWarning, match="ranges"):
            model = ImprovedOnlineGFMM().partial_fit(data, ["a"], classes=["a", "b"])
        assert_same_model(restored(model), model)
        assert restored(model).predict([[7.0]]) == "a"


def test_boxes_without_a_label():
    model = ImprovedOnlineGFMM(theta=0.1, unlabeled=-1).fit(X, np.where(Y == 1, -1, Y))
    assert (model.hyperboxes_.labels == -1).any()
    assert_same_model(restored(model), model)
    nothing = ImprovedOnlineGFMM(unlabeled=-1).partial_fit(X, np.full(len(X), -1), classes=[0, 1])
    assert_same_model(restored(nothing), nothing)


def test_a_model_that_was_never_trained_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        save(ImprovedOnlineGFMM(), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


class Derived(hyperboxes.ImprovedOnlineGFMM):
    """A user's own learner."""


@pytest.mark.parametrize(
    "other",
    [
        make_pipeline(StandardScaler(), OnlineGFMM()).fit(X, Y),
        Derived(),
        hyperboxes.OnlineGFMM,
        None,
        5,
    ],
)
def test_other_objects_are_refused(other):
    with pytest.raises(TypeError, match=r"takes a fitted .*AgglomerativeGFMM, .*pipeline\[-1\]"):
        saved(other)


def test_the_same_model_gives_the_same_file():
    model = ImprovedOnlineGFMM(gamma=[1, 2, 3, 4]).fit(X, Y)
    content = saved(model)
    assert saved(model) == content
    assert saved(pickle.loads(pickle.dumps(model))) == content
    assert saved(load(io.BytesIO(content))) == content


def test_numpy_and_unzip_read_the_file(tmp_path):
    model = ImprovedOnlineGFMM().fit(X, Y)
    save(model, tmp_path / "model.hyperboxes")
    with np.load(tmp_path / "model.hyperboxes") as arrays:
        np.testing.assert_array_equal(arrays["counts"], model.hyperboxes_.counts)
        np.testing.assert_array_equal(arrays["labels"], model.hyperboxes_.labels)
    with zipfile.ZipFile(tmp_path / "model.hyperboxes") as archive:
        assert archive.testzip() is None
        for line in archive.read("SHA256SUMS").decode().splitlines():
            digest, name = line.split("  ")
            assert hashlib.sha256(archive.read(name)).hexdigest() == digest


def test_format_3_stays_what_it_is():
    """If this fails, raise the format's version."""
    members = golden_members()
    assert json.loads(members["model.json"])["format_version"] == 3
    assert_same_model(load(io.BytesIO(zipped(members))), golden_model())
    assert saved(golden_model()) == zipped(members)


def test_a_parameter_that_an_older_file_lacks_has_its_default():
    members = golden_members()
    header = json.loads(members["model.json"])
    del header["parameters"]["n_jobs"], header["parameters"]["overlap"]
    members["model.json"] = json.dumps(header).encode()
    assert_same_model(load(io.BytesIO(sealed(members))), golden_model())


# Other ways to save.


@every_learner
def test_skops(cls):
    model = cls().fit(X, Y)
    content = skops.io.dumps(model)
    trusted = [
        f"{type(model).__module__}.{type(model).__name__}",
        "hyperboxes._models.box_store.BoxStore",
        "hyperboxes._models.calibration.DistanceCalibration",
        "hyperboxes._models.model.Membership",
        "hyperboxes._models.model.BoxModel",
        "hyperboxes._models.samples.MinMaxScale",
    ]
    assert set(skops.io.get_untrusted_types(data=content)) == set(trusted)
    twin = skops.io.loads(content, trusted=trusted)
    assert_same_model(twin, model)
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))


def test_skops_saves_pipelines():
    pipeline = make_pipeline(StandardScaler(), ImprovedOnlineGFMM()).fit(X, Y)
    content = skops.io.dumps(pipeline)
    trusted = skops.io.get_untrusted_types(data=content)
    twin = skops.io.loads(content, trusted=trusted)
    assert_same_model(twin[-1], pipeline[-1])
    assert same_boxes(twin[-1].partial_fit(X, Y), pipeline[-1].partial_fit(X, Y))


def test_model_file_error_is_a_value_error():
    assert issubclass(ModelFileError, ValueError)
    assert repr(ModelFileError) == "<class 'hyperboxes.ModelFileError'>"
