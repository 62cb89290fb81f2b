"""`MultiGranularGFMM`: small boxes on parts of the samples, then fewer, larger ones of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_array, check_is_fitted

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators.base import BoxClassifier
from hyperboxes._estimators.online import ImprovedOnlineGFMM
from hyperboxes._estimators.validation import data_attributes
from hyperboxes._kernels.structs import GrowthParameters
from hyperboxes._learning.calibration import cross_fit
from hyperboxes._learning.growth_parameters import make_growth_parameters
from hyperboxes._learning.online import learn_boxes
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.box_store import BoxStore
from hyperboxes._models.calibration import (
    DistanceCalibration,
    nearest_probabilities,
    predicted_classes,
)
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Intervals, Samples, frozen


@dataclass(eq=False)
class GranularModel(BoxModel):
    """A model of several levels, of which one is read, or all vote.

    Its boxes are those of the level that is read, by its number in `level`. That is None if all
    vote; they are those of the coarsest then. `thetas` are the sizes of boxes at the levels.
    """

    levels: tuple[BoxModel, ...] = ()
    thetas: tuple[float, ...] = ()
    level: int | None = -1

    @property
    def votes(self) -> bool:
        """Whether all levels vote."""
        return self.level is None and len(self.levels) > 0

    @property
    def theta(self) -> float:
        """The size of the boxes that are read."""
        return self.thetas[self._number]

    def find_theta(self, given: Any) -> float:
        """Return the size of the boxes that are read."""
        return self.theta

    @property
    def _number(self) -> int:
        """Which level is read: the last that there is, if learning has not come so far."""
        number = -1 if self.level is None else self.level
        has_it = -len(self.levels) <= number < len(self.levels)
        return number % len(self.levels) if has_it else len(self.levels) - 1

    def add_counts(self, samples: Samples) -> None:
        """Count samples that equal learned ones at every level."""
        for level in self.levels:
            level.add_counts(samples)

    def choose(self) -> None:
        """Take the boxes of the level that is read, or of the last that there is."""
        chosen = self.levels[self._number]
        self.boxes, self.calibration = chosen.boxes, chosen.calibration


@shared_docs
class MultiGranularGFMM(BoxClassifier):
    """General fuzzy min-max networks of several granularities, from small boxes to large ones.

    First, small boxes are built on parts of the samples, regardless of other classes. Then they are
    joined, level by level: a box of the level below joins the nearest box of its class if both fit
    into `theta` of the level and meet no other class. Otherwise it becomes a new box, and is
    contracted against the boxes of other classes that it meets.

    Each level is a complete model. `level` selects the one that predicts; `levels_` has all of
    them, to compare them after one fit. All levels may also vote.

    Parameters
    ----------
    theta : float or array-like of shape (n_levels,), default=(0.1, 0.2, 0.3)
        How far boxes may grow at each level: their longest side, as a fraction of each feature's
        range. The numbers grow; the first is also that of the small boxes.
    level : int or None, default=-1
        The level that predicts, counted from 0 or, if negative, from the coarsest. Rules and plots
        show it as well. None: all levels vote; the mean of their probabilities resolves ties.
    n_parts : int, default=4
        The number of parts of the samples, stratified by class.
    min_similarity : float, default=0.5
        Boxes less like each other than this are not joined: the membership of one in the other.
    {gamma}
    {membership_function}
    {search}
    {categorical}
    {order}
    {calibrate}
    {unlabeled}

    {attributes}
    {classes}
    {categories}
    levels_ : list of ImprovedOnlineGFMM
        Each level as a fitted model, the finest first, which can be read, saved and updated.

    See Also
    --------
    AgglomerativeGFMM : Merges the most similar boxes of all first.
    merge : Makes one model of several that were trained separately.

    Notes
    -----
    The boxes depend on the division into parts and on the order of the samples: `shuffle`.
    Contraction may push samples out of their box.

    It implements [2]_. Unlike in the authors' code, counts of samples add up, contracted boxes end
    a rounding step before each other, and ties of classes are resolved as in the other classifiers.

    References
    ----------
    {paper}
    .. [2] T. T. Khuat, F. Chen and B. Gabrys, "An effective multiresolution hierarchical granular
       representation based classifier using general fuzzy min-max neural network", IEEE
       Transactions on Fuzzy Systems 29(2), 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes.literature import MultiGranularGFMM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MultiGranularGFMM([0.1, 0.2, 0.4], random_state=0).fit(X, y)
    >>> [len(level.hyperboxes_) for level in model.levels_]
    [66, 30, 14]
    >>> len(model.hyperboxes_)
    14
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoxClassifier._parameter_constraints,
        "theta": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "level": [Integral, None],
        "n_parts": [Interval(Integral, 1, None, closed="left")],
        "min_similarity": [Interval(Real, 0, 1, closed="both")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }

    _model: GranularModel

    @property
    def _decided_otherwise(self) -> str:
        advice = "all levels vote; take one of them, such as model.levels_[-1]"
        return advice if self._model.votes else ""

    def __init__(
        self,
        theta: Any = (0.1, 0.2, 0.3),
        *,
        level: int | None = -1,
        n_parts: int = 4,
        min_similarity: float = 0.5,
        gamma: Any = 1.0,
        membership_function: str = "mean",
        selection: str = "index",
        scaling: Any = "minmax",
        categorical_features: Any = "from_dtype",
        shuffle: bool = True,
        random_state: Any = None,
        calibrate: bool = True,
        unlabeled: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.theta = theta
        self.level = level
        self.n_parts = n_parts
        self.min_similarity = min_similarity
        self.gamma = gamma
        self.membership_function = membership_function
        self.selection = selection
        self.scaling = scaling
        self.categorical_features = categorical_features
        self.shuffle = shuffle
        self.random_state = random_state
        self.calibrate = calibrate
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs

    def _new_model(self, lower: np.ndarray, upper: np.ndarray, n_classes: int) -> GranularModel:
        thetas = self._thetas()
        if self.level is not None and not -len(thetas) <= self.level < len(thetas):
            raise ValueError(f"There is no level {self.level}: theta has {len(thetas)} numbers.")
        model = super()._new_model(lower, upper, n_classes)
        return GranularModel(**vars(model), thetas=thetas, level=self.level)

    def _thetas(self) -> tuple[float, ...]:
        """Return the size of boxes at each level."""
        thetas = check_array(
            np.atleast_1d(self.theta), ensure_2d=False, dtype=np.float64, input_name="theta"
        )
        if thetas.ndim != 1 or (thetas <= 0).any() or (np.diff(thetas) <= 0).any():
            raise ValueError(f"theta must be positive numbers that grow, got {self.theta!r}.")
        return tuple(thetas.tolist())

    def _learn(self, samples: Samples, model: BoxModel, callbacks: FitCallbacks) -> None:
        assert isinstance(model, GranularModel)
        calibrations = [self._calibrate_level(model, samples, n) for n in range(len(model.thetas))]
        found = self._learn_levels(samples, model, callbacks)
        model.levels = tuple(
            BoxModel(boxes, model.scale, model.membership, calibration)
            for boxes, calibration in zip(found, calibrations, strict=False)
        )
        model.choose()

    def _learn_levels(
        self, samples: Samples, model: BoxModel, callbacks: FitCallbacks
    ) -> list[BoxStore]:
        """Return the boxes of each level, of fewer if a callback ends it; the model has the last.

        At first each part of the samples gets boxes, where other classes are not looked at; then
        those of each level are joined.
        """
        thetas, membership = self._thetas(), model.membership
        make = partial(make_growth_parameters, membership, selection=self.selection)
        first = make(theta=thetas[0], resolution="keep")
        parts, n_classes = _divide(samples, self.n_parts), model.boxes.n_classes
        found: list[BoxStore] = []
        levels: list[BoxStore] = []

        def step() -> bool:
            if len(found) < len(parts):
                rows = parts[len(found)]
                arrays = *samples.scaled(rows), samples.y[rows]
                found.append(learn_boxes(*arrays, n_classes, first)[0])
                is_last = len(found) == len(parts)
                model.boxes = _put_together(found, n_classes) if is_last else found[-1]
                return False
            theta = thetas[len(levels)]
            floor = max(self.min_similarity, membership.floor(theta))
            growth = make(theta=theta, resolution="part", min_similarity=floor)
            model.boxes = _join(model.boxes, growth)
            levels.append(model.boxes)
            return len(levels) == len(thetas)

        callbacks.run(step, n_steps=len(parts) + len(thetas))
        return levels or [model.boxes]

    def _calibrate(self, model: BoxModel, samples: Samples) -> None:
        pass  # each level has a calibration of its own

    def _calibrate_level(
        self, model: GranularModel, samples: Samples, level: int
    ) -> DistanceCalibration | None:
        """Return the calibration of a level, by cross-fitting, if there is to be one."""
        if not self.calibrate:
            return None

        def learn(part: Samples, trial: BoxModel, callbacks: FitCallbacks) -> None:
            trial.boxes = self._learn_levels(part, trial, callbacks)[level]

        return cross_fit(samples, BoxModel(model.boxes, model.scale, model.membership), learn)

    @property
    def levels_(self) -> list[ImprovedOnlineGFMM]:
        """Each level as a fitted model, the finest first."""
        check_is_fitted(self)
        names = ImprovedOnlineGFMM().get_params(deep=False).keys() - {"theta", "overlap"}
        params = {name: getattr(self, name) for name in names}
        levels = []
        for theta, level in zip(self._model.thetas, self._model.levels, strict=False):
            boxes = BoxStore.of_rows(*level.boxes.rows, n_classes=level.boxes.n_classes)
            boxes.n_candidates = level.boxes.n_candidates
            estimator = ImprovedOnlineGFMM(theta=theta, **params)
            estimator.__dict__.update(data_attributes(self), _model=level.with_boxes(boxes))
            levels.append(estimator)
        return levels

    def predict(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the class that the chosen level, or most of the levels, give each sample.

        {predict}
        """
        if not self._all_vote():
            return super().predict(X, X_upper)
        return self.classes_[self.predict_proba(X, X_upper).argmax(axis=1)]

    def predict_proba(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return how probable each class is, by how right memberships were on unseen samples.

        Where all levels vote, it is the share of their votes, to which the mean of their
        probabilities is added as one vote more. The largest entry is that of `predict`.

        {predict_proba}
        """
        if not self._all_vote():
            return super().predict_proba(X, X_upper)
        return self._map_slices(
            lambda part: _vote(self._model.levels, *part.scaled()), X, X_upper, len(self.classes_)
        )

    def membership(self, X: Any, X_upper: Any = None, *, unlabeled: bool = False) -> np.ndarray:
        """Return the fuzzy class outputs; where all levels vote, their means.

        {as_in_predict}
        {unlabeled_node}

        Returns
        -------
        c : ndarray of shape (n_samples, n_classes) or (n_samples, 1 + n_classes)
            Degrees from 0 to 1.
        """
        if not self._all_vote():
            return super().membership(X, X_upper, unlabeled=unlabeled)
        levels = self._model.levels

        def memberships(part: Intervals) -> np.ndarray:
            xl, xu = part.scaled()
            degrees = np.maximum([level.find_nearest(xl, xu).scores for level in levels], 0.0)
            if unlabeled:
                node = [level.unlabeled_membership(xl, xu) for level in levels]
                degrees = np.insert(degrees, 0, node, axis=2)
            return degrees.mean(axis=0)

        return self._map_slices(memberships, X, X_upper, len(self.classes_))

    def apply(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the box of the chosen level that decides the class of each sample.

        {as_in_predict}

        Returns
        -------
        box : ndarray of shape (n_samples,)
            Indices into ``hyperboxes_``.
        """
        if self._all_vote():
            raise ValueError("All levels vote, so no box decides alone: use one of levels_.")
        return super().apply(X, X_upper)

    def _all_vote(self) -> bool:
        self._check_can_predict()
        return self._model.votes


def _vote(levels: Sequence[BoxModel], xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
    """Return the shares of the levels' votes, and of the mean of their probabilities."""
    votes, shares = np.zeros((2, len(xl), levels[0].boxes.n_classes))
    for level in levels:
        nearest = level.find_nearest(xl, xu)
        boxes = level.boxes
        winners = predicted_classes(nearest, len(boxes))
        votes[np.arange(len(xl)), winners] += 1.0
        of_boxes = boxes.labels, boxes.counts, level.calibration
        shares += nearest_probabilities(nearest, winners, *of_boxes)
    return (votes + shares / len(levels)) / (len(levels) + 1)


def _divide(samples: Samples, n_parts: int) -> list[np.ndarray]:
    """Return the rows of each part, in which classes have their shares, in the order of samples."""
    order = np.arange(len(samples.y)) if samples.order is None else samples.order
    by_class = np.argsort(samples.y[order], kind="stable")
    starts = np.searchsorted(samples.y[order][by_class], samples.y[order])
    ranks = np.empty(len(order), np.int64)
    ranks[by_class] = np.arange(len(order))
    part_of = (ranks - starts) % n_parts
    parts = [order[part_of == part] for part in range(n_parts)]
    return [part for part in parts if len(part)]


def _put_together(parts: list[BoxStore], n_classes: int) -> BoxStore:
    """Return the boxes of all parts, without those that another of their class holds."""
    lower, upper, labels, counts = (
        np.concatenate(rows) for rows in zip(*(part.rows for part in parts), strict=True)
    )
    holder = find_holders(lower, upper, labels)
    n_samples = np.zeros(len(labels), np.int64)
    np.add.at(n_samples, holder, counts)
    kept = holder == np.arange(len(labels))
    rows = lower[kept], upper[kept], labels[kept], n_samples[kept]
    together = BoxStore.of_rows(*rows, n_classes=n_classes)
    together.n_candidates = sum(part.n_candidates for part in parts)
    return together


def find_holders(lower: np.ndarray, upper: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return for each box the oldest of its class that holds it and is held by no other."""
    holders = [np.empty(0, np.int64)] * len(labels)
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        for box, v, w in zip(own.tolist(), lower[own], upper[own], strict=True):
            found = own
            for j in np.flatnonzero(~np.isnan(v)):  # each feature leaves fewer to compare
                found = found[(lower[found, j] <= v[j]) & (w[j] <= upper[found, j])]
            holders[box] = found
    is_contained = np.zeros(len(labels), bool)
    for box, found in enumerate(holders):
        # Of equal boxes, each of which holds the others, the oldest remains.
        equals = [other for other in found.tolist() if box in holders[other]]
        is_contained[box] = len(found) > len(equals) or min(equals) < box
    holder = np.arange(len(labels))
    for box in np.flatnonzero(is_contained).tolist():
        holder[box] = holders[box][~is_contained[holders[box]]].min()
    return holder


def _join(below: BoxStore, growth: GrowthParameters) -> BoxStore:
    """Return larger boxes, that are learned from those of the level below in their order."""
    ends = frozen(below.lower.copy()), frozen(below.upper.copy())
    boxes, joined = learn_boxes(*ends, below.labels.copy(), below.n_classes, growth)
    n_samples = np.zeros(len(boxes), np.int64)
    np.add.at(n_samples, np.where(joined < 0, -1 - joined, joined), below.counts)
    rows = boxes.lower, boxes.upper, boxes.labels, n_samples
    level = BoxStore.of_rows(*rows, n_classes=below.n_classes)
    level.n_candidates = below.n_candidates + boxes.n_candidates
    return level
