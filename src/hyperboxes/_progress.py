"""How far a fit is, told to scikit-learn's callbacks (progress bars, scores while training)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

# Enough steps for a smooth bar, few enough that callbacks cost nothing beside learning.
_N_STEPS = 100


class FitProgress:
    """The steps of one fit. Without callbacks there is a single step and no cost."""

    def __init__(
        self,
        estimator: Any,
        X: np.ndarray,
        y: np.ndarray,
        X_upper: np.ndarray,
        model: dict[str, Any],
    ) -> None:
        self._estimator = estimator
        self._model = model
        self._data: dict[str, Any] = {"X": X, "y": y}
        if X_upper is not X:
            self._data["metadata"] = {"X_upper": X_upper}

    def steps(self, n_samples: int) -> Iterator[int]:
        """Yield how many samples are to be learned by the end of each step.

        A callback may end the fit early; the model then is what it has learned so far.
        """
        estimator = self._estimator
        if not (hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx")):
            yield n_samples
            return
        size = -(-n_samples // _N_STEPS)
        stops = [*range(size, n_samples, size), n_samples]
        context = estimator._init_callback_context(max_subtasks=len(stops))
        context.call_on_fit_task_begin(estimator=estimator, **self._data)
        for stop in stops:
            step = context.subcontext(task_name="samples")
            step.call_on_fit_task_begin(estimator=estimator, **self._data)
            yield stop
            if self._end(step):
                break
        self._end(context)

    def _end(self, context: Any) -> bool:
        stop: bool = context.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=self._snapshot, **self._data
        )
        return stop

    def _snapshot(self) -> dict[str, Any]:
        """Return the fitted attributes of a model that ends here."""
        return self._model | {"_boxes": self._model["_boxes"].copy()}
