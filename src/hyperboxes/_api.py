"""All public names of the package, which `__init__` hands on when they are first asked for."""

from hyperboxes._agglomerative import AgglomerativeGFMM
from hyperboxes._archive import ModelFileError
from hyperboxes._clustering import HyperboxClustering
from hyperboxes._explanation import Change, ExplainedBox, Explanation
from hyperboxes._explanations import Explanations, explain
from hyperboxes._hyperboxes import Hyperboxes
from hyperboxes._merge import merge
from hyperboxes._online import ImprovedOnlineGFMM, OnlineGFMM
from hyperboxes._onnx import to_onnx
from hyperboxes._plots import (
    BoxesDisplay,
    BoxSizesDisplay,
    GrowthDisplay,
    ParallelCoordinatesDisplay,
)
from hyperboxes._prune import Pruning, prune
from hyperboxes._report import export_html
from hyperboxes._rules import export_frame, export_text
from hyperboxes._saving import load, save
from hyperboxes._sql import export_sql

__all__ = [
    "AgglomerativeGFMM",
    "BoxSizesDisplay",
    "BoxesDisplay",
    "Change",
    "ExplainedBox",
    "Explanation",
    "Explanations",
    "GrowthDisplay",
    "HyperboxClustering",
    "Hyperboxes",
    "ImprovedOnlineGFMM",
    "ModelFileError",
    "OnlineGFMM",
    "ParallelCoordinatesDisplay",
    "Pruning",
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
