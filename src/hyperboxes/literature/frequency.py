"""`FrequencyGFMM`: categories with distances, and boxes with two of them in each feature."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators.base import BoxClassifier
from hyperboxes._estimators.categorical import known_categories
from hyperboxes._kernels.structs import UNIT
from hyperboxes._learning.online import find_step_size
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.box_store import WORK_PER_CALL, BoxStore
from hyperboxes._models.model import BoxModel
from hyperboxes._models.records import closeness
from hyperboxes._models.samples import Samples, frozen, slices
from hyperboxes.literature.kernels import CategoryEnds, distances_by_ends, learn_frequency
from hyperboxes.literature.mixed import MixedGFMM, RankedModel, find_owners


@dataclass(eq=False, kw_only=True)
class FrequencyModel(RankedModel):
    """Boxes with two categories in each categorical feature, and the distances of categories."""

    features: np.ndarray
    categories: CategoryEnds

    def split(self, xl: np.ndarray, xu: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return both ends without categories, and the indices of these, -1 where unknown."""
        positions, sizes = xl[:, self.features], self.categories.sizes
        codes = np.rint(positions / UNIT) - (np.cumsum(sizes) - sizes)
        numbers = xl.copy(), xu.copy()
        for values in numbers:
            values[:, self.features] = np.nan
        return *map(frozen, numbers), np.where(np.isnan(codes), -1, codes).astype(np.int64)

    def ranks(self, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
        """Return the rank of each box for each sample."""
        distances = np.empty((len(xl), len(self.boxes)))
        searched = self.boxes.arrays, self.membership.metric, self.categories
        distances_by_ends(*self.split(xl, xu), *searched, distances)
        return closeness(distances)


def make_category_ends(
    ends: np.ndarray, distances: np.ndarray, sizes: np.ndarray, eta: float = 0.0
) -> CategoryEnds:
    """Return what kernels take of categories, of which each feature has so many."""
    return CategoryEnds(ends, distances, np.cumsum(sizes**2) - sizes**2, sizes, eta)


def class_distances(codes: np.ndarray, y: np.ndarray, n_values: int, n_classes: int) -> np.ndarray:
    """Return how far the values of a feature are apart in how often each class has them.

    It is the Euclidean distance of the shares of classes among the samples of two values, divided
    by the largest of the feature. The two values of a feature that has no more have the distance 1.
    NaN for values that no sample has.
    """
    if n_values <= 2:
        return 1.0 - np.eye(n_values)
    counts = np.zeros((n_values, n_classes))
    np.add.at(counts, (codes[codes >= 0], y[codes >= 0]), 1.0)
    squares = np.zeros((n_values, n_values))
    with np.errstate(invalid="ignore"):
        for shares in (counts / counts.sum(axis=1, keepdims=True)).T:
            squares += np.square(np.subtract.outer(shares, shares))
    distances = np.sqrt(squares)
    largest = np.fmax.reduce(distances, axis=None, initial=0.0)
    return distances / largest if largest > 0.0 else distances


@shared_docs
class FrequencyGFMM(BoxClassifier):
    """GFMM for numbers and categories, which have distances by their frequencies in classes.

    The distance of two categories grows with the difference of their class shares. A box has up to
    two categories in each categorical feature, its ends: `category_ends_`. In the numbers it is a
    box of :class:`OnlineGFMM`. The least membership over all features counts: in a categorical
    feature 1 for the ends, else 1 minus the distance from the farther end.

    A sample is absorbed by the box of its class with the largest membership that may grow to
    contain it; if there is none, it becomes a new box. A grown box that shares an end in each
    feature with a box of another class gets another category in place of one of its ends. Where
    none is possible, both boxes are contracted in their numbers, if these meet.

    Parameters
    ----------
    {theta}
    eta : float, default=0.5
        The maximum distance, from 0 to 1, of a category from an end of a box that grows to it.
    {gamma}
    {scaling}
    {order}
    {calibrate}
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories, as in :class:`ImprovedOnlineGFMM`. Categories that are not
        in the training set, and None or NaN, are missing values.

    {attributes}
    {classes}
    categories_ : dict
        The values of each categorical feature, by its name or else its index.
    category_distances_ : dict
        For each categorical feature, an array of shape (n_values, n_values): the distances of the
        values in `categories_`.
    category_ends_ : dict
        For each categorical feature, an array of shape (n_boxes, 2): the ends of each box, None
        where it has fewer.

    See Also
    --------
    MixedGFMM : Boxes that count categories.
    hyperboxes.ImprovedOnlineGFMM : Boxes that contain sets of categories.

    Notes
    -----
    The distances need all samples, so there is no `partial_fit`, and memory for each pair of values
    of a feature. Bounds in categorical features are NaN. Where [2]_ is open or contradicts itself,
    this is our reading: a category that is an end already changes nothing, and no end is replaced
    by the other; two categories of a feature have the distance 1, and distances are 0 where no two
    categories differ; categories that the training set lacks, and missing values, exclude nothing.
    There is one pass over the samples. Ties of classes are resolved as in the other estimators of
    this package.

    References
    ----------
    {paper}
    .. [2] P. R. del Castillo and J. Cardeñosa, "Fuzzy min-max neural networks for categorical data:
       application to missing data imputation", Neural Computing and Applications 21(6), 2012.

    Examples
    --------
    >>> import pandas as pd
    >>> from hyperboxes.literature import FrequencyGFMM
    >>> X = pd.DataFrame({"colour": list("aabbcc")})
    >>> model = FrequencyGFMM(shuffle=False).fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.category_distances_["colour"]
    array([[0. , 0.5, 1. ],
           [0.5, 0. , 0.5],
           [1. , 0.5, 0. ]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoxClassifier._parameter_constraints,
        "eta": [Interval(Real, 0, 1, closed="both")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }
    for _name in ("membership_function", "selection", "unlabeled"):  # no parameters of its own
        del _parameter_constraints[_name]
    del _name

    selection = "all"
    _model: FrequencyModel

    def __init__(
        self,
        theta: float = 0.5,
        *,
        eta: float = 0.5,
        gamma: Any = 1.0,
        scaling: Any = "minmax",
        shuffle: bool = True,
        random_state: Any = None,
        calibrate: bool = True,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.theta = theta
        self.eta = eta
        self.gamma = gamma
        self.scaling = scaling
        self.shuffle = shuffle
        self.random_state = random_state
        self.calibrate = calibrate
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    @property
    def category_distances_(self) -> dict[Any, np.ndarray]:
        """The distances of the values of each categorical feature."""
        check_is_fitted(self)
        starts, sizes = self._model.categories.starts, self._model.categories.sizes
        pairs = np.split(self._model.categories.distances, starts[1:])
        tables = (own.reshape(n, n) for own, n in zip(pairs, sizes.tolist(), strict=False))
        return dict(zip(self.categories_, tables, strict=True))

    @property
    def category_ends_(self) -> dict[Any, np.ndarray]:
        """The ends of each box in each categorical feature."""
        check_is_fitted(self)
        ends = self._model.categories.ends.copy()
        ends[ends[..., 0] == ends[..., 1], 1] = -1
        return {
            name: np.array([*values, None], object)[own]
            for (name, values), own in zip(
                self.categories_.items(), ends.swapaxes(0, 1), strict=True
            )
        }

    def _growth_options(self) -> dict[str, Any]:
        return {"resolution": "contract"}

    _update_categories = staticmethod(MixedGFMM._update_categories)

    @property
    def _decided_otherwise(self) -> str:
        return "categories have distances" if known_categories(self) else ""

    def _new_model(self, lower: np.ndarray, upper: np.ndarray, n_classes: int) -> FrequencyModel:
        model = super()._new_model(lower, upper, n_classes)
        features, owners = find_owners(known_categories(self))
        if model.scale is not None:
            model.scale.low[features], model.scale.high[features] = 0.0, 1.0  # as they are
        sizes = np.bincount(owners, minlength=len(features))
        none = np.empty((0, len(features), 2), np.int64), np.empty(0)
        return FrequencyModel(
            **vars(model), features=features, categories=make_category_ends(*none, sizes)
        )

    def _learn(self, samples: Samples, model: BoxModel, callbacks: FitCallbacks) -> None:
        assert isinstance(model, FrequencyModel)
        n_samples, n_classes = len(samples.y), model.boxes.n_classes
        sizes, codes = model.categories.sizes, model.split(*samples.scaled())[-1]
        tables = (
            class_distances(own, samples.y, n_values, n_classes).ravel()
            for own, n_values in zip(codes.T, sizes.tolist(), strict=True)
        )
        ends = np.empty((n_samples, len(sizes), 2), np.int64)
        distances = np.concatenate([np.empty(0), *tables])
        categories = make_category_ends(ends, distances, sizes, float(self.eta))
        boxes = model.boxes = BoxStore(samples.lower.shape[1], n_classes, capacity=n_samples)
        work = np.empty(sizes.max(initial=0), np.bool_), np.empty(n_samples)
        options = self._growth_parameters(model), categories, *work, WORK_PER_CALL
        step_size = find_step_size(samples, callbacks)
        steps = slices(n_samples, step_size)

        def step() -> bool:
            part = next(steps)
            rows = samples.in_order(part)
            batch = *model.split(*samples.scaled(rows)), samples.y[rows]
            boxes.start_batch()
            while boxes.n_learned < len(batch[-1]):
                learn_frequency(*batch, boxes.arrays, *options)
            model.categories = categories._replace(ends=ends[: len(boxes)].copy())
            return part.stop == n_samples

        callbacks.run(step, n_steps=-(-n_samples // step_size))
        model.boxes = boxes.settled()
