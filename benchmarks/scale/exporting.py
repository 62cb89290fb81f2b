"""What prediction costs in an ONNX runtime, which compares every sample with every box."""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from benchmarks.data import uniform
from benchmarks.scale.common import ALONE, Goal, Run
from benchmarks.timing import progress, table
from hyperboxes import ImprovedOnlineGFMM, to_onnx

N_BOXES, N_FEATURES = 10_000, 20
BATCHES = (1, 10, 100, 1_000)


def bench_onnx(run: Run) -> list[Goal]:
    """Time a graph of many boxes beside `predict`, in batches of several sizes, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    data = uniform(run.size(N_BOXES), N_FEATURES, n_test=max(BATCHES))
    rows = []
    for function in ("min", "mean"):
        progress(f"ONNX, {len(data.y_train):,} boxes, {function!r}")
        model = ImprovedOnlineGFMM(1e-9, shuffle=False, membership_function=function, **ALONE)
        content = to_onnx(model.fit(data.X_train, data.y_train)).SerializeToString()
        session = onnxruntime.InferenceSession(content, options)
        for size in BATCHES:
            X = data.X_test[:size]
            timings = run.medians(
                {
                    "onnx": partial(session.run, ["label"], {"X": X}),
                    "predict": partial(model.predict, X),
                },
                clock=time.process_time,
            )
            is_same = np.array_equal(timings["onnx"].result[0], timings["predict"].result)
            us = (f"{1e6 * timing.seconds / size:,.0f}" for timing in timings.values())
            rows.append((function, f"{size:,}", *us, "yes" if is_same else "NO"))
    name = f"{len(data.y_train):,} boxes x {N_FEATURES}"
    header = (name, "batch", "onnx us", "predict us", "same")
    print(table(header, rows), end="\n\n")
    print("Microseconds of the processor for a sample, labels only, one thread.\n")
    return []
