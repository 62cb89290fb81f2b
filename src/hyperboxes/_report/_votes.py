"""What a report on boxes that vote tells: their rules, importances, and votes on samples."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Self

import numpy as np

from hyperboxes._estimators.tables import known_categories
from hyperboxes._explain import vote_text as words
from hyperboxes._explain.categories import set_text
from hyperboxes._explain.quality import Quality
from hyperboxes._explain.text import ARROW
from hyperboxes._explain.vote_explaining import VoteExplanations
from hyperboxes._explain.vote_explanation import VoteExplanation
from hyperboxes._explain.votes import number_text, vote_list
from hyperboxes._models.voting import VotingHyperboxes
from hyperboxes._report._bars import draw_bars
from hyperboxes._report._contents import Answers, Results, choose_boxes, list_categories

_DECIMALS = 6

# The boxes that hold a sample are told one by one as far as these, and the others added up.
_MOST_VOTES = 30

# A lead of one probability over the next below which a prediction is called uncertain.
UNCERTAIN = 0.2


@dataclass(frozen=True, eq=False, kw_only=True)
class VoteContents(Results):
    """All that a page on boxes that vote is made from."""

    boxes: VotingHyperboxes
    explanations: VoteExplanations
    values: np.ndarray

    @classmethod
    def of(cls, answers: Answers, max_rules: int | None) -> Self:
        """Choose what to show of the answers of a model."""
        model, samples, explanations, told = answers
        boxes = model.hyperboxes_
        used = {vote.index for sample in explanations for vote in sample.votes[:_MOST_VOTES]}
        needed = np.array(sorted(used), int)
        return cls(
            **told,
            boxes=boxes,
            shown_boxes=choose_boxes(boxes.weights.max(axis=1), needed, max_rules),
            quality=Quality.measure_votes(model, samples),
            explanations=explanations,
            values=samples.lower,
        )


def vote_data(contents: VoteContents) -> dict[str, Any]:
    """Return what the scripts need; `null` stands for what is not known."""
    return {
        "features": [
            {"name": name} | list_categories(contents.model, j)
            for j, name in enumerate(contents.feature_names)
        ],
        "labels": contents.labels,
        "nClasses": contents.n_classes,
        "nSamples": len(contents.true),
        "nBoxes": len(contents.boxes),
        "uncertain": UNCERTAIN,
        "intercept": rounded(contents.model.intercept_),
        "boxes": _boxes(contents),
        "samples": _samples(contents),
    }


def _boxes(contents: VoteContents) -> dict[str, Any]:
    boxes, shown, quality = contents.boxes, contents.shown_boxes, contents.quality
    assert quality.coverage is not None
    assert quality.precision is not None
    of_class = boxes.class_counts[shown, boxes.labels[shown]]
    return {
        "index": shown.tolist(),
        "label": boxes.labels[shown].tolist(),
        "vote": rounded(boxes.weights[shown].max(axis=1)),
        "votes": [
            [[int(code), round(float(votes[code]), _DECIMALS)] for code in np.flatnonzero(votes)]
            for votes in boxes.weights[shown]
        ],
        "count": boxes.counts[shown].tolist(),
        "share": rounded(of_class / boxes.counts[shown]),
        "coverage": rounded(quality.coverage[shown]),
        "precision": rounded(quality.precision[shown]),
        "conditions": [
            [[j, _after_name(contents.model, box, j)] for j in np.flatnonzero(constrains).tolist()]
            for box, constrains in zip(shown.tolist(), boxes.constrains[shown], strict=True)
        ],
    }


def _after_name(model: Any, box: int, feature: int) -> str:
    """Return a condition without the name of its feature: "> 1.5 and <= 4, or missing"."""
    boxes, categories = model.hyperboxes_, known_categories(model)
    lower, upper = boxes.lower[box, feature], boxes.upper[box, feature]
    ends = []
    if feature in categories and np.isfinite([lower, upper]).any():
        ends.append(set_text(categories[feature], lower, upper))
    else:
        if np.isfinite(lower):
            ends.append(f"> {number_text(np.nextafter(lower, -np.inf))}")
        if np.isfinite(upper):
            ends.append(f"<= {number_text(upper)}")
    known = " and ".join(ends) or "not missing"
    return f"{known}, or missing" if boxes.missing[box, feature] else known


def _samples(contents: VoteContents) -> list[dict[str, Any]]:
    place = {box: i for i, box in enumerate(contents.shown_boxes.tolist())}
    return [
        {**told, **_explained(explanation, place)}
        for told, explanation in zip(contents.told_samples(), contents.explanations, strict=True)
    ]


def _explained(explanation: VoteExplanation, place: dict[int, int]) -> dict[str, Any]:
    """Return an explanation; boxes are named by their place among those shown."""
    told, rest = explanation.votes[:_MOST_VOTES], explanation.votes[_MOST_VOTES:]
    total = np.sum([vote.weights for vote in rest], axis=0) if rest else np.zeros(0)
    return {
        "memberships": rounded(explanation.probabilities),
        "scores": rounded(explanation.scores),
        "nHeld": len(explanation.votes),
        "held": [
            {"box": place[vote.index], "conditions": explanation.conditions(vote)} for vote in told
        ],
        "rest": rounded(total),
        "why": words.headline(explanation),
        "tie": "",
        "moves": _moves(explanation),
        "change": words.change(explanation).replace(ARROW, " \N{RIGHTWARDS ARROW} "),
    }


def _moves(explanation: VoteExplanation) -> list[list[Any]]:
    """Return which features change to what for another prediction."""
    change = explanation.change
    if change is None:
        return []
    return [[j, float(change.values[j])] for j in change.features.tolist()]


def describe_importances(contents: Results, rest: str = "are not used") -> str:
    """Return the importances of the features as bars, and say what is with those that have none."""
    return draw_bars(contents.feature_names, contents.model.feature_importances_, rest)


def describe_intercepts(contents: VoteContents) -> str:
    """Return what scores start with."""
    starts = vote_list(contents.model.intercept_, contents.labels)
    return escape(f"Scores start with {', '.join(starts) or '0 for every class'}.")


def rounded(values: np.ndarray) -> list[float | None]:
    """Return numbers for scripts, None for NaN."""
    numbers = np.round(values, _DECIMALS).tolist()
    return [None if number != number else number for number in numbers]
