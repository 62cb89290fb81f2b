"""How many seconds parts take, about: for the time left, and to start the longest first.

They stand apart so that a better guess leaves kept results valid.
"""

from __future__ import annotations

from benchmarks.reproduce import published


def all_selections(dataset: str) -> float:
    """Guess training on both halves with every selection."""
    size = published.datasets().loc[dataset]
    return 0.02 + 1.5e-7 * size["samples"] ** 2 / size["classes"]


def timed(dataset: str) -> float:
    """Guess timing every selection in turns."""
    return 0.4 + min(5 * all_selections(dataset), 8.0)


def boxes_validated(dataset: str) -> float:
    """Guess the cross-validation of one of our learners."""
    return 0.1 + 5e-8 * _samples(dataset) ** 2


def peer_validated(dataset: str) -> float:
    """Guess the cross-validation of hyperbox-brain's."""
    return 0.2 + 1.5e-6 * _samples(dataset) ** 2


def baseline_validated(dataset: str) -> float:
    """Guess the cross-validation of another classifier."""
    return 2 + 1e-3 * _samples(dataset)


def _samples(dataset: str) -> int:
    return int(published.datasets().loc[dataset, "samples"])
