"""Memory: what a fit needs."""

from __future__ import annotations

from benchmarks.data import generated_for_training
from benchmarks.scale.common import AGGLO_2, AGGLO_SM, IOL, Goal, Run, fit
from benchmarks.timing import added_memory, call_in_fresh_process, progress, table, yes_no

MEMORY_CASES = (
    (IOL, 0.1, 1_000_000),
    (IOL, 0.5, 100_000),
    (AGGLO_2, 0.1, 100_000),
    (AGGLO_SM, 0.1, 100_000),
)


def bench_memory(run: Run) -> list[Goal]:
    """Set the memory of fits, in fresh processes, against that of their boxes and their input."""
    rows, goals = [], []
    for learner, theta, n_samples in MEMORY_CASES:
        name = f"{learner}, theta {theta}, {run.size(n_samples):,} x 8"
        progress(f"memory of {name}")
        used, n_boxes, box_size, input_size = call_in_fresh_process(
            fit_memory, learner, theta, run.size(n_samples)
        )
        limit = 3 * box_size + input_size
        is_met = used < limit
        sizes = (f"{size:,.1f}" for size in (used, box_size, input_size, limit))
        rows.append((name, f"{n_boxes:,}", *sizes, yes_no(is_met)))
        goals.append(Goal(f"memory, {name}", f"< {limit:,.1f} MB", f"{used:,.1f} MB", is_met))
    header = ("megabytes", "boxes", "used", "of boxes", "of input", "3 boxes + input", "used < it")
    print(table(header, rows), end="\n\n")
    return goals


def fit_memory(learner: str, theta: float, n_samples: int) -> tuple[float, int, float, float]:
    """Return the megabytes a fit adds, how many boxes it finds, and their and its input's size."""
    data = generated_for_training(n_samples, 8)
    X, y = data.X_train, data.y_train
    fit(learner, theta, X[:300], y[:300], scaling="minmax")
    used, model = added_memory(lambda: fit(learner, theta, X, y, scaling="minmax"))
    n_boxes, n_features = model.hyperboxes_.lower.shape
    box_size = n_boxes * (2 * n_features + 2) * 8
    return used, n_boxes, box_size / 2**20, (X.nbytes + y.nbytes) / 2**20
