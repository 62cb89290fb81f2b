"""The data of a report: samples, boxes, explanations and what the editor needs, for JSON."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import _safe_indexing

from hyperboxes._estimators.capabilities import Operation
from hyperboxes._estimators.categorical import known_categories
from hyperboxes._models.adaptive_state import HORIZONS, NEIGHBORS, expert_weights
from hyperboxes._models.hyperboxes import Hyperboxes, WeightedHyperboxes
from hyperboxes._readers import explanation_text as words
from hyperboxes._readers.ensembles import Bounds, EnsembleExplanation, SpeakingBox
from hyperboxes._readers.explain import VoteExplanation, VoteExplanations, explain
from hyperboxes._readers.explanation import Change, Explanation
from hyperboxes._readers.explanation_text import ARROW
from hyperboxes._readers.fitted import (
    name_classes,
    name_features,
    read_fitted,
    read_learned_bounds,
    read_membership,
    read_scale,
    set_text,
)
from hyperboxes._readers.memories import MemoryExplanation, MemoryExplanations
from hyperboxes._readers.quality import GivenSamples, Quality, find_short_rules, rows_between
from hyperboxes._readers.rounding import Rounding
from hyperboxes._readers.rules import vote_list
from hyperboxes._readers.text import number_text


@dataclass(frozen=True, eq=False, kw_only=True)
class Results:
    """What pages on all kinds of models are made from.

    Labels are codes: indices into `labels`, the model's classes and then labels in `y` that it
    does not know; -1 is no label.
    """

    model: Any
    feature_names: list[str]
    labels: list[str]
    true: np.ndarray
    predicted: np.ndarray
    rows: np.ndarray
    shown_boxes: np.ndarray
    quality: Quality

    @property
    def n_classes(self) -> int:
        """How many classes the model has; further labels it does not know."""
        return len(self.model.classes_)

    def told_samples(self) -> Iterator[dict[str, int]]:
        """Return the rows to show, with their labels and the predictions, as the scripts want."""
        for row, true, predicted in zip(
            self.rows.tolist(),
            self.true[self.rows].tolist(),
            self.predicted[self.rows].tolist(),
            strict=True,
        ):
            yield {"row": row + 1, "true": true, "predicted": predicted}

    def confusion(self) -> np.ndarray:
        """Return how often each label (rows) was taken for each (columns)."""
        matrix = np.zeros((len(self.labels), len(self.labels)), np.int64)
        known = self.true >= 0
        np.add.at(matrix, (self.true[known], self.predicted[known]), 1)
        return matrix


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundedResults(Results):
    """The same for boxes with bounds in all features.

    `ends` is the range of each feature, `needed` the features of each box that are told first.
    """

    boxes: Hyperboxes
    ends: tuple[np.ndarray, np.ndarray]
    needed: list[np.ndarray]
    rounding: Rounding


class Answers(NamedTuple):
    """What a model says of samples: `told` has the fields of `Results` that need nothing else."""

    model: Any
    samples: GivenSamples
    explanations: Any
    told: dict[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Contents(BoundedResults):
    """All that a page on boxes that cover samples is made from."""

    explanations: list[Explanation]

    @classmethod
    def of(cls, answers: Answers, max_rules: int | None) -> Self:
        """Choose what to show of the answers of a model."""
        model, samples, explanations, told = answers
        boxes, fitted = model.hyperboxes_, read_fitted(model, Operation.REPORT)
        used = np.union1d(explanations.winning, explanations.competing)
        return cls(
            **told,
            boxes=boxes,
            explanations=list(explanations),
            shown_boxes=choose_boxes(boxes.counts, used[used >= 0], max_rules),
            quality=Quality.measure(fitted, samples),
            ends=fitted.learned_range,
            needed=find_short_rules(fitted, samples),
            rounding=Rounding.of(fitted, samples.lower, samples.upper),
        )


def list_categories(model: Any, feature: int) -> dict[str, Any]:
    """Return the categories of a feature with their places, in order; nothing if it has none."""
    categories = known_categories(model).get(feature)
    if categories is None:
        return {}
    names = [str(value) for value in categories.values]
    return {"categories": list(zip(names, categories.positions.tolist(), strict=True))}


def ask(
    model: Any,
    X: Any,
    y: Any,
    X_upper: Any,
    feature_names: Any,
    class_names: Any,
    max_samples: int | None,
) -> Answers:
    """Compare predictions with labels, choose samples to show, and have them explained."""
    samples = GivenSamples.check(read_fitted(model, Operation.REPORT), X, y, X_upper)
    assert samples is not None
    answers = model.predict(X) if X_upper is None else model.predict(X, X_upper)
    predicted = np.searchsorted(model.classes_, answers)
    true, unknown = compare_labels(model, y, len(predicted))
    rows = choose_samples(true, predicted, max_samples)
    upper = None if X_upper is None else _safe_indexing(X_upper, rows)
    explanations = explain(
        model,
        _safe_indexing(X, rows),
        X_upper=upper,
        feature_names=feature_names,
        class_names=class_names,
    )
    told = {
        "model": model,
        "feature_names": name_features(model, feature_names),
        "labels": name_classes(model, class_names) + [f"{name} (unknown)" for name in unknown],
        "true": true,
        "predicted": predicted,
        "rows": rows,
    }
    return Answers(model, samples, explanations, told)


def compare_labels(model: Any, y: Any, n_samples: int) -> tuple[np.ndarray, list[Any]]:
    """Return labels as codes, and those that the model does not know; there must be one."""
    true, unknown = read_fitted(model, Operation.REPORT).encode_labels(y, n_samples)
    if (true < 0).all():
        raise ValueError("y holds no label: a report compares predictions with labels.")
    return true, unknown


def choose_samples(true: np.ndarray, predicted: np.ndarray, most: int | None) -> np.ndarray:
    """Return rows to show, in order: wrong ones as far as they fit, then others evenly spread."""
    most = len(true) if most is None else most
    is_wrong = (true >= 0) & (true != predicted)
    wrong = _spread(np.flatnonzero(is_wrong), most)
    others = _spread(np.flatnonzero(~is_wrong), most - len(wrong))
    return np.sort(np.concatenate([wrong, others]))


def _spread(rows: np.ndarray, most: int) -> np.ndarray:
    """Return some rows at regular distances, all if they fit."""
    if len(rows) <= most:
        return rows
    return rows[np.arange(most) * len(rows) // max(most, 1)]


def choose_boxes(weights: np.ndarray, needed: np.ndarray, most: int | None) -> np.ndarray:
    """Return boxes to show, in order: those needed, then those with the largest weights."""
    most = len(weights) if most is None else most
    by_weight = np.argsort(-weights, kind="stable")
    others = by_weight[~np.isin(by_weight, needed)]
    return np.sort(np.concatenate([needed, others[: max(most - len(needed), 0)]]))


_MOST_BARS = 20


def draw_bars(names: list[str], values: np.ndarray, rest: str = "are not used") -> str:
    """Return bars for the largest values, the longest first, and how many more there are.

    `rest` says what is with those that are 0.
    """
    n_used = np.count_nonzero(values)
    order = np.argsort(-values, kind="stable")[: min(n_used, _MOST_BARS)]
    largest = values.max(initial=0.0) or 1.0
    bars = "".join(
        f'<div class="bar"><span>{escape(names[j])}</span>'
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="winning" width="{100 * values[j] / largest:.1f}" height="10"/></svg>'
        f'<span class="degree">{values[j]:.3f}</span></div>'
        for j in order
    )
    parts = []
    if n_used > len(order):
        parts.append(f"{n_used - len(order):,} more have less")
    if n_used < len(values):
        parts.append(f"{len(values) - n_used:,} others {rest}")
    return f"{bars}<p>{'; '.join(parts)}.</p>" if parts else bars


_MEMBERSHIP_DECIMALS = 9
# A lead of one membership over the next below which a prediction is called uncertain.
_UNCERTAIN = 0.05


def page_data(contents: Contents) -> dict[str, Any]:
    """Return what the scripts need; `null` stands for what is not known."""
    shown = contents.explanations
    return {
        "features": list_features(contents, [e.lower for e in shown], [e.upper for e in shown]),
        "labels": contents.labels,
        "nClasses": contents.n_classes,
        "nSamples": len(contents.true),
        "nBoxes": len(contents.boxes),
        "uncertain": _UNCERTAIN,
        "noChange": words.NO_CHANGE,
        "roleOfDeciding": words.name_of_deciding(read_membership(contents.model).function),
        "boxes": list_boxes(contents),
        "samples": _samples(contents),
    }


def list_features(
    contents: BoundedResults, lower: Sequence[np.ndarray], upper: Sequence[np.ndarray]
) -> list[dict[str, Any]]:
    """Return names and decimals, the range to draw and the range of what was learned.

    `lower` and `upper` are the ends of the samples shown.
    """
    lowest = np.fmin.reduce([contents.ends[0], *lower])
    highest = np.fmax.reduce([contents.ends[1], *upper])
    least, most = _ends([end[None] for end in contents.ends], contents.rounding)
    low, high = _ends([lowest[None], highest[None]], contents.rounding)
    return [
        {
            "name": name,
            "places": contents.rounding.places[j],
            "least": least[0][j],
            "most": most[0][j],
            "low": low[0][j],
            "high": high[0][j],
        }
        | list_categories(contents.model, j)
        for j, name in enumerate(contents.feature_names)
    ]


def list_boxes(contents: BoundedResults) -> dict[str, Any]:
    """Return the boxes that the page shows, by what is told of them."""
    boxes, shown = contents.boxes, contents.shown_boxes
    quality = contents.quality
    assert quality.coverage is not None
    assert quality.precision is not None
    lower, upper = _ends((boxes.lower[shown], boxes.upper[shown]), contents.rounding)
    return {
        "index": shown.tolist(),
        "label": boxes.labels[shown].tolist(),
        "count": boxes.counts[shown].tolist(),
        "coverage": plain(np.round(quality.coverage[shown], _MEMBERSHIP_DECIMALS)),
        "precision": plain(np.round(quality.precision[shown], _MEMBERSHIP_DECIMALS)),
        "needed": [contents.needed[box].tolist() for box in shown],
        "lower": lower,
        "upper": upper,
    }


def _ends(ends: Sequence[np.ndarray], rounding: Rounding) -> tuple[list[Any], list[Any]]:
    """Return lower and upper ends as the numbers that the page writes."""
    return [plain(row) for row in rounding.lower(*ends)], [
        plain(row) for row in rounding.upper(*ends)
    ]


def _samples(contents: Contents) -> list[dict[str, Any]]:
    place = {box: i for i, box in enumerate(contents.shown_boxes.tolist())}
    ends = _ends_of(contents)
    return [
        told
        | _explained(explanation, place, *ends[:, i])
        | {"change": _change(explanation.change), "isShared": _is_shared(explanation)}
        for i, (told, explanation) in enumerate(
            zip(contents.told_samples(), contents.explanations, strict=True)
        )
    ]


def _is_shared(explanation: Explanation) -> bool:
    """Whether boxes of several classes contain a sample."""
    return int((explanation.memberships == 1.0).sum()) > 1


def _ends_of(contents: Contents) -> np.ndarray:
    """Return the lower and the upper ends of all samples."""
    samples, rounding = contents.explanations, contents.rounding
    both = [[sample.lower for sample in samples], [sample.upper for sample in samples]]
    return np.stack([rounding.values(np.stack(rows)) for rows in both])


def _explained(
    explanation: Explanation, place: dict[int, int], lower: np.ndarray, upper: np.ndarray
) -> dict[str, Any]:
    """Return an explanation; boxes are named by their place among those shown."""
    competing = explanation.competing
    values = {
        "lower": plain(lower),
        "memberships": plain(np.round(explanation.memberships, _MEMBERSHIP_DECIMALS)),
        "winning": place[explanation.winning.index],
        "competing": None if competing is None else place[competing.index],
        "deciding": explanation.deciding,
        "worst": explanation.worst,
        "weighty": explanation.features_by_weight(),
        "why": words.headline(explanation),
        "tie": words.tie(explanation),
    }
    is_point = np.array_equal(lower, upper, equal_nan=True)
    return values if is_point else values | {"upper": plain(upper)}


def _change(change: Change | None) -> dict[str, Any] | None:
    """Return which features change to what, in their order, and what that gives."""
    if change is None:
        return None
    ends = np.stack([change.lower, change.upper])[:, change.features]
    return {
        "features": change.features.tolist(),
        "ends": [plain(pair) for pair in ends.T],
        "title": words.title_of_change(change),
    }


def plain(values: np.ndarray) -> list[Any]:
    """Return numbers for JSON, None for those that are not known."""
    return [_number(value) for value in values.tolist()]


def _number(value: float) -> Any:
    """Return a number as short as JSON can have it."""
    if value != value:
        return None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


_DECIMALS = 6

# The boxes that hold a sample are told one by one as far as these, and the others added up.
_MOST_VOTES = 30

# A lead of one probability over the next below which a prediction is called uncertain.
UNCERTAIN = 0.2


@dataclass(frozen=True, eq=False, kw_only=True)
class VoteContents(Results):
    """All that a page on boxes that vote is made from."""

    boxes: WeightedHyperboxes
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
            quality=Quality.measure(read_fitted(model, Operation.REPORT), samples),
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
        "samples": _vote_samples(contents),
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


def _vote_samples(contents: VoteContents) -> list[dict[str, Any]]:
    place = {box: i for i, box in enumerate(contents.shown_boxes.tolist())}
    return [
        {**told, **_explained_votes(explanation, place)}
        for told, explanation in zip(contents.told_samples(), contents.explanations, strict=True)
    ]


def _explained_votes(explanation: VoteExplanation, place: dict[int, int]) -> dict[str, Any]:
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
        "why": words.headline_of_votes(explanation),
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


# Numbers are packed: eight bytes each, so that the page computes with the very numbers of
# `predict`.

# A slider has so many positions at least, if the values of its feature have the decimals for it.
_LEAST_POSITIONS = 100
_MOST_DECIMALS = 9


def editing_of_covers(contents: Contents) -> dict[str, Any]:
    """Return what the page needs to find the nearest box, or the reason why it does not."""
    if reason := _reason(contents):
        return {"reason": reason}
    lower, upper = read_learned_bounds(contents.model)
    scale, membership = read_scale(contents.model), read_membership(contents.model)
    shown = contents.explanations
    low, high = np.stack([e.lower for e in shown]), np.stack([e.upper for e in shown])
    return {
        "model": {
            "low": pack(scale.low),
            "span": pack(scale.span),
            "gamma": pack(membership.gamma),
            "isMean": membership.is_mean,
            "lower": pack(lower),
            "upper": pack(upper),
            "places": words.PLACES,
            "tie": words.tie_text(by_single=False),
            "tieOfSingle": words.tie_text(by_single=True),
        },
        "lower": pack(low),
        "upper": None if np.array_equal(low, high, equal_nan=True) else pack(high),
        "sliders": list_sliders(np.concatenate([low, high]), *contents.ends),
    }


def editing_of_votes(contents: VoteContents) -> dict[str, Any]:
    """Return what the page needs to add up votes, or the reason why it does not."""
    if reason := _reason(contents):
        return {"reason": reason}
    boxes, values = contents.boxes, contents.values
    at = np.nonzero(boxes.constrains)
    lower, upper = boxes.lower[at], boxes.upper[at]
    below = np.nextafter(lower, -np.inf)
    importances = contents.model.feature_importances_
    shown = values[contents.rows]
    return {
        "model": {
            "lower": pack(lower),
            "upper": pack(upper),
            "missing": boxes.missing[at].astype(int).tolist(),
            "below": [_bound_text(value) for value in below.tolist()],
            "last": [_bound_text(value) for value in upper.tolist()],
            "weights": pack(boxes.weights),
            "intercept": pack(contents.model.intercept_),
        },
        "lower": pack(shown),
        "upper": None,
        "sliders": list_sliders(values, *_range_of_votes(boxes, values)),
        "order": np.argsort(-importances, kind="stable")[: np.count_nonzero(importances)].tolist(),
    }


def _reason(contents: Contents | VoteContents) -> str:
    """Return why a page cannot predict; nothing if it can."""
    n_shown, n_boxes = len(contents.shown_boxes), len(contents.boxes)
    if n_shown < n_boxes:
        return (
            f"it holds {n_shown:,} of the model's {n_boxes:,} boxes, and all have a say. One "
            "written with max_rules=None holds them all."
        )
    return ""


def _range_of_votes(boxes: Any, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the range of thresholds and samples: that of the training samples is not kept."""
    ends = np.concatenate([boxes.lower, boxes.upper])
    rows = np.concatenate([values, np.where(np.isfinite(ends), ends, np.nan)])
    return np.fmin.reduce(rows), np.fmax.reduce(rows)


