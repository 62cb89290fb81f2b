"""The four types of fitted model as records: read-only arrays and numbers, and their formulas.

Exporters, explanations and files read a model as one of these records and nothing else. The records
are a closed union, so a `match` over `Record` is checked to be complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from hyperboxes._models.hyperboxes import ReadOnlyArrays, is_closed
from hyperboxes._models.samples import MinMaxScale, known_features

if TYPE_CHECKING:
    from hyperboxes._models.calibration import DistanceCalibration, VoteCalibration
    from hyperboxes._models.ensemble import Codes


class MembershipFunction:
    """The membership of samples in boxes, the same numbers as the kernels compute.

    With gaps g between a sample and the faces of a box, 0 inside, in the learner's units, it is the
    least of ``1 - gamma * g`` over the features or their mean, each clipped at 0.
    """

    gamma: np.ndarray

    @property
    def is_mean(self) -> bool:
        """Whether the membership is the mean over the features and not the least."""
        raise NotImplementedError

    def distance(self, gaps: np.ndarray) -> np.ndarray:
        """Combine the gaps along the last axis; NaN, an unknown gap, counts as 0.

        Where all features are beyond the reach of membership, the distance is more than 1.
        """
        slopes = np.fmax(gaps * self.gamma, 0.0)
        if not self.is_mean:
            return slopes.max(axis=-1)
        clipped, total = sum_in_order(np.fmin(slopes, 1.0)), sum_in_order(slopes)
        n_features = gaps.shape[-1]
        return np.where(clipped < n_features, clipped, np.maximum(total, n_features)) / n_features

    def degree(self, gaps: np.ndarray) -> np.ndarray:
        """Return the memberships."""
        return 1.0 - np.minimum(self.distance(gaps), 1.0)

    def slopes(self, gaps: np.ndarray) -> np.ndarray:
        """Return what each feature takes from the membership, before it is clipped.

        It is 0 inside, where a value is unknown, and where rounding removes it: in a feature that
        leaves 1 as it is, and in all features of a sample that is a full member.
        """
        slopes = np.fmax(gaps * self.gamma, 0.0)
        is_lost = (1.0 - slopes == 1.0) | (self.degree(gaps)[..., None] == 1.0)
        return np.where(is_lost, 0.0, slopes)

    def degree_alone(self, gaps: np.ndarray) -> np.ndarray:
        """Return for each gap the membership if there were none in the other features."""
        share = len(self.gamma) if self.is_mean else 1
        return 1.0 - np.fmin(np.fmax(gaps * self.gamma, 0.0), 1.0) / share


def closeness(distance: np.ndarray) -> np.ndarray:
    """Rank boxes: the membership, and beyond its reach, where it is 0, minus the distance."""
    return np.where(distance < 1.0, 1.0 - distance, -distance)


def sum_in_order(values: np.ndarray) -> np.ndarray:
    """Add up along the last axis in the order of the features, which `np.sum` does not."""
    return np.add.accumulate(values, axis=-1)[..., -1]


@dataclass(frozen=True, eq=False)
class NearestBoxes(ReadOnlyArrays, MembershipFunction):
    """Boxes of which the nearest of each class decide; without classes, the nearest of all.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_boxes, n_features)
        Smallest and largest corner of each box, in the units of `scale`, oldest box first; NaN
        where all samples of the box lack the feature.
    labels : ndarray of int, shape (n_boxes,)
        Class index of each box, -1 for none; without classes, its cluster, -1 for noise.
    counts : ndarray of int, shape (n_boxes,)
        How many training samples each box has absorbed.
    last_matched : ndarray of int, shape (n_boxes,)
        The last training sample that each box has absorbed, by number from 0 on.
    n_seen : int
        How many training samples there were, including those of evicted boxes.
    n_classes : int
        How many classes there are; 0 for clusters.
    scale : MinMaxScale
        The map from data units to the units of the boxes.
    gamma : ndarray of shape (n_features,)
        How steeply the membership falls with the gap in each feature.
    combine : {"max", "mean"}
        How the gaps of the features become one distance.
    calibration : DistanceCalibration or None
        How many boxes of each class decide, and how distances become probabilities; None: the
        nearest one, and memberships are normalised.
    """

    kind: ClassVar[str] = "nearest"

    lower: np.ndarray
    upper: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    last_matched: np.ndarray
    n_seen: int
    n_classes: int
    scale: MinMaxScale
    gamma: np.ndarray
    combine: Literal["max", "mean"]
    calibration: DistanceCalibration | None

    @property
    def is_mean(self) -> bool:
        """Whether the membership is the mean over the features and not the least."""
        return self.combine == "mean"

    @property
    def n_neighbors(self) -> int:
        """How many boxes of each class decide."""
        return 1 if self.calibration is None else self.calibration.n_neighbors

    @property
    def compared(self) -> np.ndarray:
        """The features, as a mask, that a box of a single training sample needs to settle a tie.

        Both box and sample must have values there. Without a calibration there are none: such a box
        always settles a tie, as in the paper.
        """
        return known_features(self.lower, self.labels) & (self.calibration is not None)

    @property
    def may_settle(self) -> np.ndarray:
        """The boxes, as a mask, of a single training sample that may settle ties."""
        return (self.counts == 1) & ~np.isnan(self.lower[:, self.compared]).any(axis=1)


@dataclass(frozen=True, eq=False)
class AdditiveBoxes(ReadOnlyArrays):
    """Boxes that add weights to the scores of the samples that they contain.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_boxes, n_features)
        Ends of each box in data units, which belong to it; infinite where it is open.
    missing_shares : ndarray of shape (n_boxes, n_features)
        How far samples that lack the feature meet the condition of a box on it: 1 or 0 if that was
        learned, else the share of the training samples that meet it.
    weights : ndarray of shape (n_boxes, n_classes)
        What each box adds to the score of each class, in the order of the boxes.
    intercept : ndarray of shape (n_classes,)
        The scores before any box adds to them.
    missing_scores : ndarray of shape (n_classes,)
        The scores of a sample that lacks all features that boxes constrain: the logarithms of the
        classes' shares, but for a constant.
    labels : ndarray of int, shape (n_boxes,)
        The class with the largest weight in each box.
    counts : ndarray of int, shape (n_boxes,)
        How many training samples each box contains.
    class_counts : ndarray of int, shape (n_boxes, n_classes)
        The same by class.
    feature_importances : ndarray of shape (n_features,)
        The share of each feature in the spread of the scores.
    shift : ndarray of shape (n_classes,) or 0.0
        The part of the intercept that is a threshold, which changes no probability.
    """

    kind: ClassVar[str] = "additive"

    lower: np.ndarray
    upper: np.ndarray
    missing_shares: np.ndarray
    weights: np.ndarray
    intercept: np.ndarray
    missing_scores: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    class_counts: np.ndarray
    feature_importances: np.ndarray
    shift: Any = 0.0

    @property
    def constrains(self) -> np.ndarray:
        """Whether each box has a condition on each feature, of shape (n_boxes, n_features)."""
        return is_closed(self.lower, self.upper, self.missing_shares)

    @property
    def used(self) -> np.ndarray:
        """The features that boxes constrain."""
        return np.flatnonzero(self.constrains.any(axis=0))

    def parts(self, X: np.ndarray) -> np.ndarray:
        """Return which part of its weights each box adds, of shape (n_samples, n_boxes).

        It is 1 if the box contains the sample and 0 if not. An unknown value counts with its share.
        """
        X = X[:, np.newaxis]
        inside: np.ndarray = (self.lower <= X) & (self.upper >= X)
        parts: np.ndarray = np.where(np.isnan(X), self.missing_shares, inside).prod(axis=2)
        return parts

    def unknown_weights(self, X: np.ndarray) -> np.ndarray:
        """Return how far scores move: the fourth power of the part of `used` that is unknown."""
        used = self.used
        part = np.isnan(X[:, used]).sum(axis=1) / max(len(used), 1)
        return (part * part) * (part * part)

    def move_scores(self, scores: np.ndarray, X: np.ndarray) -> None:
        """Move sums of weights towards `missing_scores`, in place, the more a sample lacks."""
        if not np.isnan(X).any():
            return
        weights = self.unknown_weights(X)
        rows = np.flatnonzero(weights)
        scores[rows] += weights[rows, None] * (self.missing_scores - scores[rows])


@dataclass(frozen=True, eq=False)
class NeighborBoxes(ReadOnlyArrays):
    """Boxes of which the nearest ones of several ages vote, as experts of different weights.

    An expert is a horizon and a number of neighbors: the nearest boxes below that age vote.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_boxes, n_features)
        Smallest and largest corner of each box in data units, oldest box first; NaN where all
        samples of the box lack the feature.
    labels : ndarray of int, shape (n_boxes,)
        Class index of each box.
    counts : ndarray of int, shape (n_boxes,)
        How many training samples each box has absorbed.
    age : ndarray of int, shape (n_boxes,)
        How many samples were learned since each box last absorbed one.
    n_classes : int
        How many classes there are.
    inverse_range : ndarray of shape (n_features,)
        1 / the recent range of each feature, 0 where it does not vary.
    feature_weights : ndarray of shape (n_features,)
        The weight of each feature in distances.
    horizons : ndarray of int, shape (n_horizons,)
        Each expert's boxes are younger than this.
    neighbors : ndarray of int, shape (n_neighbors,)
        How many boxes of each expert vote.
    expert_scores : ndarray of shape (n_horizons, n_neighbors)
        How often each expert was right recently.
    """

    kind: ClassVar[str] = "neighbors"

    lower: np.ndarray
    upper: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    age: np.ndarray
    n_classes: int
    inverse_range: np.ndarray
    feature_weights: np.ndarray
    horizons: np.ndarray
    neighbors: np.ndarray
    expert_scores: np.ndarray


class EnsembleMember(NamedTuple):
    """Boxes over some features, in codes; a box spans all codes of a feature that it lacks.

    The distance of a sample from a box combines its gaps in the features: their sum or the largest.
    """

    features: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    combine: Literal["max", "sum"]

    def gaps(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the gaps between a sample and each box in the member's features, in codes."""
        low, high = (end[self.features].astype(np.int64) for end in (low, high))
        return np.maximum(np.maximum(self.lower - low, high - self.upper), 0)

    def distances(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the distance of a sample from each box, in codes."""
        gaps = self.gaps(low, high)
        return gaps.sum(axis=1) if self.combine == "sum" else gaps.max(axis=1)

    def farthest(self, largest_code: int) -> int:
        """Return the largest distance that there can be."""
        return largest_code * (len(self.features) if self.combine == "sum" else 1)


def vote_table(farthest: int, temperature: float) -> np.ndarray:
    """Return the weights of classes in a member's vote, by their distance beyond the nearest one's.

    The weight is ``exp(-distance / (farthest * temperature))``, with distances in codes from 0 to
    `farthest`. With a temperature of 0, only the nearest classes have any.
    """
    distances = np.arange(farthest + 1)
    if temperature == 0.0:
        return (distances == 0).astype(float)
    return np.exp(-distances / (farthest * temperature))


@dataclass(frozen=True, eq=False)
class BoxEnsemble(ReadOnlyArrays):
    """Members on subsets of the features whose nearest boxes vote.

    Attributes
    ----------
    quantizer : Codes
        The map from data units to the codes of the members' boxes.
    members : tuple of EnsembleMember
        The members, in the order in which their votes are added up.
    temperature : float
        How evenly a member divides its vote among the classes.
    class_counts : ndarray of shape (n_classes,)
        The training samples of each class, or their total weight.
    calibration : VoteCalibration or None
        How votes become probabilities; None: votes are probabilities.
    """

    kind: ClassVar[str] = "ensemble"

    quantizer: Codes
    members: tuple[EnsembleMember, ...]
    temperature: float
    class_counts: np.ndarray
    calibration: VoteCalibration | None


Record = NearestBoxes | AdditiveBoxes | NeighborBoxes | BoxEnsemble
