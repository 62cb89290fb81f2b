"""Weights of samples as copies: a weight of 2 is the sample twice, one of 0.5 half the time.

Each member draws among the copies. One that stands for the rest of a weight is there for as many
members as that says, and counts so much where members are asked about samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Each copy has a number, and members draw among them all.
_MOST_COPIES = 10**8


class Copies(NamedTuple):
    """The samples that copies are of, in ascending order, and the weights of copies, at most 1.

    Without `weights`, all are 1.
    """

    rows: np.ndarray
    weights: np.ndarray | None

    def of(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the codes of copies, given those of samples; points still share one array."""
        copied = np.take(low.T, self.rows, axis=1).T
        return copied, copied if high is low else np.take(high.T, self.rows, axis=1).T


def copy_by_weight(weights: np.ndarray) -> Copies:
    """Return samples as often as they weigh, and once more for what is left of a weight."""
    n_copies = np.ceil(weights)
    if (total := n_copies.sum()) > _MOST_COPIES:
        raise ValueError(
            f"sample_weight sums up to {weights.sum():g}, and weights count samples: a weight of 2 "
            f"is the sample twice. There may be {_MOST_COPIES:,} of them: divide the weights by "
            f"{np.ceil(total / _MOST_COPIES):.0f} or more."
        )
    rows = np.repeat(np.arange(len(weights)), n_copies.astype(np.int64))
    has_rest = weights < n_copies
    if not has_rest.any():
        return Copies(rows, None)
    counted = np.ones(len(rows))
    lasts = np.cumsum(n_copies).astype(np.int64) - 1
    counted[lasts[has_rest]] = (weights - np.floor(weights))[has_rest]
    return Copies(rows, counted)
