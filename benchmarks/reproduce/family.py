"""All learners of the package, and hyperbox-brain's of the same names, by cross-validation."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import MinMaxScaler

from benchmarks.data import generated
from benchmarks.reproduce import guesses
from benchmarks.reproduce.accuracy import BASELINES, count_boxes
from benchmarks.reproduce.cells import Cell, Result
from benchmarks.reproduce.loading import Source
from benchmarks.validating import draw
from hyperboxes import (
    AdaptiveGFMM,
    AgglomerativeGFMM,
    BoostedHyperboxes,
    ImprovedOnlineGFMM,
    OnlineGFMM,
    RandomHyperboxes,
)
from hyperboxes.literature import FuzzyMinMax, MultiGranularGFMM, OverlappingFuzzyMinMax

EXPERIMENT = "family"
THETAS = (0.1, 0.3, 0.5)

# Learners that a process has compiled.
_COMPILED: set[str] = set()

# Seconds: where the folds of a learner would take longer, it is left out.
BUDGET = 300.0


@dataclass(frozen=True)
class Contender:
    """A learner: how it is made, with a theta where it has one."""

    name: str
    make: Callable[..., Any]
    thetas: tuple[float | None, ...] = THETAS
    is_ours: bool = True

    def __call__(self, theta: float | None) -> Any:
        """Return the estimator."""
        return self.make() if theta is None else self.make(theta=theta)


class Peer:
    """A learner of hyperbox-brain, with scaling; what it prints is not shown."""

    def __init__(self, module: str, name: str, theta: float) -> None:
        module = f"hbbrain.numerical_data.incremental_learner.{module}"
        self._model = getattr(import_module(module), name)(theta=theta)
        self._scaler = MinMaxScaler(clip=True)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Peer:
        """Learn ranges and boxes."""
        with redirect_stdout(io.StringIO()):
            self._model.fit(self._scaler.fit_transform(X), y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict labels."""
        with redirect_stdout(io.StringIO()):
            labels: np.ndarray = self._model.predict(self._scaler.transform(X))
        return labels

    @property
    def hyperboxes_(self) -> np.ndarray:
        """The labels of the boxes."""
        labels: np.ndarray = self._model.C
        return labels


_BOXES_ALONE = {"calibrate": False}
_SEEDED = {**_BOXES_ALONE, "random_state": 0}
VARIANTS = ("fmnn", "efmnn", "knefmnn", "rfmnn")
RESOLUTIONS = {"exclude": "EIFMM", "compensate": "FMCN", "core": "DCFMN", "levels": "MLF"}
PEERS = {
    f"{variant.upper()}, hyperbox-brain": (variant, f"{variant.upper()}Classifier")
    for variant in VARIANTS
}

CONTENDERS = (
    *(Contender(variant.upper(), partial(FuzzyMinMax, variant, **_SEEDED)) for variant in VARIANTS),
    *(
        Contender(title, partial(OverlappingFuzzyMinMax, resolution=name, **_SEEDED))
        for name, title in RESOLUTIONS.items()
    ),
    Contender("Onln-GFMM", partial(OnlineGFMM, **_SEEDED)),
    Contender("IOL-GFMM", partial(ImprovedOnlineGFMM, **_SEEDED)),
    Contender("AGGLO-2", partial(AgglomerativeGFMM, algorithm="agglo2", **_BOXES_ALONE)),
    Contender("AGGLO-SM", partial(AgglomerativeGFMM, **_BOXES_ALONE)),
    Contender("AdaptiveGFMM", AdaptiveGFMM, (None,)),
    Contender("two-phase", partial(MultiGranularGFMM, **_SEEDED), (None,)),
    Contender("random hyperboxes", partial(RandomHyperboxes, random_state=0), (None,)),
    Contender("boosted", partial(BoostedHyperboxes, random_state=0), (None,)),
    *(Contender(name, make, (None,), is_ours=False) for name, make in BASELINES.items()),
    *(Contender(name, partial(Peer, *where), is_ours=False) for name, where in PEERS.items()),
)


def cells(
    source: Source,
    datasets: Iterable[str],
    names: Iterable[str],
    n_repeats: int,
    most: int | None,
) -> list[Cell]:
    """Return a part for each set, learner and theta."""
    return [
        Cell(
            EXPERIMENT,
            dataset,
            f"{contender.name} ({n_repeats} x 2, {most or 'all'} samples)",
            evaluate,
            (source, dataset, contender, theta, n_repeats, most),
            guesses.boxes_validated(dataset) * (1 if contender.is_ours else 20),
            theta,
            contender.is_ours,
        )
        for dataset in datasets
        for contender in CONTENDERS
        if contender.name in names
        for theta in contender.thetas
    ]


def evaluate(
    source: Source,
    dataset: str,
    contender: Contender,
    theta: float | None,
    n_repeats: int,
    most: int | None,
) -> Result:
    """Return means over the folds: accuracy, boxes for each sample, and seconds of processor time.

    Training samples come in a random order, the same for all: many sets are sorted by class. A
    learner that would take more than the budget is left out.
    """
    X, y = draw(*source.true_data(dataset), most)
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=n_repeats, random_state=0)
    _compile(contender, theta)
    rows: list[tuple[float, float, float, float]] = []
    start = time.perf_counter()
    for fold, (train, test) in enumerate(folds.split(X, y)):
        train = np.random.default_rng(fold).permutation(train)
        model = contender(theta)
        begin = time.process_time()
        model.fit(X[train], y[train])
        middle = time.process_time()
        accuracy = float(np.mean(model.predict(X[test]) == y[test]))
        end = time.process_time()
        rows.append((accuracy, count_boxes(model) / len(train), middle - begin, end - middle))
        if (time.perf_counter() - start) / len(rows) * folds.get_n_splits() > BUDGET:
            return {"left_out": True}
    means = np.mean(rows, axis=0).tolist()
    names = ("accuracy", "boxes_per_sample", "fit_seconds", "predict_seconds")
    return dict(zip(names, means, strict=True))


def _compile(contender: Contender, theta: float | None) -> None:
    """Let a learner compile, or load, all that it needs, once in a process, on other data."""
    if contender.is_ours and contender.name not in _COMPILED:
        data = generated(200, 4)
        contender(theta).fit(data.X_train, data.y_train).predict(data.X_test)
        _COMPILED.add(contender.name)
