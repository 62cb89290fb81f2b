"""General fuzzy min-max neural networks (GFMM) as scikit-learn estimators.

The package has the learning algorithms of Khuat & Gabrys (2021), Onln-GFMM, IOL-GFMM, AGGLO-SM and
AGGLO-2, original and accelerated. Their models are lists of axis-parallel boxes that read as rules.
It also has boosted rules, ensembles, clustering, and classifiers for streams with concept drift.
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
