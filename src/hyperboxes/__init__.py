"""General fuzzy min-max neural networks (GFMM) as scikit-learn estimators.

The package has the learning algorithms of Khuat & Gabrys (2021), Onln-GFMM, IOL-GFMM, AGGLO-SM and
AGGLO-2, original and accelerated. Their models are lists of axis-parallel boxes that read as rules.
It also has boosted rules, ensembles, clustering, and classifiers for streams with concept drift.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hyperboxes._extras import check_core

if TYPE_CHECKING:  # `as` marks names as public
    from hyperboxes._estimators.adaptive import AdaptiveGFMM as AdaptiveGFMM
    from hyperboxes._estimators.agglomerative import AgglomerativeGFMM as AgglomerativeGFMM
    from hyperboxes._estimators.boosted import BoostedHyperboxes as BoostedHyperboxes
    from hyperboxes._estimators.clustering import HyperboxClustering as HyperboxClustering
    from hyperboxes._estimators.dates import DateFeatures as DateFeatures
    from hyperboxes._estimators.merge import merge as merge
    from hyperboxes._estimators.online import ImprovedOnlineGFMM as ImprovedOnlineGFMM
    from hyperboxes._estimators.online import OnlineGFMM as OnlineGFMM
    from hyperboxes._estimators.prune import Pruning as Pruning
    from hyperboxes._estimators.prune import prune as prune
    from hyperboxes._estimators.random import RandomHyperboxes as RandomHyperboxes
    from hyperboxes._files.archive import ModelFileError as ModelFileError
    from hyperboxes._files.onnx import to_onnx as to_onnx
    from hyperboxes._files.saving import load as load
    from hyperboxes._files.saving import save as save
    from hyperboxes._models.hyperboxes import Hyperboxes as Hyperboxes
    from hyperboxes._models.hyperboxes import WeightedHyperboxes as WeightedHyperboxes
    from hyperboxes._plots.boxes import BoxesDisplay as BoxesDisplay
    from hyperboxes._plots.contributions import ContributionsDisplay as ContributionsDisplay
    from hyperboxes._plots.curves import GrowthDisplay as GrowthDisplay
    from hyperboxes._plots.curves import ThetaDisplay as ThetaDisplay
    from hyperboxes._plots.memory import MemoryDisplay as MemoryDisplay
    from hyperboxes._plots.parallel import ParallelCoordinatesDisplay as ParallelCoordinatesDisplay
    from hyperboxes._plots.rules import RulesDisplay as RulesDisplay
    from hyperboxes._readers.explain import Explanations as Explanations
    from hyperboxes._readers.explain import explain as explain
    from hyperboxes._readers.explanation import Counterfactual as Counterfactual
    from hyperboxes._readers.explanation import ExplainedBox as ExplainedBox
    from hyperboxes._readers.explanation import Explanation as Explanation
    from hyperboxes._readers.rules import export_frame as export_frame
    from hyperboxes._readers.rules import export_text as export_text
    from hyperboxes._readers.sql import export_sql as export_sql
    from hyperboxes._report import export_html as export_html

__version__ = "0.3.0"

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

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    check_core()
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
