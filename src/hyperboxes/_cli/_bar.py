"""A progress bar on standard error, if that is a terminal and rich is installed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from hyperboxes._cli._tables import Chunk

# Takes the number of rows done, and a remark.
Update = Callable[[int, str], None]


@contextmanager
def progress(
    args: argparse.Namespace, title: str, total: int | None = None
) -> Iterator[Update | None]:
    """Show a bar, and yield a function that updates it; None if nobody sees it.

    Without `total` it shows activity and the number of rows done.
    """
    bar = None if args.quiet or not sys.stderr.isatty() else _make_bar(total is not None)
    if bar is None:
        yield None
        return
    with bar:
        task = bar.add_task(title, total=total, remark="")

        def update(n_rows: int, remark: str = "") -> None:
            bar.update(task, completed=n_rows, remark=remark or f"{n_rows:,} rows")

        yield update


def with_progress(
    args: argparse.Namespace, title: str, chunks: Iterable[Chunk], total: int | None = None
) -> Iterator[Chunk]:
    """Yield chunks, and show how many rows are done."""
    with progress(args, title, total) as update:
        n_rows = 0
        for chunk in chunks:
            yield chunk
            n_rows += len(chunk)
            if update is not None:
                update(n_rows, "")


def _make_bar(has_end: bool) -> Any:
    try:
        from rich import progress as rich
        from rich.console import Console
    except ImportError:
        return None
    return rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TextColumn("{task.fields[remark]}"),
        rich.TimeElapsedColumn(),
        *((rich.TextColumn("left"), rich.TimeRemainingColumn()) if has_end else ()),
        console=Console(stderr=True),
        transient=True,
    )
