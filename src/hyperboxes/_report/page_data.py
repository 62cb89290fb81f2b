"""The data of a report: samples, boxes, explanations and what the editor needs, for JSON."""

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, assert_never

import numpy as np

from hyperboxes._models.calibration import class_shares
from hyperboxes._models.records import (
    AdditiveBoxes,
    BoxEnsemble,
    NearestBoxes,
    NeighborBoxes,
    Record,
)
from hyperboxes._readers import explanation_text as texts
from hyperboxes._readers.explain import explain_encoded
from hyperboxes._readers.explanation import ExplainedBox, Explanation
from hyperboxes._readers.fitted import FittedModel
from hyperboxes._readers.quality import GivenSamples, Quality, find_short_rules
from hyperboxes._readers.text import Bounds, Rounding, number_text, set_text, several_text

_DECIMALS = 6
_MEMBERSHIP_DECIMALS = 9

# A lead of one class over the next, in membership or probability, below which a prediction is
# called uncertain.
_UNCERTAIN_MEMBERSHIP = 0.05
_UNCERTAIN_PROBABILITY = 0.2

# Boxes of an explanation that are listed, by the kind of record; the others are added up.
_MAX_LISTED = {"nearest": 10, "additive": 30, "neighbors": 10, "ensemble": 10}
# Features of an ensemble's explanation that are listed.
_MAX_FEATURES = 10
# Features whose bounds are shown first: those that weigh most.
_MAX_FIRST = 4

# A slider has so many positions at least, if the values of its feature have the decimals for it.
_LEAST_POSITIONS = 100
_MOST_DECIMALS = 9


@dataclass(frozen=True, eq=False)
class Report:
    """What a page shows: a fitted model, and samples with labels.

    Labels are indices into `labels`: the model's classes, then unknown labels of `y`; -1 is none.
    `rows` are the samples that are explained. Boxes of ensembles are numbered through all members.
    """

    fitted: FittedModel
    samples: GivenSamples
    labels: list[str]
    true: np.ndarray
    predicted: np.ndarray
    probabilities: np.ndarray
    rows: np.ndarray
    explanations: list[Explanation]
    quality: Quality
    shown_boxes: np.ndarray

    @classmethod
    def of(
        cls,
        fitted: FittedModel,
        X: Any,
        y: Any,
        X_upper: Any,
        max_samples: int | None,
        max_rules: int | None,
    ) -> Self:
        """Compare predictions with labels, explain some samples, and choose boxes to show."""
        lower, upper = fitted.encode(X, X_upper)
        true, unknown = fitted.encode_labels(y, len(lower))
        if (true < 0).all():
            raise ValueError("y holds no label: a report compares predictions with labels.")
        predicted = np.searchsorted(fitted.labels, fitted.call("predict", lower, upper))
        rows = choose_samples(true, predicted, max_samples)
        ends = lower[rows], None if upper is lower else upper[rows]
        explanations = list(explain_encoded(fitted, *ends))
        samples = GivenSamples(lower, upper, true)
        listed = [
            _box_number(fitted.record, box)
            for explanation in explanations
            for box in _listed(fitted.record, explanation)
        ]
        return cls(
            fitted,
            samples,
            fitted.class_names + [f"{name} (unknown)" for name in unknown],
            true,
            predicted,
            fitted.call("predict_proba", lower, upper),
            rows,
            explanations,
            Quality.measure(fitted, samples),
            choose_boxes(_box_weights(fitted.record), np.unique(listed).astype(int), max_rules),
        )

    @property
    def n_classes(self) -> int:
        """How many classes the model has; further labels are unknown."""
        return len(self.fitted.labels)

    @property
    def n_boxes(self) -> int:
        """How many boxes the model has."""
        return len(_box_weights(self.fitted.record))

    @cached_property
    def rounding(self) -> Rounding:
        """How numbers are written."""
        return Rounding.of(self.fitted, self.samples.lower, self.samples.upper)

    @property
    def shown(self) -> tuple[np.ndarray, np.ndarray]:
        """The ends of the samples that are explained."""
        return self.samples.lower[self.rows], self.samples.upper[self.rows]

    def listed_boxes(self, explanation: Explanation) -> list[tuple[int, ExplainedBox]]:
        """Return the boxes of an explanation that are listed, with their places among the shown."""
        record = self.fitted.record
        boxes = _listed(record, explanation)
        numbers = [_box_number(record, box) for box in boxes]
        return list(zip(np.searchsorted(self.shown_boxes, numbers).tolist(), boxes, strict=True))

    def confusion(self) -> np.ndarray:
        """Return how often each label (rows) was taken for each (columns)."""
        matrix = np.zeros((len(self.labels), len(self.labels)), np.int64)
        known = self.true >= 0
        np.add.at(matrix, (self.true[known], self.predicted[known]), 1)
        return matrix


