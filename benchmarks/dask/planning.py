"""A model of the cluster: measured costs of partitions and merges, played on any number of workers.

Tasks go to the worker that is free first, in the order of the tree; a merge begins when what it
merges is there and has been fetched. It is checked against real runs before it is believed.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.dask.data import draw
from hyperboxes import merge
from hyperboxes._estimators.merge import neighbours
from hyperboxes._learning.calibrating import ENOUGH
from hyperboxes.dask._survey import look_at_partition
from hyperboxes.dask._training import Trained, finish, learn_lost

# Bytes of a box: two corners, a label and a count.
_BYTES_OF_BOX = 8


@dataclass(frozen=True)
class Power:
    """A cost that grows as a power of a size."""

    factor: float
    exponent: float

    @classmethod
    def fit(cls, sizes: list[float], costs: list[float]) -> Power:
        """Fit the power to measured costs, least squares of logarithms."""
        exponent, log_factor = np.polyfit(np.log(sizes), np.log(np.maximum(costs, 1e-6)), 1)
        return cls(float(np.exp(log_factor)), float(exponent))

    def __call__(self, size: float) -> float:
        """Return the cost for a size."""
        return self.factor * size**self.exponent


@dataclass(frozen=True)
class Costs:
    """What work takes, in processor seconds, by numbers of rows or boxes; and how many boxes."""

    look: Power  # rows of a partition
    learn: Power  # rows of a partition
    merge: Power  # boxes that come in
    boxes: Power  # of a model merged from so many rows
    repair: Power  # of a row, boxes of the merged model that it is held against
    repaired: float  # boxes that are new or have grown, for each that a partition has learned
    finish: float
    n_features: int
    overhead: float = 0.002  # of a task
    bandwidth: float = 1e9  # bytes a second


@dataclass(frozen=True)
class Learned:
    """Partitions that were learned here, with what that took."""

    parts: list[tuple[int, Any]]  # rows and model
    looks: list[float]
    learns: list[float]


def measure(model: Any, n_features: int, rows: int, n_parts: int, spread: float) -> Costs:
    """Learn some partitions here and merge them, as workers would.

    Time is processor time: others may use the machine.
    """
    ranges = np.array([draw(number, rows, n_features, spread)[0] for number in range(2)])
    low, high = ranges.min(axis=(0, 1)), ranges.max(axis=(0, 1))
    alike = clone(model).set_params(scaling=[low, high], calibrate=False)
    learned = _learn(alike, n_features, rows, n_parts, spread)
    sizes = [float(size) for size, _ in learned.parts]
    n_in, merges, levels = _merge(learned.parts)
    every = [part for level in levels for part in level]
    # Of the first models of all levels, to learn how the cost of repairs grows.
    trials = [_repair(level[0][1], draw(1, rows, n_features, spread)) for level in levels[1:]]
    last = trials[-1]
    merged = levels[-1][0][1]
    samples = draw(2, ENOUGH, n_features, spread)
    _, finishing = _timed(finish, clone(model), Trained(merged, (samples[0], None, samples[1])))
    return Costs(
        Power.fit(sizes, learned.looks),
        Power.fit(sizes, learned.learns),
        Power.fit(n_in, merges),
        Power.fit([float(size) for size, _ in every], [float(_n(m)) for _, m in every]),
        Power.fit([trial[0] for trial in trials], [trial[1] / rows for trial in trials]),
        last[2] / _n(learned.parts[-1][1]),
        finishing,
        n_features,
    )


def _timed(function: Any, *args: Any) -> tuple[Any, float]:
    start = time.process_time()
    value = function(*args)
    return value, time.process_time() - start


def _learn(alike: Any, n_features: int, rows: int, n_parts: int, spread: float) -> Learned:
    learned = Learned([], [], [])
    for number in range(n_parts):
        # Some are smaller, to learn how costs grow.
        size = rows if number >= 4 else rows // 2 ** (3 - number)
        (X, y), reading = _timed(draw, number, size, n_features, spread)
        _, looking = _timed(look_at_partition, clone(alike), number, X, y, None)
        model, learning = _timed(clone(alike).fit, X, y)
        learned.looks.append(reading + looking)  # each pass reads the partition
        learned.learns.append(reading + learning)
        learned.parts.append((size, model))
    return learned


def _merge(
    parts: list[tuple[int, Any]],
) -> tuple[list[float], list[float], list[list[tuple[int, Any]]]]:
    """Merge models in a tree; return boxes that came in and seconds of merges, and all levels."""
    n_in, merges, levels = [], [], [parts]
    while len(levels[-1]) > 1:
        above = []
        for group in neighbours(levels[-1]):
            if len(group) == 1:
                above.append(group[0])
                continue
            merged, seconds = _timed(merge, [learned for _, learned in group])
            merges.append(seconds)
            n_in.append(float(sum(_n(learned) for _, learned in group)))
            above.append((sum(size for size, _ in group), merged))
        levels.append(above)
    return n_in, merges, levels


def _repair(merged: Any, samples: Any) -> tuple[float, float, float]:
    """Return the boxes of a model, the seconds of a partition's repair, and the boxes it finds."""
    lost, seconds = _timed(learn_lost, Trained(merged), 0, *samples, None)
    return float(_n(merged)), seconds, 0.0 if lost.model is None else float(_n(lost.model))


