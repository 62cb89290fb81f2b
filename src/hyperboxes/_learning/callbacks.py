"""How far a fit is, told to scikit-learn's callbacks (progress bars, scores while training)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Enough steps for a smooth bar, few enough that callbacks cost nothing beside learning.
_N_STEPS = 100


class FitProgress:
    """The steps of one fit, told to the estimator's callbacks if it has any."""

    def __init__(
        self,
        estimator: Any,
        X: np.ndarray,
        y: np.ndarray | None,
        X_upper: np.ndarray,
        model: dict[str, Any],
    ) -> None:
        self._estimator = estimator
        self._model = model
        self._data: dict[str, Any] = {"X": X, "y": y}
        if X_upper is not X:
            self._data["metadata"] = {"X_upper": X_upper}

    @property
    def is_watched(self) -> bool:
        """Whether any callback listens."""
        names = ("_skl_callbacks", "_parent_callback_ctx")
        return any(hasattr(self._estimator, name) for name in names)

    def step_size(self, n_samples: int) -> int:
        """Return how many samples to learn in a step: all if nobody watches."""
        return -(-n_samples // _N_STEPS) if self.is_watched else n_samples

    def run(self, step: Callable[[], bool], n_steps: int | None = None) -> None:
        """Call `step` until it returns True, and tell the callbacks after each time.

        A callback may end the fit early; the model then is what it has learned so far. `n_steps`
        is how often `step` will be called, where that is known.
        """
        if not self.is_watched:
            while not step():
                pass
            return
        estimator = self._estimator
        context = estimator._init_callback_context(max_subtasks=n_steps)
        context.call_on_fit_task_begin(estimator=estimator, **self._data)
        done = False
        while not done:
            task = context.subcontext(task_name="step")
            task.call_on_fit_task_begin(estimator=estimator, **self._data)
            done = step()
            done |= self._end(task)
        self._end(context)

    def _end(self, context: Any) -> bool:
        stop: bool = context.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=self._snapshot, **self._data
        )
        return stop

    def _snapshot(self) -> dict[str, Any]:
        """Return the fitted attributes of a model that ends here."""
        return self._model | {"_boxes": self._model["_boxes"].settled()}
