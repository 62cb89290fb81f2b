"""The reference inference: what a record computes for samples, slow and literal, and why.

Scores equal those of the kernels bit for bit, except where experts are weighted by exponentials.
Probabilities come from the functions that `predict_proba` calls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from hyperboxes._kernels.adaptive import SMALLEST_GAP, UNKNOWN_GAP
from hyperboxes._models.adaptive_state import expert_weights
from hyperboxes._models.calibration import (
    ClassScores,
    DistanceCalibration,
    class_shares,
    nearest_probabilities,
    neighbor_probabilities,
    vote_probabilities,
)
from hyperboxes._models.records import (
    AdditiveBoxes,
    BoxEnsemble,
    EnsembleMember,
    NearestBoxes,
    NeighborBoxes,
    Record,
    closeness,
    sum_in_order,
    vote_table,
)
from hyperboxes._models.samples import known_features, unknown_part


class Evaluation(NamedTuple):
    """What a record computes for samples.

    `scores` and `probabilities` have the shape (n_samples, n_classes), `winners` has class indices.
    Without classes, `winners` has clusters, -1 for noise, and there are no probabilities.
    """

    scores: np.ndarray
    probabilities: np.ndarray | None
    winners: np.ndarray


class Trace(NamedTuple):
    """How the boxes of a record decide about one sample.

    Attributes
    ----------
    boxes : ndarray of int, shape (n_traced,) or (n_traced, 2)
        The boxes that contribute, the most important first; of ensembles (member, box). Where the
        nearest box of each class decides, these are that of the winner, then those of the others.
    distances : ndarray of shape (n_traced,)
        How far the sample is from each box; of ensembles, as a part of the largest distance; of
        additive boxes, the part of the weights that unknown values take away.
    gaps : ndarray of shape (n_traced, n_features)
        How far the sample is outside of each box, as a part of the feature's range; 0 inside, NaN
        where the value or the bound is unknown.
    contributions : ndarray of shape (n_traced, n_classes)
        What each box adds to the scores. They add up to the scores of the evaluation, but for
        classes without a box, and for additive boxes less the intercept and before they move. Where
        several boxes of each class decide, they add up to the probabilities, less the part of the
        classes' shares.
    feature_contributions : ndarray of shape (n_features,) or None
        Of ensembles: how much nearer the winner is in each feature than the class with the most
        votes among the others, in the mean of the members.
    evaluation : Evaluation
        The scores, probabilities and winner of the sample.
    """

    boxes: np.ndarray
    distances: np.ndarray
    gaps: np.ndarray
    contributions: np.ndarray
    feature_contributions: np.ndarray | None
    evaluation: Evaluation


def evaluate(record: Record, lower: np.ndarray, upper: np.ndarray) -> Evaluation:
    """Return scores, probabilities and winners of samples [lower, upper] in data units."""
    scores = class_scores(record, lower, upper)
    classes = winners(record, scores)
    if isinstance(record, NearestBoxes) and record.n_classes == 0:
        return Evaluation(scores.scores, None, record.labels[classes])
    return Evaluation(scores.scores, probabilities(record, scores, classes), classes)


def class_scores(record: Record, lower: np.ndarray, upper: np.ndarray) -> ClassScores:
    """Return the scores of the classes for samples in data units.

    Without classes, each box is a class of its own. Where ties have no rule of their own, counts
    are 0, and the oldest box is the number of boxes.
    """
    unknown = np.zeros(len(lower))
    match record:
        case NearestBoxes():
            return _nearest_scores(record, lower, upper)
        case AdditiveBoxes():
            n_boxes = len(record.labels)
            scores = np.tile(record.intercept, (len(lower), 1))
            for row, parts in zip(scores, record.parts(lower), strict=True):
                boxes = np.flatnonzero(parts)
                added = np.vstack([row, parts[boxes, None] * record.weights[boxes]])
                row[:] = np.add.accumulate(added, axis=0)[-1]
            record.move_scores(scores, lower)
        case NeighborBoxes():
            n_boxes = len(record.labels)
            scores = np.zeros((len(lower), record.n_classes))
            for row, low, high in zip(scores, lower, upper, strict=True):
                np.add.at(row, record.labels, _neighbor_shares(record, low, high))
            unknown = unknown_part(lower, known_features(record.lower, record.labels))
        case BoxEnsemble():
            n_boxes = sum(len(member.labels) for member in record.members)
            scores = np.zeros((len(lower), len(record.class_counts)))
            for row, low, high in zip(scores, *record.quantizer.encode(lower, upper), strict=True):
                for member in record.members:
                    row += _MemberVote.of(record, member, low, high).shares
                row /= len(record.members)
            unknown = record.quantizer.unknown_part(lower)
    no_counts, no_box = np.zeros(scores.shape, int), np.full(scores.shape, n_boxes)
    return ClassScores(scores, no_counts, no_box, unknown)


def winners(record: Record, scores: ClassScores) -> np.ndarray:
    """Return the class of each sample; without classes, the box that decides.

    The classes with the best score tie. Where boxes with a membership of 1 tie that have absorbed a
    single training sample, the oldest of them decides; else the class whose tied boxes have
    absorbed the most samples, then the first. Ensembles, neighbors and several boxes of each class
    compare probabilities.
    """
    compares_scores = not isinstance(record, NearestBoxes) or record.n_neighbors == 1
    if isinstance(record, BoxEnsemble | NeighborBoxes) or not compares_scores:
        return probabilities(record, scores, np.full(len(scores.scores), -1)).argmax(axis=1)
    found = np.empty(len(scores.scores), np.int64)
    for row, (of_row, tie_counts, singletons) in enumerate(zip(*scores[:3], strict=True)):
        tied = np.flatnonzero(of_row == of_row.max())
        oldest = tied[singletons[tied].argmin()]
        if of_row.max() == 1.0 and singletons[oldest] < len(record.labels):
            found[row] = oldest
        else:
            found[row] = tied[tie_counts[tied].argmax()]
    return found


def probabilities(record: Record, scores: ClassScores, winners: np.ndarray) -> np.ndarray:
    """Return the probabilities of the classes."""
    match record:
        case NearestBoxes():
            of_boxes = record.labels, record.counts, record.calibration
            return nearest_probabilities(scores, winners, *of_boxes)
        case AdditiveBoxes():
            return softmax(scores.scores - record.shift, axis=1)
        case NeighborBoxes():
            class_counts = np.bincount(record.labels, record.counts, record.n_classes)
            return neighbor_probabilities(scores.scores, class_counts, scores.unknown)
        case BoxEnsemble():
            of_members = record.class_counts, record.calibration
            return vote_probabilities(scores.scores, *of_members, scores.unknown)


def trace(record: Record, lower: np.ndarray, upper: np.ndarray) -> Trace:
    """Return how the boxes decide about a single sample, of shape (1, n_features)."""
    evaluation = evaluate(record, lower, upper)
    match record:
        case NearestBoxes():
            return _trace_nearest(record, lower, upper, evaluation)
        case AdditiveBoxes():
            parts = record.parts(lower)[0]
            added = parts[:, None] * record.weights
            boxes = np.argsort(-np.abs(added).max(axis=1, initial=0.0), kind="stable")
            boxes = boxes[parts[boxes] > 0.0]
            gaps = np.where(np.isnan(lower), np.nan, np.zeros((len(boxes), 1)))
            return Trace(boxes, 1.0 - parts[boxes], gaps, added[boxes], None, evaluation)
        case NeighborBoxes():
            return _trace_neighbors(record, lower[0], upper[0], evaluation)
        case BoxEnsemble():
            return _trace_ensemble(record, lower, upper, evaluation)


@np.errstate(over="ignore")
def _nearest_scores(record: NearestBoxes, lower: np.ndarray, upper: np.ndarray) -> ClassScores:
    labels, n_boxes = _class_labels(record), len(record.labels)
    scores = np.full((len(lower), record.n_classes or n_boxes), -np.inf)
    tie_counts = np.zeros(scores.shape, np.int64)
    singletons = np.full(scores.shape, n_boxes)
    boxes = np.flatnonzero(labels >= 0)
    of_class = [boxes[labels[boxes] == c] for c in range(record.n_classes)]
    neighbors = np.full((*scores.shape, record.n_neighbors), np.inf)
    compared, may_settle = record.compared, record.may_settle
    for row, ends in enumerate(zip(lower, upper, strict=True)):
        distances = record.distance(scaled_gaps(record, *ends))
        for c, members in enumerate(of_class):
            nearest = np.sort(distances[members])[: record.n_neighbors]
            neighbors[row, c, : len(nearest)] = nearest
        ranks = closeness(distances)
        np.maximum.at(scores[row], labels[boxes], ranks[boxes])
        nearest = boxes[ranks[boxes] == scores[row, labels[boxes]]]
        np.add.at(tie_counts[row], labels[nearest], record.counts[nearest])
        if record.n_classes > 0:
            is_complete = not np.isnan(ends[0][compared]).any()
            single = nearest[may_settle[nearest] & is_complete]
            np.minimum.at(singletons[row], labels[single], single)
    found = ClassScores(scores, tie_counts, singletons, unknown_part(lower, compared))
    if record.calibration is None or record.n_neighbors == 1:
        return found
    return record.calibration.soften(found, neighbors)


def _class_labels(record: NearestBoxes) -> np.ndarray:
    """Return the class of each box: its label or, without classes, a class of its own."""
    return record.labels if record.n_classes > 0 else np.arange(len(record.labels))


def scaled_gaps(record: NearestBoxes, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return how far a sample is outside of each box, in the units of the boxes."""
    low, high = record.scale.transform(low), record.scale.transform(high)
    return np.maximum(high - record.upper, record.lower - low)


