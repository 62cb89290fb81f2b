"""Boxes that vote as ONNX graphs: what onnxruntime says is what the model says."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from hyperboxes import BoostedHyperboxes, to_onnx
from tests.boosted import MANY, around, known_model, problems, small_model
from tests.graphs import in_short_chunks, run

X, Y = load_iris(return_X_y=True)
OUTPUTS = ["label", "probability", "score"]


def assert_agrees(model, X):
    """Check that the graph says what the model says: bit for bit, but for the softmax."""
    _assert_says(model, X, *run(model, X, OUTPUTS))
    with in_short_chunks(max(len(model.hyperboxes_), 1)):
        _assert_says(model, X, *run(model, X, OUTPUTS))


def _assert_says(model, X, label, probability, score):
    np.testing.assert_array_equal(label, model.predict(X))
    assert score.shape == model.decision_function(X).shape
    assert score.tobytes() == model.decision_function(X).tobytes()
    np.testing.assert_allclose(probability, model.predict_proba(X), rtol=1e-14)


@settings(max_examples=20, deadline=None)
@given(problems(), st.sampled_from([5, MANY]))
def test_the_graph_says_what_the_model_says(problem, max_boxes):
    X, y, weights = problem
    model = small_model(max_boxes, early_stopping=False).fit(X / 3, y, weights)
    assert_agrees(model, around(model.hyperboxes_, X / 3))


def test_every_kind_of_condition():
    model = known_model()
    assert_agrees(model, around(model.hyperboxes_, np.array([[3.0, 1.0, 7.0], [1.0, 0.0, 900.0]])))


def test_a_model_without_boxes():
    model = BoostedHyperboxes(3).fit(X[:50], Y[:50])
    label, probability, score = run(model, X[:2], OUTPUTS)
    assert label.tolist() == [0, 0]
    assert probability.tolist() == [[1.0], [1.0]]
    assert score.shape == (2, 1)


def test_many_classes_and_boxes():
    """Chunks are shorter where a row has many votes, and sums are long."""
    rng = np.random.default_rng(0)
    X = rng.random((600, 3))
    y = rng.permutation(600) % 40
    model = BoostedHyperboxes(50, early_stopping=False, random_state=0).fit(X, y)
    assert_agrees(model, rng.random((200, 3)))


def test_no_rows():
    model = BoostedHyperboxes(3).fit(X, Y)
    assert [array.shape for array in run(model, X[:0], OUTPUTS)] == [(0,), (0, 3), (0, 3)]


@pytest.mark.parametrize("labels", [["a", "b", "c"], [False, True, True], [0.0, 1.0, 2.0]])
def test_labels_and_metadata(labels):
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = BoostedHyperboxes(4, random_state=0).fit(frame, np.array(labels)[Y])
    label, _ = run(model, X, ["label", "score"])
    np.testing.assert_array_equal(label, model.predict(frame))
    metadata = {entry.key: entry.value for entry in to_onnx(model).metadata_props}
    assert metadata["estimator"] == "BoostedHyperboxes"
    assert json.loads(metadata["classes"]) == sorted(set(labels))
    assert json.loads(metadata["feature_names"]) == list("abcd")


def test_models_must_be_fitted():
    with pytest.raises(NotFittedError):
        to_onnx(BoostedHyperboxes())


def test_no_boxes_of_several_classes():
    model = BoostedHyperboxes(3, random_state=0).fit(np.zeros((9, 2)), np.arange(9) % 3)
    assert len(model.hyperboxes_) == 0
    assert_agrees(model, np.array([[0.0, 1.0], [np.nan, 0.0], [np.nan, np.nan]]))
