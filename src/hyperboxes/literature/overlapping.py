"""`OverlappingFuzzyMinMax`: boxes of several classes overlap, and prediction resolves the class."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators.access import reads
from hyperboxes._estimators.base import BoxClassifier
from hyperboxes._estimators.online import ONLINE_CONSTRAINTS, OnlineMixin
from hyperboxes._kernels.structs import NO_LABEL, GrowthParameters
from hyperboxes._learning.online import learn_boxes, learn_online
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.box_store import BoxStore
from hyperboxes._models.calibration import ClassScores, predicted_classes
from hyperboxes._models.hyperboxes import ReadOnlyArrays
from hyperboxes._models.model import BoxModel
from hyperboxes._models.records import closeness, sum_in_order
from hyperboxes._models.samples import Intervals, Samples, frozen
from hyperboxes.literature.fuzzy_min_max import compared_slices

# Where the oldest box wins ties, a box has this many votes less its index.
MOST_VOTES = 2**40

# How boxes grow, for each way to settle overlaps.
_GROWTH = {
    "exclude": {"resolution": "keep"},
    "compensate": {"resolution": "lock", "size": "sum"},
    "core": {"resolution": "keep"},
    "levels": {"resolution": "keep", "similarity": "centre"},
}
RESOLUTIONS = tuple(_GROWTH)


@dataclass(frozen=True, eq=False)
class OverlapRegions(ReadOnlyArrays):
    """Where boxes of two classes overlap, in the order of the boxes.

    Where three classes meet there are three regions, one for each pair of boxes.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_regions, n_features)
        Smallest and largest corner of each region, in the units of the training data; NaN in a
        feature in which neither box has bounds.
    boxes : ndarray of int, shape (n_regions, 2)
        The boxes that share each region, as indices into ``hyperboxes_``.

    See Also
    --------
    OverlappingFuzzyMinMax : The classifier with such regions.

    Examples
    --------
    >>> from hyperboxes.literature import OverlappingFuzzyMinMax
    >>> X, y = [[1.0], [5.0], [4.0], [9.0]], ["a", "a", "b", "b"]
    >>> regions = OverlappingFuzzyMinMax(theta=0.7, shuffle=False).fit(X, y).regions_
    >>> regions
    OverlapRegions(n_regions=1, n_features=1)
    >>> print(regions.lower[0], regions.upper[0], regions.boxes[0])
    [4.] [5.] [0 1]
    """

    lower: np.ndarray
    upper: np.ndarray
    boxes: np.ndarray

    def __len__(self) -> int:
        return len(self.boxes)

    def __repr__(self) -> str:
        n_regions, n_features = self.lower.shape
        return f"{type(self).__name__}(n_regions={n_regions}, n_features={n_features})"


@dataclass(eq=False)
class Cores:
    """The sums of the samples that each box has absorbed, and of how many values.

    An interval counts as its centre. Rows may be fewer than boxes after an interruption.
    """

    sums: np.ndarray
    n_values: np.ndarray

    @classmethod
    def none(cls, n_features: int) -> Self:
        """Return the cores of no boxes."""
        return cls(np.empty((0, n_features)), np.empty((0, n_features), np.int64))

    def with_samples(self, xl: np.ndarray, xu: np.ndarray, boxes: np.ndarray) -> Self:
        """Return the cores after boxes have absorbed samples, added up in their order."""
        padded = self.padded(int(boxes.max(initial=-1)) + 1)
        sums, n_values = padded.sums, padded.n_values
        centres = (xl + xu) / 2
        is_known = ~np.isnan(centres)
        np.add.at(sums, boxes, np.where(is_known, centres, 0.0))
        np.add.at(n_values, boxes, is_known)
        return type(self)(sums, n_values)

    def padded(self, n_boxes: int) -> Self:
        """Return a copy with rows for so many boxes at least."""
        padding = ((0, max(n_boxes - len(self.sums), 0)), (0, 0))
        return type(self)(np.pad(self.sums, padding), np.pad(self.n_values, padding))

    def means(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the cores of boxes: the means of samples, or centres where there is none."""
        means = (lower + upper) / 2
        n_boxes = len(self.sums)
        np.divide(self.sums, self.n_values, out=means[:n_boxes], where=self.n_values > 0)
        return means


