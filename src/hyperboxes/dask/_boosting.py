"""Boosting on partitions: bins, cells and counts are worked out where the samples are."""

import copy
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils import check_random_state, compute_class_weight

from hyperboxes._kernels import boosting
from hyperboxes._learning import boosting as boosting_learning
from hyperboxes._learning.boosting import TrainingSets, in_units, merge_equal, unit_of
from hyperboxes._learning.cells import Bins, Cells, LocalSamples, find_contained, split_names
from hyperboxes._learning.steps import Threads
from hyperboxes._models.categories import Categories
from hyperboxes.dask._engine import Engine, Partition, naming_partition, split_labels
from hyperboxes.dask._survey import Survey, is_empty, with_positions

# For each box a worker writes down in which cells the samples of a partition are: a region, and
# whether the box contains them. What comes back is how many samples of each class there are in each
# cell. These are whole numbers, so their sums are those of a single process.


class Binned(NamedTuple):
    """A partition in bins, one row for each feature, with the indices of its classes."""

    codes: np.ndarray
    labels: np.ndarray

    def for_kernels(self) -> boosting.Samples:
        """Return the samples without what only a search needs."""
        nothing, ones = np.empty(0, np.int64), np.ones(len(self.labels), np.int64)
        return boosting.Samples(
            self.codes, nothing, self.labels, nothing, ones, np.empty(0, np.uint64)
        )


class Counts(NamedTuple):
    """How many samples of each class there are in some cells."""

    cells: np.ndarray
    table: np.ndarray


class Cut(NamedTuple):
    """A box that cuts regions; `names` are the regions that have come of the cells before."""

    box: boosting.Box
    names: np.ndarray


def cut_partition(binned: Binned, cells: np.ndarray | None, cut: Cut) -> np.ndarray:
    """Return in which cells samples are: twice their region, plus 1 if the box contains them."""
    with Threads(1) as threads:
        contained = find_contained(binned.for_kernels(), cut.box, threads)
    regions = np.int32(0) if cells is None else cut.names[cells]
    return 2 * regions + contained.astype(np.int32)


def count_cells(binned: Binned, cells: np.ndarray, n_cells: int, n_classes: int) -> Counts:
    """Count the samples of a partition by cell and class."""
    indices = cells.astype(np.int64) * n_classes + binned.labels
    table = np.bincount(indices, minlength=n_cells * n_classes).reshape(n_cells, n_classes)
    present = np.flatnonzero(table.any(axis=1))
    return Counts(present, table[present])


def add_counts(counts: list[Counts]) -> Counts:
    """Add up what was counted in several partitions."""
    cells, indices = np.unique(np.concatenate([some.cells for some in counts]), return_inverse=True)
    table = np.zeros((len(cells), counts[0].table.shape[1]), np.int64)
    np.add.at(table, indices, np.concatenate([some.table for some in counts]))
    return Counts(cells, table)


def count_contained(binned: Binned, boxes: list[boosting.Box], n_classes: int) -> np.ndarray:
    """Count the samples of a partition that each box contains, by class."""
    with Threads(1) as threads:
        return LocalSamples(binned.for_kernels(), None, threads).count_classes(boxes, n_classes)


