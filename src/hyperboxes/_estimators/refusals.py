"""What functions for boxes that cover samples say to models whose boxes vote.

Without it they would take votes for covers, and say what is not so.
"""

from __future__ import annotations

from typing import Any

from hyperboxes._estimators.adaptive import AdaptiveGFMM
from hyperboxes._estimators.boosted import BoostedHyperboxes
from hyperboxes._estimators.contentious import ContentiousFuzzyMinMax
from hyperboxes._estimators.granular import MultiGranularGFMM
from hyperboxes._estimators.mixed import MixedGFMM
from hyperboxes._estimators.random import RandomHyperboxes
from hyperboxes._estimators.tables import known_categories

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


def is_settled(model: Any) -> bool:
    """Whether something else than the nearest box decides where classes overlap."""
    return isinstance(model, ContentiousFuzzyMinMax) and model._model.resolution != "exclude"


def refuse_settled(model: Any, what: str) -> None:
    """Refuse models for `what` whose boxes do not decide by their memberships alone."""
    if is_settled(model):
        raise TypeError(
            f"{what} is for models in which the nearest box decides; with "
            f"resolution={model._model.resolution!r} it does not where classes overlap. Fit one "
            "with resolution='exclude', or save the model and predict in Python."
        )


def refuse_powers(model: Any, what: str) -> None:
    """Refuse models for `what` whose memberships are powers of e, of which last digits differ."""
    if is_settled(model) and model._model.resolution == "core":
        raise TypeError(
            f"{what} gives the answers of predict to the last bit; with resolution='core' "
            "memberships are powers of e, whose last digits differ from one program to the next. "
            "Fit one with another resolution, or save the model and predict in Python."
        )


def refuse_levels(model: Any, what: str) -> None:
    """Refuse models for `what` in which several levels vote."""
    if isinstance(model, MultiGranularGFMM) and model._model.votes:
        raise TypeError(
            f"{what} is for one set of boxes, and here all levels vote. Take one of them, such as "
            "model.levels_[-1], or fit with level=-1."
        )


def refuse_counts(model: Any, what: str) -> None:
    """Refuse models for `what` whose boxes count categories, so that bounds are not all."""
    if isinstance(model, MixedGFMM) and known_categories(model):
        raise TypeError(
            f"{what} is for boxes that bounds describe; those of {type(model).__name__} count "
            "categories, and none is a condition. Leave out nearest=False, which gives every row a "
            "class, or fit ImprovedOnlineGFMM, whose boxes hold sets of categories."
        )
