"""`make bench-peers`: this package beside hyperbox-brain, on the same data in one run.

hyperbox-brain is run, never copied. Its rules are changed in one place, `our_conventions`, to show
by experiment why its boxes differ from ours where they do.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.data import Split, add_data_option, generated, shared
from benchmarks.timing import (
    Timing,
    in_fresh_process,
    machine,
    medians,
    peak_memory,
    progress,
    table,
    yes_no,
)
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

try:
    from hbbrain.numerical_data.batch_learner import accel_agglo_gfmm, agglo_gfmm
    from hbbrain.numerical_data.incremental_learner import iol_gfmm, onln_gfmm
except ImportError as error:
    sys.exit(f"This benchmark needs hyperbox-brain: pip install 'hyperboxes[bench]' ({error})")

GENERATED = {
    f"generated {n_samples:,} x {n_features}": (n_samples, n_features)
    for n_samples, n_features in ((1_000, 8), (2_000, 8), (10_000, 8), (10_000, 16))
}
SMALLEST, SMALL, LARGE, WIDE = GENERATED
ONLINE_SETS = (SMALL, LARGE, WIDE, "pendigits", "landsat", "spambase")
QUICK_SETS = (SMALLEST, SMALL)
WANTED_PREDICT = 20

# Training samples of real data for OnlineGFMM.
ONLINE_LIMIT = 1_000

# Seconds: where a fit of the peer takes longer, it is not run again to explain a difference.
EXPLAIN_LIMIT = 45.0

NOTES = f"""\
Seconds are ours, then hyperbox-brain's (peer), which took turns; runs likewise. OnlineGFMM learns
{ONLINE_LIMIT:,} training samples of real data only, in both packages: the peer is slow on more.
Same boxes: equal to the last bit; otherwise how many are in both sets. Largest shift: of any face,
boxes paired by age (continuous data). With our rules: the same question once hyperbox-brain tries
the oldest of equally good boxes first and leaves no gap between boxes it parts (-: nothing to
explain, or too slow). Why boxes differ:
- ImprovedOnlineGFMM: by ties alone; there, equal memberships come as an unstable sort leaves them.
- OnlineGFMM, continuous data: by the gap of 1e-5 alone, where we leave touching faces as the
  paper's text does; later contractions carry the shift on.
- OnlineGFMM, data with ties: also because it takes touching boxes as overlapping, and contracts
  by other cases where faces are equal.
- AGGLO-2 and AGGLO-SM (similarity "longest"): by ties alone."""

COLD_SETUP = """
import numpy, hyperboxes
X = numpy.random.default_rng(0).random((200, 8))
y = X[:, 0] > X[:, 1]
"""


@dataclass(frozen=True)
class Learner:
    """One algorithm in both packages: how to make it, given theta, where, and what is wanted of it.

    0.1 is the paper's theta. `limit` bounds the training samples of real data, for both packages,
    where the peer would take minutes.
    """

    name: str
    ours: Callable[[float], Any]
    peer: Callable[[float], Any]
    wanted: int
    sets: tuple[str, ...] = ONLINE_SETS
    thetas: tuple[float, ...] = (0.1, 0.3)
    limit: int | None = None


def agglomerative(
    name: str, algorithm: str, peer: Callable[..., Any], **where_and_what: Any
) -> Learner:
    """Set up one of the agglomerative learners with the similarity that is our default."""
    return Learner(
        name,
        lambda theta: AgglomerativeGFMM(theta, algorithm=algorithm, scaling=None),
        lambda theta: peer(theta=theta, min_simil=0, simil_measure="long"),
        **where_and_what,
    )


LEARNERS = (
    Learner(
        "ImprovedOnlineGFMM",
        lambda theta: ImprovedOnlineGFMM(theta, scaling=None),
        lambda theta: iol_gfmm.ImprovedOnlineGFMM(theta=theta),
        wanted=50,
    ),
    Learner(
        "OnlineGFMM",
        lambda theta: OnlineGFMM(theta, scaling=None),
        lambda theta: onln_gfmm.OnlineGFMM(theta=theta, theta_min=theta),  # a single pass
        wanted=200,
        thetas=(0.3,),  # with 0.1 the peer takes six minutes on 10,000 x 8
        limit=ONLINE_LIMIT,
    ),
    agglomerative(
        "AGGLO-2",
        "agglo2",
        accel_agglo_gfmm.AccelAgglomerativeLearningGFMM,
        wanted=100,
        sets=(SMALL, LARGE, "pendigits"),
    ),
    agglomerative(
        "AGGLO-SM",
        "agglo-sm",
        agglo_gfmm.AgglomerativeLearningGFMM,
        wanted=1000,
        sets=(SMALLEST, SMALL),
        thetas=(0.1,),  # with 0.3 the peer takes minutes
    ),
)


@dataclass(frozen=True, eq=False)
class Boxes:
    """The boxes of a fitted model of either package, oldest first."""

    labels: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, model: Any) -> Boxes:
        """Take the boxes of a model."""
        if hasattr(model, "hyperboxes_"):
            boxes = model.hyperboxes_
            return cls(boxes.labels, boxes.lower, boxes.upper)
        return cls(model.C, model.V, model.W)

    def __len__(self) -> int:
        return len(self.labels)

    def in_both(self, other: Boxes) -> str:
        """Say "yes" if the sets are the same, or else how many boxes are in both."""
        ours, theirs = (
            Counter(map(tuple, np.column_stack([b.labels, b.lower, b.upper]).tolist()))
            for b in (self, other)
        )
        return "yes" if ours == theirs else f"no, {(ours & theirs).total()}"

    def shift(self, other: Boxes) -> str:
        """Return the largest difference of any face, "-" if the boxes do not pair up by age."""
        if not np.array_equal(self.labels, other.labels):
            return "-"
        faces = np.abs([self.lower - other.lower, self.upper - other.upper])
        return f"{faces.max():.1g}"


@dataclass(frozen=True, eq=False)
class Comparison:
    """One learner of both packages on one data set; dictionaries have keys "ours" and "peer"."""

    learner: Learner
    theta: float
    data: Split
    fit: dict[str, Timing]
    predict: dict[str, Timing]
    boxes: dict[str, Boxes]
    same: str
    same_with_our_rules: str

    def accuracy(self, package: str) -> float:
        """Return a package's accuracy on the test samples."""
        return float(np.mean(self.predict[package].result == self.data.y_test))


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="bench-peers", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--theta", type=float, help="largest side of a box, for all learners")
    parser.add_argument("--quick", action="store_true", help="the smallest generated sets only")
    options = parser.parse_args()

    print(machine("hyperbox-brain", "numpy", "numba", "scikit-learn"))
    print("gamma 1, one pass, features scaled to [0, 1] beforehand\n")
    comparisons = [
        compare(learner, data if data.is_continuous else data.head(learner.limit), theta)
        for learner in LEARNERS
        for data in data_sets(learner.sets, options.data, options.quick)
        for theta in ((options.theta,) if options.theta else learner.thetas)
    ]
    print(time_table(comparisons), box_table(comparisons), NOTES, sep="\n\n", end="\n\n")
    cold = cold_start()
    print(table(("cold start", "seconds"), ((k, f"{v:.2f}") for k, v in cold.items())), end="\n\n")
    print(summary(comparisons, cold, memory_of_agglo_sm()))


