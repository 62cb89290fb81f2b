"""The learners and the protocol of the experiments, and the numbers that the paper published."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import MinMaxScaler

from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

ONLN, IOL, AGGLO_2, AGGLO_SM = "onln-gfmm", "iol-gfmm", "agglo2", "agglo-sm"
ALGORITHMS = (ONLN, IOL, AGGLO_2, AGGLO_SM)
TITLES = {ONLN: "Onln-GFMM", IOL: "IOL-GFMM", AGGLO_2: "AGGLO-2", AGGLO_SM: "AGGLO-SM"}
SIMILARITIES = ("longest", "shortest", "mid-max", "mid-min")
SELECTIONS = ("all", "lemma", "index")

THETA, GAMMA = 0.1, 1.0  # of the paper's runs

RUN = ["dataset", "algorithm", "similarity"]  # what identifies a run of the paper
N_COUNTS = 480

_PUBLISHED = Path(__file__).parent / "published"


@cache
def datasets() -> pd.DataFrame:
    """Return title, samples, features and classes of the paper's sets, by name."""
    return pd.read_csv(_PUBLISHED / "datasets.csv", index_col="dataset")


@cache
def runs() -> pd.DataFrame:
    """Return all published runs in their order; the similarity of online learners is ""."""
    online = pd.read_csv(_PUBLISHED / "online.csv").assign(similarity="")
    agglo2 = pd.read_csv(_PUBLISHED / "agglo2.csv").assign(algorithm="agglo2")
    agglo_sm = pd.read_csv(_PUBLISHED / "agglo_sm.csv").assign(algorithm="agglo-sm")
    return pd.concat([online, agglo2, agglo_sm], ignore_index=True)


@dataclass(frozen=True)
class Learner:
    """An algorithm with what it leaves open: a similarity, or "", and the overlap test."""

    algorithm: str
    similarity: str = ""
    overlap: str = "closed"

    @property
    def name(self) -> str:
        """The name to print, without the default overlap test."""
        overlap = "paper's overlap" if self.overlap == "paper" else ""
        return ", ".join(filter(None, (TITLES[self.algorithm], self.similarity, overlap)))

    def make(self, theta: float, **how: Any) -> Any:
        """Return an estimator with the paper's membership function, for the boxes alone."""
        how = {"membership_function": "min", "calibrate": False} | how
        if self.algorithm == ONLN:
            return OnlineGFMM(theta, shuffle=False, **how)
        how["overlap"] = self.overlap
        if self.algorithm == IOL:
            return ImprovedOnlineGFMM(theta, shuffle=False, **how)
        how |= {"algorithm": self.algorithm, "similarity": self.similarity}
        return AgglomerativeGFMM(theta, **how)

    def as_published(self, selection: str) -> Any:
        """Return an estimator set up as in the paper's runs."""
        return self.make(THETA, gamma=GAMMA, selection=selection, scaling=None)


def agglomerative(overlap: str) -> list[Learner]:
    """Return both agglomerative learners with every similarity."""
    return [
        Learner(algorithm, similarity, overlap)
        for algorithm in (AGGLO_2, AGGLO_SM)
        for similarity in SIMILARITIES
    ]


# As the paper ran them; Onln-GFMM has no choice of the overlap test.
AS_PUBLISHED = [Learner(ONLN), Learner(IOL, overlap="paper"), *agglomerative("paper")]


def halves(y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the rows to train and to test on, twice; rows stay in their order.

    The first half has the first ceil(n / 2) of the n samples of each class.
    """
    is_first = np.zeros(len(y), bool)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        is_first[rows[: -(-len(rows) // 2)]] = True
    first, second = np.flatnonzero(is_first), np.flatnonzero(~is_first)
    return [(first, second), (second, first)]


class Peer:
    """An online learner of hyperbox-brain on scaled features; what it prints is not shown."""

    def __init__(self, module: str, name: str, **parameters: Any) -> None:
        module = f"hbbrain.numerical_data.incremental_learner.{module}"
        self._make = partial(getattr(import_module(module), name), **parameters)
        self._scaler = MinMaxScaler(clip=True)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Peer:
        """Learn ranges and boxes."""
        self.model = self._make()
        with redirect_stdout(io.StringIO()):
            self.model.fit(self._scaler.fit_transform(X), y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict labels."""
        with redirect_stdout(io.StringIO()):
            return np.asarray(self.model.predict(self._scaler.transform(X)))

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Predict probabilities."""
        return np.asarray(self.model.predict_proba(self._scaler.transform(X)))

    @property
    def hyperboxes_(self) -> np.ndarray:
        """The labels of the boxes."""
        return np.asarray(self.model.C)


def count_boxes(model: Any) -> float:
    """Return how many boxes a model has, NaN if it has none."""
    return len(model.hyperboxes_) if hasattr(model, "hyperboxes_") else np.nan
