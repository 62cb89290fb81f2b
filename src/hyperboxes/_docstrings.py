"""Docstrings that share passages, each written once, and the passages that estimators share."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TypeVar


def fill_docstrings(cls: type, passages: Mapping[str, str]) -> None:
    """Replace the passages' names in braces, such as ``{parameters}``, by the passages.

    That is in the docstrings of a class, and of the methods that it defines. A passage may name
    those that come after it.
    """
    for documented in (cls, *filter(inspect.isfunction, map(_function, vars(cls).values()))):
        if documented.__doc__ is not None:  # python -OO drops docstrings
            text = inspect.cleandoc(documented.__doc__)
            for name, passage in passages.items():
                text = text.replace(f"{{{name}}}", passage.strip())
            documented.__doc__ = text


def _function(attribute: object) -> object:
    """Return what a class method calls, and anything else as it is."""
    return attribute.__func__ if isinstance(attribute, classmethod) else attribute


T = TypeVar("T")

_PASSAGES = {
    "parameters": """
Parameters
----------
{theta}
{gamma}
{membership_function}
{search}
""",
    "theta": """
theta : float, default={default_theta}
    How far boxes may grow: their longest side, as a fraction of each feature's range. It is a
    bound. With a small one boxes follow the data closely, and are many; as it grows they get
    fewer, until they are in the way of other classes: then there may be more boxes again, and
    worse ones. :class:`ThetaDisplay` shows it for your data.
""",
    "gamma": """
gamma : float or array-like of shape (n_features,), default=1.0
    How fast membership falls with the distance from a box, the same for all features or one
    each: at distance ``1 / gamma`` it is 0.
""",
    "membership_function": """
membership_function : {"mean", "min"}, default="{default_membership_function}"
    What the memberships in single features add up to, in learning and prediction. ``"mean"``: their
    mean, as in Simpson's networks, so that all features count. ``"min"``: the least of them, as in
    GFMM and the paper, so that the feature in which a sample misses a box most decides alone. The
    mean is more accurate on most data (``make bench-membership``).
""",
    "search": """
selection : {"index", "lemma", "all"}, default="index"
    How boxes that may grow are found. ``"index"``: by a tree that leaves out most of them unseen.
    ``"lemma"``: among all boxes of the class that the paper's lemma allows. ``"all"``: among every
    box of the class, the original algorithm. All give the same boxes for the same `random_state`;
    only the time and `n_candidates_` differ.
scaling : {"minmax"}, array-like of shape (2, n_features) or None, default="minmax"
    What is mapped to [0, 1]. ``"minmax"``: the range of each feature in the first training call.
    An array ``[lowest, highest]``: ranges known in advance, as streams need them; values beyond
    them are fine, and NaN leaves a feature as it is. None: nothing, the training data lie in
    [0, 1] already.
n_jobs : int, default=None
    How many threads predict. None means 1 unless in a :obj:`joblib.parallel_config` context, -1
    all processors. Learning always takes one.
""",
    "max_boxes": """
max_boxes : int, default=None
    How many boxes there may be. When a sample would become one more, the box that was confirmed
    longest ago goes, and the new one takes its place. A sample confirms the box that it joins or
    becomes. Of use in streams that change: old boxes go by themselves, and neither memory nor time
    grows. None: as many as there are, and no box is ever forgotten.
""",
    "order": """
shuffle : bool, default=True
    Whether `fit` learns the samples in a random order. Boxes depend on it, and samples sorted by
    class, as in many files, make many more boxes that predict worse. False: in the order given, as
    in the paper. `partial_fit` never shuffles.
random_state : int, RandomState instance or None, default=None
    Seeds that order. An int gives the same boxes each time.
""",
    "calibrate": """
calibrate : bool, default=True
    Whether to learn how probable memberships make a class, for `predict_proba`. That takes most of
    the time of `fit` where samples are few. False: the algorithm alone, for those who time it.
""",
    "categorical": """
categorical_features : "from_dtype", list or None, default="from_dtype"
    Which columns hold categories: values that are equal or not, rather than more or less.
    ``"from_dtype"``: those of a data frame whose type is categorical, Boolean or text (of which
    at most half are numbers). A list has names or indices, or a Boolean for each feature. None:
    none, everything must be a number. Boxes hold sets of categories that are alike in what they
    tell of the classes: `categories_`. Those that were never learned, and None or NaN, are missing
    values.
""",
    "categories": """
categories_ : dict
    The values of each categorical feature, by its name or else its index, in an order in which a
    box holds those from one to another. Neighbours tell most alike of the classes.
""",
    "unlabeled": """
unlabeled : object, default=None
    The value of `y` that says that a sample has no label, such as -1. Such samples join boxes of
    any class or none; a box takes on the first label that joins it. None: every value is a label.
""",
    "similarity": """
similarity : {"longest", "shortest", "mid-max", "mid-min"}, default="longest"
    How similar two boxes are: 1 minus a distance, which is taken between their far faces
    (``"longest"``: compact boxes first), their near faces (``"shortest"``: neighbours first,
    however large the result), or by how far one reaches out of the other, for the one that
    reaches less far (``"mid-max"``: small boxes join large ones) or farther (``"mid-min"``:
    boxes of like size and place first).
min_similarity : float, default=0.0
    Boxes less similar than this are not merged (sigma in the paper).
""",
    "overlap": """
overlap : {"closed", "paper", "printed"}, default="closed"
    When boxes of two classes overlap. ``"closed"``: if they share a point. ``"paper"``: the test
    behind the paper's published runs, in which boxes may touch and flat boxes escape.
    ``"printed"``: the paper's four cases as printed, in which boxes with an equal end in any
    feature do not overlap either.
""",
    "attributes": """
Attributes
----------
hyperboxes_ : Hyperboxes
    The boxes, in data units: arrays `lower`, `upper`, `labels` and `counts`.
n_candidates_ : int
    How many boxes were tried for growth, or pairs for merging: all up to and including the one
    that succeeds; none for a sample that a box holds already. With ``selection="lemma"`` and
    ``"all"`` as the paper counts, with ``"index"`` those that were really tried, which may
    depend on how samples are divided into batches.
data_min_, data_max_ : ndarray of shape (n_features,)
    The range of each feature that is mapped to [0, 1]; 0 and 1 with ``scaling=None``.
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (n_features,)
    Names of the features, where `X` has columns with names.
""",
    "seen": """
n_samples_seen_ : int
    How many samples were learned, those of forgotten boxes included.
box_ages_ : ndarray of int, shape (n_boxes,)
    How many samples were learned since each box was last confirmed.
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
    says which features there are.
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
    What `predict` says, as a plain Python value; None before anything was learned.
""",
    "predict_proba_one": """
Parameters
----------
x : dict or sequence of n_features numbers
    As in `learn_one`.

Returns
-------
p : dict of label to float
    What `predict_proba` says; empty before anything was learned.
""",
    "whole_weights": """
sample_weight : array-like of shape (n_samples,), default=None
    Weights, whole numbers: a sample with a weight of 2 counts as the sample twice in a row,
    one with 0 is left out. None: every sample counts once.
""",
    "goes_on": """
Returns
-------
self : object
    The estimator. If the call is interrupted, it has learned the first samples of `X` and
    remains usable; ``n_samples_seen_`` tells how many.
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
{asked}

Returns
-------
y : ndarray of shape (n_samples,)
    Predicted labels.
""",
    "asked": """
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
