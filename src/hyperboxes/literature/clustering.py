"""`FuzzyMinMaxClustering`: Simpson's fuzzy min-max clustering of 1993."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators.clustering import BoxClustering
from hyperboxes._kernels.structs import GrowthParameters
from hyperboxes._learning.online import OnlinePass, find_step_size
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.box_store import BoxStore
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Samples


@shared_docs
class FuzzyMinMaxClustering(BoxClustering):
    """Simpson's fuzzy min-max clustering [1]_: each box is a cluster.

    A sample is absorbed by the box with the largest membership that can grow to contain it; if
    there is none, it becomes a new box. Boxes that overlap are cut apart in every feature. The
    samples are learned again until no box changes.

    Parameters
    ----------
    theta : float, default=0.1
        How far boxes may grow: the mean of their sides, as fractions of the features' ranges.
    {gamma}
    max_iter : int, default=10
        The maximum number of passes over the samples. Boxes need not become stable; there is a
        warning then.
    {search}

    {attributes}
    labels_ : ndarray of shape (n_samples,)
        The clusters of the samples of `fit`.
    n_clusters_ : int
        The number of clusters.
    n_iter_ : int
        The number of passes over the samples.

    See Also
    --------
    hyperboxes.HyperboxClustering : Boxes that are near each other make a cluster.

    Notes
    -----
    Memberships are the mean over the features of how far a sample is from the box, 0 far away.

    References
    ----------
    .. [1] P. K. Simpson, "Fuzzy min-max neural networks. Part 2: Clustering", IEEE Transactions on
       Fuzzy Systems 1(1), 1993.

    Examples
    --------
    >>> from hyperboxes.literature import FuzzyMinMaxClustering
    >>> model = FuzzyMinMaxClustering(theta=0.3).fit([[0.0], [0.2], [1.0], [0.9]])
    >>> model.labels_, model.n_iter_
    (array([0, 0, 1, 1]), 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoxClustering._parameter_constraints,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    del _parameter_constraints["membership_function"]

    membership_function = "mean"
    n_iter_: int

    def __init__(
        self,
        theta: float = 0.1,
        *,
        gamma: Any = 1.0,
        max_iter: int = 10,
        selection: str = "index",
        scaling: Any = "minmax",
        n_jobs: int | None = None,
    ) -> None:
        self.theta = theta
        self.gamma = gamma
        self.max_iter = max_iter
        self.selection = selection
        self.scaling = scaling
        self.n_jobs = n_jobs

    def _growth_options(self) -> dict[str, Any]:
        return {"size": "sum", "overlap": "printed", "resolution": "contract every"}

    def _learn(self, samples: Samples, model: BoxModel, callbacks: FitCallbacks) -> None:
        growth = self._growth_parameters(model)
        self.n_iter_, is_stable = _learn_until_stable(
            samples, model, growth, callbacks, self.max_iter
        )
        if not is_stable:
            warnings.warn(
                f"Boxes still change after {self.n_iter_} passes over the samples (max_iter). They "
                "need not become stable; HyperboxClustering takes one pass.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _label_boxes(self) -> np.ndarray:
        return np.arange(len(self._model.boxes))


def _learn_until_stable(
    samples: Samples,
    model: BoxModel,
    rule: GrowthParameters,
    callbacks: FitCallbacks,
    max_iter: int,
) -> tuple[int, bool]:
    """Learn the samples again and again until no box changes; return how often, and whether so.

    Counts are those of the last pass; boxes that have absorbed no sample in it are dropped.
    """
    step_size = find_step_size(samples, callbacks)
    boxes = model.boxes
    lesson, n_iter, is_stable = OnlinePass(samples, model, rule, step_size), 1, False
    before = [array.copy() for array in boxes.rows]

    def step() -> bool:
        nonlocal lesson, n_iter, is_stable, before
        if not lesson.step():
            return False
        after = [array.copy() for array in boxes.rows]
        corners = zip(before[:2], after[:2], strict=True)
        is_stable = all(np.array_equal(*ends, equal_nan=True) for ends in corners)
        if is_stable or n_iter == max_iter:
            return True
        lesson, n_iter, before = OnlinePass(samples, model, rule, step_size), n_iter + 1, after
        return False

    callbacks.run(step, n_steps=max_iter * -(-len(samples.y) // step_size))
    counts = boxes.counts.copy()
    counts[: len(before[3])] -= before[3]
    if lesson.is_done:  # else a callback has ended it
        kept = counts > 0
        rows = (array[kept] for array in (boxes.lower, boxes.upper, boxes.labels, counts))
        model.boxes = BoxStore.of_rows(*rows, n_classes=boxes.n_classes)
        model.boxes.n_candidates = boxes.n_candidates
    return n_iter, is_stable
