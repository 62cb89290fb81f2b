"""Fitting the calibration of distances, on samples that the boxes have not learned.

Streams compare a sample before they learn it. With all samples at hand, each third of some samples
is compared with boxes that are fitted to the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from hyperboxes._kernels.structs import NO_LABEL
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.calibration import (
    FADING,
    NEVER,
    ClassScores,
    DistanceCalibration,
    class_shares,
    predicted_classes,
)
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Samples, frozen, known_features

# More samples do not change the calibration visibly.
MAX_CALIBRATION_SAMPLES = 3000
_N_FOLDS = 3

# In streams, a copy without some values is compared after every so many samples: it takes longer.
_COPY_PERIOD = 32


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
        y = np.array([label])
        shares = class_shares(boxes.labels, boxes.counts, boxes.n_classes)
        calibration = calibration.updated(*_compare(model, xl, xu), y, shares, FADING)
        if n_samples % _COPY_PERIOD == 0:
            copies = _compare(model, *_without_values(model, xl, xu, n_samples))
            calibration = calibration.updated_by_copies(*copies, y, shares, FADING)
    model.calibration = calibration.scheduled(n_samples)


def cross_fit(
    samples: Samples, model: BoxModel, learn: Callable[[Samples, BoxModel, FitCallbacks], None]
) -> DistanceCalibration:
    """Compare each third of some samples with boxes that are fitted to the others."""
    calibration = DistanceCalibration.start(NEVER)
    n_classes = model.boxes.n_classes
    compared, copies, labels = [], [], []
    if n_classes > 1:
        for number, (part, xl, xu, y) in enumerate(_folds(samples)):
            boxes = type(model.boxes)(xl.shape[1], n_classes)
            trial = replace(model, boxes=boxes, calibration=None)
            learn(part, trial, FitCallbacks.none(part))
            if trial.boxes.has_labels:
                trial.calibration = calibration
                compared.append(_compare(trial, xl, xu))
                copies.append(_compare(trial, *_without_values(trial, xl, xu, number)))
                labels.append(y)
    if not compared:
        return calibration
    y = np.concatenate(labels)
    shares = class_shares(y, np.ones(len(y)), n_classes)
    calibration = calibration.updated(*_joined(compared), y, shares)
    return calibration.updated_by_copies(*_joined(copies), y, shares)


def _compare(model: BoxModel, xl: np.ndarray, xu: np.ndarray) -> tuple[ClassScores, np.ndarray]:
    """Return the scores of samples, and the classes predicted for them."""
    nearest = model.find_nearest(xl, xu)
    return nearest, predicted_classes(nearest, len(model.boxes))


def _without_values(
    model: BoxModel, xl: np.ndarray, xu: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return copies of samples that lack one or more of the features of the boxes, but not all.

    Copies lack the only feature if there is no other.
    """
    random = np.random.RandomState(seed % 2**32)
    features = np.flatnonzero(known_features(model.boxes.lower, model.boxes.labels))
    n_unknown = random.randint(1, max(len(features), 2), len(xl))
    ranks = random.rand(len(xl), len(features)).argsort(axis=1)
    is_unknown = np.zeros(xl.shape, bool)
    is_unknown[:, features] = ranks < n_unknown[:, np.newaxis]
    return frozen(np.where(is_unknown, np.nan, xl)), frozen(np.where(is_unknown, np.nan, xu))


def _joined(
    parts: Sequence[tuple[ClassScores, np.ndarray]],
) -> tuple[ClassScores, np.ndarray]:
    """Join the scores and predicted classes of several groups of samples."""
    nearest, winners = zip(*parts, strict=True)
    scores = ClassScores._make(map(np.concatenate, zip(*nearest, strict=True)))
    return scores, np.concatenate(winners)


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
