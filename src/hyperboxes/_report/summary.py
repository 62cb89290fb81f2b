"""The parts of the page that need no script: what the model is, and how good it is."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from hyperboxes._estimators.registry import SPEED_PARAMETERS, find_by_class
from hyperboxes._readers.fitted import describe_units, is_voting, read_membership
from hyperboxes._readers.quality import class_scores, overall_scores
from hyperboxes._report.page_data import (
    BoundedResults,
    Contents,
    EnsembleContents,
    MemoryContents,
    Results,
    VoteContents,
)

# A matrix of more classes is too large to read; the most frequent mistakes are listed instead.
_MOST_CLASSES = 60
_MOST_MISTAKES = 50
_MOST_NAMES = 40
_SHADES = 10


def describe_model(contents: Contents) -> str:
    """Return the facts about a model whose boxes cover samples."""
    boxes = contents.boxes
    facts = {
        "Boxes": f"{len(boxes):,}{_unlabelled(boxes.labels)}",
        "Samples learned": f"{_count_learned(contents):,}",
    }
    return _facts(contents, facts, _used_membership(contents.model))


def describe_memory(contents: MemoryContents) -> str:
    """Return the facts about a memory that adapts."""
    facts = {
        "Boxes": f"{len(contents.boxes):,} of at most {contents.model.max_boxes:,}",
        "Samples learned": f"{_count_learned(contents):,}",
    }
    return _facts(contents, facts, {})


def _count_learned(contents: BoundedResults) -> int:
    """Return how many samples were learned, those of boxes that are forgotten included."""
    return int(getattr(contents.model, "n_samples_seen_", contents.boxes.counts.sum()))


def describe_voting_model(contents: VoteContents) -> str:
    """Return the facts about a model whose boxes vote."""
    boxes = contents.boxes
    n_conditions = int(boxes.constrains.sum())
    facts = {
        "Boxes": f"{len(boxes):,}",
        "Conditions": f"{n_conditions:,}, {n_conditions / max(len(boxes), 1):.1f} a box",
    }
    return _facts(contents, facts, {})


def describe_ensemble(contents: EnsembleContents) -> str:
    """Return the facts about an ensemble."""
    model = contents.model
    n_boxes, n_members = model.n_boxes_, len(model.estimators_features_)
    facts = {
        "Members": f"{n_members:,}",
        "Boxes": f"{n_boxes:,}, {n_boxes / n_members:.0f} a member",
        "Samples learned": f"{model.n_samples_:,}",
    }
    if not np.isnan(model.oob_score_):
        facts["Out of bag"] = (
            f"{model.oob_score_:.1%} of the training samples are right by the members that had "
            "not drawn them"
        )
    return _facts(contents, facts, {})


def _facts(contents: Results, own: dict[str, str], used: dict[str, Any]) -> str:
    """Return what is to say of all models, with facts of one kind and parameters as used."""
    model = contents.model
    learner = find_by_class(type(model))
    summary = "" if learner is None else f" ({learner.summary})"
    classes = contents.labels[: contents.n_classes]
    facts = {
        "Learner": f"{type(model).__name__}{summary}",
        **own,
        f"Classes ({len(classes):,})": _names(classes),
        f"Features ({len(contents.feature_names):,})": _names(contents.feature_names),
        "Parameters": ", ".join(_parameters(model, used)),
    }
    if units := describe_units(model):
        facts["Units"] = units
    return "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(fact)}</dd></div>" for name, fact in facts.items()
    )


def describe_distance(contents: Contents) -> str:
    """Return how the distances of the features make one."""
    if read_membership(contents.model).is_mean:
        return "A distance is the mean over the features, in each as a share of its range."
    return (
        "A distance counts in the feature where it is largest, as a share of that feature's range."
    )


def _unlabelled(labels: np.ndarray) -> str:
    number = int((labels < 0).sum())
    return f", {number:,} of them without a label" if number else ""


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _used_membership(model: Any) -> dict[str, Any]:
    """Return the parameters of membership as fitted."""
    membership = read_membership(model)
    gamma = membership.gamma
    return {
        "gamma": float(gamma[0]) if (gamma == gamma[0]).all() else gamma,
        "membership_function": membership.function,
    }


def _parameters(model: Any, used: dict[str, Any]) -> Iterable[str]:
    """Yield the parameters that are no arrays, but for those that change no answer."""
    for name, value in (model.get_params(deep=False) | used).items():
        if np.ndim(value) == 0 and name not in SPEED_PARAMETERS:
            yield f"{name}={value!r}"


def describe_scores(contents: Results) -> str:
    """Return how predictions compare with the labels."""
    matrix = contents.confusion()
    accuracy, balanced_accuracy = overall_scores(matrix)
    n_right, n_known = int(np.trace(matrix)), int(matrix.sum())
    support = matrix.sum(axis=1)
    most_frequent = contents.labels[int(support.argmax())]
    tiles = {
        "accuracy": (_percent(accuracy), f"{n_right:,} of {n_known:,} samples are right"),
        "majority": (
            _percent(support.max() / n_known),
            f"the accuracy of always saying {escape(most_frequent)}",
        ),
        "balanced-accuracy": (_percent(balanced_accuracy), "the mean of the classes' recalls"),
    }
    if contents.quality.contained is not None and not is_voting(contents.model):
        about = "of the samples lie in a box, the others near one"
        tiles["held-by-boxes"] = (_percent(contents.quality.contained), about)
    cards = "".join(
        f'<div class="card"><span>{name.replace("-", " ")}</span><strong id="{name}">{value}'
        f"</strong><small>{about}</small></div>"
        for name, (value, about) in tiles.items()
    )
    parts = [f'<div class="cards">{cards}</div>', _left_out(len(contents.true) - n_known)]
    many = len(matrix) > _MOST_CLASSES
    tables = (_mistakes if many else _matrix)(matrix, contents.labels)
    tables += _class_table(matrix, contents.labels)
    parts.append(f'<div class="tables">{tables}</div>')
    return "".join(parts)


def _left_out(number: int) -> str:
    if not number:
        return ""
    noun = "sample has" if number == 1 else "samples have"
    return f"<p>{number:,} further {noun} no label and count in none of these figures.</p>"


def _matrix(matrix: np.ndarray, names: list[str]) -> str:
    """Return the confusion matrix; a cell's shade is its share of its row."""
    share = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    shades = np.where(matrix > 0, np.ceil(share * _SHADES), 0).astype(int)
    header = "".join(f'<th scope="col"><span>{escape(name)}</span></th>' for name in names)
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        f"{''.join(_cell(i, j, matrix, shades, names) for j in range(len(names)))}</tr>"
        for i, name in enumerate(names)
    )
    turned = " turned" if len(names) > 6 else ""
    caption = (
        "How often each true class (rows) was predicted as each class (columns). The darker, the "
        "larger its share of the row; right predictions are blue, wrong ones orange. Choose a "
        "number to see such samples."
    )
    return _table("confusion", caption, f"<th>true \\ predicted</th>{header}", rows, turned)


