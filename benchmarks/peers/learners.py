"""The algorithms that both packages have, and the data they are compared on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

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

# What hyperbox-brain has no choice of.
AS_THE_PEER: dict[str, Any] = {
    "scaling": None,
    "membership_function": "min",
    "calibrate": False,
}

# Training samples of real data for OnlineGFMM.
ONLINE_LIMIT = 1_000


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
        lambda theta: AgglomerativeGFMM(theta, algorithm=algorithm, **AS_THE_PEER),
        lambda theta: peer(theta=theta, min_simil=0, simil_measure="long"),
        **where_and_what,
    )


LEARNERS = (
    Learner(
        "ImprovedOnlineGFMM",
        lambda theta: ImprovedOnlineGFMM(theta, shuffle=False, **AS_THE_PEER),
        lambda theta: iol_gfmm.ImprovedOnlineGFMM(theta=theta),
        wanted=50,
    ),
    Learner(
        "OnlineGFMM",
        lambda theta: OnlineGFMM(theta, shuffle=False, **AS_THE_PEER),
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
