"""The kernels for single boxes against the paper's formulas, and the lemma they rest on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperboxes._kernels import geometry
from tests import reference
from tests.compiled import MEASURES, FromPython
from tests.strategies import problems, slopes, thetas

compiled = FromPython(geometry)


@st.composite
def two_boxes(draw):
    """Draw two boxes and a slope per feature."""
    problem = draw(problems().filter(lambda p: len(p.y) > 1))
    return (problem.xl[0], problem.xu[0]), (problem.xl[1], problem.xu[1]), problem.gamma


@given(two_boxes())
def test_membership_is_one_minus_distance(boxes):
    (v, w), (xl, xu), gamma = boxes
    gap = compiled.distance(v[None], w[None], 0, xl, xu, gamma, np.inf)
    assert 1 - min(gap, 1) == reference.membership(v, w, xl, xu, gamma)


every_measure = pytest.mark.parametrize("measure", MEASURES)


@every_measure
@given(two_boxes())
def test_similarity(measure, boxes):
    (vi, wi), (vk, wk), gamma = boxes
    value = compiled.similarity(vi, wi, vk[None], wk[None], 0, gamma, MEASURES[measure])
    assert value == reference.similarity(vi, wi, vk, wk, gamma, measure)
    assert value == compiled.similarity(vk, wk, vi[None], wi[None], 0, gamma, MEASURES[measure])


@given(two_boxes(), st.floats(0, 2))
def test_distance_beyond_the_limit_only_has_to_say_so(boxes, limit):
    (v, w), (xl, xu), gamma = boxes
    exact = compiled.distance(v[None], w[None], 0, xl, xu, gamma, np.inf)
    gap = compiled.distance(v[None], w[None], 0, xl, xu, gamma, limit)
    assert gap == exact if exact <= limit else gap > limit


@given(two_boxes())
def test_overlap(boxes):
    (vi, wi), (vk, wk), _ = boxes
    assert compiled.meets(vi, wi, vk[None], wk[None], 0) == reference.overlaps(
        vi, wi, vk, wk, "closed"
    )
    assert compiled.overlaps(vi, wi, vk[None], wk[None], 0) == reference.overlaps(
        vi, wi, vk, wk, "paper"
    )


@given(two_boxes())
def test_contraction_parts_overlapping_boxes(boxes):
    (vi, wi), (vk, wk), _ = boxes
    expected = [side.copy() for side in (vi, wi, vk, wk)]
    reference.contract(*expected)
    actual = [side.copy() for side in (vi, wi, vk, wk)]
    if compiled.overlaps(vi, wi, vk[None], wk[None], 0):
        compiled.contract(actual[0], actual[1], actual[2][None], actual[3][None], 0)
    np.testing.assert_array_equal(actual, expected)
    assert not (expected[0] > expected[1]).any()
    assert not (expected[2] > expected[3]).any()


@given(two_boxes(), thetas, slopes)
def test_lemma_1_holds_in_floating_point(boxes, theta, slope):
    """A box that passes the size test has at least the membership that the lemma asks for."""
    (v, w), (xl, xu), gamma = boxes
    for slopes_of_features in (gamma, np.full(len(v), slope)):
        if compiled.fits(v[None], w[None], 0, xl, xu, theta):
            bound = 1 - theta * slopes_of_features.max()
            assert reference.membership(v, w, xl, xu, slopes_of_features) >= bound


@every_measure
@given(two_boxes(), thetas)
def test_lemma_2_holds_in_floating_point(measure, boxes, theta):
    """Boxes that fit into one have at least the similarity that the lemma asks for."""
    (vi, wi), (vk, wk), gamma = boxes
    if compiled.fits(vi[None], wi[None], 0, vk, wk, theta):
        bound = 1 - theta * gamma.max()
        assert reference.similarity(vi, wi, vk, wk, gamma, measure) >= bound
