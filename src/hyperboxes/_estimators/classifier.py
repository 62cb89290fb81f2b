"""What all classifiers share: labels, prediction and what it rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils.multiclass import check_classification_targets

from hyperboxes._estimators.base import NUMBERS, BoxEstimator
from hyperboxes._estimators.docs import shared_docs
from hyperboxes._estimators.scoring import IntervalClassifierMixin
from hyperboxes._estimators.tables import CATEGORICAL_FEATURES, TakesCategories
from hyperboxes._estimators.validation import (
    check_any_label,
    check_counts,
    check_fitted,
    check_no_none,
    check_unlabeled,
    encode,
    find_labels,
    unchanged_on_error,
    validate_samples,
)
from hyperboxes._learning.calibration import cross_fit
from hyperboxes._learning.callbacks import FitCallbacks
from hyperboxes._models.calibration import (
    Nearest,
    nearest_probabilities,
    predicted_classes,
)
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Samples
from hyperboxes._models.scaling import MinMaxScale


@shared_docs
class BaseGFMM(TakesCategories, IntervalClassifierMixin, BoxEstimator):
    """Base of the GFMM classifiers: each supplies `_learn`."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoxEstimator._parameter_constraints,
        "calibrate": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
        "unlabeled": "no_validation",
    }

    overlap: str
    calibrate: bool = True  # of learners that leave no choice
    categorical_features: Any = None  # of learners that take numbers only
    unlabeled: Any

    classes_: np.ndarray

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, X_upper: Any = None, sample_weight: Any = None) -> Self:
        """Learn the boxes from scratch.

        Parameters
        ----------
        {learned}
        y : array-like of shape (n_samples,)
            Class labels, or `unlabeled`.
        {interval_ends}
        {whole_weights}

        Returns
        -------
        self : object
            The fitted estimator. If the fit is interrupted, it is left unfitted.
        """
        return self._fit_samples(X, y, X_upper, sample_weight=sample_weight)

    def _fit_samples(
        self,
        X: Any,
        y: Any,
        X_upper: Any,
        classes: np.ndarray | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Do what `fit` does; the classes are known where the samples are some of many."""
        with unchanged_on_error(self):
            lower, upper, y = self._validate_samples(
                X, y, X_upper, reset=True, sample_weight=sample_weight
            )
            if classes is None:
                classes = self._find_classes(y)
            model = self._new_model(lower, upper, len(classes))
            self.classes_ = classes
        self._fit(model, self._arrange(self._samples(lower, upper, y, model.scale)), y)
        self._resume_prequential(model)
        return self

    def _recalibrate(self, lower: np.ndarray, upper: np.ndarray, y: np.ndarray) -> None:
        """Learn anew what probabilities memberships stand for, from some of the samples."""
        self._prepare(self._model, self._arrange(self._samples(lower, upper, y, self._model.scale)))
        self._resume_prequential(self._model)

    def _resume_prequential(self, model: BoxModel) -> None:
        if model.calibration is not None:
            n_seen = model.boxes.n_seen  # not all samples if a callback has ended it
            model.calibration = model.calibration.resumed(n_seen)

    def _validate_samples(
        self, X: Any, y: Any, X_upper: Any, *, reset: bool, sample_weight: Any = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Check training samples, and repeat those that count several times."""
        check_unlabeled(self.unlabeled)
        X, y = validate_samples(self, X, y, reset=reset, sample_weight=sample_weight, **NUMBERS)
        upper = self._check_upper(X, X_upper)
        if sample_weight is None:
            return X, upper, y
        rows = np.repeat(np.arange(len(y)), check_counts(sample_weight, X))
        lower = X[rows]
        return lower, lower if upper is X else upper[rows], y[rows]

    def _validate_part(
        self, X: Any, y: Any, X_upper: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Check samples that are some of many."""
        return self._validate_samples(X, y, X_upper, reset=True)

    def _find_classes(self, y: np.ndarray) -> np.ndarray:
        """Return the labels there are."""
        _, labels = find_labels(y, self.unlabeled)
        check_any_label(labels, self.unlabeled)
        check_no_none(labels)
        check_classification_targets(labels)
        return np.unique(labels)

    def _samples(
        self, lower: np.ndarray, upper: np.ndarray, y: np.ndarray, scale: MinMaxScale | None
    ) -> Samples:
        return Samples(lower, upper, scale, encode(y, self.classes_, self.unlabeled))

    def _prepare(self, model: BoxModel, samples: Samples) -> None:
        if not self.calibrate:
            return

        def learn(part: Samples, trial: BoxModel) -> None:
            self._learn(part, trial, FitCallbacks(None, part, None, dict))

        model.calibration = cross_fit(samples, model, learn)

    def _arrange(self, samples: Samples) -> Samples:
        """Return the samples of `fit` in the order in which they are to be learned."""
        return samples

    def predict(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the class of the box with the largest membership for each sample.

        Where boxes of several classes tie: a box that holds the sample and has absorbed a single
        training sample wins, else the class whose tied boxes have absorbed the most samples, then
        the first class. Beyond the reach of all boxes (every membership 0) the nearest box wins.

        {predict}
        """
        winners = self._ask_classes(X, X_upper, self._winners, winners_only=True)
        return self.classes_[winners]

    def predict_proba(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return how probable each class is, by how right memberships were on unseen samples.

        A probability falls with a power of the distance from the class's nearest box; a part of it
        is the class's share of the training samples. Power, part and the unit of distance are three
        numbers that `fit` learns by cross-validation on up to 3,000 samples, and `partial_fit` from
        samples before it learns them. The largest entry is that of `predict`.

        With ``calibrate=False`` there are no such numbers: probabilities are memberships,
        normalised.

        {predict_proba}
        """
        return self._ask_classes(X, X_upper, self._probabilities, winners_only=False)

    def membership(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the fuzzy class outputs: each class's largest membership over its boxes.

        {as_in_predict}

        Returns
        -------
        c : ndarray of shape (n_samples, n_classes)
            Degrees from 0 to 1; 1 where a box of the class holds the sample. They are not
            normalised.
        """
        return self._ask_classes(
            X, X_upper, lambda best, *_: np.maximum(best, 0.0), winners_only=False
        )

    def apply(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the box that decides the class of each sample.

        It is the one of the predicted class with the largest membership; of equals the one that has
        absorbed the most training samples, then the oldest. Where boxes of several classes hold the
        sample, and one that has absorbed a single training sample wins, it is the oldest such.

        {as_in_predict}

        Returns
        -------
        box : ndarray of shape (n_samples,)
            Indices into ``hyperboxes_``.
        """
        self._check_can_predict()
        return self._find_deciders(X, X_upper)[0]

    def _check_can_predict(self) -> None:
        check_fitted(self)
        if not self._model.boxes.has_labels:
            raise ValueError(
                "No box has a label yet, so there is nothing to predict: call partial_fit with "
                "labelled samples."
            )

    def _label_boxes(self) -> np.ndarray:
        return self._model.boxes.labels.copy()

    def _find_deciders(self, X: Any, X_upper: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the box that decides for each sample, and whether each box has a say for any."""
        used = np.zeros(len(self._model.boxes), np.bool_)

        def answer(xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
            return self._decide(xl, xu, used)[0]

        return self._ask_boxes(X, X_upper, answer, len(self.classes_)), used

    def _decide(
        self, xl: np.ndarray, xu: np.ndarray, used: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the box that decides for each sample, how close it is, and whether others are.

        Boxes that have a say are marked as `used`.
        """
        best, votes, single = self._find_nearest(xl, xu, winners_only=True)
        classes = self._winners(best, votes, single)
        boxes = self._find_boxes(xl, xu, classes, used)
        rows = np.arange(len(classes))
        closest, single = best[rows, classes], single[rows, classes]
        several = (best == closest[:, None]).sum(axis=1) > 1
        is_settled = several & (closest == 1.0) & (single < len(self._model.boxes))
        is_tied = several | (votes[rows, classes] > self._model.boxes.counts[boxes])
        return np.where(is_settled, single, boxes), closest, is_tied

    def _ask_classes(
        self,
        X: Any,
        X_upper: Any,
        answer: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
        *,
        winners_only: bool,
    ) -> np.ndarray:
        """Turn what the nearest boxes of each class say into one answer per sample."""
        self._check_can_predict()
        return self._ask_boxes(
            X,
            X_upper,
            lambda xl, xu: answer(*self._find_nearest(xl, xu, winners_only=winners_only)),
            len(self.classes_),
        )

    def _find_nearest(self, xl: np.ndarray, xu: np.ndarray, *, winners_only: bool) -> Nearest:
        """Return what the nearest boxes of each class say."""
        return self._model.find_nearest(xl, xu, winners_only=winners_only)

    def _winners(self, *nearest: *Nearest) -> np.ndarray:
        return predicted_classes(nearest, len(self._model.boxes))

    def _probabilities(self, *nearest: *Nearest) -> np.ndarray:
        boxes, calibration = self._model.boxes, self._model.calibration
        winners = predicted_classes(nearest, len(boxes))
        return nearest_probabilities(nearest, winners, boxes.labels, boxes.counts, calibration)
