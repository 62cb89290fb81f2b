"""Ensembles as ONNX graphs: what onnxruntime says is what the model says, but for last digits."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, RandomHyperboxes, to_onnx
from tests.graphs import in_short_chunks, run
from tests.strategies import few_examples, problems

X, Y = load_iris(return_X_y=True)
OUTPUTS = ["label", "probability"]


def assert_agrees(model, X):
    """Check that the graph says what the model says, of all rows at once and in chunks."""
    _assert_says(model, X, *run(model, X, OUTPUTS))
    with in_short_chunks(max(len(member.labels) for member in model._record().members)):
        _assert_says(model, X, *run(model, X, OUTPUTS))


def _assert_says(model, X, label, probability):
    expected = model.predict_proba(X)
    assert_allclose(probability, expected, rtol=0, atol=1e-6)
    ranked = np.sort(np.pad(expected, ((0, 0), (1, 0))), axis=1)
    is_clear = ranked[:, -1] - ranked[:, -2] > 1e-9
    assert_array_equal(label[is_clear], model.predict(X)[is_clear])


def with_gaps(X):
    """Return samples, some between and far away, and all of them without some values."""
    random = np.random.default_rng(0)
    rows = np.concatenate([X, X[::-1] / 2 + X / 2, X * 1e3, -X])
    missing = np.where(random.random(rows.shape) < 0.4, np.nan, rows)
    return np.concatenate([rows, missing, np.full((1, X.shape[1]), np.nan)])


@few_examples
@given(problems(), st.sampled_from(["min", "mean"]), st.sampled_from([0, 0.1]), st.booleans())
def test_the_graph_says_what_the_model_says(problem, function, temperature, calibrate):
    learners = [
        ImprovedOnlineGFMM(0.2, membership_function=function),
        AgglomerativeGFMM(0.5, algorithm="agglo2"),
    ]
    model = RandomHyperboxes(
        learners, n_estimators=4, temperature=temperature, calibrate=calibrate, random_state=0
    ).fit(problem.xl, np.maximum(problem.y, 0))
    assert_agrees(model, with_gaps(problem.xl))


@pytest.mark.parametrize("labels", [Y, Y > 0, np.array(["x", "y", "ß"])[Y], Y * 0])
def test_default_members_and_kinds_of_labels(labels):
    weights = np.random.default_rng(0).integers(1, 4, len(Y))
    model = RandomHyperboxes(random_state=0).fit(X[::2], labels[::2], sample_weight=weights[::2])
    assert_agrees(model, with_gaps(X))
    assert run(model, X[:0], OUTPUTS)[1].shape == (0, len(model.classes_))


def test_categories_and_values_that_training_lacked():
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["b"] = pd.cut(frame["b"], 4, labels=["p", "q", "r", "s"]).astype(object)
    frame.loc[::7, "c"] = np.nan
    model = RandomHyperboxes(n_estimators=5, categorical_features=["b"], random_state=0).fit(
        frame[::2], Y[::2]
    )
    frame.loc[::5, "b"] = None
    frame.loc[::11, "b"] = "another"
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    texts = frame[["b"]].astype(str).to_numpy(object)
    answers = session.run(OUTPUTS, {"numbers": frame[list("acd")].to_numpy(), "categories": texts})
    _assert_says(model, frame, *answers)