@dataclass(frozen=True, eq=False)
class Levels:
    """Networks of smaller boxes, each for a region, in the order in which they are tried.

    That is the deepest level first, in it the smallest region, then the oldest. Network `n` has the
    region ``[lower[n], upper[n]]`` and the boxes from ``starts[n]`` to before ``starts[n + 1]``.
    """

    lower: np.ndarray
    upper: np.ndarray
    levels: np.ndarray
    starts: np.ndarray
    box_lower: np.ndarray
    box_upper: np.ndarray
    box_labels: np.ndarray
    box_counts: np.ndarray

    @classmethod
    def none(cls, n_features: int) -> Self:
        """Return no networks."""
        corners, numbers = np.empty((0, n_features)), np.empty(0, np.int64)
        return cls(
            corners, corners, numbers, np.zeros(1, np.int64), corners, corners, numbers, numbers
        )

    def __len__(self) -> int:
        return len(self.levels)

    def find_network(self, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
        """Return the network that predicts each sample; their number if none."""
        holds = ~((xu[:, None] > self.upper) | (xl[:, None] < self.lower)).any(axis=2)
        holds = np.pad(holds, ((0, 0), (0, 1)), constant_values=True)
        return holds.argmax(axis=1)


@dataclass(eq=False)
class OverlapModel(BoxModel):
    """Boxes of which those of two classes may overlap, and how that is settled.

    By `cores` or `levels`, which are None where the resolution is another.
    """

    resolution: str = "exclude"
    cores: Cores | None = None
    levels: Levels | None = None

    def find_nearest(self, xl: np.ndarray, xu: np.ndarray, **options: Any) -> ClassScores:
        """Return the nearest boxes of each class, after overlaps of classes are resolved."""
        if (resolve := _RESOLVERS.get(self.resolution)) is not None:
            return resolve(self, xl, xu)
        return super().find_nearest(xl, xu, **options)

    def deciding_boxes(
        self, xl: np.ndarray, xu: np.ndarray, used: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the deciding boxes; with cores, those of the nearest core."""
        boxes, closest, is_tied = super().deciding_boxes(xl, xu, used)
        if self.resolution == "core":
            nearest = self.find_nearest(xl, xu, winners_only=True)
            winners = predicted_classes(nearest, len(self.boxes))
            boxes = MOST_VOTES - nearest[1][np.arange(len(winners)), winners]
            used[boxes] = True
        return boxes, closest, is_tied

    def update(self, xl: np.ndarray, xu: np.ndarray, joined: np.ndarray) -> None:
        """Move the cores."""
        if self.resolution == "core":
            cores = self.cores or Cores.none(xl.shape[1])
            self.cores = cores.with_samples(xl, xu, np.where(joined < 0, -1 - joined, joined))

    def pairs(self) -> np.ndarray:
        """Return the pairs of boxes of two classes that share a point, as far as is known."""
        lower, upper, labels, _ = self.boxes.rows
        pairs = [np.empty((0, 2), np.int64)]
        for box in np.flatnonzero(labels != NO_LABEL).tolist():
            is_other = (labels != labels[box]) & (labels != NO_LABEL)
            later = np.flatnonzero(is_other[box:]) + box
            for j in range(lower.shape[1]):  # each feature leaves fewer to compare in the next
                is_apart = (lower[later, j] > upper[box, j]) | (upper[later, j] < lower[box, j])
                later = later[~is_apart]
            pairs.append(np.column_stack([np.full(len(later), box), later]))
        return np.concatenate(pairs)


def region_bounds(
    lower: np.ndarray, upper: np.ndarray, pairs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of what pairs of boxes share; known where one of them is."""
    first, second = pairs.T
    return np.fmax(lower[first], lower[second]), np.fmin(upper[first], upper[second])


def _compensate(model: OverlapModel, xl: np.ndarray, xu: np.ndarray) -> ClassScores:
    """Subtract the outputs of the neurons from classes whose boxes contain a sample together."""
    nearest = BoxModel.find_nearest(model, xl, xu)
    best = nearest.scores
    rows = np.flatnonzero((best == 1.0).sum(axis=1) > 1)
    taken = _find_compensation(model, xl[rows], xu[rows])
    best[rows] = np.where(taken > 0.0, closeness(taken), best[rows])
    return nearest


def _find_compensation(model: OverlapModel, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
    """Return what is taken from each class by the overlap and containment neurons of FMCN: up to 1.

    One sits on what two boxes of different classes share, so it is active for a sample that both
    contain. All is taken from a box that contains the other. Otherwise it is the more the farther
    the sample is from the faces of the box, the mean over the features.
    """
    lower, upper, labels, _ = model.boxes.rows
    own = np.flatnonzero(labels != NO_LABEL)
    taken = np.zeros((len(xl), model.boxes.n_classes))
    for row, (low, high) in enumerate(zip(xl, xu, strict=True)):
        boxes = own[model.closeness(low[None], high[None], own)[0] == 1.0]
        v, w = lower[boxes], upper[boxes]
        # Two boxes that contain a sample with missing values need not meet.
        meet = ~((v[:, None] > w) | (w[:, None] < v)).any(axis=2)
        meet &= labels[boxes, None] != labels[boxes]
        contain = ((v[:, None] < v) & (w < w[:, None])).all(axis=2)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            to_upper = np.where(w != 0.0, high / w, 1.0)
            to_lower = np.where(low != 0.0, v / low, 1.0)
        nearness = np.fmax(to_upper, to_lower)
        nearness = sum_in_order(np.where(np.isnan(v) | np.isnan(low), 1.0, nearness)) / len(low)
        is_cut = (meet & ~contain.T).any(axis=1)
        cut = np.where(is_cut, 1.0 - np.minimum(nearness, 1.0), 0.0)
        cut[(meet & contain).any(axis=1)] = 1.0
        np.maximum.at(taken[row], labels[boxes], cut)
    return taken


def _compare_cores(model: OverlapModel, xl: np.ndarray, xu: np.ndarray) -> ClassScores:
    """Let the nearest core decide between boxes of several classes that hold a sample.

    Elsewhere it is the membership that leans towards the cores.
    """
    lower, upper, labels, _ = model.boxes.rows
    cores = (model.cores or Cores.none(lower.shape[1])).means(lower, upper)
    ranks = np.empty((len(xl), len(labels)))
    for rows in compared_slices(len(xl), lower.size):
        low, high = xl[rows, None], xu[rows, None]
        with np.errstate(over="ignore"):
            away = sum_in_order(np.nan_to_num(np.abs((low + high) / 2 - cores))) / lower.shape[1]
            gaps = np.fmax(high - upper, lower - low)
        holds = closeness(model.membership.distance(gaps)) == 1.0
        holds &= labels != NO_LABEL
        ranks[rows] = _lean(model, low, high, cores)
        largest = np.where(holds, labels, -1).max(axis=1)
        several = np.where(holds, labels, largest[:, None]).min(axis=1) < largest
        ranks[rows][several] = np.where(holds, closeness(away), -np.inf)[several]
    return _best_of_classes(ranks, labels, np.arange(len(labels)), model.boxes.n_classes)


def _lean(model: OverlapModel, xl: np.ndarray, xu: np.ndarray, cores: np.ndarray) -> np.ndarray:
    """Return the memberships of DCFMN, which fall more steeply on the side away from the core."""
    lower, upper, _, _ = model.boxes.rows
    lean = (lower + upper) / 2 - cores
    with np.errstate(over="ignore"):
        above, below = np.fmax(xu - upper, 0.0), np.fmax(lower - xl, 0.0)
        steep, gentle = (1 + lean) * (1 + lean), (1 - lean) * (1 - lean)
        falls = np.fmax(above * above * steep, below * below * gentle) * model.membership.gamma
    least = np.nan_to_num(falls, nan=0.0, posinf=np.inf).max(axis=2)
    degree = np.exp(-least)
    return np.where(degree > 0.0, degree, -least)


def _compare_levels(model: OverlapModel, xl: np.ndarray, xu: np.ndarray) -> ClassScores:
    """Let the network of the deepest region that holds a sample decide alone."""
    boxes = model.boxes
    levels = model.levels or Levels.none(xl.shape[1])
    shape = len(xl), boxes.n_classes
    nearest = np.empty(shape), np.empty(shape, np.int64), np.empty(shape, np.int64)
    for part in compared_slices(len(xl), max(levels.lower.size, 1)):
        networks = levels.find_network(xl[part], xu[part])
        for network in np.unique(networks).tolist():
            rows = part.start + np.flatnonzero(networks == network)
            if network < len(levels):
                of_network = slice(*levels.starts[network : network + 2])
                lower, upper = levels.box_lower[of_network], levels.box_upper[of_network]
                labels = levels.box_labels[of_network]
                ages = len(boxes) + np.arange(of_network.start, of_network.stop)
            else:
                lower, upper, labels, _ = boxes.rows
                ages = np.arange(len(boxes))
            for some in compared_slices(len(rows), lower.size):
                ranks = _rank_by_mean_square(xl[rows[some]], xu[rows[some]], lower, upper)
                found = _best_of_classes(ranks, labels, ages, boxes.n_classes)
                for column, values in zip(nearest, found[:3], strict=True):
                    column[rows[some]] = values
    return ClassScores(*nearest, np.zeros(len(xl)))


def _rank_by_mean_square(
    xl: np.ndarray, xu: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> np.ndarray:
    """Return the memberships of MLF; beyond their reach, minus the distance."""
    with np.errstate(over="ignore"):
        gaps = np.nan_to_num(
            np.fmax(np.fmax(xu[:, None] - upper, lower - xl[:, None]), 0.0), posinf=np.inf
        )
        distance = np.sqrt(sum_in_order(gaps * gaps) / lower.shape[1])
    square = (1.0 - distance) * (1.0 - distance)
    return np.where(distance < 1.0, square * square * square, -distance)


def _best_of_classes(
    ranks: np.ndarray, labels: np.ndarray, ages: np.ndarray, n_classes: int
) -> ClassScores:
    """Return the best box of each class for each sample; the oldest one has the most votes."""
    shape = len(ranks), n_classes
    best, votes = np.full(shape, -np.inf), np.zeros(shape, np.int64)
    for label in np.unique(labels[labels != NO_LABEL]).tolist():
        own = np.flatnonzero(labels == label)
        first = own[ranks[:, own].argmax(axis=1)]
        best[:, label] = ranks[np.arange(len(ranks)), first]
        votes[:, label] = MOST_VOTES - ages[first]
    return ClassScores(best, votes, np.full(shape, MOST_VOTES), np.zeros(len(ranks)))


_RESOLVERS = {"compensate": _compensate, "core": _compare_cores, "levels": _compare_levels}


@dataclass(frozen=True, eq=False)
class _Network:
    """Boxes that were learned from some samples, of a region."""

    lower: np.ndarray
    upper: np.ndarray
    level: int
    boxes: BoxStore
    rows: np.ndarray


def learn_levels(
    samples: Samples,
    model: OverlapModel,
    growth: GrowthParameters,
    n_levels: int,
    shrink: float,
    callbacks: FitCallbacks,
) -> None:
    """Learn the samples, and those in regions again with smaller boxes, level by level."""
    learn_online(samples, model, growth, callbacks)
    rows = np.arange(len(samples.y)) if samples.order is None else samples.order
    xl, xu = samples.scaled()
    nothing = np.empty(0)
    networks: list[_Network] = []
    parents = [_Network(nothing, nothing, 0, model.boxes, rows)]
    for level in range(1, n_levels):
        growth = growth._replace(theta=growth.theta * shrink)
        arrays = xl, xu, samples.y
        parents = [child for one in parents for child in _children(one, level, *arrays, growth)]
        networks += parents
    model.levels = _in_order(networks, xl.shape[1])


def _children(
    parent: _Network,
    level: int,
    xl: np.ndarray,
    xu: np.ndarray,
    y: np.ndarray,
    growth: GrowthParameters,
) -> list[_Network]:
    """Return the networks of the regions of a network that hold samples, if they have a label."""
    regions = _find_regions(parent, xl, xu)
    corners = parent.boxes.lower, parent.boxes.upper
    children = []
    for pair in sorted(regions):
        rows = parent.rows[regions[pair]]
        (lower,), (upper,) = region_bounds(*corners, np.array([pair]))
        is_region = not (lower > upper).any()  # which two that hold a missing value need not share
        if is_region and (y[rows] != NO_LABEL).any():
            arrays = frozen(xl[rows]), frozen(xu[rows]), y[rows]
            boxes, _ = learn_boxes(*arrays, parent.boxes.n_classes, growth)
            children.append(_Network(lower, upper, level, boxes, rows))
    return children


def _find_regions(
    network: _Network, xl: np.ndarray, xu: np.ndarray
) -> dict[tuple[int, int], np.ndarray]:
    """Return the samples, as positions in `rows`, that pairs of boxes of two classes contain."""
    lower, upper, labels, _ = network.boxes.rows
    found: dict[tuple[int, int], list[int]] = {}
    for part in compared_slices(len(network.rows), lower.size):
        rows = network.rows[part]
        misses = ((xu[rows, None] > upper) | (xl[rows, None] < lower)).any(axis=2)
        holds = np.logical_not(misses) & (labels != NO_LABEL)
        for number in np.flatnonzero(holds.sum(axis=1) > 1).tolist():
            boxes = np.flatnonzero(holds[number])
            first, second = np.nonzero(np.triu(labels[boxes, None] != labels[boxes]))
            for pair in zip(boxes[first].tolist(), boxes[second].tolist(), strict=True):
                found.setdefault(pair, []).append(part.start + number)
    return {pair: np.array(numbers) for pair, numbers in found.items()}


def _in_order(networks: list[_Network], n_features: int) -> Levels:
    """Return networks in the order in which they are tried."""
    if not networks:
        return Levels.none(n_features)
    lower = np.array([network.lower for network in networks])
    upper = np.array([network.upper for network in networks])
    levels = np.array([network.level for network in networks], np.int64)
    sides = sum_in_order(np.nan_to_num(upper - lower))
    order = np.lexsort((sides, -levels))
    rows = [networks[n].boxes.rows for n in order]
    starts = np.cumsum([0, *(len(networks[n].boxes) for n in order)])
    columns = (np.concatenate(column) for column in zip(*rows, strict=True))
    return Levels(lower[order], upper[order], levels[order], starts, *columns)


def _goes_on_learning(estimator: Any) -> bool:
    if estimator.resolution == "levels":
        raise AttributeError(
            "With resolution='levels' all samples are needed at once: regions are learned again "
            "from the samples in them. Call fit."
        )
    return True


@shared_docs
class OverlappingFuzzyMinMax(OnlineMixin, BoxClassifier):
    """Fuzzy min-max networks whose boxes may overlap; prediction resolves the class.

    Each sample is absorbed by the box of its class with the largest membership that can grow to
    contain it, even if it then overlaps other classes; if there is none, the sample becomes a new
    box. Boxes never shrink, so every training sample stays in a box of its class. `regions_` lists
    the overlaps of two classes, and `in_overlap` returns which samples are in one.

    Choose it to see where classes cannot be distinguished: rules are fewer and larger than those of
    the other classifiers, and name their exceptions. For prediction alone, use
    :class:`ImprovedOnlineGFMM`.

    Parameters
    ----------
    resolution : {"exclude", "compensate", "core", "levels"}, default="exclude"
        How class overlaps are resolved. ``"exclude"``: they belong to no class; `predict` returns
        the class of a box of a single training sample, or the one with the most training samples in
        the boxes that contain the sample [2]_. ``"compensate"``: a compensation term reduces the
        membership in each class: it is small near the face of the class's own box, and total if
        that box contains the other. Boxes that overlap another class grow no more, and `theta`
        bounds the mean side of a box, not the longest [3]_ [4]_. ``"core"``: by the nearest data
        core, the mean of the samples that a box has absorbed. Outside of all boxes, membership
        falls more steeply on the side of a box where its samples are few [5]_; this is
        experimental, because parts of the paper could not be checked. ``"levels"``: by a network of
        smaller boxes that is fitted to the samples in the region, and so on; that of the smallest
        region decides alone, by the mean square of the gaps. Boxes whose centres are nearest grow
        first. It needs all samples at once [6]_.
    {theta}
    {gamma}
    {membership_function}
    {search}
    n_levels : int, default=3
        With ``"levels"``: the maximum number of levels of networks.
    shrink : float, default=0.25
        With ``"levels"``: the factor by which `theta` is smaller at each level.
    {categorical}
    {order}
    {calibrate}
    {unlabeled}

    {attributes}
    {classes}
    {categories}
    regions_ : OverlapRegions
        What boxes of two classes share, in data units: arrays `lower`, `upper` and `boxes`.
    cores_ : ndarray of shape (n_boxes, n_features)
        With ``resolution="core"``: the mean of the samples that each box has absorbed.

    See Also
    --------
    ImprovedOnlineGFMM : Boxes grow only where they meet no other class.
    OnlineGFMM : Boxes that overlap are contracted.

    Notes
    -----
    The boxes depend on the order of the samples: `shuffle`.

    References
    ----------
    {paper}
    .. [2] A. Bargiela, W. Pedrycz and M. Tanaka, "An inclusion/exclusion fuzzy hyperbox
       classifier", International Journal of Knowledge-Based and Intelligent Engineering Systems
       8(2), 2004.
    .. [3] A. V. Nandedkar and P. K. Biswas, "A fuzzy min-max neural network classifier with
       compensatory neuron architecture", IEEE Transactions on Neural Networks 18(1), 2007.
    .. [4] A. V. Nandedkar and P. K. Biswas, "A granular reflex fuzzy min-max neural network for
       classification", IEEE Transactions on Neural Networks 20(7), 2009. That is for samples that
       are intervals.
    .. [5] H. Zhang, J. Liu, D. Ma and Z. Wang, "Data-core-based fuzzy min-max neural network for
       pattern classification", IEEE Transactions on Neural Networks 22(12), 2011.
    .. [6] R. Davtalab, M. H. Dezfoulian and M. Mansoorizadeh, "Multi-level fuzzy min-max neural
       network classifier", IEEE Transactions on Neural Networks and Learning Systems 25(3), 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes.literature import OverlappingFuzzyMinMax
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OverlappingFuzzyMinMax(random_state=0).fit(X, y)
    >>> len(model.hyperboxes_), len(model.regions_)
    (15, 3)
    >>> int(model.in_overlap(X).sum())
    8
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ONLINE_CONSTRAINTS,
        "resolution": [StrOptions(set(_GROWTH))],
        "n_levels": [Interval(Integral, 1, None, closed="left")],
        "shrink": [Interval(Real, 0, 1, closed="neither")],
    }

    _model: OverlapModel

    @property
    def _decided_otherwise(self) -> str:
        if self._model.resolution == "exclude":
            return ""
        return f"resolution={self._model.resolution!r} decides where boxes of two classes overlap"

    def __init__(
        self,
        resolution: str = "exclude",
        theta: float = 0.3,
        *,
        n_levels: int = 3,
        shrink: float = 0.25,
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
        self.resolution = resolution
        self.theta = theta
        self.n_levels = n_levels
        self.shrink = shrink
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

    def _growth_options(self) -> dict[str, Any]:
        return dict(_GROWTH[self.resolution])

    def _new_model(self, lower: np.ndarray, upper: np.ndarray, n_classes: int) -> OverlapModel:
        model = super()._new_model(lower, upper, n_classes)
        return OverlapModel(**vars(model), resolution=self.resolution)

    def _learn(self, samples: Samples, model: BoxModel, callbacks: FitCallbacks) -> None:
        assert isinstance(model, OverlapModel)
        if model.resolution != "levels":
            super()._learn(samples, model, callbacks)
            return
        growth = self._growth_parameters(model)
        learn_levels(samples, model, growth, self.n_levels, self.shrink, callbacks)

    partial_fit = available_if(_goes_on_learning)(OnlineMixin.partial_fit)
    learn_one = available_if(_goes_on_learning)(OnlineMixin.learn_one)

    @property
    def cores_(self) -> np.ndarray:
        """The data cores in data units, with ``resolution="core"``."""
        check_is_fitted(self)
        model = self._model
        if model.cores is None:
            raise AttributeError(f"With resolution={model.resolution!r} there are no data cores.")
        cores = model.cores.means(model.boxes.lower, model.boxes.upper)
        return cores if model.scale is None else model.scale.restore(cores)

    @property
    def regions_(self) -> OverlapRegions:
        """The class overlaps in data units."""
        boxes, pairs = self.hyperboxes_, self._model.pairs()
        return OverlapRegions(*region_bounds(boxes.lower, boxes.upper, pairs), pairs)

    @reads
    def contention(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return how far samples belong to a class overlap.

        {as_in_predict}

        Returns
        -------
        e : ndarray of shape (n_samples,)
            The membership in the nearest of the regions, from 0 to 1; 0 where there is no region.
        """
        self._check_can_predict()
        model, pairs = self._model, self._model.pairs()
        lower, upper = region_bounds(model.boxes.lower, model.boxes.upper, pairs)

        def find_degrees(part: Intervals) -> np.ndarray:
            xl, xu = part.scaled()
            with np.errstate(over="ignore"):
                gaps = np.fmax(xu[:, None] - upper, lower - xl[:, None])
                return model.membership.degree(gaps).max(axis=1, initial=0.0)

        return self._map_slices(find_degrees, X, X_upper, max(1, lower.size))

    @reads
    def in_overlap(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return which samples boxes of more than one class hold.

        {as_in_predict}

        Returns
        -------
        in_overlap : ndarray of bool, shape (n_samples,)
            Whether each sample lies in a class overlap; those who want to reject such
            samples, rather than take what `predict` makes of them, look here.
        """
        self._check_can_predict()

        def find_overlaps(part: Intervals) -> np.ndarray:
            best = BoxModel.find_nearest(self._model, *part.scaled()).scores
            return (best == 1.0).sum(axis=1) > 1

        return self._map_slices(find_overlaps, X, X_upper, len(self.classes_))
