"""Boosted boxes of samples in partitions: bit for bit the model of one process.

Thresholds and boxes are found on samples drawn from all partitions, as one process draws them;
these come here. All others stay on the workers, in bins, where votes are fitted to them.
"""

from __future__ import annotations

import copy
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils import check_random_state, compute_class_weight

from hyperboxes._learning import voting
from hyperboxes._learning.bins import Bins
from hyperboxes._learning.boosting import Population, in_units, merge_equal, unit_of
from hyperboxes._learning.threads import Threads
from hyperboxes._models.categories import Categories
from hyperboxes.dask._categories import with_places
from hyperboxes.dask._engine import Engine
from hyperboxes.dask._partitions import Partition, split_labels
from hyperboxes.dask._regions import Binned, SamplesOnWorkers
from hyperboxes.dask._survey import Survey, is_empty


def boost_partitions(
    engine: Engine, model: Any, partitions: list[Partition], survey: Survey
) -> Any:
    """Return a fitted copy of an estimator of boosted boxes."""
    fitted = _told(model, survey)
    reader = Reader(_numeric(fitted), fitted.n_features_in_, survey.classes, survey.categories)
    lengths = [survey.n_rows[number] for number in range(len(partitions))]
    n_samples = sum(lengths)
    random = check_random_state(model.random_state)
    if n_samples <= voting.MAX_SEARCHED:
        drawn = _draw(engine, reader, partitions, [None] * len(partitions))
        classes, training = fitted._weigh(drawn.X, survey.classes[drawn.labels], None)
        settings, n_bags = fitted._settings(len(classes))
        n_jobs = effective_n_jobs(model.n_jobs)
        found = voting.learn_votes(training, settings, n_bags, random, n_jobs)
    else:
        rows = voting.draw_rows(n_samples, random)
        assert rows is not None
        drawn = _draw(engine, reader, partitions, _by_partition(rows, lengths))
        found = _boost(engine, reader, partitions, fitted, drawn, random)
    fitted._take(found, survey.classes, n_samples)
    return fitted


def _told(model: Any, survey: Survey) -> Any:
    """Return a copy of an estimator that knows the features and all categories."""
    assert survey.ranges is not None
    told = clone(model)
    told.n_features_in_ = survey.ranges.shape[1]
    if survey.names is not None:
        told.feature_names_in_ = np.array(survey.names, object)
    if survey.tally:
        told._categories = survey.categories
    return told


def _numeric(model: Any) -> Any:
    """Return an unfitted copy for samples whose categories are numbers already."""
    return clone(model).set_params(categorical_features=None)


def _by_partition(rows: np.ndarray, lengths: list[int]) -> list[np.ndarray | None]:
    """Return which of its rows each partition has among some of all rows, in order."""
    starts = [0, *accumulate(lengths)]
    ends = np.searchsorted(rows, starts)
    return [
        rows[first:last] - start
        for first, last, start in zip(ends[:-1], ends[1:], starts[:-1], strict=True)
    ]


class Reader(NamedTuple):
    """How partitions become numbers and indices of classes."""

    unfitted: Any
    n_features: int
    classes: np.ndarray
    categories: dict[int, Categories]

    def read(self, number: int, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the samples of a partition and the indices of their classes."""
        X, y = split_labels(X, y)
        if is_empty(X, y):
            return np.empty((0, self.n_features)), np.empty(0, np.int32)
        try:
            X = with_places(X, self.categories)
            X, _, y = copy.copy(self.unfitted)._validate_part(X, y, None)
        except (TypeError, ValueError) as error:
            raise type(error)(f"Partition {number}: {error}") from error
        return X, np.searchsorted(self.classes, y).astype(np.int32)


class Drawn(NamedTuple):
    """Samples drawn from some partitions, their classes, and how many of each class there are."""

    X: np.ndarray
    labels: np.ndarray
    class_counts: np.ndarray


def draw_partition(
    reader: Reader, rows: np.ndarray | None, number: int, X: Any, y: Any, X_upper: Any
) -> Drawn:
    """Return some samples of a partition, all if no rows are named."""
    X, labels = reader.read(number, X, y)
    counts = np.bincount(labels, minlength=len(reader.classes))
    return Drawn(X, labels, counts) if rows is None else Drawn(X[rows], labels[rows], counts)


def join_drawn(parts: list[Drawn]) -> Drawn:
    """Put samples of neighbouring partitions together."""
    X, labels, counts = zip(*parts, strict=True)
    return Drawn(np.concatenate(X), np.concatenate(labels), np.sum(counts, axis=0))


def bin_partition(reader: Reader, bins: Bins, number: int, X: Any, y: Any, X_upper: Any) -> Binned:
    """Put the samples of a partition into bins."""
    X, labels = reader.read(number, X, y)
    with Threads(1) as threads:
        return Binned(bins.encode(X, threads), labels)


def _draw(
    engine: Engine, reader: Reader, partitions: list[Partition], rows: list[np.ndarray | None]
) -> Drawn:
    """Draw samples from all partitions."""
    shared = engine.share(reader)
    tasks = [
        engine.task(draw_partition, f"{number}", shared, rows[number], number, *partition)
        for number, partition in enumerate(partitions)
    ]
    drawn: Drawn = engine.compute(engine.tree(join_drawn, tasks))
    return drawn


def _boost(
    engine: Engine,
    reader: Reader,
    partitions: list[Partition],
    model: Any,
    drawn: Drawn,
    random: np.random.RandomState,
) -> voting.VotingModel:
    """Boost boxes of drawn samples, whose votes are fitted to all."""
    n_classes, counts = len(reader.classes), drawn.class_counts
    settings, n_bags = model._settings(n_classes)
    weights = _weigh_classes(model, reader.classes, counts)
    unit = unit_of(float(sum(Fraction(w) * int(n) for w, n in zip(weights, counts, strict=True))))
    with Threads(effective_n_jobs(model.n_jobs)) as threads:
        of_drawn = weights[drawn.labels]
        is_weighted = bool((weights != weights[0]).any())
        bins = Bins.learn(drawn.X, of_drawn if is_weighted else None, slice(None), threads)
        shared = engine.share(reader), engine.share(bins)
        tasks = [
            engine.task(bin_partition, f"{number}", *shared, number, *partition)
            for number, partition in enumerate(partitions)
        ]
        codes = bins.encode(drawn.X, threads)
        searched, _ = merge_equal(
            codes, bins.n_thresholds + 1, drawn.labels, of_drawn, unit, threads
        )
        everyone = SamplesOnWorkers(
            engine, engine.keep(tasks), searched, in_units(weights, unit), counts
        )
        population = Population(searched, everyone, unit)
        try:
            return voting.boost(population, bins, n_classes, settings, n_bags, random, threads)
        finally:
            everyone.let_go()


def _weigh_classes(model: Any, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return what a sample of each class weighs."""
    if model.class_weight is None:
        return np.ones(len(classes))
    return compute_class_weight(
        model.class_weight, classes=classes, y=classes, sample_weight=counts.astype(np.float64)
    ).astype(np.float64)
