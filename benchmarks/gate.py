"""`make bench-gate BASE=COMMIT`: time of this checkout as a ratio of the time at another commit.

Two processes, one with the source of each commit, take turns at the same work with the same data on
the same core. Processor time is measured, so that other programs on the machine matter little. A
ratio is the median over several pairs of processes, its spread their range. Estimators and methods
that one of the commits does not have are left out.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification

from benchmarks.harness import machine, progress, table, turn, yes_no

ROOT = Path(__file__).parents[1]
COMMITS = ROOT / ".numba_cache" / "commits"  # sources of other commits and their compiled kernels

ESTIMATORS: dict[str, tuple[str, dict[str, Any]]] = {
    "OnlineGFMM": ("OnlineGFMM", {}),
    "ImprovedOnlineGFMM": ("ImprovedOnlineGFMM", {}),
    "AGGLO-2": ("AgglomerativeGFMM", {"algorithm": "agglo2"}),
    "AGGLO-SM": ("AgglomerativeGFMM", {"algorithm": "agglo-sm"}),
    "BoostedHyperboxes": ("BoostedHyperboxes", {}),
    "RandomHyperboxes": ("RandomHyperboxes", {}),
    "AdaptiveGFMM": ("AdaptiveGFMM", {}),
    "HyperboxClustering": ("HyperboxClustering", {}),
}
SIZES = {"2,000 x 8": (2_000, 8), "10,000 x 20": (10_000, 20)}
FIRST_FIT_SIZE = "200 x 8"
N_TEST = 2_000
BATCH = 500  # samples of one call of partial_fit
# Pairs of processes, because the place of arrays in memory may favour one of two.
N_PAIRS, N_PAIRS_QUICK = 5, 3
N_TURNS = 5  # of each pair
N_FIRST_FITS = 3

LIMIT, FIRST_FIT_LIMIT = 1.05, 1.10  # of the ratios


class Worker:
    """A process that runs an estimator of one source and reports the time it takes."""

    def __init__(self, name: str, size: str, source: Path, cache: str, core: int = 0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.gate", "--worker", name, size, str(core)],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": cache},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.facts: dict[str, Any] = self._read()
        if not Path(self.facts["package"]).is_relative_to(source):
            raise RuntimeError(f"{self.facts['package']} was imported instead of {source}")

    def seconds(self, stage: str) -> float:
        """Return the processor time of one call."""
        assert self._process.stdin is not None
        print(stage, file=self._process.stdin, flush=True)
        return float(self._read())

    def stop(self) -> None:
        """End the process."""
        self._process.communicate()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a process failed: {self._process.args}")
        return json.loads(line)


def work(name: str, size: str, core: str) -> None:
    """Print facts about an estimator, then the time of each stage that standard input names."""
    if hasattr(os, "sched_setaffinity"):  # one core may be busier than another
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(core) % len(cores)]})
    is_first_fit = size == FIRST_FIT_SIZE
    X, y, X_test = make_data(size)
    start = time.process_time()
    import hyperboxes

    class_name, parameters = ESTIMATORS[name]
    facts: dict[str, Any] = {"package": hyperboxes.__file__, "stages": [], "digest": ""}
    if hasattr(hyperboxes, class_name):
        model = getattr(hyperboxes, class_name)(**parameters)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        predicted = [model.fit(X, y).predict(X_test)]
        facts["first fit"] = time.process_time() - start
        if hasattr(model, "predict_proba"):
            predicted.append(model.predict_proba(X_test))
        stages = make_stages(model, X, y, X_test)
        if not is_first_fit:
            for stage in stages.values():
                stage()  # warm-up
        facts["stages"] = [*stages]
        facts["digest"] = hashlib.sha256(b"".join(p.tobytes() for p in predicted)).hexdigest()
    print(json.dumps(facts), flush=True)
    for line in sys.stdin:
        gc.collect()
        print(min(turn(stages[line.strip()], 0.1, time.process_time)[1]), flush=True)


def make_data(size: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return training samples, their classes and test samples."""
    if size == FIRST_FIT_SIZE:
        X = np.random.default_rng(0).random((200, 8))
        return X, X[:, 0] > X[:, 1], X
    n_samples, n_features = SIZES[size]
    X, y = make_classification(
        n_samples + N_TEST, n_features, n_informative=6, n_classes=3, random_state=0
    )
    return X[N_TEST:], y[N_TEST:], X[:N_TEST]


def make_stages(
    model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray
) -> dict[str, Callable[[], Any]]:
    """Return what is timed: the methods that a fitted estimator has."""

    def partial_fit() -> None:
        streamed = clone(model)
        first = {"classes": np.unique(y)} if is_classifier(model) else {}
        streamed.partial_fit(X[:BATCH], y[:BATCH], **first)
        for start in range(BATCH, len(y), BATCH):
            streamed.partial_fit(X[start : start + BATCH], y[start : start + BATCH])

    stages: dict[str, Callable[[], Any]] = {"fit": lambda: clone(model).fit(X, y)}
    if hasattr(model, "partial_fit"):
        stages["partial_fit"] = partial_fit
    stages["predict"] = lambda: model.predict(X_test)
    stages["predict 1 sample"] = lambda: model.predict(X_test[:1])
    if hasattr(model, "predict_proba"):
        stages["predict_proba"] = lambda: model.predict_proba(X_test)
    return stages


