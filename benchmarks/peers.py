"""`make bench-peers`: this package compared with hyperbox-brain, on the same data in one run.

hyperbox-brain is run, never copied. Its rules are changed in one place, `our_conventions`, to show
by experiment why its boxes differ from ours where they do.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.data import Split, generated, shared
from benchmarks.harness import Timing, command, machine, medians, progress, table
from benchmarks.reproduce.learners import Peer
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM
from hyperboxes.literature import FuzzyMinMax

try:
    from hbbrain.numerical_data.batch_learner import accel_agglo_gfmm, agglo_gfmm
    from hbbrain.numerical_data.incremental_learner import iol_gfmm, onln_gfmm
except ImportError as error:
    sys.exit(f"This benchmark needs hyperbox-brain: pip install 'hyperboxes[bench]' ({error})")

# Samples and features; three quarters of the samples are for training.
SIZES = ((1_000, 8), (2_000, 8), (10_000, 8), (10_000, 16))
FAMILY_SIZES = ((2_667, 8), (2_667, 16), (6_667, 8), (13_334, 8))
GENERATED = {
    f"generated {n_samples:,} x {n_features}": (n_samples, n_features)
    for n_samples, n_features in (*SIZES, *FAMILY_SIZES)
}
SMALLEST, SMALL, LARGE, WIDE, *OF_FAMILY = GENERATED

# What hyperbox-brain has no choice of.
AS_THE_PEER: dict[str, Any] = {"scaling": None, "membership_function": "min", "calibrate": False}

# Training samples of real data for OnlineGFMM.
ONLINE_LIMIT = 1_000

# Seconds: where a fit of the peer takes longer, it is not run again to explain a difference.
EXPLAIN_LIMIT = 45.0

NOTES = f"""\
Seconds are processor time, ours, then hyperbox-brain's (peer), which took turns; runs likewise.
OnlineGFMM learns {ONLINE_LIMIT:,} training samples of real data only, in both packages: the peer is
slow on more.
Same boxes: equal to the last bit; otherwise how many are in both sets. With our rules: the same
question once hyperbox-brain tries the oldest of equally good boxes first and leaves no gap between
boxes it parts (-: nothing to explain, or too slow). Why boxes differ:
- ImprovedOnlineGFMM: by ties alone; there, equal memberships come as an unstable sort leaves them.
- OnlineGFMM, continuous data: by the gap of 1e-5 alone, where we leave touching faces as the
  paper's text does; later contractions carry the shift on.
- OnlineGFMM, data with ties: also because it takes touching boxes as overlapping, and contracts
  by other cases where faces are equal.