def _listed(record: Record, explanation: Explanation) -> list[ExplainedBox]:
    """Return the boxes of an explanation that are listed; of nearest boxes two go first."""
    if not isinstance(record, NearestBoxes):
        return explanation.boxes[: _MAX_LISTED[record.kind]]
    main = [box for box in (explanation.winning, explanation.competing) if box is not None]
    most = 0 if record.n_neighbors == 1 else _MAX_LISTED[record.kind]
    return [*main, *explanation.boxes[:most]]


def _first_boxes(record: BoxEnsemble) -> np.ndarray:
    """Return the number of each member's first box, and at last the number of all boxes."""
    return np.cumsum([0, *(len(member.labels) for member in record.members)])


def _box_number(record: Record, box: ExplainedBox) -> int:
    if isinstance(record, BoxEnsemble):
        return int(_first_boxes(record)[box.member]) + box.index
    return box.index


def _box_weights(record: Record) -> np.ndarray:
    """Return what boxes are chosen by: their support or their largest weight."""
    match record:
        case AdditiveBoxes():
            return record.weights.max(axis=1, initial=-np.inf)
        case BoxEnsemble():
            return np.concatenate([member.counts for member in record.members])
        case _:
            return record.counts


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


def page_data(report: Report) -> dict[str, Any]:
    """Return what the scripts need; `null` stands for what is unknown."""
    record = report.fitted.record
    is_duel = isinstance(record, NearestBoxes) and record.n_neighbors == 1
    data: dict[str, Any] = {
        "features": _list_features(report),
        "labels": report.labels,
        "nClasses": report.n_classes,
        "nSamples": len(report.true),
        "nBoxes": report.n_boxes,
        "uncertain": _UNCERTAIN_MEMBERSHIP if is_duel else _UNCERTAIN_PROBABILITY,
        "boxes": _list_boxes(report),
        "samples": [
            {"row": int(row) + 1, "true": int(report.true[row])}
            | {"predicted": int(report.predicted[row])}
            | _explain(report, explanation)
            for row, explanation in zip(report.rows, report.explanations, strict=True)
        ],
        "editing": _editing(report),
    }
    match record:
        case NearestBoxes():
            data["noChange"] = texts.NO_CHANGE
            data["roleOfDeciding"] = texts.name_of_deciding(is_mean=record.is_mean)
        case NeighborBoxes():
            data["byWeight"] = _by_weight(record)[:_MAX_FIRST]
    return data


def _by_weight(record: NeighborBoxes) -> list[int]:
    return np.argsort(-record.feature_weights, kind="stable").tolist()


def _list_features(report: Report) -> list[dict[str, Any]]:
    """Return names and categories; where boxes have all bounds, also decimals and ranges.

    "least" and "most" are the range of what was learned, "low" and "high" the one to draw.
    """
    features = [
        {"name": name} | _categories(report.fitted, j)
        for j, name in enumerate(report.fitted.feature_names)
    ]
    if not isinstance(report.fitted.record, NearestBoxes | NeighborBoxes):
        return features
    learned, (lower, upper) = report.fitted.learned_range, report.shown
    drawn = np.fmin(learned[0], np.fmin.reduce(lower)), np.fmax(learned[1], np.fmax.reduce(upper))
    ends = [_ends([end[None] for end in pair], report.rounding) for pair in (learned, drawn)]
    for j, feature in enumerate(features):
        feature["places"] = report.rounding.n_decimals[j]
        for names, (low, high) in zip((("least", "most"), ("low", "high")), ends, strict=True):
            feature |= dict(zip(names, (low[0][j], high[0][j]), strict=True))
    return features


def _categories(fitted: FittedModel, feature: int) -> dict[str, Any]:
    """Return the categories of a feature with their positions, in order; nothing without any."""
    categories = fitted.categories.get(feature)
    if categories is None:
        return {}
    names = [str(value) for value in categories.values]
    return {"categories": list(zip(names, categories.positions.tolist(), strict=True))}


