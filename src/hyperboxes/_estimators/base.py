"""What nearest-box estimators share: validation, scale, fit, prediction and scores.

`BoxEstimator` is the base of clustering and classifiers, `BaseGFMM` that of classifiers.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.callback import CallbackSupportMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators.categorical import CATEGORICAL_FEATURES, TakesCategories
from hyperboxes._estimators.validation import (
    check_any_label,
    check_counts,
    check_finite_range,
    check_fitted,
    check_gamma,
    check_no_none,
    check_ranges,
    check_unit_range,
    check_unlabeled,
    check_upper,
    encode,
    find_labels,
    unchanged_on_error,
    validate_samples,
)
from hyperboxes._kernels import nearest
from hyperboxes._kernels.structs import NO_LABEL, GrowthParameters
from hyperboxes._learning.calibration import cross_fit
from hyperboxes._learning.growth_parameters import SELECTIONS, make_growth_parameters
from hyperboxes._learning.steps import FitCallbacks, Threads
from hyperboxes._models.box_store import WORK_PER_CALL, BoxStore
from hyperboxes._models.calibration import Nearest, nearest_probabilities, predicted_classes
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.membership import FUNCTIONS, Membership
from hyperboxes._models.model import BoxModel
from hyperboxes._models.records import NearestBoxes
from hyperboxes._models.samples import Intervals, MinMaxScale, Samples, slices

# Asking about fewer samples takes less time than starting a thread.
_ROWS_WORTH_A_THREAD = 1000

# How samples are validated.
NUMBERS = {"dtype": np.float64, "order": "C", "ensure_all_finite": "allow-nan"}

# What scikit-learn's validation and `fit` set beside the model.
_DATA_ATTRIBUTES = ("n_features_in_", "feature_names_in_", "classes_", "_categories")

# What is derived from the model when it is asked for, and outdated when learning goes on.
_DERIVED = ("_hyperboxes", "_clusters", "labels_")


class BoxEstimator(CallbackSupportMixin, BaseEstimator, ABC):
    """Base of the estimators that learn boxes: each supplies `_learn` and `_label_boxes`."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "theta": [Interval(Real, 0, None, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "membership_function": [StrOptions(set(FUNCTIONS))],
        "selection": [StrOptions(set(SELECTIONS))],
        "scaling": [StrOptions({"minmax"}), "array-like", None],
        "n_jobs": [Integral, None],
    }

    theta: float
    gamma: Any
    membership_function: str = "min"  # of learners that leave no choice
    max_boxes: int | None = None  # likewise
    selection: str
    scaling: Any
    n_jobs: int | None

    # What decides in `predict` where it is not the nearest box alone, as a clause.
    _decided_otherwise: str = ""

    n_features_in_: int
    _model: BoxModel

    @abstractmethod
    def _learn(self, samples: Samples, model: BoxModel, callbacks: FitCallbacks) -> None:
        """Learn the samples into the model's boxes."""

    @abstractmethod
    def _label_boxes(self) -> np.ndarray:
        """Return the labels of the boxes as users see them, -1 for none."""

    def _prepare(self, model: BoxModel, samples: Samples) -> None:
        """Do what `fit` does before it learns."""

    def _make_growth_parameters(self, model: BoxModel, **pieces: Any) -> GrowthParameters:
        """Return the rule that kernels learn by: the pieces all learners share, and others."""
        return make_growth_parameters(
            model.membership, theta=float(self.theta), selection=self.selection, **pieces
        )

    def _check_upper(self, X: np.ndarray, X_upper: Any) -> np.ndarray:
        """Return the upper ends of training samples, after checks of both ends."""
        upper = check_upper(self, X, X_upper)
        if self.scaling is None:
            check_unit_range(self, X, upper)
        return upper

    def _new_model(self, lower: np.ndarray, upper: np.ndarray, n_classes: int) -> BoxModel:
        """Return a model that has learned nothing yet but the ranges."""
        n_features = lower.shape[1]
        scale = None
        if self.scaling is not None:
            known = not isinstance(self.scaling, str)
            ranges = check_ranges(self, n_features) if known else (lower, upper)
            scale = MinMaxScale.learn(*ranges)
            check_finite_range(self, scale.low, scale.high)
        gamma = check_gamma(self.gamma, n_features)
        membership = Membership(gamma, self.membership_function)
        return BoxModel(BoxStore(n_features, n_classes), scale, membership)

    def _fit(self, model: BoxModel, samples: Samples, y: np.ndarray | None) -> None:
        """Learn the samples from scratch; if that is interrupted, the estimator is unfitted."""
        if np.max(self.theta) > 1:
            warnings.warn(
                f"theta={self.theta} does not limit boxes: theta is a fraction of the range of "
                "each feature, so choose a value below 1, such as 0.3.",
                stacklevel=5,
            )
        of_the_data = {
            name: self.__dict__.pop(name) for name in _DATA_ATTRIBUTES if name in vars(self)
        }
        for name in ("_model", "pruning_", "_label_runs"):  # said of other samples or boxes
            self.__dict__.pop(name, None)
        self._prepare(model, samples)
        self._train(model, samples, y, of_the_data)
        model.boxes.pack()
        self.__dict__.update(of_the_data, _model=model)

    def _train(
        self, model: BoxModel, samples: Samples, y: np.ndarray | None, of_the_data: dict[str, Any]
    ) -> None:
        """Hand the samples to the learner; the model is updated as it goes."""
        self._forget_derived()

        def snapshot() -> dict[str, Any]:
            return of_the_data | {"_model": model.with_boxes(model.boxes.settled())}

        self._learn(samples, model, FitCallbacks(self, samples, y, snapshot))

    def _forget_derived(self) -> None:
        """Forget what was found out about the boxes as they were."""
        for name in _DERIVED:
            self.__dict__.pop(name, None)

    def _train_on(self, samples: Samples, y: np.ndarray | None) -> None:
        """Go on learning; if that is interrupted, the first samples have been learned."""
        self._train(self._model, samples, y, self._data_attributes())

    def _data_attributes(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in _DATA_ATTRIBUTES if name in vars(self)}

    def _with_boxes(self, boxes: BoxStore) -> Self:
        """Return a fitted estimator that differs in its boxes only."""
        model = self._model.with_boxes(boxes)
        if model.calibration is not None:
            model.calibration = model.calibration.resumed(boxes.n_seen)
        twin = clone(self)
        vars(twin).update(self._data_attributes(), _model=model)
        return twin

    def _record(self) -> NearestBoxes:
        """Return the fitted model as a record, which stays as it is when learning goes on."""
        return self._model.record(self._label_boxes())

    @property
    def hyperboxes_(self) -> Hyperboxes:
        """The boxes in data units."""
        check_is_fitted(self)
        if "_hyperboxes" not in vars(self):
            self._hyperboxes = self._model.hyperboxes(self._label_boxes())
        return self._hyperboxes

    @property
    def data_min_(self) -> np.ndarray:
        """What scaling maps to 0 in each feature."""
        check_is_fitted(self)
        scale = self._model.scale
        return np.zeros(self.n_features_in_) if scale is None else scale.low.copy()

    @property
    def data_max_(self) -> np.ndarray:
        """What scaling maps to 1 in each feature, where it is more than `data_min_`."""
        check_is_fitted(self)
        scale = self._model.scale
        return np.ones(self.n_features_in_) if scale is None else scale.high.copy()

    @property
    def n_candidates_(self) -> int:
        """How many boxes or pairs were tried; as the paper counts, unless `selection="index"`."""
        check_is_fitted(self)
        return self._model.boxes.n_candidates

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model") and len(self._model.boxes) > 0

    def _intervals(self, X: Any, X_upper: Any) -> Intervals:
        """Check samples that the model is asked about."""
        check_fitted(self)
        X = validate_samples(self, X, reset=False, **NUMBERS)
        return Intervals(X, check_upper(self, X, X_upper), self._model.scale)

    def _ask_boxes(
        self,
        X: Any,
        X_upper: Any,
        answer: Callable[[np.ndarray, np.ndarray], np.ndarray],
        n_values: int,
    ) -> np.ndarray:
        """Return the answers for slices of samples in the learner's units, some at a time.

        `n_values` is how many numbers an answer takes for each sample.
        """
        intervals = self._intervals(X, X_upper)
        X = intervals.lower

        def ask(rows: slice) -> np.ndarray:
            return answer(*intervals.scaled(rows))

        n_jobs = effective_n_jobs(self.n_jobs) if len(X) > _ROWS_WORTH_A_THREAD else 1
        batches = slices(len(X), _rows_at_once(len(X), n_jobs, n_values))
        with Threads(n_jobs) as threads:  # joblib's take some 15 ms for the first answer
            return np.concatenate(list(threads.map(ask, batches)))

    def _find_boxes(
        self, xl: np.ndarray, xu: np.ndarray, labels: np.ndarray, used: np.ndarray
    ) -> np.ndarray:
        """Return what `nearest_boxes` finds among the boxes of a label for each sample."""
        boxes = self._model.boxes
        found, ids, gaps = np.empty(len(xl), np.int64), *boxes.make_lists()
        asked = boxes.arrays, self._model.membership.metric, boxes.make_search(), WORK_PER_CALL
        row = 0
        while row < len(xl):
            row = nearest.nearest_boxes(xl, xu, labels, row, *asked, ids, gaps, found, used)
        return found


