"""The boxes of an ensemble as rules: the largest ones as a text, all of them as columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperboxes._explain.ensembles import Bounds
from hyperboxes._explain.quality import GivenSamples, Quality
from hyperboxes._explain.wording import name_classes
from hyperboxes._models.hyperboxes import Hyperboxes

# So many boxes are written unless the caller says how many: an ensemble has thousands.
_MOST_RULES = 20


def write_ensemble(
    model: Any, feature_names: Any, class_names: Any, samples: Any, max_rules: int | None
) -> str:
    """Write the boxes of the most samples as rules, with how good they are on given samples."""
    bounds, classes = Bounds.of(model, feature_names), name_classes(model, class_names)
    members = model.members_
    counts = np.concatenate([boxes.counts for boxes in members])
    places = [(m, b) for m, boxes in enumerate(members) for b in range(len(boxes))]
    order = np.argsort(-counts, kind="stable")[: max_rules or _MOST_RULES].tolist()
    quality = measure_ensemble(model, members, samples)
    paragraphs = [
        f"{len(members)} members with {len(counts):,} boxes, from {model.n_samples_:,} training "
        "samples. They vote:\nno rule decides alone. The boxes that hold the most samples:"
    ]
    for place in order:
        member, box = places[place]
        boxes, features = members[member], model.estimators_features_[member]
        name = classes[boxes.labels[box]]
        header = f"member {member}, box {box}  {name}  {counts[place]} samples"
        if quality.coverage is not None:
            header += f"  coverage {quality.coverage[place]:.1%}"
        if quality.precision is not None and not np.isnan(quality.precision[place]):
            header += f"  precision {quality.precision[place]:.1%}"
        conditions = bounds.conditions(features, boxes.lower[box], boxes.upper[box])
        lines = [f"    {text}" for text in conditions or ["always"]]
        paragraphs.append("\n".join([header, *lines]))
    if len(order) < len(counts):
        paragraphs.append(
            f"{len(counts) - len(order):,} more boxes: left out (max_rules={len(order)})."
        )
    return "\n\n".join(paragraphs)


def tabulate_ensemble(
    model: Any, features: list[str], class_names: Any, samples: GivenSamples | None
) -> dict[str, Any]:
    """Return the columns of a table of all boxes; bounds are NaN in features not drawn."""
    members = model.members_
    classes = model.classes_
    if class_names is not None:
        classes = np.array(name_classes(model, class_names), object)
    labels = np.concatenate([boxes.labels for boxes in members])
    sizes = [len(boxes) for boxes in members]
    columns: dict[str, Any] = {
        "member": np.repeat(np.arange(len(members)), sizes),
        "box of the member": np.concatenate([np.arange(size) for size in sizes]),
        "class": classes[labels],
        "support": np.concatenate([boxes.counts for boxes in members]),
        **measure_ensemble(model, members, samples).measured(),
    }
    ends = np.full((2, len(labels), len(features)), np.nan)
    start = 0
    for boxes, known in zip(members, model.estimators_features_, strict=True):
        rows = slice(start, start + len(boxes))
        ends[0, rows, known], ends[1, rows, known] = boxes.lower.T, boxes.upper.T
        start += len(boxes)
    for j, name in enumerate(features):
        columns[f"{name} lower"], columns[f"{name} upper"] = ends[0, :, j], ends[1, :, j]
    return columns


def measure_ensemble(
    model: Any, members: list[Hyperboxes], samples: GivenSamples | None
) -> Quality:
    """Measure which share of samples each box holds, and how many of them are of its class."""
    if samples is None:
        return Quality()
    coverage, precision = [], []
    for boxes, features in zip(members, model.estimators_features_, strict=True):
        held = np.ones((len(boxes), len(samples)), bool)
        for j, feature in enumerate(features):
            lower, upper = samples.lower[:, feature], samples.upper[:, feature]
            held &= ~(lower < boxes.lower[:, j, None]) & ~(upper > boxes.upper[:, j, None])
        coverage.append(held.mean(axis=1))
        if samples.codes is not None:
            held &= samples.codes >= 0
            right = (held & (samples.codes == boxes.labels[:, None])).sum(axis=1)
            n_held = held.sum(axis=1)
            precision.append(
                np.divide(right, n_held, out=np.full(len(boxes), np.nan), where=n_held > 0)
            )
    return Quality(np.concatenate(coverage), np.concatenate(precision) if precision else None)