def _list_boxes(report: Report) -> dict[str, Any]:
    """Return the boxes that the page shows, an array for each of their properties."""
    fitted, record, shown = report.fitted, report.fitted.record, report.shown_boxes
    quality = report.quality
    assert quality.coverage is not None
    assert quality.precision is not None
    decimals = _DECIMALS
    if isinstance(record, BoxEnsemble):
        labels = np.concatenate([member.labels for member in record.members])
        counts = np.concatenate([member.counts for member in record.members])
    else:
        labels, counts = record.labels, record.counts
    match record:
        case NearestBoxes() | NeighborBoxes():
            decimals = _MEMBERSHIP_DECIMALS
            own = _bounds(report)
        case AdditiveBoxes():
            of_class = record.class_counts[shown, record.labels[shown]]
            own = {
                "vote": rounded(record.weights[shown].max(axis=1, initial=-np.inf)),
                "votes": [
                    [
                        [int(code), round(float(row[code]), _DECIMALS)]
                        for code in np.flatnonzero(row)
                    ]
                    for row in record.weights[shown]
                ],
                "share": rounded(of_class / record.counts[shown]),
                "conditions": [
                    [
                        [j, _after_name(fitted, record, box, j)]
                        for j in np.flatnonzero(record.constrains[box]).tolist()
                    ]
                    for box in shown.tolist()
                ],
            }
        case BoxEnsemble():
            own = _members_boxes(fitted, record, shown)
        case _:
            assert_never(record)
    return {
        "index": shown.tolist(),
        "label": labels[shown].tolist(),
        "count": counts[shown].tolist(),
        "coverage": rounded(quality.coverage[shown], decimals),
        "precision": rounded(quality.precision[shown], decimals),
        **own,
    }


def _bounds(report: Report) -> dict[str, Any]:
    """Return the bounds of boxes in all features, and which of them to show first."""
    record, shown = report.fitted.record, report.shown_boxes
    boxes = report.fitted.hyperboxes
    lower, upper = _ends((boxes.lower[shown], boxes.upper[shown]), report.rounding)
    if isinstance(record, NeighborBoxes):
        needed = [_by_weight(record)[:_MAX_FIRST]] * len(shown)
        own = {"age": record.age[shown].tolist()}
    else:
        short_rules = find_short_rules(report.fitted, report.samples)
        needed, own = [short_rules[box].tolist() for box in shown], {}
    return {"needed": needed, "lower": lower, "upper": upper, **own}


def _ends(ends: Sequence[np.ndarray], rounding: Rounding) -> tuple[list[Any], list[Any]]:
    """Return lower and upper ends as the numbers that the page writes."""
    return [plain(row) for row in rounding.lower(*ends)], [
        plain(row) for row in rounding.upper(*ends)
    ]


def _after_name(fitted: FittedModel, record: AdditiveBoxes, box: int, feature: int) -> str:
    """Return a condition without the name of its feature: "> 1.5 and <= 4, or missing"."""
    lower, upper = record.lower[box, feature], record.upper[box, feature]
    ends = []
    if feature in fitted.categories and np.isfinite([lower, upper]).any():
        ends.append(set_text(fitted.categories[feature], lower, upper))
    else:
        if np.isfinite(lower):
            ends.append(f"> {number_text(np.nextafter(lower, -np.inf))}")
        if np.isfinite(upper):
            ends.append(f"<= {number_text(upper)}")
    known = " and ".join(ends) or "not missing"
    return f"{known}, or missing" if record.missing_shares[box, feature] == 1.0 else known


def _members_boxes(fitted: FittedModel, record: BoxEnsemble, shown: np.ndarray) -> dict[str, Any]:
    """Return the names of boxes, by member and number, and their conditions."""
    first, bounds = _first_boxes(record), Bounds.of(fitted)
    names, conditions = [], []
    for number in shown.tolist():
        owner = int(np.searchsorted(first, number, side="right")) - 1
        box, boxes = number - int(first[owner]), fitted.estimator.members_[owner]
        features = record.members[owner].features
        names.append(f"{owner}.{box}")
        conditions.append(bounds.listed(features, boxes.lower[box], boxes.upper[box]))
    return {"name": names, "conditions": conditions}