@np.errstate(over="ignore")
def _trace_nearest(
    record: NearestBoxes, lower: np.ndarray, upper: np.ndarray, evaluation: Evaluation
) -> Trace:
    scores = class_scores(record, lower, upper)
    labels, of_row = _class_labels(record), scores.scores[0]
    gaps = scaled_gaps(record, lower[0], upper[0])
    distances = record.distance(gaps)
    ranks = closeness(distances)
    # The nearest first; of equals, the one that has absorbed the most samples, then the oldest.
    order = np.lexsort((-record.counts, -ranks))
    order = order[labels[order] >= 0]
    if record.calibration is not None and record.n_neighbors > 1:
        return _trace_several(record, record.calibration, order, gaps, scores, evaluation)
    winner = int(winners(record, scores)[0])
    order = order[np.sort(np.unique(labels[order], return_index=True)[1])]
    is_own = labels[order] == winner
    boxes = np.concatenate([order[is_own], order[~is_own]])
    oldest, top = scores.oldest_singleton[0, winner], of_row.max()
    if top == 1.0 and oldest < len(labels) and (of_row == top).sum() > 1:
        boxes[0] = oldest
    contributions = np.zeros((len(boxes), len(of_row)))
    contributions[np.arange(len(boxes)), labels[boxes]] = ranks[boxes]
    return Trace(
        boxes, distances[boxes], _felt(record, gaps[boxes]), contributions, None, evaluation
    )


