"""`VoteCalibration`: what probabilities the votes of an ensemble stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Votes are told apart down to this share.
_LEAST_SHARE = 0.001


@dataclass(frozen=True)
class VoteCalibration:
    """Three numbers: the power of the votes, that of the classes' shares, and how much to doubt.

    Probabilities are ``(1 - doubt) q + doubt * share``, where q is in proportion to ``votes **
    power * share ** share_power``.
    """

    power: float
    share_power: float
    doubt: float

    def apply(self, log_votes: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Return the probabilities that votes, by their logarithms, stand for."""
        scores = self.power * log_votes + self.share_power * np.log(shares)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely = odds / odds.sum(axis=1, keepdims=True)
        return (1.0 - self.doubt) * likely + self.doubt * shares


def take_logs(votes: np.ndarray) -> np.ndarray:
    """Return the logarithms of votes, of which each row sums to 1."""
    return np.log(votes + _LEAST_SHARE)
