"""Steps of learning: callbacks between slices of work, and threads that share the work.

The calling thread works as well: if it only waited, it would take the interpreter's lock from the
others each time it looks.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

import numpy as np

from hyperboxes._models.samples import Intervals

# Enough steps for a smooth bar, and few enough that callbacks take no time compared with learning.
_N_STEPS = 100


class FitCallbacks:
    """The callbacks of an estimator, if it has any, between the steps of a fit.

    `snapshot` returns the fitted attributes of an estimator that ends learning here.
    """

    def __init__(
        self,
        estimator: Any,
        samples: Intervals,
        y: np.ndarray | None,
        snapshot: Callable[[], dict[str, Any]],
    ) -> None:
        self._estimator = estimator
        self._snapshot = snapshot
        self._data: dict[str, Any] = {"X": samples.lower, "y": y}
        if samples.upper is not samples.lower:
            self._data["metadata"] = {"X_upper": samples.upper}

    @classmethod
    def none(cls, samples: Intervals) -> Self:
        """Return no callbacks, for fits that are a part of another."""
        return cls(None, samples, None, dict)

    @property
    def is_watched(self) -> bool:
        """Whether the estimator has callbacks."""
        names = ("_skl_callbacks", "_parent_callback_ctx")
        return any(hasattr(self._estimator, name) for name in names)

    def step_size(self, n_samples: int) -> int:
        """Return how many samples to learn in a step: all if there are no callbacks."""
        return -(-n_samples // _N_STEPS) if self.is_watched else n_samples

    def run(self, *passes: Callable[[], bool], n_steps: int | None = None) -> None:
        """Call each pass until it returns True, one pass after the other, with callbacks between.

        A callback may end the fit early; the model then is what it has learned so far. `n_steps`
        is the number of calls, where that is known.
        """
        if not self.is_watched:
            for step in passes:
                while not step():
                    pass
            return
        estimator = self._estimator
        context = estimator._init_callback_context(max_subtasks=n_steps)
        context.call_on_fit_task_begin(estimator=estimator, **self._data)
        is_ended = False
        for step in passes:
            is_done = False
            while not (is_done or is_ended):
                task = context.subcontext(task_name="step")
                task.call_on_fit_task_begin(estimator=estimator, **self._data)
                is_done = step()
                is_ended = self._end(task)
        self._end(context)

    def _end(self, context: Any) -> bool:
        stop: bool = context.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=self._snapshot, **self._data
        )
        return stop


Item = TypeVar("Item")
Result = TypeVar("Result")


class Threads:
    """A number of threads, including the calling one, to be closed after use."""

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
