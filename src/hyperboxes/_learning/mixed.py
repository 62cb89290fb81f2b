"""Asking boxes that count categories about samples."""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.mixed import nearest_mixed
from hyperboxes._models.boxes import WORK_PER_CALL
from hyperboxes._models.mixed import MixedModel


def ask_mixed(
    model: MixedModel, xl: np.ndarray, xu: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what the best boxes of each class say of samples, as `Nearest`, and the first of them.

    That is, the first of those that hold most training samples.
    """
    boxes = model.boxes
    shape = len(xl), boxes.n_classes
    votes, single, first = (np.empty(shape, np.int64) for _ in range(3))
    found = np.empty(shape), votes, single, first
    asked = boxes.arrays, model.membership.metric, *model.mixed, WORK_PER_CALL
    row = 0
    while row < len(xl):
        row = nearest_mixed(xl, xu, row, *asked, *found)
    return found