- AGGLO-2 and AGGLO-SM (similarity "longest"): by ties alone.
- FMNN and its like: by the gap that the peer leaves where it splits boxes."""


@dataclass(frozen=True)
class Learner:
    """One algorithm in both packages: how to make it, given theta, and the sets to learn.

    0.1 is the paper's theta. `limit` bounds the training samples of real data, for both packages,
    where the peer would take minutes.
    """

    name: str
    ours: Callable[[float], Any]
    peer: Callable[[float], Any]
    sets: tuple[str, ...] = (SMALL, LARGE, WIDE, "pendigits", "landsat", "spambase")
    thetas: tuple[float, ...] = (0.1, 0.3)
    limit: int | None = None


def agglomerative(name: str, algorithm: str, peer: Callable[..., Any], **where: Any) -> Learner:
    """Set up one of the agglomerative learners with the similarity that is our default."""
    return Learner(
        name,
        lambda theta: AgglomerativeGFMM(theta, algorithm=algorithm, **AS_THE_PEER),
        lambda theta: peer(theta=theta, min_simil=0, simil_measure="long"),
        **where,
    )


def fuzzy_min_max(variant: str, n_candidates: int | None, sets: list[str]) -> Learner:
    """Set up a learner of the fuzzy min-max family."""
    how = {"scaling": None, "shuffle": False, "calibrate": False, "n_candidates": n_candidates}
    return Learner(
        variant.upper(),
        lambda theta: FuzzyMinMax(variant, theta, **how),
        lambda theta: Peer(variant, f"{variant.upper()}Classifier", theta=theta),
        sets=tuple(sets),
        thetas=(0.3,),
    )


LEARNERS = (
    Learner(
        "ImprovedOnlineGFMM",
        lambda theta: ImprovedOnlineGFMM(theta, shuffle=False, **AS_THE_PEER),
        lambda theta: iol_gfmm.ImprovedOnlineGFMM(theta=theta),
    ),
    Learner(
        "OnlineGFMM",
        lambda theta: OnlineGFMM(theta, shuffle=False, **AS_THE_PEER),
        lambda theta: onln_gfmm.OnlineGFMM(theta=theta, theta_min=theta),  # a single pass
        thetas=(0.3,),  # with 0.1 the peer takes six minutes on 10,000 x 8
        limit=ONLINE_LIMIT,
    ),
    agglomerative(
        "AGGLO-2",
        "agglo2",
        accel_agglo_gfmm.AccelAgglomerativeLearningGFMM,
        sets=(SMALL, LARGE, "pendigits"),
    ),
    agglomerative(
        "AGGLO-SM",
        "agglo-sm",
        agglo_gfmm.AgglomerativeLearningGFMM,
        sets=(SMALLEST, SMALL),
        thetas=(0.1,),  # with 0.3 the peer takes minutes
    ),
    fuzzy_min_max("fmnn", 1, OF_FAMILY[:2]),
    fuzzy_min_max("efmnn", 1, OF_FAMILY[:2]),
    fuzzy_min_max("knefmnn", None, OF_FAMILY[:2]),
    fuzzy_min_max("rfmnn", None, OF_FAMILY),  # the quickest of the peer's
)


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


@dataclass(frozen=True, eq=False)
class Boxes:
    """The boxes of a fitted model of either package, oldest first."""

    labels: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, model: Any) -> Boxes:
        """Take the boxes of a model."""
        if isinstance(model, Peer):
            model = model.model
        if hasattr(model, "hyperboxes_"):
            boxes = model.hyperboxes_
            return cls(boxes.labels, boxes.lower, boxes.upper)
        return cls(model.C, model.V, model.W)

    def in_both(self, other: Boxes) -> str:
        """Return "yes" if the sets are the same, or else how many boxes are in both."""
        ours, theirs = (
            Counter(map(tuple, np.column_stack([b.labels, b.lower, b.upper]).tolist()))
            for b in (self, other)
        )
        return "yes" if ours == theirs else f"no, {(ours & theirs).total()}"


def compare(learner: Learner, data: Split, theta: float) -> tuple[list[str], list[str]]:
    """Fit and predict with both packages in turns; return a row of times and one of boxes."""
    progress(f"{learner.name} with theta {theta} on {data.name}")

    def fit(make: Callable[[float], Any], data: Split = data) -> Any:
        return make(theta).fit(data.X_train, data.y_train)

    for make in (learner.ours, learner.peer):
        fit(make, data.head(200)).predict(data.X_test[:20])  # warm-up
    clock = partial(medians, clock=time.process_time)
    fits = clock({"ours": partial(fit, learner.ours), "peer": partial(fit, learner.peer)})
    models = {name: timing.result for name, timing in fits.items()}
    predicts = clock({name: partial(models[name].predict, data.X_test) for name in models})
    boxes, others = (Boxes.of(model) for model in models.values())
    same, same_with_our_rules = boxes.in_both(others), "-"
    if same != "yes" and fits["peer"].seconds < EXPLAIN_LIMIT:
        with our_conventions():
            same_with_our_rules = boxes.in_both(Boxes.of(fit(learner.peer)))
    case = [learner.name, f"{theta}", data.name]
    times = [*timing_cells(data.y_train, fits), *timing_cells(data.y_test, predicts)]
    sizes = f"{len(boxes.labels)}", f"{len(others.labels)}"
    return case + times, [*case, *sizes, same, same_with_our_rules]


def timing_cells(y: np.ndarray, timings: dict[str, Timing]) -> tuple[str, ...]:
    """Print samples, seconds, ratio and runs."""
    ours, peer = timings["ours"], timings["peer"]
    times = f"{ours.seconds:.4f}", f"{peer.seconds:.3f}", f"{peer.seconds / ours.seconds:.0f}x"
    return f"{len(y):,}", *times, f"{ours.runs}/{peer.runs}"


def data_sets(names: tuple[str, ...], folder: Path) -> Iterator[Split]:
    """Yield the sets of these names that are there."""
    for name in names:
        data = generated(*GENERATED[name]) if name in GENERATED else shared(name, folder)
        if data is None:
            print(f"{name}: skipped, the shared data is not there (see --data)")
        else:
            yield data


def main() -> None:
    """Run the benchmark from the command line."""
    parser = command("bench-peers", __doc__, quick="the first set of each learner only")
    names = [learner.name for learner in LEARNERS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="some learners")
    options = parser.parse_args()
    print(machine("hyperbox-brain", "numpy", "numba", "scikit-learn"))
    print("gamma 1, one pass, features scaled to [0, 1] beforehand\n")
    comparisons = [
        compare(learner, data if data.is_continuous else data.head(learner.limit), theta)
        for learner in LEARNERS
        if learner.name in options.only
        for data in data_sets(learner.sets[: 1 if options.quick else None], options.data)
        for theta in learner.thetas
    ]
    times, boxes = zip(*comparisons, strict=True)
    header = (
        "seconds (medians)", "theta", "data", "train", "fit", "peer", "ratio", "runs",
        "test", "predict", "peer", "ratio", "runs",
    )  # fmt: skip
    print(table(header, times, left=3), end="\n\n")
    header = ("boxes", "theta", "data", "boxes", "peer", "same boxes", "with our rules")
    print(table(header, boxes, left=3), NOTES, sep="\n\n")


if __name__ == "__main__":
    main()
