"""Ctrl-C that is not lost: Python drops a KeyboardInterrupt raised in a finalizer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """Yield a function that raises KeyboardInterrupt if there was one that was lost."""
    interrupted = False

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        signal.default_int_handler(number, frame)

    def check() -> None:
        if interrupted:
            raise KeyboardInterrupt

    if not _handles_ctrl_c():
        yield check
        return
    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _handles_ctrl_c() -> bool:
    """Return whether Ctrl-C does here what it does by default; background jobs ignore it."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
