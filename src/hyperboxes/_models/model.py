"""`BoxModel`: boxes with their scale, membership function and calibration."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from hyperboxes._kernels import nearest as nearest_kernels
from hyperboxes._kernels.search import ADDITION, SINGLE
from hyperboxes._kernels.structs import NO_LABEL, Metric
from hyperboxes._models.array_api import nearest_scores
from hyperboxes._models.box_store import WORK_PER_CALL, AllClassTree, BoxStore, Workspace
from hyperboxes._models.calibration import (
    ClassScores,
    DistanceCalibration,
    nearest_probabilities,
    predicted_classes,
)
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.records import MembershipFunction, NearestBoxes, closeness
from hyperboxes._models.samples import (
    Intervals,
    MinMaxScale,
    Samples,
    frozen,
    known_features,
    unknown_part,
)

# Fewer samples are not classified in single precision first. It has room for numbers much larger
# than moderate ones, and distances that are not clipped are less than 1.
_FEW = 32
_MODERATE = 1e30
_CLIPPED = 0.99

# What the gaps of the features are combined to.
FUNCTIONS = ("min", "mean")


@dataclass(frozen=True, eq=False)
class Membership(MembershipFunction):
    """The membership function of a model that learns: ``"min"`` or ``"mean"``."""

    gamma: np.ndarray
    function: str

    @property
    def metric(self) -> Metric:
        """The same for kernels."""
        return Metric(self.gamma, self.is_mean)

    @property
    def is_mean(self) -> bool:
        """Whether the membership is the mean over the features and not the least."""
        return self.function == "mean"

    def floor(self, theta: float, size: str = "max") -> float:
        """Return the least membership of what can join a box under the lemma.

        Its gap is at most `theta` in every feature, so it is the membership of what misses the box
        by that everywhere. Added up like any other, it is not lost to rounding. If the gaps are at
        most `theta` on average (`size` "sum"), sums in another order may round differently.
        """
        n_features = len(self.gamma)
        if size == "sum" and not self.is_mean:
            theta = n_features * theta  # one gap may be all
        elif size == "sum":
            return float(1.0 - theta * self.gamma.max() * (1.0 + n_features * 2.0**-50))
        if not self.is_mean:
            return 1.0 - theta * float(self.gamma.max())
        return float(self.degree(np.full(len(self.gamma), theta)))


class ThetaPath(NamedTuple):
    """Values of `theta`, and scores of models fitted with them; NaN with too few samples."""

    theta: np.ndarray
    accuracy: np.ndarray
    standard_error: np.ndarray
    n_boxes: np.ndarray

    @property
    def chosen(self) -> float:
        """The largest value whose accuracy is within a standard error of the best."""
        best = self.accuracy.argmax()
        is_worse = self.accuracy < self.accuracy[best] - self.standard_error[best]
        return float(self.theta[~is_worse].max())


@dataclass(eq=False)
class BoxModel:
    """The boxes in the learner's units, their scale, membership function and calibration.

    Learning writes into it, and may replace `boxes`. `calibration` is None if probabilities are not
    calibrated, `theta_path` if `theta` was given.
    """

    boxes: BoxStore
    scale: MinMaxScale | None
    membership: Membership
    calibration: DistanceCalibration | None = None
    theta_path: ThetaPath | None = None

    def with_boxes(self, boxes: BoxStore) -> Self:
        """Return a model that differs in its boxes."""
        return replace(self, boxes=boxes)

    def resume_calibration(self) -> None:
        """Continue the calibration, if there is one, with the sample that is learned next."""
        if self.calibration is not None:
            self.calibration = self.calibration.resumed(self.boxes.n_seen)

    def find_theta(self, given: Any) -> float:
        """Return `theta` as a number: as it is given, or what was chosen for "auto"."""
        if not isinstance(given, str):
            return float(given)
        if self.theta_path is None:
            raise ValueError(
                "theta='auto' is chosen by fit or in the first call of partial_fit, which has not "
                "happened: fit the model first, or pass a number, such as theta=0.5."
            )
        return self.theta_path.chosen

    @property
    def mixed(self) -> Any:
        """What kernels take for categories that boxes count: None."""
        return None

    def find_nearest(
        self,
        xl: np.ndarray,
        xu: np.ndarray,
        *,
        winners_only: bool = False,
        distances: np.ndarray | None = None,
    ) -> ClassScores:
        """Return the nearest boxes of each class, as the kernel `nearest_per_class` finds them.

        `distances`, of shape (n_samples, n_classes, n_neighbors), receives those of several boxes
        of each class in order, and infinity where a class has fewer; nothing else is computed with
        `winners_only`, and they are those in single precision.
        """
        boxes = self.boxes
        if not isinstance(xl, np.ndarray):
            return ClassScores(*nearest_scores(self.record(boxes.labels), xl, xu, distances))
        shape = len(xl), boxes.n_classes
        compared = known_features(boxes.lower, boxes.labels) & (self.calibration is not None)
        nearest = ClassScores(
            np.empty(shape),
            np.empty(shape, np.int64),
            np.empty(shape, np.int64),
            unknown_part(xl, compared),
        )
        workspace = Workspace.acquire(boxes)
        arrays = AllClassTree.find(boxes, len(xl)) if winners_only and distances is None else None
        distances = np.empty((*shape, 1)) if distances is None else distances
        search = arrays or workspace.arrays, self.membership.metric, workspace.scratch.search
        row = 0
        while row < len(xl):
            options = winners_only, compared, WORK_PER_CALL
            row = nearest_kernels.nearest_per_class(
                xl, xu, row, *search, *options, *workspace.lists, *nearest[:3], distances
            )
        workspace.release(boxes)
        return nearest

    @property
    def n_neighbors(self) -> int:
        """How many boxes of each class decide."""
        return 1 if self.calibration is None else self.calibration.n_neighbors

    def find_neighbors(
        self, xl: np.ndarray, xu: np.ndarray, n_neighbors: int
    ) -> tuple[ClassScores, np.ndarray]:
        """Return the nearest boxes of each class, and the distances of several."""
        distances = np.empty((xl.shape[0], self.boxes.n_classes, n_neighbors))
        return self.find_nearest(xl, xu, distances=distances), distances

    def find_scores(self, xl: np.ndarray, xu: np.ndarray) -> tuple[ClassScores, np.ndarray]:
        """Return what probabilities are computed from, and the classes of which they are largest.

        These are -1 where several boxes of each class decide.
        """
        if self.calibration is None or self.n_neighbors == 1:
            nearest = self.find_nearest(xl, xu)
            return nearest, predicted_classes(nearest, len(self.boxes))
        found = self.find_neighbors(xl, xu, self.n_neighbors)
        return self.calibration.soften(*found), np.full(xl.shape[0], -1)

    def probabilities(self, samples: Intervals) -> np.ndarray:
        """Return the probabilities of the classes for each sample."""
        return self._probabilities(*self.find_scores(*samples.scaled()))

    def _probabilities(self, scores: ClassScores, winners: np.ndarray) -> np.ndarray:
        boxes = self.boxes
        return nearest_probabilities(scores, winners, boxes.labels, boxes.counts, self.calibration)

    def classify(self, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
        """Return the predicted class of each sample."""
        if self.n_neighbors == 1:
            return predicted_classes(self.find_nearest(xl, xu, winners_only=True), len(self.boxes))
        if not isinstance(xl, np.ndarray) or len(xl) < _FEW:
            return self._probabilities(*self.find_scores(xl, xu)).argmax(axis=1)
        classes, is_clear = self._classify_roughly(xl, xu)
        scores = self.find_scores(frozen(xl[~is_clear]), frozen(xu[~is_clear]))
        classes[~is_clear] = self._probabilities(*scores).argmax(axis=1)
        return classes

    def _classify_roughly(self, xl: np.ndarray, xu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return classes by distances in single precision, and where they are certain.

        What the distances may be wrong by, as a part of the offset and times the slope, is what the
        logarithms of odds may be wrong by. Where values are missing, nothing is certain.
        """
        assert self.calibration is not None
        boxes, gamma, n_features = self.boxes, self.membership.gamma, xl.shape[1]
        distances = np.empty((len(xl), boxes.n_classes, self.n_neighbors))
        nearest = self.find_nearest(xl, xu, winners_only=True, distances=distances)
        scores = self.calibration.soften(nearest, distances)
        likely = self._probabilities(scores, np.full(len(xl), -1))
        steep = np.maximum(gamma, 1.0)
        with np.errstate(over="ignore"):
            farthest = np.fmax.reduce(np.abs([boxes.lower, boxes.upper]), axis=None) * steep.max()
            sizes = (np.maximum(np.abs(xl), np.abs(xu)) * steep).max(axis=1)
            errors = (sizes + 1.0) * SINGLE + n_features * ADDITION
            errors = np.expm1(2.0 * self.calibration.slope * errors / self.calibration.offset)
        two = np.sort(likely, axis=1)[:, -2:]
        is_clear = ((two[:, -1] - two[:, 0]) / 2.0 > errors) & (farthest < _MODERATE)
        is_clear &= ((distances < _CLIPPED) | (distances == np.inf)).all(axis=(1, 2))
        return likely.argmax(axis=1), is_clear

    def find_boxes(
        self, xl: np.ndarray, xu: np.ndarray, labels: np.ndarray, used: np.ndarray
    ) -> np.ndarray:
        """Return the nearest box of a label for each sample, of equals the largest, then oldest.

        All that are equally near are marked as `used`.
        """
        boxes = self.boxes
        found, ids, gaps = np.empty(len(xl), np.int64), *boxes.make_lists()
        search = boxes.arrays, self.membership.metric, boxes.make_search(), WORK_PER_CALL
        row = 0
        while row < len(xl):
            row = nearest_kernels.nearest_boxes(
                xl, xu, labels, row, *search, ids, gaps, found, used
            )
        return found

    def deciding_boxes(
        self, xl: np.ndarray, xu: np.ndarray, used: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the box that decides for each sample, its closeness, and whether others tie.

        All boxes that are equally near are marked as `used`. If several boxes of each class decide,
        it is the nearest of the predicted class.
        """
        rows = np.arange(len(xl))
        if self.n_neighbors > 1:
            best, tie_counts, *_ = self.find_nearest(xl, xu)
            classes = self.classify(xl, xu)
            boxes = self.find_boxes(xl, xu, classes, used)
            is_tied = tie_counts[rows, classes] > self.boxes.counts[boxes]
            return boxes, best[rows, classes], is_tied
        best, tie_counts, single, _ = nearest = self.find_nearest(xl, xu, winners_only=True)
        classes = predicted_classes(nearest, len(self.boxes))
        boxes = self.find_boxes(xl, xu, classes, used)
        closest, single = best[rows, classes], single[rows, classes]
        several = (best == closest[:, None]).sum(axis=1) > 1
        is_single = several & (closest == 1.0) & (single < len(self.boxes))
        is_tied = several | (tie_counts[rows, classes] > self.boxes.counts[boxes])
        return np.where(is_single, single, boxes), closest, is_tied

    def are_contained(self, xl: np.ndarray, xu: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return which samples a box of their class contains, as learning compares them."""
        boxes = self.boxes
        is_contained = np.empty(len(xl), np.bool_)
        # The kernel counts, and other threads may search the same boxes.
        arrays = boxes.arrays._replace(counters=boxes.arrays.counters.copy())
        search = arrays, self.membership.metric, boxes.make_search(), WORK_PER_CALL, is_contained
        row = 0
        while row < len(xl):
            row = nearest_kernels.find_contained(xl, xu, y, row, *search)
        return is_contained

    def add_counts(self, samples: Samples) -> None:
        """Count samples that equal learned ones, each in the nearest box of its class."""
        if samples.counts is None or not len(samples.y):
            return
        xl, xu = samples.scaled()
        labels = samples.y
        if (unlabeled := labels == NO_LABEL).any():
            labels = np.where(unlabeled, self.classify(xl, xu), labels)
        boxes = self.find_boxes(xl, xu, labels, np.zeros(len(self.boxes), np.bool_))
        self.boxes.add_counts(boxes, samples.counts)

    def update(self, xl: np.ndarray, xu: np.ndarray, joined: np.ndarray) -> None:
        """Update what a model has besides boxes by samples; `joined` is that of the kernel."""

    def closeness(self, xl: np.ndarray, xu: np.ndarray, boxes: np.ndarray) -> np.ndarray:
        """Rank some boxes for samples in the learner's units, as prediction does.

        It is the membership, and minus the distance where that is 0.
        """
        return closeness(self._distance(xl, xu, boxes))

    def unlabeled_membership(self, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
        """Return each sample's largest membership over the boxes without a label, 0 for none."""
        boxes = np.flatnonzero(self.boxes.labels == NO_LABEL)
        return self.closeness(xl, xu, boxes).max(axis=1, initial=0.0)

    def _distance(self, xl: np.ndarray, xu: np.ndarray, boxes: np.ndarray) -> np.ndarray:
        lower, upper = self.boxes.lower[boxes], self.boxes.upper[boxes]
        with np.errstate(over="ignore"):
            gaps = np.maximum(xu[:, np.newaxis] - upper, lower - xl[:, np.newaxis])
            return self.membership.distance(gaps)

    def hyperboxes(self, labels: np.ndarray) -> Hyperboxes:
        """Return the boxes in the units of the data, with labels as users see them."""
        lower, upper = self.boxes.lower.copy(), self.boxes.upper.copy()
        if self.scale is not None:
            lower, upper = self.scale.restore(lower), self.scale.restore(upper)
        return Hyperboxes(lower, upper, labels, self.boxes.counts.copy())

    def record(self, labels: np.ndarray) -> NearestBoxes:
        """Return a copy that can be read, with labels as users see them."""
        boxes = self.boxes
        n_features = boxes.lower.shape[1]
        return NearestBoxes(
            lower=boxes.lower.copy(),
            upper=boxes.upper.copy(),
            labels=labels,
            counts=boxes.counts.copy(),
            last_matched=boxes.confirmed.copy(),
            n_seen=boxes.n_seen,
            n_classes=boxes.n_classes,
            scale=self.scale or MinMaxScale(np.zeros(n_features), np.ones(n_features)),
            gamma=self.membership.gamma,
            combine="mean" if self.membership.is_mean else "max",
            calibration=self.calibration,
        )