def list_sliders(values: np.ndarray, least: np.ndarray, most: np.ndarray) -> list[list[int] | None]:
    """Return for each feature where its slider ends, in units of a power of ten, and that power.

    None is for a feature that does not vary. Values have the decimals that those of samples have,
    but not more than are needed to move a slider smoothly.
    """
    ends = np.fmin(least, np.fmin.reduce(values)), np.fmax(most, np.fmax.reduce(values))
    columns = zip(values.T, *(end.tolist() for end in ends), strict=True)
    return [_slider(*column) for column in columns]


def _slider(values: np.ndarray, least: float, most: float) -> list[int] | None:
    span = most - least
    if not 0 < span < math.inf:
        return None
    power = math.floor(math.log10(span / _LEAST_POSITIONS))
    known = values[~np.isnan(values)]
    decimals = (d for d in range(_MOST_DECIMALS) if (np.round(known, d) == known).all())
    power = max(power, -next(decimals, _MOST_DECIMALS)) if power < 0 else power
    unit = 10.0**power
    return [math.floor(round(least / unit, 6)), math.ceil(round(most / unit, 6)), power]


def _bound_text(value: float) -> str | None:
    return number_text(value) if math.isfinite(value) else None


def pack(values: np.ndarray) -> str:
    """Return numbers as text: each in eight bytes, the least first."""
    return base64.b64encode(np.ascontiguousarray(values, "<f8").tobytes()).decode()


