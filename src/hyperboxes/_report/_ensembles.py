"""What a report on an ensemble tells: importances, large boxes, and what speaks on samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hyperboxes._explain.ensemble_rules import measure_ensemble
from hyperboxes._explain.ensembles import Bounds, EnsembleExplanation, SpeakingBox
from hyperboxes._report._contents import Answers, Results, choose_boxes
from hyperboxes._report._votes import UNCERTAIN, rounded

# So many features and boxes are told of a sample.
_MOST_FEATURES = 10
_MOST_BOXES = 10


@dataclass(frozen=True, eq=False, kw_only=True)
class EnsembleContents(Results):
    """All that a page on an ensemble is made from.

    Boxes are numbered through all members; `first_boxes` has the number of each member's first.
    """

    explanations: list[EnsembleExplanation]
    probabilities: np.ndarray
    first_boxes: np.ndarray
    bounds: Bounds

    @classmethod
    def of(cls, answers: Answers, max_rules: int | None) -> Self:
        """Choose what to show of the answers of a model."""
        members, explanations = answers.model.members_, list(answers.explanations)
        first_boxes = np.cumsum([0, *(len(boxes) for boxes in members)])
        used = {first_boxes[box.member] + box.box for e in explanations for box in loudest(e)}
        counts = np.concatenate([boxes.counts for boxes in members])
        return cls(
            **answers.told,
            shown_boxes=choose_boxes(counts, np.array(sorted(used), int), max_rules),
            quality=measure_ensemble(answers.model, members, answers.samples),
            explanations=explanations,
            probabilities=answers.explanations.probabilities,
            first_boxes=first_boxes,
            bounds=Bounds.of(answers.model, answers.told["feature_names"]),
        )


def loudest(explanation: EnsembleExplanation) -> list[SpeakingBox]:
    """Return the boxes that a page tells of a sample."""
    return explanation.boxes[:_MOST_BOXES]


def ensemble_data(contents: EnsembleContents) -> dict[str, Any]:
    """Return what the scripts need; `null` stands for what is not known."""
    return {
        "features": [{"name": name} for name in contents.feature_names],
        "labels": contents.labels,
        "nClasses": contents.n_classes,
        "nSamples": len(contents.true),
        "nBoxes": int(contents.first_boxes[-1]),
        "uncertain": UNCERTAIN,
        "editing": {"reason": "an ensemble has too many boxes to be in it."},
        "boxes": _boxes(contents),
        "samples": _samples(contents),
    }


def _boxes(contents: EnsembleContents) -> dict[str, Any]:
    shown, quality, first = contents.shown_boxes, contents.quality, contents.first_boxes
    assert quality.coverage is not None
    assert quality.precision is not None
    owners = np.searchsorted(first, shown, side="right") - 1
    members, features = contents.model.members_, contents.model.estimators_features_
    places = list(zip(owners.tolist(), (shown - first[owners]).tolist(), strict=True))
    return {
        "index": shown.tolist(),
        "name": [f"{member}.{box}" for member, box in places],
        "label": [int(members[member].labels[box]) for member, box in places],
        "count": [int(members[member].counts[box]) for member, box in places],
        "coverage": rounded(quality.coverage[shown]),
        "precision": rounded(quality.precision[shown]),
        "conditions": [
            contents.bounds.listed(
                features[member], members[member].lower[box], members[member].upper[box]
            )
            for member, box in places
        ],
    }


def _samples(contents: EnsembleContents) -> list[dict[str, Any]]:
    place = {box: i for i, box in enumerate(contents.shown_boxes.tolist())}
    by_row = zip(
        contents.told_samples(),
        map(rounded, contents.probabilities),
        contents.explanations,
        strict=True,
    )
    return [
        {
            **told,
            "memberships": probabilities,
            "rival": _find_rival(explanation, contents.model.classes_),
            "boxes": [
                [place[int(contents.first_boxes[box.member]) + box.box], round(box.share, 6)]
                for box in loudest(explanation)
            ],
            **_explained(explanation),
        }
        for told, probabilities, explanation in by_row
    ]


def _find_rival(explanation: EnsembleExplanation, classes: np.ndarray) -> int:
    """Return the code of the runner-up, -1 if there is none."""
    return -1 if explanation.rival is None else int(np.searchsorted(classes, explanation.rival))


def _explained(explanation: EnsembleExplanation) -> dict[str, Any]:
    """Return what is said of a sample beside the boxes."""
    contributions = explanation.contributions
    order = np.argsort(-np.abs(contributions), kind="stable")
    order = order[contributions[order] != 0]
    shown, rest = order[:_MOST_FEATURES].tolist(), order[_MOST_FEATURES:]
    return {
        "features": [
            [j, explanation.value_text(j), round(float(contributions[j]), 6)] for j in shown
        ],
        "nMore": len(rest),
        "rest": round(float(contributions[rest].sum()), 6),
        "isHeld": any(box.distance == 0 for box in explanation.boxes),
        "why": explanation.headline(),
        "tie": "",
    }
