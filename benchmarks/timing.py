"""Timings that can be trusted: contenders take turns, medians are taken, the machine is stated."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Timing:
    """The median of some runs of a function, and what the last one returned."""

    seconds: float
    runs: int
    result: Any


def medians(
    functions: dict[str, Callable[[], Any]],
    *,
    rounds: int = 3,
    budget: float = 8.0,
    at_least: float = 0.2,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timing]:
    """Time functions in turns, so that a slow spell of the machine hits them alike.

    A turn repeats a fast function until it has taken `at_least` seconds. There is always one round;
    no further one starts after `budget` seconds. `clock` may be `time.process_time` where others
    use the machine and functions use one thread. Callers warm up with less data: a full run of a
    slow function may take minutes.
    """
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    results = {}
    start = time.perf_counter()
    for number in range(rounds):
        if number and time.perf_counter() - start > budget:
            break
        for name, function in functions.items():
            results[name], durations = turn(function, at_least, clock)
            seconds[name] += durations
    return {
        name: Timing(median(seconds[name]), len(seconds[name]), results[name]) for name in functions
    }


def turn(
    function: Callable[[], Any], at_least: float, clock: Callable[[], float]
) -> tuple[Any, list[float]]:
    """Call a function until that has taken `at_least` seconds; return its result and each time."""
    durations: list[float] = []
    while sum(durations) < at_least:
        start = clock()
        result = function()
        durations.append(clock() - start)
    return result, durations


def in_fresh_process(statement: str, setup: str = "", **environment: str) -> float:
    """Return the seconds that a statement takes in a Python process of its own."""
    lines = [
        "import time",
        setup,
        "start = time.perf_counter()",
        statement,
        "print(time.perf_counter() - start)",
    ]
    return _run(lines, environment)


def call_in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a module's function in a Python process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def peak_memory(statement: str, setup: str = "") -> float:
    """Return the megabytes that a Python process of its own takes at most for a statement."""
    peak = "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024"
    return _run(["import resource", setup, statement, f"print({peak})"], {})


def added_memory(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the megabytes that a function adds at most to what its process has, and its result.

    Memory that was freed earlier is given back first, or its use would not show, and the earlier
    peak is forgotten. Where the system can do neither (it is not Linux), they may be too few.
    """
    libc, forget_peak = ctypes.CDLL(None), Path("/proc/self/clear_refs")
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)
    if forget_peak.exists():
        forget_peak.write_text("5")
    before = peak()
    result = function()
    return peak() - before, result


def peak() -> float:
    """Return the megabytes that this process has had at most."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _run(lines: list[str], environment: dict[str, str]) -> float:
    process = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return float(process.stdout)


def machine(*distributions: str) -> str:
    """Say what was run on what: processor, cores and versions."""
    from hyperboxes import __version__  # here, because `gate` times the import of the package

    versions = [f"Python {platform.python_version()}", f"hyperboxes {__version__}"]
    versions += [f"{name} {version(name)}" for name in distributions]
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()}\n{', '.join(versions)}"


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def table(header: Iterable[str], rows: Iterable[Iterable[str]], *, left: int = 1) -> str:
    """Lay out a table as text, the first `left` columns to the left, the others to the right."""
    return "\n".join(map("  ".join, align([header, *rows], left)))


def align(lines: Iterable[Iterable[str]], left: int) -> list[list[str]]:
    """Pad cells to the width of their column, the first `left` columns on the right."""
    cells = [list(line) for line in lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        [
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in cells
    ]


def yes_no(met: bool) -> str:
    """Make failures stand out."""
    return "yes" if met else "NO"


def progress(message: str) -> None:
    """Say what is being done."""
    print(f"... {message}", file=sys.stderr, flush=True)