# Features whose bounds are shown first: those that weigh most.
_MOST_FEATURES = 4

# The boxes that voted on a sample are told one by one as far as these, and the others added up.
_MOST_VOTERS = 10

# A lead of one share of the votes over the next below which a prediction is called uncertain.
_UNCERTAIN_NEIGHBORS = 0.2


@dataclass(frozen=True, eq=False, kw_only=True)
class MemoryContents(BoundedResults):
    """All that a page on a memory that adapts is made from."""

    explanations: MemoryExplanations
    samples: GivenSamples

    @classmethod
    def of(cls, answers: Answers, max_rules: int | None) -> Self:
        """Choose what to show of the answers of a model."""
        model, samples, explanations, told = answers
        boxes, fitted = model.hyperboxes_, read_fitted(model, Operation.REPORT)
        voters = {voter.box for sample in explanations for voter in sample.boxes[:_MOST_VOTERS]}
        by_weight = np.argsort(-model.feature_weights_, kind="stable")
        return cls(
            **told,
            boxes=boxes,
            explanations=explanations,
            shown_boxes=choose_boxes(boxes.counts, np.array(sorted(voters), int), max_rules),
            quality=Quality.measure(fitted, samples),
            ends=fitted.learned_range,
            needed=[by_weight[:_MOST_FEATURES]] * len(boxes),
            rounding=Rounding.of(fitted, samples.lower, samples.upper),
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
        "uncertain": _UNCERTAIN_NEIGHBORS,
        "boxes": list_boxes(contents)
        | {"age": contents.model.box_ages_[contents.shown_boxes].tolist()},
        "byWeight": contents.needed[0].tolist(),
        "samples": _neighbor_samples(contents, lower, upper),
        "editing": {
            "reason": "the boxes that are near vote, with weights that the stream has changed from "
            "sample to sample, and the page does not add up such votes."
        },
    }