def _n(model: Any) -> int:
    return len(model.hyperboxes_)


@dataclass(frozen=True)
class Plan:
    """What a run would take."""

    seconds: float
    looking: float  # until all partitions were looked at
    learning: float  # from then until all have been learned
    merging: float  # after that
    repairing: float  # after that
    work: float  # of all workers
    busy: float  # share of the workers' time
    n_boxes: float
    last_merge: float


class Cluster:
    """Workers, and when each of them is free."""

    def __init__(self, costs: Costs, n_workers: int) -> None:
        self._costs, self._n_workers = costs, n_workers
        self._free = [0.0] * n_workers
        self.work = 0.0

    def run(self, seconds: float, after: float = 0.0) -> float:
        """Have the first worker that is free do something; return when it is done."""
        start = max(after, heapq.heappop(self._free))
        end = start + seconds + self._costs.overhead
        heapq.heappush(self._free, end)
        self.work += seconds + self._costs.overhead
        return end

    def merge(self, level: list[tuple[float, float]]) -> float:
        """Merge models, given when they are there and their numbers of rows, as many boxes."""
        while len(level) > 1:
            above = []
            for group in neighbours(level):
                ready, merged = max(end for end, _ in group), sum(size for _, size in group)
                if len(group) > 1:
                    n_boxes = sum(self._costs.boxes(size) for _, size in group)
                    wait = self.fetch((1 - 1 / len(group)) * n_boxes)
                    ready = self.run(self._costs.merge(n_boxes), ready + wait)
                above.append((ready, merged))
            level = above
        return level[0][0]

    def fetch(self, n_boxes: float) -> float:
        """Return the seconds in which boxes come from another worker."""
        n_bytes = n_boxes * _BYTES_OF_BOX * (2 * self._costs.n_features + 2)
        return n_bytes / self._costs.bandwidth if self._n_workers > 1 else 0.0


def simulate(costs: Costs, n_samples: int, n_parts: int, n_workers: int) -> Plan:
    """Play a run."""
    rows, cluster = n_samples / n_parts, Cluster(costs, n_workers)
    looked = max(cluster.run(costs.look(rows)) for _ in range(n_parts))
    ends = [cluster.run(costs.learn(rows), looked) for _ in range(n_parts)]
    merged = cluster.merge([(end, rows) for end in ends])
    n_boxes = costs.boxes(n_samples)
    cost = costs.look(rows) / 2 + rows * costs.repair(n_boxes)
    start = merged + cluster.fetch(n_boxes)
    repairs = [cluster.run(cost, start) for _ in range(n_parts)]
    # As many boxes as so many rows would make.
    like = (costs.repaired * costs.boxes(rows) / costs.boxes.factor) ** (1 / costs.boxes.exponent)
    repaired = cluster.merge([(end, like) for end in repairs])
    last = costs.merge(n_boxes + costs.boxes(like * n_parts))
    end = cluster.run(costs.finish, cluster.run(last, repaired))
    return Plan(
        seconds=end,
        looking=looked,
        learning=max(ends) - looked,
        merging=merged - max(ends),
        repairing=end - merged,
        work=cluster.work,
        busy=cluster.work / (end * n_workers),
        n_boxes=n_boxes,
        last_merge=last,
    )
