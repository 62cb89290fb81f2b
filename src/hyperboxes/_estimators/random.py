"""`RandomHyperboxes`: an ensemble of models on random subsets of samples and features."""

import warnings
from collections.abc import Iterator
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators import validation
from hyperboxes._estimators.agglomerative import AgglomerativeGFMM
from hyperboxes._estimators.base import BoxClassifier
from hyperboxes._estimators.categorical import CATEGORICAL_FEATURES
from hyperboxes._estimators.class_weight import share_samples
from hyperboxes._estimators.online import ImprovedOnlineGFMM
from hyperboxes._estimators.registry import find_by_class
from hyperboxes._learning.ensemble import (
    CodedSamples,
    FeatureSampling,
    FittedMember,
    MemberLearner,
    MemberResult,
    OutOfBag,
    canonical_order,
    choose_feature_sampling,
    collect,
    find_importances,
    learn_member,
    replicate_by_weight,
)
from hyperboxes._learning.steps import Threads
from hyperboxes._models.calibration import fit_vote_calibration, vote_probabilities
from hyperboxes._models.ensemble import SCALINGS, Codes, EnsembleModel, VoteSettings
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.records import BoxEnsemble
from hyperboxes._models.samples import slices


def find_learners(estimator: Any, share: float, *, has_many: bool = False) -> list[MemberLearner]:
    """Return the learners of members, which take turns and draw a share of the samples."""
    if estimator is not None:
        learners = estimator if isinstance(estimator, list) else [estimator]
    elif has_many:
        learners = [ImprovedOnlineGFMM(theta=0.03)]
    else:
        learners = [ImprovedOnlineGFMM(theta=0.1), AgglomerativeGFMM(theta=0.7, algorithm="agglo2")]
    if not learners:
        raise ValueError("estimator is an empty list: name at least one learner, or None.")
    found = []
    for learner in learners:
        _check(learner)
        merges = isinstance(learner, AgglomerativeGFMM)
        found.append(MemberLearner(learner._learn, learner.membership_function, share, merges))
    return found


def _check(learner: Any) -> None:
    """Check that an estimator can learn members."""
    entry = find_by_class(type(learner))
    if not isinstance(learner, BoxClassifier) or (entry and not entry.merge_settings):
        raise TypeError(
            "Members must be GFMM classifiers, such as ImprovedOnlineGFMM, not "
            f"{type(learner).__name__}. For others use scikit-learn's BaggingClassifier."
        )
    learner._validate_params()
    if np.any(np.asarray(learner.gamma) != 1.0):
        raise ValueError(
            f"Members must have gamma=1, not {learner.gamma!r}: the temperature of the ensemble "
            "sets how fast votes fall with the distance."
        )
    if isinstance(learner.theta, str):
        raise ValueError("Members have a number as theta, such as 0.1, not 'auto'.")
    if learner.unlabeled is not None:
        raise ValueError("All samples of an ensemble need a label: unlabeled must be None.")


# Samples that are predicted at a time: their codes and votes stay in the processor's cache.
_ROWS_AT_ONCE = 1024

# The largest code: more are no more accurate, and with these, hardly a distance takes more than a
# byte. For that, there are fewer where members may draw ten features or more.
_MOST_LEVELS = 63
_FEW_LEVELS = 31
_USUAL_SUM = 600

# Distances are sums of codes and must fit into 16 bits; fewer levels would be too coarse.
_LARGEST_SUM = 2**16 - 1
_FEWEST_LEVELS = 16

# "auto" draws so large a share of the samples, and no more than so many; of many, in proportion to
# their number, and of very many to its root. Members of many samples have smaller boxes.
_SHARE = 0.8
_MOST_SAMPLES = 2000
_MANY_SAMPLES = 5000
_VERY_MANY_SAMPLES = 25_000

# Weights that sum up to less are hardly meant to count samples.
_FEW_SAMPLES = 10

_MAX_SEED = np.iinfo(np.int32).max