def _cell(i: int, j: int, matrix: np.ndarray, shades: np.ndarray, names: list[str]) -> str:
    if not matrix[i, j]:
        return '<td class="none">0</td>'
    kind = "right" if i == j else "wrong"
    spoken = f"{matrix[i, j]:,} samples of {names[i]} predicted as {names[j]}"
    return (
        f'<td class="{kind} shade{shades[i, j]}"><button type="button" data-true="{i}" '
        f'data-predicted="{j}" aria-label="{escape(spoken)}">{matrix[i, j]:,}</button></td>'
    )


def _mistakes(matrix: np.ndarray, names: list[str]) -> str:
    """Return the most frequent mistakes."""
    wrong = matrix * (1 - np.eye(len(matrix), dtype=int))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_MISTAKES]
    pairs = [divmod(int(k), len(matrix)) for k in order]
    rows = "".join(
        f"<tr><td>{escape(names[i])}</td><td>{escape(names[j])}</td><td>{wrong[i, j]:,}</td></tr>"
        for i, j in pairs
        if wrong[i, j]
    )
    header = _headers(["true", "predicted", "samples"])
    return _table("mistakes", "The most frequent mistakes.", header, rows)


def _class_table(matrix: np.ndarray, names: list[str]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{_percent(scores[key])}</td>" for key in ("precision", "recall", "f1"))
        + f"<td>{scores['support']:,}</td></tr>"
        for name, scores in zip(names, class_scores(matrix), strict=True)
    )
    caption = (
        "Each class. Precision: of the samples predicted as the class, the share that is. Recall: "
        "of the samples of the class, the share that is found. F1: the harmonic mean of both."
    )
    header = _headers(["class", "precision", "recall", "F1", "samples"])
    return _table("classes", caption, header, rows)


def _headers(names: Iterable[str]) -> str:
    return "".join(f'<th scope="col">{name}</th>' for name in names)


def _table(name: str, caption: str, header: str, rows: str, kind: str = "") -> str:
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{name}-caption">'
        f'<table class="numbers{kind}" id="{name}"><caption id="{name}-caption">{caption}'
        f"</caption><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _percent(value: float | None) -> str:
    return "\N{EN DASH}" if value is None else f"{value:.1%}"
