"""What the pieces of a run take, measured by playing a small one in this process."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np
from scipy.optimize import nnls
from sklearn.base import clone

from benchmarks.dask.data import draw
from benchmarks.dask.running import warm_up
from hyperboxes import merge
from hyperboxes._estimators.merge import neighbours
from hyperboxes._learning.calibration import MAX_CALIBRATION_SAMPLES
from hyperboxes.dask._repairing import are_lost, learn_lost_samples, take_back
from hyperboxes.dask._survey import look_at_partition
from hyperboxes.dask._training import Trained, finish

# Partitions of these parts of the size tell how costs grow with it.
_PARTS_OF_SIZE = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)

# Repairs that are measured with models of some partitions only.
_N_TRIALS = 4

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Power:
    """What grows as a power of a size."""

    factor: float
    exponent: float

    @classmethod
    def fit(cls, points: Points) -> Power:
        """Fit sizes and values, least squares of logarithms; all of one size count as one."""
        sizes, values = np.log(_means(points)).T
        if len(sizes) == 1:
            return cls(float(np.exp(values[0])), 0.0)
        exponent, log_factor = np.polyfit(sizes, values, 1)
        return cls(float(np.exp(log_factor)), float(exponent))

    def __call__(self, size: float) -> float:
        """Return the value for a size."""
        return self.factor * size**self.exponent


@dataclass(frozen=True, eq=False)
class Square:
    """What a box or a sample takes beside others: some, more for each, more for each pair of them.

    The more boxes there are, the more may grow, and the more may be in the way of each of these.
    """

    terms: np.ndarray

    @classmethod
    def fit(cls, points: Points) -> Square:
        """Fit sizes and values, least squares of relative errors; no term is negative."""
        sizes, values = _means(points).T
        powers = np.array([np.ones(len(sizes)), sizes, sizes**2]).T
        return cls(nnls(powers / values[:, np.newaxis], np.ones(len(sizes)))[0])

    def __call__(self, size: float) -> float:
        """Return the value for a size."""
        return float(self.terms @ (1.0, size, size**2))


@dataclass(frozen=True, eq=False)
class Curve:
    """What was measured at some sizes: a power of the size between two, and beyond the last."""

    sizes: np.ndarray
    values: np.ndarray

    @classmethod
    def through(cls, points: Points) -> Curve:
        """Go through sizes and values; the mean where there are several of one size."""
        return cls(*np.log(_means(points)).T)

    def __call__(self, size: float) -> float:
        """Return the value for a size."""
        where = np.log(size)
        if len(self.sizes) > 1 and where > self.sizes[-1]:
            slope = (self.values[-1] - self.values[-2]) / (self.sizes[-1] - self.sizes[-2])
            return float(np.exp(self.values[-1] + slope * (where - self.sizes[-1])))
        return float(np.exp(np.interp(where, self.sizes, self.values)))


def _means(points: Points) -> np.ndarray:
    sizes = sorted({size for size, _ in points})
    means = [np.mean([value for size, value in points if size == own]) for own in sizes]
    return np.array([sizes, np.maximum(means, 1e-9)]).T


@dataclass(frozen=True)
class Costs:
    """What pieces of a run take, in processor seconds, and what comes of them."""

    n_features: int
    read: Power  # rows of a partition
    look: Power  # rows of a partition
    learn: Power  # rows of a partition
    boxes: Power  # of a partition, by its rows
    growth: Curve  # boxes of a merged model for each of a partition, by partitions
    hold: Power  # a row, asked whether it is lost, by boxes of the model
    lost: Curve  # rows that are, of each, by partitions
    relearn: Square  # a lost row, by boxes of the model
    found: Curve  # boxes that are new or have grown, for each lost row, by partitions
    regrowth: Curve  # such boxes of merged partitions for each of one, by partitions
    kept: float  # boxes of the repaired model for each of the two that it is merged from
    merge: Square  # a box that comes in, by all that do
    carry: float  # a box, packed for another worker and unpacked there
    finish: float


def measure(model: Any, n_features: int, rows: int, n_parts: int, spread: float) -> Costs:
    """Play a run of some partitions here, without workers, and note what each piece takes.

    Time is processor time: others may use the machine.
    """
    parts = [draw(number, rows, n_features, spread) for number in range(n_parts)]
    low = np.min([X.min(axis=0) for X, _ in parts], axis=0)
    high = np.max([X.max(axis=0) for X, _ in parts], axis=0)
    alike = clone(model).set_params(scaling=[low, high], calibrate=False)
    learned = _Learned(alike, n_features, rows, spread)
    models = [clone(alike).fit(X, y) for X, y in parts]
    tree = _Tree(models)
    own = float(np.mean([len(boxes_of(model)) for model in models]))
    repairs = _Repairs()
    for n_merged, merged in tree.firsts[1:-1]:
        repairs.try_parts(merged, parts[: min(n_merged, _N_TRIALS)], n_merged)
    top = tree.firsts[-1][1]
    found = repairs.try_parts(top, parts, n_parts)
    if not found:
        raise SystemExit("Merging has lost no sample here: measure with more partitions.")
    again = _Tree(found)
    both = again.firsts[-1][1]
    repaired, seconds = timed(take_back, top, both)
    n_in = float(len(boxes_of(top)) + len(boxes_of(both)))
    X, y = draw(n_parts, MAX_CALIBRATION_SAMPLES, n_features, spread)
    return Costs(
        n_features,
        *(Power.fit(points) for points in (learned.reads, learned.looks, learned.learns)),
        Power.fit([*learned.boxes, (float(rows), own)]),
        Curve.through(tree.growth),
        Power.fit(repairs.holds),
        Curve.through(repairs.lost),
        Square.fit(repairs.relearns),
        Curve.through(repairs.found),
        Curve.through(again.growth),
        len(boxes_of(repaired)) / n_in,
        Square.fit([*tree.merges, *again.merges, (n_in, seconds / n_in)]),
        timed(lambda: pickle.loads(pickle.dumps(top)))[1] / len(boxes_of(top)),
        timed(finish, clone(model), Trained(repaired, (X, None, y)))[1],
    )


def measure_at_once(n_processes: int, *args: Any) -> Costs:
    """Measure in some processes at the same time, which disturb each other as workers do."""
    with ProcessPoolExecutor(n_processes, get_context("spawn")) as pool:
        first, *_ = pool.map(_measure, [args] * n_processes)
    return first


def _measure(args: tuple[Any, ...]) -> Costs:
    warm_up()
    return measure(*args)


def timed(function: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """Return what comes of a call, and the processor seconds it took."""
    start = time.process_time()
    value = function(*args)
    return value, time.process_time() - start


def boxes_of(model: Any) -> Any:
    """Return the boxes of a model, in the learner's units."""
    return model._model.boxes


