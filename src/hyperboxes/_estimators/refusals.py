"""What functions for boxes that cover samples say to models whose boxes vote.

Without it they would take votes for covers, and say what is not so.
"""

from __future__ import annotations

from typing import Any

from hyperboxes._estimators.adaptive import AdaptiveGFMM
from hyperboxes._estimators.boosted import BoostedHyperboxes

_READ = "Read them with export_text, explain, BoxesDisplay or VotesDisplay."
_READ_MEMORY = "Read them with export_text, explain, BoxesDisplay or MemoryDisplay."


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
    if isinstance(model, AdaptiveGFMM):
        raise TypeError(
            f"{what} is for boxes whose say is fixed; those of {type(model).__name__} vote with "
            f"weights that change from sample to sample. {instead or _READ_MEMORY}"
        )
