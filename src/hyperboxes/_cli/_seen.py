"""Whether rows are those that a model was trained on, whose scores say little.

Rows that a model has not learned hardly ever agree with it in all of the numbers compared here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperboxes._cli._common import n_learned
from hyperboxes._cli._survey import Extent


class SeenRows:
    """What rows have in common with those that a model was trained on, found as they come in."""

    def __init__(self, model: Any) -> None:
        from hyperboxes._models.voting import VotingHyperboxes

        self._model = model
        self._votes = isinstance(getattr(model, "hyperboxes_", None), VotingHyperboxes)
        self._extent = Extent(model.n_features_in_)
        self._n_held: Any = 0  # by box

    def add(self, X: Any) -> None:
        """Take in some rows."""
        from hyperboxes._estimators.base import NUMBERS
        from hyperboxes._estimators.validation import validate_samples

        numbers = validate_samples(self._model, X, reset=False, **NUMBERS)
        self._extent.add(numbers)
        if self._votes:
            held = self._model.hyperboxes_.contains(numbers)
            self._n_held = self._n_held + held.sum(axis=0)

    def what_agrees(self) -> str | None:
        """Return what says that the model was trained on the rows, None if nothing does."""
        if self._votes:
            boxes = self._model.hyperboxes_
            is_same = len(boxes) > 0 and np.array_equal(self._n_held, boxes.counts)
            return "every box holds as many of its rows as then" if is_same else None
        same = self._extent.n_rows == n_learned(self._model) and self._has_same_ranges()
        return "it has as many rows, with the same ranges" if same else None

    def _has_same_ranges(self) -> bool:
        ranges = self._extent.ranges
        learned = np.array([self._model.data_min_, self._model.data_max_])
        return bool((np.isnan(ranges) | (ranges == learned)).all())
