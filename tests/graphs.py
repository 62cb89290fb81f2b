"""Running ONNX graphs of models."""

import numpy as np
import onnx
import onnxruntime

from hyperboxes import to_onnx


def run(model, X, outputs=("label", "membership"), **options):
    """Return what the graph says of samples, after a check of the graph."""
    graph = to_onnx(model)
    onnx.checker.check_model(graph, full_check=True)
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"], **options
    )
    return session.run(outputs, {"X": np.asarray(X, np.float64)})


def assert_agrees(model, X):
    """Check that the graph says what the model says."""
    label, membership = run(model, X)
    np.testing.assert_array_equal(label, model.predict(X))
    assert membership.tobytes() == model.membership(X).tobytes()
