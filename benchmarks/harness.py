"""The harness that all benchmarks share: command line, timing, memory, tables, kept results."""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from joblib import Parallel, delayed

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / ".reproduce"  # what is finished of long runs


# --- Command line ---------------------------------------------------------------------------------


def command(
    name: str, description: str | None, *, quick: str = "", data: bool = True
) -> argparse.ArgumentParser:
    """Return the parser of a benchmark, with `--data` and `--quick` where it has them."""
    parser = argparse.ArgumentParser(prog=name, description=description)
    if data:
        parser.add_argument(
            "--data",
            type=Path,
            metavar="DIR",
            default=Path(os.environ.get("HYPERBOXES_DATA", ROOT.parent / "shared" / "datasets")),
            help="folder of NAME.csv.gz (default: $HYPERBOXES_DATA, else ../shared/datasets)",
        )
    if quick:
        parser.add_argument("--quick", action="store_true", help=quick)
    return parser


def machine(*distributions: str) -> str:
    """Return processor, cores and versions as text."""
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


def our_classifiers() -> dict[str, Any]:
    """Return the package's classifiers in their defaults, with a seed, by their names."""
    import hyperboxes  # here, because `gate` times the import of the package

    names = "ImprovedOnlineGFMM", "OnlineGFMM", "AgglomerativeGFMM", "AdaptiveGFMM"
    found = {n: getattr(hyperboxes, n)() for n in (*names, "RandomHyperboxes", "BoostedHyperboxes")}
    for model in found.values():
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=0)
    return found


def progress(message: str) -> None:
    """Print what is being done, on standard error."""
    print(f"... {message}", file=sys.stderr, flush=True)


# --- Timing ---------------------------------------------------------------------------------------


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


def in_processes(
    function: Callable[..., Any], tasks: dict[str, tuple[Any, ...]]
) -> Iterator[tuple[str, Any]]:
    """Call a function with the arguments of each task, and yield names and results in order."""
    calls = (delayed(function)(*arguments) for arguments in tasks.values())
    results = Parallel(-1, return_as="generator")(calls)
    for name, result in zip(tasks, results, strict=True):
        progress(name)
        yield name, result


def call_in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a module's function in a Python process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


# --- Memory ---------------------------------------------------------------------------------------


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


# --- Tables ---------------------------------------------------------------------------------------


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


def markdown(header: Iterable[str], rows: Iterable[Iterable[str]], *, left: int = 1) -> str:
    """Lay out a table for a page, the first `left` columns to the left, the others to the right."""
    names = list(header)
    lines = align([names, ["--"] * len(names), *rows], left)
    lines[1] = [
        "-" * (len(cell) - 1) + ("-" if place < left else ":")
        for place, cell in enumerate(lines[1])
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float) -> str:
    """Print a count or a mean of two; "-" for none."""
    return "-" if value != value else f"{value:,.1f}".removesuffix(".0")


def seconds(value: float) -> str:
    """Print seconds with three digits."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def factor(value: float) -> str:
    """Print a speed-up with three digits; "-" for none."""
    if value != value:
        return "-"
    return f"{value:,.3g}x" if value < 1000 else f"{value:,.0f}x"


def write(path: Path, *paragraphs: str) -> None:
    """Write a page of paragraphs and tables; empty ones are left out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(filter(None, paragraphs)) + "\n")


def write_csv(path: Path, frame: Any) -> None:
    """Write the numbers behind a table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(path, index=False, float_format="%.8g", lineterminator="\n")


def yes_no(met: bool) -> str:
    """Make failures stand out."""
    return "yes" if met else "NO"


# --- Kept results ---------------------------------------------------------------------------------


class Kept:
    """Results in a file, to which each is added at once: a run may be stopped and continued.

    A key should contain all that a result depends on. A torn line, which a killed run may leave, is
    ignored. Without a path, results are kept in memory only.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._results: dict[str, Any] = {}
        text = path.read_text() if path is not None and path.exists() else ""
        for line in text.splitlines():
            try:
                key, result = json.loads(line)
            except ValueError:
                continue
            self._results[key] = result
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            if text and not text.endswith("\n"):
                path.write_text(text + "\n")

    def __contains__(self, key: str) -> bool:
        return key in self._results

    def __getitem__(self, key: str) -> Any:
        return self._results[key]

    def get(self, key: str, default: Any) -> Any:
        """Return a result, or a default where there is none."""
        return self._results.get(key, default)

    def __setitem__(self, key: str, result: Any) -> None:
        self._results[key] = result
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps([key, result]) + "\n")


@cache
def digest(*modules: str) -> str:
    """Return a digest of the package's sources, or of some of the benchmarks' modules alone."""
    package = sorted((ROOT / "src" / "hyperboxes").rglob("*.py"))
    sources = [ROOT / "benchmarks" / f"{name}.py" for name in modules] or package
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
