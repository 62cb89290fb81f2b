"""`fit` and `partial_fit` on Dask: partitions are learned independently, merged and repaired.

Merging trims boxes of different classes that overlap; samples that no box contains then are learned
again.
"""

import copy
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, check_random_state, check_scalar

from hyperboxes._estimators.boosted import BoostedHyperboxes
from hyperboxes._estimators.capabilities import Operation, require
from hyperboxes._estimators.merge import merge
from hyperboxes._estimators.online import ImprovedOnlineGFMM
from hyperboxes._estimators.registry import find_by_class
from hyperboxes._estimators.validation import check_any_label, data_attributes, encode
from hyperboxes._kernels.structs import NO_LABEL
from hyperboxes._learning.calibration import MAX_CALIBRATION_SAMPLES
from hyperboxes._models.box_store import BoxStore
from hyperboxes._models.categories import Categories
from hyperboxes._models.samples import slices
from hyperboxes.dask._boosting import boost_partitions
from hyperboxes.dask._engine import Engine, Partition, naming_partition, partitions_of, split_labels
from hyperboxes.dask._survey import (
    Survey,
    is_empty,
    join_surveys,
    look_at_partition,
    with_positions,
)

# Samples that are scaled at a time.
_ROWS_AT_ONCE = 65_536

Model = TypeVar("Model", bound=Any)

# Lower and upper ends, None for those of points, and labels.
Samples = tuple[np.ndarray, np.ndarray | None, np.ndarray]

# The attribute with the callbacks, which is neither a parameter nor fitted.
_CALLBACKS = "_skl_callbacks"


def fit(
    model: Model,
    X: Any,
    y: Any = None,
    *,
    X_upper: Any = None,
    min_box_samples: int = 1,
    n_repairs: int = 1,
    client: Any = None,
    progress: bool = False,
) -> Model:
    """Fit an estimator to each partition of the data, and merge the models.

    A first pass over the partitions finds classes and ranges, and checks the data. Then a copy of
    the estimator is fitted to each partition, and the models are merged in a tree that depends only
    on the number of partitions, so the result is always the same. Shuffle rows between partitions
    that are sorted: the more similar partitions are, the better the model.

    `BoostedHyperboxes` are not merged: their weights are fitted to the samples of all partitions,
    which stay on the workers in bins. The model is, bit for bit, that of the estimator's own `fit`
    on all rows.

    Parameters
    ----------
    model : estimator
        `ImprovedOnlineGFMM`, `OnlineGFMM`, `AgglomerativeGFMM`, `HyperboxClustering` or
        `BoostedHyperboxes`.
    X : dask Array, dask DataFrame, or list of delayed parts
        The samples, or the lower ends of interval samples. Each of two or
        three passes computes the partitions: persist them if they fit into the workers' memory.
    y : dask Array, dask Series, list of delayed parts, or str, default=None
        The labels, divided as `X` is; or the name of their column in the DataFrame `X`.
    X_upper : like `X`, default=None
        The upper ends of interval samples.
    min_box_samples : int, default=1
        Boxes of a partition with fewer samples are left out, unless their class has no larger box
        there. Where classes overlap, most boxes contain a single sample, and merging takes most of
        the time: 2 saves much of it. `counts` lack the samples of these boxes.
    n_repairs : int, default=1
        The number of times that partitions learn samples again that cuts have put outside of all
        boxes, for `ImprovedOnlineGFMM` without `max_boxes` and with ``min_box_samples=1``. Each
        time is another pass over the partitions.
    client : distributed.Client, default=None
        Where to compute. None: on the default client if there is one, else by Dask's scheduler in
        this process, with threads unless Dask is configured otherwise. No cluster is started.
    progress : bool, default=False
        Whether to show Dask's progress bar.

    Returns
    -------
    model : estimator
        The same estimator, fitted; it no longer needs Dask. If anything fails, it is unchanged.

    Notes
    -----
    Probabilities are calibrated as by the estimator's own `fit`, on up to 3,000 samples drawn from
    all partitions. Every partition uses the integer `random_state`; otherwise each gets a
    seed drawn from it, so a partition that is computed again gives the same model.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> import hyperboxes.dask
    >>> from hyperboxes import ImprovedOnlineGFMM
    >>> X, y = load_iris(return_X_y=True)
    >>> parts = da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)
    >>> model = hyperboxes.dask.fit(ImprovedOnlineGFMM(theta=0.3, random_state=0), *parts)
    >>> int(model.hyperboxes_.counts.sum())
    150
    >>> model.predict(X[:3])
    array([0, 0, 0])
    """
    require(model, Operation.DASK_FIT)
    check_scalar(min_box_samples, "min_box_samples", Integral, min_val=1)
    check_scalar(n_repairs, "n_repairs", Integral, min_val=0)
    if isinstance(model, BoostedHyperboxes) and min_box_samples > 1:
        raise ValueError("Boosted boxes are not merged: leave min_box_samples out.")
    partitions = partitions_of(X, y, X_upper)
    engine = Engine(client, progress)
    fitted, _ = fit_partitions(engine, model, partitions, min_box_samples, n_repairs)
    return fitted


