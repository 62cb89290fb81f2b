"""What functions for boxes that cover samples say to models whose boxes vote.

Without it they would take votes for covers, and say what is not so.
"""

from __future__ import annotations

from typing import Any

from hyperboxes._estimators.adaptive import AdaptiveGFMM
from hyperboxes._estimators.boosted import BoostedHyperboxes
from hyperboxes._estimators.random import RandomHyperboxes

_READ = "Read them with export_text, explain, export_html or ContributionsDisplay."
_READ_MEMORY = "Read them with export_text, explain, export_html or MemoryDisplay."


def refuse_votes(model: Any, what: str, instead: str | None = None) -> None:
    """Refuse models whose boxes vote for `what`, and say what can be done instead."""
    refuse_memory(model, what, instead)
    if isinstance(model, BoostedHyperboxes):
        raise TypeError(
            f"{what} is for boxes that cover samples of a class; those of "
            f"{type(model).__name__} vote. {instead or _READ}"
        )


def refuse_memory(model: Any, what: str, instead: str | None = None) -> None:
    """Refuse models whose boxes have a say that changes all the time for `what`."""
    refuse_ensemble(model, what)
    if isinstance(model, AdaptiveGFMM):
        raise TypeError(
            f"{what} is for boxes whose say is fixed; those of {type(model).__name__} vote with "
            f"weights that change from sample to sample. {instead or _READ_MEMORY}"
        )


def refuse_ensemble(model: Any, what: str) -> None:
    """Refuse ensembles for `what`."""
    if isinstance(model, RandomHyperboxes):
        raise TypeError(
            f"{what} is for a single model, but {type(model).__name__} has many, which decide "
            "together. Read it with explain, export_text and feature_importances_, or fit one "
            "model, such as AgglomerativeGFMM."
        )


def refuse_undecided(model: Any, what: str) -> None:
    """Refuse models for `what` in which something besides the nearest box decides."""
    if reason := getattr(model, "_decided_otherwise", ""):
        raise TypeError(
            f"{what} is unsupported for this {type(model).__name__}: it is for models in which the "
            f"nearest box decides alone, and here {reason}. List its boxes with export_text or "
            "export_frame, or save the model and predict in Python."
        )