def data_sets(names: tuple[str, ...], folder: Path, quick: bool) -> Iterator[Split]:
    """Yield the sets of these names that are there."""
    for name in names:
        if quick and name not in QUICK_SETS:
            continue
        data = generated(*GENERATED[name]) if name in GENERATED else shared(name, folder)
        if data is None:
            print(f"{name}: skipped, the shared data is not there (see --data)")
        else:
            yield data


def compare(learner: Learner, data: Split, theta: float) -> Comparison:
    """Fit and predict with both packages in turns, after a warm-up on a few samples."""
    progress(f"{learner.name} with theta {theta} on {data.name}")
    fits = {"ours": partial(fit, learner.ours, theta), "peer": partial(fit, learner.peer, theta)}
    for fit_package in fits.values():
        fit_package(data.head(200)).predict(data.X_test[:20])
    fitting = medians({name: partial(fit_package, data) for name, fit_package in fits.items()})
    models = {name: timing.result for name, timing in fitting.items()}
    predicting = medians({name: partial(models[name].predict, data.X_test) for name in models})
    boxes = {name: Boxes.of(model) for name, model in models.items()}
    same = boxes["ours"].in_both(boxes["peer"])
    same_with_our_rules = "-"
    if same != "yes" and fitting["peer"].seconds < EXPLAIN_LIMIT:
        with our_conventions():
            same_with_our_rules = boxes["ours"].in_both(Boxes.of(fits["peer"](data)))
    return Comparison(learner, theta, data, fitting, predicting, boxes, same, same_with_our_rules)


def fit(make: Callable[[float], Any], theta: float, data: Split) -> Any:
    """Fit a new model."""
    return make(theta).fit(data.X_train, data.y_train)


@contextmanager
def our_conventions() -> Iterator[None]:
    """Have the peer try the oldest of equal boxes first and part boxes without a gap."""

    def ascending(values: np.ndarray) -> np.ndarray:
        return np.argsort(-values, kind="stable")[::-1]  # the peer reads it backwards

    numpy = SimpleNamespace(**vars(np) | {"argsort": ascending})
    gapless = partial(onln_gfmm.overlap_resolving_num_data, alpha=0.0)
    with ExitStack() as patches:
        for module in (iol_gfmm, onln_gfmm, accel_agglo_gfmm, agglo_gfmm):
            patches.enter_context(patch.object(module, "np", numpy))
        patches.enter_context(patch.object(onln_gfmm, "overlap_resolving_num_data", gapless))
        yield


