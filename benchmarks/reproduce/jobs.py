"""The parts of an experiment: computed in worker processes, the longest first, and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from benchmarks.harness import Kept, digest, progress

# What a part yields: numbers by name, as JSON keeps them.
Result = dict[str, Any]

# Modules of `reproduce` that results depend on.
_MEASURE = ("experiments", "learners", "loading", "tie_order", "old_argsort")


@dataclass(frozen=True)
class Cell:
    """A learner on a data set; `compute` is a function of a module, called in another process.

    `seconds` is a rough guess. `is_ours` is whether the package is measured, not another one, and
    `is_timed` whether nothing else may run meanwhile.
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


class Store:
    """Results by part, in a file to which every finished part is added at once.

    A result counts as long as the code that it depends on is unchanged: the package, if it is
    what the part measures, and the modules of the experiment.
    """

    def __init__(self, path: Path, data: str) -> None:
        self._kept = Kept(path)
        self._data = data

    def __contains__(self, cell: Cell) -> bool:
        return self._key(cell) in self._kept

    def __getitem__(self, cell: Cell) -> Result:
        result: Result = self._kept[self._key(cell)]
        return result

    def add(self, cell: Cell, result: Result) -> None:
        """Keep a result."""
        self._kept[self._key(cell)] = result

    def _key(self, cell: Cell) -> str:
        sources = digest(*(f"reproduce/{name}" for name in _MEASURE))
        return f"{cell.key}: {sources}{digest() if cell.is_ours else ''}: {self._data}"


def run(cells: Iterable[Cell], store: Store, title: str, jobs: int = -1) -> list[str]:
    """Compute what the store does not contain yet, the longest first; return what failed, and why.

    Each process has one thread.
    """
    missing = sorted((cell for cell in cells if cell not in store), key=lambda cell: -cell.seconds)
    tasks = (delayed(_try)(cell) for cell in missing)
    failures = []
    results = Parallel(jobs, return_as="generator_unordered", batch_size=1)(tasks)
    for number, (cell, result) in enumerate(results, 1):
        if isinstance(result, str):
            failures.append(f"{cell.key}: {result}")
        else:
            store.add(cell, result)
        progress(f"{title}: {number} of {len(missing)}, {cell.key}")
    return failures


def _try(cell: Cell) -> tuple[Cell, Result | str]:
    """Return the result of a part, or the error that it raised."""
    try:
        return cell, cell()
    except Exception as error:
        return cell, repr(error)
