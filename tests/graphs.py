"""Running ONNX graphs of models."""

from unittest import mock

import numpy as np
import onnx
import onnxruntime

from hyperboxes import to_onnx

N_ROWS = 3  # of a short chunk


def run(model, X, outputs=("label", "membership"), **options):
    """Return what the graph says of samples, after a check of the graph."""
    graph = to_onnx(model)
    onnx.checker.check_model(graph, full_check=True)
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"], **options
    )
    return session.run(outputs, {"X": np.asarray(X, np.float64)})


def in_short_chunks(n_boxes):
    """Have graphs of so many boxes take their rows a few at a time."""
    return mock.patch("hyperboxes._files.onnx_additive._PAIRS", N_ROWS * n_boxes)


def assert_agrees(model, X):
    """Check that the graph says what the model says, of all rows at once and in chunks."""
    _assert_says(model, X, *run(model, X, None))
    with in_short_chunks(len(model.hyperboxes_)):
        _assert_says(model, X, *run(model, X, None))


def _assert_says(model, X, label, membership, probability=None):
    expected = model.predict_proba(X)
    is_clear = np.ones(len(expected), bool)
    if model.n_neighbors_ > 1 and expected.shape[1] > 1:
        ordered = np.sort(expected, axis=1)
        is_clear = ordered[:, -1] - ordered[:, -2] > 1e-9
    np.testing.assert_array_equal(label[is_clear], model.predict(X)[is_clear])
    assert membership.tobytes() == model.membership(X).tobytes()
    assert (probability is None) == (model._model.calibration is None)
    if probability is not None:
        np.testing.assert_allclose(probability, expected, rtol=0, atol=1e-9)
