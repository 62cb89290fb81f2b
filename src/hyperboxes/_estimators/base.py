"""What nearest-box estimators share: validation, scale, fit, prediction and scores.

`BoxEstimator` is the base of clustering and classifiers, `BoxClassifier` that of classifiers.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hyperboxes._compat import CallbackSupportMixin
from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators import validation
from hyperboxes._estimators.access import access_of, reads
from hyperboxes._estimators.categorical import CATEGORICAL_FEATURES, list_categories
from hyperboxes._estimators.class_weight import (
    DECIDED_BY_WEIGHTS,
    check_class_weight,
    weight_probabilities,
)
from hyperboxes._estimators.devices import is_on_device, return_like, validate_on_device
from hyperboxes._kernels.structs import NO_LABEL, GrowthParameters
from hyperboxes._learning.calibration import Learn, cross_fit, score_thetas
from hyperboxes._learning.growth_parameters import SELECTIONS, make_growth_parameters
from hyperboxes._learning.steps import FitCallbacks, Threads
from hyperboxes._models.array_api import block_size, to_numpy
from hyperboxes._models.box_store import BoxStore
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.model import FUNCTIONS, BoxModel, Membership, ThetaPath
from hyperboxes._models.records import NearestBoxes
from hyperboxes._models.samples import Intervals, MinMaxScale, Samples, slices

# Predicting fewer samples takes less time than starting a thread.
_ROWS_WORTH_A_THREAD = 1000

# What is computed from the model on demand, and outdated when learning goes on.
_DERIVED = ("_hyperboxes", "_clusters", "labels_")

# The constraints of parameters that the main estimators share.
MAIN_CONSTRAINTS = {
    "theta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
    "decision": [StrOptions({"auto", "nearest"})],
}

# Lower and upper ends and labels of training samples.
_Training = tuple[np.ndarray, np.ndarray, Any]


class Weighted(NamedTuple):
    """Training samples, and how often each counts."""

    samples: _Training
    counts: np.ndarray


class BoxEstimator(CallbackSupportMixin, BaseEstimator, ABC):
    """Base of the estimators that learn boxes.

    Each supplies `_validate_samples`, `_learn` and `_label_boxes`. `_model` is all that is fitted.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "theta": [Interval(Real, 0, None, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "membership_function": [StrOptions(set(FUNCTIONS))],
        "selection": [StrOptions(set(SELECTIONS))],
        "scaling": [StrOptions({"minmax"}), "array-like", None],
        "n_jobs": validation.N_JOBS,
    }

    gamma: Any
    selection: str
    scaling: Any
    random_state: Any
    n_jobs: int | None

    # Estimators that lack one of these parameters behave as if it had this value.
    theta: Any = 0.0
    membership_function: str = "min"
    max_boxes: int | None = None
    calibrate: bool = False
    decision: str = "nearest"
    shuffle: bool = False
    unlabeled: Any = None
    class_weight: Any = None

    # Whether `predict` and its like take arrays of other libraries than NumPy.
    _takes_devices: bool = False

    n_features_in_: int
    classes_: np.ndarray
    _model: BoxModel

    @abstractmethod
    def _validate_samples(
        self, X: Any, y: Any, X_upper: Any, *, reset: bool = True, sample_weight: Any = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return training samples as lower and upper ends and labels; no labels for clustering."""

    @abstractmethod
    def _learn(self, samples: Samples, model: BoxModel, callbacks: FitCallbacks) -> None:
        """Learn the samples into the model's boxes."""

    @abstractmethod
    def _label_boxes(self) -> np.ndarray:
        """Return the labels of the boxes as users see them, -1 for none."""

    def _growth_options(self) -> dict[str, Any]:
        """Return the options of `make_growth_parameters` that not all estimators share."""
        return {}

    def _growth_parameters(self, model: BoxModel) -> GrowthParameters:
        theta = model.find_theta(self.theta)
        options = {"selection": self.selection, **self._growth_options()}
        return make_growth_parameters(model.membership, theta=theta, **options)

    def _new_model(self, lower: np.ndarray, upper: np.ndarray, n_classes: int) -> BoxModel:
        """Return a model without boxes, which has the ranges of the samples."""
        n_features = lower.shape[1]
        scale = None
        if self.scaling is not None:
            is_array = not isinstance(self.scaling, str)
            ranges = validation.check_ranges(self, n_features) if is_array else (lower, upper)
            scale = MinMaxScale.learn(*ranges)
            validation.check_finite_range(self, scale.low, scale.high)
        gamma = validation.check_gamma(self.gamma, n_features)
        membership = Membership(gamma, self.membership_function)
        return BoxModel(BoxStore(n_features, n_classes), scale, membership)

    def _samples(
        self,
        lower: np.ndarray,
        upper: np.ndarray,
        y: np.ndarray | None,
        scale: MinMaxScale | None,
        *,
        shuffle: bool = False,
        counts: np.ndarray | None = None,
    ) -> Samples:
        """Return training samples with the indices of their classes."""
        if y is None:
            labels = np.full(len(lower), NO_LABEL)
        else:
            labels = validation.encode(y, self.classes_, self.unlabeled)
        samples = Samples(lower, upper, scale, labels, counts=counts)
        return samples.shuffled(check_random_state(self.random_state)) if shuffle else samples

    def _fit(
        self, X: Any, y: Any, X_upper: Any, *, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn the samples from scratch; if that is interrupted, the estimator is unfitted.

        `classes` are given where the samples are one part of many.
        """
        with validation.unchanged_on_error(self):
            chooses_theta = isinstance(self.theta, str)
            if not chooses_theta and np.max(self.theta) > 1:
                warnings.warn(
                    f"theta={self.theta} does not limit boxes: theta is a fraction of the range "
                    "of each feature, so choose a value below 1, such as 0.3.",
                    stacklevel=5,
                )
            training = self._validate_samples(X, y, X_upper, sample_weight=sample_weight)
            (lower, upper, y), more = repeat_by_weight(training, sample_weight)
            if y is not None:
                self.classes_ = (
                    validation.find_classes(y, self.unlabeled) if classes is None else classes
                )
                check_class_weight(self.class_weight, self.classes_)
            model = self._new_model(lower, upper, 0 if y is None else len(self.classes_))
            if chooses_theta:
                model.theta_path = choose_theta(
                    self, training, sample_weight, model, shuffle=self.shuffle
                )
        samples = self._samples(lower, upper, y, model.scale, shuffle=self.shuffle)
        uncounted = None
        if more is not None:
            uncounted = self._samples(*more.samples, model.scale, counts=more.counts)
        attributes = validation.data_attributes(self)
        for name in (*attributes, *_DERIVED, "_model", "pruning_", "_label_runs"):
            self.__dict__.pop(name, None)
        self._calibrate(model, samples)
        self._learn(samples, model, self._callbacks(samples, y, model, attributes))
        if uncounted is not None:
            model.add_counts(uncounted)
        model.resume_calibration()
        model.boxes.pack()
        self.__dict__.update(attributes, _model=model)
        return self

    def _continue_fit(self, samples: Samples, y: np.ndarray | None) -> None:
        """Learn more samples; if that is interrupted, the first of them have been learned."""
        self._clear_derived()
        callbacks = self._callbacks(samples, y, self._model, validation.data_attributes(self))
        self._learn(samples, self._model, callbacks)

    def _callbacks(
        self, samples: Samples, y: np.ndarray | None, model: BoxModel, attributes: dict[str, Any]
    ) -> FitCallbacks:
        def snapshot() -> dict[str, Any]:
            return attributes | {"_model": model.with_boxes(model.boxes.settled())}

        return FitCallbacks(self, samples, y, snapshot)

    def _calibrate(self, model: BoxModel, samples: Samples) -> None:
        """Fit the calibration of probabilities, by cross-fitting, if there is to be one."""
        if self.calibrate:
            learns_decision = self.decision == "auto"
            model.calibration = cross_fit(
                samples, model, self._learn, learns_decision=learns_decision
            )

    def _clear_derived(self) -> None:
        for name in _DERIVED:
            self.__dict__.pop(name, None)

    def _with_boxes(self, boxes: BoxStore) -> Self:
        """Return a fitted estimator that differs in its boxes only."""
        model = self._model.with_boxes(boxes)
        model.resume_calibration()
        twin = clone(self)
        vars(twin).update(validation.data_attributes(self), _model=model)
        return twin

    @reads
    def _record(self) -> NearestBoxes:
        """Return the fitted model as a record, which stays as it is when learning goes on."""
        return self._model.record(self._label_boxes())

    @property
    @reads
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
        """Validate samples for prediction."""
        validation.check_fitted(self)
        X = validation.validate_samples(self, X, reset=False, **validation.NUMBERS)
        return Intervals(X, validation.check_upper(self, X, X_upper), self._model.scale)

    def _map_slices(
        self, function: Callable[[Intervals], np.ndarray], X: Any, X_upper: Any, n_values: int
    ) -> Any:
        """Return what a function returns for slices of samples, concatenated.

        `n_values` is how many numbers it needs for each sample, which bounds the slices. Results
        for samples on a device are there, too.
        """
        if self._takes_devices and is_on_device(X):
            on_device = validate_on_device(self, X, X_upper, self._model.scale)
            blocks = slices(on_device.lower.shape[0], block_size(len(self._model.boxes)))
            found = [function(on_device.part(rows)) for rows in blocks]
            return return_like(X, np.concatenate(found))
        intervals = self._intervals(X, X_upper)
        n_rows = len(intervals.lower)
        n_jobs = effective_n_jobs(self.n_jobs) if n_rows > _ROWS_WORTH_A_THREAD else 1
        parts = map(intervals.part, slices(n_rows, _slice_size(n_rows, n_jobs, n_values)))
        if n_jobs == 1:
            return np.concatenate(list(map(function, parts)))
        with Threads(n_jobs) as threads:  # joblib's take some 15 ms for the first result
            return np.concatenate(list(threads.map(function, parts)))


def repeat_by_weight(samples: _Training, sample_weight: Any) -> tuple[_Training, Weighted | None]:
    """Return samples, repeated by their weights, and those that weigh more than that."""
    if sample_weight is None:
        return samples, None
    rows, rest = validation.repeat_by_counts(validation.check_counts(sample_weight, samples[0]))
    more = np.flatnonzero(rest)
    return _take(samples, rows), Weighted(_take(samples, more), rest[more])


def choose_theta(
    estimator: BoxEstimator, training: _Training, weights: Any, model: BoxModel, *, shuffle: bool
) -> ThetaPath:
    """Return the scores of values of `theta`; samples that weigh more count more in them."""
    counts = None
    if weights is not None:
        counts = validation.check_counts(weights, training[0])
        rows = np.flatnonzero(counts)
        training, counts = _take(training, rows), counts[rows]
    samples = estimator._samples(*training, model.scale, counts=counts)
    if shuffle:  # folds draw orders of their own
        samples = samples.shuffled(np.random.RandomState(0))

    def learn_with(theta: float) -> Learn:
        trial = copy(estimator)
        trial.theta = theta
        return trial._learn

    learns_decision = estimator.calibrate and estimator.decision == "auto"
    return score_thetas(samples, model, learn_with, learns_decision)


def _take(samples: _Training, rows: np.ndarray) -> _Training:
    lower, upper, y = samples
    taken = lower[rows]
    return taken, taken if upper is lower else upper[rows], y[rows]


def _slice_size(n_rows: int, n_jobs: int, n_values: int) -> int:
    """Bound the memory of a slice, and give each thread several slices."""
    by_memory = max(1, 500_000 // n_values)
    by_turns = -(-n_rows // (4 * n_jobs)) if n_jobs > 1 else n_rows
    return min(by_memory, by_turns)


@shared_docs
class BoxClassifier(ClassifierMixin, BoxEstimator):
    """Base of the classifiers in which the nearest box decides: each supplies `_learn`."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoxEstimator._parameter_constraints,
        "calibrate": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
        "unlabeled": "no_validation",
        "class_weight": validation.CLASS_WEIGHT,
    }

    overlap: str
    calibrate: bool = True
    categorical_features: Any = None

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
        with access_of(self).changing():
            return self._fit(X, y, X_upper, sample_weight=sample_weight)

    def _validate_samples(
        self, X: Any, y: Any, X_upper: Any, *, reset: bool = True, sample_weight: Any = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Validate training samples; the categories of those of weight 0 are not learned."""
        validation.check_unlabeled(self.unlabeled)
        X, y = validation.validate_samples(
            self, X, y, reset=reset, sample_weight=sample_weight, **validation.NUMBERS
        )
        return X, validation.check_training_upper(self, X, X_upper), y

    def _recalibrate(self, lower: np.ndarray, upper: np.ndarray, y: np.ndarray) -> None:
        """Fit the calibration of probabilities again, with some of the samples."""
        scale = self._model.scale
        self._calibrate(self._model, self._samples(lower, upper, y, scale, shuffle=self.shuffle))
        self._model.resume_calibration()

    @property
    def theta_(self) -> float:
        """The maximum side of a box: `theta`, or what was chosen with ``theta="auto"``."""
        check_is_fitted(self)
        try:
            return self._model.find_theta(self.theta)
        except ValueError as error:
            raise AttributeError(str(error)) from error  # so that hasattr returns False

    @property
    def theta_path_(self) -> dict[str, np.ndarray] | None:
        """The scores by which `theta` was chosen, None if it was given."""
        check_is_fitted(self)
        path = self._model.theta_path
        return None if path is None else {k: v.copy() for k, v in path._asdict().items()}

    @property
    def n_neighbors_(self) -> int:
        """How many boxes of each class decide together."""
        check_is_fitted(self)
        return self._model.n_neighbors

    @property
    def categories_(self) -> dict[Any, list[Any]]:
        """The values of each categorical feature, by its name or index."""
        check_is_fitted(self)
        return list_categories(self)

    @reads
    def predict(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the predicted class of each sample: that of the box with the largest membership.

        Where several boxes of each class decide (``n_neighbors_ > 1``), it is the first class with
        the largest probability instead.

        Where boxes of several classes tie: a box that contains the sample and has absorbed a single
        training sample wins, else the class whose tied boxes have absorbed the most samples, then
        the first class. Beyond the reach of all boxes (every membership 0) the nearest box wins.

        {predict}
        """
        self._check_can_predict()
        model = self._model

        def classify(part: Intervals) -> np.ndarray:
            if self.class_weight is None:
                return self.classes_[model.classify(*part.scaled())]
            return self.classes_[_weighted_probabilities(self, part).argmax(axis=1)]

        return self._map_slices(classify, X, X_upper, len(self.classes_))

    def predict_proba(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the calibrated probability of each class.

        A probability falls with a power of the distance from the class's nearest box, or of a soft
        minimum of the distances from its `n_neighbors_` nearest; it is mixed with the class's share
        of the training samples. The power, the mixture, the unit of distance and `n_neighbors_` are
        calibrated: by `fit` in cross-validation on up to 3,000 samples, by `partial_fit` on samples
        before it learns them. The largest entry is that of `predict`.

        With ``calibrate=False``, probabilities are normalised memberships. `class_weight`
        multiplies them.

        {predict_proba}
        """

        def weighted(part: Intervals) -> np.ndarray:
            return _weighted_probabilities(self, part)

        with access_of(self).reading():
            self._check_can_predict()
            function = self._model.probabilities if self.class_weight is None else weighted
            return self._map_slices(function, X, X_upper, len(self.classes_))

    @reads
    def membership(self, X: Any, X_upper: Any = None, *, unlabeled: bool = False) -> np.ndarray:
        """Return the fuzzy class outputs: each class's largest membership over its boxes.

        {as_in_predict}
        {unlabeled_node}

        Returns
        -------
        c : ndarray of shape (n_samples, n_classes) or (n_samples, 1 + n_classes)
            Degrees from 0 to 1; 1 where a box of the class contains the sample. They are not
            normalised.
        """
        self._check_can_predict()
        model = self._model

        def memberships(part: Intervals) -> np.ndarray:
            xl, xu = part.scaled()
            degrees = np.maximum(model.find_nearest(xl, xu).scores, 0.0)
            if not unlabeled:
                return degrees
            xl, xu = to_numpy(xl), to_numpy(xu)
            return np.column_stack([model.unlabeled_membership(xl, xu), degrees])

        n_values = len(self.classes_)
        if unlabeled:
            boxes = model.boxes
            n_values += 1 + boxes.lower[boxes.labels == NO_LABEL].size
        return self._map_slices(memberships, X, X_upper, n_values)

    @reads
    def apply(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the nearest box of the predicted class for each sample.

        It is the one of the predicted class with the largest membership; of equals the one that has
        absorbed the most training samples, then the oldest. If a box of a single training sample
        resolves an overlap of classes, it is the oldest such box.

        {as_in_predict}

        Returns
        -------
        box : ndarray of shape (n_samples,)
            Indices into ``hyperboxes_``.
        """
        self._check_can_predict()
        used = np.zeros(len(self._model.boxes), np.bool_)

        def decide(part: Intervals) -> np.ndarray:
            xl, xu = map(to_numpy, part.scaled())
            return self._model.deciding_boxes(xl, xu, used)[0]

        return self._map_slices(decide, X, X_upper, len(self.classes_))

    def score(self, X: Any, y: Any, sample_weight: Any = None, X_upper: Any = None) -> float:
        """Return the accuracy of `predict` on the given samples.

        {tested}
        {interval_ends}
        {accuracy}
        """
        return float(accuracy_score(y, self.predict(X, X_upper), sample_weight=sample_weight))

    @property
    def _decided_otherwise(self) -> str:
        """What decides in `predict` where it is not the nearest box alone, as a clause."""
        return "" if self.class_weight is None else DECIDED_BY_WEIGHTS

    def _check_can_predict(self) -> None:
        validation.check_fitted(self)
        if not self._model.boxes.has_labels:
            raise ValueError(
                "No box has a label yet, so there is nothing to predict: call partial_fit with "
                "labelled samples."
            )

    def _label_boxes(self) -> np.ndarray:
        return self._model.boxes.labels.copy()


def _weighted_probabilities(classifier: BoxClassifier, part: Intervals) -> np.ndarray:
    model, classes = classifier._model, classifier.classes_
    found = model.probabilities(part)
    return weight_probabilities(found, classifier.class_weight, classes, model.boxes)
