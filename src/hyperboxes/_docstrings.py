"""Docstrings that share passages, each written once."""

from __future__ import annotations

import inspect
from collections.abc import Mapping


def fill_docstrings(cls: type, passages: Mapping[str, str]) -> None:
    """Replace the passages' names in braces, such as ``{parameters}``, by the passages.

    That is in the docstrings of a class, and of the methods that it defines. A passage may name
    those that come after it.
    """
    for documented in (cls, *filter(inspect.isfunction, map(_function, vars(cls).values()))):
        if documented.__doc__ is not None:  # python -OO drops docstrings
            text = inspect.cleandoc(documented.__doc__)
            for name, passage in passages.items():
                text = text.replace(f"{{{name}}}", passage.strip())
            documented.__doc__ = text


def _function(attribute: object) -> object:
    """Return what a class method calls, and anything else as it is."""
    return attribute.__func__ if isinstance(attribute, classmethod) else attribute
