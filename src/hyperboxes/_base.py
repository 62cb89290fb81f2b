"""What all learners share: validation, scaling, fitted attributes and prediction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
from sklearn.utils.validation import check_is_fitted, validate_data

from hyperboxes._boxes import Boxes, Intervals, Samples, slices
from hyperboxes._hyperboxes import Hyperboxes
from hyperboxes._kernels import geometry, prediction
from hyperboxes._progress import FitProgress
from hyperboxes._scaling import MinMaxScale
from hyperboxes._validation import (
    check_finite_range,
    check_gamma,
    check_unit_range,
    check_upper,
    encode,
    find_labels,
    unchanged_on_error,
)

# Comparisons of a block in one dimension between two looks at Ctrl-C: some tenths of a second.
WORK_PER_CALL = 50_000_000

# Asking about fewer samples takes less time than starting a thread.
_ROWS_WORTH_A_THREAD = 1000

# What a fit leaves on the estimator.
_FITTED = ("n_features_in_", "feature_names_in_", "classes_", "_gamma", "_scale", "_boxes")


class BaseGFMM(CallbackSupportMixin, ClassifierMixin, BaseEstimator, ABC):
    """Base of the GFMM classifiers: a learner supplies `_learn`."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "theta": [Interval(Real, 0, None, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "selection": [StrOptions({"all", "lemma", "index"})],
        "scaling": [StrOptions({"minmax"}), None],
        "unlabeled": "no_validation",
        "n_jobs": [Integral, None],
    }

    theta: float
    gamma: Any
    selection: str
    overlap: str
    scaling: str | None
    unlabeled: Any
    n_jobs: int | None

    n_features_in_: int
    classes_: np.ndarray
    _gamma: np.ndarray
    _scale: MinMaxScale | None
    _boxes: Boxes

    @abstractmethod
    def _learn(self, samples: Samples, model: dict[str, Any], progress: FitProgress) -> None:
        """Learn the samples into `model["_boxes"]`."""

    def _rule(self, gamma: np.ndarray, floor: float = 0.0) -> tuple[float, np.ndarray, float, bool]:
        """Return theta, gamma, the least value of a candidate, and whether to look everywhere."""
        theta = float(self.theta)
        if self.selection == "lemma":
            floor = max(floor, 1.0 - theta * gamma.max())
        return theta, gamma, floor, self.selection != "index"

    def _overlap_test(self) -> int:
        """Return the kernels' name for the overlap test."""
        return {"closed": geometry.CLOSED, "paper": geometry.PAPER}[self.overlap]

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, X_upper: Any = None) -> Self:
        """Learn the boxes from scratch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples; the lower ends where samples are intervals. NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Class labels, or `unlabeled`.
        X_upper : array-like of shape (n_samples, n_features), default=None
            The upper ends of interval samples. None: samples are points.

        Returns
        -------
        self : object
            The fitted estimator. If the fit is interrupted, it is left unfitted.
        """
        with unchanged_on_error(self):
            lower, upper, y = self._validate_samples(X, y, X_upper, reset=True)
            classes = self._find_classes(y)
            model = self._new_model(lower, upper, classes)
        for name in _FITTED:
            if name in vars(self):
                model.setdefault(name, self.__dict__.pop(name))
        self._train(model, lower, upper, y)
        model["_boxes"].pack()
        self.__dict__.update(model)
        return self

    def _validate_samples(
        self, X: Any, y: Any, X_upper: Any, *, reset: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X, y = validate_data(
            self, X, y, reset=reset, dtype=np.float64, order="C", ensure_all_finite="allow-nan"
        )
        upper = check_upper(self, X, X_upper)
        if self.scaling is None:
            check_unit_range(self, X, upper)
        return X, upper, y

    def _find_classes(self, y: np.ndarray) -> np.ndarray:
        """Return the labels there are."""
        _, labels = find_labels(y, self.unlabeled)
        if len(labels) == 0:
            raise ValueError(
                f"y holds no label: every value is {self.unlabeled!r}, which says that there is "
                "none. To find groups in such data, cluster it."
            )
        check_classification_targets(labels)
        return np.unique(labels)

    def _new_model(
        self, lower: np.ndarray, upper: np.ndarray, classes: np.ndarray
    ) -> dict[str, Any]:
        """Return the fitted attributes of a model that has learned nothing yet but the ranges."""
        n_features = lower.shape[1]
        scale = None
        if self.scaling == "minmax":
            scale = MinMaxScale.learn(lower, upper)
            check_finite_range(self, scale.low, scale.high)
        return {
            "classes_": classes,
            "_gamma": check_gamma(self.gamma, n_features),
            "_scale": scale,
            "_boxes": Boxes(n_features, len(classes)),
        }

    def _train(
        self,
        model: dict[str, Any],
        lower: np.ndarray,
        upper: np.ndarray,
        y: np.ndarray,
    ) -> None:
        """Hand the samples to the learner; `model` is updated as it goes."""
        self.__dict__.pop("_hyperboxes", None)
        progress = FitProgress(self, lower, y, upper, model)
        codes = encode(y, model["classes_"], self.unlabeled)
        self._learn(Samples(lower, upper, model["_scale"], codes), model, progress)

    def predict(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the class of the box with the largest membership for each sample.

        Where boxes of several classes tie: a box that holds the sample and has absorbed a single
        training sample wins, else the class whose tied boxes have absorbed the most samples, then
        the first class. Beyond the reach of all boxes (every membership 0) the nearest box wins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, or the lower ends of interval samples; values outside the range of the
            training data are fine, and so is NaN for missing ones.
        X_upper : array-like of shape (n_samples, n_features), default=None
            The upper ends of interval samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted labels.
        """
        winners = self._ask_boxes(X, X_upper, self._winners, winners_only=True)
        return self.classes_[winners]

    def predict_proba(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the classes' memberships, normalised so that each row sums to 1.

        The largest entry is that of `predict`. Classes that tie for it share by how many training
        samples their tied boxes hold. Beyond the reach of all boxes inverse distances are used.

        Parameters
        ----------
        X, X_upper : array-like of shape (n_samples, n_features)
            As in `predict`.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._ask_boxes(X, X_upper, self._probabilities, winners_only=False)

    def membership(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the fuzzy class outputs: each class's largest membership over its boxes.

        Parameters
        ----------
        X, X_upper : array-like of shape (n_samples, n_features)
            As in `predict`.

        Returns
        -------
        c : ndarray of shape (n_samples, n_classes)
            Degrees from 0 to 1; 1 where a box of the class holds the sample. They are not
            normalised.
        """
        return self._ask_boxes(
            X, X_upper, lambda best, *_: np.maximum(best, 0.0), winners_only=False
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None, X_upper: Any = None) -> float:
        """Return the accuracy of `predict` on the given samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Test samples.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples in the mean.
        X_upper : array-like of shape (n_samples, n_features), default=None
            The upper ends of interval samples.

        Returns
        -------
        score : float
            Mean accuracy.
        """
        return float(accuracy_score(y, self.predict(X, X_upper), sample_weight=sample_weight))

    @property
    def hyperboxes_(self) -> Hyperboxes:
        """The boxes in data units."""
        check_is_fitted(self)
        if "_hyperboxes" not in vars(self):
            boxes = self._boxes
            lower, upper = boxes.lower.copy(), boxes.upper.copy()
            if self._scale is not None:
                lower, upper = self._scale.restore(lower), self._scale.restore(upper)
            labels = np.where(boxes.labels < boxes.n_classes, boxes.labels, -1)
            self._hyperboxes = Hyperboxes(lower, upper, labels, boxes.counts.copy())
        return self._hyperboxes

    @property
    def data_min_(self) -> np.ndarray:
        """What scaling maps to 0 in each feature."""
        check_is_fitted(self)
        return np.zeros(self.n_features_in_) if self._scale is None else self._scale.low.copy()

    @property
    def data_max_(self) -> np.ndarray:
        """What scaling maps to 1 in each feature, where it is more than `data_min_`."""
        check_is_fitted(self)
        return np.ones(self.n_features_in_) if self._scale is None else self._scale.high.copy()

    @property
    def n_candidates_(self) -> int:
        """How many boxes or pairs were tried; as the paper counts, unless `selection="index"`."""
        check_is_fitted(self)
        return self._boxes.n_candidates

    def _with_boxes(self, boxes: Boxes) -> Self:
        """Return a fitted model that differs in its boxes only."""
        twin = clone(self)
        vars(twin).update({name: vars(self)[name] for name in _FITTED if name in vars(self)})
        twin._boxes = boxes
        return twin

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_boxes") and len(self._boxes) > 0

    def _ask_boxes(
        self,
        X: Any,
        X_upper: Any,
        answer: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
        *,
        winners_only: bool,
    ) -> np.ndarray:
        """Turn what the nearest boxes of each class say into one answer per sample."""
        check_is_fitted(self)
        if not self._boxes.has_labels:
            raise ValueError(
                "No box has a label yet, so there is nothing to predict: call partial_fit with "
                "labelled samples."
            )
        X = validate_data(
            self, X, reset=False, dtype=np.float64, order="C", ensure_all_finite="allow-nan"
        )
        intervals = Intervals(X, check_upper(self, X, X_upper), self._scale)

        def ask(rows: slice) -> np.ndarray:
            return answer(*self._find_nearest(*intervals.scaled(rows), winners_only))

        n_jobs = effective_n_jobs(self.n_jobs) if len(X) > _ROWS_WORTH_A_THREAD else 1
        batches = slices(len(X), _rows_at_once(len(X), n_jobs, len(self.classes_)))
        if n_jobs == 1:
            answers = [ask(rows) for rows in batches]
        else:  # joblib's own threads take some 15 ms to hand over the first answer
            with ThreadPoolExecutor(n_jobs) as pool:
                answers = list(pool.map(ask, batches))
        return np.concatenate(answers)

    def _find_nearest(
        self, xl: np.ndarray, xu: np.ndarray, winners_only: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what `nearest_by_class` finds."""
        shape = len(xl), len(self.classes_)
        nearest = np.empty(shape), np.empty(shape, np.int64), np.empty(shape, np.int64)
        how = self._boxes.arrays, self._gamma, winners_only, WORK_PER_CALL
        row = 0
        while row < len(xl):
            row = prediction.nearest_by_class(xl, xu, row, *how, *nearest)
        return nearest

    def _winners(self, best: np.ndarray, votes: np.ndarray, single: np.ndarray) -> np.ndarray:
        winner = np.empty(len(best), np.int64)
        prediction.winners(best, votes, single, len(self._boxes), winner)
        return winner

    def _probabilities(self, best: np.ndarray, votes: np.ndarray, single: np.ndarray) -> np.ndarray:
        shares = np.empty(best.shape)
        winner = self._winners(best, votes, single)
        prediction.probabilities(best, votes, single, len(self._boxes), winner, shares)
        return shares


def _rows_at_once(n_rows: int, n_jobs: int, n_classes: int) -> int:
    """Bound the memory of what the boxes say, and give threads several turns each."""
    by_memory = max(1, 500_000 // n_classes)
    by_turns = -(-n_rows // (4 * n_jobs)) if n_jobs > 1 else n_rows
    return min(by_memory, by_turns)
