"""The layout of the members of an ensemble for kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperboxes._kernels.members import Members
from hyperboxes._models.records import EnsembleMember, vote_table

# Where no distance can be larger, hardly a class is farther than a byte can tell.
_SHORT = 4 * 255


@dataclass(frozen=True)
class Voting:
    """How a member's distances become its votes: the largest code and `vote_table`'s parameter."""

    levels: int
    temperature: float


def pack(members: Sequence[EnsembleMember], n_classes: int, voting: Voting) -> Members:
    """Lay out the boxes of members for kernels."""
    farthest = [member.farthest(voting.levels) for member in members]
    tables = sorted(set(farthest))
    weights = np.zeros((len(tables), tables[-1] + 1))
    for row, most in zip(weights, tables, strict=True):
        row[: most + 1] = vote_table(most, voting.temperature)
    ends = [_by_class(member) for member in members]
    n_boxes = (np.bincount(member.labels, minlength=n_classes) for member in members)
    return Members(
        ends=np.concatenate(ends),
        starts=_starts([len(of_member) for of_member in ends]),
        first_boxes=np.array([_starts(numbers) for numbers in n_boxes]),
        features=np.concatenate([member.features for member in members]),
        first_features=_starts([len(member.features) for member in members]),
        is_mean=np.array([member.combine == "sum" for member in members]),
        is_short=np.array(farthest) <= _SHORT,
        rows=np.searchsorted(tables, farthest),
        weights=weights,
    )


def _by_class(member: EnsembleMember) -> np.ndarray:
    """Return the ends of a member's boxes, sorted by class: lower, upper, of the next feature."""
    order = np.argsort(member.labels, kind="stable")
    ends = np.empty((*member.lower.shape, 2), np.uint8)
    ends[..., 0], ends[..., 1] = member.lower[order], member.upper[order]
    return ends.ravel()


def _starts(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return where pieces of these sizes begin, one after the other, and where the last ends."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts
