"""Which samples boxes of their class contain."""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels import nearest
from hyperboxes._models.box_store import WORK_PER_CALL
from hyperboxes._models.model import BoxModel


def are_contained(model: BoxModel, xl: np.ndarray, xu: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return which samples a box of their class holds, in the sense of learning."""
    boxes = model.boxes
    is_contained = np.empty(len(xl), np.bool_)
    # Others may ask at the same time.
    arrays = boxes.arrays._replace(counters=boxes.arrays.counters.copy())
    asked = arrays, model.membership.metric, boxes.make_search(), WORK_PER_CALL, is_contained
    row = 0
    while row < len(xl):
        row = nearest.find_contained(xl, xu, y, row, *asked)
    return is_contained
