"""Fitting the calibration of distances, on samples that the boxes have not learned.

Streams compare a sample before they learn it. With all samples at hand, each third of some samples
is compared with boxes that are fitted to the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from hyperboxes._kernels.structs import NO_LABEL
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.calibration import (
    FADING,
    NEVER,
    DistanceCalibration,
    class_shares,
    predicted_classes,
)
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Samples

# More samples do not change the calibration visibly.
MAX_CALIBRATION_SAMPLES = 3000
_N_FOLDS = 3


def update_calibration(
    model: BoxModel, xl: np.ndarray, xu: np.ndarray, label: int, n_samples: int
) -> None:
    """Compare a sample that is learned next, after so many others."""
    calibration, boxes = model.calibration, model.boxes
    if calibration is None:
        return
    if label == NO_LABEL:
        model.calibration = calibration.resumed(n_samples + 1)
        return
    if boxes.has_labels and boxes.n_classes > 1:
        nearest = model.find_nearest(xl, xu)
        winners = predicted_classes(nearest, len(boxes))
        shares = class_shares(boxes.labels, boxes.counts, boxes.n_classes)
        calibration = calibration.updated(nearest[0], winners, np.array([label]), shares, FADING)
    model.calibration = calibration.scheduled(n_samples)


def cross_fit(
    samples: Samples, model: BoxModel, learn: Callable[[Samples, BoxModel, FitCallbacks], None]
) -> DistanceCalibration:
    """Compare each third of some samples with boxes that are fitted to the others."""
    calibration = DistanceCalibration.start(NEVER)
    n_classes = model.boxes.n_classes
    scores, winners, labels = [], [], []
    if n_classes > 1:
        for part, xl, xu, y in _folds(samples):
            boxes = type(model.boxes)(xl.shape[1], n_classes)
            trial = replace(model, boxes=boxes, calibration=None)
            learn(part, trial, FitCallbacks.none(part))
            if trial.boxes.has_labels:
                nearest = trial.find_nearest(xl, xu)
                scores.append(nearest[0])
                winners.append(predicted_classes(nearest, len(trial.boxes)))
                labels.append(y)
    if not scores:
        return calibration
    y = np.concatenate(labels)
    shares = class_shares(y, np.ones(len(y)), n_classes)
    return calibration.updated(np.concatenate(scores), np.concatenate(winners), y, shares)


def _folds(samples: Samples) -> Iterator[tuple[Samples, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield training samples, and others with a label in the learner's units.

    Classes are divided evenly. Samples without a label are in each training set.
    """
    random = np.random.RandomState(0)
    rows = np.sort(random.permutation(len(samples.y))[:MAX_CALIBRATION_SAMPLES])
    y = samples.y[rows]
    by_class = random.permutation(len(y))
    by_class = by_class[np.argsort(y[by_class], kind="stable")]
    fold = np.empty(len(y), np.int64)
    fold[by_class] = np.arange(len(y)) % _N_FOLDS
    for number in range(_N_FOLDS):
        is_held_out = (fold == number) & (y != NO_LABEL)
        held_out = rows[is_held_out]
        if 0 < len(held_out) < len(y):
            part = samples.take(rows[~is_held_out])
            if samples.order is not None:
                part = part.shuffled(random)
            yield part, *samples.scaled(held_out), y[is_held_out]
