"""`AdaptiveGFMM`: a limited number of boxes that follow the concept drift of a stream."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators.access import access_of, changes, reads
from hyperboxes._estimators.class_weight import (
    DECIDED_BY_WEIGHTS,
    check_class_weight,
    weight_probabilities,
)
from hyperboxes._estimators.streaming import (
    StreamClasses,
    label_array,
    learn_sample,
    make_row,
    warn_if_sorted,
)
from hyperboxes._estimators.validation import (
    CLASS_WEIGHT,
    COUNT,
    NUMBERS,
    check_fitted,
    check_not_huge,
    check_upper,
    unchanged_on_error,
    validate_samples,
)
from hyperboxes._kernels.adaptive import Settings
from hyperboxes._learning.adaptive import (
    learn_adaptively,
    learn_row,
    make_settings,
    predict_row_shares,
    predict_shares,
)
from hyperboxes._models.adaptive_state import AdaptiveState
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.records import NeighborBoxes


class AdaptiveModel(NamedTuple):
    """The state of the boxes, and the classes of the stream."""

    state: AdaptiveState
    labels: StreamClasses


@shared_docs
class AdaptiveGFMM(ClassifierMixin, BaseEstimator):
    """A classifier with a limited number of boxes that follows concept drift in endless streams.

    Each sample joins a near and recent box of its class, or becomes a box. Beyond `max_boxes`, the
    box that was matched longest ago is evicted. To predict, the nearest boxes of several horizons
    (those matched by the last 32, 128 or 512 samples, and all) vote, and horizons that were right
    recently have larger weights. After a sudden change recent boxes outvote the old ones; without
    drift all of them count. Features are scaled by their recent spread, and weighted by how well
    they have recently separated the classes.

    Parameters
    ----------
    theta : float, default=0.05
        Maximum side of a box, as a fraction of each feature's recent range (that of a uniform
        distribution with the same standard deviation). Larger boxes are fewer and read better.
    max_boxes : int, default=1000
        The maximum number of boxes. More boxes take more time and, without concept drift, predict
        slightly better.
    class_weight : dict or "balanced", default=None
        How much each class counts, by its label: its share of the votes is multiplied with it.
        "balanced": in inverse proportion to the samples of the classes in the boxes.

    Attributes
    ----------
    hyperboxes_ : Hyperboxes
        The boxes, oldest first, in data units: arrays `lower`, `upper`, `labels` and `counts`.
    box_ages_ : ndarray of int, shape (n_boxes,)
        The number of samples learned since each box was last matched.
    horizon_scores_ : ndarray of shape (4, 4)
        How often the experts were right recently: a row for each horizon (32, 128, 512, all), a
        column for each number of neighbors (1, 3, 7, 15).
    feature_weights_ : ndarray of shape (n_features,)
        The weight of each feature in distances: 1 for the one that separates the classes best, at
        least 0.1.
    data_min_, data_max_ : ndarray of shape (n_features,)
        The recent range of each feature, of which `theta` is a fraction.
    n_samples_seen_ : int
        The number of samples learned.
    classes_ : ndarray of shape (n_classes,)
        The labels seen or announced so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` has columns with names.

    See Also
    --------
    ImprovedOnlineGFMM : Learns sample by sample, and evicts boxes only with `max_boxes`.

    Notes
    -----
    `fit` learns the samples in their order as well: the last ones count most, and it warns if they
    are sorted by class. Any division into batches gives the same model. :doc:`/algorithms` has the
    definition.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperboxes import AdaptiveGFMM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((2000, 2))
    >>> y = X[:, 0] > X[:, 1]
    >>> y[1000:] = ~y[1000:]  # a sudden drift
    >>> model = AdaptiveGFMM().partial_fit(X[:1000], y[:1000])
    >>> model.partial_fit(X[1000:1200], y[1000:1200]).score(X[1200:], y[1200:]) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "theta": [Interval(Real, 0, None, closed="neither")],
        "max_boxes": COUNT,
        "class_weight": CLASS_WEIGHT,
    }

    n_features_in_: int
    _model: AdaptiveModel

    def __init__(
        self, theta: float = 0.05, *, max_boxes: int = 1000, class_weight: Any = None
    ) -> None:
        self.theta = theta
        self.max_boxes = max_boxes
        self.class_weight = class_weight

    @changes
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, X_upper: Any = None) -> Self:
        """Learn from scratch, in the order of the samples.

        Parameters
        ----------
        {learned}
        y : array-like of shape (n_samples,)
            Class labels.
        {interval_ends}

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._learn(X, y, None, X_upper, is_first=True)
        warn_if_sorted(np.asarray(y).ravel())
        return self

    @changes
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, X_upper: Any = None) -> Self:
        """Update the model with more samples, in their order.

        Parameters
        ----------
        {learned}
        y : array-like of shape (n_samples,)
            Class labels. Those that were not seen before become new classes.
        classes : array-like of shape (n_classes,), default=None
            Labels that will appear, if you want ``classes_`` to have them from the start.
        {interval_ends}

        {goes_on}
        """
        return self._learn(X, y, classes, X_upper, is_first=not hasattr(self, "_model"))

    def _learn(self, X: Any, y: Any, classes: Any, X_upper: Any, *, is_first: bool) -> Self:
        with unchanged_on_error(self):
            X, y = validate_samples(self, X, y, reset=is_first, **NUMBERS)
            upper = check_upper(self, X, X_upper)
            check_not_huge(self, X, upper)
            labels = StreamClasses.none() if is_first else self._model.labels
            labels = labels.with_labels(y, classes)
            check_class_weight(self.class_weight, labels.classes)
        self._set_model(AdaptiveState(X.shape[1]) if is_first else self._model.state, labels)
        learn_adaptively(X, upper, labels.encode(y), self._model.state, self._settings())
        return self

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn a single sample, as river's models do.

        {learn_one}
        """
        learn_sample(self, x, y, self._learn_row)

    def predict_one(self, x: Any) -> Any:
        """Return the label of a single sample, as river's models do.

        {predict_one}
        """
        shares = self.predict_proba_one(x)
        return max(shares, key=shares.__getitem__) if shares else None

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probabilities of the classes for a single sample, as river's models do.

        {predict_proba_one}
        """
        if not self.__sklearn_is_fitted__():
            return {}
        with access_of(self).turn:
            state, labels = self._model
            shares = predict_row_shares(make_row(self, x), state, self.theta, self.max_boxes)
        codes = labels.codes
        proba = {
            label: shares[codes[label]] if label in codes else 0.0 for label in labels.sorted_labels
        }
        if self.class_weight is None:
            return proba
        weighted = self._weight(np.array([list(proba.values())]))
        return dict(zip(proba, weighted[0].tolist(), strict=True))

    def _learn_row(self, row: np.ndarray, label: Any) -> None:
        is_first = not hasattr(self, "_model")
        labels = StreamClasses.none() if is_first else self._model.labels
        try:
            code = labels.codes.get(label)
        except TypeError:
            raise ValueError(f"y is {label!r}, which is not a label.") from None
        if code is None:
            labels = labels.with_labels(label_array(label))
            code = labels.codes[label]
            self._set_model(AdaptiveState(row.shape[1]) if is_first else self._model.state, labels)
        learn_row(row, code, self._model.state, self.theta, self.max_boxes)

    @changes
    def _add_features(self, n_features: int) -> None:
        """Add features, whose values are missing so far."""
        if hasattr(self, "_model"):
            self._model.state.add_features(n_features)
        self.n_features_in_ += n_features

    def _set_model(self, state: AdaptiveState, labels: StreamClasses) -> None:
        """Set the model, with room for labels that are new, in a single step."""
        self._model = AdaptiveModel(state.with_labels(len(labels.appeared)), labels)

    def _settings(self) -> Settings:
        return make_settings(self.theta, self.max_boxes)

    @reads
    def predict(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the class with the largest share of the experts' votes for each sample.

        {predict}
        """
        winners = self.predict_proba(X, X_upper).argmax(axis=1)
        return self.classes_[winners]

    @reads
    def predict_proba(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the shares of the classes in the experts' votes.

        Where values are missing, these move to the classes' shares of the samples in the boxes.

        {predict_proba}
        """
        check_fitted(self)
        X = validate_samples(self, X, reset=False, **NUMBERS)
        upper = check_upper(self, X, X_upper)
        shares = np.zeros((len(X), len(self.classes_)))
        state, labels = self._model
        shares[:, labels.positions] = predict_shares(X, upper, state, self._settings())
        return self._weight(shares)

    def _weight(self, shares: np.ndarray) -> np.ndarray:
        """Return shares times the weights of the classes."""
        if self.class_weight is None:
            return shares
        return weight_probabilities(shares, self.class_weight, self.classes_, self.hyperboxes_)

    @property
    def _decided_otherwise(self) -> str:
        return "" if self.class_weight is None else DECIDED_BY_WEIGHTS

    def score(self, X: Any, y: Any, sample_weight: Any = None, X_upper: Any = None) -> float:
        """Return the accuracy of `predict` on the given samples.

        {tested}
        {interval_ends}
        {accuracy}
        """
        return float(accuracy_score(y, self.predict(X, X_upper), sample_weight=sample_weight))

    @property
    def classes_(self) -> np.ndarray:
        """The labels seen or announced so far."""
        return self._model.labels.classes

    @reads
    def _record(self) -> NeighborBoxes:
        """Return the fitted model as a record, which stays as it is when learning goes on."""
        return self._model.state.record(self._model.labels.positions, len(self.classes_))

    @property
    @reads
    def hyperboxes_(self) -> Hyperboxes:
        """The boxes in data units, oldest first."""
        check_is_fitted(self)
        return self._model.state.hyperboxes(self._model.labels.positions)

    @property
    @reads
    def box_ages_(self) -> np.ndarray:
        """The number of samples learned since each box was last matched."""
        check_is_fitted(self)
        confirmed = self._model.state.arrays.confirmed[self._model.state.by_age]
        return self._model.state.n_learned - 1 - confirmed

    @property
    def horizon_scores_(self) -> np.ndarray:
        """How often the experts were right recently, by horizon and number of neighbors."""
        check_is_fitted(self)
        return self._model.state.scores.copy()

    @property
    def feature_weights_(self) -> np.ndarray:
        """The weight of each feature in distances."""
        check_is_fitted(self)
        return self._model.state.arrays.weight.copy()

    @property
    def data_min_(self) -> np.ndarray:
        """The start of each feature's recent range."""
        check_is_fitted(self)
        return self._model.state.arrays.mean - self._model.state.ranges / 2

    @property
    def data_max_(self) -> np.ndarray:
        """The end of each feature's recent range."""
        check_is_fitted(self)
        return self._model.state.arrays.mean + self._model.state.ranges / 2

    @property
    def n_samples_seen_(self) -> int:
        """How many samples were learned."""
        check_is_fitted(self)
        return self._model.state.n_learned

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model") and len(self._model.state) > 0
