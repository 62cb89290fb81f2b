"""What functions for boxes that cover samples say to models whose boxes vote.

Without it they would take votes for covers, and say what is not so.
"""

from __future__ import annotations

from typing import Any

from hyperboxes._estimators.boosted import BoostedHyperboxes

_READ = "Read them with export_text, explain, BoxesDisplay or VotesDisplay."


def refuse_votes(model: Any, what: str, instead: str = _READ) -> None:
    """Refuse boosted boxes for `what`, and say what can be done instead."""
    if isinstance(model, BoostedHyperboxes):
        raise TypeError(
            f"{what} is for boxes that cover samples of a class; those of "
            f"{type(model).__name__} vote. {instead}"
        )
