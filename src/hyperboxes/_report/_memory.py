"""What a report on a memory that adapts tells: whom it trusts, and which boxes voted on samples."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Self

import numpy as np

from hyperboxes._explain.memories import MemoryExplanation, MemoryExplanations
from hyperboxes._explain.quality import GivenSamples, Quality, rows_between
from hyperboxes._explain.reading import learned_range
from hyperboxes._explain.rounding import Rounding
from hyperboxes._models.memory import HORIZONS, NEIGHBORS, expert_weights
from hyperboxes._report._bars import draw_bars
from hyperboxes._report._contents import Answers, BoundedResults, choose_boxes
from hyperboxes._report._data import list_boxes, list_features, plain

_DECIMALS = 6

# Features whose bounds are shown first: those that weigh most.
_MOST_FEATURES = 4

# The boxes that voted on a sample are told one by one as far as these, and the others added up.
_MOST_VOTERS = 10

# A lead of one share of the votes over the next below which a prediction is called uncertain.
_UNCERTAIN = 0.2


@dataclass(frozen=True, eq=False, kw_only=True)
class MemoryContents(BoundedResults):
    """All that a page on a memory that adapts is made from."""

    explanations: MemoryExplanations
    samples: GivenSamples

    @classmethod
    def of(cls, answers: Answers, max_rules: int | None) -> Self:
        """Choose what to show of the answers of a model."""
        model, samples, explanations, told = answers
        boxes = model.hyperboxes_
        voters = {voter.box for sample in explanations for voter in sample.boxes[:_MOST_VOTERS]}
        by_weight = np.argsort(-model.feature_weights_, kind="stable")
        return cls(
            **told,
            boxes=boxes,
            explanations=explanations,
            shown_boxes=choose_boxes(boxes.counts, np.array(sorted(voters), int), max_rules),
            quality=Quality.measure(model, samples),
            ends=learned_range(model),
            needed=[by_weight[:_MOST_FEATURES]] * len(boxes),
            rounding=Rounding.of(model, samples.lower, samples.upper),
            samples=samples,
        )


def memory_data(contents: MemoryContents) -> dict[str, Any]:
    """Return what the scripts need; `null` stands for what is not known."""
    shown = contents.rows
    lower, upper = contents.samples.lower[shown], contents.samples.upper[shown]
    return {
        "features": list_features(contents, lower, upper),
        "labels": contents.labels,
        "nClasses": contents.n_classes,
        "nSamples": len(contents.true),
        "nBoxes": len(contents.boxes),
        "uncertain": _UNCERTAIN,
        "boxes": list_boxes(contents)
        | {"age": contents.model.box_ages_[contents.shown_boxes].tolist()},
        "byWeight": contents.needed[0].tolist(),
        "samples": _samples(contents, lower, upper),
        "editing": {
            "reason": "the boxes that are near vote, with weights that the stream has changed from "
            "sample to sample, and the page does not add up such votes."
        },
    }


def _samples(
    contents: MemoryContents, lower: np.ndarray, upper: np.ndarray
) -> list[dict[str, Any]]:
    place = {box: i for i, box in enumerate(contents.shown_boxes.tolist())}
    rounding = contents.rounding
    held = _are_held(contents)[contents.rows]
    ends = rounding.values(lower), rounding.values(upper)
    samples = []
    for i, (told, explanation) in enumerate(
        zip(contents.told_samples(), contents.explanations, strict=True)
    ):
        sample = {
            **told,
            "lower": plain(ends[0][i]),
            "memberships": np.round(contents.explanations.probabilities[i], _DECIMALS).tolist(),
            "isHeld": bool(held[i]),
            **_told(explanation, place),
        }
        if not np.array_equal(ends[0][i], ends[1][i], equal_nan=True):
            sample["upper"] = plain(ends[1][i])
        samples.append(sample)
    return samples


def _told(explanation: MemoryExplanation, place: dict[int, int]) -> dict[str, Any]:
    """Return an explanation; boxes are named by their place among those shown."""
    first, verdict, trusted, *_ = str(explanation).splitlines()
    voters = explanation.boxes
    return {
        "why": f"{first} {verdict}",
        "tie": trusted,
        "voters": [[place[box.box], round(box.share, _DECIMALS)] for box in voters[:_MOST_VOTERS]],
        "nVoters": len(voters),
        "rest": round(sum(box.share for box in voters[_MOST_VOTERS:]), _DECIMALS),
    }


def _are_held(contents: MemoryContents) -> np.ndarray:
    """Return which samples lie in a box."""
    held = np.zeros(len(contents.true), bool)
    samples, boxes = contents.samples, contents.boxes
    for low, high in zip(boxes.lower, boxes.upper, strict=True):
        held[rows_between(samples.upper, samples.lower, low, high)] = True
    return held


def describe_weights(contents: MemoryContents) -> str:
    """Return what features weigh as bars."""
    return draw_bars(contents.feature_names, contents.model.feature_weights_)


def describe_horizons(contents: MemoryContents) -> str:
    """Return the rows of a table: boxes of each horizon, and how right its experts were of late."""
    ages, scores = contents.model.box_ages_, contents.model.horizon_scores_
    shares = expert_weights(scores)
    return "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{(ages < horizon).sum():,}</td>'
        + "".join(map(_expert, scores[i], shares[i] / shares.max()))
        + f"<td>{shares[i].sum():.0%}</td></tr>"
        for i, (name, horizon) in enumerate(zip(_horizon_names(), HORIZONS, strict=True))
    )


def _expert(score: float, share: float) -> str:
    """Return a cell: the darker, the larger the share in the votes, as a part of the largest."""
    shade = int(np.ceil(10 * share))
    return f'<td class="right shade{shade}">{score:.0%}</td>'


def _horizon_names() -> list[str]:
    return [*(f"the last {horizon} samples" for horizon in HORIZONS[:-1]), "all that is remembered"]


def describe_neighbors() -> str:
    """Return the headers of the columns of experts."""
    numbers = (f"{number} nearest" if number > 1 else "the nearest" for number in NEIGHBORS)
    return "".join(f'<th scope="col">{name}</th>' for name in numbers)
