"""Fuzzy min-max networks of the literature, to compare with and to study.

`FuzzyMinMax` with ``"fmnn"`` and ``"efmnn"``, and `FuzzyMinMaxClustering`, follow their papers. The
others are our reading of abstracts, public code and citing papers.

They learn, predict, are saved and loaded, and list their boxes with `export_text` and
`export_frame`. Other exports and explanations need models in which the nearest box decides alone.
"""

from hyperboxes.literature.frequency import FrequencyGFMM
from hyperboxes.literature.fuzzy_min_max import FuzzyMinMax, FuzzyMinMaxClustering
from hyperboxes.literature.granular import MultiGranularGFMM
from hyperboxes.literature.matrix import matrix_gfmm
from hyperboxes.literature.mixed import MixedGFMM
from hyperboxes.literature.overlapping import OverlappingFuzzyMinMax, OverlapRegions

__all__ = [
    "FrequencyGFMM",
    "FuzzyMinMax",
    "FuzzyMinMaxClustering",
    "MixedGFMM",
    "MultiGranularGFMM",
    "OverlapRegions",
    "OverlappingFuzzyMinMax",
    "matrix_gfmm",
]
