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
from benchmarks.timing import Timing, in_fresh_process, machine, medians, table
from hyperboxes import ImprovedOnlineGFMM, OnlineGFMM

try:
    from hbbrain.numerical_data.incremental_learner import iol_gfmm, onln_gfmm
except ImportError as error:
    sys.exit(f"This benchmark needs hyperbox-brain: pip install 'hyperboxes[bench]' ({error})")

SHARED = ("pendigits", "landsat", "spambase")
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
  by other cases where faces are equal."""

COLD_SETUP = """
import numpy, hyperboxes
X = numpy.random.default_rng(0).random((200, 8))
y = X[:, 0] > X[:, 1]
"""


@dataclass(frozen=True)
class Learner:
    """One algorithm in both packages: how to make it, given theta, and what is wanted of it.

    `limit` bounds the training samples of real data, for both packages, where the peer would take
    minutes.
    """

    name: str
    ours: Callable[[float], Any]
    peer: Callable[[float], Any]
    wanted: int
    limit: int | None = None


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
        limit=ONLINE_LIMIT,
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
    data: Split
    fit: dict[str, Timing]
    predict: dict[str, Timing]
    boxes: dict[str, Boxes]
    same: str
    same_with_our_rules: str

    def accuracy(self, package: str) -> float:
        return float(np.mean(self.predict[package].result == self.data.y_test))


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="bench-peers", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--theta", type=float, default=0.3, help="largest side of a box (0.3)")
    parser.add_argument("--quick", action="store_true", help="the smallest generated set only")
    options = parser.parse_args()

    print(machine("hyperbox-brain", "numpy", "numba", "scikit-learn"))
    print(f"theta {options.theta}, gamma 1, one pass, features scaled to [0, 1] beforehand\n")
    sets = list(data_sets(options.data, options.quick))
    comparisons = [
        compare(learner, data if data.is_continuous else data.head(learner.limit), options.theta)
        for learner in LEARNERS
        for data in sets
    ]
    print(time_table(comparisons), box_table(comparisons), NOTES, sep="\n\n", end="\n\n")
    cold = cold_start()
    print(table(("cold start", "seconds"), ((k, f"{v:.2f}") for k, v in cold.items())), end="\n\n")
    print(summary(comparisons, cold))


def data_sets(folder: Path, quick: bool) -> Iterator[Split]:
    """Yield the generated sets, then those shared sets that are there."""
    yield generated(2_000, 8)
    if quick:
        return
    yield generated(10_000, 8)
    yield generated(10_000, 16)
    for name in SHARED:
        data = shared(name, folder)
        if data is None:
            print(f"{name}: skipped, the shared data is not there (see --data)")
        else:
            yield data


def compare(learner: Learner, data: Split, theta: float) -> Comparison:
    """Fit and predict with both packages in turns, after a warm-up on a few samples."""
    progress(f"{learner.name} on {data.name}")
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
    return Comparison(learner, data, fitting, predicting, boxes, same, same_with_our_rules)


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
        for module in (iol_gfmm, onln_gfmm):
            patches.enter_context(patch.object(module, "np", numpy))
        patches.enter_context(patch.object(onln_gfmm, "overlap_resolving_num_data", gapless))
        yield


def cold_start() -> dict[str, float]:
    """Time imports and first fits in fresh processes; medians, the slower of the two learners."""
    progress("cold start")
    packages = ("sklearn", "hyperboxes")
    imports = [[in_fresh_process(f"import {name}") for name in packages] for _ in range(4)]
    sklearn, ours = map(median, zip(*imports[1:], strict=True))  # the first fills disk caches
    fresh, warm = zip(*(first_fits(learner.name) for learner in LEARNERS), strict=True)
    return {
        "import sklearn": sklearn,
        "import hyperboxes": ours,
        "  of which beyond sklearn": ours - sklearn,
        "first fit, fresh cache": max(fresh),
        "first fit, warm cache": max(warm),
    }


def first_fits(learner: str) -> tuple[float, float]:
    """Return the seconds of a process's first fit without and with cached machine code."""
    fresh, warm = [], []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as cache:
            statement = f"hyperboxes.{learner}().fit(X, y)"
            first, *others = (
                in_fresh_process(statement, COLD_SETUP, NUMBA_CACHE_DIR=cache) for _ in range(3)
            )
        fresh.append(first)
        warm += others
    return median(fresh), median(warm)


def time_table(comparisons: list[Comparison]) -> str:
    """Tabulate seconds and ratios."""
    header = (
        "seconds (medians)", "data", "train", "fit", "peer", "ratio", "runs",
        "test", "predict", "peer", "ratio", "runs",
    )  # fmt: skip
    return table(
        header,
        (
            (
                c.learner.name,
                c.data.name,
                *timing_cells(len(c.data.y_train), c.fit),
                *timing_cells(len(c.data.y_test), c.predict),
            )
            for c in comparisons
        ),
        left=2,
    )


def timing_cells(n_samples: int, timings: dict[str, Timing]) -> tuple[str, ...]:
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
        "boxes, test accuracy", "data", "boxes", "peer", "same boxes", "largest shift",
        "with our rules", "accuracy", "peer",
    )  # fmt: skip
    return table(
        header,
        (
            (
                c.learner.name,
                c.data.name,
                *(str(len(boxes)) for boxes in c.boxes.values()),
                c.same,
                c.boxes["ours"].shift(c.boxes["peer"]) if c.data.is_continuous else "-",
                c.same_with_our_rules,
                *(f"{c.accuracy(package):.4f}" for package in c.predict),
            )
            for c in comparisons
        ),
        left=2,
    )


def summary(comparisons: list[Comparison], cold: dict[str, float]) -> str:
    """Set what is wanted against the worst that was measured."""
    rows = []
    for learner in LEARNERS:
        of_learner = [c for c in comparisons if c.learner is learner]
        rows.append(speed_row(f"{learner.name} fit", learner.wanted, of_learner, "fit"))
    rows.append(speed_row("predict", WANTED_PREDICT, comparisons, "predict"))
    rows += [box_row(learner, comparisons) for learner in LEARNERS]
    limits = {
        "import hyperboxes": 1,
        "  of which beyond sklearn": 1,
        "first fit, fresh cache": 15,
        "first fit, warm cache": 2,
    }
    for what, limit in limits.items():
        rows.append((what, f"< {limit} s", f"{cold[what]:.2f} s", yes_no(cold[what] < limit)))
    return table(("goal", "wanted", "measured (worst)", "met"), rows)


def speed_row(
    what: str, wanted: int, comparisons: list[Comparison], stage: str
) -> tuple[str, str, str, str]:
    worst = min(comparisons, key=lambda c: ratio(getattr(c, stage)))
    least = ratio(getattr(worst, stage))
    measured = f"{least:.0f}x ({worst.data.name})"
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


def yes_no(met: bool) -> str:
    return "yes" if met else "NO"


def progress(message: str) -> None:
    print(f"... {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