def _rows_at_once(n_rows: int, n_jobs: int, n_values: int) -> int:
    """Bound the memory of what the boxes say, and give threads several turns each."""
    by_memory = max(1, 500_000 // n_values)
    by_turns = -(-n_rows // (4 * n_jobs)) if n_jobs > 1 else n_rows
    return min(by_memory, by_turns)


@shared_docs
class IntervalClassifierMixin(ClassifierMixin):
    """Scores classifiers that predict from the lower and upper ends of samples."""

    @abstractmethod
    def predict(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the label of each sample."""

    def score(self, X: Any, y: Any, sample_weight: Any = None, X_upper: Any = None) -> float:
        """Return the accuracy of `predict` on the given samples.

        {tested}
        {interval_ends}

        Returns
        -------
        score : float
            Mean accuracy.
        """
        return float(accuracy_score(y, self.predict(X, X_upper), sample_weight=sample_weight))


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
        self._fit(model, self._shuffle(self._samples(lower, upper, y, model.scale)), y)
        self._resume_prequential(model)
        return self

    def _recalibrate(self, lower: np.ndarray, upper: np.ndarray, y: np.ndarray) -> None:
        """Learn anew what probabilities memberships stand for, from some of the samples."""
        self._prepare(self._model, self._shuffle(self._samples(lower, upper, y, self._model.scale)))
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

    def _shuffle(self, samples: Samples) -> Samples:
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

    def membership(self, X: Any, X_upper: Any = None, *, unlabeled: bool = False) -> np.ndarray:
        """Return the fuzzy class outputs: each class's largest membership over its boxes.

        {as_in_predict}
        {unlabeled_node}

        Returns
        -------
        c : ndarray of shape (n_samples, n_classes) or (n_samples, 1 + n_classes)
            Degrees from 0 to 1; 1 where a box of the class holds the sample. They are not
            normalised.
        """
        degrees = self._ask_classes(
            X, X_upper, lambda best, *_: np.maximum(best, 0.0), winners_only=False
        )
        if not unlabeled:
            return degrees
        boxes = self._model.boxes
        n_values = 1 + boxes.lower[boxes.labels == NO_LABEL].size
        node = self._ask_boxes(X, X_upper, self._model.unlabeled_membership, n_values)
        return np.column_stack([node, degrees])

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
        return self._deciding_boxes(X, X_upper)[0]

    def _check_can_predict(self) -> None:
        check_fitted(self)
        if not self._model.boxes.has_labels:
            raise ValueError(
                "No box has a label yet, so there is nothing to predict: call partial_fit with "
                "labelled samples."
            )

    def _label_boxes(self) -> np.ndarray:
        return self._model.boxes.labels.copy()

    def _deciding_boxes(self, X: Any, X_upper: Any) -> tuple[np.ndarray, np.ndarray]:
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
        best, votes, single = self._class_scores(xl, xu, winners_only=True)
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
            lambda xl, xu: answer(*self._class_scores(xl, xu, winners_only=winners_only)),
            len(self.classes_),
        )

    def _class_scores(self, xl: np.ndarray, xu: np.ndarray, *, winners_only: bool) -> Nearest:
        """Return what the nearest boxes of each class say."""
        return self._model.find_nearest(xl, xu, winners_only=winners_only)

    def _winners(self, *nearest: *Nearest) -> np.ndarray:
        return predicted_classes(nearest, len(self._model.boxes))

    def _probabilities(self, *nearest: *Nearest) -> np.ndarray:
        boxes, calibration = self._model.boxes, self._model.calibration
        winners = predicted_classes(nearest, len(boxes))
        return nearest_probabilities(nearest, winners, boxes.labels, boxes.counts, calibration)
