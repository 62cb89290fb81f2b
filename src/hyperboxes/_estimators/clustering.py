"""Clustering: boxes without labels, and clusters of boxes that are near each other."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClusterMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators import validation
from hyperboxes._estimators.access import access_of, changes, reads
from hyperboxes._estimators.base import BoxEstimator
from hyperboxes._kernels import clusters
from hyperboxes._kernels.structs import NO_LABEL
from hyperboxes._learning.agglomeration import agglomerate_samples
from hyperboxes._learning.growth_parameters import SIMILARITIES
from hyperboxes._learning.online import learn_online
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.box_store import WORK_PER_CALL
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Intervals, Samples


def _learns_online(estimator: Any) -> bool:
    if estimator.algorithm == "online":
        return True
    raise AttributeError(
        f"Only algorithm='online' has partial_fit, not {estimator.algorithm!r}: use fit."
    )


@shared_docs
class BoxClustering(ClusterMixin, BoxEstimator):
    """Base of the clusterings: each supplies `_learn` and `_label_boxes`."""

    labels_: np.ndarray

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, X_upper: Any = None) -> Self:
        """Find clusters from scratch.

        Parameters
        ----------
        {learned}
        y : ignored
            Ignored; present for API consistency.
        {interval_ends}

        Returns
        -------
        self : object
            The fitted estimator. If the fit is interrupted, it is left unfitted.
        """
        with access_of(self).changing():
            self._fit(X, y, X_upper)
            self.labels_ = self.predict(X, X_upper)
        return self

    @reads
    def predict(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the cluster of the box with the largest membership for each sample.

        Of equals the one that has absorbed the most training samples wins, then the oldest. Beyond
        the reach of all boxes (every membership 0) the nearest box wins.

        Parameters
        ----------
        {samples_to_predict}

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Numbers of clusters, or -1 if the box is noise.
        """
        check_is_fitted(self)
        used = np.zeros(len(self._model.boxes), np.bool_)

        def find_boxes(part: Intervals) -> np.ndarray:
            labels = np.full(len(part.lower), NO_LABEL)
            return self._model.find_boxes(*part.scaled(), labels, used)

        return self._label_boxes()[self._map_slices(find_boxes, X, X_upper, 1)]

    @property
    def n_clusters_(self) -> int:
        """The number of clusters."""
        check_is_fitted(self)
        return int(self._label_boxes().max()) + 1

    def _validate_samples(
        self, X: Any, y: Any, X_upper: Any, *, reset: bool = True, sample_weight: Any = None
    ) -> tuple[np.ndarray, np.ndarray, None]:
        """Validate training samples, which have no labels, whatever `y` is."""
        X = validation.validate_samples(self, X, reset=reset, **validation.NUMBERS)
        return X, validation.check_training_upper(self, X, X_upper), None