def cold_start() -> dict[str, float]:
    """Time imports and first fits in fresh processes; medians."""
    progress("cold start")
    packages = ("sklearn", "hyperboxes")
    imports = [[in_fresh_process(f"import {name}") for name in packages] for _ in range(4)]
    sklearn, ours = map(median, zip(*imports[1:], strict=True))  # the first fills disk caches
    seconds = {
        "import sklearn": sklearn,
        "import hyperboxes": ours,
        "  of which beyond sklearn": ours - sklearn,
    }
    for learner in LEARNERS:
        fresh, warm = first_fits(learner)
        seconds[f"{learner.name}, first fit, fresh cache"] = fresh
        seconds[f"{learner.name}, first fit, warm cache"] = warm
    return seconds


def first_fits(learner: Learner) -> tuple[float, float]:
    """Return the seconds of a process's first fit without and with cached machine code."""
    statement = f"hyperboxes.{learner.ours(0.3)!r}.fit(X, y)"
    fresh, warm = [], []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as cache:
            first, *others = (
                in_fresh_process(statement, COLD_SETUP, NUMBA_CACHE_DIR=cache) for _ in range(3)
            )
        fresh.append(first)
        warm += others
    return median(fresh), median(warm)


def time_table(comparisons: list[Comparison]) -> str:
    """Tabulate seconds and ratios."""
    header = (
        "seconds (medians)", "theta", "data", "train", "fit", "peer", "ratio", "runs",
        "test", "predict", "peer", "ratio", "runs",
    )  # fmt: skip
    return table(
        header,
        (
            (
                c.learner.name,
                f"{c.theta}",
                c.data.name,
                *timing_cells(len(c.data.y_train), c.fit),
                *timing_cells(len(c.data.y_test), c.predict),
            )
            for c in comparisons
        ),
        left=3,
    )


def timing_cells(n_samples: int, timings: dict[str, Timing]) -> tuple[str, ...]:
    """Print samples, seconds, ratio and runs."""
    ours, peer = timings["ours"], timings["peer"]
    return (
        f"{n_samples:,}",
        f"{ours.seconds:.4f}",
        f"{peer.seconds:.3f}",
        f"{ratio(timings):.0f}x",
        f"{ours.runs}/{peer.runs}",
    )


def ratio(timings: dict[str, Timing]) -> float:
    """How many times faster we are."""
    return timings["peer"].seconds / timings["ours"].seconds


def box_table(comparisons: list[Comparison]) -> str:
    """Tabulate boxes and test accuracies."""
    header = (
        "boxes, test accuracy", "theta", "data", "boxes", "peer", "same boxes", "largest shift",
        "with our rules", "accuracy", "peer",
    )  # fmt: skip
    return table(
        header,
        (
            (
                c.learner.name,
                f"{c.theta}",
                c.data.name,
                *(str(len(boxes)) for boxes in c.boxes.values()),
                c.same,
                c.boxes["ours"].shift(c.boxes["peer"]) if c.data.is_continuous else "-",
                c.same_with_our_rules,
                *(f"{c.accuracy(package):.4f}" for package in c.predict),
            )
            for c in comparisons
        ),
        left=3,
    )


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


def summary(comparisons: list[Comparison], cold: dict[str, float], memory: float) -> str:
    """Set what is wanted against the worst that was measured."""
    rows = []
    for learner in LEARNERS:
        of_learner = [c for c in comparisons if c.learner is learner]
        rows.append(speed_row(f"{learner.name} fit", learner.wanted, of_learner, "fit"))
    rows.append(speed_row("predict", WANTED_PREDICT, comparisons, "predict"))
    rows += [box_row(learner, comparisons) for learner in LEARNERS]
    rows.append(
        ("AGGLO-SM, 20,000 x 8, memory", "< 2,000 MB", f"{memory:,.0f} MB", yes_no(memory < 2000))
    )
    for what, seconds in cold.items():
        limit = {"fresh cache": 15, "warm cache": 2}.get(what.rpartition(", ")[2], 1)
        if what != "import sklearn":
            rows.append((what, f"< {limit} s", f"{seconds:.2f} s", yes_no(seconds < limit)))
    return table(("goal", "wanted", "measured (worst)", "met"), rows)


def speed_row(
    what: str, wanted: int, comparisons: list[Comparison], stage: str
) -> tuple[str, str, str, str]:
    """Set a speed-up that is wanted against the smallest one."""
    worst = min(comparisons, key=lambda c: ratio(getattr(c, stage)))
    least = ratio(getattr(worst, stage))
    measured = f"{least:.0f}x (theta {worst.theta}, {worst.data.name})"
    return what, f">= {wanted}x", measured, yes_no(least >= wanted)


def box_row(learner: Learner, comparisons: list[Comparison]) -> tuple[str, str, str, str]:
    """Count the continuous data sets with the same boxes, as they are and with our rules."""
    continuous = [c for c in comparisons if c.learner is learner and c.data.is_continuous]
    same = [c.same == "yes" for c in continuous]
    explained = [c.same_with_our_rules == "yes" for c in continuous if c.same_with_our_rules != "-"]
    measured = f"{sum(same)} of {len(same)} sets"
    if explained:
        measured += f"; with our rules {sum(explained)} of {len(explained)} tried"
    return f"{learner.name} same boxes", "continuous data", measured, yes_no(all(same))


if __name__ == "__main__":
    main()
