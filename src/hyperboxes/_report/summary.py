"""The parts of the page that need no script: what the model is, and how good it is."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hyperboxes._estimators.registry import SPEED_PARAMETERS, find_by_class
from hyperboxes._models.adaptive_state import expert_weights
from hyperboxes._models.records import AdditiveBoxes, BoxEnsemble, NearestBoxes, NeighborBoxes
from hyperboxes._readers.quality import (
    class_scores,
    overall_scores,
    probability_scores,
    warn_of_scores,
)
from hyperboxes._readers.rules import weight_list
from hyperboxes._readers.text import several_text
from hyperboxes._report.page_data import Report

# A matrix of more classes is too large to read; the most frequent mistakes are listed instead.
_MOST_CLASSES = 60
_MOST_MISTAKES = 50
_MOST_NAMES = 40
_MOST_BARS = 20
_SHADES = 10


def describe(report: Report) -> dict[str, Any]:
    """Return what the templates take, by name."""
    estimator, record = report.fitted.estimator, report.fitted.record
    about: dict[str, Any] = {"scores": describe_scores(report)}
    match record:
        case NearestBoxes():
            n_unlabelled = int((record.labels < 0).sum())
            note = f", {n_unlabelled:,} of them without a label" if n_unlabelled else ""
            facts = {
                "Boxes": f"{report.n_boxes:,}{note}",
                "Samples learned": f"{_count_learned(report):,}",
            }
            about["several"] = several_text(record.n_neighbors) if record.n_neighbors > 1 else ""
            about["distance"] = (
                "A distance is the mean over the features, in each as a share of its range."
                if record.is_mean
                else "A distance counts in the feature where it is largest, as a share of that "
                "feature's range."
            )
        case AdditiveBoxes():
            n_conditions = int(record.constrains.sum())
            per_box = n_conditions / max(report.n_boxes, 1)
            facts = {
                "Boxes": f"{report.n_boxes:,}",
                "Conditions": f"{n_conditions:,}, {per_box:.1f} a box",
            }
            starts = weight_list(record.intercept, report.labels) or ["0 for every class"]
            about["intercepts"] = f"Scores start with {', '.join(starts)}."
            about["weights"] = _bars(report, record.feature_importances, "not used")
        case NeighborBoxes():
            facts = {
                "Boxes": f"{report.n_boxes:,} of at most {estimator.max_boxes:,}",
                "Samples learned": f"{_count_learned(report):,}",
            }
            about["experts"] = _experts(record)
            about["weights"] = _bars(report, record.feature_weights, "not used")
        case BoxEnsemble():
            n_members = len(record.members)
            facts = {
                "Members": f"{n_members:,}",
                "Boxes": f"{report.n_boxes:,}, {report.n_boxes / n_members:.0f} a member",
                "Samples learned": f"{estimator.n_samples_:,}",
            }
            if not np.isnan(estimator.oob_score_):
                facts["Out of bag"] = (
                    f"{estimator.oob_score_:.1%} of the training samples are right out of bag"
                )
            about["weights"] = _bars(report, estimator.feature_importances_, "of no help")
    return about | {"facts": _facts(report, facts)}


def _count_learned(report: Report) -> int:
    """Return how many samples were learned, those of evicted boxes included."""
    counts = report.fitted.hyperboxes.counts
    return int(getattr(report.fitted.estimator, "n_samples_seen_", counts.sum()))


def _facts(report: Report, own: dict[str, str]) -> dict[str, str]:
    """Return the facts about all models, with those of one type."""
    fitted = report.fitted
    learner = find_by_class(type(fitted.estimator))
    summary = "" if learner is None else f" ({learner.summary})"
    facts = {
        "Learner": f"{fitted.name}{summary}",
        **own,
        f"Classes ({report.n_classes:,})": _names(fitted.class_names),
        f"Features ({fitted.n_features:,})": _names(fitted.feature_names),
        "Parameters": ", ".join(_parameters(report)),
    }
    return facts | ({"Notes": fitted.remarks} if fitted.remarks else {})


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _parameters(report: Report) -> Iterator[str]:
    """Yield the parameters that are no arrays, but for those that change no prediction."""
    parameters, record = report.fitted.estimator.get_params(deep=False), report.fitted.record
    if isinstance(record, NearestBoxes):  # as fitted: they may have been set since
        gamma = record.gamma
        parameters["gamma"] = float(gamma[0]) if (gamma == gamma[0]).all() else gamma
        parameters["membership_function"] = "mean" if record.is_mean else "min"
        if isinstance(parameters.get("theta"), str):  # "auto"
            parameters["theta"] = getattr(report.fitted.estimator, "theta_", "auto")
    for name, value in parameters.items():
        if np.ndim(value) == 0 and name not in SPEED_PARAMETERS:
            yield f"{name}={value!r}"


def _bars(report: Report, values: np.ndarray, rest: str) -> dict[str, Any]:
    """Return the largest values as bars, and a note on the others; `rest` is for those at 0."""
    n_used = np.count_nonzero(values)
    order = np.argsort(-values, kind="stable")[: min(n_used, _MOST_BARS)].tolist()
    largest = values.max(initial=0.0) or 1.0
    notes = []
    if n_used > len(order):
        notes.append(f"{n_used - len(order):,} more have less")
    if n_used < len(values):
        notes.append(f"{rest}: {len(values) - n_used:,} of {len(values):,} features")
    return {
        "bars": [
            {
                "name": report.fitted.feature_names[j],
                "width": f"{100 * values[j] / largest:.1f}",
                "value": f"{values[j]:.3f}",
            }
            for j in order
        ],
        "note": f"{'; '.join(notes)}.".capitalize() if notes else "",
    }


def _experts(record: NeighborBoxes) -> dict[str, Any]:
    """Return a table of horizons: their boxes, and how right their experts were recently."""
    shares = expert_weights(record.expert_scores)
    shades = np.ceil(_SHADES * shares / shares.max()).astype(int)
    names = [f"the last {horizon} samples" for horizon in record.horizons[:-1]]
    rows = zip([*names, "all boxes"], record.horizons, strict=True)
    return {
        "neighbors": [f"{k} nearest" if k > 1 else "the nearest" for k in record.neighbors],
        "horizons": [
            {
                "name": name,
                "boxes": f"{(record.age < horizon).sum():,}",
                "experts": [
                    (f"{score:.0%}", shade)
                    for score, shade in zip(record.expert_scores[i], shades[i], strict=True)
                ],
                "share": f"{shares[i].sum():.0%}",
            }
            for i, (name, horizon) in enumerate(rows)
        ],
    }


def describe_scores(report: Report) -> dict[str, Any]:
    """Return how predictions compare with the labels."""
    matrix, names = report.confusion(), report.labels
    accuracy, balanced_accuracy = overall_scores(matrix)
    n_right, n_known = int(np.trace(matrix)), int(matrix.sum())
    support = matrix.sum(axis=1)
    most_frequent = names[int(support.argmax())]
    cards = [
        ("accuracy", accuracy, f"{n_right:,} of {n_known:,} predictions are right"),
        ("majority", support.max() / n_known, f"the accuracy of always predicting {most_frequent}"),
        ("balanced accuracy", balanced_accuracy, "the mean of the classes' recalls"),
    ]
    held = report.quality.contained
    if held is not None and not isinstance(report.fitted.record, AdditiveBoxes):
        cards.append(("in a box", held, "of the samples; the others are outside of all boxes"))
    of_probabilities = probability_scores(report.true, report.predicted, report.probabilities)
    for name, key, text in (
        ("AUC", "auc", "how well probabilities order samples: 0.5 is chance, 1 the best"),
        ("log-loss", "log_loss", "how far probabilities are from the labels: 0 is the best"),
    ):
        if key in of_probabilities:
            cards.append((name, of_probabilities[key], text))
    n_left_out = len(report.true) - n_known
    noun = "sample has" if n_left_out == 1 else "samples have"
    return {
        "names": names,
        "cards": [
            {
                "name": name,
                "value": f"{value:.3f}" if name in ("AUC", "log-loss") else _percent(value),
                "about": text,
            }
            for name, value, text in cards
        ],
        "warnings": list(warn_of_scores(names, matrix)),
        "calibration": [
            [
                f"{tenth['from']} to {tenth['to']}",
                f"{tenth['n_samples']:,}",
                *(_percent(tenth[key]) for key in ("mean_probability", "accuracy")),
            ]
            for tenth in of_probabilities.get("calibration", [])
        ],
        "left_out": f"{n_left_out:,} further {noun} no label and count in none of these figures."
        if n_left_out
        else "",
        "confusion": _confusion(matrix) if len(matrix) <= _MOST_CLASSES else None,
        "mistakes": _mistakes(matrix, names),
        "classes": [
            [
                name,
                *(_percent(scores[key]) for key in ("precision", "recall", "f1")),
                f"{scores['support']:,} ({_percent(scores['support'] / n_known)})",
            ]
            for name, scores in zip(names, class_scores(matrix), strict=True)
        ],
    }


def _confusion(matrix: np.ndarray) -> list[list[tuple[int, int]]]:
    """Return each count with its shade, the share of its row."""
    share = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    shades = np.ceil(share * _SHADES).astype(int)
    return [
        list(zip(counts.tolist(), of_row.tolist(), strict=True))
        for counts, of_row in zip(matrix, shades, strict=True)
    ]


def _mistakes(matrix: np.ndarray, names: list[str]) -> list[tuple[str, str, str]]:
    """Return the most frequent mistakes: the true and the predicted class, and their number."""
    wrong = matrix * (1 - np.eye(len(matrix), dtype=int))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_MISTAKES]
    pairs = [divmod(int(k), len(matrix)) for k in order]
    return [(names[i], names[j], f"{wrong[i, j]:,}") for i, j in pairs if wrong[i, j]]


def _percent(value: float | None) -> str:
    return "\N{EN DASH}" if value is None else f"{value:.1%}"
