"""Cold starts, and memory: what is measured in processes of its own, of this package alone."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.peers.learners import LEARNERS, Learner
from benchmarks.timing import in_fresh_process, peak_memory, progress
from hyperboxes import AgglomerativeGFMM

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
    for learner in LEARNERS:
        fresh, warm = first_fits(learner)
        seconds[f"{learner.name}, first fit, fresh cache"] = fresh
        seconds[f"{learner.name}, first fit, warm cache"] = warm
    return seconds


def first_fits(learner: Learner) -> tuple[float, float]:
    """Return the seconds of a process's first fit without and with cached machine code."""
    statement = f"{learner.ours(0.3)!r}.fit(X, y)"
    fresh, warm = [], []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as cache:
            first, *others = (
                in_fresh_process(statement, COLD_SETUP, NUMBA_CACHE_DIR=cache) for _ in range(3)
            )
        fresh.append(first)
        warm += others
    return median(fresh), median(warm)


# What a newcomer does, by the learners' names; of any version of the package.
FIRST_USE = """
import numpy
X = numpy.random.default_rng(0).random((200, 8))
y = X[:, 0] > X[:, 1]
from hyperboxes import *
{model}.fit(X, y).predict(X)
"""
NEWCOMERS = {
    "ImprovedOnlineGFMM": "ImprovedOnlineGFMM()",
    "OnlineGFMM": "OnlineGFMM()",
    "AGGLO-2": "AgglomerativeGFMM(algorithm='agglo2')",
    "AGGLO-SM": "AgglomerativeGFMM()",
}


def first_uses(before: str, n_runs: int = 3) -> dict[str, tuple[float, float]]:
    """Time import, first fit and first predict on fresh caches, of an earlier commit and now.

    The two take turns, and medians are returned: others may use the machine.
    """
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", before, "src"], stdout=subprocess.PIPE, check=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        sources = Path(folder) / "src", Path(__file__).parents[2] / "src"
        return {
            name: _medians(name, FIRST_USE.format(model=model), sources, n_runs)
            for name, model in NEWCOMERS.items()
        }


def _medians(
    name: str, statement: str, sources: tuple[Path, Path], n_runs: int
) -> tuple[float, float]:
    seconds: tuple[list[float], list[float]] = [], []
    for run in range(n_runs):
        progress(f"{name}, first use, run {run + 1} of {n_runs}")
        for source, runs in zip(sources, seconds, strict=True):
            with tempfile.TemporaryDirectory() as cache:
                places = {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": cache}
                runs.append(in_fresh_process(statement, **places))
    return median(seconds[0]), median(seconds[1])


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
