"""The change of few features that makes a model of boxes predict another class.

Features are moved to where boxes of other classes hold them, and the model is asked about the
outcome.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hyperboxes._explain.changes import fewest_changes
from hyperboxes._explain.context import Context, SampleBounds
from hyperboxes._explain.explanation import Change

# The nearest places are tried, and others as far as the farthest: at most so many in a feature, and
# fewer where there are many features, so that an answer takes milliseconds.
_PLACES = 10
_PLACES_OF_ALL_FEATURES = 200
# Where few features do not suffice, the sample is moved into one of the nearest boxes altogether.
_WHOLE_BOXES = 5


def find_change(context: Context, sample: SampleBounds, code: int) -> Change | None:
    """Return a small change such that the model predicts another class than that of a code.

    None if there is no other class, or none of the changes that were tried suffices.
    """
    labels = context.boxes.labels
    rivals = np.flatnonzero((labels >= 0) & (labels != code))
    if len(rivals) == 0:
        return None
    most = max(min(_PLACES_OF_ALL_FEATURES // len(sample.lower), _PLACES), 2)
    options = [_places(context, sample, j, rivals, most) for j in range(len(sample.lower))]
    weights = context.membership.gamma / context.scale.span
    closeness = context.closeness(sample[None], rivals)[0]
    nearest = rivals[np.argsort(-closeness, kind="stable")[:_WHOLE_BOXES]]
    changed = fewest_changes(
        _margin(context, sample, code, nearest),
        sample.lower,
        options,
        weights,
        starts=_inside(context, sample, nearest),
    )
    return None if changed is None else _describe(context, sample, changed)


def _places(
    context: Context, sample: SampleBounds, j: int, rivals: np.ndarray, most: int
) -> np.ndarray:
    """Return where the lower end of a feature may move to: both ends of what rivals hold."""
    first, last = sample.lower[j], sample.upper[j]
    low, high = context.boxes.lower[rivals, j], context.boxes.upper[rivals, j]
    ends, other_ends = np.concatenate([low, high]), np.concatenate([high, low])
    _, unique = np.unique(ends, return_index=True)
    unique = unique[~np.isnan(ends[unique])]
    by_distance = unique[np.argsort(np.abs(ends[unique] - first), kind="stable")]
    spread = np.linspace(most // 2, len(unique) - 1, most - most // 2).astype(int)
    steps = np.arange(len(unique)) if len(unique) <= most else np.append(range(most // 2), spread)
    inside = context.rounding.inside
    return np.array(
        [
            inside(j, ends[k], other_ends[k]) - (0.0 if ends[k] > first else last - first)
            for k in by_distance[steps]
        ]
    )


def _inside(context: Context, sample: SampleBounds, rivals: np.ndarray) -> np.ndarray:
    """Return the sample moved into each of some boxes."""
    low, high = context.boxes.lower[rivals], context.boxes.upper[rivals]
    lengths = sample.upper - sample.lower
    moved = np.repeat(sample.lower[None], len(rivals), axis=0)
    for row, j in np.argwhere((sample.lower < low) | (sample.upper > high)).tolist():
        ends = low[row, j], high[row, j]
        if sample.lower[j] < ends[0]:
            moved[row, j] = context.rounding.inside(j, *ends)
        else:
            moved[row, j] = context.rounding.inside(j, *ends[::-1]) - lengths[j]
    return moved


def _margin(
    context: Context, sample: SampleBounds, code: int, rivals: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return how near changed samples come to another class: positive if the model predicts it."""

    def margin(lower: np.ndarray) -> np.ndarray:
        trials = _moved(sample, lower)
        memberships = context.model.membership(*trials.as_input())
        own = memberships[:, code].copy()
        memberships[:, code] = -1.0
        margins = memberships.max(axis=1) - own
        in_doubt = margins >= 0  # ties, and what is beyond the reach of all boxes
        if not in_doubt.any():
            return margins
        doubtful = trials[in_doubt]
        is_flipped = context.code(context.model.predict(*doubtful.as_input())) != code
        closeness = context.closeness(doubtful, rivals).max(axis=1)
        margins[in_doubt] = np.where(is_flipped, 1.0, closeness - 1.0)
        return margins

    return margin


def _moved(sample: SampleBounds, lower: np.ndarray) -> SampleBounds:
    """Return samples by their lower ends; intervals keep their length."""
    is_same = (lower == sample.lower) | np.isnan(sample.lower)
    return SampleBounds(
        lower, np.where(is_same, sample.upper, lower + (sample.upper - sample.lower))
    )


def _describe(context: Context, sample: SampleBounds, lower: np.ndarray) -> Change:
    changed = _moved(sample, lower[None])
    prediction = context.model.predict(*changed.as_input())[0]
    memberships = context.model.membership(*changed.as_input())[0]
    code = context.code(prediction)
    return Change(
        np.flatnonzero((lower != sample.lower) & ~np.isnan(sample.lower)),
        lower,
        changed.upper[0],
        prediction,
        context.class_names[code],
        float(memberships[code]),
    )
