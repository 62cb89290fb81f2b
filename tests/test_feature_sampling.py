"""How many features the members of an ensemble draw, and which: what scouts tell."""

import numpy as np
import pytest

from hyperboxes import RandomHyperboxes
from hyperboxes._learning.ensemble import CodedSamples, OutOfBag, _find_best, _take_some


def n_drawn(X, y, **parameters):
    """Return how many features members have drawn."""
    model = RandomHyperboxes(n_estimators=10, random_state=0, **parameters).fit(X, y)
    return {len(features) for features in model.estimators_features_}


def rings(n_samples, n_features):
    """Return two classes that differ in how far they spread: each feature tells a little."""
    y = np.arange(n_samples) % 2
    X = np.random.default_rng(0).normal(size=(n_samples, n_features))
    return X * (1 + y)[:, np.newaxis], y


@pytest.mark.parametrize("weighted", [True, False])
def test_few_features_where_these_do_better(weighted):
    X, y = rings(300, 25)
    assert max(n_drawn(X, y, weighted_features=weighted)) <= 4
    assert min(n_drawn(X, y, weighted_features=weighted, max_features=(5, 10))) >= 5


def test_more_features_where_few_tell_nothing():
    X = np.random.default_rng(0).random((400, 9))
    assert min(n_drawn(X, (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5))) >= 3


@pytest.mark.parametrize(("X", "y"), [([[1.0]], [0]), ([[1.0, 2.0]] * 3, [0, 0, 0])])
def test_the_usual_number_where_nothing_is_told(X, y):
    assert n_drawn(X, y) == {len(X[0])}


def make_samples(y, weights=None):
    codes = np.zeros((len(y), 3), np.uint8)
    return CodedSamples(codes, codes, np.array(y), max(y) + 1, weights)


def test_some_samples_have_all_classes():
    y = np.repeat([0, 1, 2], [5000, 4999, 1])
    some = _take_some(make_samples(y), np.random.RandomState(0))
    assert np.bincount(some.y).tolist() == [625, 625, 1]
    few = make_samples(y[::10])
    assert _take_some(few, np.random.RandomState(0)) is few


def test_the_best_is_most_probable_by_weight_where_all_are_known():
    votes = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.2, 0.8]])
    y = np.array([0, 0, 1, 1])

    def trial(votes, copies):
        return OutOfBag(np.array(copies), votes, y[copies], np.ones(len(copies)))

    right, timid = trial(votes, [0, 1, 2, 3]), trial((votes + 0.5) / 2, [0, 1, 2, 3])
    wrong = trial(np.concatenate([votes[:2], 1 - votes[2:]]), [0, 1, 2, 3])
    unsure = trial(np.concatenate([1 - votes[:1], votes[1:]]), [0, 1, 2, 3])
    assert _find_best([wrong, right], make_samples(y)) == 1
    assert _find_best([right, right], make_samples(y)) == 0
    assert _find_best([timid, wrong], make_samples(y)) == 0
    assert _find_best([unsure, trial(votes[1:], [1, 2, 3])], make_samples(y)) == 1
    late = trial(np.concatenate([votes[:3], 1 - votes[3:]]), [0, 1, 2, 3])
    assert _find_best([unsure, late], make_samples(y, np.array([1.0, 0.5, 0.5, 0.1]))) == 1
    assert _find_best([unsure, late], make_samples(y, np.array([0.1, 0.5, 0.5, 1.0]))) == 0