def fit_partitions(
    engine: Engine,
    model: Model,
    partitions: list[Partition],
    min_box_samples: int = 1,
    n_repairs: int = 1,
) -> tuple[Model, int]:
    """Fit an estimator to partitions; return it, and how many samples it has learned."""
    model._validate_params()
    survey = _survey(engine, model, partitions)
    n_samples = sum(survey.n_rows.values())
    if isinstance(model, BoostedHyperboxes):
        fitted = boost_partitions(engine, model, partitions, survey)
        return _take_over(model, fitted), n_samples
    unfitted = _prepared(model, survey)
    seeds = _seeds(model, len(partitions))
    n_compared, categories = _calibration_quota(survey, model), survey.categories
    parts = [
        engine.task(
            learn_partition,
            f"{number}",
            *(unfitted, survey.classes, categories, seeds[number], n_compared[number]),
            min_box_samples,
            *(number, *partition),
        )
        for number, partition in enumerate(partitions)
    ]
    merged = engine.tree(merge_partitions, parts)
    was_merged = sum(n > 0 for n in survey.n_rows.values()) > 1
    only_grows = isinstance(model, ImprovedOnlineGFMM) and model.max_boxes is None
    if was_merged and min_box_samples == 1 and only_grows:
        merged = _repaired(engine, merged, partitions, n_repairs)
    fitted = engine.compute(engine.task(finish, "model", _bare(model), merged))
    return _take_over(model, fitted), n_samples


def partial_fit(
    model: Model,
    X: Any,
    y: Any = None,
    *,
    classes: Any = None,
    X_upper: Any = None,
    client: Any = None,
    progress: bool = False,
) -> Model:
    """Learn partitions one after the other, in their order, exactly as `partial_fit` does.

    The result is that of the estimator's own `partial_fit` with all rows as one batch, which are
    never in memory together. In the first call a pass over the partitions finds the features'
    ranges, and the classes if they are not given. Partitions do not learn at the same time; they
    may be read at the same time.

    Parameters
    ----------
    model : estimator
        One that has a method `partial_fit`.
    X, y, X_upper, client, progress
        As in `fit`.
    classes : array-like of shape (n_classes,), default=None
        All labels that may ever appear. None: those of `y`, or those known from earlier calls.

    Returns
    -------
    model : estimator
        The same estimator, updated. If anything fails, it is unchanged.
    """
    if find_by_class(type(model)) is None or not hasattr(model, "partial_fit"):
        raise TypeError(f"{model!r} cannot be updated: it has no partial_fit.")
    partitions = partitions_of(X, y, X_upper)
    engine = Engine(client, progress)
    learner = copy.deepcopy(model)
    vars(learner).pop(_CALLBACKS, None)
    categories: dict[int, Categories] = {}
    if hasattr(model, "_validate_samples") and not hasattr(model, "_model"):
        survey = _survey(engine, model, partitions)
        _set_ranges(learner, survey)
        categories = survey.categories
        if classes is None and y is not None:
            classes = survey.classes
    options = {} if classes is None else {"classes": classes}
    for number, partition in enumerate(partitions):
        learner = engine.task(
            *(go_on_with_partition, f"{number}", learner, options, categories, number),
            *partition,
        )
    return _take_over(model, engine.compute(learner))


def _survey(engine: Engine, model: Any, partitions: list[Partition]) -> Survey:
    """Return what is known of all partitions, which are all right."""
    if isinstance(getattr(model, "theta", None), str):
        raise ValueError(
            "theta='auto' is not supported on Dask: fit the model to a sample of the rows, and "
            "pass what it has chosen, theta=model.theta_."
        )
    unfitted = _bare(model)
    looks = [
        engine.task(look_at_partition, f"{number}", unfitted, number, *partition)
        for number, partition in enumerate(partitions)
    ]
    survey: Survey = engine.compute(engine.tree(join_surveys, looks))
    survey.check()
    return survey


def _bare(model: Any) -> Any:
    """Return an unfitted copy that calls nobody back."""
    unfitted = clone(model)
    vars(unfitted).pop(_CALLBACKS, None)
    return unfitted


def _prepared(model: Any, survey: Survey) -> Any:
    """Return what learns each partition: it has all ranges, and leaves calibration to the end."""
    unfitted = _bare(model)
    _set_ranges(unfitted, survey)
    if is_classifier(unfitted):
        unfitted.calibrate = False
        check_any_label(survey.classes, model.unlabeled)
    trial = _bare(model)  # checks the parameters, before the partitions do
    if survey.names is not None:
        trial.feature_names_in_ = np.array(survey.names, object)
    trial._new_model(*survey.all_ranges[:, np.newaxis], len(survey.classes))
    return unfitted


