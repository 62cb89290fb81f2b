"""The parts an experiment consists of: each is computed, kept and shown by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# What a part yields: numbers by name, as JSON keeps them.
Result = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """A learner on a data set; `compute` is a function of a module, called in another process.

    `seconds` is a rough guess. `is_ours` says that the package is measured, not another one, and
    `is_timed` that nothing else may run meanwhile.
    """

    experiment: str
    dataset: str
    learner: str
    compute: Callable[..., Result]
    arguments: tuple[Any, ...]
    seconds: float
    theta: float | None = None
    is_ours: bool = True
    is_timed: bool = False

    @property
    def key(self) -> str:
        """The name under which the result is kept."""
        theta = () if self.theta is None else (f"theta {self.theta}",)
        return ": ".join((self.experiment, self.dataset, self.learner, *theta))

    def __call__(self) -> Result:
        """Compute the result."""
        return self.compute(*self.arguments)


# Finished parts.
Results = list[tuple[Cell, Result]]
