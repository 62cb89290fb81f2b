"""`merge`: one model from several that were fitted independently."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hyperboxes._estimators.base import BoxEstimator
from hyperboxes._estimators.capabilities import Operation, require
from hyperboxes._estimators.categorical import known_categories
from hyperboxes._estimators.registry import SPEED_PARAMETERS, find_by_class
from hyperboxes._estimators.validation import column_name
from hyperboxes._kernels import agglomerative
from hyperboxes._kernels.structs import NO_LABEL, GrowthParameters
from hyperboxes._learning.agglomeration import ALGORITHMS, agglomerate_boxes
from hyperboxes._learning.growth_parameters import make_growth_parameters
from hyperboxes._models.box_store import WORK_PER_CALL, BoxStore
from hyperboxes._models.calibration import DistanceCalibration

Model = TypeVar("Model", bound=BoxEstimator)
Value = TypeVar("Value")

# The number of models merged at once; more are merged in a tree.
AT_ONCE = 4

# `gamma` and `scaling` are compared by their effect, not as parameters. Orders may differ.
_FREE_PARAMETERS = SPEED_PARAMETERS | {"gamma", "scaling", "shuffle", "random_state"}


def merge(models: Iterable[Model]) -> Model:
    """Merge models that were fitted independently, such as on parts of the data, into one.

    The boxes of all models are put together. Where boxes of two classes overlap, one of them is
    cut: the face that gives up the fewest samples is moved, assuming that samples are spread evenly
    along the sides. Boxes of a single sample stay as they are. Then boxes are agglomerated with the
    models' algorithm and similarity, or with AGGLO-SM and ``"longest"``. More than four models are
    merged in a tree. The order of the models does not matter.

    Parameters
    ----------
    models : iterable of fitted estimators
        Models of one estimator class with the same parameters (except `selection`, `shuffle`,
        `random_state` and `n_jobs`), features, classes and scale. Pass all of them the ranges of
        the features, ``scaling=[lowest, highest]``, or use ``scaling=None`` on scaled data.

    Returns
    -------
    model : estimator
        A new fitted model with the parameters of the first; the models stay as they are.

    See Also
    --------
    prune : Drops boxes that do harm or nothing.

    Notes
    -----
    Fitting models to parts of the data and combining them into a single one is the idea of [1]_
    and [2]_; the way boxes are cut and merged was developed for this package.

    References
    ----------
    .. [1] B. Gabrys, "Combining neuro-fuzzy classifiers for improved generalisation and
       reliability", International Joint Conference on Neural Networks, 2002.
    .. [2] B. Gabrys, "Learning hybrid neuro-fuzzy classifier models from data: to combine or not
       to combine?", Fuzzy Sets and Systems 147(1), 2004.

    Examples
    --------
    >>> from sklearn.base import clone
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import ImprovedOnlineGFMM, merge
    >>> X, y = load_iris(return_X_y=True)
    >>> ranges = [X.min(axis=0), X.max(axis=0)]
    >>> new = ImprovedOnlineGFMM(theta=0.3, scaling=ranges, random_state=0)
    >>> halves = [clone(new).fit(X[part::2], y[part::2]) for part in range(2)]
    >>> [len(model.hyperboxes_) for model in halves]
    [11, 12]
    >>> model = merge(halves)
    >>> model.hyperboxes_
    Hyperboxes(n_boxes=19, n_features=4, n_samples=150)
    """
    models = list(models)
    _check_alike(models)
    first = models[0]
    parts = [model._model.boxes for model in models]
    if len(parts) > AT_ONCE:
        parts.sort(key=_digest)
    if len(parts) == 1:
        parts = [_merge_boxes(parts, first)]
    while len(parts) > 1:
        groups = neighbors(parts)
        parts = [_merge_boxes(group, first) if len(group) > 1 else group[0] for group in groups]
    boxes = parts[0]
    if first.max_boxes is not None:
        boxes.evict(first.max_boxes)
    merged = first._with_boxes(boxes)
    merged._model.calibration = _join([model._model.calibration for model in models], boxes)
    return merged


def neighbors(values: Sequence[Value]) -> Iterator[list[Value]]:
    """Yield groups of at most `AT_ONCE` neighboring values, all of about the same size."""
    n_groups = -(-len(values) // AT_ONCE)
    ends = [len(values) * group // n_groups for group in range(n_groups + 1)]
    for start, end in pairwise(ends):
        yield list(values[start:end])


def _digest(boxes: BoxStore) -> bytes:
    """Return a key that orders models by their boxes."""
    return hashlib.sha256(b"".join(array.tobytes() for array in boxes.rows)).digest()


def _merge_boxes(parts: list[BoxStore], model: Any) -> BoxStore:
    """Put boxes together, cut those that overlap other classes, and agglomerate."""
    entry = find_by_class(type(model))
    assert entry is not None
    assert entry.merge_settings is not None
    settings = entry.merge_settings.for_model(model)
    growth = make_growth_parameters(
        model._model.membership,
        theta=model._model.find_theta(model.theta),
        selection=model.selection,
        overlap=settings.overlap,
        similarity=settings.similarity,
        min_similarity=settings.min_similarity,
    )
    boxes = _collect(parts)
    if boxes.n_classes > 0:
        _cut_overlaps(boxes, growth)
    algorithm = settings.algorithm if settings.algorithm in ALGORITHMS else "agglo-sm"
    boxes = agglomerate_boxes(boxes, model._model, growth, algorithm)
    boxes.n_candidates += sum(part.n_candidates for part in parts)
    return boxes


def _join(
    calibrations: list[DistanceCalibration | None], boxes: BoxStore
) -> DistanceCalibration | None:
    """Add up the accuracies of the models, if all have them."""
    known = [calibration for calibration in calibrations if calibration is not None]
    if len(known) < len(calibrations):
        return None
    return DistanceCalibration.joined(known, boxes.n_seen)


def _check_alike(models: list[Any]) -> None:
    if not models:
        raise ValueError("There is no model to merge.")
    for model in models:
        require(model, Operation.MERGE)
        check_is_fitted(model)
    first = models[0]
    for model in models[1:]:
        if type(model) is not type(first):
            kinds = f"{type(first).__name__} and {type(model).__name__}"
            raise TypeError(f"Only models of the same type can be merged, not {kinds}.")
        _check_features(first, model)
        _check_parameters(first, model)
        if not np.array_equal(getattr(first, "classes_", []), getattr(model, "classes_", [])):
            raise ValueError(
                f"The models have different classes: {first.classes_.tolist()} and "
                f"{model.classes_.tolist()}. Name all classes when they are learned, "
                "partial_fit(X, y, classes=...)."
            )
        _check_categories(first, model)
        _check_scale(first, model)


def _check_features(first: Any, other: Any) -> None:
    if first.n_features_in_ != other.n_features_in_:
        numbers = f"{first.n_features_in_} and {other.n_features_in_}"
        raise ValueError(f"The models have different numbers of features: {numbers}.")
    names, others = (list(getattr(m, "feature_names_in_", [])) for m in (first, other))
    if names != others:
        raise ValueError("The models have different feature names.")


def _check_parameters(first: Any, other: Any) -> None:
    own, others = (
        {**model.get_params(), "theta": model._model.find_theta(model.theta)}
        for model in (first, other)
    )
    for name, value in own.items():
        if name not in _FREE_PARAMETERS and value != others[name]:
            raise ValueError(f"The models differ in {name}: {value!r} and {others[name]!r}.")
    if not np.array_equal(first._model.membership.gamma, other._model.membership.gamma):
        raise ValueError(f"The models differ in gamma: {own['gamma']!r} and {others['gamma']!r}.")


def _check_categories(first: Any, other: Any) -> None:
    own, others = (
        {
            j: dict(zip(known.values, known.positions.tolist(), strict=True))
            for j, known in all_.items()
        }
        for all_ in (known_categories(first), known_categories(other))
    )
    if own != others:
        column = min(j for j in {*own, *others} if own.get(j) != others.get(j))
        raise ValueError(
            f"The models have different categories, or another order of them, in "
            f"{column_name(first, column)}. Start all of them as copies of a model that has "
            "learned some samples of every category, and continue with partial_fit."
        )


def _check_scale(first: Any, other: Any) -> None:
    differ = (first.data_min_ != other.data_min_) | (first.data_max_ != other.data_max_)
    if differ.any():
        column = int(np.argmax(differ))
        ranges = (f"{m.data_min_[column]} to {m.data_max_[column]}" for m in (first, other))
        raise ValueError(
            f"The models scale {column_name(first, column)} differently: {' and '.join(ranges)} is "
            "mapped to [0, 1]. Give all of them the same ranges: scaling=[lowest, highest]."
        )


def _collect(parts: list[BoxStore]) -> BoxStore:
    """Put all boxes in one order: those of the most samples first, equals by label and place.

    As if the parts had been learned at the same time, a box is as old as it was.
    """
    n_seen = sum(boxes.n_seen for boxes in parts)
    rows = [np.concatenate(arrays) for arrays in zip(*(boxes.rows for boxes in parts), strict=True)]
    lower, upper, labels, counts = rows
    confirmed = np.concatenate([boxes.confirmed - boxes.n_seen for boxes in parts]) + n_seen
    labelled_first = np.where(labels == NO_LABEL, np.iinfo(np.int64).max, labels)
    order = np.lexsort([confirmed, *upper.T[::-1], *lower.T[::-1], labelled_first, -counts])
    rows = [array[order] for array in (*rows, confirmed)]
    return BoxStore.of_rows(*rows, n_classes=parts[0].n_classes, n_seen=n_seen)


def _cut_overlaps(boxes: BoxStore, growth: GrowthParameters) -> None:
    start = 0
    while start < len(boxes):
        scratch = boxes.make_scratch()
        start = agglomerative.cut_overlaps(boxes.arrays, start, growth, scratch, WORK_PER_CALL)
    boxes.pack()
