"""`EnsembleModel`: what an ensemble has learned, and what it says of samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, Self

import numpy as np

from hyperboxes._kernels import members as kernels
from hyperboxes._kernels.members import LANES, SAMPLES, Members
from hyperboxes._models.codes import Codes
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.members import Layout, Member, Voting, pack
from hyperboxes._models.vote_calibration import VoteCalibration, take_logs


@dataclass(frozen=True, eq=False)
class EnsembleModel:
    """The codes of values, the members in these codes, and what their votes stand for.

    `n_samples` is how many training samples there were of each class, or what they weighed. Without
    a calibration, probabilities are the votes. `layouts` are those of the members, if known.
    """

    codes: Codes
    members: list[Member]
    voting: Voting
    n_samples: np.ndarray
    calibration: VoteCalibration | None
    packed: Members = field(init=False, repr=False)
    layouts: InitVar[Sequence[Layout] | None] = None

    def __post_init__(self, layouts: Sequence[Layout] | None) -> None:
        packed = pack(self.members, self.n_classes, self.voting, layouts)
        object.__setattr__(self, "packed", packed)

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        """Leave out what follows from the members."""
        return type(self), (
            self.codes,
            self.members,
            self.voting,
            self.n_samples,
            self.calibration,
        )

    @property
    def n_classes(self) -> int:
        """How many labels there are."""
        return len(self.n_samples)

    @property
    def n_boxes(self) -> int:
        """How many boxes the members have."""
        return sum(len(member.labels) for member in self.members)

    def predict(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes for samples in the units of the data."""
        votes = ask(self.packed, *self.codes.encode(lower, upper), self.n_classes)
        return self.probabilities(votes / len(self.members))

    def probabilities(self, votes: np.ndarray) -> np.ndarray:
        """Return what probabilities votes stand for, of which each row sums to 1."""
        if self.calibration is None:
            return votes
        return self.calibration.apply(take_logs(votes), find_shares(self.n_samples))

    def hyperboxes(self) -> Iterator[Hyperboxes]:
        """Yield the boxes of each member in the units of the data, over the features it knows."""
        for member in self.members:
            ends = self.codes.decode(member.lower, member.upper, member.features)
            yield Hyperboxes(*ends, member.labels.copy(), member.counts.copy())


def ask(members: Members, low: np.ndarray, high: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the members' votes on samples in codes, added up in the order of the members."""
    votes = np.zeros((len(low), n_classes))
    room = (np.empty((SAMPLES, size), np.uint16) for size in (LANES, n_classes))
    n_members = len(members.first_groups) - 1
    codes = [np.ascontiguousarray(end.T) for end in ((low,) if low is high else (low, high))]
    kernels.add_votes(codes[0], codes[-1], members, 0, n_members, 0, len(low), *room, votes)
    return votes


def find_shares(n_samples: np.ndarray) -> np.ndarray:
    """Return the classes' shares of samples."""
    return n_samples / n_samples.sum()
