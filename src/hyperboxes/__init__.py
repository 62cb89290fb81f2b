"""General fuzzy min-max neural networks (GFMM) as scikit-learn estimators.

The package has the learning algorithms of Khuat & Gabrys (2021), Onln-GFMM, IOL-GFMM, AGGLO-SM and
AGGLO-2, original and accelerated. Their models are lists of axis-parallel boxes that read as rules.
It also has boosted rules, ensembles, clustering, and classifiers for streams with concept drift.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hyperboxes._extras import check_core

if TYPE_CHECKING:
    from hyperboxes._estimators.adaptive import AdaptiveGFMM
    from hyperboxes._estimators.agglomerative import AgglomerativeGFMM
    from hyperboxes._estimators.boosted import BoostedHyperboxes
    from hyperboxes._estimators.clustering import HyperboxClustering
    from hyperboxes._estimators.dates import DateFeatures
    from hyperboxes._estimators.merge import merge
    from hyperboxes._estimators.online import ImprovedOnlineGFMM, OnlineGFMM
    from hyperboxes._estimators.prune import Pruning, prune
    from hyperboxes._estimators.random import RandomHyperboxes
    from hyperboxes._files.archive import ModelFileError
    from hyperboxes._files.onnx import to_onnx
    from hyperboxes._files.saving import load, save
    from hyperboxes._models.hyperboxes import Hyperboxes, WeightedHyperboxes
    from hyperboxes._plots.boxes import BoxesDisplay
    from hyperboxes._plots.contributions import ContributionsDisplay
    from hyperboxes._plots.curves import GrowthDisplay, ThetaDisplay
    from hyperboxes._plots.memory import MemoryDisplay
    from hyperboxes._plots.parallel import ParallelCoordinatesDisplay
    from hyperboxes._plots.rules import RulesDisplay
    from hyperboxes._readers.explain import Explanations, explain
    from hyperboxes._readers.explanation import Counterfactual, ExplainedBox, Explanation
    from hyperboxes._readers.rules import export_frame, export_text
    from hyperboxes._readers.sql import export_sql
    from hyperboxes._report import export_html

__version__ = "0.3.0.dev0"

# Each public name is imported when it is first used: `hyperboxes --help` needs none.
_MODULES = {
    "AdaptiveGFMM": "_estimators.adaptive",
    "AgglomerativeGFMM": "_estimators.agglomerative",
    "BoostedHyperboxes": "_estimators.boosted",
    "BoxesDisplay": "_plots.boxes",
    "ContributionsDisplay": "_plots.contributions",
    "Counterfactual": "_readers.explanation",
    "ExplainedBox": "_readers.explanation",
    "DateFeatures": "_estimators.dates",
    "Explanation": "_readers.explanation",
    "Explanations": "_readers.explain",
    "GrowthDisplay": "_plots.curves",
    "HyperboxClustering": "_estimators.clustering",
    "Hyperboxes": "_models.hyperboxes",
    "ImprovedOnlineGFMM": "_estimators.online",
    "MemoryDisplay": "_plots.memory",
    "ModelFileError": "_files.archive",
    "OnlineGFMM": "_estimators.online",
    "ParallelCoordinatesDisplay": "_plots.parallel",
    "Pruning": "_estimators.prune",
    "RandomHyperboxes": "_estimators.random",
    "RulesDisplay": "_plots.rules",
    "ThetaDisplay": "_plots.curves",
    "WeightedHyperboxes": "_models.hyperboxes",
    "explain": "_readers.explain",
    "export_frame": "_readers.rules",
    "export_html": "_report",
    "export_sql": "_readers.sql",
    "export_text": "_readers.rules",
    "load": "_files.saving",
    "merge": "_estimators.merge",
    "prune": "_estimators.prune",
    "save": "_files.saving",
    "to_onnx": "_files.onnx",
}

__all__ = [
    "AdaptiveGFMM",
    "AgglomerativeGFMM",
    "BoostedHyperboxes",
    "BoxesDisplay",
    "ContributionsDisplay",
    "Counterfactual",
    "DateFeatures",
    "ExplainedBox",
    "Explanation",
    "Explanations",
    "GrowthDisplay",
    "HyperboxClustering",
    "Hyperboxes",
    "ImprovedOnlineGFMM",
    "MemoryDisplay",
    "ModelFileError",
    "OnlineGFMM",
    "ParallelCoordinatesDisplay",
    "Pruning",
    "RandomHyperboxes",
    "RulesDisplay",
    "ThetaDisplay",
    "WeightedHyperboxes",
    "explain",
    "export_frame",
    "export_html",
    "export_sql",
    "export_text",
    "load",
    "merge",
    "prune",
    "save",
    "to_onnx",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    check_core()
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
