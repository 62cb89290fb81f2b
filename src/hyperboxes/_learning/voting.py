"""From samples to boxes that vote, in the data's units, by way of bins and runs of boosting."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hyperboxes._kernels import boosting, votes
from hyperboxes._learning.bins import Bins
from hyperboxes._learning.boosting import Booster, Path, Population, Settings, conditions_of, gather
from hyperboxes._learning.threads import Threads
from hyperboxes._models.voting import VotingHyperboxes, list_conditions

# Thresholds and boxes are found on as many samples; more would not move them visibly. Votes are
# fitted to all.
MAX_SEARCHED = 200_000


class Training(NamedTuple):
    """What to learn from: labels are indices of classes, weights are positive."""

    X: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    n_classes: int


class Course(NamedTuple):
    """A run of boosting in the data's units, for models of fewer boxes."""

    conditions: votes.Conditions
    path: Path


class VotingModel(NamedTuple):
    """What was learned: the average of some courses as one list of boxes."""

    boxes: VotingHyperboxes
    intercepts: np.ndarray
    courses: list[Course]


def learn_votes(
    training: Training, settings: Settings, n_bags: int, random: np.random.RandomState, n_jobs: int
) -> VotingModel:
    """Boost boxes `n_bags` times and average the scores."""
    with Threads(n_jobs) as threads:
        X, labels, weights, n_classes = training
        rows = draw_rows(len(X), random)
        unequal = None if (weights == weights[0]).all() else weights
        bins = Bins.learn(X, unequal, slice(None) if rows is None else rows, threads)
        population = gather(bins.encode(X, threads), bins, labels, weights, rows, threads)
        return boost(population, bins, n_classes, settings, n_bags, random, threads)


def boost(
    population: Population,
    bins: Bins,
    n_classes: int,
    settings: Settings,
    n_bags: int,
    random: np.random.RandomState,
    threads: Threads,
) -> VotingModel:
    """Boost boxes of samples that are in bins."""
    paths = [Booster(population, n_classes, settings, random, threads).run() for _ in range(n_bags)]
    boxes, table = join(paths)
    table = signed(table)
    class_counts = population.everyone.count_classes(boxes, n_classes)
    lower, upper, missing = in_data_units(boxes, bins)
    labels, counts = table.argmax(axis=1), class_counts.sum(axis=1)
    return VotingModel(
        VotingHyperboxes(lower, upper, labels, counts, table, missing, class_counts),
        signed(np.mean([path.intercepts[-1] for path in paths], axis=0)),
        [Course(list_conditions(*in_data_units(path.boxes, bins)), path) for path in paths],
    )


def draw_rows(n_samples: int, random: np.random.RandomState) -> np.ndarray | None:
    """Return samples to find thresholds and boxes on, None for all."""
    seed = random.randint(1 << 31)
    if n_samples <= MAX_SEARCHED:
        return None
    rows = np.random.default_rng(seed).choice(n_samples, MAX_SEARCHED, replace=False)
    return np.sort(rows)


def join(paths: list[Path]) -> tuple[list[boosting.Box], np.ndarray]:
    """Average the votes of several paths; equal boxes become one, those without a vote none."""
    boxes: dict[frozenset[tuple], boosting.Box] = {}
    table: dict[frozenset[tuple], np.ndarray] = {}
    for path in paths:
        last = len(path.votes)
        for place, row in zip(path.places_at(last), path.votes_at(last), strict=True):
            if row.any():
                key = conditions_of(path.boxes[place])
                boxes.setdefault(key, path.boxes[place])
                table[key] = table.get(key, 0.0) + row / len(paths)
    n_classes = len(paths[0].intercepts[0])
    return list(boxes.values()), np.array(list(table.values())).reshape(-1, n_classes)


def signed(scores: np.ndarray) -> np.ndarray:
    """Give two classes one signed score: what is positive counts for its class, the other gets 0.

    Scores of more classes stay as they are.
    """
    if scores.shape[-1] != 2:
        return scores
    difference = scores[..., 1] - scores[..., 0]
    return np.stack([np.maximum(-difference, 0.0), np.maximum(difference, 0.0)], axis=-1)


def in_data_units(
    boxes: list[boosting.Box], bins: Bins
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return lower and upper ends, and whether NaN is let in, of each box and feature."""
    shape = len(boxes), len(bins.n_thresholds)
    lower, upper = np.full(shape, -np.inf), np.full(shape, np.inf)
    missing = np.ones(shape, np.bool_)
    for place, box in enumerate(boxes):
        used = box.feature >= 0
        feature = box.feature[used]
        lower[place, feature] = bins.lower(feature, box.first[used])
        upper[place, feature] = bins.upper(feature, box.last[used])
        missing[place, feature] = box.missing[used]
    return lower, upper, missing
