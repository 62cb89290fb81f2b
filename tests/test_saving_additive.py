"""Saved models whose boxes vote: they predict the same, and what is wrong in a file is told."""

import io
import itertools
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from hyperboxes import BoostedHyperboxes, ModelFileError, export_text, load
from tests.boosted import MANY, problems, set_fitted, small_model
from tests.model_files import npy, refusal, saved, sealed

X, Y = load_iris(return_X_y=True, as_frame=True)
inf, nan = np.inf, np.nan


def restored(model):
    """Return the model saved and loaded."""
    return load(io.BytesIO(saved(model)))


def assert_same_model(twin, model):
    """Compare all that is saved, bit for bit."""
    assert type(twin) is type(model)
    assert twin.get_params() == model.get_params()
    assert vars(twin).keys() == vars(model).keys() - {"_runs"}
    names = ("intercept_", "classes_", "feature_importances_")
    pairs = [(getattr(twin, name), getattr(model, name)) for name in names]
    pairs += zip(vars(twin.hyperboxes_).values(), vars(model.hyperboxes_).values(), strict=True)
    for found, expected in pairs:
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()


@settings(max_examples=25, deadline=None)
@given(problems())
def test_a_loaded_model_predicts_the_same(problem):
    X, y, weights = problem
    model = small_model(4).fit(X, y, weights)
    twin = restored(model)
    assert_same_model(twin, model)
    assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    assert export_text(twin) == export_text(model)


@pytest.mark.parametrize("labels", [["a", "b", "c"], [3, 5, 7], [1.0, 2.0, 4.0]])
@pytest.mark.parametrize("max_boxes", [5, MANY])
def test_settings_and_labels_of_every_kind(labels, max_boxes):
    y = np.array(labels)[Y]
    weight = {labels[0]: 2.0, labels[1]: 1, labels[2]: 0.5}
    model = BoostedHyperboxes(max_boxes, class_weight=weight, l2=3, random_state=0).fit(X, y)
    twin = restored(model)
    assert_same_model(twin, model)
    assert_array_equal(twin.feature_names_in_, X.columns)
    assert_array_equal(twin.decision_function(X), model.decision_function(X))


def test_a_model_without_boxes():
    model = BoostedHyperboxes(3).fit(X[:50], Y[:50])
    assert len(model.hyperboxes_) == 0
    assert_same_model(restored(model), model)


def test_arrays_of_a_loaded_model_are_read_only_and_stages_are_not_kept():
    twin = restored(BoostedHyperboxes(3, random_state=0).fit(X, Y))
    with pytest.raises(ValueError, match="read-only"):
        twin.hyperboxes_.weights[0, 0] = 1.0
    with pytest.raises(ValueError, match="A loaded model has no stages: fit it again"):
        next(twin.staged_predict_proba(X))


def test_what_could_not_be_loaded_is_not_saved():
    model = BoostedHyperboxes(3, random_state=np.random.RandomState(0)).fit(X, Y)
    with pytest.raises(ValueError, match="its parameter random_state is a RandomState"):
        saved(model)
    set_fitted(model.set_params(random_state=0), intercept=np.array([0.0, nan, 0.0]))
    with pytest.raises(ValueError, match="its votes and intercepts are not finite"):
        saved(model)


# Two boxes in two features that vote for one of two classes.
ARRAYS = {
    "classes": np.array(["a", "b"], "<U1"),
    "lower": np.array([[0.5, -inf], [-inf, -1.0]]),
    "upper": np.array([[inf, inf], [2.0, 1.0]]),
    "labels": np.array([1, 0]),
    "counts": np.array([7, 3]),
    "weights": np.array([[0.0, 1.5], [0.5, 0.0]]),
    "missing_shares": np.array([[0.25, 1.0], [1.0, 0.0]]),
    "class_counts": np.array([[2, 5], [3, 0]]),
    "intercept": np.array([0.0, 0.25]),
    "missing_scores": np.array([4.0, 0.0]),
    "importances": np.array([0.75, 0.25]),
}
HEADER = {
    "classes_are_objects": False,
    "estimator": "BoostedHyperboxes",
    "feature_names": None,
    "format": "hyperboxes",
    "format_version": 3,
    "hyperboxes_version": "0.2.0",
    "parameters": {"max_boxes": 2, "class_weight": {"dict": [["a", 1.0], ["b", 2]]}},
}


def file_of(header=(), **arrays):
    """Build a file by hand, as documented, with some things as given; None: they are missing."""
    members = {"model.json": json.dumps({**HEADER, **dict(header)}).encode()}
    for name, array in {**ARRAYS, **arrays}.items():
        if array is not None:
            array = np.asarray(array)
            members[f"{name}.npy"] = npy(array.dtype.str, array.shape, array.tobytes())
    return sealed(members)


def test_the_format_stays_what_it_is():
    model = load(io.BytesIO(file_of()))
    assert model.get_params() == BoostedHyperboxes(2, class_weight={"a": 1.0, "b": 2}).get_params()
    samples = [[1.0, 0.0], [nan, 0.0], [0.5, nan], [0.4, nan]]
    assert model.predict(samples).tolist() == ["b", "a", "b", "a"]
    assert model.decision_function(samples).tolist() == [1.25, -0.1328125, 1.390625, -0.015625]
    with zipfile.ZipFile(io.BytesIO(saved(model))) as archive:
        names = {name.removesuffix(".npy") for name in archive.namelist()}
        assert names == {*ARRAYS, "model.json", "SHA256SUMS"}
        assert json.loads(archive.read("model.json")).keys() == HEADER.keys()


