"""What prediction costs in an ONNX runtime, which compares every sample with every box."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.data import uniform
from benchmarks.scale.common import ALONE, Goal, Run
from benchmarks.timing import added_memory, call_in_fresh_process, progress, table, yes_no
from hyperboxes import BoostedHyperboxes, ImprovedOnlineGFMM, to_onnx

N_FEATURES = 20
BATCHES = (1, 10, 100, 1_000)
LARGE_BATCH = 100_000
# Boxes, and how they answer: a membership function, or boxes that vote.
LARGE_CASES = ((2_000, "min"), (2_000, "mean"), (1_000, "boosted"))
CASES = (*LARGE_CASES, (10_000, "min"), (10_000, "mean"))


def bench_onnx(run: Run) -> list[Goal]:
    """Time graphs beside `predict`, in batches of several sizes, and measure their memory."""
    rows = []
    for n_boxes, kind in CASES:
        name = f"{run.size(n_boxes):,} boxes, {kind}"
        progress(f"ONNX, {name}")
        model, session = _export(run.size(n_boxes), kind)
        rows += [(name, *_compare(run, model, session, size)) for size in BATCHES]
    print(table(("", "batch", "onnx us", "predict us", "same"), rows), end="\n\n")
    print(f"Microseconds of the processor for a sample of {N_FEATURES} features, one thread.\n")

    rows = []
    for n_boxes, kind in LARGE_CASES:
        name, n_samples = f"{run.size(n_boxes):,} boxes, {kind}", run.size(LARGE_BATCH)
        progress(f"ONNX, memory of {name}")
        us, used = call_in_fresh_process(measure_large, run.size(n_boxes), kind, n_samples)
        rows.append((name, f"{n_samples:,}", f"{us:,.1f}", f"{used:,.0f}"))
    print(table(("", "batch", "onnx us", "MB"), rows), end="\n\n")
    print("Megabytes that a call adds, labels and memberships or scores among them.\n")
    return []


def measure_large(n_boxes: int, kind: str, n_samples: int) -> tuple[float, float]:
    """Return the microseconds for each sample of a large batch, and the megabytes it adds."""
    _, session = _export(n_boxes, kind)
    X = _draw(n_samples)
    session.run(None, {"X": X[:1]})
    start = time.process_time()
    used, _ = added_memory(lambda: session.run(None, {"X": X}))
    return 1e6 * (time.process_time() - start) / n_samples, used


def _export(n_boxes: int, kind: str) -> tuple[Any, Any]:
    """Return a model of so many boxes, and a session of its graph that uses one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if kind == "boosted":
        data = uniform(10 * n_boxes, N_FEATURES, n_test=0)
        model = BoostedHyperboxes(n_boxes, early_stopping=False, random_state=0)
    else:
        data = uniform(n_boxes, N_FEATURES, n_test=0)
        model = ImprovedOnlineGFMM(1e-9, shuffle=False, membership_function=kind, **ALONE)
    model.fit(data.X_train, data.y_train)
    return model, onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), options)


def _draw(n_samples: int) -> np.ndarray:
    return np.random.default_rng(1).random((n_samples, N_FEATURES))


def _compare(run: Run, model: Any, session: Any, n_samples: int) -> tuple[str, ...]:
    """Return the size of a batch, microseconds for a sample of it, and whether labels agree."""
    X = _draw(n_samples)
    functions = {
        "onnx": partial(session.run, ["label"], {"X": X}),
        "predict": partial(model.predict, X),
    }
    for function in functions.values():
        function()  # to warm up
    timings = run.medians(functions, clock=time.process_time)
    is_same = np.array_equal(timings["onnx"].result[0], timings["predict"].result)
    us = (f"{1e6 * timing.seconds / n_samples:,.1f}" for timing in timings.values())
    return f"{n_samples:,}", *us, yes_no(is_same)
