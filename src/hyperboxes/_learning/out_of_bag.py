"""What members say of the training samples that they did not draw, and how right they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from hyperboxes._learning.members import CodedSamples, Learned, Lesson


class OutOfBag(NamedTuple):
    """Votes or probabilities of copies of samples that some members did not draw.

    `copies` says which ones these are, `y` and `weights` are their classes and weights.
    """

    copies: np.ndarray
    values: np.ndarray
    y: np.ndarray
    weights: np.ndarray

    def score(self) -> float:
        """Return the share of copies whose class has the largest value; NaN if there are none."""
        if not len(self.y):
            return np.nan
        return float(np.average(self.values.argmax(axis=1) == self.y, weights=self.weights))

    def by_sample(self, rows: np.ndarray, n_samples: int) -> np.ndarray:
        """Return the mean values of each sample's copies; NaN if none is known.

        `rows` are the samples that all copies are of.
        """
        rows = rows[self.copies]
        total = np.bincount(rows, self.weights, n_samples)
        found = np.full((n_samples, self.values.shape[1]), np.nan)
        is_known = total > 0
        for c, values in enumerate(self.values.T):
            sums = np.bincount(rows, self.weights * values, n_samples)
            found[is_known, c] = sums[is_known] / total[is_known]
        return found


def collect(lessons: Iterable[Lesson], samples: CodedSamples) -> tuple[list[Learned], OutOfBag]:
    """Return the members, and the mean of their votes on each copy, added up in their order.

    Votes are added up as they come: of all members, they would take much memory.
    """
    members = []
    votes, n_members = np.zeros((len(samples.y), samples.n_classes)), np.zeros(len(samples.y))
    for learned, left_out, said in lessons:
        members.append(learned)
        votes[left_out] += said
        n_members[left_out] += 1
    known = np.flatnonzero(n_members)
    votes = votes[known] / n_members[known, np.newaxis]
    return members, OutOfBag(known, votes, samples.y[known], samples.counted[known])
