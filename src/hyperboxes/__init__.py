"""Classifiers made of axis-parallel boxes, as scikit-learn estimators.

A few boxes that vote are rules to read, many follow a stream that changes, and boxes that each hold
samples of one class are the general fuzzy min-max neural networks (GFMM) of the literature.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperboxes._api import *  # noqa: F403

__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """Import the public names when one is first used: `hyperboxes --help` needs none."""
    if name == "__all__" or not name.startswith("_"):
        from hyperboxes import _api

        if name == "__all__" or name in _api.__all__:
            return getattr(_api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from hyperboxes import _api

    return [*_api.__all__, "__version__"]
