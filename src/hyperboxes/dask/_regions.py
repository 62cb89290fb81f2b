"""Regions of boosted boxes whose samples stay on the workers, in bins.

For each box a worker writes down in which cells the samples of a partition are: a region, and
whether the box holds them. What comes back is how many samples of each class there are in each
cell. These are whole numbers, so their sums are those of a single process.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hyperboxes._kernels import boosting, drawing
from hyperboxes._learning.regions import Regions, SamplesHere, find_held
from hyperboxes._learning.threads import Threads
from hyperboxes.dask._engine import Engine


class Binned(NamedTuple):
    """A partition in bins, one row for each feature, with the indices of its classes."""

    codes: np.ndarray
    labels: np.ndarray

    def for_kernels(self) -> drawing.Samples:
        """Return the samples without what only a search needs."""
        nothing, ones = np.empty(0, np.int64), np.ones(len(self.labels), np.int64)
        return drawing.Samples(
            self.codes, nothing, self.labels, nothing, ones, np.empty(0, np.uint64)
        )


class Counts(NamedTuple):
    """How many samples of each class there are in some cells."""

    cells: np.ndarray
    table: np.ndarray


class Cut(NamedTuple):
    """A box that cuts regions; `names` are the regions that have come of the cells before."""

    box: boosting.Box
    names: np.ndarray


def cut_partition(binned: Binned, cells: np.ndarray | None, cut: Cut) -> np.ndarray:
    """Return in which cells samples are: twice their region, plus 1 if the box holds them."""
    with Threads(1) as threads:
        held = find_held(binned.for_kernels(), cut.box, threads)
    regions = np.int32(0) if cells is None else cut.names[cells]
    return 2 * regions + held.astype(np.int32)


def count_cells(binned: Binned, cells: np.ndarray, n_cells: int, n_classes: int) -> Counts:
    """Count the samples of a partition by cell and class."""
    places = cells.astype(np.int64) * n_classes + binned.labels
    table = np.bincount(places, minlength=n_cells * n_classes).reshape(n_cells, n_classes)
    present = np.flatnonzero(table.any(axis=1))
    return Counts(present, table[present])


def add_counts(counts: list[Counts]) -> Counts:
    """Add up what was counted in several partitions."""
    cells, places = np.unique(np.concatenate([some.cells for some in counts]), return_inverse=True)
    table = np.zeros((len(cells), counts[0].table.shape[1]), np.int64)
    np.add.at(table, places, np.concatenate([some.table for some in counts]))
    return Counts(cells, table)


def count_held(binned: Binned, boxes: list[boosting.Box], n_classes: int) -> np.ndarray:
    """Count the samples of a partition that each box holds, by class."""
    with Threads(1) as threads:
        return SamplesHere(binned.for_kernels(), None, threads).count_classes(boxes, n_classes)


def add_tables(tables: list[np.ndarray]) -> np.ndarray:
    """Add up tables of several partitions."""
    return np.sum(tables, axis=0)


class SamplesOnWorkers:
    """All samples, in bins on the workers, and here those that boxes are found on.

    `binned` are partitions that are kept, `weights` what a sample of each class weighs, in units,
    and `class_counts` how many there are of each.
    """

    def __init__(
        self,
        engine: Engine,
        binned: list[Any],
        searched: drawing.Samples,
        weights: np.ndarray,
        class_counts: np.ndarray,
    ) -> None:
        self.searched, self.weights, self.class_counts = searched, weights, class_counts
        self._engine, self._binned = engine, binned
        self._cells: list[Any] = []  # of each partition, kept like these; None before the first cut
        self._n_cuts = 0

    def new_regions(self, n_classes: int) -> Regions:
        """Return a single region that holds all samples; those made before are void."""
        self._cells = [None] * len(self._binned)
        return RegionsOnWorkers(self)

    def cut(self, cut: Cut, n_cells: int) -> np.ndarray:
        """Have a box cut regions into cells; return how many samples of each class are in each."""
        self._n_cuts += 1
        shared, engine = self._engine.share(cut), self._engine
        places = [f"{number}-box-{self._n_cuts}" for number in range(len(self._binned))]
        self._cells = engine.keep(
            [
                engine.task(cut_partition, *task, shared)
                for task in zip(places, self._binned, self._cells, strict=True)
            ]
        )
        n_classes = len(self.class_counts)
        counts = [
            engine.task(count_cells, *task, n_cells, n_classes)
            for task in zip(places, self._binned, self._cells, strict=True)
        ]
        found = engine.compute(engine.tree(add_counts, counts), quiet=True)
        table = np.zeros((n_cells, n_classes), np.int64)
        table[found.cells] = found.table
        return table

    def count_classes(self, boxes: list[boosting.Box], n_classes: int) -> np.ndarray:
        """Return how many samples of each class each box holds."""
        if not boxes:
            return np.zeros((0, n_classes), np.int64)
        shared, engine = self._engine.share(boxes), self._engine
        tables = [
            engine.task(count_held, f"{number}", part, shared, n_classes)
            for number, part in enumerate(self._binned)
        ]
        return engine.compute(engine.tree(add_tables, tables), quiet=True)

    def let_go(self) -> None:
        """Have the workers forget the samples, whoever still has this object."""
        self._binned.clear()
        self._cells.clear()


class RegionsOnWorkers(Regions):
    """Regions of samples on the workers, numbered as `RegionsHere` numbers them."""

    def __init__(self, everyone: SamplesOnWorkers) -> None:
        self._everyone = everyone
        self._names = np.zeros(1, np.int32)  # the regions that have come of the cells
        self._of_searched = np.zeros(len(everyone.searched.labels), np.int32)
        super().__init__(everyone.class_counts * everyone.weights)

    @property
    def of_searched(self) -> np.ndarray:
        """The region of each sample that boxes are found on."""
        return self._of_searched

    def _cut(self, box: boosting.Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n_regions, n_classes = self.table.scores.shape
        counts = self._everyone.cut(Cut(box, self._names), 2 * n_regions)
        seen = np.any(counts.reshape(n_regions, 2, n_classes), axis=2)
        parents = np.flatnonzero(np.all(seen, axis=1))
        names = np.repeat(np.arange(n_regions, dtype=np.int32)[:, np.newaxis], 2, axis=1)
        names[parents, 1] = n_regions + np.arange(len(parents))
        self._names = names.ravel()
        with Threads(1) as threads:
            held = find_held(self._everyone.searched, box, threads)
        self._of_searched = self._names[2 * self._of_searched + held]
        masses = np.zeros((n_regions + len(parents), n_classes), np.int64)
        np.add.at(masses, self._names, counts * self._everyone.weights)
        inside = np.concatenate([~seen[:, 0], np.ones(len(parents), np.bool_)])
        return parents, inside, masses

    def _rename(self, names: np.ndarray) -> None:
        self._names = names[self._names]
        self._of_searched = names[self._of_searched]