class _Learned:
    """Partitions of several sizes, and what reading, looking and learning them took."""

    def __init__(self, alike: Any, n_features: int, rows: int, spread: float) -> None:
        self.reads: Points = []
        self.looks: Points = []
        self.learns: Points = []
        self.boxes: Points = []
        for number, part in enumerate(_PARTS_OF_SIZE):
            size = round(part * rows)
            (X, y), reading = timed(draw, number, size, n_features, spread)
            _, looking = timed(look_at_partition, clone(alike), number, X, y, None)
            model, learning = timed(clone(alike).fit, X, y)
            self.reads.append((size, reading))
            self.looks.append((size, looking))
            self.learns.append((size, learning))
            if part < 1:  # of larger ones there is one only, and numbers of boxes vary
                self.boxes.append((size, len(boxes_of(model))))


class _Tree:
    """Models that are merged, some at a time, and what that took.

    `firsts` has the first model of each level, with the number of partitions that it stands for.
    """

    def __init__(self, models: list[Any]) -> None:
        self.merges: Points = []
        self.growth: Points = []
        level = [(1, model) for model in models]
        own = float(np.mean([len(boxes_of(model)) for model in models]))
        self.firsts = level[:1]
        self._note(level, own)
        while len(level) > 1:
            level = [self._merge(group) for group in neighbours(level)]
            self.firsts.append(level[0])
            self._note(level, own)

    def _note(self, level: Iterable[tuple[int, Any]], own: float) -> None:
        self.growth += [(n_merged, len(boxes_of(model)) / own) for n_merged, model in level]

    def _merge(self, group: list[tuple[int, Any]]) -> tuple[int, Any]:
        if len(group) == 1:
            return group[0]
        merged, seconds = timed(merge, [model for _, model in group])
        n_in = sum(len(boxes_of(model)) for _, model in group)
        self.merges.append((float(n_in), seconds / n_in))
        return sum(n_merged for n_merged, _ in group), merged


class _Repairs:
    """What it takes partitions to learn again what merged models have lost."""

    def __init__(self) -> None:
        self.holds: Points = []
        self.lost: Points = []
        self.relearns: Points = []
        self.found: Points = []

    def try_parts(self, merged: Any, parts: Any, n_merged: int) -> list[Any]:
        """Have partitions of a model do so; return the boxes that they find, as models."""
        n_boxes, every = float(len(boxes_of(merged))), []
        for X, y in parts:
            is_lost, holding = timed(are_lost, merged, X, y, None)
            found, seconds = timed(learn_lost_samples, merged, X, y, None)
            n_lost = np.count_nonzero(is_lost)
            self.holds.append((n_boxes, holding / len(y)))
            self.lost.append((n_merged, n_lost / len(y)))
            if found is not None:
                self.relearns.append((n_boxes, max(seconds - holding, 0.0) / n_lost))
                self.found.append((n_merged, len(boxes_of(found)) / n_lost))
                every.append(found)
        return every
