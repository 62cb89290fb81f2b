"""Learning again what merging has lost: samples that boxes held before they were cut back.

Merging cuts boxes of different classes that overlap, and what is cut off is held by no box of its
class any more. Each partition learns its own such samples on top of the merged model, and the boxes
that are new, or have grown, are merged with it.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from hyperboxes._estimators.merge import merge
from hyperboxes._estimators.online import ImprovedOnlineGFMM
from hyperboxes._estimators.validation import encode
from hyperboxes._kernels.records import NO_LABEL
from hyperboxes._learning.nearest import are_held
from hyperboxes._models.boxes import Boxes
from hyperboxes._models.samples import slices

# Samples that are scaled at a time.
_ROWS_AT_ONCE = 65_536


def can_repair(model: Any) -> bool:
    """Whether a model can learn more without giving up anything: its boxes only grow."""
    return isinstance(model, ImprovedOnlineGFMM) and model.max_boxes is None


def learn_lost_samples(model: Any, X: Any, y: Any, X_upper: Any) -> Any:
    """Return the boxes that are new or have grown, as a model, None if no sample was lost.

    They count the samples that were lost only.
    """
    rows = np.flatnonzero(are_lost(model, X, np.asarray(y), X_upper))
    if len(rows) == 0:
        return None
    lost = [None if part is None else _safe_indexing(part, rows) for part in (X, y, X_upper)]
    grown = copy.deepcopy(model).partial_fit(lost[0], lost[1], X_upper=lost[2])._model.boxes
    before = model._model.boxes
    lower, upper, labels, counts = (np.array(row) for row in grown.rows)
    counts[: len(before)] -= before.counts
    is_new = counts > 0  # no box held these samples: whichever has taken one in has grown
    found = (row[is_new] for row in (lower, upper, labels, counts))
    return model._with_boxes(
        Boxes.of_rows(*found, n_classes=before.n_classes, n_seen=int(counts[is_new].sum()))
    )


def are_lost(model: Any, X: Any, y: np.ndarray, X_upper: Any) -> np.ndarray:
    """Return which samples have a label, and no box of it holds them."""
    labels = encode(y, model.classes_, model.unlabeled)
    intervals = model._intervals(X, X_upper)
    is_lost = labels != NO_LABEL
    for rows in slices(len(labels), _ROWS_AT_ONCE):
        xl, xu = intervals.scaled(rows)
        is_lost[rows] &= ~are_held(model._model, xl, xu, labels[rows])
    return is_lost


def take_back(model: Any, found: Any) -> Any:
    """Merge a model with what was learned of its lost samples, which it counts no more."""
    boxes, others = model._model.boxes, found._model.boxes
    lost = np.bincount(others.labels[others.labels >= 0], others.counts[others.labels >= 0])
    lower, upper, labels, counts = boxes.rows
    rows = lower, upper, labels, lower_counts(labels, counts, lost.astype(np.int64))
    n_lost = int(lost.sum())
    kept = Boxes.of_rows(
        *rows,
        boxes.confirmed - n_lost,
        n_classes=boxes.n_classes,
        n_seen=boxes.n_seen - n_lost,
    )
    return merge([model._with_boxes(kept), found])


def lower_counts(labels: np.ndarray, counts: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """Take so many samples of each class off the counts of its boxes, in proportion to these.

    Which box a sample was cut off is not known. One sample is left to each box.
    """
    counts = counts.copy()
    for label, n_lost in enumerate(lost.tolist()):
        places = np.flatnonzero(labels == label)
        spare = counts[places] - 1
        total = int(spare.sum())
        wanted = min(n_lost, total)
        if wanted > 0:
            share, remainder = np.divmod(spare * wanted, total)
            largest = np.argsort(-remainder, kind="stable")[: wanted - share.sum()]
            share[largest] += 1
            counts[places] -= share
    return counts