@shared_docs
class HyperboxClustering(BoxClustering):
    """Clustering with hyperboxes: a general fuzzy min-max network without labels.

    Boxes grow as in the classifiers, limited only by `theta`. Boxes no farther apart than `max_gap`
    form a cluster, of any shape.

    Parameters
    ----------
    {theta}
    {gamma}
    {membership_function}
    {search}
    max_gap : float, default=None
        The largest gap between boxes of a cluster: that between their nearest faces, as a fraction
        of the feature's range times `gamma`, in the feature where it is largest (or the mean, with
        ``membership_function="mean"``). 0: they touch or overlap. None: half of `theta`.
    min_samples : int, default=1
        The number of samples of a dense box. Only dense boxes form clusters; others belong to that
        of the nearest dense box within `max_gap` (the oldest of equals), or are noise, with the
        label -1. With 1 there is no noise.
    algorithm : {"online", "agglo-sm", "agglo2"}, default="online"
        ``"online"``: each sample joins the box with the largest membership that it fits in, in one
        pass; `partial_fit` continues. ``"agglo-sm"`` and ``"agglo2"`` merge the most similar boxes,
        as :class:`AgglomerativeGFMM` does.
    {similarity}

    {attributes}
    labels_ : ndarray of shape (n_samples,)
        The clusters of the samples of `fit`, as `predict` returns them; not set by `partial_fit`.
    n_clusters_ : int
        The number of clusters.

    See Also
    --------
    ImprovedOnlineGFMM : A classifier, which accepts samples without a label.
    hyperboxes.literature.FuzzyMinMaxClustering : Simpson's clustering, in which each box is a
        cluster.

    Notes
    -----
    In ``hyperboxes_`` the label of a box is its cluster, -1 for noise. Clusters are numbered by
    their oldest dense box; `partial_fit` may join clusters.

    References
    ----------
    {paper}

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from hyperboxes import HyperboxClustering
    >>> X, _ = make_moons(300, noise=0.04, random_state=0)
    >>> model = HyperboxClustering(theta=0.1).fit(X)
    >>> model.n_clusters_
    2
    >>> model.predict([[-1.0, 0.0], [2.0, 0.5]])
    array([1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoxEstimator._parameter_constraints,
        "max_gap": [Interval(Real, 0, None, closed="left"), None],
        "min_samples": validation.COUNT,
        "algorithm": [StrOptions({"online", "agglo-sm", "agglo2"})],
        "similarity": [StrOptions(set(SIMILARITIES))],
        "min_similarity": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        theta: float = 0.1,
        *,
        max_gap: float | None = None,
        min_samples: int = 1,
        algorithm: str = "online",
        similarity: str = "longest",
        min_similarity: float = 0.0,
        gamma: Any = 1.0,
        membership_function: str = "min",
        selection: str = "index",
        scaling: Any = "minmax",
        n_jobs: int | None = None,
    ) -> None:
        self.theta = theta
        self.max_gap = max_gap
        self.min_samples = min_samples
        self.algorithm = algorithm
        self.similarity = similarity
        self.min_similarity = min_similarity
        self.gamma = gamma
        self.membership_function = membership_function
        self.selection = selection
        self.scaling = scaling
        self.n_jobs = n_jobs

    @available_if(_learns_online)
    @changes
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, X_upper: Any = None) -> Self:
        """Update the clusters with more samples, in their order (``algorithm="online"`` only).

        The first call learns the features' ranges (``scaling="minmax"``), so its batch should
        span them; pass known ranges as ``scaling=[lowest, highest]``. With these or
        ``scaling=None`` any batching gives the boxes of a single `fit`.

        Parameters
        ----------
        X, y, X_upper : array-like
            As in `fit`.

        Returns
        -------
        self : object
            The estimator, without ``labels_``: clusters may have been joined.
        """
        with validation.unchanged_on_error(self):
            is_first = not hasattr(self, "_model")
            lower, upper, _ = self._validate_samples(X, None, X_upper, reset=is_first)
            if is_first:
                self._model = self._new_model(lower, upper, n_classes=0)
                validation.warn_if_ranges_unknown(self, lower, upper)
        self._continue_fit(self._samples(lower, upper, None, self._model.scale), None)
        return self

    def _growth_options(self) -> dict[str, Any]:
        if self.algorithm == "online":
            return {}
        return {"similarity": self.similarity, "min_similarity": self.min_similarity}

    def _learn(self, samples: Samples, model: BoxModel, callbacks: FitCallbacks) -> None:
        growth = self._growth_parameters(model)
        if self.algorithm == "online":
            learn_online(samples, model, growth, callbacks)
        else:
            agglomerate_samples(samples, model, growth, self.algorithm, callbacks)

    def _label_boxes(self) -> np.ndarray:
        if "_clusters" not in vars(self):
            max_gap = self.theta / 2 if self.max_gap is None else self.max_gap
            exhaustive = self.selection != "index"
            self._clusters = _find_clusters(
                self._model, float(max_gap), int(self.min_samples), exhaustive
            )
        return self._clusters


def _find_clusters(
    model: BoxModel, max_gap: float, min_samples: int, exhaustive: bool
) -> np.ndarray:
    """Return the cluster of each box, -1 for noise."""
    boxes = model.boxes
    joined = clusters.Clusters(np.arange(len(boxes)), np.full(len(boxes), -1))
    ids, _ = boxes.make_lists()
    search = model.membership.metric, boxes.make_search(), max_gap, min_samples, exhaustive
    start = 0
    while start < len(boxes):
        start = clusters.join(boxes.arrays, start, *search, joined, ids, WORK_PER_CALL)
    found = np.empty(len(boxes), np.int64)
    clusters.number(boxes.counts, min_samples, joined, found)
    return found
