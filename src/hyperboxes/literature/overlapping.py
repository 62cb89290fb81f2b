"""The learners that keep overlaps of classes, and settle them at prediction, as an estimator."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators.base import BoxClassifier
from hyperboxes._estimators.online import ONLINE_CONSTRAINTS, OnlineMixin
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Samples
from hyperboxes.literature.overlaps import (
    OverlapModel,
    OverlapRegions,
    find_overlap_degree,
    in_overlap,
    learn_levels,
)

# How boxes grow, for each way to settle overlaps.
_GROWTH = {
    "exclude": {"resolution": "keep"},
    "compensate": {"resolution": "lock", "size": "sum"},
    "core": {"resolution": "keep"},
    "levels": {"resolution": "keep", "similarity": "centre"},
}


def _goes_on_learning(estimator: Any) -> bool:
    if estimator.resolution == "levels":
        raise AttributeError(
            "With resolution='levels' all samples are needed at once: regions are learned anew "
            "from the samples in them. Call fit."
        )
    return True


@shared_docs
class OverlappingFuzzyMinMax(OnlineMixin, BoxClassifier):
    """Fuzzy min-max networks whose boxes grow freely; where classes overlap, prediction settles it.

    Each sample is absorbed by the box of its class with the largest membership that can grow to
    hold it within its size, whatever other classes it meets; if there is none, the sample becomes a
    new box. Boxes never shrink, so every training sample stays in a box of its class. What two
    boxes of different classes share is a class overlap: `regions_` lists them, and
    `in_overlap` says which samples are in one.

    Choose it to see where classes cannot be told apart: rules are fewer and larger than those of
    the other learners, and name their exceptions. As a classifier alone,
    :class:`ImprovedOnlineGFMM` is the first choice.

    Parameters
    ----------
    resolution : {"exclude", "compensate", "core", "levels"}, default="exclude"
        How class overlaps are resolved. ``"exclude"``: they belong to no class, which
        `in_overlap` tells; `predict` takes the class of the box of a single training sample, or
        the one with the most training samples in the boxes that hold the sample [2]_.
        ``"compensate"``: by what is taken from the membership in each class that holds the sample:
        the less the nearer the sample is to a face of its box, where its samples are; all, if its
        box contains the other. Boxes that overlap another class grow no more, and `theta` bounds
        the mean of a box's sides, not the longest [3]_ [4]_. ``"core"``: by the nearest data core,
        the mean of the samples that a box has absorbed. Outside of all boxes, membership falls more
        steeply on the side of a box where its samples are few [5]_; this is experimental, for parts
        of the paper could not be checked. ``"levels"``: by a network of smaller boxes that was
        learned from the samples in the region, and so on; that of the smallest region decides
        alone, by the mean square of the gaps. Boxes whose centres are nearest grow first. It needs
        all samples at once [6]_.
    {theta}
    {gamma}
    {membership_function}
    {search}
    n_levels : int, default=3
        With ``"levels"``: how many levels of networks there are at most.
    shrink : float, default=0.25
        With ``"levels"``: how much smaller `theta` is at each level.
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
    OnlineGFMM : Boxes that overlap are made smaller.

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
    def _decided_otherwise(self) -> str:  # type: ignore[override]
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

    @available_if(_goes_on_learning)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        X_upper: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Go on learning from more samples, in their order; not with ``resolution="levels"``.

        Parameters
        ----------
        X, y, classes, X_upper, sample_weight : array-like
            As in :meth:`ImprovedOnlineGFMM.partial_fit`.

        Returns
        -------
        self : object
            The estimator.
        """
        return super().partial_fit(X, y, classes, X_upper, sample_weight)

    @available_if(_goes_on_learning)
    def learn_one(self, x: Any, y: Any) -> None:
        """Learn a single sample, as river's models do; not with ``resolution="levels"``.

        Parameters
        ----------
        x : dict or sequence of n_features numbers
            The sample.
        y : object
            Its label.
        """
        super().learn_one(x, y)

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
        return self._model.regions(self.hyperboxes_)

    def contention(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return how far samples belong to a class overlap.

        {as_in_predict}

        Returns
        -------
        e : ndarray of shape (n_samples,)
            The membership in the nearest of the regions, from 0 to 1; 0 where there is no region.
        """
        self._check_can_predict()
        pairs = self._model.pairs()
        return self._map_slices(
            lambda part: find_overlap_degree(self._model, pairs, *part.scaled()),
            X,
            X_upper,
            max(1, len(pairs) * self.n_features_in_),
        )

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
        return self._map_slices(
            lambda part: in_overlap(self._model, *part.scaled()), X, X_upper, len(self.classes_)
        )
