"""Cold starts, and memory: what is measured in processes of its own, of this package alone."""

from __future__ import annotations

import tempfile
from statistics import median
from typing import Any

from benchmarks.peers.learners import LEARNERS
from benchmarks.timing import in_fresh_process, peak_memory, progress
from hyperboxes import AgglomerativeGFMM, BoostedHyperboxes, RandomHyperboxes

COLD_SETUP = """
import numpy
from hyperboxes import *
X = numpy.random.default_rng(0).random((200, 8))
y = X[:, 0] > X[:, 1]
"""


def cold_start() -> dict[str, float]:
    """Time imports and first fits in fresh processes; medians."""
    progress("cold start")
    statements = ("import sklearn.base", "from hyperboxes import *")
    imports = [[in_fresh_process(statement) for statement in statements] for _ in range(4)]
    sklearn, ours = map(median, zip(*imports[1:], strict=True))  # the first fills disk caches
    seconds = {
        "import sklearn": sklearn,
        "import hyperboxes, all names": ours,
        "  of which beyond sklearn": ours - sklearn,
    }
    models = {learner.name: learner.ours(0.3) for learner in LEARNERS}
    models |= {type(model).__name__: model for model in (BoostedHyperboxes(), RandomHyperboxes())}
    for name, model in models.items():
        fresh, warm = first_fits(model)
        seconds[f"{name}, first fit, fresh cache"] = fresh
        seconds[f"{name}, first fit, warm cache"] = warm
    return seconds


def first_fits(model: Any) -> tuple[float, float]:
    """Return the seconds of a process's first fit without and with cached machine code."""
    statement = f"{model!r}.fit(X, y)"
    fresh, warm = [], []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as cache:
            first, *others = (
                in_fresh_process(statement, COLD_SETUP, NUMBA_CACHE_DIR=cache) for _ in range(3)
            )
        fresh.append(first)
        warm += others
    return median(fresh), median(warm)


def memory_of_agglo_sm() -> float:
    """Return the peak megabytes of AGGLO-SM on 20,000 samples, Python and compiler included."""
    progress("memory of AGGLO-SM")
    setup = "\n".join(
        (
            "from benchmarks.data import generated",
            "from hyperboxes import AgglomerativeGFMM",
            "data = generated(26_667, 8)",
            "assert len(data.y_train) == 20_000",
        )
    )
    model = AgglomerativeGFMM(0.1, algorithm="agglo-sm", scaling=None)
    return peak_memory(f"{model!r}.fit(data.X_train, data.y_train)", setup)
