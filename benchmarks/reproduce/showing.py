"""Shows how far a run is: a bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from benchmarks.reproduce.cells import Cell

# Seconds between two lines where there is no terminal.
PAUSE = 10.0

# Guessed seconds that must be done before the pace counts for more than the guess.
_TRUSTED_GUESS = 60.0


@dataclass
class State:
    """How far a run is; seconds of parts are guesses, corrected by the pace so far."""

    title: str
    n_cells: int
    seconds: float
    jobs: int
    n_done: int = 0
    seconds_done: float = 0.0
    running: Collection[Cell] = ()
    start: float = field(default_factory=time.perf_counter)

    def finish(self, cell: Cell) -> None:
        """Take note of a finished part."""
        self.n_done += 1
        self.seconds_done += cell.seconds

    @property
    def seconds_left(self) -> float:
        """How long it still takes, about."""
        elapsed = time.perf_counter() - self.start
        pace = (elapsed + _TRUSTED_GUESS / self.jobs) / (self.seconds_done + _TRUSTED_GUESS)
        return pace * (self.seconds - self.seconds_done)

    @property
    def left(self) -> str:
        """The time left, in words."""
        return f"about {duration(self.seconds_left)} left"

    @property
    def now(self) -> str:
        """What is being done."""
        return " | ".join(cell.key.partition(": ")[2] for cell in self.running)


def duration(seconds: float) -> str:
    """Print hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


@contextmanager
def display() -> Iterator[Callable[[State], None]]:
    """Yield a function that shows a state."""
    console = Console(stderr=True)
    if console.is_terminal:
        with _bar(console) as show:
            yield show
    else:
        yield _lines()


@contextmanager
def _bar(console: Console) -> Iterator[Callable[[State], None]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.fields[now]}", style="dim"),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", left="", now="")

        def show(state: State) -> None:
            bar.update(
                task,
                description=state.title,
                completed=state.n_done,
                total=state.n_cells,
                left=state.left,
                now=state.now,
            )

        yield show


def _lines() -> Callable[[State], None]:
    latest = -PAUSE

    def show(state: State) -> None:
        nonlocal latest
        now = time.perf_counter()
        if now - latest >= PAUSE or state.n_done == state.n_cells:
            latest = now
            line = f"{state.title}: {state.n_done} of {state.n_cells}, {state.left}  {state.now}"
            print(line.rstrip(), file=sys.stderr, flush=True)

    return show
