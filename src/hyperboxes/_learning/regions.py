"""Regions of samples that lie in the same boxes: what is known of each, and which boxes hold it."""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels import drawing, votes


class Regions:
    """The regions that boxes cut the samples into.

    `of_samples` has the region of each sample, `table` the scores and the weights of the classes in
    each region, and `members`, where boxes are added, which regions each of them holds.
    """

    def __init__(self, samples: drawing.Samples, n_classes: int) -> None:
        self._samples = samples
        self.of_samples = np.zeros(len(samples.labels), np.int32)
        self.table = votes.Regions(np.zeros((1, n_classes)), self._masses(1, n_classes))
        self.members = np.empty((0, 1), np.bool_)

    def _masses(self, n_regions: int, n_classes: int) -> np.ndarray:
        masses = np.zeros((n_regions, n_classes), np.int64)
        votes.add_masses(self._samples, self.of_samples, masses)
        return masses

    def split(self, held: np.ndarray) -> np.ndarray:
        """Part the regions that a box cuts, with the same scores; return whether it holds each.

        `held` says which samples it holds.
        """
        scores = self.table.scores
        parents, inside = votes.split_regions(self.of_samples, held, len(scores))
        self.table = votes.Regions(
            np.concatenate([scores, scores[parents]]),
            self._masses(len(inside), scores.shape[1]),
        )
        self.members = np.concatenate([self.members, self.members[:, parents]], axis=1)
        return inside

    def add(self, held: np.ndarray) -> None:
        """Split regions by a new box and keep which of them it holds."""
        inside = self.split(held)
        self.members = np.concatenate([self.members, inside[np.newaxis]])

    def replace(self, place: int, held: np.ndarray) -> None:
        """Put a box in the place of another, and join the regions that only that one parted.

        Their scores are to be set anew.
        """
        inside = self.split(held)
        self.members[place] = inside
        _, first, joined = np.unique(
            np.packbits(self.members, axis=0), axis=1, return_index=True, return_inverse=True
        )
        self.of_samples = joined.reshape(-1).astype(np.int32)[self.of_samples]
        scores = self.table.scores[first]
        self.table = votes.Regions(scores, self._masses(*scores.shape))
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
