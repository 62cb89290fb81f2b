"""Compiling, for which the first fit on a machine waits: how long it takes, and a notice of it.

Numba has events for compiling, which it does if its cache does not have the code. Somebody who
waits at a terminal or in a notebook gets one line on standard error per process. Where the code
cannot be kept, logs get the line, too.
"""

import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

# Set to anything, it keeps the notice away.
QUIET = "HYPERBOXES_QUIET"


class Compiling:
    """What this process has compiled of the package so far."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.is_announced = False
        self._depth = 0  # kernels are compiled while others are that call them
        self._began = 0.0
        self._is_quiet = False

    @contextmanager
    def quiet(self, is_quiet: bool = True) -> Iterator[None]:
        """Give no notice for a while."""
        before, self._is_quiet = self._is_quiet, is_quiet
        try:
            yield
        finally:
            self._is_quiet = before

    def start(self, dispatcher: Any) -> None:
        """Note that Numba begins to compile a function."""
        if self._depth == 0:
            if not _is_own(dispatcher):
                return
            self._began = time.monotonic()
            is_cached = dispatcher.stats.cache_path is not None
            if not (self.is_announced or self._is_quiet) and _should_announce(is_cached=is_cached):
                self.is_announced = True
                often = (
                    "once on this machine" if is_cached else "in each process (set NUMBA_CACHE_DIR)"
                )
                with suppress(OSError, ValueError):  # a closed terminal is no reason not to learn
                    print(f"hyperboxes: compiling, {often}, up to a minute ...", file=sys.stderr)
        self._depth += 1

    def end(self) -> None:
        """Note that Numba has compiled a function."""
        if self._depth > 0:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += time.monotonic() - self._began


compiling = Compiling()


def watch_compiling() -> None:
    """Register `compiling` for Numba's events, from now on."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: event.Event) -> None:
            compiling.start((event.data or {}).get("dispatcher"))

        def on_end(self, _: event.Event) -> None:
            compiling.end()

    event.register("numba:compile", Listener())


def _is_own(dispatcher: Any) -> bool:
    """Whether a function is of this package; users compile their own, of any kind."""
    function = getattr(dispatcher, "py_func", None)
    return str(getattr(function, "__module__", None)).startswith("hyperboxes.")


def _should_announce(*, is_cached: bool) -> bool:
    """Whether this is the first of several processes, and somebody waits or nothing is kept."""
    if os.environ.get(QUIET) or multiprocessing.parent_process() is not None:
        return False
    if not is_cached:
        return sys.stderr is not None
    # Rich's progress bars stand in for standard error, and deny being a terminal.
    stream = getattr(sys.stderr, "rich_proxied_file", sys.stderr)
    return (stream is not None and stream.isatty()) or _is_notebook()


def _is_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
