"""What all estimators share: validation, scaling, fitted attributes and asking the boxes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, clone
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hyperboxes._estimators.validation import (
    check_finite_range,
    check_fitted,
    check_gamma,
    check_ranges,
    check_unit_range,
    check_upper,
    validate_samples,
)
from hyperboxes._kernels import prediction
from hyperboxes._kernels.records import Rule
from hyperboxes._learning.callbacks import FitCallbacks
from hyperboxes._learning.rules import SELECTIONS, make_rule
from hyperboxes._learning.threads import Threads
from hyperboxes._models.boxes import WORK_PER_CALL, Boxes
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.membership import FUNCTIONS, Membership
from hyperboxes._models.model import BoxModel
from hyperboxes._models.records import NearestBoxes
from hyperboxes._models.samples import Intervals, Samples, slices
from hyperboxes._models.scaling import MinMaxScale

# Asking about fewer samples takes less time than starting a thread.
_ROWS_WORTH_A_THREAD = 1000

# How samples are validated.
NUMBERS = {"dtype": np.float64, "order": "C", "ensure_all_finite": "allow-nan"}

# What scikit-learn's validation and `fit` set beside the model.
_OF_THE_DATA = ("n_features_in_", "feature_names_in_", "classes_", "_categories")

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

    def _make_rule(self, model: BoxModel, **pieces: Any) -> Rule:
        """Return the rule that kernels learn by: the pieces all learners share, and others."""
        return make_rule(
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
        return BoxModel(Boxes(n_features, n_classes), scale, membership)

    def _fit(self, model: BoxModel, samples: Samples, y: np.ndarray | None) -> None:
        """Learn the samples from scratch; if that is interrupted, the estimator is unfitted."""
        of_the_data = {name: self.__dict__.pop(name) for name in _OF_THE_DATA if name in vars(self)}
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
        self._train(self._model, samples, y, self._of_the_data())

    def _of_the_data(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in _OF_THE_DATA if name in vars(self)}

    def _with_boxes(self, boxes: Boxes) -> Self:
        """Return a fitted estimator that differs in its boxes only."""
        model = self._model.with_boxes(boxes)
        if model.calibration is not None:
            model.calibration = model.calibration.resumed(boxes.n_seen)
        twin = clone(self)
        vars(twin).update(self._of_the_data(), _model=model)
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
            row = prediction.nearest_boxes(xl, xu, labels, row, *asked, ids, gaps, found, used)
        return found


def _rows_at_once(n_rows: int, n_jobs: int, n_values: int) -> int:
    """Bound the memory of what the boxes say, and give threads several turns each."""
    by_memory = max(1, 500_000 // n_values)
    by_turns = -(-n_rows // (4 * n_jobs)) if n_jobs > 1 else n_rows
    return min(by_memory, by_turns)