def parameter(**value):
    """Return the changes of a header with this parameter."""
    return {"header": {"parameters": value}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lower": [[nan, -inf], [-inf, -1.0]]}, "bound that is not known"),
        ({"upper": [[inf, inf], [2.0, nan]]}, "bound that is not known"),
        ({"lower": [[inf, -inf], [-inf, -1.0]]}, "bound that no value meets"),
        ({"upper": [[inf, -inf], [2.0, 1.0]]}, "bound that no value meets"),
        ({"lower": [[0.5, -inf], [-inf, 1.5]]}, "lower bound above the upper"),
        ({"weights": [[0.0, nan], [0.5, 0.0]]}, "votes and intercepts are not finite"),
        ({"weights": [[0.0, inf], [0.5, 0.0]]}, "votes and intercepts are not finite"),
        ({"weights": [[0.0, 1e308], [0.0, 1e308]]}, "votes and intercepts are not finite"),
        ({"intercept": [0.0, -inf]}, "votes and intercepts are not finite"),
        ({"labels": [0, 0]}, "another label than it votes for"),
        ({"labels": [1, 2]}, "another label than it votes for"),
        ({"labels": [-1, 0]}, "another label than it votes for"),
        ({"counts": [7, 0], "class_counts": [[2, 5], [0, 0]]}, "holds no sample"),
        ({"class_counts": [[8, -1], [3, 0]]}, "fewer than no samples"),
        ({"class_counts": [[2, 4], [3, 0]]}, "samples of the classes are not all"),
        ({"class_counts": [[2**62, 2**62], [3, 0]]}, "too many samples"),
        ({"importances": [nan, 0.0]}, "importances are not shares"),
        ({"importances": [1.5, 0.0]}, "importances are not shares"),
        ({"importances": [-0.5, 0.0]}, "importances are not shares"),
        ({"classes": np.array([], "<U1")}, "npy has the type"),
        ({"classes": np.array([], "<i8")}, "npy has the type"),
        ({"classes": np.array([["a", "b"]])}, "classes are not a sorted list"),
        ({"classes": np.array(["b", "a"])}, "classes are not a sorted list"),
        ({"weights": [[0.0, 1.5]]}, "weights.npy has the type float64 and shape (1, 2)"),
        ({"weights": [[0.0], [0.5]]}, "weights.npy has"),
        ({"weights": np.ones((2, 2), "<f4")}, "weights.npy has"),
        ({"missing_shares": np.zeros((2, 2), bool)}, "missing_shares.npy has"),
        ({"missing_shares": np.zeros((2, 1))}, "missing_shares.npy has"),
        ({"missing_shares": [[0.5, 1.5], [0, 0]]}, "less than 0 or more than 1"),
        ({"missing_shares": [[nan, 1], [0, 0]]}, "less than 0 or more than 1"),
        ({"missing_scores": [0.0, inf]}, "votes and intercepts are not finite"),
        ({"class_counts": [3, 0]}, "class_counts.npy has"),
        ({"intercept": [0.0]}, "intercept.npy has"),
        ({"importances": [0.0]}, "importances.npy has"),
        ({"upper": [[inf, inf]]}, "upper.npy has"),
        ({"lower": np.zeros((2, 0))}, "lower.npy is not an array of a kind that is stored"),
        ({"missing_shares": None}, "arrays are missing"),
        ({"classes": None}, "arrays are missing"),
        ({"gamma": [1.0, 1.0]}, "do not belong there"),
        ({"header": {"n_candidates": 3}}, "header"),
        ({"header": {"format_version": 2}}, "reads format 3: fit the model again"),
        ({"header": {"estimator": "ImprovedOnlineGFMM"}}, "header"),
        ({"header": {"feature_names": ["one"]}}, "a name for each feature"),
        (parameter(max_boxes=0), "parameter"),
        (parameter(class_weight={"a": 1.0}), "parameter class_weight"),
        (parameter(class_weight={"dict": [["a"]]}), "a pair is expected"),
        (parameter(class_weight={"dict": ["ab"]}), "a pair is expected"),
        (parameter(class_weight={"dict": [[[], 1]]}), "parameter class_weight"),
        (parameter(class_weight=[{"dict": []}]), "parameter class_weight"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_files(changes, message):
    assert message in refusal(file_of(**changes))


def test_boolean_bytes_are_checked():
    with zipfile.ZipFile(io.BytesIO(file_of())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["missing.npy"] = npy("|b1", "(2, 2)", b"\0\1\2\1")
    assert "neither true nor false" in refusal(sealed(members))


def test_damage_is_noticed_or_harmless():
    content = file_of()
    model = load(io.BytesIO(content))
    for length in range(len(content)):
        refusal(content[:length])
    loaded = 0
    for place, flip in zip(range(len(content)), itertools.cycle([0x01, 0x80, 0xFF])):
        damaged = bytearray(content)
        damaged[place] ^= flip
        try:
            twin = load(io.BytesIO(damaged))
        except ModelFileError:
            continue
        assert_same_model(twin, model)
        loaded += 1
    assert loaded < len(content) / 4  # dates, attributes and the like