def _set_ranges(unfitted: Any, survey: Survey) -> None:
    """Set on an estimator what is known of all partitions."""
    if isinstance(unfitted.scaling, str):
        unfitted.scaling = survey.all_ranges
    if survey.tally:
        unfitted.categorical_features = None  # it gets their places


def _seeds(model: Any, n_partitions: int) -> list[int | None]:
    """Return the random state of each partition, None for learners that have none."""
    state = getattr(model, "random_state", 0)
    if isinstance(state, int | np.integer):
        return [int(state)] * n_partitions
    return check_random_state(state).randint(2**31 - 1, size=n_partitions).tolist()


def _calibration_quota(survey: Survey, model: Any) -> list[int]:
    """Return how many samples of each partition calibrate: as a draw from all rows would."""
    n_rows = np.array([survey.n_rows[number] for number in range(len(survey.n_rows))])
    if not getattr(model, "calibrate", False):
        return [0] * len(n_rows)
    if n_rows.sum() <= MAX_CALIBRATION_SAMPLES:
        return n_rows.tolist()
    shares = n_rows / n_rows.sum()
    drawn = np.random.default_rng(0).multinomial(MAX_CALIBRATION_SAMPLES, shares)
    return np.minimum(drawn, n_rows).tolist()


def _repaired(engine: Engine, merged: Any, partitions: list[Partition], n_repairs: int) -> Any:
    """Have all partitions learn what the merged model has lost, so many times."""
    for turn in range(n_repairs):
        lost = [
            engine.task(refit_lost, f"{number}-turn-{turn}", merged, number, *partition)
            for number, partition in enumerate(partitions)
        ]
        merged = engine.task(repair, f"{turn}", merged, engine.tree(merge_partitions, lost))
    return merged


@dataclass(frozen=True, eq=False)
class Trained:
    """A model of some partitions, None if they have no rows, and samples to calibrate it with."""

    model: Any = None
    samples: Samples | None = None


def learn_partition(
    unfitted: Any,
    classes: np.ndarray,
    categories: dict[int, Categories],
    seed: int | None,
    n_compared: int,
    min_box_samples: int,
    number: int,
    X: Any,
    y: Any,
    X_upper: Any,
) -> Trained:
    """Learn one partition, and set some of its samples aside for calibration."""
    X, y = split_labels(X, y)
    if is_empty(X, y):
        return Trained()
    estimator = copy.copy(unfitted)
    if "random_state" in estimator.get_params(deep=False):
        estimator.random_state = seed
    with naming_partition(number):
        X, X_upper = (with_positions(part, categories) for part in (X, X_upper))
        estimator._fit(X, y, X_upper, classes=classes)
        samples = _draw(estimator, n_compared, number, X, y, X_upper)
    if categories:  # it was fitted to their encoded positions
        estimator._categories = categories
    return Trained(_without_small_boxes(estimator, min_box_samples), samples)


def _without_small_boxes(model: Any, least: int) -> Any:
    """Leave out boxes of few samples; of a class that has no others, none."""
    boxes = model._model.boxes
    labels, counts = boxes.labels, boxes.counts
    is_kept = counts >= least
    is_kept |= ~np.isin(labels, labels[is_kept])
    if is_kept.all():
        return model
    return model._with_boxes(boxes.take(is_kept))


def _draw(
    estimator: Any, n_compared: int, number: int, X: Any, y: Any, X_upper: Any
) -> Samples | None:
    """Return some samples at random, in their order."""
    if n_compared == 0:
        return None
    random = np.random.default_rng([0, number])
    rows = np.sort(random.choice(len(y), n_compared, replace=False))
    X, y, X_upper = (
        None if part is None else _safe_indexing(part, rows) for part in (X, y, X_upper)
    )
    lower, upper, y = estimator._validate_samples(X, y, X_upper)
    return lower, None if X_upper is None else upper, y


def merge_partitions(parts: list[Trained]) -> Trained:
    """Merge the models of neighbouring partitions; partitions without rows do not matter."""
    models = [part.model for part in parts if part.model is not None]
    samples = [part.samples for part in parts if part.samples is not None]
    return Trained(
        None if not models else models[0] if len(models) == 1 else merge(models),
        _join(samples) if samples else None,
    )


# Merging cuts boxes of different classes that overlap, and what is cut off is contained in no box
# of its class any more. Each partition learns its own such samples on top of the merged model, and
# the boxes that are new, or have grown, are merged with it.


