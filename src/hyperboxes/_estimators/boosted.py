"""`BoostedHyperboxes`: a few short boxes with weights, found by boosting."""

from collections.abc import Iterator
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import Tags, check_random_state, compute_sample_weight
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators import validation
from hyperboxes._estimators.categorical import CATEGORICAL_FEATURES, list_categories
from hyperboxes._estimators.devices import is_on_device, return_like, validate_on_device
from hyperboxes._kernels import additive
from hyperboxes._learning.boosting import BoostingRun, Settings, Training, fit_boosted, total_of
from hyperboxes._learning.cells import in_batches
from hyperboxes._learning.steps import Threads
from hyperboxes._models.array_api import additive_scores
from hyperboxes._models.hyperboxes import WeightedHyperboxes, list_conditions
from hyperboxes._models.records import AdditiveBoxes

_NUMBERS = {"dtype": [np.float64, np.float32], "order": "C", "ensure_all_finite": "allow-nan"}

# A sum of weights below this leaves no digits for those of single samples.
_LEAST_WEIGHT = 1e-200

# Predicting fewer samples takes less time than starting a thread.
_ROWS_WORTH_A_THREAD = 1000
_BLOCK = 512  # samples whose values stay in the processor's cache

# Up to so many boxes they are found one by one and all votes are corrected after each.
_MOST_TO_READ = 100

# Beyond, many boxes at a time are found in so many samples or more.
_MANY_SAMPLES = 2500
_SAMPLES_PER_BOX = 2