def source_of(commit: str) -> tuple[Path, str]:
    """Return folders of the source of a commit and of its compiled kernels, both kept."""
    git = ["git", "-C", str(ROOT)]
    found = subprocess.run(
        [*git, "rev-parse", "--verify", commit + "^{commit}"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    folder = COMMITS / found.stdout.strip()
    if not folder.exists():
        COMMITS.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=COMMITS) as extracted:
            archive = subprocess.run(
                [*git, "archive", folder.name, "src"], stdout=subprocess.PIPE, check=True
            )
            subprocess.run(["tar", "-x", "-C", extracted], input=archive.stdout, check=True)
            Path(extracted, "commit").mkdir()
            Path(extracted, "src").rename(Path(extracted, "commit", "src"))
            Path(extracted, "commit").rename(folder)
    return folder / "src", str(folder / "cache")


def compare(name: str, size: str, base: tuple[Path, str], quick: bool) -> Iterator[list[str]]:
    """Yield a row for each method, with the best of several turns of each pair of processes."""
    here = ROOT / "src", os.environ.get("NUMBA_CACHE_DIR", "")
    best: dict[str, list[tuple[float, float]]] = {}
    is_same = True
    for pair in range(N_PAIRS_QUICK if quick else N_PAIRS):
        progress(f"{name}, {size}, processes {pair + 1}")
        before, now = (Worker(name, size, *place, pair) for place in (base, here))
        is_same &= before.facts["digest"] == now.facts["digest"]
        for stage in before.facts["stages"]:
            if stage in now.facts["stages"]:
                turns = [(before.seconds(stage), now.seconds(stage)) for _ in range(N_TURNS)]
                best.setdefault(stage, []).append(
                    (min(t[0] for t in turns), min(t[1] for t in turns))
                )
        before.stop()
        now.stop()
    for stage, pairs in best.items():
        yield row(name, size, stage, pairs, LIMIT, yes_no(is_same))


def compare_first_fits(name: str, base: Path, quick: bool) -> Iterator[list[str]]:
    """Yield rows for import, fit and predict in new processes with an empty and a filled cache."""
    found: dict[str, list[tuple[float, float]]] = {"first fit": [], "later first fit": []}
    for number in range(1 if quick else N_FIRST_FITS):
        progress(f"{name}, first fit {number + 1}")
        with tempfile.TemporaryDirectory() as before, tempfile.TemporaryDirectory() as now:
            for pairs in found.values():
                taken = []
                for source, cache in ((base, before), (ROOT / "src", now)):
                    worker = Worker(name, FIRST_FIT_SIZE, source, cache, number)
                    taken.append(worker.facts.get("first fit"))
                    worker.stop()
                if None in taken:
                    return
                pairs.append((taken[0], taken[1]))
    for stage, pairs in found.items():
        yield row(name, FIRST_FIT_SIZE, stage, pairs, FIRST_FIT_LIMIT, "")


def row(
    name: str, data: str, stage: str, pairs: list[tuple[float, float]], limit: float, same: str
) -> list[str]:
    """Summarize what a stage took at the base and in this checkout."""
    ratios = [now / before for before, now in pairs]
    times = [f"{1000 * median(seconds):,.3f}" for seconds in zip(*pairs, strict=True)]
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    met = yes_no(median(ratios) <= limit)
    return [name, data, stage, *times, f"{median(ratios):.2f}", spread, met, same]


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="bench-gate", description=__doc__)
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--quick", action="store_true", help="small data, fewer processes")
    parser.add_argument(
        "--estimators",
        nargs="+",
        choices=ESTIMATORS,
        default=[*ESTIMATORS],
        metavar="NAME",
        help=f"some of {', '.join(ESTIMATORS)}",
    )
    parser.add_argument("--skip-first-fit", action="store_true", help="no first fits")
    parser.add_argument("--only-first-fit", action="store_true", help="nothing but first fits")
    options = parser.parse_args()

    print(machine("numpy", "numba", "scikit-learn"), end="\n\n")
    base = source_of(options.base)
    rows = []
    for name in options.estimators:
        if not options.only_first_fit:
            for size in [*SIZES][:1] if options.quick else SIZES:
                rows += compare(name, size, base, options.quick)
        if not options.skip_first_fit:
            rows += compare_first_fits(name, base[0], options.quick)
    met = f"ratio <= {LIMIT:.2f}, first fit {FIRST_FIT_LIMIT:.2f}"
    header = ("estimator", "data", "stage", f"{options.base[:12]} ms", "this checkout ms")
    print(table([*header, "ratio", "spread", met, "same predictions"], rows, left=3))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(*sys.argv[2:])
    else:
        main()
