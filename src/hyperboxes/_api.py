"""All public names of the package, which `__init__` imports when one is first used."""

from hyperboxes._compiling import watch_compiling
from hyperboxes._estimators.adaptive import AdaptiveGFMM
from hyperboxes._estimators.agglomerative import AgglomerativeGFMM
from hyperboxes._estimators.boosted import BoostedHyperboxes
from hyperboxes._estimators.clustering import HyperboxClustering
from hyperboxes._estimators.merge import merge
from hyperboxes._estimators.online import ImprovedOnlineGFMM, OnlineGFMM
from hyperboxes._estimators.prune import Pruning, prune
from hyperboxes._estimators.random import RandomHyperboxes
from hyperboxes._explain.ensembles import (
    EnsembleExplanation,
    EnsembleExplanations,
    SpeakingBox,
)
from hyperboxes._explain.explaining import Explanations, explain
from hyperboxes._explain.explanation import Change, ExplainedBox, Explanation
from hyperboxes._explain.memories import MemoryExplanation, MemoryExplanations, VotingBox
from hyperboxes._explain.rules import export_frame, export_text
from hyperboxes._explain.sql import export_sql
from hyperboxes._explain.vote_changes import VoteChange
from hyperboxes._explain.vote_explaining import VoteExplanations
from hyperboxes._explain.vote_explanation import ExplainedVote, VoteExplanation
from hyperboxes._files.archive import ModelFileError
from hyperboxes._files.onnx import to_onnx
from hyperboxes._files.saving import load, save
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.voting import VotingHyperboxes
from hyperboxes._plots import (
    BoxesDisplay,
    ContributionsDisplay,
    GrowthDisplay,
    MemoryDisplay,
    ParallelCoordinatesDisplay,
    ThetaDisplay,
)
from hyperboxes._report import export_html

__all__ = [
    "AdaptiveGFMM",
    "AgglomerativeGFMM",
    "BoostedHyperboxes",
    "BoxesDisplay",
    "Change",
    "ContributionsDisplay",
    "EnsembleExplanation",
    "EnsembleExplanations",
    "ExplainedBox",
    "ExplainedVote",
    "Explanation",
    "Explanations",
    "GrowthDisplay",
    "HyperboxClustering",
    "Hyperboxes",
    "ImprovedOnlineGFMM",
    "MemoryDisplay",
    "MemoryExplanation",
    "MemoryExplanations",
    "ModelFileError",
    "OnlineGFMM",
    "ParallelCoordinatesDisplay",
    "Pruning",
    "RandomHyperboxes",
    "SpeakingBox",
    "ThetaDisplay",
    "VoteChange",
    "VoteExplanation",
    "VoteExplanations",
    "VotingBox",
    "VotingHyperboxes",
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

# The first call of a kernel may compile for a while; people who wait should be told.
watch_compiling()
