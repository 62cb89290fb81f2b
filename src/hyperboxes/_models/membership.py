"""`Membership`: the membership function of models that learn, and what kernels get of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperboxes._kernels.structs import Metric
from hyperboxes._models.records import MembershipFunction

# What the gaps of the features are combined to.
FUNCTIONS = ("min", "mean")


@dataclass(frozen=True, eq=False)
class Membership(MembershipFunction):
    """The membership function of a model that learns: ``"min"`` or ``"mean"``.

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
