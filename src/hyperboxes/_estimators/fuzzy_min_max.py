"""Simpson's fuzzy min-max network and those that mend it: FMNN, EFMNN, KNEFMNN and RFMNN."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from hyperboxes._estimators.docs import shared_docs
from hyperboxes._estimators.online import _OnlineGFMM
from hyperboxes._kernels.records import Rule
from hyperboxes._models.model import BoxModel

# The pieces of each variant.
_VARIANTS: dict[str, dict[str, Any]] = {
    "fmnn": {"overlap": "four", "resolution": "contract"},
    "efmnn": {"overlap": "nine", "resolution": "contract"},
    "knefmnn": {"overlap": "nine", "resolution": "contract", "n_candidates": 5},
    "rfmnn": {"overlap": "closed", "resolution": "split", "n_candidates": 1},
}


@shared_docs
class FuzzyMinMax(_OnlineGFMM):
    """Simpson's fuzzy min-max neural network (FMNN) and the relatives that mend it.

    Each sample is absorbed by the box of its class with the largest membership that can grow to
    hold it; if there is none, it becomes a new box. What a box may grow to, and what becomes of
    boxes that then overlap other classes, is the `variant`. All of them use the mean of the
    features' memberships.

    Parameters
    ----------
    variant : {"fmnn", "efmnn", "knefmnn", "rfmnn"}, default="fmnn"
        ``"fmnn"``: the original [1]_. The sides of a box are at most `theta` on average, so a box
        may be long in one feature and short in others. Where it overlaps a box of another class,
        both are cut in the feature where they overlap least, unless they have equal ends in a
        feature.

        ``"efmnn"``: the enhanced network [2]_. No side is longer than `theta`, and boxes with
        equal ends are cut apart, too.

        ``"knefmnn"``: like that, but only the 5 boxes with the largest memberships are tried [3]_.

        ``"rfmnn"``: the refined network [4]_. Only the box with the largest membership is tried,
        and grows only where it meets no other class. A new box splits those of other classes that
        it lies in, so that nearly no sample falls out of its box.
    {theta}
        With ``variant="fmnn"`` it bounds the mean of the sides instead of the longest.
    {gamma}
    n_candidates : int, default=None
        How many boxes of the class are tried for each sample, those with the largest memberships.
        None: as the variant has it. 1: only the best, as in the toolbox of the GFMM papers.
    {search}
    {order}
    {calibrate}
    {unlabeled}

    {attributes}
    {classes}

    See Also
    --------
    OnlineGFMM : The same with boxes as input and another membership.
    ImprovedOnlineGFMM : Grows only where nothing overlaps; the one to use (docs, "The family").

    Notes
    -----
    Memberships are the mean over the features of how far a sample is from the box, 0 far away, as
    in Simpson's second paper. Those of the first are half of that and a half.

    Where boxes of several classes tie, the one with the nearest centre wins (``"rfmnn"``: the
    nearest corners), then the oldest. Cuts may push training samples out of the box they were
    absorbed by; `counts` include them. The halves of a split box share its samples by length.

    The boxes depend on the order of the samples: `shuffle`. What the papers leave open, and where
    their text contradicts their own examples, is said in the documentation, "The family".

    References
    ----------
    .. [1] P. K. Simpson, "Fuzzy min-max neural networks. I. Classification", IEEE Transactions on
       Neural Networks 3(5), 1992.
    .. [2] M. F. Mohammed and C. P. Lim, "An enhanced fuzzy min-max neural network for pattern
       classification", IEEE Transactions on Neural Networks and Learning Systems 26(3), 2015.
    .. [3] M. F. Mohammed and C. P. Lim, "Improving the fuzzy min-max neural network with a
       K-nearest hyperbox expansion rule for pattern classification", Applied Soft Computing 52,
       2017.
    .. [4] O. N. Al Sayaydeh, M. F. Mohammed, E. Alhroob, H. Tao and C. P. Lim, "A refined fuzzy
       min-max neural network with new learning procedures for pattern classification", IEEE
       Transactions on Fuzzy Systems 28(10), 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import FuzzyMinMax
    >>> X, y = load_iris(return_X_y=True)
    >>> for variant in ("fmnn", "efmnn", "knefmnn", "rfmnn"):
    ...     model = FuzzyMinMax(variant, theta=0.2, random_state=0).fit(X, y)
    ...     print(variant, len(model.hyperboxes_))
    fmnn 20
    efmnn 27
    knefmnn 28
    rfmnn 60
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_OnlineGFMM._parameter_constraints,
        "variant": [StrOptions(set(_VARIANTS))],
        "n_candidates": [Interval(Integral, 1, None, closed="left"), None],
    }
    del _parameter_constraints["membership_function"]

    membership_function = "mean"

    def __init__(
        self,
        variant: str = "fmnn",
        theta: float = 0.2,
        *,
        gamma: Any = 1.0,
        n_candidates: int | None = None,
        selection: str = "index",
        scaling: Any = "minmax",
        shuffle: bool = True,
        random_state: Any = None,
        calibrate: bool = True,
        unlabeled: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.variant = variant
        self.theta = theta
        self.gamma = gamma
        self.n_candidates = n_candidates
        self.selection = selection
        self.scaling = scaling
        self.shuffle = shuffle
        self.random_state = random_state
        self.calibrate = calibrate
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs

    def _ties(self) -> str:
        return "corners" if self.variant == "rfmnn" else "centre"

    def _make_rule(self, model: BoxModel, **pieces: Any) -> Rule:
        size = "sum" if self.variant == "fmnn" else "max"
        return super()._make_rule(model, size=size, **pieces)

    def _pieces(self) -> dict[str, Any]:
        pieces = dict(_VARIANTS[self.variant])
        if self.n_candidates is not None:
            pieces["n_candidates"] = self.n_candidates
        return pieces