def _explain(report: Report, explanation: Explanation) -> dict[str, Any]:
    """Return an explanation; boxes are given by their places among those shown."""
    listed = report.listed_boxes(explanation)
    rest = explanation.boxes[len(listed) :]
    shares = [[shown, round(box.membership, _DECIMALS)] for shown, box in listed]
    common = {
        "memberships": rounded(explanation.probabilities),
        "why": texts.headline(explanation),
        "tie": "",
    }
    match report.fitted.record:
        case NearestBoxes():
            found = common | _values(report, explanation) | _explain_duel(explanation, listed)
            return found | (
                {} if explanation.layout == "duel" else _explain_several(explanation, shares)
            )
        case AdditiveBoxes():
            lines = texts.change_lines(explanation, None)
            change = explanation.counterfactual
            moves = [] if change is None else change.features.tolist()
            return common | {
                "scores": rounded(explanation.scores),
                "nHeld": len(explanation.boxes),
                "held": [
                    {"box": shown, "part": box.part, "conditions": explanation.conditions(box)}
                    for shown, box in listed
                ],
                "baseline": rounded(explanation.baseline),
                "tie": " ".join(explanation.notes),
                "rest": rounded(np.sum([box.contributions for box in rest], axis=0))
                if rest
                else [],
                "moves": [[j, float(change.lower[j])] for j in moves] if change else [],
                "change": " ".join(lines).replace(texts.ARROW, " \N{RIGHTWARDS ARROW} "),
            }
        case NeighborBoxes() as record:
            gaps = np.maximum(record.lower - explanation.upper, explanation.lower - record.upper)
            return (
                common
                | _values(report, explanation)
                | {
                    "isHeld": bool((~(gaps > 0)).all(axis=1).any()),
                    "tie": explanation.notes[0],
                    "voters": shares,
                    "nVoters": len(explanation.boxes),
                    "rest": round(sum(box.membership for box in rest), _DECIMALS),
                }
            )
        case BoxEnsemble():
            return common | _explain_ensemble(explanation) | {"boxes": shares}
        case _ as record:
            assert_never(record)


def _values(report: Report, explanation: Explanation) -> dict[str, Any]:
    """Return the values of a sample as the page writes them; both ends of intervals."""
    ends = [explanation.lower[None], explanation.upper[None]]
    lower, upper = (report.rounding.values(rows)[0] for rows in ends)
    values = {"lower": plain(lower)}
    is_point = np.array_equal(lower, upper, equal_nan=True)
    return values if is_point else values | {"upper": plain(upper)}


def _explain_duel(
    explanation: Explanation, listed: list[tuple[int, ExplainedBox]]
) -> dict[str, Any]:
    change = explanation.counterfactual
    shown_boxes = [shown for shown, _ in listed]
    return {
        "memberships": rounded(explanation.scores, _MEMBERSHIP_DECIMALS),
        "winning": shown_boxes[0],
        "competing": shown_boxes[1] if len(shown_boxes) > 1 else None,
        "deciding": explanation.deciding,
        "worst": explanation.worst,
        "weighty": explanation.features_by_weight(),
        "tie": texts.tie(explanation) if explanation.layout == "duel" else "",
        "change": None
        if change is None
        else {
            "features": change.features.tolist(),
            "ends": [plain(np.array([change.lower[j], change.upper[j]])) for j in change.features],
            "title": texts.change_title(explanation),
        },
        "isShared": int((explanation.scores == 1.0).sum()) > 1,
    } | ({} if explanation.is_search_complete else {"searchNote": texts.ENDED_EARLY})


def _explain_several(explanation: Explanation, shares: list[list[float]]) -> dict[str, Any]:
    """Return what differs from a duel where several boxes of each class decide."""
    holding = [box.class_name for box in explanation.boxes if box.holds_sample]
    return {
        "memberships": rounded(explanation.probabilities, _MEMBERSHIP_DECIMALS),
        "shares": shares[1 if explanation.competing is None else 2 :],
        "isHeld": bool(holding),
        "isShared": len(set(holding)) > 1,
    }


def _explain_ensemble(explanation: Explanation) -> dict[str, Any]:
    contributions, features = explanation.feature_contributions, explanation.features_by_weight()
    assert contributions is not None
    shown, rest = features[:_MAX_FEATURES], features[_MAX_FEATURES:]
    return {
        "why": explanation.notes[0],
        "rival": explanation._rival if len(explanation.classes) > 1 else -1,
        "features": [
            [j, texts.sample_value(explanation, j), round(float(contributions[j]), _DECIMALS)]
            for j in shown
        ],
        "nMore": len(rest),
        "rest": round(float(contributions[rest].sum()), _DECIMALS),
        "isHeld": any(box.holds_sample for box in explanation.boxes),
    }