@shared_docs
class BoostedHyperboxes(ClassifierMixin, BaseEstimator):
    """A few boxes with weights that add up to scores, found one after the other by boosting.

    A model is a list of boxes, each with conditions on a few features, and an intercept for each
    class. A sample's score for a class is the intercept plus the weights of the boxes that contain
    the sample; scores become probabilities by softmax. Tens of boxes make a model to read, hundreds
    one to predict with.

    Parameters
    ----------
    max_boxes : int or "auto", default=20
        The maximum number of boxes. Up to 100, all weights are fitted again after each new box, and
        so are the bounds of the previous box. Beyond 100, boxes are found in several runs, whose
        scores are averaged, or, from 2,500 samples on, many at a time: more accurate, but too many
        to read. "auto" is for accuracy: half the number of samples, at least 1,000 and at most
        10,000.
    max_conditions : int or "auto", default="auto"
        The maximum number of features that a box constrains, up to 60. "auto": 4, or 8 where many
        boxes are found at a time.
    learning_rate : float, default="auto"
        The factor that shrinks the weights of a new box. "auto": 1 up to 100 boxes; beyond, 60 by
        the number of boxes of a run, at least 0.4 and at most 1. Where many are found at a time:
        the root of 500 by the number of boxes, at least 0.2 and at most 0.5.
    subsample : float, default="auto"
        The share of the samples on which a box is searched; the others judge it. "auto": 0.6 up to
        100 boxes, 0.3 beyond, 0.5 where many are found at a time. At most 20,000 samples are looked
        at for a box, 50,000 beyond.
    l2 : float, default="auto"
        Regularisation of the weights: it is added to a box's sum of p (1 - p). "auto": up to 100
        boxes, 40 for two classes and 10 for more; beyond, 20 and 5; where many are found at a time,
        5.
    early_stopping : bool, default=True
        Whether to leave out boxes that do not help on the samples that were not searched, and to
        stop when that has happened often (6 times up to 100 boxes, 60 times in a run beyond, 6
        times to all that were found at a time). There may be fewer boxes than `max_boxes` then.
    class_weight : dict or "balanced", default=None
        Weights of the classes, as in other scikit-learn classifiers.
    {categorical}
    random_state : int, RandomState instance or None, default=None
        The seed of the draws of samples and features. Pass an int for the same model each time.
    n_jobs : int, default=None
        How many threads to use; -1 for all cores. It does not change the model.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    hyperboxes_ : WeightedHyperboxes
        The boxes in the order found: ``lower`` and ``upper`` are infinite where a box does not
        constrain a feature, ``missing_shares`` are how far samples without a value meet it,
        ``weights`` are added to the scores, ``counts`` and ``class_counts`` are the training
        samples in the box. For two classes, a box has a weight for one of them.
    intercept_ : ndarray of shape (n_classes,)
        The scores of a sample that no box contains. For two classes, one is 0.
    feature_importances_ : ndarray of shape (n_features,)
        How much of the scores' spread over the training samples is due to each feature; they sum to
        1.
    {categories}
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had names.

    See Also
    --------
    AgglomerativeGFMM : Boxes that each belong to one class.

    Notes
    -----
    Features are put into at most 255 bins. Values in the same bin are treated as equal, so no
    scaling is needed. With more than 200,000 samples, bins and boxes are found on 200,000 drawn at
    random, and weights are fitted to all. Where many boxes are found at a time, 500,000 are drawn
    for both, which takes some 100 bytes a sample and 8 for each class. With thousands of features,
    or hundreds and several classes, each draw of samples searches some of them: half are the best
    so far, half are random. This bounds the time of a fit. Where a condition was learned without
    missing values, a sample that lacks the feature meets it in part: by the share of the training
    samples that do. The more values are missing, the closer the probabilities are to the class
    shares.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hyperboxes import BoostedHyperboxes
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostedHyperboxes(max_boxes=10, random_state=0).fit(X[:400], y[:400])
    >>> model.hyperboxes_
    WeightedHyperboxes(n_boxes=10, n_features=30, n_conditions=38)
    >>> print(f"{model.score(X[400:], y[400:]):.2f}")
    0.96
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_boxes": [*validation.COUNT, StrOptions({"auto"})],
        "max_conditions": [Interval(Integral, 1, 60, closed="both"), StrOptions({"auto"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "subsample": [Interval(Real, 0, 1, closed="neither"), StrOptions({"auto"})],
        "l2": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "early_stopping": ["boolean"],
        "class_weight": validation.CLASS_WEIGHT,
        "categorical_features": CATEGORICAL_FEATURES,
        "random_state": ["random_state"],
        "n_jobs": validation.N_JOBS,
    }

    classes_: np.ndarray
    n_features_in_: int
    _model: AdditiveBoxes
    _runs: list[BoostingRun]

    def __init__(
        self,
        max_boxes: Any = 20,
        *,
        max_conditions: Any = "auto",
        learning_rate: Any = "auto",
        subsample: Any = "auto",
        l2: Any = "auto",
        early_stopping: bool = True,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_boxes = max_boxes
        self.max_conditions = max_conditions
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.l2 = l2
        self.early_stopping = early_stopping
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the boxes and their weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights: a sample with a weight of 2 counts as two samples, one with 0 as none.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with validation.unchanged_on_error(self):
            X, _, y = self._validate_samples(X, y, None, sample_weight=sample_weight)
            classes, training = self._weigh(X, y, sample_weight)
            settings, n_bags = self._settings(len(classes), training.total)
            random = check_random_state(self.random_state)
            n_jobs = effective_n_jobs(self.n_jobs)
            model, runs = fit_boosted(training, settings, n_bags, random, n_jobs)
        self.__dict__.update(classes_=classes, _model=model, _runs=runs)
        return self

    def _validate_samples(
        self, X: Any, y: Any, X_upper: Any, *, sample_weight: Any = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return samples, which are points, as lower and upper ends, and labels."""
        if X_upper is not None:
            raise ValueError("BoostedHyperboxes takes no intervals: leave X_upper out.")
        X, y = validation.validate_samples(
            self, X, y, reset=True, sample_weight=sample_weight, **_NUMBERS
        )
        check_classification_targets(y)
        return X, X, y

    def _weigh(
        self, X: np.ndarray, y: np.ndarray, sample_weight: Any
    ) -> tuple[np.ndarray, Training]:
        """Return the classes, and the samples of positive weight."""
        weights = validation.check_weights(sample_weight, X)
        counts = weights > 0
        if not counts.all():
            X, y, weights = X[counts], y[counts], weights[counts]
        total = total_of(weights) if len(weights) else 0.0
        if self.class_weight is not None:
            weights = weights * compute_sample_weight(self.class_weight, y)
        with np.errstate(over="ignore"):
            has_sum = _LEAST_WEIGHT <= weights.sum() < np.inf
        if not (has_sum and (weights >= 0).all()):
            raise ValueError(
                "sample_weight times class_weight must not be negative and must have a finite sum "
                f"of at least {_LEAST_WEIGHT}, but it is between {weights.min()} and "
                f"{weights.max()}. Correct class_weight, or multiply sample_weight."
            )
        classes, labels = np.unique(y, return_inverse=True)
        return classes, Training(X, labels.astype(np.int32), weights, len(classes), total)

    def _settings(self, n_classes: int, n_samples: float) -> tuple[Settings, int]:
        """Return how to boost so many samples, and how often: what "auto" stands for."""
        max_boxes = self.max_boxes
        if max_boxes == "auto":
            max_boxes = int(min(max(n_samples / _SAMPLES_PER_BOX, 1000), 10_000))
        # To read, for accuracy, and for accuracy in many samples.
        mode = 0 if max_boxes <= _MOST_TO_READ else 1 + (n_samples >= _MANY_SAMPLES)
        n_bags = (1, min(max(round(max_boxes / 250), 2), 8), 1)[mode]
        size = -(-max_boxes // n_bags)

        def chosen(value: Any, *values: float) -> float:
            return values[mode] if value == "auto" else float(value)

        # Of two classes, h is up to 1 / 4 for each sample; of more it is less.
        l2 = chosen(self.l2, *((40.0, 20.0, 5.0) if n_classes == 2 else (10.0, 5.0, 5.0)))
        rates = 1.0, min(max(60 / size, 0.4), 1.0), min(max((500 / size) ** 0.5, 0.2), 0.5)
        settings = Settings(
            max_boxes=size,
            max_conditions=int(chosen(self.max_conditions, 4, 4, 8)),
            learning_rate=chosen(self.learning_rate, *rates),
            subsample=chosen(self.subsample, 0.6, 0.3, 0.5),
            l2=l2,
            ridge=l2 / n_classes,
            threshold=0.2 if n_classes > 2 else 0.0,
            n_draws=4 if mode == 0 else 1,
            n_groups=8 if mode == 0 else 4,
            n_sweeps=3 if mode == 0 else 0,
            column_share=0.3 if mode == 1 else 1.0,
            max_failures=60 if mode == 1 else 6,
            max_drawn=20_000 if mode == 0 else 50_000,
            must_help=self.early_stopping,
            n_leaves=max(int(min(size / 20, n_samples / 200, 64)), 8) if mode == 2 else 0,
        )
        return settings, n_bags

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest score for each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples; NaN where a value is missing.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted labels.
        """
        scores = self._scores(X)
        return return_like(X, self.classes_[scores.argmax(axis=1)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of `predict` on the given samples.

        {tested}
        {accuracy}
        """
        return float(super().score(X, y, sample_weight))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As in `predict`.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return return_like(X, softmax(self._scores(X) - self._model.shift, axis=1))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the classes: the intercept plus the weights of boxes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As in `predict`.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
            The logarithms of the probabilities up to a constant. For two classes there is one
            score, which is positive for the second.
        """
        scores = self._scores(X)
        if len(self.classes_) == 2:
            scores = scores[:, 1] - scores[:, 0]
        return return_like(X, scores)

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Return the probabilities after each box, which are those of a model with as many boxes.

        If boosting was done in several runs (large `max_boxes`), a stage adds a box to each.
        Missing values move the scores of all stages towards the classes' shares as in the model.
        Models that were saved and loaded have no stages.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As in `predict`.

        Yields
        ------
        p : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        if not hasattr(self, "_runs"):
            raise ValueError("A loaded model has no stages: fit it again to see them.")
        X = validation.validate_samples(self, X, reset=False, **_NUMBERS)
        contained = [_are_contained(X, run) for run in self._runs]
        for stage in range(1, 1 + max(run.path.n_stages for run in self._runs)):
            scores = np.zeros((len(X), len(self.classes_)))
            for (_, path), inside in zip(self._runs, contained, strict=True):
                at = min(stage, path.n_stages)
                scores += path.intercepts[at] + inside[:, path.indices_at(at)] @ path.votes_at(at)
            scores /= len(self._runs)
            self._model.move_scores(scores, X)
            yield softmax(scores, axis=1)

    def _scores(self, X: Any) -> np.ndarray:
        """Return the intercepts plus the weights of boxes, moved by what samples lack."""
        validation.check_fitted(self)
        if is_on_device(X):
            return additive_scores(self._model, validate_on_device(self, X).lower)
        X = validation.validate_samples(self, X, reset=False, **_NUMBERS)
        boxes = self._model
        conditions = list_conditions(boxes.lower, boxes.upper, boxes.missing_shares)
        scores = np.tile(boxes.intercept, (len(X), 1))
        n_jobs = effective_n_jobs(self.n_jobs) if len(X) > _ROWS_WORTH_A_THREAD else 1

        def add(start: int, stop: int) -> None:
            sums, columns = scores[start:stop], np.ascontiguousarray(X[start:stop].T)
            additive.add_votes(columns, conditions, boxes.weights, np.empty(_BLOCK), sums)
            boxes.move_scores(sums, X[start:stop])

        with Threads(n_jobs) as threads:
            in_batches(add, len(X), threads)
        return scores

    @property
    def categories_(self) -> dict[Any, list[Any]]:
        """The values of each categorical feature, by its name or index."""
        check_is_fitted(self)
        return list_categories(self)

    @property
    def hyperboxes_(self) -> WeightedHyperboxes:
        """The boxes in the order found, in data units."""
        check_is_fitted(self)
        names = (field.name for field in fields(WeightedHyperboxes))
        return WeightedHyperboxes(**{name: getattr(self._model, name) for name in names})

    @property
    def intercept_(self) -> np.ndarray:
        """The scores of a sample that no box contains."""
        check_is_fitted(self)
        return self._model.intercept

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much of the scores' spread over the training samples is due to each feature."""
        check_is_fitted(self)
        return self._model.feature_importances

    def _record(self) -> AdditiveBoxes:
        """Return the fitted model as a record."""
        return self._model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _are_contained(X: np.ndarray, run: BoostingRun) -> np.ndarray:
    """Return which boxes of a run contain which samples, as numbers."""
    inside = np.zeros((len(X), len(run.path.boxes)))
    columns = np.ascontiguousarray(X.T)
    additive.add_votes(columns, run.conditions, np.eye(inside.shape[1]), np.empty(_BLOCK), inside)
    return inside
