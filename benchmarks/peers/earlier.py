"""An earlier commit of this package and this one, in turns: first uses, and learning afterwards.

Processor time is measured, in processes of its own, so that whoever else uses the machine counts
for little.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.timing import progress

LEARNERS = {
    "ImprovedOnlineGFMM": "ImprovedOnlineGFMM({})",
    "OnlineGFMM": "OnlineGFMM({})",
    "AGGLO-2": "AgglomerativeGFMM(algorithm='agglo2', {})",
    "AGGLO-SM": "AgglomerativeGFMM({})",
}

# What a newcomer does; of any version of the package.
FIRST_USE = """
import json, time
import numpy
X = numpy.random.default_rng(0).random((200, 8))
y = X[:, 0] > X[:, 1]
from hyperboxes import *
{model}.fit(X, y).predict(X)
print(json.dumps([time.process_time()]))
"""

# With the settings of the earliest version; fit and predict, after each was called once.
LATER_USE = """
import json, time
from sklearn.datasets import make_classification
from hyperboxes import *
X, y = make_classification({size}, {n_features}, n_informative=6, n_classes=3, random_state=0)
model = {model}
settings = {{"shuffle": False, "membership_function": "min", "calibrate": False}}
model.set_params(**{{k: v for k, v in settings.items() if k in model.get_params()}})
seconds = []
for n in (500, *[len(y)] * 3):
    start = time.process_time()
    model.fit(X[:n], y[:n])
    fitted = time.process_time()
    model.predict(X[:n])
    seconds.append([fitted - start, time.process_time() - fitted])
print(json.dumps([min(runs) for runs in zip(*seconds[1:])]))
"""
SIZES = {"2,000 x 8": (2_000, 8), "10,000 x 20": (10_000, 20)}
THETAS = (0.1, 0.3)
N_RUNS = 3


@dataclass(frozen=True)
class Seconds:
    """Medians of an earlier commit and of this one."""

    before: float
    now: float

    @property
    def ratio(self) -> float:
        """What part of the earlier time it takes now."""
        return self.now / self.before


def first_uses(before: str, n_runs: int) -> dict[str, Seconds]:
    """Return what import, first fit and first predict take, and took at an earlier commit."""
    found = {}
    with _sources(before) as sources:
        for name, model in LEARNERS.items():
            script = FIRST_USE.format(model=model.format(""))
            (found[name],) = _in_turns(name, script, sources, n_runs, fresh=True)
    return found


def later_uses(before: str, n_runs: int) -> dict[str, tuple[float, float]]:
    """Return what part of an earlier commit's time fit and predict take."""
    found = {}
    with _sources(before) as sources:
        for name, model in LEARNERS.items():
            for size, (n_samples, n_features) in SIZES.items():
                for theta in THETAS:
                    case = f"{name}, {size}, theta {theta}"
                    numbers = {"size": n_samples, "n_features": n_features}
                    script = LATER_USE.format(model=model.format(f"theta={theta}"), **numbers)
                    fit, predict = _in_turns(case, script, sources, n_runs, fresh=False)
                    found[case] = fit.ratio, predict.ratio
    return found


@contextmanager
def _sources(before: str) -> Iterator[tuple[Path, Path]]:
    """Yield the folders of the sources of an earlier commit and of this one."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", before, "src"], stdout=subprocess.PIPE, check=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        yield Path(folder) / "src", Path(__file__).parents[2] / "src"


def _in_turns(
    case: str, script: str, sources: tuple[Path, Path], n_runs: int, *, fresh: bool
) -> list[Seconds]:
    """Run a script with both sources in turns; return medians.

    It prints a list of seconds. Caches of machine code are empty each time or kept.
    """
    runs: tuple[list[list[float]], list[list[float]]] = [], []
    for run in range(n_runs):
        progress(f"{case}, run {run + 1} of {n_runs}")
        for source, seconds in zip(sources, runs, strict=True):
            with tempfile.TemporaryDirectory() as cache:
                place = cache if fresh else str(source.parent / ".numba_cache" / "earlier")
                seconds.append(_run(script, source, place))
    before, now = ([median(values) for values in zip(*one, strict=True)] for one in runs)
    return [Seconds(*both) for both in zip(before, now, strict=True)]


def _run(script: str, source: Path, cache: str) -> list[float]:
    places = {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": cache}
    process = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | places,
        stdout=subprocess.PIPE,
        check=True,
    )
    return list(json.loads(process.stdout))
