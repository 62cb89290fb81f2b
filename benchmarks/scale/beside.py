"""Beside what users would run instead: fit and predict at growing sizes, with defaults."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from benchmarks.data import Split, tangled
from benchmarks.scale.common import Goal, Run
from benchmarks.scale.growing import COLOURS, MARKERS
from benchmarks.timing import call_in_fresh_process, progress, table
from hyperboxes import BoostedHyperboxes, ImprovedOnlineGFMM, RandomHyperboxes

SIZES = (10_000, 31_623, 100_000)
N_FEATURES = 20
N_TEST = 3_000
BRAIN = "hyperbox-brain's IOL-GFMM"
# hyperbox-brain takes many minutes for the smallest size already, so it learns fewer samples, and
# predicts a few.
BRAIN_LIMIT, BRAIN_TEST = 4_000, 100

CONTENDERS: dict[str, Callable[[], Any]] = {
    "ImprovedOnlineGFMM": partial(ImprovedOnlineGFMM, random_state=0),
    "ImprovedOnlineGFMM, one pass": partial(
        ImprovedOnlineGFMM, shuffle=False, calibrate=False, random_state=0
    ),
    "RandomHyperboxes": partial(RandomHyperboxes, random_state=0),
    "BoostedHyperboxes": partial(BoostedHyperboxes, random_state=0),
    "RandomForestClassifier": partial(RandomForestClassifier, n_jobs=1, random_state=0),
    "HistGradientBoostingClassifier": partial(HistGradientBoostingClassifier, random_state=0),
    "KNeighborsClassifier": partial(KNeighborsClassifier, n_jobs=1),
}

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "beside.png"


@dataclass(frozen=True)
class Beside:
    """What one contender took to fit some samples, and a sample to predict."""

    name: str
    n_samples: int
    fit: float
    predict: float
    accuracy: float


def bench_beside(run: Run) -> list[Goal]:
    """Time all contenders on the same samples."""
    jobs = [(name, size) for size in SIZES if size <= run.most for name in CONTENDERS]
    results = [time_job(run, *job) for job in [*jobs, (BRAIN, BRAIN_LIMIT)]]
    print(beside_table(results), end="\n\n")
    print(
        "Defaults, one thread each, seconds of the processor. "
        "ImprovedOnlineGFMM learns in\ntwo orders, and calibrates its probabilities, unless it "
        "says one pass. hyperbox-brain: theta 0.5,\n"
        f"one pass, {run.size(BRAIN_LIMIT):,} samples: it is slow on more.\n"
    )
    if run.picture and run.most >= max(SIZES):
        draw(results, PICTURE)
    return []


def time_job(run: Run, name: str, size: int) -> Beside:
    """Time a contender on so many samples, unless that was kept before."""
    n_samples = run.size(size)
    kept = run.keep / f"beside {name} {n_samples}.json" if run.keep else None
    if kept is not None and kept.exists():
        return Beside(**json.loads(kept.read_text()))
    progress(f"{name} on {n_samples:,} samples")
    result: Beside = call_in_fresh_process(time_one, name, tangled(n_samples, N_FEATURES))
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(asdict(result)))
    return result


def time_one(name: str, data: Split) -> Beside:
    """Time a contender in this process, once it is warm.

    Gradient boosting takes as many threads as there are cores, which wait for each other, and
    count as busy meanwhile; so all have one.
    """
    X_test, y_test = data.X_test[:N_TEST], data.y_test[:N_TEST]
    if name == BRAIN:
        from hbbrain.numerical_data.incremental_learner.iol_gfmm import ImprovedOnlineGFMM as Brain

        make: Callable[[], Any] = partial(Brain, theta=0.5)
        X_test, y_test = X_test[:BRAIN_TEST], y_test[:BRAIN_TEST]
    else:
        make = CONTENDERS[name]
        make().fit(data.X_train[:500], data.y_train[:500]).predict(X_test[:50])
    with threadpool_limits(1):
        start = time.process_time()
        model = make().fit(data.X_train, data.y_train)
        fitted = time.process_time()
        accuracy = float(np.mean(model.predict(X_test) == y_test))
        predicted = time.process_time()
    of_one = (predicted - fitted) / len(y_test)
    return Beside(name, len(data.y_train), fitted - start, of_one, accuracy)


def beside_table(results: list[Beside]) -> str:
    """Tabulate seconds and accuracy."""
    header = (f"{N_FEATURES} features, 5 classes", "train", "fit s", "predict us", "accuracy")
    rows = (
        (
            result.name,
            f"{result.n_samples:,}",
            f"{result.fit:.2f}",
            f"{1e6 * result.predict:.1f}",
            f"{result.accuracy:.3f}",
        )
        for result in results
    )
    return table(header, rows)


def draw(results: list[Beside], path: Path) -> None:
    """Draw seconds to fit and to predict over samples."""
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.subplots(1, 2)
    names = list(dict.fromkeys(result.name for result in results))
    colours, markers = (*COLOURS, "#CC79A7", "black", "0.6"), (*MARKERS, "P", "*", "x")
    styles = zip(names, colours, markers, strict=True)
    for name, colour, marker in styles:
        of_name = [result for result in results if result.name == name]
        n_samples = [result.n_samples for result in of_name]
        seconds = [[result.fit for result in of_name], [result.predict for result in of_name]]
        for ax, values in zip(axes, seconds, strict=True):
            ax.loglog(n_samples, values, color=colour, marker=marker, label=name)
    for ax, title in zip(axes, ("seconds to fit", "seconds to predict a sample"), strict=True):
        ax.set(xlabel="training samples", title=title)
        ax.grid(color="0.9")
        ax.spines[["top", "right"]].set_visible(False)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, dpi=150)
    print(f"The picture is in {path.name}\n")
