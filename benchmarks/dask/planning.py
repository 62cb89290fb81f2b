"""A model of the cluster: measured costs of partitions and merges, played on any number of workers.

A worker that is free does what is ready, merges before partitions, as Dask does. It is checked
against real runs before it is believed.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.dask.costs import Costs
from benchmarks.dask.running import Dispatch
from hyperboxes._estimators.merge import neighbours

# The network, the only number that is not measured: ten gigabits a second.
_BYTES_A_SECOND = 1.25e9

# Dask's tasks that make samples and labels of a partition: together, and each of the two.
_N_READS = 3


@dataclass(eq=False)
class Task:
    """A piece of work: what it takes, how many partitions it stands for, and who waits for it."""

    kind: str
    seconds: float
    reading: float = 0.0
    n_parts: int = 1
    is_merge: bool = False
    n_calls: int = 1  # of Dask
    waits_for: int = 0
    then: Task | None = None
    end: float = 0.0


@dataclass
class Plan:
    """What a run would take, and processor seconds of all workers by kind of work."""

    seconds: float
    looking: float  # until all partitions were looked at
    learning: float  # from then until all have been learned
    merging: float  # after that
    repairing: float  # after that, until all have learned what was lost
    finishing: float  # after that
    n_boxes: float
    last_merge: float
    n_workers: int
    spent: Counter[str] = field(default_factory=Counter)

    @property
    def work(self) -> float:
        """Processor seconds of all workers."""
        return sum(self.spent.values())

    @property
    def busy(self) -> float:
        """Share of the workers' time."""
        return self.work / (self.seconds * self.n_workers)


class Cluster:
    """Workers, and what they have done."""

    def __init__(self, dispatch: Dispatch, n_workers: int) -> None:
        self._dispatch, self._n_workers = dispatch, n_workers
        self.now = 0.0
        self.spent: Counter[str] = Counter()

    def run(self, tasks: list[Task]) -> float:
        """Do tasks, and what waits for them; return when the last that is no merge has ended.

        The scheduler hands out one after the other, which may take longer than the work.
        """
        start, last_leaf = self.now, 0.0
        ready = [(not task.is_merge, place, task) for place, task in enumerate(tasks)]
        heapq.heapify(ready)
        working: list[tuple[float, int, Task]] = []
        number, handed_out = len(tasks), start
        while ready or working:
            while ready and len(working) < self._n_workers:
                task = heapq.heappop(ready)[2]
                handed_out = max(handed_out, start) + task.n_calls * self._dispatch.scheduler
                task.end = max(self.now, handed_out) + self._spend(task)
                number += 1
                heapq.heappush(working, (task.end, number, task))
            self.now, _, task = heapq.heappop(working)
            if not task.is_merge:
                last_leaf = self.now
            if task.then is not None:
                task.then.waits_for -= 1
                if task.then.waits_for == 0:
                    number += 1
                    heapq.heappush(ready, (not task.then.is_merge, number, task.then))
        return last_leaf

    def _spend(self, task: Task) -> float:
        calling = task.n_calls * self._dispatch.worker
        self.spent[task.kind] += task.seconds
        self.spent["read"] += task.reading
        self.spent["Dask"] += calling
        return task.seconds + task.reading + calling


def simulate(
    costs: Costs, dispatch: Dispatch, n_samples: int, n_parts: int, n_workers: int
) -> Plan:
    """Play a run."""
    rows, cluster = n_samples / n_parts, Cluster(dispatch, n_workers)
    read, n_calls = costs.read(rows), _N_READS + 1
    looks = [Task("look", costs.look(rows), read, n_calls=n_calls) for _ in range(n_parts)]
    cluster.run(looks)
    looked = cluster.now
    parts = [Task("learn", costs.learn(rows), read, n_calls=n_calls) for _ in range(n_parts)]
    own = costs.boxes(rows)
    _plant(costs, n_workers, parts, lambda n_merged: own * costs.growth(n_merged))
    learned = cluster.run(parts)
    merged = cluster.now
    n_boxes = own * costs.growth(n_parts)
    cluster.now += _fetch(costs, n_workers, n_boxes) * math.ceil(math.log2(n_workers))
    n_lost = rows * costs.lost(n_parts)
    asking = rows * costs.hold(n_boxes) + n_lost * costs.relearn(n_boxes)
    parts = [Task("repair", asking, read, n_calls=n_calls) for _ in range(n_parts)]
    found = n_lost * costs.found(n_parts)
    _plant(costs, n_workers, parts, lambda n_merged: found * costs.regrowth(n_merged))
    repaired = cluster.run(parts)
    n_in = n_boxes + found * costs.regrowth(n_parts)
    last = n_in * costs.merge(n_in)
    cluster.run([Task("merge", last, is_merge=True)])
    cluster.run([Task("finish", costs.finish, is_merge=True)])
    return Plan(
        seconds=cluster.now,
        looking=looked,
        learning=learned - looked,
        merging=merged - learned,
        repairing=repaired - merged,
        finishing=cluster.now - repaired,
        n_boxes=costs.kept * n_in,
        last_merge=last,
        n_workers=n_workers,
        spent=cluster.spent,
    )


def _plant(
    costs: Costs, n_workers: int, level: list[Task], n_boxes: Callable[[int], float]
) -> None:
    """Have merges wait for tasks, given how many boxes models of so many partitions have."""
    while len(level) > 1:
        above = []
        for group in neighbours(level):
            if len(group) == 1:
                above += group
                continue
            n_in = sum(n_boxes(task.n_parts) for task in group)
            fetching = _fetch(costs, n_workers, (1 - 1 / len(group)) * n_in)
            n_merged = sum(task.n_parts for task in group)
            merge = Task(
                "merge", n_in * costs.merge(n_in) + fetching, n_parts=n_merged, is_merge=True
            )
            merge.waits_for = len(group)
            for task in group:
                task.then = merge
            above.append(merge)
        level = above


def _fetch(costs: Costs, n_workers: int, n_boxes: float) -> float:
    """Return the seconds in which boxes come from another worker."""
    n_bytes = 8 * (2 * costs.n_features + 3) * n_boxes
    return (n_bytes / _BYTES_A_SECOND + n_boxes * costs.carry) if n_workers > 1 else 0.0
