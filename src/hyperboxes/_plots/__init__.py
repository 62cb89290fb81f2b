"""Pictures of models, as scikit-learn's Display classes.

Matplotlib is imported when something is drawn, not before.
"""

from hyperboxes._plots.boxes import BoxesDisplay
from hyperboxes._plots.contributions import ContributionsDisplay
from hyperboxes._plots.curves import GrowthDisplay, ThetaDisplay
from hyperboxes._plots.memory import MemoryDisplay
from hyperboxes._plots.parallel import ParallelCoordinatesDisplay
from hyperboxes._plots.rules import RulesDisplay

__all__ = [
    "BoxesDisplay",
    "ContributionsDisplay",
    "GrowthDisplay",
    "MemoryDisplay",
    "ParallelCoordinatesDisplay",
    "RulesDisplay",
    "ThetaDisplay",
]
