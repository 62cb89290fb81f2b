"""Scores on arrays of other libraries, such as PyTorch and CuPy, on the device of the samples.

Distances and sums are computed there, in blocks of samples. The scores of the classes, a few
numbers for each sample, return as NumPy arrays, so that one implementation turns them into classes
and probabilities.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from hyperboxes._compat import array_api_compat
from hyperboxes._models.records import AdditiveBoxes, NearestBoxes
from hyperboxes._models.samples import Intervals

# How many distances of samples from boxes are computed at a time.
_BLOCK = 4_000_000


class DeviceIntervals(Intervals):
    """Validated samples on a device."""

    def _scaled(self, values: Any) -> Any:
        if self.scale is None:
            return values
        return (values - put(self.scale.low, values)) / put(self.scale.span, values)


def put(values: np.ndarray, like: Any) -> Any:
    """Copy numbers to the device of an array; doubles become real numbers of its type."""
    xp, device = array_api_compat.array_namespace(like), array_api_compat.device(like)
    is_real = values.dtype == np.float64 and xp.isdtype(like.dtype, "real floating")
    dtype = like.dtype if is_real else None
    return xp.asarray(np.array(values), dtype=dtype, device=device)


def to_numpy(values: Any) -> np.ndarray:
    """Copy an array of a device to the host, real numbers as doubles."""
    if not isinstance(values, np.ndarray):
        if array_api_compat.is_cupy_array(values):
            values = values.get()
        elif array_api_compat.is_torch_array(values):
            values = values.detach().cpu()
    array = np.asarray(values)
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def block_size(n_boxes: int) -> int:
    """Return how many samples are compared with so many boxes at a time."""
    return max(_BLOCK // max(n_boxes, 1), 1)


def nearest_scores(
    record: NearestBoxes, xl: Any, xu: Any, nearest: np.ndarray | None
) -> tuple[np.ndarray, ...]:
    """Return `ClassScores` by the nearest boxes, for samples in the units of the boxes.

    `nearest`, of shape (n_samples, n_classes, n_neighbors), receives the distances of the nearest
    boxes of each class in order, and infinity where a class has fewer.
    """
    xp = array_api_compat.array_namespace(xl)
    order = np.argsort(record.labels, kind="stable")
    ends = np.searchsorted(record.labels[order], np.arange(record.n_classes + 1))
    boxes = order[ends[0] :]
    distances = _distances(record, boxes, xl, xu)
    ranks = xp.where(distances < 1.0, 1.0 - distances, -distances)
    n_boxes, compared = len(record.labels), record.compared
    is_missing = to_numpy(xp.isnan(xl))[:, compared]
    may_settle = np.where(record.may_settle[boxes], boxes, n_boxes)
    counts, single = put(record.counts[boxes], xl), put(may_settle, xl)
    shape = xl.shape[0], record.n_classes
    scores, tie_counts = np.full(shape, -np.inf), np.zeros(shape, np.int64)
    singletons = np.full(shape, n_boxes)
    if nearest is not None:
        nearest[:] = np.inf
    for label, (first, stop) in enumerate(pairwise((ends - ends[0]).tolist())):
        if first == stop:
            continue
        best = xp.max(ranks[:, first:stop], axis=1)
        is_tied = ranks[:, first:stop] == best[:, None]
        of_ties = xp.where(is_tied, counts[None, first:stop], 0)
        oldest = xp.where(is_tied, single[None, first:stop], n_boxes)
        scores[:, label] = to_numpy(best)
        tie_counts[:, label] = to_numpy(xp.sum(of_ties, axis=1))
        singletons[:, label] = to_numpy(xp.min(oldest, axis=1))
        if nearest is not None:
            n_found = min(stop - first, nearest.shape[2])
            of_class = xp.sort(distances[:, first:stop], axis=1)[:, :n_found]
            nearest[:, label, :n_found] = to_numpy(of_class)
    singletons[is_missing.any(axis=1)] = n_boxes
    unknown = is_missing.sum(axis=1) / max(np.count_nonzero(compared), 1)
    return scores, tie_counts, singletons, unknown


def _distances(record: NearestBoxes, boxes: np.ndarray, xl: Any, xu: Any) -> Any:
    """Return the distances of samples from boxes, in the order of the kernels' arithmetic."""
    xp = array_api_compat.array_namespace(xl)
    lower, upper = put(record.lower[boxes].T, xl), put(record.upper[boxes].T, xl)
    largest = xp.zeros((xl.shape[0], len(boxes)), dtype=xl.dtype, device=lower.device)
    total = near = largest
    for j, gamma in enumerate(record.gamma.tolist()):
        above, below = xu[:, j, None] - upper[None, j, :], lower[None, j, :] - xl[:, j, None]
        slope = xp.where(above > below, above, below) * gamma
        slope = xp.where(slope > 0.0, slope, 0.0)  # NaN is unknown, and counts as 0
        if record.is_mean:
            near, total = near + xp.where(slope < 1.0, slope, 1.0), total + slope
        else:
            largest = xp.maximum(largest, slope)
    if not record.is_mean:
        return largest
    n_features = float(len(record.gamma))
    beyond = xp.where(total > n_features, total, n_features)
    return xp.where(near < n_features, near, beyond) / n_features


def additive_scores(record: AdditiveBoxes, X: Any) -> np.ndarray:
    """Return the scores of the classes, with weights added in the order of the boxes."""
    xp = array_api_compat.array_namespace(X)
    scores = put(np.tile(record.intercept, (X.shape[0], 1)), X)
    weights = put(record.weights, X)
    for box, constrains in enumerate(record.constrains):
        part = xp.ones(X.shape[0], dtype=X.dtype, device=X.device)
        for j in np.flatnonzero(constrains).tolist():
            x, (low, high) = X[:, j], (float(end[box, j]) for end in (record.lower, record.upper))
            meets = xp.astype((x >= low) & (x <= high), X.dtype)
            part = part * xp.where(xp.isnan(x), float(record.missing_shares[box, j]), meets)
        scores = scores + part[:, None] * weights[None, box, :]
    sums: np.ndarray = to_numpy(scores)
    record.move_scores(sums, to_numpy(X))
    return sums