@shared_docs
class RandomHyperboxes(ClassifierMixin, BaseEstimator):
    """Many models of boxes, each fitted to random samples and features, that vote.

    Each member draws some of the samples of every class and some of the features, and learns boxes
    from them. For a sample, it gives each class a share of its vote by the distance of the nearest
    box of the class. Votes are averaged and calibrated to probabilities on out-of-bag samples. It
    is the counterpart of a random forest: more accurate than a single model, but with too many
    boxes to read.

    Parameters
    ----------
    estimator : estimator or list of estimators, default=None
        The GFMM classifiers of the members, such as `ImprovedOnlineGFMM`, used in turn if there are
        several. None: ``ImprovedOnlineGFMM(theta=0.1)`` and ``AgglomerativeGFMM(theta=0.7,
        algorithm="agglo2")``, or with more than 5,000 samples ``ImprovedOnlineGFMM(theta=0.03)``.
        They learn the drawn samples in random order; agglomerative ones count equal samples once.
        The ensemble sets categories, scaling and probabilities.
    n_estimators : int, default=100
        The number of members.
    max_samples : int, float or "auto", default="auto"
        The number of samples that a member draws without replacement: a share of each class, at
        least one sample. "auto": 0.8, but some 2,000 samples in all where there are more; 0.4 of
        more than 5,000, and of more than 25,000 in proportion to the square root: 20,000 of
        100,000.
    max_features : int, float, (int, int), "auto", "sqrt" or None, default="auto"
        The number of features that a member draws: a number, a share, the square root, all (None),
        or a random number between two. "auto": between the square root and twice that, below the
        square root, or with more than 5,000 samples two to three times the square root, whichever
        is best for pilot members fitted to at most 1,250 samples.
    weighted_features : bool, default=True
        Whether features that are more important to pilot members are drawn more often. False: all
        are equally likely, as published.
    scaling : {"blend", "minmax", "rank"}, default="blend"
        How values are mapped to [0, 1], to at most 64 numbers. "minmax": by their position in the
        range. "rank": by the number of smaller values. "blend": by the mean of both, which limits
        the effect of outliers and skewed features.
    temperature : float, default=0.1
        How members vote. A class whose nearest box is farther by this distance than that of another
        class gets 1 / e of the other's vote. 0: the nearest class gets the whole vote, as
        published, or shares it with those that tie.
    calibrate : bool, default=True
        Whether to calibrate probabilities. False: they are the shares of the votes.
    class_weight : dict or "balanced", default=None
        How much each class counts, by its label: members draw samples in this proportion.
        "balanced": in inverse proportion to the samples of the classes.
    {categorical}
    random_state : int, RandomState instance or None, default=None
        The seed of all draws. Pass an int for the same model each time.
    n_jobs : int, default=None
        The number of threads in `fit` and prediction; -1 for all cores. It does not change the
        model.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    members_ : list of Hyperboxes
        The boxes of each member, in data units, over the features that it drew. Bounds are infinite
        where no training value lies beyond. Computed at each access.
    estimators_features_ : list of ndarray
        The features that each member drew, as numbers of columns.
    n_boxes_, n_samples_ : int
        The number of boxes of all members, and of training samples (the rounded sum of their
        weights).
    data_min_, data_max_ : ndarray of shape (n_features,)
        The range of each feature in the training samples.
    oob_score_ : float
        The out-of-bag accuracy: each training sample is predicted by the members that did not draw
        it.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        The probabilities of training samples by those members; NaN for samples that all members
        drew or with a weight of 0. With weights above 1, the mean over a sample's copies.
    feature_importances_ : ndarray of shape (n_features,)
        Permutation importances: how much the probability of the true class of out-of-bag samples
        falls when the feature's values are shuffled, as a mean over the members that drew the
        feature. Negative ones are 0; they sum to 1.
    {categories}
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had names.

    See Also
    --------
    BoostedHyperboxes : Boxes whose weights add up, few enough to read or many.

    Notes
    -----
    Random hyperboxes were proposed in [1]_: members that learn online with ``theta=0.1`` on half of
    the samples, scaled to their range, each with one vote. With m as twice the square root of the
    number of features, this is ::

        RandomHyperboxes(
            ImprovedOnlineGFMM(theta=0.1, membership_function="min"),
            max_samples=0.5,
            max_features=m,
            weighted_features=False,
            scaling="minmax",
            temperature=0,
            calibrate=False,
        )

    References
    ----------
    .. [1] T. T. Khuat and B. Gabrys, "Random hyperboxes", IEEE Transactions on Neural Networks and
       Learning Systems 34(2), 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hyperboxes import RandomHyperboxes
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RandomHyperboxes(random_state=0).fit(X[:400], y[:400])
    >>> print(f"{model.oob_score_:.2f} {model.score(X[400:], y[400:]):.2f}")
    0.96 0.97
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), list, None],
        "n_estimators": validation.COUNT,
        "max_samples": [
            Interval(Real, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto"}),
        ],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            tuple,
            list,
            StrOptions({"auto", "sqrt"}),
            None,
        ],
        "weighted_features": ["boolean"],
        "scaling": [StrOptions(set(SCALINGS))],
        "temperature": [Interval(Real, 0, None, closed="left")],
        "calibrate": ["boolean"],
        "class_weight": validation.CLASS_WEIGHT,
        "categorical_features": CATEGORICAL_FEATURES,
        "random_state": ["random_state"],
        "n_jobs": validation.N_JOBS,
    }

    classes_: np.ndarray
    n_features_in_: int
    oob_decision_function_: np.ndarray
    _model: EnsembleModel

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        max_samples: Any = "auto",
        max_features: Any = "auto",
        weighted_features: bool = True,
        scaling: str = "blend",
        temperature: float = 0.1,
        calibrate: bool = True,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.weighted_features = weighted_features
        self.scaling = scaling
        self.temperature = temperature
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, X_upper: Any = None, sample_weight: Any = None) -> Self:
        """Learn the members.

        Parameters
        ----------
        {learned}
        y : array-like of shape (n_samples,)
            Class labels.
        {interval_ends}
        sample_weight : array-like of shape (n_samples,), default=None
            Weights: a sample with a weight of 2 counts as two samples, one with 0.5 as a sample for
            half of the members, one with 0 as none. Weights should add up to a number of samples,
            not to 1. The order of the samples does not matter.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with validation.unchanged_on_error(self):
            lower, upper, y, given = self._validate(X, y, X_upper, sample_weight)
            weights = validation.bounded(given)
            share, has_many = self._share(weights), bool(weights.sum() > _MANY_SAMPLES)
            learners = find_learners(self.estimator, share, has_many=has_many)
            samplings = self._samplings(lower.shape[1], has_many)
            n_bins = _find_levels(max(sampling.most for sampling in samplings))
            codes = Codes.learn(lower, upper, self.scaling, n_bins, weights)
            validation.check_finite_range(self, codes.low, codes.high)
            ends = codes.encode(lower, upper)
            order = canonical_order(*ends, np.unique(y, return_inverse=True)[1], weights)
            copies = replicate_by_weight(weights, order)
            classes, labels = np.unique(y[copies.rows], return_inverse=True)
            samples = CodedSamples(*copies.of(*ends), labels, len(classes), copies.weights)
            random = check_random_state(self.random_state)
            learn = partial(self._learn, voting=self._voting(n_bins), random=random)
            sampling = samplings[0]
            if self.weighted_features or len(samplings) > 1:
                pilots = samplings, samples, learners[0], learn, random
                sampling = choose_feature_sampling(*pilots, is_weighted=self.weighted_features)
            learned, votes = collect(learn(samples, learners, self.n_estimators, sampling), samples)
            class_counts = np.bincount(samples.y, samples.counted)
            if weights is not given:
                class_counts *= given.sum() / weights.sum()
            model, out_of_bag = self._make_model(learned, votes, class_counts, codes)
        self.__dict__.update(
            classes_=classes,
            oob_decision_function_=out_of_bag.by_sample(copies.rows, len(lower)),
            _model=model,
        )
        return self

    def _validate(self, X: Any, y: Any, X_upper: Any, sample_weight: Any) -> tuple[np.ndarray, ...]:
        """Return intervals, labels and weights."""
        lower, y = validation.validate_samples(
            self, X, y, reset=True, sample_weight=sample_weight, **validation.NUMBERS
        )
        upper = validation.check_upper(self, lower, X_upper)
        check_classification_targets(y)
        weights = validation.check_weights(sample_weight, lower)
        return lower, upper, y, share_samples(weights, self.class_weight, y)

    def _share(self, weights: np.ndarray) -> float:
        """Return which share of the samples members draw."""
        n_samples = weights.sum()
        n_counted = np.count_nonzero(weights)
        if n_samples < min(max(_FEW_SAMPLES, n_counted ** (1 / 3)), n_counted):
            warnings.warn(
                f"sample_weight sums up to {n_samples:g}, and weights count samples, so members "
                f"learn from as few of {n_counted:,}. Multiply the weights.",
                UserWarning,
                stacklevel=4,
            )
        if self.max_samples == "auto":
            most = _MOST_SAMPLES * max(1.0, min(n_samples, _VERY_MANY_SAMPLES) / _MANY_SAMPLES)
            most *= max(1.0, n_samples / _VERY_MANY_SAMPLES) ** 0.5
            return float(min(_SHARE, most / n_samples))
        if isinstance(self.max_samples, Integral):
            return min(1.0, int(self.max_samples) / n_samples)
        return float(self.max_samples)

    def _samplings(self, n_features: int, has_many: bool) -> list[FeatureSampling]:
        """Return how many features members draw, or what is tried for that, the usual first."""
        even = np.full(n_features, 1.0 / n_features)
        samplings = []
        for fewest, most in self._feature_numbers(n_features, has_many):
            if most * _FEWEST_LEVELS > _LARGEST_SUM:
                raise ValueError(
                    f"Members may have up to {_LARGEST_SUM // _FEWEST_LEVELS} features, but "
                    f"max_features={self.max_features!r} makes that {most}."
                )
            samplings.append(FeatureSampling(even, fewest, most))
        return samplings

    def _feature_numbers(self, n_features: int, has_many: bool) -> list[tuple[int, int]]:
        """Return between which numbers of features members draw one, or what is tried for that.

        With few samples, members of many features would have too few boxes.
        """
        wanted: Any = self.max_features
        root = n_features**0.5
        if wanted is None:
            return [(n_features, n_features)]
        if wanted == "auto":
            some = int(np.ceil(root))
            tried = [(some, min(int(2 * root), n_features)), (1, max(1, some - 1))]
            if has_many:
                tried.append((min(int(2 * root), n_features), min(int(3 * root), n_features)))
            return list(dict.fromkeys(tried))
        if wanted == "sqrt":
            wanted = int(root)
        elif isinstance(wanted, float):
            wanted = max(1, int(wanted * n_features))
        numbers = list(wanted) if isinstance(wanted, tuple | list) else [wanted, wanted]
        are_integers = len(numbers) == 2 and all(isinstance(n, Integral) for n in numbers)
        if not (are_integers and 1 <= numbers[0] <= numbers[1]):
            raise ValueError(
                f"max_features={self.max_features!r} must name two whole numbers from 1 on, the "
                "smaller first."
            )
        fewest, most = (min(int(number), n_features) for number in numbers)
        return [(fewest, most)]

    def _learn(
        self,
        samples: CodedSamples,
        learners: list[MemberLearner],
        n_members: int,
        sampling: FeatureSampling,
        *,
        voting: VoteSettings,
        random: np.random.RandomState,
    ) -> Iterator[MemberResult]:
        """Yield what members have learned, in their order."""
        seeds = random.randint(_MAX_SEED, size=n_members)

        def learn(number: int) -> MemberResult:
            learner = learners[number % len(learners)]
            return learn_member(samples, sampling, learner, voting, int(seeds[number]))

        with Threads(effective_n_jobs(self.n_jobs)) as threads:
            yield from threads.map(learn, range(n_members))

    def _voting(self, n_bins: int) -> VoteSettings:
        return VoteSettings(n_bins, float(self.temperature))

    def _make_model(
        self, learned: list[FittedMember], votes: OutOfBag, class_counts: np.ndarray, codes: Codes
    ) -> tuple[EnsembleModel, OutOfBag]:
        """Return the model, and the probabilities out of bag."""
        calibration = None
        if self.calibrate and len(votes.y) and len(class_counts) > 1:
            shares = class_counts / class_counts.sum()
            calibration = fit_vote_calibration(votes.values, votes.y, shares, votes.weights)
        probabilities = votes._replace(
            values=vote_probabilities(votes.values, class_counts, calibration)
        )
        model = EnsembleModel(
            codes,
            [member for member, _ in learned],
            self._voting(codes.n_bins),
            class_counts,
            calibration,
            find_importances(learned, self.n_features_in_),
            probabilities.score(),
        )
        return model, probabilities

    @property
    def oob_score_(self) -> float:
        """The accuracy on training samples, by the members that had not drawn them."""
        check_is_fitted(self)
        return self._model.oob_score

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much members lose without each feature, as shares of all."""
        check_is_fitted(self)
        return self._model.feature_importances

    @property
    def members_(self) -> list[Hyperboxes]:
        """The members' boxes in the units of the data, each over the features that it drew."""
        check_is_fitted(self)
        return list(self._model.hyperboxes())

    @property
    def n_boxes_(self) -> int:
        """How many boxes the members have together."""
        check_is_fitted(self)
        return self._model.n_boxes

    @property
    def n_samples_(self) -> int:
        """How many training samples there were, by their weights."""
        check_is_fitted(self)
        return round(self._model.n_samples.sum())

    @property
    def data_min_(self) -> np.ndarray:
        """The least value of each feature."""
        check_is_fitted(self)
        return self._model.codes.low.copy()

    @property
    def data_max_(self) -> np.ndarray:
        """The largest value of each feature."""
        check_is_fitted(self)
        return self._model.codes.high.copy()

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The features that each member drew."""
        check_is_fitted(self)
        return [member.features.copy() for member in self._model.members]

    def predict(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return the most probable class of each sample.

        {predict}
        """
        probabilities = self.predict_proba(X, X_upper)
        return self.classes_[probabilities.argmax(axis=1)]

    def predict_proba(self, X: Any, X_upper: Any = None) -> np.ndarray:
        """Return how probable each class is.

        {predict_proba}
        """
        check_is_fitted(self)
        lower = validation.validate_samples(self, X, reset=False, **validation.NUMBERS)
        upper = validation.check_upper(self, lower, X_upper)

        def answer(rows: slice) -> np.ndarray:
            low = lower[rows]
            return self._model.predict(low, low if upper is lower else upper[rows])

        n_jobs = effective_n_jobs(self.n_jobs)
        with Threads(n_jobs) as threads:
            answers = threads.map(answer, slices(len(lower), _rows_at_once(len(lower), n_jobs)))
            return np.concatenate(list(answers))

    score = BoxClassifier.score
    categories_ = BoxClassifier.categories_

    def _record(self) -> BoxEnsemble:
        """Return the fitted model as a record."""
        return self._model.record()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _rows_at_once(n_rows: int, n_jobs: int) -> int:
    """Return how many rows to predict at a time, so that all threads have equal work."""
    n_rounds = -(-n_rows // (n_jobs * _ROWS_AT_ONCE))
    return -(-n_rows // (n_jobs * n_rounds))


def _find_levels(n_features: int) -> int:
    """Return the largest code, for members that draw up to so many features."""
    n_bins = min(_MOST_LEVELS, max(_FEW_LEVELS, _USUAL_SUM // n_features))
    return min(n_bins, _LARGEST_SUM // n_features)
