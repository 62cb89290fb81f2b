"""Samples without a label, in all learners.

That boxes equal the reference's is tested with all other problems (see `strategies`).
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from tests.learners import ImprovedOnlineGFMM, every_estimator, every_online_learner


@every_estimator
def test_without_the_parameter_every_value_is_a_class(learner):
    model = clone(learner).set_params(unlabeled=None).fit([[0.0], [1.0]], [-1, 1])
    assert model.classes_.tolist() == [-1, 1]
    assert model.predict([[0.1]]) == -1


@every_estimator
@pytest.mark.parametrize("marker", [-1, "?", 2.5])
def test_labels_spread_over_what_joins(learner, marker):
    X = np.array([[0.0], [0.1], [0.2], [0.9], [1.0]])
    y = np.array([marker, 0, marker, 1, marker], object)
    model = clone(learner).set_params(theta=0.25, scaling=None, unlabeled=marker)
    boxes = model.fit(X, y).hyperboxes_
    assert model.classes_.tolist() == [0, 1]
    assert boxes.labels.tolist() == [0, 1]
    assert boxes.counts.tolist() == [3, 2]
    np.testing.assert_allclose(boxes.upper.ravel(), [0.2, 1.0])


@every_estimator
def test_boxes_that_no_label_joins_are_kept_but_predict_nothing(learner):
    X, y = [[0.0], [0.05], [0.9]], [-1, -1, 1]
    model = clone(learner).set_params(theta=0.2, scaling=None, unlabeled=-1).fit(X, y)
    assert model.hyperboxes_.labels.tolist() == [-1, 0]
    assert model.hyperboxes_.counts.tolist() == [2, 1]
    assert model.membership([[0.0]], unlabeled=True)[:, 0] == 1
    assert model.predict([[0.0]]) == 1
    assert model.predict_proba([[0.0]]).tolist() == [[1.0]]


@every_online_learner
def test_a_later_sample_labels_a_box(cls):
    model = cls(theta=0.5, scaling=None, unlabeled=-1)
    model.partial_fit([[0.1], [0.3]], [-1, -1], classes=[0, 1])
    with pytest.raises(ValueError, match="No box has a label yet"):
        model.predict([[0.1]])
    model.partial_fit([[0.2]], [1])
    assert model.hyperboxes_.labels.tolist() == [1]
    assert model.hyperboxes_.counts.tolist() == [3]
    assert model.predict([[0.1]]) == 1


def test_a_box_is_not_labelled_over_another_class():
    """Grown to hold the last sample, the box without a label would have that of class 1 in it."""
    model = ImprovedOnlineGFMM(theta=0.15, scaling=None, unlabeled=-1)
    model.partial_fit([[0.0], [0.1], [0.3]], [-1, -1, 1], classes=[0, 1])
    model.set_params(theta=0.6).partial_fit([[0.5]], [0])
    assert model.hyperboxes_.labels.tolist() == [-1, 1, 0]
    model.partial_fit([[0.2]], [0])
    assert model.hyperboxes_.labels.tolist() == [0, 1, 0]


def test_a_box_without_label_does_not_grow_over_a_labelled_one():
    X, y = [[0.5], [0.2], [0.8]], [0, -1, -1]
    model = ImprovedOnlineGFMM(theta=0.25, scaling=None, unlabeled=-1).fit(X, y)
    model.set_params(theta=0.7).partial_fit([[0.75]], [-1])
    boxes = model.hyperboxes_
    assert not ((boxes.lower[1:] <= 0.5) & (boxes.upper[1:] >= 0.5)).any()


@every_estimator
def test_labels_of_several_types_are_refused(learner):
    y = np.array([0, "a", "?"], object)
    with pytest.raises(ValueError, match="Unknown label type"):
        clone(learner).set_params(unlabeled="?").fit([[0.0], [0.5], [1.0]], y)


@every_estimator
def test_all_labels_must_not_be_missing(learner):
    with pytest.raises(ValueError, match="y holds no label: every value is -1"):
        clone(learner).set_params(unlabeled=-1).fit([[0.0], [1.0]], [-1, -1])


@every_estimator
def test_few_labels_go_a_long_way(learner):
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    few = np.where(rng.random(len(y)) < 0.1, y, -1)
    model = clone(learner).set_params(theta=0.3, scaling="minmax", unlabeled=-1).fit(X, few)
    assert model.score(X, y) > 0.8
