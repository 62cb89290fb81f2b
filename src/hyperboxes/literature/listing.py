"""What listings of literature models add to their rules: overlaps of classes, categories.

`export_text` and `export_frame` find these classes by the registry.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._estimators.categorical import known_categories
from hyperboxes._readers.rounding import Rounding
from hyperboxes._readers.rules import RuleNotes
from hyperboxes._readers.text import condition_text
from hyperboxes.literature.frequency import FrequencyGFMM
from hyperboxes.literature.granular import MultiGranularGFMM
from hyperboxes.literature.mixed import MixedGFMM
from hyperboxes.literature.overlapping import OverlappingFuzzyMinMax

# So many exceptions of a rule are written.
_MOST_EXCEPTIONS = 5

# What decides in the regions that boxes share.
_RESOLVED = {
    "exclude": "a box of a single training sample, then the class with the most, decides",
    "compensate": "the class decides whose box has the sample nearest to a face",
    "core": "the box decides whose data core, the mean of its samples, is nearest",
    "levels": "smaller boxes decide that were learned there",
}


class OverlapNotes(RuleNotes):
    """The exceptions of rules: where boxes of another class contain samples as well."""

    def __init__(self, model: OverlappingFuzzyMinMax) -> None:
        self._boxes = model.hyperboxes_
        self._regions = model.regions_
        self._resolution = model._model.resolution
        self._overlaps: list[list[tuple[int, int]]] = [[] for _ in range(len(self._boxes))]
        for region, (first, second) in enumerate(self._regions.boxes.tolist()):
            self._overlaps[first].append((region, second))
            self._overlaps[second].append((region, first))

    def summary(self) -> str:
        """Return how many regions there are, and what decides there."""
        if len(self._regions) == 0:
            return ""
        n_regions = len(self._regions)
        number = "1 region is" if n_regions == 1 else f"{n_regions} regions are"
        return f"{number} shared by boxes of two classes. There {_RESOLVED[self._resolution]}."

    def lines(
        self, box: int, rounding: Rounding, features: list[str], classes: list[str]
    ) -> list[str]:
        """Return the exceptions of a rule."""
        found = self._overlaps[box]
        texts = []
        for region, other in found[:_MOST_EXCEPTIONS]:
            rival = f"box {other} ({classes[self._boxes.labels[other]]})"
            conditions = self._conditions(box, region, rounding, features)
            if conditions:
                texts.append(f"except, with {rival}: {'; '.join(conditions)}")
            else:
                texts.append(f"except everywhere: {rival} holds it all")
        if len(found) > len(texts):
            texts.append(f"except in {len(found) - len(texts)} more regions")
        return texts

    def columns(self, features: list[str]) -> dict[str, np.ndarray]:
        """Return which boxes each box overlaps."""
        texts = [", ".join(str(other) for _, other in found) for found in self._overlaps]
        return {"overlaps": np.array(texts, dtype=object)}

    def _conditions(
        self, box: int, region: int, rounding: Rounding, features: list[str]
    ) -> list[str]:
        """Return what a region demands beyond the box."""
        low, high = self._regions.lower[region], self._regions.upper[region]
        v, w = self._boxes.lower[box], self._boxes.upper[box]
        narrower = np.flatnonzero(~(np.isnan(low) | ((low == v) & (high == w))))
        return [
            f"{features[j]} {condition_text(rounding, j, low[j], high[j])}"
            for j in narrower.tolist()
        ]


class CountNotes(RuleNotes):
    """The categories that boxes count."""

    column = "counts"

    def __init__(self, model: MixedGFMM) -> None:
        n_samples = model.hyperboxes_.counts.tolist()
        self._texts = {
            j: _list_counts(list(known.values), model._model.counts_of(j), n_samples)
            for j, known in known_categories(model).items()
        }

    def summary(self) -> str:
        """Return what counts are."""
        if not self._texts:
            return ""
        return (
            "Of categories, boxes count how many of their samples have them. A sample is the more "
            "a member of a box the more frequent its categories are there, and none is a condition."
        )

    def lines(
        self, box: int, rounding: Rounding, features: list[str], classes: list[str]
    ) -> list[str]:
        """Return the counts of a box by feature."""
        return [f"{features[j]}: {texts[box]}" for j, texts in self._texts.items()]

    def columns(self, features: list[str]) -> dict[str, np.ndarray]:
        """Return the counts of each box by feature."""
        return {
            f"{features[j]} {self.column}": np.array(texts, dtype=object)
            for j, texts in self._texts.items()
        }


def _list_counts(values: list[object], counts: np.ndarray, n_samples: list[int]) -> list[str]:
    """Return the counts of each box in words, the largest first."""
    texts = []
    for row, n in zip(counts, n_samples, strict=True):
        order = np.argsort(-row, kind="stable")
        parts = [f"{values[k]} {row[k]}" for k in order.tolist() if row[k] > 0]
        if n > (n_known := int(row.sum())):
            parts.append(f"not known {n - n_known}")
        texts.append(", ".join(parts))
    return texts


class EndNotes(CountNotes):
    """The categories that are ends of boxes."""

    column = "categories"

    def __init__(self, model: FrequencyGFMM) -> None:
        ends = zip(known_categories(model), model.category_ends_.values(), strict=True)
        self._texts = {
            j: [" or ".join(str(end) for end in row if end is not None) for row in own.tolist()]
            for j, own in ends
        }

    def summary(self) -> str:
        """Return how categories decide."""
        return "Categories have distances: see category_distances_." if self._texts else ""


class LevelNotes(RuleNotes):
    """Which level the boxes are of."""

    def __init__(self, model: MultiGranularGFMM) -> None:
        self._all_vote = model._model.votes

    def summary(self) -> str:
        """Return that other levels have a vote, if they do."""
        if not self._all_vote:
            return ""
        return "These are the boxes of the coarsest level. All levels vote; see levels_."
