"""Prune: how long it takes with many boxes and many samples."""

from __future__ import annotations

import time
from functools import partial

from benchmarks.data import tangled
from benchmarks.scale.common import IOL, Goal, Run, fit
from benchmarks.timing import progress, table
from hyperboxes import prune

THETA = 0.5
WANTED = 10.0  # seconds, at most


def bench_prune(run: Run) -> list[Goal]:
    """Prune some ten thousand boxes on ten thousand samples."""
    data = tangled(run.size(45_000), 20)
    n_validation = run.size(10_000)
    progress(f"prune of a model of {data.name}")
    model = fit(IOL, THETA, data.X_train, data.y_train)
    samples = data.X_test[:n_validation], data.y_test[:n_validation]
    pruning = {"prune": partial(prune, model, *samples)}
    timing = run.medians(pruning, rounds=1, clock=time.process_time)["prune"]
    n_boxes, n_left = len(model.hyperboxes_), len(timing.result.hyperboxes_)
    row = f"{n_boxes:,}", f"{n_left:,}", f"{len(samples[1]):,}", f"{timing.seconds:.2f}"
    print(table(("prune", "boxes left", "samples", "seconds"), [row]), end="\n\n")
    name = f"prune, {n_boxes:,} boxes and {len(samples[1]):,} samples"
    measured, wanted = f"{timing.seconds:.1f} s", f"<= {WANTED:g} s"
    return [Goal(name, wanted, measured, timing.seconds <= WANTED)]