class DistributedSamples:
    """All samples, in bins on the workers, and here those that boxes are found on.

    `binned` are partitions that are kept, `weights` what a sample of each class weighs, in units,
    and `class_counts` how many there are of each.
    """

    def __init__(
        self,
        engine: Engine,
        binned: list[Any],
        searched: boosting.Samples,
        weights: np.ndarray,
        class_counts: np.ndarray,
    ) -> None:
        self.searched, self.weights, self.class_counts = searched, weights, class_counts
        self._engine, self._binned = engine, binned
        self._cells: list[Any] = []  # of each partition, kept like these; None before the first cut
        self._n_cuts = 0

    def new_cells(self, n_classes: int) -> Cells:
        """Return a single region that holds all samples; those made before are void."""
        self._cells = [None] * len(self._binned)
        return DistributedCells(self)

    def cut(self, cut: Cut, n_cells: int) -> np.ndarray:
        """Have a box cut regions into cells; return how many samples of each class are in each."""
        self._n_cuts += 1
        shared, engine = self._engine.share(cut), self._engine
        names = [f"{number}-box-{self._n_cuts}" for number in range(len(self._binned))]
        self._cells = engine.keep(
            [
                engine.task(cut_partition, *task, shared)
                for task in zip(names, self._binned, self._cells, strict=True)
            ]
        )
        n_classes = len(self.class_counts)
        counts = [
            engine.task(count_cells, *task, n_cells, n_classes)
            for task in zip(names, self._binned, self._cells, strict=True)
        ]
        found = engine.compute(engine.tree(add_counts, counts), quiet=True)
        table = np.zeros((n_cells, n_classes), np.int64)
        table[found.cells] = found.table
        return table

    def count_classes(self, boxes: list[boosting.Box], n_classes: int) -> np.ndarray:
        """Return how many samples of each class each box contains."""
        if not boxes:
            return np.zeros((0, n_classes), np.int64)
        shared, engine = self._engine.share(boxes), self._engine
        tables = [
            engine.task(count_contained, f"{number}", part, shared, n_classes)
            for number, part in enumerate(self._binned)
        ]
        return engine.compute(engine.tree(sum, tables), quiet=True)

    def let_go(self) -> None:
        """Release the samples on the workers, whoever still has this object."""
        self._binned.clear()
        self._cells.clear()


