"""Classifiers whose samples may be intervals: what scikit-learn's mixin has, with `X_upper`."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from hyperboxes._estimators.docs import shared_docs


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
