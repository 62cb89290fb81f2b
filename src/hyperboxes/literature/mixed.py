"""`MixedGFMM`: boxes in the numbers that count categories (EIOL-GFMM), as an estimator."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators.base import BoxClassifier
from hyperboxes._estimators.categorical import known_categories
from hyperboxes._estimators.online import ONLINE_CONSTRAINTS, OnlineMixin
from hyperboxes._kernels.structs import UNIT, CategoryCounts, MixedMetric
from hyperboxes._models.box_store import BoxStore
from hyperboxes._models.calibration import ClassScores
from hyperboxes._models.categories import Categories, Column, sort_key
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import frozen
from hyperboxes.literature.fuzzy_min_max import compared_slices
from hyperboxes.literature.kernels import rank_mixed


class CountingBoxStore(BoxStore):
    """Boxes with counts: of the samples that have a value, and of those that have any.

    Values are numbered, those of all categorical features together, in the order in which they were
    learned.
    """

    _rows: ClassVar[tuple[str, ...]] = (*BoxStore._rows, "_value_counts", "_known")

    def __init__(self, n_features: int, n_classes: int) -> None:
        self._value_counts = np.zeros((0, 0), np.int64)
        self._known = np.zeros((0, 0), np.int64)
        super().__init__(n_features, n_classes)

    @classmethod
    def of_boxes(cls, boxes: BoxStore) -> Self:
        """Copy boxes that have counted nothing yet."""
        rows = boxes.lower, boxes.upper, boxes.labels, boxes.counts, boxes.confirmed
        tallied = cls.of_rows(*rows, n_classes=boxes.n_classes, n_seen=boxes.n_seen)
        tallied.n_candidates = boxes.n_candidates
        return tallied

    def set_counts(self, counts: np.ndarray, owners: np.ndarray, n_categorical: int) -> None:
        """Take on what was counted, when a model is restored."""
        self._value_counts = np.array(counts, np.int64, order="C")
        self._known = np.zeros((len(counts), n_categorical), np.int64)
        np.add.at(self._known.T, owners, self._value_counts.T)

    def make_columns(self, n_values: int, n_categorical: int) -> None:
        """Have room to count so many values of so many features."""
        self._value_counts = _with_columns(self._value_counts, len(self._labels), n_values)
        self._known = _with_columns(self._known, len(self._labels), n_categorical)

    @property
    def value_counts(self) -> np.ndarray:
        """How many samples of each box have each value."""
        return self._value_counts[: len(self)]


def _with_columns(table: np.ndarray, n_rows: int, n_columns: int) -> np.ndarray:
    if table.shape == (n_rows, n_columns):
        return table
    wider = np.zeros((n_rows, n_columns), np.int64)
    wider[: len(table), : table.shape[1]] = table
    return wider


class RankedModel(BoxModel):
    """A model that compares each sample with each box: base of those with categories."""

    @abstractmethod
    def ranks(self, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
        """Return the rank of each box for each sample: the membership, if it is not 0."""

    def _ranks(self, xl: np.ndarray, xu: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield slices of the samples with their ranks."""
        for rows in compared_slices(len(xl), len(self.boxes)):
            yield rows, self.ranks(xl[rows], xu[rows])

    def find_nearest(self, xl: np.ndarray, xu: np.ndarray, **options: Any) -> ClassScores:
        """Return the nearest boxes of each class of all."""
        boxes, shape = self.boxes, (len(xl), self.boxes.n_classes)
        best, votes, single = np.full(shape, -np.inf), *np.zeros((2, *shape), np.int64)
        by_class = [np.flatnonzero(boxes.labels == label) for label in range(boxes.n_classes)]
        for rows, ranks in self._ranks(xl, xu):
            for label, own in enumerate(by_class):
                best[rows, label] = ranks[:, own].max(axis=1, initial=-np.inf)
                is_best = ranks[:, own] == best[rows, label, np.newaxis]
                votes[rows, label] = is_best @ boxes.counts[own]
                singles = np.where(is_best & (boxes.counts[own] == 1), own, len(boxes))
                single[rows, label] = singles.min(axis=1, initial=len(boxes))
        return ClassScores(best, votes, single, np.zeros(len(xl)))

    def find_boxes(
        self, xl: np.ndarray, xu: np.ndarray, labels: np.ndarray, used: np.ndarray
    ) -> np.ndarray:
        """Return the nearest box of a label for each sample; mark all that are equally near."""
        found = np.empty(len(xl), np.int64)
        for rows, ranks in self._ranks(xl, xu):
            is_own = self.boxes.labels == labels[rows, np.newaxis]
            best = np.where(is_own, ranks, -np.inf).max(axis=1, keepdims=True)
            is_best = is_own & (ranks == best)
            used |= is_best.any(axis=0)
            found[rows] = np.where(is_best, self.boxes.counts, 0).argmax(axis=1)
        return found


