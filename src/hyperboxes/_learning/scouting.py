"""Scouts: members that are learned first, and not kept, to see how features are best drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from hyperboxes._learning.members import (
    CodedSamples,
    Drawing,
    Learned,
    Lesson,
    MemberLearner,
    find_importances,
)
from hyperboxes._learning.out_of_bag import OutOfBag, collect
from hyperboxes._models.calibration import fit_vote_calibration, log_votes

# Scouts of each drawing, from how many samples they draw, and which share of these: with a larger
# one, few scouts would be asked about a sample.
_N_SCOUTS = 40
_MOST_SAMPLES = 1250
_SHARE = 0.65

# The part of features' chances to be drawn that they have by the roots of their importances.
_EARNED = 0.8

# Learn some members from samples by a drawing, with learners that take turns.
Learn = Callable[[CodedSamples, list[MemberLearner], int, Drawing], Iterator[Lesson]]


def choose_drawing(
    drawings: Sequence[Drawing],
    samples: CodedSamples,
    learner: MemberLearner,
    learn: Learn,
    random: np.random.RandomState,
    *,
    is_weighted: bool,
) -> Drawing:
    """Return the drawing whose scouts do best, the first of equals.

    That is, they make the classes of samples that they did not draw most probable. If it is
    weighted, features that help the scouts of all drawings have better chances.
    """
    some = _take_some(samples, random)
    share = min(_SHARE, learner.share * len(samples.y) / len(some.y))
    scout = [learner._replace(share=share)]
    trials = [collect(learn(some, scout, _N_SCOUTS, drawing), some) for drawing in drawings]
    best = drawings[_find_best([asked for _, asked in trials], some)]
    if not is_weighted:
        return best
    scouts = [scout for members, _ in trials for scout in members]
    return replace(best, chances=_find_chances(scouts, len(best.chances)))


def _take_some(samples: CodedSamples, random: np.random.RandomState) -> CodedSamples:
    """Return as many samples as scouts need, of each class its share but at least two."""
    share = _MOST_SAMPLES / len(samples.y)
    if share >= 1.0:
        return samples
    rows = [
        random.permutation(of_class)[: max(2, int(share * len(of_class) + 0.5))]
        for of_class in samples.by_class
    ]
    return samples.take(np.concatenate(rows), np.arange(samples.low.shape[1]))


def _find_best(trials: Sequence[OutOfBag], samples: CodedSamples) -> int:
    """Return in which trial the classes of the samples that all know are most probable."""
    logs = np.array([_find_logs(asked, samples) for asked in trials])
    is_known = ~np.isnan(logs).any(axis=0)
    return int((logs[:, is_known] @ samples.counted[is_known]).argmax())


def _find_logs(asked: OutOfBag, samples: CodedSamples) -> np.ndarray:
    """Return the logarithms of the probabilities of the samples' classes; NaN if not known."""
    found = np.full(len(samples.y), np.nan)
    if len(asked.y):
        weights = np.bincount(samples.y, samples.counted, samples.n_classes)
        shares = weights / weights.sum()
        numbers = fit_vote_calibration(asked.values, asked.y, shares, asked.weights)
        probabilities = numbers.apply(log_votes(asked.values), shares)
        found[asked.copies] = np.log(probabilities[np.arange(len(asked.y)), asked.y])
    return found


def _find_chances(scouts: Sequence[Learned], n_features: int) -> np.ndarray:
    """Return the chances of features to be drawn: what they earn, and what each has."""
    roots = np.sqrt(find_importances(scouts, n_features))
    even = np.full(n_features, 1.0 / n_features)
    return (1.0 - _EARNED) * even + _EARNED * roots / roots.sum() if roots.any() else even
