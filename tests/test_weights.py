"""Weights of samples: 2 is a sample twice, 0 is none, in all that is learned."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from hyperboxes import (
    AgglomerativeGFMM,
    ContentiousFuzzyMinMax,
    FuzzyMinMax,
    ImprovedOnlineGFMM,
    MixedGFMM,
    MultiGranularGFMM,
    OnlineGFMM,
)
from tests.learners import same_boxes
from tests.tables import make_table

LEARNERS = [
    ImprovedOnlineGFMM(random_state=0),
    ImprovedOnlineGFMM(shuffle=False, calibrate=False),
    OnlineGFMM(random_state=0),
    AgglomerativeGFMM(),
    AgglomerativeGFMM(algorithm="agglo2"),
]
OTHERS = [
    MixedGFMM(random_state=0),
    ContentiousFuzzyMinMax(random_state=0),
    MultiGranularGFMM(random_state=0),
]
WEIGHTS = np.arange(60) % 4


def assert_same(weighted, repeated, X):
    assert same_boxes(weighted, repeated)
    assert weighted.classes_.tolist() == repeated.classes_.tolist()
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("model", [*LEARNERS, *OTHERS], ids=str)
def test_weights_repeat_samples(model):
    """In tables with categories, too, of which some only samples of weight 0 have."""
    table, y = make_table(60)
    table.loc[WEIGHTS == 0, "colour"] = "never"
    rows = np.repeat(np.arange(60), WEIGHTS)
    weighted = clone(model).fit(table, y, sample_weight=WEIGHTS)
    repeated = clone(model).fit(table.iloc[rows], y[rows])
    assert weighted.categories_ == repeated.categories_
    assert_same(weighted, repeated, table)
    assert weighted.hyperboxes_.counts.sum() == WEIGHTS.sum()


@pytest.mark.parametrize("model", [*LEARNERS[:3], FuzzyMinMax()], ids=str)
def test_weights_of_intervals_in_batches(model):
    model = clone(model)
    random = np.random.default_rng(0)
    X, y = random.uniform(size=(60, 3)), np.arange(60) % 3
    X_upper = X + 0.05
    model.set_params(scaling=[[0] * 3, [1] * 3])
    weighted, repeated = clone(model), clone(model)
    for rows in np.split(np.arange(60), 2):
        weights, again = WEIGHTS[rows], np.repeat(rows, WEIGHTS[rows])
        weighted.partial_fit(X[rows], y[rows], [0, 1, 2], X_upper[rows], sample_weight=weights)
        repeated.partial_fit(X[again], y[again], [0, 1, 2], X_upper[again])
    assert_same(weighted, repeated, X)
    assert weighted.n_samples_seen_ == WEIGHTS.sum()


def test_classes_of_samples_without_weight_are_left_out():
    X, y = [[0.0], [0.5], [1.0]], ["a", "b", "c"]
    assert ImprovedOnlineGFMM().fit(X, y, sample_weight=[1, 0, 2]).classes_.tolist() == ["a", "c"]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 0.5, 1], "sample_weight holds 0.5 in row 1, but boxes count samples"),
        ([0, 0, 0], "at least one non-zero"),
        ([1, -1, 1], "Negative values"),
        ([1, 2], r"shape"),
    ],
)
def test_wrong_weights_change_nothing(weights, message):
    X, y = pd.DataFrame({"a": [0.0, 0.5, 1.0], "b": ["x", "y", "x"]}), [0, 0, 1]
    model = ImprovedOnlineGFMM(random_state=0)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sample_weight=weights)
    assert set(vars(model)) == set(model.get_params())
    model.fit(X, y)
    counts = model.hyperboxes_.counts
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.hyperboxes_.counts, counts)
