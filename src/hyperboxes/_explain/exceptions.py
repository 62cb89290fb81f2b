"""The exceptions of rules: where boxes of another class hold samples, too."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from hyperboxes._estimators.contentious import ContentiousFuzzyMinMax
from hyperboxes._explain.categories import set_text
from hyperboxes._explain.rounding import Rounding
from hyperboxes._models.contention import ContentiousRegions
from hyperboxes._models.hyperboxes import Hyperboxes

# Of a rule so many are written.
_MOST_EXCEPTIONS = 5

# What decides in the regions that boxes share.
_SETTLED = {
    "exclude": "a box of a single training sample, then the class with the most, decides",
    "compensate": "the class decides whose box has the sample nearest to a face",
    "core": "the box decides whose data core, the mean of its samples, is nearest",
    "levels": "smaller boxes decide that were learned there",
}


def keeps_overlaps(model: Any) -> bool:
    """Whether boxes of two classes may overlap, and the model knows how that is settled."""
    return isinstance(model, ContentiousFuzzyMinMax)


def read_regions(model: Any) -> ContentiousRegions | None:
    """Return the regions that boxes of two classes share; None for models that keep none."""
    return model.regions_ if keeps_overlaps(model) else None


def describe_regions(model: Any) -> str:
    """Return what is to say of the exceptions of all rules; nothing if there are none."""
    regions = read_regions(model)
    if regions is None or len(regions) == 0:
        return ""
    number = "1 region is" if len(regions) == 1 else f"{len(regions)} regions are"
    return f"{number} shared by boxes of two classes. There {_SETTLED[model._model.resolution]}."


def describe_settling(model: Any, is_contentious: bool) -> str:
    """Return what has settled the class of a sample; nothing if it is in no region, or a tie."""
    settlement = name_settlement(model) if is_contentious else ""
    return f"Boxes of several classes hold it: {settlement}." if settlement else ""


def name_settlement(model: Any) -> str:
    """Return what decides in the regions that boxes share; nothing if the nearest box does."""
    if not keeps_overlaps(model) or model._model.resolution == "exclude":
        return ""
    return _SETTLED[model._model.resolution]


def _list_overlaps(regions: ContentiousRegions, n_boxes: int) -> list[list[tuple[int, int]]]:
    """Return for each box its regions, and the boxes that it shares them with."""
    overlaps: list[list[tuple[int, int]]] = [[] for _ in range(n_boxes)]
    for region, (first, second) in enumerate(regions.boxes.tolist()):
        overlaps[first].append((region, second))
        overlaps[second].append((region, first))
    return overlaps


def tabulate_overlaps(model: Any) -> dict[str, np.ndarray]:
    """Return a column that says which boxes each box overlaps; none for models without regions."""
    regions = read_regions(model)
    if regions is None:
        return {}
    overlaps = _list_overlaps(regions, len(model.hyperboxes_))
    texts = [", ".join(str(box) for _, box in found) for found in overlaps]
    return {"overlaps": np.array(texts, dtype=object)}


class Exceptions:
    """Writes the exceptions of rules, below their conditions."""

    def __init__(
        self,
        model: Any,
        rounding: Rounding,
        features: list[str],
        classes: list[str],
    ) -> None:
        self.boxes: Hyperboxes = model.hyperboxes_
        self.regions = read_regions(model)
        self.overlaps = (
            [] if self.regions is None else _list_overlaps(self.regions, len(self.boxes))
        )
        self.rounding, self.features, self.classes = rounding, features, classes

    def lines(self, box: int, indent: str, width: int) -> list[str]:
        """Return the exceptions of a rule, a line or more for each."""
        found = self.found_in(box)
        texts = [_text(*exception) for exception in found[:_MOST_EXCEPTIONS]]
        if len(found) > len(texts):
            texts.append(f"except in {len(found) - len(texts)} more regions")
        return [
            line
            for text in texts
            for line in textwrap.wrap(
                text, width, initial_indent=indent, subsequent_indent=2 * indent
            )
        ]

    def found_in(self, box: int) -> list[tuple[str, list[str]]]:
        """Return which other boxes hold parts of a box, and what such a part demands beyond it."""
        found = self.overlaps[box] if self.overlaps else []
        return [(self._name(other), self._conditions(box, region)) for region, other in found]

    def _name(self, box: int) -> str:
        return f"box {box} ({self.classes[self.boxes.labels[box]]})"

    def _conditions(self, box: int, region: int) -> list[str]:
        """Return what a region demands beyond the box."""
        assert self.regions is not None
        low, high = self.regions.lower[region], self.regions.upper[region]
        v, w = self.boxes.lower[box], self.boxes.upper[box]
        narrower = np.flatnonzero(~(np.isnan(low) | ((low == v) & (high == w))))
        return [f"{self.features[j]} {self._ends(j, low, high)}" for j in narrower.tolist()]

    def _ends(self, j: int, low: np.ndarray, high: np.ndarray) -> str:
        if j in self.rounding.categories:
            return set_text(self.rounding.categories[j], low[j], high[j])
        first = self.rounding.low(j, low[j], high[j])
        last = self.rounding.high(j, low[j], high[j])
        return f"= {first}" if first == last else f"{first} to {last}"


def _text(rival: str, conditions: list[str]) -> str:
    if not conditions:
        return f"except everywhere: {rival} holds it all"
    return f"except, with {rival}: {'; '.join(conditions)}"