def _neighbor_samples(
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


# So many features and boxes are told of a sample.
_MOST_ENSEMBLE_FEATURES = 10
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
            quality=Quality.measure(read_fitted(answers.model, Operation.REPORT), answers.samples),
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
        "boxes": _ensemble_boxes(contents),
        "samples": _ensemble_samples(contents),
    }


def _ensemble_boxes(contents: EnsembleContents) -> dict[str, Any]:
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


def _ensemble_samples(contents: EnsembleContents) -> list[dict[str, Any]]:
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
            **_explained_by_members(explanation),
        }
        for told, probabilities, explanation in by_row
    ]


def _find_rival(explanation: EnsembleExplanation, classes: np.ndarray) -> int:
    """Return the code of the runner-up, -1 if there is none."""
    return -1 if explanation.rival is None else int(np.searchsorted(classes, explanation.rival))


def _explained_by_members(explanation: EnsembleExplanation) -> dict[str, Any]:
    """Return what is said of a sample beside the boxes."""
    contributions = explanation.contributions
    order = np.argsort(-np.abs(contributions), kind="stable")
    order = order[contributions[order] != 0]
    shown, rest = order[:_MOST_ENSEMBLE_FEATURES].tolist(), order[_MOST_ENSEMBLE_FEATURES:]
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
