"""The two-phase learner: small boxes on parts of the samples, then fewer, larger ones of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hyperboxes._kernels.records import Rule
from hyperboxes._learning.callbacks import FitCallbacks
from hyperboxes._learning.online import learn_some
from hyperboxes._models.boxes import Boxes
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Samples, frozen

# More than what differences of lengths around 1 lose by rounding.
_MARGIN = 1e-9


def learn_granular(
    samples: Samples,
    model: BoxModel,
    first_rule: Rule,
    rules: Sequence[Rule],
    n_parts: int,
    callbacks: FitCallbacks,
) -> list[Boxes]:
    """Return the boxes of each level, of fewer if a callback has ended it; the model has the last.

    The first rule makes boxes of the samples in each part, where other classes are not looked at;
    each of the others joins boxes of the level below.
    """
    parts, n_classes = _divide(samples, n_parts), model.boxes.n_classes
    found: list[Boxes] = []
    levels: list[Boxes] = []

    def step() -> bool:
        if len(found) < len(parts):
            found.append(_grow(samples, parts[len(found)], n_classes, first_rule))
            is_last = len(found) == len(parts)
            model.boxes = _put_together(found, n_classes) if is_last else found[-1]
            return False
        model.boxes = _join(model.boxes, rules[len(levels)])
        levels.append(model.boxes)
        return len(levels) == len(rules)

    callbacks.run(step, n_steps=len(parts) + len(rules))
    return levels or [model.boxes]


def _divide(samples: Samples, n_parts: int) -> list[np.ndarray]:
    """Return the rows of each part, in which classes have their shares, in the order of samples."""
    order = np.arange(len(samples.y)) if samples.order is None else samples.order
    by_class = np.argsort(samples.y[order], kind="stable")
    starts = np.searchsorted(samples.y[order][by_class], samples.y[order])
    places = np.empty(len(order), np.int64)
    places[by_class] = np.arange(len(order))
    part_of = (places - starts) % n_parts
    parts = [order[part_of == part] for part in range(n_parts)]
    return [part for part in parts if len(part)]


def _grow(samples: Samples, rows: np.ndarray, n_classes: int, rule: Rule) -> Boxes:
    xl, xu = samples.scaled(rows)
    boxes = Boxes(xl.shape[1], n_classes)
    _learn_all(boxes, rule, xl, xu, samples.y[rows])
    return boxes


def _learn_all(
    boxes: Boxes, rule: Rule, xl: np.ndarray, xu: np.ndarray, y: np.ndarray
) -> np.ndarray:
    """Learn all samples; return what has become of each, as the kernel has it."""
    joined = np.empty(len(y), np.int64)
    while boxes.n_learned < len(y):
        learn_some(boxes, rule, xl, xu, y, joined)
    return joined


def _put_together(parts: list[Boxes], n_classes: int) -> Boxes:
    """Return the boxes of all parts, without those that another of their class holds."""
    lower, upper, labels, counts = (
        np.concatenate(rows) for rows in zip(*(part.rows for part in parts), strict=True)
    )
    holder = find_holders(lower, upper, labels)
    n_samples = np.zeros(len(labels), np.int64)
    np.add.at(n_samples, holder, counts)
    kept = holder == np.arange(len(labels))
    rows = lower[kept], upper[kept], labels[kept], n_samples[kept]
    together = Boxes.of_rows(*rows, n_classes=n_classes)
    together.n_candidates = sum(part.n_candidates for part in parts)
    return together


def find_holders(lower: np.ndarray, upper: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return for each box the oldest of its class that holds it and is held by no other."""
    holders = [np.empty(0, np.int64)] * len(labels)
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        for box, found in zip(own.tolist(), _holders_of(own, lower, upper), strict=True):
            holders[box] = found
    is_held = np.zeros(len(labels), bool)
    for box, found in enumerate(holders):
        # Of equal boxes, each of which holds the others, the oldest remains.
        equals = [other for other in found.tolist() if box in holders[other]]
        is_held[box] = len(found) > len(equals) or min(equals) < box
    holder = np.arange(len(labels))
    for box in np.flatnonzero(is_held).tolist():
        holder[box] = holders[box][~is_held[holders[box]]].min()
    return holder


def _holders_of(own: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Iterator[np.ndarray]:
    """Yield for each of some boxes those of them that hold it, itself included.

    No box is longer than the longest, so few begin near enough in the first feature.
    """
    order = own[np.argsort(lower[own, 0], kind="stable")]
    starts = lower[order, 0]  # those that are not known come last
    longest = np.fmax.reduce(upper[own, 0] - lower[own, 0], initial=0.0) + _MARGIN
    for v, w in zip(lower[own], upper[own], strict=True):
        found = order
        if not np.isnan(v[0]):
            ends = np.searchsorted(starts, w[0] - longest), np.searchsorted(starts, v[0], "right")
            found = order[slice(*ends)]
        for j in np.flatnonzero(~np.isnan(v)):
            if len(found) == 1:
                break
            found = found[(lower[found, j] <= v[j]) & (w[j] <= upper[found, j])]
        yield found


def _join(below: Boxes, rule: Rule) -> Boxes:
    """Return larger boxes, that are learned from those of the level below in their order."""
    boxes = Boxes(below.lower.shape[1], below.n_classes)
    ends = frozen(below.lower.copy()), frozen(below.upper.copy())
    joined = _learn_all(boxes, rule, *ends, below.labels.copy())
    n_samples = np.zeros(len(boxes), np.int64)
    np.add.at(n_samples, np.where(joined < 0, -1 - joined, joined), below.counts)
    rows = boxes.lower, boxes.upper, boxes.labels, n_samples
    level = Boxes.of_rows(*rows, n_classes=below.n_classes)
    level.n_candidates = below.n_candidates + boxes.n_candidates
    return level
