"""The learners of the experiments, by the names of the paper's tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

ONLN, IOL, AGGLO_2, AGGLO_SM = "onln-gfmm", "iol-gfmm", "agglo2", "agglo-sm"
ALGORITHMS = (ONLN, IOL, AGGLO_2, AGGLO_SM)
TITLES = {ONLN: "Onln-GFMM", IOL: "IOL-GFMM", AGGLO_2: "AGGLO-2", AGGLO_SM: "AGGLO-SM"}
SIMILARITIES = ("longest", "shortest", "mid-max", "mid-min")
SELECTIONS = ("all", "lemma", "index")


@dataclass(frozen=True)
class Learner:
    """An algorithm with what it leaves open: a similarity, or "", and the overlap test."""

    algorithm: str
    similarity: str = ""
    overlap: str = "closed"

    @property
    def name(self) -> str:
        """The name to print; that the overlap test is the default one goes without saying."""
        overlap = "paper's overlap" if self.overlap == "paper" else ""
        return ", ".join(filter(None, (TITLES[self.algorithm], self.similarity, overlap)))

    def make(self, theta: float, **how: Any) -> Any:
        """Return an estimator, whose membership function is the paper's, for the boxes alone."""
        how = {"membership_function": "min", "calibrate": False} | how
        if self.algorithm == ONLN:
            return OnlineGFMM(theta, shuffle=False, **how)
        if self.algorithm == IOL:
            return ImprovedOnlineGFMM(theta, overlap=self.overlap, shuffle=False, **how)
        return AgglomerativeGFMM(
            theta,
            algorithm=self.algorithm,
            similarity=self.similarity,
            overlap=self.overlap,
            **how,
        )


def agglomerative(overlap: str) -> list[Learner]:
    """Return both agglomerative learners with every similarity."""
    return [
        Learner(algorithm, similarity, overlap)
        for algorithm in (AGGLO_2, AGGLO_SM)
        for similarity in SIMILARITIES
    ]


# As the paper ran them; Onln-GFMM has no choice of the overlap test.
AS_PUBLISHED = [Learner(ONLN), Learner(IOL, overlap="paper"), *agglomerative("paper")]


def published_runs(
    datasets: Iterable[str], algorithms: Iterable[str]
) -> Iterator[tuple[str, Learner]]:
    """Yield the paper's runs with some algorithms: a data set and a learner."""
    chosen = [learner for learner in AS_PUBLISHED if learner.algorithm in algorithms]
    for dataset in datasets:
        for learner in chosen:
            yield dataset, learner
