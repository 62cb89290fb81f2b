"""One tree of the boxes of all classes: the answers are those of a tree for each class."""

from unittest.mock import patch

import numpy as np
import pytest

from hyperboxes import AgglomerativeGFMM, prune
from hyperboxes._models.box_store import AllClassTree
from tests.learners import ImprovedOnlineGFMM

FUNCTIONS = ("min", "mean")
every_function = pytest.mark.parametrize("function", FUNCTIONS)


def joint_from(n_samples):
    """Build the tree when so many samples were asked about."""
    limits = {"_AT_LEAST": n_samples, "_SAMPLES_PER_BOX": 0}
    return patch.multiple("hyperboxes._models.box_store", **limits)


at_once, never = joint_from(0), joint_from(np.inf)


def draw_samples(n_samples, n_classes, seed=0):
    """Draw points of a grid, where distances tie, some values missing, some samples unlabelled."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (n_samples, 4)) / 11
    X[rng.random(X.shape) < 0.05] = np.nan
    y = rng.integers(-1, n_classes, n_samples)
    return X, y


def predictions(model, X):
    """Return what a model says with the tree and without."""
    with at_once:
        joint = model.predict(X), model.apply(X)
        assert AllClassTree.find(model._model.boxes, 1) is not None
    with never:
        vars(model._model.boxes).pop("joint")
        apart = model.predict(X), model.apply(X)
        assert AllClassTree.find(model._model.boxes, 1) is None
    return joint, apart


@every_function
@pytest.mark.parametrize("n_classes", [2, 9])
@pytest.mark.parametrize("theta", [0.05, 0.3])
def test_answers_are_those_of_a_tree_for_each_class(function, n_classes, theta):
    X, y = draw_samples(700, n_classes)
    model = ImprovedOnlineGFMM(theta, membership_function=function, unlabeled=-1).fit(X, y)
    samples, _ = draw_samples(300, n_classes, seed=1)
    joint, apart = predictions(model, np.concatenate([samples, 3 * samples, samples + 0.02]))
    np.testing.assert_array_equal(joint, apart)


@every_function
def test_it_is_built_anew_when_boxes_were_learned(function):
    X, y = draw_samples(400, 3)
    model = ImprovedOnlineGFMM(0.1, membership_function=function, scaling=None, unlabeled=-1)
    for start in range(0, 400, 100):
        model.partial_fit(X[start : start + 100], y[start : start + 100], classes=[0, 1, 2])
        joint, apart = predictions(model, X)
        np.testing.assert_array_equal(joint, apart)


def test_it_does_not_find_boxes_that_are_hidden():
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 3)), rng.integers(0, 3, 300)
    model = ImprovedOnlineGFMM(0.2).fit(X[:200], y[:200])
    with at_once:
        joint = prune(model, X[200:], y[200:]).hyperboxes_
    with never:
        apart = prune(model, X[200:], y[200:]).hyperboxes_
    np.testing.assert_array_equal(joint.lower, apart.lower)
    boxes = model._model.boxes
    with at_once:
        before = model.predict(X)
        boxes.hide(0)
        hidden = model.predict(X)
        boxes.show(0)
        np.testing.assert_array_equal(model.predict(X), before)
    with never:
        boxes.hide(0)
        np.testing.assert_array_equal(model.predict(X), hidden)
    assert (hidden != before).any()


def test_it_is_built_when_enough_was_asked():
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 3)), rng.integers(0, 2, 400)
    model = AgglomerativeGFMM(0.1).fit(X, y)
    boxes = model._model.boxes
    with joint_from(25):
        model.predict(X[:20])
        assert AllClassTree.find(boxes, 0) is None
        model.predict(X[:4])
        assert AllClassTree.find(boxes, 0) is None
        model.predict(X[:1])
        assert AllClassTree.find(boxes, 0) is not None
