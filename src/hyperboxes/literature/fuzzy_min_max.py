"""Simpson's fuzzy min-max network, its variants EFMNN, KNEFMNN and RFMNN, and its clustering."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators.base import BoxClassifier
from hyperboxes._estimators.clustering import BoxClustering
from hyperboxes._estimators.online import ONLINE_CONSTRAINTS, OnlineMixin
from hyperboxes._kernels.structs import NO_LABEL
from hyperboxes._learning.online import OnlinePass, find_step_size
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.box_store import BoxStore
from hyperboxes._models.calibration import ClassScores
from hyperboxes._models.model import BoxModel
from hyperboxes._models.records import sum_in_order
from hyperboxes._models.samples import Samples, slices

# Comparisons of a sample with a box in a feature at a time: some megabytes.
_COMPARISONS_AT_ONCE = 1_000_000


def compared_slices(n_rows: int, n_comparisons: int) -> Iterator[slice]:
    """Yield rows that can be compared with everything at once, with so many comparisons each."""
    return slices(n_rows, max(_COMPARISONS_AT_ONCE // n_comparisons, 1))


# The growth options of each variant.
_VARIANTS: dict[str, dict[str, Any]] = {
    "fmnn": {"size": "sum", "overlap": "printed", "resolution": "contract"},
    "efmnn": {"overlap": "nine", "resolution": "contract"},
    "knefmnn": {"overlap": "nine", "resolution": "contract", "n_candidates": 5},
    "rfmnn": {"overlap": "closed", "resolution": "split", "n_candidates": 1},
}


@dataclass(eq=False)
class TieModel(BoxModel):
    """Boxes of which the one with the nearest centre wins where classes tie.

    Or the one with the nearest corners; of equals the oldest. Beyond the reach of all boxes counts
    decide.
    """

    by_corners: bool = False

    def find_nearest(self, xl: np.ndarray, xu: np.ndarray, **options: Any) -> ClassScores:
        """Return the nearest boxes of each class; where classes tie, only one of them has votes."""
        nearest = super().find_nearest(xl, xu, **options)
        votes, single = nearest.tie_counts, nearest.oldest_singleton
        tied = self.find_tied(nearest.scores)
        winner = self.find_nearest_centre(xl[tied], xu[tied])
        labels = self.boxes.labels[winner]
        votes[tied], single[tied] = 0, len(self.boxes)
        votes[tied, labels], single[tied, labels] = self.boxes.counts[winner], winner
        return nearest

    def deciding_boxes(
        self, xl: np.ndarray, xu: np.ndarray, used: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the deciding boxes; where classes tie, the one with the nearest place."""
        boxes, closest, is_tied = super().deciding_boxes(xl, xu, used)
        tied = self.find_tied(super().find_nearest(xl, xu).scores)
        boxes[tied] = self.find_nearest_centre(xl[tied], xu[tied])
        return boxes, closest, is_tied

    def find_tied(self, best: np.ndarray) -> np.ndarray:
        """Return the samples to which boxes of several classes are equally near, within reach."""
        top = best.max(axis=1)
        return np.flatnonzero((top > 0.0) & ((best == top[:, np.newaxis]).sum(axis=1) > 1))

    def find_nearest_centre(self, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
        """Return of the nearest boxes the one with the nearest centre or corners."""
        lower, upper, labels, _ = self.boxes.rows
        own = np.flatnonzero(labels != NO_LABEL)
        lower, upper = lower[own], upper[own]
        winner = np.empty(len(xl), np.int64)
        for rows in compared_slices(len(xl), lower.size):
            low, high = xl[rows, None], xu[rows, None]
            if self.by_corners:
                away = np.abs(low - lower) + np.abs(high - upper)
            else:
                away = np.abs((lower + upper) / 2 - (low + high) / 2)
            away = sum_in_order(np.nan_to_num(away))
            ranks = self.closeness(xl[rows], xu[rows], own)
            is_best = ranks == ranks.max(axis=1, keepdims=True)
            winner[rows] = own[np.where(is_best, away, np.inf).argmin(axis=1)]
        return winner


@shared_docs
class FuzzyMinMax(OnlineMixin, BoxClassifier):
    """Simpson's fuzzy min-max neural network (FMNN) and three improvements of it.

    Each sample is absorbed by the box of its class with the largest membership that can grow to
    contain it; if there is none, it becomes a new box. The `variant` sets how far boxes may grow
    and what happens to boxes that overlap other classes. All use the mean membership of the
    features.

    Parameters
    ----------
    variant : {"fmnn", "efmnn", "knefmnn", "rfmnn"}, default="fmnn"
        ``"fmnn"``: the original [1]_. The sides of a box are at most `theta` on average, so a box
        may be long in one feature and short in others. Where it overlaps a box of another class,
        both are cut in the feature where they overlap least, unless they have equal ends in a
        feature.

        ``"efmnn"``: the enhanced network [2]_. No side is longer than `theta`, and boxes with
        equal ends are separated as well.

        ``"knefmnn"``: as ``"efmnn"``, but only the 5 boxes with the largest memberships are tried
        [3]_.

        ``"rfmnn"``: the refined network [4]_. Only the box with the largest membership is tried,
        and grows only where it meets no other class. A new box splits the boxes of other classes
        that contain it, so hardly any sample leaves its box.
    {theta}
        With ``variant="fmnn"`` it bounds the mean of the sides instead of the longest.
    {gamma}
    n_candidates : int, default=None
        The number of boxes of the class that are tried for each sample, those with the largest
        memberships. None: as in the variant. 1: only the best, as in hyperbox-brain.
    {search}
    {order}
    {calibrate}
    {unlabeled}

    {attributes}
    {classes}

    See Also
    --------
    OnlineGFMM : The general network, with intervals as input and other memberships.
    ImprovedOnlineGFMM : Grows only without overlaps; the first choice in practice.

    Notes
    -----
    Memberships are those of Simpson's second paper, the mean over the features.

    Where boxes of several classes tie, the one with the nearest centre wins (``"rfmnn"``: the
    nearest corners), then the oldest. Cuts may push training samples out of their box; `counts`
    include them. The halves of a split box share its samples by length.

    The boxes depend on the order of the samples: `shuffle`. The documentation lists what the papers
    leave open, and where their text contradicts their examples.

    References
    ----------
    .. [1] P. K. Simpson, "Fuzzy min-max neural networks. I. Classification", IEEE Transactions on
       Neural Networks 3(5), 1992.
    .. [2] M. F. Mohammed and C. P. Lim, "An enhanced fuzzy min-max neural network for pattern
       classification", IEEE Transactions on Neural Networks and Learning Systems 26(3), 2015.
    .. [3] M. F. Mohammed and C. P. Lim, "Improving the fuzzy min-max neural network with a
       K-nearest hyperbox expansion rule for pattern classification", Applied Soft Computing 52,
       2017.
    .. [4] O. N. Al Sayaydeh, M. F. Mohammed, E. Alhroob, H. Tao and C. P. Lim, "A refined fuzzy
       min-max neural network with new learning procedures for pattern classification", IEEE
       Transactions on Fuzzy Systems 28(10), 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes.literature import FuzzyMinMax
    >>> X, y = load_iris(return_X_y=True)
    >>> for variant in ("fmnn", "efmnn", "knefmnn", "rfmnn"):
    ...     model = FuzzyMinMax(variant, theta=0.2, random_state=0).fit(X, y)
    ...     print(variant, len(model.hyperboxes_))
    fmnn 20
    efmnn 27
    knefmnn 28
    rfmnn 60
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ONLINE_CONSTRAINTS,
        "variant": [StrOptions(set(_VARIANTS))],
        "n_candidates": [Interval(Integral, 1, None, closed="left"), None],
    }
    del _parameter_constraints["membership_function"]

    membership_function = "mean"
    _model: TieModel

    def __init__(
        self,
        variant: str = "fmnn",
        theta: float = 0.2,
        *,
        gamma: Any = 1.0,
        n_candidates: int | None = None,
        selection: str = "index",
        scaling: Any = "minmax",
        shuffle: bool = True,
        random_state: Any = None,
        calibrate: bool = True,
        unlabeled: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.variant = variant
        self.theta = theta
        self.gamma = gamma
        self.n_candidates = n_candidates
        self.selection = selection
        self.scaling = scaling
        self.shuffle = shuffle
        self.random_state = random_state
        self.calibrate = calibrate
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs

    @property
    def _decided_otherwise(self) -> str:
        decision = "corners decide" if self._model.by_corners else "centre decides"
        return f"the nearest {decision} where classes tie"

    def _new_model(self, lower: np.ndarray, upper: np.ndarray, n_classes: int) -> TieModel:
        model = super()._new_model(lower, upper, n_classes)
        return TieModel(**vars(model), by_corners=self.variant == "rfmnn")

    def _growth_options(self) -> dict[str, Any]:
        n_candidates = {} if self.n_candidates is None else {"n_candidates": self.n_candidates}
        return _VARIANTS[self.variant] | n_candidates


@shared_docs
class FuzzyMinMaxClustering(BoxClustering):
    """Simpson's fuzzy min-max clustering [1]_: each box is a cluster.

    A sample is absorbed by the box with the largest membership that can grow to contain it; if
    there is none, it becomes a new box. Boxes that overlap are separated in every feature. Passes
    over the samples repeat until no box changes.

    Parameters
    ----------
    theta : float, default=0.1
        How far boxes may grow: the mean of their sides, as fractions of the features' ranges.
    {gamma}
    max_iter : int, default=10
        The maximum number of passes over the samples. A warning is raised if boxes still change
        then.
    {search}

    {attributes}
    labels_ : ndarray of shape (n_samples,)
        The clusters of the samples of `fit`.
    n_clusters_ : int
        The number of clusters.
    n_iter_ : int
        The number of passes over the samples.

    See Also
    --------
    hyperboxes.HyperboxClustering : Boxes that are near each other make a cluster.

    Notes
    -----
    Memberships are the mean over the features of how far a sample is from the box, 0 far away.

    References
    ----------
    .. [1] P. K. Simpson, "Fuzzy min-max neural networks. Part 2: Clustering", IEEE Transactions on
       Fuzzy Systems 1(1), 1993.

    Examples
    --------
    >>> from hyperboxes.literature import FuzzyMinMaxClustering
    >>> model = FuzzyMinMaxClustering(theta=0.3).fit([[0.0], [0.2], [1.0], [0.9]])
    >>> model.labels_, model.n_iter_
    (array([0, 0, 1, 1]), 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoxClustering._parameter_constraints,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    del _parameter_constraints["membership_function"]

    membership_function = "mean"
    n_iter_: int

    def __init__(
        self,
        theta: float = 0.1,
        *,
        gamma: Any = 1.0,
        max_iter: int = 10,
        selection: str = "index",
        scaling: Any = "minmax",
        n_jobs: int | None = None,
    ) -> None:
        self.theta = theta
        self.gamma = gamma
        self.max_iter = max_iter
        self.selection = selection
        self.scaling = scaling
        self.n_jobs = n_jobs

    def _growth_options(self) -> dict[str, Any]:
        return {"size": "sum", "overlap": "printed", "resolution": "contract every"}

    def _learn(self, samples: Samples, model: BoxModel, callbacks: FitCallbacks) -> None:
        """Learn the samples again and again until no box changes.

        Counts are those of the last pass; boxes that have absorbed no sample in it are dropped.
        """
        growth, step_size = self._growth_parameters(model), find_step_size(samples, callbacks)
        boxes, max_iter = model.boxes, self.max_iter
        current, n_iter, is_stable = OnlinePass(samples, model, growth, step_size), 1, False
        before = [array.copy() for array in boxes.rows]

        def step() -> bool:
            nonlocal current, n_iter, is_stable, before
            if not current.step():
                return False
            after = [array.copy() for array in boxes.rows]
            corners = zip(before[:2], after[:2], strict=True)
            is_stable = all(np.array_equal(*ends, equal_nan=True) for ends in corners)
            if is_stable or n_iter == max_iter:
                return True
            current = OnlinePass(samples, model, growth, step_size)
            n_iter, before = n_iter + 1, after
            return False

        callbacks.run(step, n_steps=max_iter * -(-len(samples.y) // step_size))
        counts = boxes.counts.copy()
        counts[: len(before[3])] -= before[3]
        if current.is_done:  # else a callback has ended it
            kept = counts > 0
            rows = (array[kept] for array in (boxes.lower, boxes.upper, boxes.labels, counts))
            model.boxes = BoxStore.of_rows(*rows, n_classes=boxes.n_classes)
            model.boxes.n_candidates = boxes.n_candidates
        self.n_iter_ = n_iter
        if not is_stable:
            warnings.warn(
                f"Boxes still change after {n_iter} passes over the samples (max_iter). They need "
                "not become stable; HyperboxClustering takes one pass.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _label_boxes(self) -> np.ndarray:
        return np.arange(len(self._model.boxes))