def plain(values: np.ndarray) -> list[Any]:
    """Return numbers as short as JSON can have them, None for those that are unknown."""
    return [
        None
        if value != value
        else int(value)
        if value.is_integer() and abs(value) < 2**53
        else value
        for value in values.tolist()
    ]


def rounded(values: np.ndarray, decimals: int = _DECIMALS) -> list[float | None]:
    """Return numbers for scripts, None for NaN."""
    return plain(np.round(values, decimals))


# The editor. Numbers are packed, eight bytes each, so that the page computes with the same
# numbers as `predict`.


def _editing(report: Report) -> dict[str, Any]:
    """Return what the page needs to predict changed samples, or the reason why it does not."""
    n_shown = len(report.shown_boxes)
    match report.fitted.record:
        case NeighborBoxes():
            reason = (
                "the weights of the votes change with each sample of the stream, and the page "
                "does not add up such votes."
            )
        case BoxEnsemble():
            reason = "an ensemble has too many boxes to be in it."
        case _ if n_shown < report.n_boxes:
            reason = (
                f"it has {n_shown:,} of the model's {report.n_boxes:,} boxes, and all "
                "count. Pass max_rules=None for a page with all of them."
            )
        case NearestBoxes() as record:
            return _edit_nearest(report, record)
        case AdditiveBoxes() as record:
            return _edit_additive(report, record)
    return {"reason": reason}


def _edit_nearest(report: Report, record: NearestBoxes) -> dict[str, Any]:
    low, high = report.shown
    return {
        "model": {
            "low": pack(record.scale.low),
            "span": pack(record.scale.span),
            "gamma": pack(record.gamma),
            "isMean": record.is_mean,
            "lower": pack(record.lower),
            "upper": pack(record.upper),
            "compared": np.flatnonzero(record.compared).tolist(),
            "places": texts.PLACES,
            "tie": texts.tie_text(by_single=False),
            "tieOfSingle": texts.tie_text(by_single=True),
            "together": _edit_together(record),
        },
        "lower": pack(low),
        "upper": None if np.array_equal(low, high, equal_nan=True) else pack(high),
        "sliders": list_sliders(np.concatenate([low, high]), *report.fitted.learned_range),
    }


def _edit_together(record: NearestBoxes) -> dict[str, Any] | None:
    """Return the numbers by which several boxes of each class decide; None if one does."""
    calibration = record.calibration
    if calibration is None or calibration.n_neighbors == 1:
        return None
    names = "offset", "slope", "width", "power"
    return {name: getattr(calibration, name) for name in names} | {
        "nNeighbors": calibration.n_neighbors,
        "prior": calibration.prior_weight,
        "shares": class_shares(record.labels, record.counts, record.n_classes).tolist(),
        "why": several_text(calibration.n_neighbors),
    }


def _edit_additive(report: Report, record: AdditiveBoxes) -> dict[str, Any]:
    values, importances = report.samples.lower, record.feature_importances
    at = np.nonzero(record.constrains)
    lower, upper = record.lower[at], record.upper[at]
    # The range of the training samples is not kept: sliders span thresholds and samples.
    ends = np.concatenate([record.lower, record.upper])
    known = np.concatenate([values, np.where(np.isfinite(ends), ends, np.nan)])
    return {
        "model": {
            "lower": pack(lower),
            "upper": pack(upper),
            "missingShares": plain(record.missing_shares[at]),
            "below": [_bound_text(value) for value in np.nextafter(lower, -np.inf).tolist()],
            "last": [_bound_text(value) for value in upper.tolist()],
            "isWhole": report.explanations[0]._is_whole.tolist(),
            "weights": pack(record.weights),
            "intercept": pack(record.intercept),
            "shift": pack(record.shift * np.ones(len(record.intercept))),
            "missingScores": pack(record.missing_scores),
            "used": record.used.tolist(),
        },
        "lower": pack(report.shown[0]),
        "upper": None,
        "sliders": list_sliders(values, np.fmin.reduce(known), np.fmax.reduce(known)),
        "order": np.argsort(-importances, kind="stable")[: np.count_nonzero(importances)].tolist(),
    }


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