def _trace_several(
    record: NearestBoxes,
    calibration: DistanceCalibration,
    order: np.ndarray,
    gaps: np.ndarray,
    scores: ClassScores,
    evaluation: Evaluation,
) -> Trace:
    """Divide the probability of each class among its nearest boxes; `order` has the nearest first.

    What the classes have by their shares alone is not divided.
    """
    assert evaluation.probabilities is not None
    shares = class_shares(record.labels, record.counts, record.n_classes)
    by_shares = calibration.prior_part(scores.unknown[0]) * shares
    by_distance = np.maximum(evaluation.probabilities[0] - by_shares, 0.0)
    distances = record.distance(gaps)
    contributions = np.zeros((len(record.labels), record.n_classes))
    labels = record.labels[order]
    nearest = [order[labels == label][: record.n_neighbors] for label in np.unique(labels)]
    for of_class in nearest:
        label = record.labels[of_class[0]]
        parts = softmax(-distances[of_class] / calibration.width)
        contributions[of_class, label] = by_distance[label] * parts
    boxes = np.concatenate(nearest)
    boxes = boxes[np.lexsort((boxes, distances[boxes], -contributions[boxes].sum(axis=1)))]
    felt = _felt(record, gaps[boxes])
    return Trace(boxes, distances[boxes], felt, contributions[boxes], None, evaluation)


def _felt(record: NearestBoxes, gaps: np.ndarray) -> np.ndarray:
    """Return gaps without those that take nothing from the membership."""
    return np.where(np.isnan(gaps) | (record.slopes(gaps) > 0), gaps, 0.0)


