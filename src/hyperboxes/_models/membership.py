"""How far samples are from boxes, and what membership that makes: for all who read a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperboxes._kernels.records import Metric

# What the gaps of the features are combined to.
FUNCTIONS = ("min", "mean")


@dataclass(frozen=True, eq=False)
class Membership:
    """The membership function of a fitted model, the same numbers as the kernels compute.

    With gaps g from the faces of a box, 0 inside, in the learner's units, it is the least of
    ``1 - gamma * g`` over the features (``"min"``) or their mean (``"mean"``), each clipped at 0.
    """

    gamma: np.ndarray
    function: str

    @property
    def metric(self) -> Metric:
        """The same for kernels."""
        return Metric(self.gamma, self.is_mean)

    @property
    def is_mean(self) -> bool:
        """Whether all features count, and not only the one in which a sample misses most."""
        return self.function == "mean"

    def distance(self, gaps: np.ndarray) -> np.ndarray:
        """Combine the gaps along the last axis; NaN, for what is not known, is no gap.

        Where all features are beyond the reach of membership, the distance is more than 1.
        """
        slopes = np.fmax(gaps * self.gamma, 0.0)
        if not self.is_mean:
            return slopes.max(axis=-1)
        clipped, total = sum_in_order(np.fmin(slopes, 1.0)), sum_in_order(slopes)
        n_features = gaps.shape[-1]
        return np.where(clipped < n_features, clipped, np.maximum(total, n_features)) / n_features

    def degree(self, gaps: np.ndarray) -> np.ndarray:
        """Return the memberships."""
        return 1.0 - np.minimum(self.distance(gaps), 1.0)

    def slopes(self, gaps: np.ndarray) -> np.ndarray:
        """Return how far a sample misses a box in each feature, by which features are compared.

        They are 0 inside, in what is not known, and where they are lost to rounding: in a feature
        that takes nothing from 1, and in all features of a sample that is a full member.
        """
        slopes = np.fmax(gaps * self.gamma, 0.0)
        is_lost = (1.0 - slopes == 1.0) | (self.degree(gaps)[..., None] == 1.0)
        return np.where(is_lost, 0.0, slopes)

    def degree_alone(self, gaps: np.ndarray) -> np.ndarray:
        """Return for each gap the membership if there were none in the other features."""
        share = len(self.gamma) if self.is_mean else 1
        return 1.0 - np.fmin(np.fmax(gaps * self.gamma, 0.0), 1.0) / share

    def floor(self, theta: float, size: str = "max") -> float:
        """Return the least membership of what can join a box under the lemma.

        Its gap is at most `theta` in every feature, so it is the membership of what misses the box
        by that everywhere. Added up like any other, it is not lost to rounding. If the gaps are at
        most `theta` on average (`size` "sum"), sums in another order may round differently.
        """
        n_features = len(self.gamma)
        if size == "sum" and not self.is_mean:
            theta = n_features * theta  # one gap may be all
        elif size == "sum":
            return float(1.0 - theta * self.gamma.max() * (1.0 + n_features * 2.0**-50))
        if not self.is_mean:
            return 1.0 - theta * float(self.gamma.max())
        return float(self.degree(np.full(len(self.gamma), theta)))


def closeness(distance: np.ndarray) -> np.ndarray:
    """Rank boxes: the membership, and beyond its reach, where it is 0, minus the distance."""
    return np.where(distance < 1.0, 1.0 - distance, -distance)


def sum_in_order(values: np.ndarray) -> np.ndarray:
    """Add up along the last axis in the order of the features, which `np.sum` does not."""
    return np.add.accumulate(values, axis=-1)[..., -1]
