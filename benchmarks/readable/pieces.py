"""What each piece of boosted boxes earns: models without it, or with more of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Self
from unittest.mock import patch

from hyperboxes import BoostedHyperboxes
from hyperboxes._learning.boosting import Booster, Settings

WHOLE = "BoostedHyperboxes"

# What is changed of the settings for boxes to read.
CHANGES: dict[str, dict[str, Any]] = {
    "... whose ends stay as found": {},
    "... the best of one draw": {"n_draws": 1},
    "... the best of 16 draws": {"n_draws": 16},
    "... found for single classes only": {"n_groups": 0},
    "... of at most 2 conditions": {"max_conditions": 2},
    "... of at most 6 conditions": {"max_conditions": 6},
    "... votes corrected once a box": {"n_sweeps": 1},
    "... half as much l2": {"l2": 0.5, "ridge": 0.5},
    "... twice as much l2": {"l2": 2.0, "ridge": 2.0},
}
_FACTORS = ("l2", "ridge")  # which depend on the number of classes, so that they are multiplied


class Changed(BoostedHyperboxes):
    """Boosted boxes with a piece left out."""

    def without(self, piece: str) -> Self:
        """Name the piece."""
        self._piece = piece
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn without the piece."""
        with ExitStack() as stack:
            if not CHANGES[self._piece]:
                stack.enter_context(patch.object(Booster, "_change_previous", lambda _: None))
            return super().fit(X, y, sample_weight)

    def _settings(self, n_classes: int) -> tuple[Settings, int]:
        settings, n_bags = super()._settings(n_classes)
        changes = {
            name: value * getattr(settings, name) if name in _FACTORS else value
            for name, value in CHANGES[self._piece].items()
        }
        return replace(settings, **changes), n_bags


def pieces() -> dict[str, Callable[[int, int], Any]]:
    """Return learners of a number of boxes, for a number of classes."""

    def changed(piece: str) -> Callable[[int, int], Any]:
        return lambda n, _: Changed(n, random_state=0).without(piece)

    whole: dict[str, Callable[[int, int], Any]] = {
        WHOLE: lambda n, _: BoostedHyperboxes(n, random_state=0)
    }
    return whole | {piece: changed(piece) for piece in CHANGES}
