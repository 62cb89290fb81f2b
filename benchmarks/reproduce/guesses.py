"""How many seconds parts take, about: for the time left, and to start the longest first.

They stand apart so that a better guess leaves kept results valid.
"""

from __future__ import annotations

from benchmarks.reproduce import published
from benchmarks.reproduce.learners import AGGLO_SM, Learner


def all_selections(dataset: str) -> float:
    """Guess training on both halves with every selection."""
    n_samples, n_classes = _size(dataset)
    return 0.02 + 1e-4 * n_samples + 1.5e-7 * n_samples**2 / n_classes


def published_order(dataset: str, learner: Learner) -> float:
    """Guess counting in the published order, which sorts long lists again and again."""
    n_samples, n_classes = _size(dataset)
    if learner.algorithm == AGGLO_SM:
        return 0.5 + 4e-10 * n_samples**3 / n_classes
    return 0.2 + 3e-7 * n_samples**2 / n_classes


def timed(dataset: str) -> float:
    """Guess timing every selection in turns."""
    return 0.5 + min(5 * all_selections(dataset), 8.0)


def boxes_validated(dataset: str) -> float:
    """Guess the cross-validation of one of our learners."""
    return 0.05 + 3e-8 * _size(dataset)[0] ** 2


def peer_validated(dataset: str, theta: float) -> float:
    """Guess the cross-validation of hyperbox-brain's; two classes meet often in large boxes."""
    n_samples, n_classes = _size(dataset)
    growth = 25 * theta**3 if n_classes == 2 else 0.0
    return 0.2 + 1e-6 * n_samples**2 * (1 + growth)


def baseline_validated(dataset: str, name: str) -> float:
    """Guess the cross-validation of another classifier."""
    n_samples, _ = _size(dataset)
    if name == "1-nn":
        return 0.05 + 1.5e-7 * n_samples**2
    return 1.5 + 2.5e-3 * n_samples if name == "random-forest" else 0.05 + 1e-4 * n_samples


def _size(dataset: str) -> tuple[int, int]:
    size = published.datasets().loc[dataset]
    return int(size["samples"]), int(size["classes"])
