"""What functions for boxes that cover samples say to models whose boxes vote.

Without it they would take votes for covers, and say what is not so.
"""

from __future__ import annotations

from typing import Any

from hyperboxes._estimators.adaptive import AdaptiveGFMM
from hyperboxes._estimators.boosted import BoostedHyperboxes

_READ = "Read them with export_text, explain, BoxesDisplay or VotesDisplay."

# What the boxes of these models do instead.
_VOTES = {
    BoostedHyperboxes: "vote",
    AdaptiveGFMM: "vote with weights that change from sample to sample",
}


def refuse_votes(model: Any, what: str, instead: str = _READ) -> None:
    """Refuse models whose boxes vote for `what`, and say what can be done instead."""
    for cls, votes in _VOTES.items():
        if isinstance(model, cls):
            raise TypeError(
                f"{what} is for boxes that cover samples of a class; those of "
                f"{type(model).__name__} {votes}. {instead}"
            )
