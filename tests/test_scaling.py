"""Scaling to [0, 1] and the boxes back to data units."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.preprocessing import MinMaxScaler

from hyperboxes import AgglomerativeGFMM
from hyperboxes._models.samples import MinMaxScale
from tests.learners import ONLINE_LEARNERS, ImprovedOnlineGFMM, every_online_learner, same_boxes

tables = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 20), st.integers(1, 3)), elements=st.floats(-1e6, 1e6)
)


@example(np.array([[2.0], [5e-324]]))
@given(tables)
def test_ranges_become_the_unit_interval(values):
    scale = MinMaxScale.learn(values, values)
    scaled = scale.transform(values)
    varies = values.min(axis=0) < values.max(axis=0)
    np.testing.assert_array_equal(scaled.min(axis=0), 0)
    np.testing.assert_array_equal(scaled.max(axis=0), varies)
    np.testing.assert_allclose(scale.restore(scaled), values, rtol=1e-9, atol=1e-9 * 2e6)
    restored = scale.restore(scaled)
    np.testing.assert_array_equal(restored.min(axis=0), values.min(axis=0))
    np.testing.assert_array_equal(restored.max(axis=0), values.max(axis=0))


@given(tables)
def test_what_is_restored_is_scaled_to_the_same_values(values):
    scale = MinMaxScale.learn(values, values)
    scaled = scale.transform(values)
    np.testing.assert_array_equal(scale.transform(scale.restore(scaled)), scaled)


@example(np.array([[3], [4], [0]]), 9)
@given(
    hnp.arrays(
        np.int64,
        st.tuples(st.integers(2, 20), st.integers(1, 3)),
        elements=st.integers(-(10**6), 10**6),
    ),
    st.integers(0, 9),
)
def test_decimal_numbers_come_back_as_they_were_typed(integers, decimals):
    values = integers / 10**decimals
    scale = MinMaxScale.learn(values, values)
    np.testing.assert_array_equal(scale.restore(scale.transform(values)), values)


def test_ranges_can_be_read():
    X = [[10.0, 5.0], [20.0, 5.0]]
    model = ImprovedOnlineGFMM().fit(X, [0, 1])
    assert model.data_min_.tolist() == [10, 5]
    assert model.data_max_.tolist() == [20, 5]
    model = ImprovedOnlineGFMM(scaling=None).fit([[0.2, 0.4]], [0])
    assert model.data_min_.tolist() == [0, 0]
    assert model.data_max_.tolist() == [1, 1]


def test_boxes_are_in_data_units():
    model = ImprovedOnlineGFMM(theta=0.5).fit([[10, 5], [12, 5], [20, 5]], ["a", "a", "b"])
    boxes = model.hyperboxes_
    np.testing.assert_allclose(boxes.lower, [[10, 5], [20, 5]])
    np.testing.assert_allclose(boxes.upper, [[12, 5], [20, 5]])


def test_scaling_is_learned_once():
    model = ImprovedOnlineGFMM(theta=0.5).partial_fit([[0], [10]], [0, 1], classes=[0, 1])
    model.partial_fit([[20], [1005]], [1, 1])
    np.testing.assert_allclose(model.hyperboxes_.upper.ravel(), [0, 10, 20, 1005])


def test_constant_features_are_only_shifted():
    model = ImprovedOnlineGFMM().fit([[0, 7], [1, 7]], [0, 1])
    model.partial_fit([[0, 8]], [0])
    np.testing.assert_allclose(model.hyperboxes_.upper, [[0, 7], [1, 7], [0, 8]])


def test_what_rounding_leaves_beyond_the_unit_interval_is_fine():
    X = MinMaxScaler().fit_transform([[2.3], [2.4], [5.2]])
    beyond = np.nextafter(X, 2)
    assert beyond.max() > 1
    model = ImprovedOnlineGFMM(scaling=None).fit(beyond, [0, 0, 1])
    assert model.predict(beyond).tolist() == [0, 0, 1]


def test_one_sample_cannot_tell_the_ranges():
    with pytest.warns(UserWarning, match="larger batch"):
        ImprovedOnlineGFMM().partial_fit([[3.0]], [0], classes=[0, 1])


def test_hyperboxes_are_read_only_and_kept():
    model = ImprovedOnlineGFMM().fit([[0.0], [1.0]], [0, 1])
    boxes = model.hyperboxes_
    assert len(boxes) == 2
    assert model.hyperboxes_ is boxes
    for same in (boxes, copy.copy(boxes), copy.deepcopy(boxes), pickle.loads(pickle.dumps(boxes))):
        np.testing.assert_array_equal(same.upper, [[0.0], [1.0]])
        with pytest.raises(ValueError, match="read-only"):
            same.lower[0] = 5
    model.partial_fit([[0.5]], [0])
    assert model.hyperboxes_ is not boxes


@every_online_learner
@given(
    values=hnp.arrays(
        np.float64,
        st.tuples(st.integers(2, 30), st.integers(1, 3)),
        elements=st.one_of(st.floats(-1e3, 1e3), st.just(np.nan)),
    ),
    data=st.data(),
)
def test_with_known_ranges_batching_does_not_matter(cls, values, data):
    """Also a first batch of one sample, of which nobody is warned."""
    y = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(values), max_size=len(values))))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(values) - 1))))
    whole = cls(theta=0.4).fit(values, y)
    with np.errstate(invalid="ignore"):
        ranges = np.array([np.fmin.reduce(values), np.fmax.reduce(values)])
    assert same_boxes(cls(theta=0.4, scaling=ranges).fit(values, y), whole)
    streamed = cls(theta=0.4, scaling=ranges.tolist())
    for X, labels in zip(np.split(values, cuts), np.split(y, cuts), strict=True):
        streamed.partial_fit(X, labels, classes=np.unique(y))
    assert same_boxes(streamed, whole)
    np.testing.assert_array_equal(streamed.data_min_, whole.data_min_)
    np.testing.assert_array_equal(streamed.data_max_, whole.data_max_)
    np.testing.assert_array_equal(streamed.membership(values), whole.membership(values))
    at_once = cls(theta=0.4, scaling=ranges).partial_fit(values, y, classes=np.unique(y))
    np.testing.assert_array_equal(streamed.predict_proba(values), at_once.predict_proba(values))


@pytest.mark.parametrize("cls", [*ONLINE_LEARNERS, AgglomerativeGFMM])
def test_values_beyond_known_ranges(cls):
    model = cls(theta=0.1, scaling=[[0.0, np.nan], [10.0, np.nan]])
    model.fit([[-5.0, 7.0], [5.0, 7.05], [25.0, 7.0]], [0, 0, 1])
    np.testing.assert_array_equal(model.hyperboxes_.lower, [[-5, 7], [5, 7.05], [25, 7]])
    assert model.data_min_.tolist() == [0, 0]
    assert model.data_max_.tolist() == [10, 0]  # NaN: the feature stays as it is
    assert model.predict([[30.0, 7.0], [-20.0, 7.0]]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ([0.0, 1.0], r"each with one number per feature: it has shape \(2,\), but X has 1"),
        ([[0.0, 0.0], [1.0, 1.0]], r"shape \(2, 2\), but X has 1 features"),
        ([[2.0], [1.0]], "column 'width' the range from 2.0 to 1.0; it must not end below"),
        ([[0.0], [np.nan]], "both or none are known"),
        ([[0.0], [np.inf]], "scaling contains infinity"),
        ([[-1e308], [1e308]], "too large for float64"),
        ([["a"], ["b"]], "could not convert string"),
    ],
)
def test_bad_ranges_change_nothing(ranges, message):
    X = pd.DataFrame({"width": [0.0, 1.0]})
    model = ImprovedOnlineGFMM(scaling=ranges)
    with pytest.raises(ValueError, match=message):
        model.fit(X, [0, 1])
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, [0, 1], classes=[0, 1])
    assert set(vars(model)) == set(model.get_params())


def test_known_ranges_are_left_alone_and_cloned():
    ranges = np.array([[0.0], [10.0]])
    model = ImprovedOnlineGFMM(scaling=ranges).fit([[1.0], [2.0]], [0, 1])
    assert model.scaling is ranges
    np.testing.assert_array_equal(clone(model).scaling, ranges)
    assert "scaling=array" in repr(model)
    model.partial_fit([[9.0]], [1])
    np.testing.assert_array_equal(ranges, [[0], [10]])
