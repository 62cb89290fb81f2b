"""What benchmarks need of the package's internals; nothing else of them imports any.

Names are imported where they are used, so that a renamed one stops a single benchmark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

from hyperboxes import AdaptiveGFMM, BoostedHyperboxes


def fit_with_classes(model: Any, X: np.ndarray, y: np.ndarray, classes: np.ndarray) -> Any:
    """Do what `fit` does, with classes that the samples may not have."""
    return model._fit(X, y, None, classes=classes)


def set_membership(model: Any, function: str) -> None:
    """Have a fitted model predict by another membership function."""
    membership = replace(model._model.membership, function=function)
    model._model = replace(model._model, membership=membership)


def calibrate_votes(
    votes: np.ndarray, y: np.ndarray, shares: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from votes to probabilities that `RandomHyperboxes` would learn."""
    from hyperboxes._models.calibration import fit_vote_calibration, log_votes

    calibration = fit_vote_calibration(votes, y, shares)
    return lambda new: calibration.apply(log_votes(new), shares)


@contextmanager
def merging_at_once(n_models: int) -> Iterator[None]:
    """Have `merge` merge so many models at once in its tree."""
    from hyperboxes._estimators import merge

    with patch.object(merge, "AT_ONCE", n_models):
        yield


@contextmanager
def adaptive_settings(changes: dict[str, Any]) -> Iterator[type[AdaptiveGFMM]]:
    """Have `AdaptiveGFMM` learn with other settings than its own."""
    from hyperboxes._learning import adaptive

    make = adaptive.make_settings

    def make_changed(*args: Any) -> Any:
        return make(*args)._replace(**changes)

    with patch.object(adaptive, "make_settings", make_changed):
        yield AdaptiveGFMM


class ChangedBoosting(BoostedHyperboxes):
    """Boosted boxes with other settings of the search; factors of l2 and ridge multiply."""

    def change(self, changes: dict[str, Any]) -> ChangedBoosting:
        """Set what is changed; without a change, the ends of boxes stay as first found."""
        self._changes = changes
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ChangedBoosting:
        """Fit with the changes."""
        from hyperboxes._learning.boosting import Booster

        if self._changes:
            return super().fit(X, y, sample_weight)
        with patch.object(Booster, "_change_previous", lambda _: None):
            return super().fit(X, y, sample_weight)

    def _settings(self, n_classes: int) -> Any:
        settings, n_bags = super()._settings(n_classes)
        changes = {
            name: value * getattr(settings, name) if name in ("l2", "ridge") else value
            for name, value in self._changes.items()
        }
        return replace(settings, **changes), n_bags
