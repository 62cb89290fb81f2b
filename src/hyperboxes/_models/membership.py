"""`Membership`: the membership function of models that learn, and what kernels get of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperboxes._kernels.records import Metric
from hyperboxes._models.records import MembershipFunction

# What the gaps of the features are combined to.
FUNCTIONS = ("min", "mean")

# What settles ties of classes: the samples of the boxes that tie, or the one of them whose centre,
# or whose corners, are nearest.
TIES = ("counts", "centre", "corners")


@dataclass(frozen=True, eq=False)
class Membership(MembershipFunction):
    """The membership function of a model that learns: ``"min"`` or ``"mean"``.

    `ties` is what settles ties of classes, one of `TIES`.
    """

    gamma: np.ndarray
    function: str
    ties: str = "counts"

    @property
    def metric(self) -> Metric:
        """The same for kernels."""
        return Metric(self.gamma, self.is_mean)

    @property
    def is_mean(self) -> bool:
        """Whether the membership is the mean over the features and not the least."""
        return self.function == "mean"

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
