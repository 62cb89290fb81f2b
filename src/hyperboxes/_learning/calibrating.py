"""Learning what probabilities memberships stand for: boxes are asked about samples new to them.

Streams ask about a sample before they learn it. Learners that have all samples at hand learn some
of them three times without a third, and ask about that third.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from hyperboxes._kernels import prediction
from hyperboxes._kernels.records import NO_LABEL
from hyperboxes._models.boxes import Boxes
from hyperboxes._models.calibration import DOUBTS, FADING, NEVER, SLOPES, Calibration
from hyperboxes._models.model import BoxModel, Nearest
from hyperboxes._models.samples import Samples

# More samples would not tell the three numbers better.
ENOUGH = 3000
_N_FOLDS = 3


def find_winners(model: BoxModel, nearest: Nearest) -> np.ndarray:
    """Return the class that is predicted for each sample."""
    winner = np.empty(len(nearest[0]), np.int64)
    prediction.winners(*nearest, len(model.boxes), winner)
    return winner


def find_shares(boxes: Boxes) -> np.ndarray:
    """Return the classes' shares of the samples that boxes hold, none of which is 0."""
    has_label = boxes.labels != NO_LABEL
    labels, counts = boxes.labels[has_label], boxes.counts[has_label]
    n_samples = np.bincount(labels, counts, minlength=boxes.n_classes)
    return (n_samples + 1.0) / (n_samples.sum() + boxes.n_classes)


def find_probabilities(model: BoxModel, nearest: Nearest) -> np.ndarray:
    """Return the probabilities of the classes; the largest is that of the class that is predicted.

    Models of old files do not know how right they are: their memberships share 1.
    """
    winner = find_winners(model, nearest)
    out = np.empty((len(winner), model.boxes.n_classes))
    calibration = model.calibration
    if calibration is None:
        prediction.probabilities(*nearest, len(model.boxes), winner, out)
    else:
        numbers = calibration.offset, calibration.slope, calibration.doubt
        scores = np.empty(model.boxes.n_classes)
        prediction.calibrated(nearest[0], winner, find_shares(model.boxes), *numbers, scores, out)
    return out


def ask_before(model: BoxModel, xl: np.ndarray, xu: np.ndarray, label: int, n_samples: int) -> None:
    """Ask about a sample that is learned next, after so many others."""
    calibration = model.calibration
    if calibration is None:
        return
    if label == NO_LABEL:
        model.calibration = calibration.asking_from(n_samples + 1)
        return
    if model.boxes.has_labels and model.boxes.n_classes > 1:
        nearest = model.find_nearest(xl, xu)
        winner, shares = find_winners(model, nearest), find_shares(model.boxes)
        y = np.array([label])
        calibration = _take_in(calibration, nearest[0], winner, y, shares, FADING)
    model.calibration = calibration.asked_at(n_samples)


def cross_fit(
    samples: Samples, model: BoxModel, learn: Callable[[Samples, BoxModel], None]
) -> Calibration:
    """Learn some samples without a third, and ask about that third, three times."""
    calibration = Calibration.start(NEVER)
    n_classes = model.boxes.n_classes
    best, winners, labels = [], [], []
    if n_classes > 1:
        for part, xl, xu, y in _folds(samples):
            boxes = type(model.boxes)(xl.shape[1], n_classes)
            trial = replace(model, boxes=boxes, calibration=None)
            learn(part, trial)
            if trial.boxes.has_labels:
                nearest = trial.find_nearest(xl, xu)
                best.append(nearest[0])
                winners.append(find_winners(trial, nearest))
                labels.append(y)
    if not best:
        return calibration
    y = np.concatenate(labels)
    shares = (np.bincount(y, minlength=n_classes) + 1.0) / (len(y) + n_classes)
    return _take_in(calibration, np.concatenate(best), np.concatenate(winners), y, shares)


def _folds(samples: Samples) -> Iterator[tuple[Samples, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield training samples, and others with a label in the learner's units.

    Classes are divided evenly. Samples without a label are trained on each time.
    """
    random = np.random.RandomState(0)
    rows = np.sort(random.permutation(len(samples.y))[:ENOUGH])
    y = samples.y[rows]
    by_class = random.permutation(len(y))
    by_class = by_class[np.argsort(y[by_class], kind="stable")]
    fold = np.empty(len(y), np.int64)
    fold[by_class] = np.arange(len(y)) % _N_FOLDS
    for number in range(_N_FOLDS):
        is_asked = (fold == number) & (y != NO_LABEL)
        asked = rows[is_asked]
        if 0 < len(asked) < len(y):
            part = samples.take(rows[~is_asked])
            if samples.order is not None:
                part = part.shuffled(random)
            yield part, *samples.scaled(asked), y[is_asked]


def _take_in(
    calibration: Calibration,
    best: np.ndarray,
    winner: np.ndarray,
    y: np.ndarray,
    shares: np.ndarray,
    fading: float = 1.0,
) -> Calibration:
    """Compare what was said of samples with their labels."""
    gaps = np.where(best > 0.0, 1.0 - best, -best)
    calibration = calibration.with_gaps(np.partition(gaps, 1, axis=1)[:, 1], fading)
    losses = np.array(calibration.losses)
    room = np.empty((2, best.shape[1]))
    prediction.weigh(
        best, winner, y, shares, calibration.offset, SLOPES, DOUBTS, room[0], room[1], losses
    )
    return replace(calibration, losses=losses)