def neighbor_distances(
    record: NeighborBoxes, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distance of each box, and its gaps as parts of the features' ranges."""
    gaps = np.maximum(record.lower - high, low - record.upper)
    gaps = np.where(gaps <= 0.0, 0.0, gaps) * record.inverse_range
    unknown = np.where(record.inverse_range > 0.0, UNKNOWN_GAP, 0.0)
    counted = np.where(np.isnan(gaps), unknown, np.minimum(gaps, 1.0))
    return sum_in_order(record.feature_weights * counted), gaps


def _neighbor_shares(record: NeighborBoxes, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the share of each box in the votes of all experts."""
    distances, _ = neighbor_distances(record, low, high)
    order = np.lexsort((record.age, distances))
    shares = np.zeros(len(order))
    experts = expert_weights(record.expert_scores)
    for horizon, weights in zip(record.horizons, experts, strict=True):
        within = order[record.age[order] < horizon]
        for n_neighbors, weight in zip(record.neighbors, weights, strict=True):
            nearest = within[:n_neighbors]
            votes = 1.0 / (distances[nearest] + SMALLEST_GAP)
            shares[nearest] += weight * votes / votes.sum()
    return shares


def _trace_neighbors(
    record: NeighborBoxes, low: np.ndarray, high: np.ndarray, evaluation: Evaluation
) -> Trace:
    distances, gaps = neighbor_distances(record, low, high)
    shares = _neighbor_shares(record, low, high)
    boxes = np.argsort(-shares, kind="stable")
    boxes = boxes[shares[boxes] > 0.0]
    contributions = np.zeros((len(boxes), record.n_classes))
    contributions[np.arange(len(boxes)), record.labels[boxes]] = shares[boxes]
    return Trace(boxes, distances[boxes], gaps[boxes], contributions, None, evaluation)


class _MemberVote(NamedTuple):
    """The nearest box of each class in a member, their gaps in codes, and the classes' shares."""

    boxes: np.ndarray
    gaps: np.ndarray
    distances: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(
        cls, record: BoxEnsemble, member: EnsembleMember, low: np.ndarray, high: np.ndarray
    ) -> _MemberVote:
        """Compare a sample in codes with all boxes of a member."""
        distances = member.distances(low, high)
        # The nearest first; of equals, the one that has absorbed the most samples, then the oldest.
        order = np.lexsort((-member.counts, distances))
        boxes = order[np.unique(member.labels[order], return_index=True)[1]]
        nearest = distances[boxes]
        farthest = member.farthest(record.quantizer.n_bins)
        weights = vote_table(farthest, record.temperature)[nearest - nearest.min()]
        shares = weights * (1.0 / sum_in_order(weights))
        return cls(boxes, member.gaps(low, high)[boxes], nearest / farthest, shares)


def _trace_ensemble(
    record: BoxEnsemble, lower: np.ndarray, upper: np.ndarray, evaluation: Evaluation
) -> Trace:
    low, high = (codes[0] for codes in record.quantizer.encode(lower, upper))
    votes = [_MemberVote.of(record, member, low, high) for member in record.members]
    n_members, n_classes, n_features = len(votes), len(record.class_counts), lower.shape[1]
    shares = np.array([vote.shares for vote in votes]) / n_members
    order = np.argsort(-shares, axis=None, kind="stable")
    order = order[shares.ravel()[order] > 0.0]
    members, classes = np.divmod(order, n_classes)
    gaps = np.full((n_members, n_classes, n_features), np.nan)
    for of_member, member, vote in zip(gaps, record.members, votes, strict=True):
        of_member[:, member.features] = vote.gaps / record.quantizer.n_bins
    gaps[:, :, np.isnan(lower[0])] = np.nan
    contributions = np.zeros((len(order), n_classes))
    contributions[np.arange(len(order)), classes] = shares[members, classes]
    return Trace(
        np.column_stack([members, np.array([vote.boxes for vote in votes])[members, classes]]),
        np.array([vote.distances for vote in votes])[members, classes],
        gaps[members, classes],
        contributions,
        _feature_contributions(record, votes, evaluation, n_features),
        evaluation,
    )


def _feature_contributions(
    record: BoxEnsemble, votes: list[_MemberVote], evaluation: Evaluation, n_features: int
) -> np.ndarray:
    """Return how much nearer the winner is than its rival, as parts of the largest distance.

    The distance may be the largest gap: then it is that of the first feature with this gap.
    """
    winner = evaluation.winners[0]
    others = np.delete(np.arange(evaluation.scores.shape[1]), winner)
    found = np.zeros(n_features)
    if len(others) == 0:
        return found
    rival = others[evaluation.scores[0, others].argmax()]
    for member, vote in zip(record.members, votes, strict=True):
        gaps = vote.gaps
        if member.combine == "max":
            gaps = np.where(gaps.argmax(axis=1)[:, None] == np.arange(gaps.shape[1]), gaps, 0)
        nearer = (gaps[rival] - gaps[winner]) / member.farthest(record.quantizer.n_bins)
        found[member.features] += nearer / len(votes)
    return found