class DistributedCells(Cells):
    """Regions of samples on the workers, numbered as `LocalCells` numbers them."""

    def __init__(self, everyone: DistributedSamples) -> None:
        self._everyone = everyone
        self._names = np.zeros(1, np.int32)  # the regions that have come of the cells
        self._of_searched = np.zeros(len(everyone.searched.labels), np.int32)
        super().__init__(everyone.class_counts * everyone.weights)

    @property
    def of_searched(self) -> np.ndarray:
        """The region of each sample that boxes are found on."""
        return self._of_searched

    def _cut(self, box: boosting.Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n_regions, n_classes = self.table.scores.shape
        counts = self._everyone.cut(Cut(box, self._names), 2 * n_regions)
        seen = np.any(counts.reshape(n_regions, 2, n_classes), axis=2)
        parents, self._names, inside = split_names(seen)
        with Threads(1) as threads:
            contained = find_contained(self._everyone.searched, box, threads)
        self._of_searched = self._names[2 * self._of_searched + contained]
        masses = np.zeros((n_regions + len(parents), n_classes), np.int64)
        np.add.at(masses, self._names, counts * self._everyone.weights)
        return parents, inside, masses

    def _rename(self, names: np.ndarray) -> None:
        self._names = names[self._names]
        self._of_searched = names[self._of_searched]


# Thresholds and boxes are found on samples drawn from all partitions, as one process draws them;
# these come here. All others stay on the workers, in bins, where votes are fitted to them.


def boost_partitions(
    engine: Engine, model: Any, partitions: list[Partition], survey: Survey
) -> Any:
    """Return a fitted copy of an estimator of boosted boxes."""
    fitted = _with_survey(model, survey)
    unfitted = clone(fitted).set_params(categorical_features=None)  # they are numbers by then
    reader = Reader(unfitted, fitted.n_features_in_, survey.classes, survey.categories)
    lengths = [survey.n_rows[number] for number in range(len(partitions))]
    n_samples = sum(lengths)
    random = check_random_state(model.random_state)
    settings, n_bags = model._settings(len(survey.classes), n_samples)
    most = boosting_learning.most_searched(settings)
    if n_samples <= most:
        drawn = _draw(engine, reader, partitions, [None] * len(partitions))
        _, training = fitted._weigh(drawn.X, survey.classes[drawn.labels], None)
        n_jobs = effective_n_jobs(model.n_jobs)
        found, runs = boosting_learning.fit_boosted(training, settings, n_bags, random, n_jobs)
    else:
        rows = boosting_learning.draw_rows(n_samples, random, most)
        assert rows is not None
        drawn = _draw(engine, reader, partitions, _by_partition(rows, lengths))
        found, runs = _boost(engine, reader, partitions, fitted, drawn, random)
    vars(fitted).update(classes_=survey.classes, _model=found, _runs=runs)
    return fitted


def _with_survey(model: Any, survey: Survey) -> Any:
    """Return a copy of an estimator with the features and all categories set."""
    assert survey.ranges is not None
    prepared = clone(model)
    prepared.n_features_in_ = survey.ranges.shape[1]
    if survey.names is not None:
        prepared.feature_names_in_ = np.array(survey.names, object)
    if survey.tally:
        prepared._categories = survey.categories
    return prepared


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
        with naming_partition(number):
            X = with_positions(X, self.categories)
            X, _, y = copy.copy(self.unfitted)._validate_samples(X, y, None)
        return X, np.searchsorted(self.classes, y).astype(np.int32)


class Subsample(NamedTuple):
    """Samples drawn from some partitions, their classes, and how many of each class there are."""

    X: np.ndarray
    labels: np.ndarray
    class_counts: np.ndarray


def draw_partition(
    reader: Reader, rows: np.ndarray | None, number: int, X: Any, y: Any, X_upper: Any
) -> Subsample:
    """Return some samples of a partition, all if no rows are named."""
    X, labels = reader.read(number, X, y)
    counts = np.bincount(labels, minlength=len(reader.classes))
    chosen = slice(None) if rows is None else rows
    return Subsample(X[chosen], labels[chosen], counts)


def join_drawn(parts: list[Subsample]) -> Subsample:
    """Put samples of neighbouring partitions together."""
    X, labels, counts = zip(*parts, strict=True)
    return Subsample(np.concatenate(X), np.concatenate(labels), np.sum(counts, axis=0))


def bin_partition(reader: Reader, bins: Bins, number: int, X: Any, y: Any, X_upper: Any) -> Binned:
    """Put the samples of a partition into bins."""
    X, labels = reader.read(number, X, y)
    with Threads(1) as threads:
        return Binned(bins.encode(X, threads), labels)


def _draw(
    engine: Engine, reader: Reader, partitions: list[Partition], rows: list[np.ndarray | None]
) -> Subsample:
    """Draw samples from all partitions."""
    shared = engine.share(reader)
    tasks = [
        engine.task(draw_partition, f"{number}", shared, rows[number], number, *partition)
        for number, partition in enumerate(partitions)
    ]
    return engine.compute(engine.tree(join_drawn, tasks))


def _boost(
    engine: Engine,
    reader: Reader,
    partitions: list[Partition],
    model: Any,
    drawn: Subsample,
    random: np.random.RandomState,
) -> boosting_learning.BoostedModel:
    """Boost boxes of drawn samples, whose votes are fitted to all."""
    n_classes, counts = len(reader.classes), drawn.class_counts
    settings, n_bags = model._settings(n_classes, int(counts.sum()))
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
        everyone = DistributedSamples(
            engine, engine.keep(tasks), searched, in_units(weights, unit), counts
        )
        population = TrainingSets(searched, everyone, unit)
        try:
            return boosting_learning.boost(
                population, bins, n_classes, settings, n_bags, random, threads, int(counts.sum())
            )
        finally:
            everyone.let_go()


def _weigh_classes(model: Any, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return what a sample of each class weighs."""
    if model.class_weight == "balanced":
        return counts.sum() / (len(classes) * counts)
    return compute_class_weight(model.class_weight, classes=classes, y=classes)