def refit_lost(merged: Trained, number: int, X: Any, y: Any, X_upper: Any) -> Trained:
    """Return the boxes that are new, or have grown, when a partition learns its lost samples.

    They count the samples that were lost only.
    """
    X, y = split_labels(X, y)
    if is_empty(X, y):
        return Trained()
    model = merged.model
    with naming_partition(number):
        rows = np.flatnonzero(are_lost(model, X, np.asarray(y), X_upper))
        if len(rows) == 0:
            return Trained()
        lost = [None if part is None else _safe_indexing(part, rows) for part in (X, y, X_upper)]
        grown = copy.deepcopy(model).partial_fit(lost[0], lost[1], X_upper=lost[2])._model.boxes
    before = model._model.boxes
    lower, upper, labels, counts = (np.array(row) for row in grown.rows)
    counts[: len(before)] -= before.counts
    is_new = counts > 0  # no box contained these samples: whichever has absorbed one has grown
    found = (row[is_new] for row in (lower, upper, labels, counts))
    n_seen = int(counts[is_new].sum())
    boxes = BoxStore.of_rows(*found, n_classes=before.n_classes, n_seen=n_seen)
    return Trained(model._with_boxes(boxes))


def are_lost(model: Any, X: Any, y: np.ndarray, X_upper: Any) -> np.ndarray:
    """Return which samples have a label, and no box of it contains them."""
    labels = encode(y, model.classes_, model.unlabeled)
    intervals = model._intervals(X, X_upper)
    is_lost = labels != NO_LABEL
    for rows in slices(len(labels), _ROWS_AT_ONCE):
        xl, xu = intervals.scaled(rows)
        is_lost[rows] &= ~model._model.are_contained(xl, xu, labels[rows])
    return is_lost


def repair(merged: Trained, lost: Trained) -> Trained:
    """Merge a model with what was learned of its lost samples, which it counts no more."""
    if lost.model is None:
        return merged
    boxes, others = merged.model._model.boxes, lost.model._model.boxes
    is_labelled = others.labels >= 0
    n_lost = np.bincount(others.labels[is_labelled], others.counts[is_labelled]).astype(np.int64)
    lower, upper, labels, counts = boxes.rows
    rows = lower, upper, labels, lower_counts(labels, counts, n_lost)
    total = int(n_lost.sum())
    seen = {"n_classes": boxes.n_classes, "n_seen": boxes.n_seen - total}
    kept = BoxStore.of_rows(*rows, boxes.confirmed - total, **seen)
    return replace(merged, model=merge([merged.model._with_boxes(kept), lost.model]))


def lower_counts(labels: np.ndarray, counts: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """Take so many samples of each class off the counts of its boxes, in proportion to these.

    Which box a sample was cut off is not known. One sample is left to each box.
    """
    counts = counts.copy()
    for label, n_lost in enumerate(lost.tolist()):
        indices = np.flatnonzero(labels == label)
        spare = counts[indices] - 1
        total = int(spare.sum())
        wanted = min(n_lost, total)
        if wanted > 0:
            share, remainder = np.divmod(spare * wanted, total)
            largest = np.argsort(-remainder, kind="stable")[: wanted - share.sum()]
            share[largest] += 1
            counts[indices] -= share
    return counts


def _join(samples: list[Any]) -> Any:
    return tuple(
        None if arrays[0] is None else np.concatenate(arrays)
        for arrays in zip(*samples, strict=True)
    )


def finish(unfitted: Any, trained: Trained) -> Any:
    """Make the merged model one with the user's own parameters, and calibrate it."""
    fitted = clone(unfitted)
    vars(fitted).update(data_attributes(trained.model), _model=replace(trained.model._model))
    if trained.samples is not None:
        lower, upper, y = trained.samples
        fitted._recalibrate(lower, lower if upper is None else upper, y)
    return fitted


def go_on_with_partition(
    model: Any,
    options: dict[str, Any],
    categories: dict[int, Categories],
    number: int,
    X: Any,
    y: Any,
    X_upper: Any,
) -> Any:
    """Learn a partition after others; the first one gets all categories."""
    X, y = split_labels(X, y)
    if is_empty(X, y):
        return model
    is_first = not hasattr(model, "_model")
    model = copy.deepcopy(model)  # the partition may have to be learned again
    with naming_partition(number):
        if is_first:
            X, X_upper = (with_positions(part, categories) for part in (X, X_upper))
        model.partial_fit(X, y, **options, X_upper=X_upper)
    if is_first and categories:  # it was fitted to their encoded positions
        model._categories = categories
    return model


def _take_over(model: Any, fitted: Any) -> Any:
    """Make the user's estimator what the fitted one is; its parameters stay."""
    kept = {*model.get_params(deep=False), _CALLBACKS}
    learned = {name: value for name, value in vars(fitted).items() if name not in kept}
    for name in [name for name in vars(model) if name not in kept]:
        del vars(model)[name]
    vars(model).update(learned)
    return model
