"""Short rules: of a box's conditions the few that keep samples of other classes out.

They are found greedily on samples with labels. The other conditions are those of the box all the
same, but on these samples they tell it from no other class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperboxes._explain.quality import GivenSamples
from hyperboxes._explain.reading import read_scale


def find_short_rules(
    model: Any, samples: GivenSamples, smallest: np.ndarray, largest: np.ndarray
) -> list[np.ndarray]:
    """Return for each box the features whose conditions are needed, those that do most first.

    They keep out all samples of other classes that all conditions keep out, where bounds at the
    ends of a range are none. Each time the feature is taken that keeps out most of those that are
    left; in the end features are dropped that others have made superfluous. A box without a label
    has rivals of all classes.
    """
    assert samples.codes is not None
    boxes, scale = model.hyperboxes_, read_scale(model)
    first, last = scale.transform(samples.upper), scale.transform(samples.lower)
    low = np.where(boxes.lower <= smallest, -np.inf, scale.transform(boxes.lower))
    high = np.where(boxes.upper >= largest, np.inf, scale.transform(boxes.upper))
    return [
        _find_needed(first[rivals], last[rivals], low[box], high[box])
        for box, label in enumerate(boxes.labels)
        for rivals in [(samples.codes >= 0) & (samples.codes != label)]
    ]


def _find_needed(
    first: np.ndarray, last: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return the features that keep samples out of [low, high]; NaN keeps nothing out."""
    is_out = (first > high) | (last < low)
    is_out = is_out[is_out.any(axis=1)]
    needed: list[int] = []
    left = is_out
    while len(left):
        feature = int(left.sum(axis=0).argmax())
        needed.append(feature)
        left = left[~left[:, feature]]
    for feature in needed[::-1]:
        others = [other for other in needed if other != feature]
        if is_out[:, others].any(axis=1).all():
            needed = others
    return np.array(needed, int)
