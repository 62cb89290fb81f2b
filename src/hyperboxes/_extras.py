"""Optional dependencies, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def need(module: str, extra: str, what: str) -> ModuleType:
    """Import a module, or raise an error that names the extra that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{what} needs {module.split('.')[0]}: pip install 'hyperboxes[{extra}]'"
        ) from error
