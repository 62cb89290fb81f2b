"""What listings of literature models add to their rules: overlaps of classes, categories.

`export_text` and `export_frame` find these functions by the registry.
"""

from collections.abc import Mapping

import numpy as np

from hyperboxes._readers.fitted import FittedModel
from hyperboxes._readers.rules import RuleNotes
from hyperboxes._readers.text import Rounding, condition_text

# So many exceptions of a rule are written.
_MOST_EXCEPTIONS = 5

# What decides in the regions that boxes share.
_RESOLVED = {
    "exclude": "a box of a single training sample, then the class with the most, decides",
    "compensate": "the class decides whose box has the sample nearest to a face",
    "core": "the box decides whose data core, the mean of its samples, is nearest",
    "levels": "smaller boxes decide that were learned there",
}


def overlap_notes(fitted: FittedModel, rounding: Rounding) -> RuleNotes:
    """Note the exceptions of rules: where boxes of another class contain samples as well."""
    regions = fitted.estimator.regions_
    if len(regions) == 0:
        return RuleNotes(columns={"overlaps": [""] * len(fitted.hyperboxes)})
    overlaps: list[list[tuple[int, int]]] = [[] for _ in range(len(fitted.hyperboxes))]
    for region, (first, second) in enumerate(regions.boxes.tolist()):
        overlaps[first].append((region, second))
        overlaps[second].append((region, first))
    resolved = _RESOLVED[fitted.estimator._model.resolution]
    number = "1 region is" if len(regions) == 1 else f"{len(regions)} regions are"
    return RuleNotes(
        f"{number} shared by boxes of two classes. There {resolved}.",
        [_exceptions(fitted, rounding, box, found) for box, found in enumerate(overlaps)],
        {"overlaps": [", ".join(str(other) for _, other in found) for found in overlaps]},
    )


def _exceptions(
    fitted: FittedModel, rounding: Rounding, box: int, overlaps: list[tuple[int, int]]
) -> list[str]:
    """Return the exceptions of a rule, from its regions and the boxes that share them."""
    boxes, regions = fitted.hyperboxes, fitted.estimator.regions_
    v, w = boxes.lower[box], boxes.upper[box]
    texts = []
    for region, other in overlaps[:_MOST_EXCEPTIONS]:
        rival = f"box {other} ({fitted.class_names[boxes.labels[other]]})"
        low, high = regions.lower[region], regions.upper[region]
        narrower = np.flatnonzero(~(np.isnan(low) | ((low == v) & (high == w))))
        conditions = [
            f"{fitted.feature_names[j]} {condition_text(rounding, j, low[j], high[j])}"
            for j in narrower.tolist()
        ]
        if conditions:
            texts.append(f"except, with {rival}: {'; '.join(conditions)}")
        else:
            texts.append(f"except everywhere: {rival} holds it all")
    if len(overlaps) > len(texts):
        texts.append(f"except in {len(overlaps) - len(texts)} more regions")
    return texts


def count_notes(fitted: FittedModel, rounding: Rounding) -> RuleNotes:
    """Note how many samples of each box have which categories."""
    n_samples = fitted.hyperboxes.counts.tolist()
    counted = zip(
        fitted.categories.items(), fitted.estimator.category_counts_.values(), strict=True
    )
    texts = {j: _list_counts(known.values, counts, n_samples) for (j, known), counts in counted}
    summary = (
        "Of categories, boxes count how many of their samples have them. A sample is the more "
        "a member of a box the more frequent its categories are there, and none is a condition."
    )
    return _category_notes(fitted, summary, "counts", texts)


def _list_counts(values: tuple[object, ...], counts: np.ndarray, n_samples: list[int]) -> list[str]:
    """Return the counts of each box in words, the largest first."""
    texts = []
    for row, n in zip(counts, n_samples, strict=True):
        order = np.argsort(-row, kind="stable")
        parts = [f"{values[k]} {row[k]}" for k in order.tolist() if row[k] > 0]
        if n > (n_known := int(row.sum())):
            parts.append(f"not known {n - n_known}")
        texts.append(", ".join(parts))
    return texts


def end_notes(fitted: FittedModel, rounding: Rounding) -> RuleNotes:
    """Note the categories that are ends of boxes."""
    ends = zip(fitted.categories, fitted.estimator.category_ends_.values(), strict=True)
    texts = {
        j: [" or ".join(str(end) for end in row if end is not None) for row in own.tolist()]
        for j, own in ends
    }
    summary = "Categories have distances: see category_distances_."
    return _category_notes(fitted, summary, "categories", texts)


def _category_notes(
    fitted: FittedModel, summary: str, column: str, texts: Mapping[int, list[str]]
) -> RuleNotes:
    """Return notes on the categories of each box, given as texts by feature."""
    if not texts:
        return RuleNotes()
    names = {j: fitted.feature_names[j] for j in texts}
    return RuleNotes(
        summary,
        [
            [f"{names[j]}: {text}" for j, text in zip(texts, row, strict=True)]
            for row in zip(*texts.values(), strict=True)
        ],
        {f"{names[j]} {column}": own for j, own in texts.items()},
    )


def level_notes(fitted: FittedModel, rounding: Rounding) -> RuleNotes:
    """Note that other levels have a vote, if they do."""
    if not fitted.estimator._model.votes:
        return RuleNotes()
    return RuleNotes("These are the boxes of the coarsest level. All levels vote; see levels_.")
