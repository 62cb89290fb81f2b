"""Fitting the calibration of distances, on samples that the boxes have not learned.

Streams compare a sample before they learn it. With all samples at hand, each third of some samples
is compared with boxes that are fitted to the others. That also chooses `theta`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hyperboxes._kernels.structs import NO_LABEL
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.calibration import (
    FADING,
    N_NEIGHBORS,
    NEVER,
    ClassScores,
    DistanceCalibration,
    class_shares,
    predicted_classes,
)
from hyperboxes._models.model import BoxModel, ThetaPath
from hyperboxes._models.samples import Samples, frozen, known_features

# More samples do not change the calibration visibly.
MAX_CALIBRATION_SAMPLES = 3000
_N_FOLDS = 3

# What fits boxes to samples: it writes them into the model.
Learn = Callable[[Samples, BoxModel, FitCallbacks], None]

# The values of `theta` that are compared, until there are nearly as many boxes as samples: smaller
# values hardly change a box.
THETAS = (0.7, 0.5, 0.35, 0.2, 0.1, 0.05)
_MOST_BOXES = 0.95

# Of each third, so many are compared by several boxes or without some values: it takes longer.
_MAX_SLOW_SAMPLES = 300

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
        n_neighbors = 1 if calibration.decision_losses is None else N_NEIGHBORS[-1]
        nearest, distances = model.find_neighbors(xl, xu, n_neighbors)
        winners = predicted_classes(nearest, len(boxes))
        calibration = calibration.updated(nearest, winners, y, shares, FADING)
        if n_neighbors > 1:
            calibration = calibration.updated_by_neighbors(distances, y, shares, FADING)
        if n_samples % _COPY_PERIOD == 0:
            model.calibration = calibration
            copies = model.find_scores(*_without_values(model, xl, xu, n_samples))
            calibration = calibration.updated_by_copies(*copies, y, shares, FADING)
    model.calibration = calibration.scheduled(n_samples)


def cross_fit(
    samples: Samples, model: BoxModel, learn: Learn, *, learns_decision: bool = False
) -> DistanceCalibration:
    """Compare each third of some samples with boxes that are fitted to the others."""
    calibration, trials, shares = _fit_thirds(samples, model, learn, learns_decision)
    if not trials:
        return calibration
    trials = [trial.thinned() for trial in trials]
    copies = [t.model.find_scores(*_without_values(t.model, t.xl, t.xu, t.number)) for t in trials]
    y = np.concatenate([trial.y for trial in trials])
    return calibration.updated_by_copies(*_joined(copies), y, shares)


def score_thetas(
    samples: Samples, model: BoxModel, learn_with: Callable[[float], Learn], learns_decision: bool
) -> ThetaPath:
    """Predict each third of some samples with boxes that are fitted to the others, by `theta`."""
    found = []
    for theta in THETAS:
        _, trials, _ = _fit_thirds(samples, model, learn_with(theta), learns_decision)
        if not trials:
            found.append((theta, np.nan, np.nan, np.nan))
            break
        rows = np.concatenate([trial.rows for trial in trials])
        weights = np.ones(len(rows)) if samples.counts is None else samples.counts[rows]
        is_right = [trial.model.classify(trial.xl, trial.xu) == trial.y for trial in trials]
        accuracy = np.average(np.concatenate(is_right), weights=weights)
        error = np.sqrt(accuracy * (1.0 - accuracy) * (weights**2.0).sum()) / weights.sum()
        n_boxes = sum(len(trial.model.boxes) for trial in trials) / len(trials)
        found.append((theta, accuracy, error, n_boxes))
        if n_boxes > _MOST_BOXES * len(rows) * (_N_FOLDS - 1) / _N_FOLDS:
            break
    return ThetaPath(*np.array(found[::-1]).T)


def _fit_thirds(
    samples: Samples, model: BoxModel, learn: Learn, learns_decision: bool
) -> tuple[DistanceCalibration, list[_Trial], np.ndarray]:
    """Fit boxes to all but each third of some samples, and a calibration to these.

    Return both, and the shares of the classes.
    """
    calibration = DistanceCalibration.start(NEVER, learns_decision=learns_decision)
    n_classes = model.boxes.n_classes
    trials = []
    if n_classes > 1:
        for number, (part, rows) in enumerate(_folds(samples)):
            boxes = type(model.boxes)(samples.lower.shape[1], n_classes)
            fitted = replace(model, boxes=boxes, calibration=None)
            learn(part, fitted, FitCallbacks.none(part))
            if fitted.boxes.has_labels:
                fitted.calibration = calibration
                trials.append(_Trial(number, fitted, rows, *samples.scaled(rows), samples.y[rows]))
    if not trials:
        return calibration, trials, np.empty(0)
    y = np.concatenate([trial.y for trial in trials])
    shares = class_shares(y, np.ones(len(y)), n_classes)
    compared = [trial.model.find_scores(trial.xl, trial.xu) for trial in trials]
    calibration = calibration.updated(*_joined(compared), y, shares)
    if learns_decision:
        some = [trial.thinned() for trial in trials]
        y = np.concatenate([trial.y for trial in some])
        distances = [t.model.find_neighbors(t.xl, t.xu, N_NEIGHBORS[-1])[1] for t in some]
        calibration = calibration.updated_by_neighbors(np.concatenate(distances), y, shares)
    for trial in trials:
        trial.model.calibration = calibration
    return calibration, trials, shares


class _Trial(NamedTuple):
    """A model that is fitted to a part of the samples, and others with a label, by their rows."""

    number: int
    model: BoxModel
    rows: np.ndarray
    xl: np.ndarray
    xu: np.ndarray
    y: np.ndarray

    def thinned(self) -> _Trial:
        """Return the trial with as many samples as are compared in slow ways."""
        n_samples = min(len(self.y), _MAX_SLOW_SAMPLES)
        some = np.linspace(0, len(self.y) - 1, n_samples).astype(np.int64)
        return _Trial(self.number, self.model, *(frozen(array[some]) for array in self[2:]))


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


def _folds(samples: Samples) -> Iterator[tuple[Samples, np.ndarray]]:
    """Yield training samples, and the rows of others with a label.

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
            yield part, held_out
