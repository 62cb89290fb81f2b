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
from hyperboxes.dask._survey import look_at_partition

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
    """What work takes, in seconds, by the number of rows or boxes; and how many boxes there are."""

    look: Power  # rows of a partition
    learn: Power  # rows of a partition
    merge: Power  # boxes that come in
    boxes: Power  # of a model merged from so many rows
    n_features: int
    overhead: float = 0.002  # of a task
    bandwidth: float = 1e9  # bytes a second


def measure(model: Any, n_features: int, rows: int, n_parts: int, spread: float) -> Costs:
    """Learn some partitions here and merge them, as workers would."""
    ranges = np.array([draw(number, rows, n_features, spread)[0] for number in range(2)])
    low, high = ranges.min(axis=(0, 1)), ranges.max(axis=(0, 1))
    alike = clone(model).set_params(scaling=[low, high], calibrate=False)
    sizes, looks, learns, models = [], [], [], []
    for number in range(n_parts):
        # Some are smaller, to learn how costs grow.
        size = rows if number >= 4 else rows // 2 ** (3 - number)
        times = [time.perf_counter()]
        X, y = draw(number, size, n_features, spread)
        times.append(time.perf_counter())
        look_at_partition(clone(alike), number, X, y, None)
        times.append(time.perf_counter())
        learned = clone(alike).fit(X, y)
        times.append(time.perf_counter())
        reading, looking, learning = np.diff(times)
        sizes.append(float(size))
        looks.append(reading + looking)  # both passes read the partition
        learns.append(reading + learning)
        models.append((size, learned))
    n_in, merges, n_rows, n_boxes = [], [], sizes.copy(), [float(_n(m)) for _, m in models]
    level = models
    while len(level) > 1:
        above = []
        for group in neighbours(level):
            if len(group) == 1:
                above.append(group[0])
                continue
            start = time.perf_counter()
            merged = merge([learned for _, learned in group])
            merges.append(time.perf_counter() - start)
            n_in.append(float(sum(_n(learned) for _, learned in group)))
            above.append((sum(size for size, _ in group), merged))
            n_rows.append(float(above[-1][0]))
            n_boxes.append(float(_n(merged)))
        level = above
    return Costs(
        Power.fit(sizes, looks),
        Power.fit(sizes, learns),
        Power.fit(n_in, merges),
        Power.fit(n_rows, n_boxes),
        n_features,
    )


def _n(model: Any) -> int:
    return len(model.hyperboxes_)


@dataclass(frozen=True)
class Plan:
    """What a run would take."""

    seconds: float
    looking: float  # until all partitions were looked at
    learning: float  # from then until all have been learned
    merging: float  # after that
    busy: float  # share of the workers' time
    n_boxes: float
    last_merge: float


def simulate(costs: Costs, n_samples: int, n_parts: int, n_workers: int) -> Plan:
    """Play a run."""
    rows = n_samples / n_parts
    looking = -(-n_parts // n_workers) * (costs.look(rows) + costs.overhead)
    free = [looking] * n_workers  # when each worker is
    heapq.heapify(free)
    work, level = 0.0, []
    for _ in range(n_parts):
        start = heapq.heappop(free)
        end = start + costs.learn(rows) + costs.overhead
        heapq.heappush(free, end)
        work += end - start
        level.append((end, rows))
    learned = max(end for end, _ in level)
    last = 0.0
    while len(level) > 1:
        above = []
        for group in neighbours(level):
            ready, merged = max(end for end, _ in group), sum(size for _, size in group)
            if len(group) > 1:
                n_boxes = sum(costs.boxes(size) for _, size in group)
                fetched = n_boxes * _BYTES_OF_BOX * (2 * costs.n_features + 2)
                wait = (1 - 1 / len(group)) * fetched / costs.bandwidth if n_workers > 1 else 0.0
                last = costs.merge(n_boxes) + wait + costs.overhead
                begin = max(ready, heapq.heappop(free))
                ready = begin + last
                heapq.heappush(free, ready)
                work += last
            above.append((ready, merged))
        level = above
    end = level[0][0]
    return Plan(
        seconds=end,
        looking=looking,
        learning=learned - looking,
        merging=end - learned,
        busy=(work + looking * n_workers) / (end * n_workers),
        n_boxes=costs.boxes(n_samples),
        last_merge=last,
    )
