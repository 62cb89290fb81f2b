"""The agglomerative learners as an estimator: AGGLO-2 and AGGLO-SM."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators.base import MAIN_CONSTRAINTS, BoxClassifier
from hyperboxes._learning.agglomeration import ALGORITHMS, agglomerate_samples
from hyperboxes._learning.growth_parameters import SIMILARITIES
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Samples


@shared_docs
class AgglomerativeGFMM(BoxClassifier):
    """Agglomerative learning of a general fuzzy min-max network (AGGLO-2 and AGGLO-SM).

    Every training sample starts as a box of its own. Two boxes of a class are merged, the most
    similar ones first, if the merged box has no side longer than `theta` and overlaps no box of
    another class, until no two can be.

    Choose it over the online classifiers when all data is available at once. On average it is more
    accurate and takes longer. It has no `partial_fit`.

    {parameters}
    algorithm : {"agglo-sm", "agglo2", "agglo2-printed"}, default="agglo-sm"
        ``"agglo-sm"`` always merges the most similar pair of all. ``"agglo2"`` visits the boxes in
        the order of the samples and merges each with the most similar box that may, which takes
        less memory and, unless `theta` is large, less time. ``"agglo2-printed"`` differs in where a
        merged box stands, and so in the order of visits: see Notes.
    {similarity}
    {calibrate}
    {decision}
    {categorical}
    {unlabeled}
    {class_weight}
    {overlap}

    {attributes}
    {chosen}
    {classes}
    {categories}

    See Also
    --------
    ImprovedOnlineGFMM : Learns in one pass and has `partial_fit`.

    Notes
    -----
    What depends on the order of the samples: in AGGLO-2 much, since boxes are visited in that
    order. In AGGLO-SM only ties: of equally similar pairs the one whose boxes contain the earlier
    samples comes first, and boxes stand in the order of their first samples.

    These are Algorithms 2 and 3 of [1]_, introduced in [2]_, and with ``selection="lemma"``
    Algorithms 7 and 8.
    In AGGLO-2 a merged box takes the earlier place of the two, as in the paper's runs. Algorithm 3
    as printed leaves it at the place of the visited box: ``algorithm="agglo2-printed"``. AGGLO-SM
    leaves out pairs of similarity 0 where the lemma shows that they cannot merge, as the paper's
    runs did; with ``membership_function="min"`` that is where ``theta * max(gamma) < 1``.

    References
    ----------
    {paper}
    .. [2] B. Gabrys, "Agglomerative learning algorithms for general fuzzy min-max neural network",
       Journal of VLSI Signal Processing 32, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import AgglomerativeGFMM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AgglomerativeGFMM(theta=0.3, algorithm="agglo-sm").fit(X, y)
    >>> len(model.hyperboxes_)
    18
    >>> model.predict(X[:3])
    array([0, 0, 0])
    """

    _takes_devices = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoxClassifier._parameter_constraints,
        **MAIN_CONSTRAINTS,
        "algorithm": [StrOptions(set(ALGORITHMS))],
        "similarity": [StrOptions(set(SIMILARITIES))],
        "min_similarity": [Interval(Real, 0, 1, closed="both")],
        "overlap": [StrOptions({"closed", "paper", "printed"})],
    }

    def __init__(
        self,
        theta: float | str = 0.7,
        *,
        algorithm: str = "agglo-sm",
        similarity: str = "longest",
        min_similarity: float = 0.0,
        gamma: Any = 1.0,
        membership_function: str = "mean",
        selection: str = "index",
        overlap: str = "closed",
        scaling: Any = "minmax",
        calibrate: bool = True,
        decision: str = "auto",
        categorical_features: Any = "from_dtype",
        unlabeled: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.theta = theta
        self.algorithm = algorithm
        self.similarity = similarity
        self.min_similarity = min_similarity
        self.gamma = gamma
        self.membership_function = membership_function
        self.selection = selection
        self.overlap = overlap
        self.scaling = scaling
        self.calibrate = calibrate
        self.decision = decision
        self.categorical_features = categorical_features
        self.unlabeled = unlabeled
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _growth_options(self) -> dict[str, Any]:
        return {
            "overlap": self.overlap,
            "similarity": self.similarity,
            "min_similarity": self.min_similarity,
        }

    def _learn(self, samples: Samples, model: BoxModel, callbacks: FitCallbacks) -> None:
        growth = self._growth_parameters(model)
        agglomerate_samples(samples, model, growth, self.algorithm, callbacks)
