"""The online learners as classifiers of river, for its pipelines, metrics and evaluations.

Features may come and go, and classes appear at any time, as river's models take it. The extra
`river` installs what it takes: ``pip install 'hyperboxes[river]'``.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import numpy as np

from hyperboxes._estimators import adaptive, online
from hyperboxes._estimators.streaming import check_value, label_array, union_of_labels
from hyperboxes._extras import need

try:
    from river import base
except ImportError:
    need("river", "river", "hyperboxes.river")  # names the extra that installs it
    raise

__all__ = ["AdaptiveGFMM", "ImprovedOnlineGFMM", "OnlineGFMM"]


class _BoxClassifier(base.Classifier):
    """What the classifiers share: features by name, which may come and go."""

    _estimator: ClassVar[type]

    def __init__(self) -> None:
        self._names: dict[Hashable, int] = {}
        self._model: Any = None

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def model(self) -> Any:
        """The fitted estimator of `hyperboxes`, to be read or saved; None before any sample.

        It has the features by number: ``feature_names`` lists their names.
        """
        return self._model

    @property
    def feature_names(self) -> list[Hashable]:
        """The names of the model's features, in their order."""
        return list(self._names)

    def _make_model(self) -> Any:
        """Return an estimator that has learned nothing, which has the parameters of the same name.

        Only `warm_up` is not one of them.
        """
        parameters = self._get_params()
        parameters.pop("warm_up", None)
        return self._estimator(**parameters)

    def predict_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> Any:
        """Return the most likely label, None before any was learned."""
        return None if self._model is None else self._model.predict_one(self._values(x))

    def predict_proba_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probabilities of all labels so far."""
        return {} if self._model is None else self._model.predict_proba_one(self._values(x))

    def _values(self, x: Mapping[Hashable, Any]) -> list[Any]:
        """Return the features in order; others than those that are known are ignored."""
        return [x.get(name) for name in self._names]

    def _number_features(self, names: Any) -> int:
        """Give numbers to features that are new, in an order that is not the dictionary's."""
        new = sorted((name for name in names if name not in self._names), key=str)
        for name in new:
            self._names[name] = len(self._names)
        return len(new)


class AdaptiveGFMM(_BoxClassifier, base.MiniBatchClassifier):
    """A bounded memory of boxes that follows drift.

    See :class:`hyperboxes.AdaptiveGFMM`. Features that appear later are added.

    Parameters
    ----------
    theta, max_boxes
        As there.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from hyperboxes.river import AdaptiveGFMM
    >>> evaluate.progressive_val_score(datasets.Phishing(), AdaptiveGFMM(), metrics.Accuracy())
    Accuracy: 89.75%
    """

    _estimator = adaptive.AdaptiveGFMM

    def __init__(self, theta: float = 0.05, max_boxes: int = 1000) -> None:
        super().__init__()
        self.theta = theta
        self.max_boxes = max_boxes

    def learn_one(self, x: Mapping[Hashable, Any], y: Any) -> None:
        """Learn a sample."""
        self._include_features(x)
        self._model.learn_one(self._values(x), y)

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a data frame, in their order: the same as one by one, and faster."""
        self._include_features(X.columns)
        self._model.partial_fit(self._table(X), np.asarray(y))

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probabilities of all labels so far for each row of a data frame."""
        pandas = need("pandas", "pandas", "predict_proba_many")
        if self._model is None:
            return pandas.DataFrame(index=X.index)
        shares = self._model.predict_proba(self._table(X))
        return pandas.DataFrame(shares, index=X.index, columns=self._model.classes_)

    def _include_features(self, names: Any) -> None:
        """Add features that are new to the names and the model."""
        if self._model is None or not all(name in self._names for name in names):
            n_new = self._number_features(names)
            if self._model is None:
                self._model = self._make_model()
            elif hasattr(self._model, "n_features_in_"):
                self._model._add_features(n_new)
            self._model._names = None, self._names  # for errors

    def _table(self, X: Any) -> np.ndarray:
        lacks = np.full(len(X), np.nan)
        columns = [X[name] if name in X.columns else lacks for name in self._names]
        return np.column_stack(columns)


class _WarmedUp(_BoxClassifier):
    """Learners that must see some samples before they begin, to learn the features' ranges."""

    def __init__(self, warm_up: int) -> None:
        super().__init__()
        self.warm_up = warm_up
        self._first: list[tuple[dict[Hashable, Any], Any]] = []

    def learn_one(self, x: Mapping[Hashable, Any], y: Any) -> None:
        """Learn a sample; the first ones are collected and then learned together."""
        if self._model is not None:
            self._model.learn_one(self._values(x), y)
            return
        for name, value in x.items():
            check_value(name, value)
        union_of_labels(np.array([label for _, label in self._first]), label_array(y))
        self._first.append((dict(x), y))
        if len(self._first) >= self.warm_up:
            self._begin()

    def _begin(self) -> None:
        for x, _ in self._first:
            self._number_features(x)
        rows = np.array([self._values(x) for x, _ in self._first], np.float64)
        labels = np.array([y for _, y in self._first])
        model = self._make_model()
        model.partial_fit(rows, labels, classes=np.unique(labels))
        model._names = None, self._names
        self._model, self._first = model, []

    def predict_proba_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probabilities of all labels so far."""
        if self._model is not None:
            return super().predict_proba_one(x)
        counts = Counter(y for _, y in self._first)
        return {label: count / len(self._first) for label, count in counts.items()}

    def predict_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> Any:
        """Return the most likely label, None before any was learned."""
        if self._model is not None:
            return super().predict_one(x)
        shares = self.predict_proba_one(x)
        return max(shares, key=shares.__getitem__, default=None)


class ImprovedOnlineGFMM(_WarmedUp):
    """Improved online learning of a general fuzzy min-max network.

    See :class:`hyperboxes.ImprovedOnlineGFMM`. Features that appear after the first `warm_up`
    samples are ignored.

    Parameters
    ----------
    theta, membership_function, overlap, max_boxes
        As there.
    warm_up
        How many samples to collect before learning begins: the features' ranges are theirs.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from hyperboxes.river import ImprovedOnlineGFMM
    >>> model = ImprovedOnlineGFMM(theta=0.2)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 87.67%
    """

    _estimator = online.ImprovedOnlineGFMM

    def __init__(
        self,
        theta: float = 0.5,
        membership_function: str = "mean",
        overlap: str = "closed",
        max_boxes: int | None = None,
        warm_up: int = 100,
    ) -> None:
        super().__init__(warm_up)
        self.theta = theta
        self.membership_function = membership_function
        self.overlap = overlap
        self.max_boxes = max_boxes


class OnlineGFMM(_WarmedUp):
    """Original online learning of a general fuzzy min-max network.

    See :class:`hyperboxes.OnlineGFMM`. Features that appear after the first `warm_up` samples
    are ignored.

    Parameters
    ----------
    theta, membership_function, max_boxes
        As there.
    warm_up
        How many samples to collect before learning begins: the features' ranges are theirs.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from hyperboxes.river import OnlineGFMM
    >>> evaluate.progressive_val_score(datasets.Phishing(), OnlineGFMM(), metrics.Accuracy())
    Accuracy: 87.67%
    """

    _estimator = online.OnlineGFMM

    def __init__(
        self,
        theta: float = 0.2,
        membership_function: str = "mean",
        max_boxes: int | None = None,
        warm_up: int = 100,
    ) -> None:
        super().__init__(warm_up)
        self.theta = theta
        self.membership_function = membership_function
        self.max_boxes = max_boxes
