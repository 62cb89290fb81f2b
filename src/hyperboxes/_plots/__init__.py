"""Pictures of models, as scikit-learn's Display classes.

Matplotlib is imported when something is drawn, not before.
"""

from hyperboxes._plots.boxes import BoxesDisplay
from hyperboxes._plots.contributions import ContributionsDisplay
from hyperboxes._plots.growth import GrowthDisplay
from hyperboxes._plots.memory import MemoryDisplay
from hyperboxes._plots.parallel import ParallelCoordinatesDisplay
from hyperboxes._plots.rules import RulesDisplay
from hyperboxes._plots.theta import ThetaDisplay

__all__ = [
    "BoxesDisplay",
    "ContributionsDisplay",
    "GrowthDisplay",
    "MemoryDisplay",
    "ParallelCoordinatesDisplay",
    "RulesDisplay",
    "ThetaDisplay",
]
