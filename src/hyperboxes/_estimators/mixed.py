"""`MixedGFMM`: boxes in the numbers that count categories (EIOL-GFMM), as an estimator."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hyperboxes._estimators.docs import shared_docs
from hyperboxes._estimators.online import _OnlineGFMM
from hyperboxes._estimators.tables import known_categories
from hyperboxes._kernels.records import Mixture
from hyperboxes._learning.mixed import ask_mixed
from hyperboxes._models.mixed import MixedModel, TalliedBoxes, find_owners


@shared_docs
class MixedGFMM(_OnlineGFMM):
    """Online learning of boxes that count the categories of their samples (EIOL-GFMM).

    In the numbers, a box is a box, as in :class:`ImprovedOnlineGFMM`. Of each categorical feature
    it counts how often each value occurs among its samples: `category_counts_`. A sample joins the
    box of its class with the largest membership that can take it in: without a side longer than
    `theta`, without a rise of the entropy of these counts by more than `delta`, and without
    overlapping a box of another class. If there is none, the sample becomes a new box.

    It is here for those who study it, and for its counts, which say how common each value is in a
    box. :class:`ImprovedOnlineGFMM`, which gives categories places on a line, is as accurate, and
    its boxes are rules with sets of values.

    Parameters
    ----------
    {theta}
    delta : float, default=0.2
        How much a sample may raise the entropy of a box's categories, in bits. With less than 1, a
        box of one sample takes in only samples with the same categories if ``entropy="each"``, and
        mostly so on average.
    alpha : float, default=0.9
        How much the membership in the numbers counts; the rest is the mean share of the box's
        samples that have the sample's categories. Where all features are of one kind, that kind
        alone. With the 0.5 of the paper, boxes of few samples win, for the categories that they
        have make large shares there.
    entropy : {"mean", "each"}, default="mean"
        Whether `delta` bounds the mean over the features or each of them, as in the first version
        of the paper, which makes many more boxes.
    overlap : {"values", "frequencies"}, default="values"
        When boxes of two classes overlap that share a point in the numbers. ``"values"``: if they
        have a value in common in each categorical feature. ``"frequencies"``: if it is as frequent
        in both, too, as published. That is nearly never so, and boxes may stop overlapping as they
        grow.
    {gamma}
    {search}
    {order}
    {calibrate}
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories, as in :class:`ImprovedOnlineGFMM`. Those that were never
        learned, and None or NaN, are missing values: they hold nothing back and are not counted.

    {attributes}
    {seen}
    {classes}
    categories_ : dict
        The values of each categorical feature, by its name or else its index, in the order in which
        they are counted.
    category_counts_ : dict
        For each categorical feature, an array of shape (n_boxes, n_values): how many samples of
        each box have each of the values in `categories_`.

    See Also
    --------
    ImprovedOnlineGFMM : Categories have places on a line, and boxes hold sets of them.

    Notes
    -----
    Membership in the numbers is that of the paper, the least over the features. Bounds in
    categorical features are NaN. Each box has room for all values, so thousands of boxes and of
    values take much memory.

    References
    ----------
    {paper}
    .. [2] T. T. Khuat and B. Gabrys, "An online learning algorithm for a neuro-fuzzy classifier
       with mixed-attribute data", Applied Soft Computing 137, 2023.

    Examples
    --------
    >>> import pandas as pd
    >>> from hyperboxes import MixedGFMM
    >>> X = pd.DataFrame({"size": [0.2, 0.3, 0.25, 0.35, 0.3], "colour": list("aabab")})
    >>> y = [1, 1, 1, 1, 2]
    >>> model = MixedGFMM(theta=0.3, delta=0.95, scaling=None, shuffle=False).fit(X, y)
    >>> model.hyperboxes_.lower[:, 0], model.hyperboxes_.upper[:, 0]
    (array([0.2, 0.3]), array([0.35, 0.3 ]))
    >>> model.category_counts_["colour"]
    array([[3, 1],
           [0, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_OnlineGFMM._parameter_constraints,
        "delta": [Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "entropy": [StrOptions({"mean", "each"})],
        "overlap": [StrOptions({"values", "frequencies"})],
    }
    for _name in ("membership_function", "unlabeled"):  # no parameters of its own
        del _parameter_constraints[_name]
    del _name

    unlabeled = None
    _counts_categories = True
    _model: MixedModel

    def __init__(
        self,
        theta: float = 0.5,
        *,
        delta: float = 0.2,
        alpha: float = 0.9,
        entropy: str = "mean",
        overlap: str = "values",
        gamma: Any = 1.0,
        selection: str = "index",
        scaling: Any = "minmax",
        shuffle: bool = True,
        random_state: Any = None,
        calibrate: bool = True,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.theta = theta
        self.delta = delta
        self.alpha = alpha
        self.entropy = entropy
        self.overlap = overlap
        self.gamma = gamma
        self.selection = selection
        self.scaling = scaling
        self.shuffle = shuffle
        self.random_state = random_state
        self.calibrate = calibrate
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    @property
    def category_counts_(self) -> dict[Any, np.ndarray]:
        """How many samples of each box have each value, by feature."""
        check_is_fitted(self)
        counted = (self._model.counts_of(feature) for feature in known_categories(self))
        return dict(zip(self.categories_, counted, strict=True))

    def _pieces(self) -> dict[str, Any]:
        return {"overlap": "paper"}  # of the numbers alone: no walls, categories keep apart, too

    def _validate_samples(
        self, X: Any, y: Any, X_upper: Any, *, reset: bool, sample_weight: Any = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        samples = super()._validate_samples(X, y, X_upper, reset=reset, sample_weight=sample_weight)
        if not reset:  # there may be new values
            _, self._model.owners = find_owners(known_categories(self))
        return samples

    def _new_model(self, lower: np.ndarray, upper: np.ndarray, n_classes: int) -> MixedModel:
        model = super()._new_model(lower, upper, n_classes)
        features, owners = find_owners(known_categories(self))
        if model.scale is not None:
            model.scale.low[features], model.scale.high[features] = 0.0, 1.0  # as they are
        gamma, numbers = model.membership.gamma, np.delete(np.arange(lower.shape[1]), features)
        if len(numbers):
            gamma[features] = gamma[numbers].min()
        mixture = Mixture(
            alpha=float(self.alpha),
            n_numbers=len(numbers),
            delta=float(self.delta),
            each=self.entropy == "each",
            frequencies=self.overlap == "frequencies",
        )
        boxes = TalliedBoxes(lower.shape[1], n_classes)
        return MixedModel(
            boxes, model.scale, model.membership, features=features, owners=owners, mixture=mixture
        )

    def _find_boxes(
        self, xl: np.ndarray, xu: np.ndarray, labels: np.ndarray, used: np.ndarray
    ) -> np.ndarray:
        rows, counts = np.arange(len(xl)), self._model.boxes.counts
        best, votes, _, first = (table[rows, labels] for table in ask_mixed(self._model, xl, xu))
        used[first] = True
        for row in np.flatnonzero(votes > counts[first]):  # others are as close
            own = np.flatnonzero((self._model.boxes.labels == labels[row]) & (counts > 0))
            closeness = self._model.closeness(xl[row : row + 1], xu[row : row + 1], own)[0]
            used[own[closeness == best[row]]] = True
        return first
