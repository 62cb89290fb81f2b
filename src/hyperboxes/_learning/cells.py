"""Regions of samples that lie in the same boxes: what is known of each, and which boxes hold it.

Boosting asks all samples three things only: which regions a box cuts, how much each class weighs in
them, and, in the end, how many samples each box holds. So they need not be in this process.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol

import numpy as np

from hyperboxes._kernels import additive, boosting
from hyperboxes._learning.bins import in_batches
from hyperboxes._learning.steps import Threads


class Cells(ABC):
    """The regions that boxes cut all samples into.

    `table` has the scores and the weights of the classes in each region, and `members`, where boxes
    are added, which regions each of them holds. Where the samples are is up to subclasses.
    """

    def __init__(self, masses: np.ndarray) -> None:
        self.table = additive.Cells(np.zeros((1, len(masses))), masses[np.newaxis])
        self.members = np.empty((0, 1), np.bool_)

    @property
    @abstractmethod
    def of_searched(self) -> np.ndarray:
        """The region of each sample that boxes are found on."""

    @abstractmethod
    def _cut(self, box: boosting.Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Move samples that a box holds, of regions that have others, to new regions.

        Returns the old region of each new one, whether the box holds each region, old and new, and
        what each class weighs in them.
        """

    @abstractmethod
    def _rename(self, names: np.ndarray) -> None:
        """Give regions other numbers; those that get the same one are joined."""

    def split(self, box: boosting.Box) -> np.ndarray:
        """Part the regions that a box cuts, with the same scores; return whether it holds each."""
        scores = self.table.scores
        parents, inside, masses = self._cut(box)
        self.table = additive.Cells(np.concatenate([scores, scores[parents]]), masses)
        self.members = np.concatenate([self.members, self.members[:, parents]], axis=1)
        return inside

    def add(self, box: boosting.Box) -> None:
        """Split regions by a new box and keep which of them it holds."""
        inside = self.split(box)
        self.members = np.concatenate([self.members, inside[np.newaxis]])

    def replace(self, place: int, box: boosting.Box) -> None:
        """Put a box in the place of another, and join the regions that only that one parted.

        Their scores are to be set anew.
        """
        self.members[place] = self.split(box)
        _, first, joined = np.unique(
            np.packbits(self.members, axis=0), axis=1, return_index=True, return_inverse=True
        )
        names = joined.reshape(-1).astype(np.int32)
        self._rename(names)
        scores = self.table.scores[first]
        masses = np.zeros(scores.shape, np.int64)
        np.add.at(masses, names, self.table.masses)
        self.table = additive.Cells(scores, masses)
        self.members = np.ascontiguousarray(self.members[:, first])

    def add_up(
        self, intercepts: np.ndarray, votes_of_boxes: np.ndarray, but: int | None = None
    ) -> np.ndarray:
        """Return the scores that intercepts and votes make, without those of one box if named."""
        scores = np.tile(intercepts, (self.members.shape[1], 1))
        for place, (inside, row) in enumerate(zip(self.members, votes_of_boxes, strict=True)):
            if place != but:
                scores[inside] += row
        return scores


class SampleStore(Protocol):
    """All samples, wherever they are."""

    def new_regions(self, n_classes: int) -> Cells:
        """Return a single region that holds all samples."""

    def count_classes(self, boxes: list[boosting.Box], n_classes: int) -> np.ndarray:
        """Return how many samples of each class each box holds."""


class LocalSamples(NamedTuple):
    """All samples in this process. Boxes are found on those in some places, None for all."""

    samples: boosting.Samples
    places: np.ndarray | None
    threads: Threads

    def new_regions(self, n_classes: int) -> Cells:
        """Return a single region that holds all samples."""
        return LocalCells(*self, n_classes)

    def count_classes(self, boxes: list[boosting.Box], n_classes: int) -> np.ndarray:
        """Return how many samples of each class each box holds."""
        table = np.zeros((len(boxes), n_classes), np.int64)
        for box, counts in zip(boxes, table, strict=True):
            held = find_contained(self.samples, box, self.threads)
            counts += np.bincount(
                self.samples.labels[held], self.samples.counts[held], n_classes
            ).astype(np.int64)
        return table


class LocalCells(Cells):
    """Regions of samples in this process."""

    def __init__(
        self,
        samples: boosting.Samples,
        places: np.ndarray | None,
        threads: Threads,
        n_classes: int,
    ) -> None:
        self._samples, self._places, self._threads = samples, places, threads
        self._of_samples = np.zeros(len(samples.labels), np.int32)
        super().__init__(self._masses(1, n_classes)[0])

    @property
    def of_searched(self) -> np.ndarray:
        """The region of each sample that boxes are found on."""
        return self._of_samples if self._places is None else self._of_samples[self._places]

    def _cut(self, box: boosting.Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n_regions, n_classes = self.table.scores.shape
        held = find_contained(self._samples, box, self._threads)
        cut = 2 * self._of_samples + held
        seen = np.bincount(cut, minlength=2 * n_regions).reshape(n_regions, 2) > 0
        parents, names, inside = split_names(seen)
        self._of_samples = names[cut]
        return parents, inside, self._masses(len(inside), n_classes)

    def _rename(self, names: np.ndarray) -> None:
        self._of_samples = names[self._of_samples]

    def _masses(self, n_regions: int, n_classes: int) -> np.ndarray:
        masses = np.zeros((n_regions, n_classes), np.int64)
        additive.add_masses(self._samples, self._of_samples, masses)
        return masses


def split_names(seen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return new numbers of regions that a box cuts: its samples leave regions that have others.

    `seen[region]` is whether a region has samples outside the box, and inside. Returns the old
    region of each new one, the numbers of what is outside and inside each region, one after the
    other, and whether the box holds each region, old and new.
    """
    n_regions = len(seen)
    parents = np.flatnonzero(seen.all(axis=1))
    names = np.repeat(np.arange(n_regions, dtype=np.int32), 2)
    names[2 * parents + 1] = n_regions + np.arange(len(parents))
    inside = np.concatenate([~seen[:, 0], np.ones(len(parents), np.bool_)])
    return parents, names, inside


def find_contained(samples: boosting.Samples, box: boosting.Box, threads: Threads) -> np.ndarray:
    """Return which samples a box holds."""
    held = np.empty(len(samples.labels), np.bool_)

    def mark(start: int, stop: int) -> None:
        additive.mark_contained(samples.codes, box, start, stop, held)

    in_batches(mark, len(held), threads)
    return held
