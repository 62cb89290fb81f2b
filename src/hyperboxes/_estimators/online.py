"""The online learners as estimators: Onln-GFMM and IOL-GFMM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import check_is_fitted

from hyperboxes._docstrings import shared_docs
from hyperboxes._estimators.access import access_of, changes, reads
from hyperboxes._estimators.base import (
    MAIN_CONSTRAINTS,
    BoxClassifier,
    choose_theta,
    repeat_by_weight,
)
from hyperboxes._estimators.class_weight import check_class_weight
from hyperboxes._estimators.streaming import (
    SortedLabelsCheck,
    label_array,
    learn_sample,
    make_row,
    union_of_labels,
)
from hyperboxes._estimators.validation import (
    COUNT,
    ValidatedArray,
    check_known_classes,
    check_unit_range,
    check_unlabeled,
    find_labels,
    unchanged_on_error,
    warn_if_ranges_unknown,
)
from hyperboxes._kernels.structs import NO_LABEL
from hyperboxes._learning.online import fit_two_orders, learn_online, learn_row
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.calibration import DistanceCalibration
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Intervals, Samples

ONLINE_CONSTRAINTS: dict[str, Any] = {
    **BoxClassifier._parameter_constraints,
    "shuffle": ["boolean"],
    "random_state": ["random_state"],
}
_MORE_CONSTRAINTS = {"max_boxes": [*COUNT, None], **MAIN_CONSTRAINTS}

# The first batch of a stream needs so many samples with a label for a choice of `theta`.
_MIN_CHOICE_SAMPLES = 50

_NAME_ALL = "Name all classes in the first call of partial_fit, partial_fit(X, y, classes=...)."


# The base of the mixin for type checkers only: estimators name it themselves.
if TYPE_CHECKING:
    _Base = BoxClassifier
else:
    _Base = object


@shared_docs
class OnlineMixin(_Base):
    """Updates classifiers with more samples: `partial_fit`, and `learn_one` for single ones."""

    _label_runs: SortedLabelsCheck

    @changes
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        X_upper: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Update the model with more samples, in their order.

        The first call learns the features' ranges (``scaling="minmax"``), so its batch should span
        them. With ranges known in advance (`scaling` an array, or None) any batches give the boxes
        of a single `fit` with ``shuffle=False``. Samples sorted by class make a bad model: shuffle
        them before. If labels come in long runs, there is a warning.

        Parameters
        ----------
        {learned}
        y : array-like of shape (n_samples,)
            Class labels, all of them in ``classes_``, or `unlabeled`.
        classes : array-like of shape (n_classes,), default=None
            All labels that may ever appear. Needed in the first call, optional afterwards.
        {interval_ends}
        {whole_weights}

        {goes_on}
        """
        with unchanged_on_error(self):
            is_first = not hasattr(self, "_model")
            training = self._validate_samples(
                X, y, X_upper, reset=is_first, sample_weight=sample_weight
            )
            (lower, upper, y), more = repeat_by_weight(training, sample_weight)
            _check_partial_fit_first_call(self, classes)
            check_known_classes(y, self.classes_, self.unlabeled, name="y", advice=_NAME_ALL)
            check_class_weight(self.class_weight, self.classes_)
            if is_first:
                self._model = model = self._new_stream(lower, upper, len(self.classes_))
                if isinstance(self.theta, str):
                    _check_can_choose(find_labels(y, self.unlabeled)[1])
                    model.theta_path = choose_theta(
                        self, training, sample_weight, model, shuffle=False
                    )
            self._model.find_theta(self.theta)  # raises an error if it was not chosen
        samples = self._samples(lower, upper, y, self._model.scale)
        if not hasattr(self, "_label_runs"):
            self._label_runs = SortedLabelsCheck(len(self.classes_))
        if sample_weight is None:  # copies of a sample have the same label
            self._label_runs.add(samples.y)
        self._continue_fit(samples, y)
        if more is not None:
            scale = self._model.scale
            self._model.add_counts(self._samples(*more.samples, scale, counts=more.counts))
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
        if not self._has_labels():
            return None
        if self.class_weight is not None:
            shares = self.predict_proba_one(x)
            return max(shares, key=shares.__getitem__)
        with access_of(self).turn:
            row = make_row(self, x)
            scaled = Intervals(row, row, self._model.scale).scaled()
            return self.classes_.item(int(self._model.classify(*scaled)[0]))

    @reads
    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probabilities of the classes for a single sample, as river's models do.

        {predict_proba_one}
        """
        if not self._has_labels():
            return {}
        shares = self.predict_proba(make_row(self, x).view(ValidatedArray))
        return dict(zip(self.classes_.tolist(), shares[0].tolist(), strict=True))

    @property
    def n_samples_seen_(self) -> int:
        """How many samples were learned."""
        check_is_fitted(self)
        return self._model.boxes.n_seen

    @property
    @reads
    def box_ages_(self) -> np.ndarray:
        """How many samples were learned since each box was last matched by one."""
        check_is_fitted(self)
        boxes = self._model.boxes
        return boxes.n_seen - 1 - boxes.confirmed

    def _has_labels(self) -> bool:
        return hasattr(self, "_model") and self._model.boxes.has_labels

    def _new_stream(self, lower: np.ndarray, upper: np.ndarray, n_classes: int) -> BoxModel:
        """Return a model without boxes, which has the ranges of the first samples of a stream."""
        model = self._new_model(lower, upper, n_classes)
        if self.calibrate:
            learns_decision = self.decision == "auto"
            model.calibration = DistanceCalibration.start(0, learns_decision=learns_decision)
        warn_if_ranges_unknown(self, lower, upper)
        return model

    def _learn_row(self, row: np.ndarray, label: Any) -> None:
        if self.scaling is None:
            check_unit_range(self, row, row)
        check_unlabeled(self.unlabeled)
        if hasattr(self, "_model"):
            self._model.find_theta(self.theta)  # raises an error before a class is added
        code = self._code_of(label)
        if not hasattr(self, "_model"):
            self._model = self._new_stream(row, row, len(self.classes_))
        self._clear_derived()
        x, _ = Intervals(row, row, self._model.scale).scaled()
        learn_row(x, code, self._model, self._growth_parameters(self._model))

    def _code_of(self, label: Any) -> int:
        """Return the index of a label; a new one becomes a class."""
        classes = getattr(self, "classes_", np.empty(0))
        if self.unlabeled is not None and label == self.unlabeled:
            if not hasattr(self, "classes_"):
                raise ValueError("The first sample must have a label.")
            return NO_LABEL
        known = vars(self).get("_known_codes")
        if known is None or known[0] is not classes:
            codes = {name: code for code, name in enumerate(classes.tolist())}
            known = self._known_codes = classes, codes
        try:
            code = known[1].get(label)
        except TypeError:
            raise ValueError(f"y is {label!r}, which is not a label.") from None
        if code is None:
            self._add_class(label)
            return self._code_of(label)
        return int(code)

    def _add_class(self, label: Any) -> None:
        """Add a class, and renumber the labels of the boxes."""
        before = getattr(self, "classes_", np.empty(0))
        classes = union_of_labels(before, label_array(label))
        changed: dict[str, Any] = {"classes_": classes}
        if hasattr(self, "_model"):
            old = self._model.boxes
            # The label -1, for none, is the last entry.
            moved = np.append(np.searchsorted(classes, before), NO_LABEL)
            boxes = old.with_labels(moved[old.labels], len(classes))
            changed["_model"] = self._model.with_boxes(boxes)
        self.__dict__.pop("_label_runs", None)  # which counts by class
        self.__dict__.update(changed)

    def _learn(self, samples: Samples, model: BoxModel, callbacks: FitCallbacks) -> None:
        learn_online(samples, model, self._growth_parameters(model), callbacks)


def _check_can_choose(labels: np.ndarray) -> None:
    """Check that the first batch of a stream suffices for a choice of `theta`."""
    n_classes = len(set(labels.tolist()))
    if len(labels) < _MIN_CHOICE_SAMPLES or n_classes < 2:
        raise ValueError(
            "theta='auto' is chosen in the first call of partial_fit, which needs at least "
            f"{_MIN_CHOICE_SAMPLES} samples with a label, of two classes or more, but has "
            f"{len(labels)} of {n_classes}. Pass more, or a number, such as theta=0.5."
        )


@shared_docs
class ImprovedOnlineGFMM(OnlineMixin, BoxClassifier):
    """Improved online learning of a general fuzzy min-max network (IOL-GFMM).

    Each sample is absorbed by the box of its class with the largest membership that can grow to
    contain it without a side longer than `theta` and without overlapping a box of another class. If
    there is none, the sample becomes a new box. Boxes never shrink, so every training sample stays
    in a box of its class.

    `fit` learns the samples twice, in two orders, and keeps the smaller model: first in random
    order, then starting with those that ended up alone in a box. An unlucky order can create
    thousands of such boxes. `partial_fit`, and `fit` with ``shuffle=False``, learn once, in the
    order given.

    {parameters}
    {max_boxes}
    {order}
    {calibrate}
    {decision}
    {categorical}
    {unlabeled}
    {class_weight}
    {overlap}

    {attributes}
    {chosen}
    {seen}
    {classes}
    {categories}

    See Also
    --------
    OnlineGFMM : The original online learner, which lets boxes overlap and then shrinks them.
    AgglomerativeGFMM : Merges the most similar boxes first; all data must be at hand.

    Notes
    -----
    The boxes depend on the order of the samples: `shuffle`. This is Algorithm 4 of [1]_, introduced
    in [2]_, and with ``selection="lemma"`` Algorithm 6.

    References
    ----------
    {paper}
    .. [2] T. T. Khuat, F. Chen and B. Gabrys, "An improved online learning algorithm for general
       fuzzy min-max neural network", International Joint Conference on Neural Networks, 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import ImprovedOnlineGFMM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X, y)
    >>> len(model.hyperboxes_)
    18
    >>> model.predict(X[:3])
    array([0, 0, 0])
    """

    _takes_devices = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ONLINE_CONSTRAINTS,
        **_MORE_CONSTRAINTS,
        "overlap": [StrOptions({"closed", "paper", "printed"})],
    }

    def __init__(
        self,
        theta: float | str = 0.5,
        *,
        gamma: Any = 1.0,
        membership_function: str = "mean",
        selection: str = "index",
        overlap: str = "closed",
        scaling: Any = "minmax",
        max_boxes: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        calibrate: bool = True,
        decision: str = "auto",
        categorical_features: Any = "from_dtype",
        unlabeled: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.theta = theta
        self.gamma = gamma
        self.membership_function = membership_function
        self.selection = selection
        self.overlap = overlap
        self.scaling = scaling
        self.max_boxes = max_boxes
        self.shuffle = shuffle
        self.random_state = random_state
        self.calibrate = calibrate
        self.decision = decision
        self.categorical_features = categorical_features
        self.unlabeled = unlabeled
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _growth_options(self) -> dict[str, Any]:
        return {"overlap": self.overlap, "max_boxes": self.max_boxes}

    def _learn(self, samples: Samples, model: BoxModel, callbacks: FitCallbacks) -> None:
        if samples.order is None:
            super()._learn(samples, model, callbacks)
        else:
            fit_two_orders(samples, model, self._growth_parameters(model), callbacks)


@shared_docs
class OnlineGFMM(OnlineMixin, BoxClassifier):
    """Original online learning of a general fuzzy min-max network (Onln-GFMM).

    Each sample is absorbed by the box of its class with the largest membership that can grow to
    contain it without a side longer than `theta`; if there is none, it becomes a new box. A grown
    box may overlap boxes of other classes: it is then contracted against each of them, oldest
    first, in the feature where they overlap least. Contraction may push training samples out of
    their box.

    {parameters}
    {max_boxes}
    {order}
    {calibrate}
    {decision}
    {categorical}
    {unlabeled}
    {class_weight}
    overlap : {"paper", "printed"}, default="paper"
        When boxes of two classes overlap and are contracted. ``"paper"``: by the test behind the
        paper's published runs. ``"printed"``: by the paper's four cases as printed, in which boxes
        with an equal end in any feature do not overlap.

    {attributes}
    {chosen}
    {seen}
    {classes}
    {categories}

    See Also
    --------
    ImprovedOnlineGFMM : Boxes grow only without overlaps, so no sample loses its box.
    AgglomerativeGFMM : Merges the most similar boxes first; all data must be at hand.

    Notes
    -----
    The boxes depend on the order of the samples: `shuffle`. This is Algorithm 1 of [1]_, introduced
    in [2]_, and with ``selection="lemma"`` Algorithm 5. Contracted boxes touch, as in the paper's
    text.

    References
    ----------
    {paper}
    .. [2] B. Gabrys and A. Bargiela, "General fuzzy min-max neural network for clustering and
       classification", IEEE Transactions on Neural Networks 11(3), 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import OnlineGFMM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OnlineGFMM(theta=0.3).partial_fit(X[::2], y[::2], classes=[0, 1, 2])
    >>> model.partial_fit(X[1::2], y[1::2]).score(X, y) > 0.9
    True
    """

    _takes_devices = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ONLINE_CONSTRAINTS,
        **_MORE_CONSTRAINTS,
        "overlap": [StrOptions({"paper", "printed"})],
    }

    def __init__(
        self,
        theta: float | str = 0.2,
        *,
        gamma: Any = 1.0,
        membership_function: str = "mean",
        selection: str = "index",
        overlap: str = "paper",
        scaling: Any = "minmax",
        max_boxes: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        calibrate: bool = True,
        decision: str = "auto",
        categorical_features: Any = "from_dtype",
        unlabeled: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.theta = theta
        self.gamma = gamma
        self.membership_function = membership_function
        self.selection = selection
        self.overlap = overlap
        self.scaling = scaling
        self.max_boxes = max_boxes
        self.shuffle = shuffle
        self.random_state = random_state
        self.calibrate = calibrate
        self.decision = decision
        self.categorical_features = categorical_features
        self.unlabeled = unlabeled
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _growth_options(self) -> dict[str, Any]:
        return {"overlap": self.overlap, "resolution": "contract", "max_boxes": self.max_boxes}
