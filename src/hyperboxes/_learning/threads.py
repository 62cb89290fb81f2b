"""Threads that share calls of a function; the one that asks for the results is one of them.

If it only waited, it would take Python away from those that work, each time that it looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Threads:
    """So many threads, to be closed after use; a single one is that which asks."""

    def __init__(self, n_jobs: int) -> None:
        self._others = ThreadPoolExecutor(n_jobs - 1) if n_jobs > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        if self._others is not None:
            self._others.shutdown()

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield what a function returns for each item, in their order."""
        items = list(items)
        if self._others is None or len(items) == 1:
            yield from map(function, items)
            return
        calls = [self._others.submit(function, item) for item in items]
        own: dict[int, Result] = {}
        untried = iter(range(len(items)))
        try:
            for number, call in enumerate(calls):
                while number not in own and not call.done():
                    # What no other thread has begun is cancelled, and done here.
                    mine = next((later for later in untried if calls[later].cancel()), None)
                    if mine is None:
                        break
                    own[mine] = function(items[mine])
                yield own.pop(number) if number in own else call.result()
        finally:
            for call in calls:
                call.cancel()