@dataclass(eq=False, kw_only=True)
class MixedModel(RankedModel):
    """Boxes in the numbers that count categories.

    `features` are those that are categorical, and `owners` has for each value which of these it
    belongs to. `mixture` is how numbers and categories decide together.
    """

    features: np.ndarray
    owners: np.ndarray
    mixture: MixedMetric

    @property
    def mixed(self) -> tuple[CategoryCounts, MixedMetric]:
        """What kernels take for categories."""
        boxes, n_categorical = self.boxes, len(self.features)
        assert isinstance(boxes, CountingBoxStore)
        boxes.make_columns(len(self.owners), n_categorical)
        values = np.argsort(self.owners, kind="stable")
        starts = np.searchsorted(self.owners[values], np.arange(n_categorical + 1))
        codes = np.empty(n_categorical, np.int64)
        counted = boxes._value_counts, boxes._known, codes
        return CategoryCounts(
            frozen(self.features), frozen(values), frozen(starts), *counted
        ), self.mixture

    def ranks(self, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
        """Return the rank of each box for each sample."""
        found = np.empty((len(xl), len(self.boxes)))
        rank_mixed(xl, xu, self.boxes.arrays, self.membership.metric, *self.mixed, found)
        return found

    def value_counts(self) -> np.ndarray:
        """Return how many samples of each box have each value, new ones, too."""
        assert isinstance(self.boxes, CountingBoxStore)
        return _with_columns(self.boxes.value_counts, len(self.boxes), len(self.owners))


def find_owners(categories: dict[int, Categories]) -> tuple[np.ndarray, np.ndarray]:
    """Return the categorical features, and to which of them each numbered value belongs."""
    features = np.array(sorted(categories), np.int64)
    owners = np.empty(sum(len(known.values) for known in categories.values()), np.int64)
    for i, feature in enumerate(features.tolist()):
        owners[np.rint(categories[feature].positions / UNIT).astype(np.int64)] = i
    return features, owners


@shared_docs
class MixedGFMM(OnlineMixin, BoxClassifier):
    """Online learning of boxes that count the categories of their samples (EIOL-GFMM).

    In numeric features, a box has bounds, as in :class:`ImprovedOnlineGFMM`. In categorical
    features, it counts the values of its samples: `category_counts_`. A sample joins the box of its
    class with the largest membership that can absorb it without a side longer than `theta`, without
    a rise of the entropy of these counts by more than `delta`, and without overlapping a box of
    another class. If there is none, the sample becomes a new box.

    Use it for study, or for its counts. :class:`ImprovedOnlineGFMM`, which encodes categories as
    positions, is as accurate, and its rules have sets of values.

    Parameters
    ----------
    {theta}
    delta : float, default=0.2
        The maximum rise of the entropy of a box's categories by a sample, in bits. With less than 1
        and ``entropy="each"``, a box of one sample absorbs only samples with the same categories.
    alpha : float, default=0.9
        The weight of the membership in numeric features; the rest is the mean share of the box's
        samples that have the sample's categories. With the paper's 0.5, boxes of few samples win,
        because their categories have large shares.
    entropy : {"mean", "each"}, default="mean"
        Whether `delta` bounds the mean over the features or each of them, as in the first version
        of the paper, which makes many more boxes.
    overlap : {"values", "frequencies"}, default="values"
        When boxes of two classes overlap that share a point in the numbers. ``"values"``: if they
        have a value in common in each categorical feature. ``"frequencies"``: if it is also as
        frequent in both, as published. That is rare, and boxes may stop overlapping as they grow.
    {gamma}
    {search}
    {order}
    {calibrate}
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories, as in :class:`ImprovedOnlineGFMM`. Those that were never
        learned, and None or NaN, are missing values: they hold nothing back and are not counted.

    {attributes}
    {seen}
    {classes}
    categories_ : dict
        The values of each categorical feature, by its name or else its index, in the order in which
        they are counted.
    category_counts_ : dict
        For each categorical feature, an array of shape (n_boxes, n_values): how many samples of
        each box have each of the values in `categories_`.

    See Also
    --------
    ImprovedOnlineGFMM : Categories have positions, and boxes contain sets of them.

    Notes
    -----
    Membership in the numbers is that of the paper, the least over the features. Bounds in
    categorical features are NaN. Each box has room for all values, so thousands of boxes and of
    values take much memory.

    References
    ----------
    {paper}
    .. [2] T. T. Khuat and B. Gabrys, "An online learning algorithm for a neuro-fuzzy classifier
       with mixed-attribute data", Applied Soft Computing 137, 2023.

    Examples
    --------
    >>> import pandas as pd
    >>> from hyperboxes.literature import MixedGFMM
    >>> X = pd.DataFrame({"size": [0.2, 0.3, 0.25, 0.35, 0.3], "colour": list("aabab")})
    >>> y = [1, 1, 1, 1, 2]
    >>> model = MixedGFMM(theta=0.3, delta=0.95, scaling=None, shuffle=False).fit(X, y)
    >>> model.hyperboxes_.lower[:, 0], model.hyperboxes_.upper[:, 0]
    (array([0.2, 0.3]), array([0.35, 0.3 ]))
    >>> model.category_counts_["colour"]
    array([[3, 1],
           [0, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ONLINE_CONSTRAINTS,
        "delta": [Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "entropy": [StrOptions({"mean", "each"})],
        "overlap": [StrOptions({"values", "frequencies"})],
    }
    for _name in ("membership_function", "unlabeled"):  # no parameters of its own
        del _parameter_constraints[_name]
    del _name

    _model: MixedModel

    def __init__(
        self,
        theta: float = 0.5,
        *,
        delta: float = 0.2,
        alpha: float = 0.9,
        entropy: str = "mean",
        overlap: str = "values",
        gamma: Any = 1.0,
        selection: str = "index",
        scaling: Any = "minmax",
        shuffle: bool = True,
        random_state: Any = None,
        calibrate: bool = True,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.theta = theta
        self.delta = delta
        self.alpha = alpha
        self.entropy = entropy
        self.overlap = overlap
        self.gamma = gamma
        self.selection = selection
        self.scaling = scaling
        self.shuffle = shuffle
        self.random_state = random_state
        self.calibrate = calibrate
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    @property
    def category_counts_(self) -> dict[Any, np.ndarray]:
        """How many samples of each box have each value, by feature."""
        check_is_fitted(self)
        model, counts = self._model, self._model.value_counts()
        owners = np.searchsorted(model.features, list(known_categories(self)))
        counted = (counts[:, model.owners == owner] for owner in owners)
        return dict(zip(self.categories_, counted, strict=True))

    def _growth_options(self) -> dict[str, Any]:
        return {"overlap": "paper"}  # of the numbers alone: no walls, categories keep apart, too

    def _validate_samples(
        self, X: Any, y: Any, X_upper: Any, *, reset: bool = True, sample_weight: Any = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        samples = super()._validate_samples(X, y, X_upper, reset=reset, sample_weight=sample_weight)
        if not reset:  # there may be new values
            _, self._model.owners = find_owners(known_categories(self))
        return samples

    @staticmethod
    def _update_categories(
        known: dict[int, Categories], columns: dict[int, Column]
    ) -> dict[int, Categories]:
        """Give numbers to values that were not known before, after those that were.

        Features come in turn. Places stand for these numbers, because counts need no order.
        """
        numbered, n_known = {}, sum(len(categories.values) for categories in known.values())
        for feature, column in sorted(columns.items()):
            before = known.get(feature)
            old, positions = (
                ((), np.empty(0)) if before is None else (before.values, before.positions)
            )
            new = sorted(set(column.values) - set(old), key=sort_key)
            positions = np.append(positions, (n_known + np.arange(len(new))) * UNIT)
            n_known += len(new)
            if n_known * UNIT > 1.0:
                raise ValueError(f"There are more than {round(1 / UNIT):,} categories.")
            numbered[feature] = Categories((*old, *new), positions, positions, {}, 0.0, 0.0)
        return numbered

    @property
    def _decided_otherwise(self) -> str:
        return "boxes count categories" if known_categories(self) else ""

    def _new_model(self, lower: np.ndarray, upper: np.ndarray, n_classes: int) -> MixedModel:
        model = super()._new_model(lower, upper, n_classes)
        features, owners = find_owners(known_categories(self))
        if model.scale is not None:
            model.scale.low[features], model.scale.high[features] = 0.0, 1.0  # as they are
        gamma, numbers = model.membership.gamma, np.delete(np.arange(lower.shape[1]), features)
        if len(numbers):
            gamma[features] = gamma[numbers].min()
        mixture = MixedMetric(
            alpha=float(self.alpha),
            n_numbers=len(numbers),
            delta=float(self.delta),
            each=self.entropy == "each",
            frequencies=self.overlap == "frequencies",
        )
        model.boxes = CountingBoxStore(lower.shape[1], n_classes)
        return MixedModel(**vars(model), features=features, owners=owners, mixture=mixture)
