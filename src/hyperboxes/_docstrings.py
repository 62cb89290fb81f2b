"""Docstrings that share passages, each written once, and the passages that estimators share."""

import inspect
from collections.abc import Mapping
from typing import TypeVar


def fill_docstrings(cls: type, passages: Mapping[str, str]) -> None:
    """Replace the passages' names in braces, such as ``{parameters}``, by the passages.

    That is in the docstrings of a class, and of the methods that it defines. A passage may name
    those that come after it.
    """
    attributes = (
        getattr(value, "__func__", value) for value in vars(cls).values()
    )  # class methods
    for documented in (cls, *filter(inspect.isfunction, attributes)):
        if documented.__doc__ is not None:  # python -OO drops docstrings
            text = inspect.cleandoc(documented.__doc__)
            for name, passage in passages.items():
                text = text.replace(f"{{{name}}}", passage.strip())
            documented.__doc__ = text


T = TypeVar("T")

_PASSAGES = {
    "parameters": """
Parameters
----------
{auto_theta}
{gamma}
{membership_function}
{search}
""",
    "auto_theta": """
theta : float or "auto", default={default_theta}
    {maximum_side}
    ``"auto"``: the largest of 0.05, 0.1, 0.2, 0.35, 0.5 and 0.7 whose accuracy in cross-validation
    on up to 3,000 samples is within a standard error of the best: `theta_`. The fit takes about
    four times as long. The first call of `partial_fit` chooses, and then needs 50 samples.
""",
    "theta": """
theta : float, default={default_theta}
    {maximum_side}
""",
    "maximum_side": """
The maximum side of a box, as a fraction of each feature's range. A small value gives many boxes
    that follow the data closely. Larger values give fewer boxes, until boxes block those of
    other classes: then there may be more again, and the accuracy falls. :class:`ThetaDisplay` shows
    the effect on your data.
""",
    "gamma": """
gamma : float or array-like of shape (n_features,), default=1.0
    How fast the membership decreases with the distance from a box, for all features or for each.
    At the distance ``1 / gamma`` it is 0.
""",
    "membership_function": """
membership_function : {"mean", "min"}, default="{default_membership_function}"
    How memberships in single features are combined, in learning and prediction. ``"mean"``: their
    mean, as in Simpson's networks, so that all features count. ``"min"``: the least of them, as in
    GFMM and the paper, so that only the feature counts in which the sample is farthest outside. The
    mean is more accurate on most data (``make bench-membership``).
""",
    "search": """
selection : {"index", "lemma", "all"}, default="index"
    How boxes that may grow are found. ``"index"``: by a tree that excludes most of them at once.
    ``"lemma"``: among the boxes of the class that the paper's lemma allows. ``"all"``: among all
    boxes of the class, the original algorithm. All give the same boxes for the same
    `random_state`; only the time and `n_candidates_` differ.
{scaling}
""",
    "scaling": """
scaling : {"minmax"}, array-like of shape (2, n_features) or None, default="minmax"
    The ranges that are mapped to [0, 1]. ``"minmax"``: those of the first training call. An array
    ``[lowest, highest]``: ranges that are known in advance, for streams; values may be outside, and
    NaN leaves a feature as it is. None: no scaling, for training data in [0, 1].
n_jobs : int, default=None
    The number of threads in prediction. None: 1 unless in a :obj:`joblib.parallel_config` context.
    -1: all processors. Learning uses one thread.
""",
    "max_boxes": """
max_boxes : int, default=None
    The maximum number of boxes, for streams with concept drift. A new box beyond it replaces the
    box that was matched least recently. A sample matches the box that it joins or becomes. Memory
    and time per sample are then bounded. None: no limit; no box is evicted.
""",
    "order": """
shuffle : bool, default=True
    Whether `fit` learns the samples in random order. The boxes depend on the order: samples sorted
    by class, as in many files, give many more boxes, which predict worse. False: the given order,
    as in the paper. `partial_fit` never shuffles.
random_state : int, RandomState instance or None, default=None
    The seed of that order. Pass an int for the same boxes each time.
""",
    "calibrate": """
calibrate : bool, default=True
    Whether `fit` also calibrates probabilities for `predict_proba`. With few samples this takes
    most of its time. False: only the algorithm, for example to measure its time.
""",
    "decision": """
decision : {"auto", "nearest"}, default="auto"
    Which boxes decide. ``"auto"``: of each class the nearest one, or the 2, 5 or 10 nearest
    together, whichever has the lower log-loss in calibration: `n_neighbors_`. ``"nearest"``: the
    nearest one, as in the paper and with ``calibrate=False``. One box is then the reason for each
    prediction, and SQL and ONNX have the shortest form.
""",
    "chosen": """
theta_ : float
    The maximum side of a box: `theta`, or what ``theta="auto"`` has chosen.
theta_path_ : dict of ndarray or None
    With ``theta="auto"``, the values compared (`theta`) and, in cross-validation, their `accuracy`,
    its `standard_error`, and the mean `n_boxes`: columns of a data frame. Values smaller than one
    that gives nearly as many boxes as samples are not compared.
    ``ThetaDisplay.from_estimator(model)`` draws them. NaN with too few samples or a single class.
{neighbors}
""",
    "neighbors": """
n_neighbors_ : int
    The number of boxes of each class that decide together: 1, 2, 5 or 10. `partial_fit` may change
    it.
""",
    "categorical": """
categorical_features : "from_dtype", list or None, default="from_dtype"
    The columns of categories: values that are equal or not, but not smaller or larger.
    ``"from_dtype"``: columns of a data frame whose type is categorical, Boolean or text (of which
    at most half are numbers). A list contains names, indices, or a Boolean for each feature. None:
    no column. Boxes contain sets of categories with similar class distributions: `categories_`.
    Categories that were not learned, None and NaN are missing values.
""",
    "categories": """
categories_ : dict
    The values of each categorical feature, by its name or else its index. Neighbors in their order
    have similar class distributions; a box contains all from one value to another.
""",
    "unlabeled": """
unlabeled : object, default=None
    The value of `y` that marks a sample without a label, such as -1. Such a sample can join a box
    of any class or none. A box without a label gets that of the first labelled sample that joins
    it. None: every value is a label.
""",
    "class_weight": """
class_weight : dict or "balanced", default=None
    How much each class counts, by its label: probabilities are multiplied with it, and `predict`
    returns the largest product. ``"balanced"``: in inverse proportion to the samples of the
    classes. It changes no box, and `set_params` changes it in a fitted model. None: the nearest box
    decides.
""",
    "similarity": """
similarity : {"longest", "shortest", "mid-max", "mid-min"}, default="longest"
    The similarity of two boxes: 1 minus a distance. ``"longest"``: between their far faces, so that
    compact boxes come first. ``"shortest"``: between their near faces, so that neighbors come
    first, however large the result. ``"mid-max"`` and ``"mid-min"``: how far one box reaches out of
    the other, of the two the smaller distance (small boxes join large ones) or the larger (boxes
    with similar size and position come first).
min_similarity : float, default=0.0
    The least similarity of boxes that are merged (sigma in the paper).
""",
    "overlap": """
overlap : {"closed", "paper", "printed"}, default="closed"
    The test of whether boxes of two classes overlap. ``"closed"``: they share a point. ``"paper"``:
    the test of the paper's published runs, by which boxes may touch, and flat boxes may overlap.
    ``"printed"``: the paper's four cases as printed, by which boxes with an equal end in any
    feature do not overlap either.
""",
    "attributes": """
Attributes
----------
hyperboxes_ : Hyperboxes
    The boxes, in data units: arrays `lower`, `upper`, `labels` and `counts`.
n_candidates_ : int
    The number of boxes tried for growth, or of pairs tried for merging, up to and including the one
    that succeeds; none for a sample that a box contains. ``selection="lemma"`` and ``"all"`` count
    as the paper does. ``"index"`` counts what was tried, which may depend on the batches.
data_min_, data_max_ : ndarray of shape (n_features,)
    The range of each feature that is mapped to [0, 1]; 0 and 1 with ``scaling=None``.
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (n_features,)
    Names of the features, where `X` has columns with names.
""",
    "seen": """
n_samples_seen_ : int
    The number of samples learned, including those of evicted boxes.
box_ages_ : ndarray of int, shape (n_boxes,)
    The number of samples learned since each box was last matched.
""",
    "classes": """
classes_ : ndarray of shape (n_classes,)
    The class labels.
""",
    "learned": """
X : array-like of shape (n_samples, n_features)
    The samples; the lower ends where samples are intervals. NaN where a value is missing.
""",
    "interval_ends": """
X_upper : array-like of shape (n_samples, n_features), default=None
    The upper ends of interval samples. None: samples are points.
""",
    "learn_one": """
It gives what `partial_fit` gives, without scikit-learn's validation and callbacks. There is
no need to name classes in advance.

Parameters
----------
x : dict or sequence of n_features numbers
    The sample. A dictionary has the features by name, in any order; if the model has no
    names, by number, from 0. Features that are not there are missing. The first sample
    determines which features there are.
y : object
    Its label.
""",
    "predict_one": """
Parameters
----------
x : dict or sequence of n_features numbers
    As in `learn_one`.

Returns
-------
y : object
    What `predict` returns, as a plain Python value; None before anything was learned.
""",
    "predict_proba_one": """
Parameters
----------
x : dict or sequence of n_features numbers
    As in `learn_one`.

Returns
-------
p : dict of label to float
    What `predict_proba` returns; empty before anything was learned.
""",
    "whole_weights": """
sample_weight : array-like of shape (n_samples,), default=None
    Weights, whole numbers. A weight of 2 means the sample twice in a row, 0 leaves it out. Where
    weights sum up to more than twice the number of samples, and to more than 10,000 beyond it, some
    copies in proportion are learned, and boxes count the others. None: every sample counts once.
""",
    "goes_on": """
Returns
-------
self : object
    The estimator. If the call is interrupted, it has learned the first samples of `X` and
    remains usable; ``n_samples_seen_`` counts them.
""",
    "tested": """
Parameters
----------
X : array-like of shape (n_samples, n_features)
    Test samples.
y : array-like of shape (n_samples,)
    True labels.
sample_weight : array-like of shape (n_samples,), default=None
    Weights of the samples in the mean.
""",
    "accuracy": """
Returns
-------
score : float
    Mean accuracy.
""",
    "predict": """
Parameters
----------
{samples_to_predict}

Returns
-------
y : ndarray of shape (n_samples,)
    Predicted labels.
""",
    "samples_to_predict": """
X : array-like of shape (n_samples, n_features)
    The samples, or the lower ends of interval samples; values outside the range of the training
    data are fine, and so is NaN for missing ones.
X_upper : array-like of shape (n_samples, n_features), default=None
    The upper ends of interval samples.
""",
    "predict_proba": """
{as_in_predict}

Returns
-------
p : ndarray of shape (n_samples, n_classes)
    Columns in the order of ``classes_``.
""",
    "unlabeled_node": """
unlabeled : bool, default=False
    Whether the first column is that of the boxes without a label, the node c0 of the paper's
    output layer. Prediction uses the labelled boxes alone.
""",
    "as_in_predict": """
Parameters
----------
X, X_upper : array-like of shape (n_samples, n_features)
    As in `predict`.
""",
    "paper": """
.. [1] T. T. Khuat and B. Gabrys, "Accelerated learning algorithms of general fuzzy min-max
   neural network using a novel hyperbox selection rule", Information Sciences 547, 2021.
""",
}


def shared_docs(cls: type[T]) -> type[T]:
    """Fill the passages into the docstrings of a learner."""
    fill_docstrings(cls, {**_PASSAGES, **_defaults(cls)})
    return cls


def _defaults(cls: type) -> dict[str, str]:
    """Return the defaults that differ between learners, by the names that passages call them."""
    parameters = inspect.signature(cls).parameters
    names = ("theta", "membership_function")
    return {
        f"default_{name}": str(parameters[name].default) for name in names if name in parameters
    }
