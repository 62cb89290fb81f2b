"""How long compiling takes: the first fit on a machine waits for it, which people should know."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def compiling(args: argparse.Namespace) -> Iterator[Any]:
    """Yield what knows the `seconds` of compiling, and tell those who watch when it begins."""
    from numba.core import event

    is_watched = sys.stderr.isatty() and not args.quiet

    class Listener(event.Listener):
        seconds = 0.0
        depth = 0  # kernels are compiled while others are that call them

        def on_start(self, _: event.Event) -> None:
            if self.depth == 0:
                self.began = time.monotonic()
                if self.seconds == 0.0 and is_watched:
                    print("Compiling, once on this machine, up to a minute ...", file=sys.stderr)
            self.depth += 1

        def on_end(self, _: event.Event) -> None:
            self.depth -= 1
            if self.depth == 0:
                self.seconds += time.monotonic() - self.began

    with event.install_listener("numba:compile", Listener()) as listener:
        yield listener
