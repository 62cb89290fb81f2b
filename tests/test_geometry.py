"""The kernels for single boxes against the paper's formulas, and the lemma they rest on."""

from collections import namedtuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperboxes._kernels import geometry
from hyperboxes._learning.growth_parameters import OVERLAPS, SIMILARITIES, make_growth_parameters
from hyperboxes._models.model import FUNCTIONS, Membership
from tests import reference, reference_family
from tests.compiled import FromPython
from tests.strategies import problems, slopes, thetas

compiled = FromPython(geometry)
Corners = namedtuple("Corners", "lower upper")
Size = namedtuple("Size", "theta total")

# Overlap tests whose cases the reference names.
CASES = {"printed": reference_family.four, "nine": reference_family.nine}

every_function = pytest.mark.parametrize("function", FUNCTIONS)
every_measure = pytest.mark.parametrize("measure", SIMILARITIES)


@st.composite
def two_boxes(draw):
    """Draw two boxes and a slope per feature."""
    problem = draw(problems().filter(lambda p: len(p.y) > 1))
    return (problem.xl[0], problem.xu[0]), (problem.xl[1], problem.xu[1]), problem.gamma


def distance(box, interval, membership, limit=np.inf):
    """Return the distance of an interval from a box."""
    v, w = box
    return compiled.distance(v[None], w[None], 0, *interval, membership.metric, limit)


def similarity(first, second, membership, measure):
    """Return the similarity of two boxes."""
    rule = make_growth_parameters(membership, theta=1.0, selection="all", similarity=measure)
    v, w = second
    return compiled.similarity(*first, Corners(v[None], w[None]), 0, rule)


def rule_of(overlap="closed", theta=1.0):
    """Return the rule of a learner that contracts."""
    membership = Membership(np.ones(1), "min")
    pieces = {"overlap": overlap, "resolution": "contract"}
    return make_growth_parameters(membership, theta=theta, selection="all", **pieces)


@every_function
@given(two_boxes())
def test_membership_is_one_minus_distance(function, boxes):
    (v, w), (xl, xu), gamma = boxes
    membership = Membership(gamma, function)
    gap = distance((v, w), (xl, xu), membership)
    assert 1 - min(gap, 1) == reference.membership(v, w, xl, xu, gamma, function)
    assert gap == membership.distance(np.maximum(xu - w, v - xl))
    assert 1 - min(gap, 1) == membership.degree(np.maximum(xu - w, v - xl))


@every_function
@every_measure
@given(two_boxes())
def test_similarity(measure, function, boxes):
    first, second, gamma = boxes
    membership = Membership(gamma, function)
    value = similarity(first, second, membership, measure)
    assert value == reference.similarity(*first, *second, gamma, measure, function)
    assert value == similarity(second, first, membership, measure)


@every_function
@given(two_boxes(), st.floats(0, 2))
def test_distance_beyond_the_limit_only_has_to_say_so(function, boxes, limit):
    box, interval, gamma = boxes
    exact = distance(box, interval, Membership(gamma, function))
    gap = distance(box, interval, Membership(gamma, function), limit)
    assert gap == exact if exact <= limit else gap > limit


@pytest.mark.parametrize("name", OVERLAPS)
@given(two_boxes())
def test_overlap(name, boxes):
    (vi, wi), (vk, wk), _ = boxes
    found = compiled.overlaps(vi, wi, Corners(vk[None], wk[None]), 0, OVERLAPS[name])
    if name in CASES:
        cases = reference_family.find_cases(vi, wi, vk, wk, CASES[name])
        assert found == (cases is not None)
    if name != "nine":
        assert found == reference.overlaps(vi, wi, vk, wk, name)


@pytest.mark.parametrize("name", CASES)
@given(two_boxes(), st.data())
def test_contraction_of_the_family(name, boxes, data):
    """Also where the upper end of the grown box is that of the sample."""
    (vi, wi), (vk, wk), _ = boxes
    x = wi.copy() if data.draw(st.booleans()) else vi.copy()
    expected = [side.copy() for side in (vi, wi, vk, wk)]
    reference_family.contract(*expected, x, CASES[name])
    actual = [side.copy() for side in (vi, wi, vk, wk)]
    if reference_family.find_cases(vi, wi, vk, wk, CASES[name]) is not None:
        other = Corners(actual[2][None], actual[3][None])
        compiled.contract(actual[0], actual[1], x, other, 0, rule_of(name))
    np.testing.assert_array_equal(actual, expected)
    assert not (expected[0] > expected[1]).any()
    assert not (expected[2] > expected[3]).any()


@pytest.mark.parametrize("overlap", ["paper", "printed"])
@given(two_boxes())
def test_contraction_parts_overlapping_boxes(overlap, boxes):
    (vi, wi), (vk, wk), _ = boxes
    expected = [side.copy() for side in (vi, wi, vk, wk)]
    reference.contract(*expected, overlap)
    actual = [side.copy() for side in (vi, wi, vk, wk)]
    if reference.overlaps(vi, wi, vk, wk, overlap):
        other = Corners(actual[2][None], actual[3][None])
        compiled.contract(actual[0], actual[1], actual[1], other, 0, rule_of(overlap))
    np.testing.assert_array_equal(actual, expected)
    assert not (expected[0] > expected[1]).any()
    assert not (expected[2] > expected[3]).any()


@every_function
@given(two_boxes(), thetas, slopes)
def test_lemma_1_holds_in_floating_point(function, boxes, theta, slope):
    """A box that passes the size test has at least the membership that the lemma asks for."""
    (v, w), (xl, xu), gamma = boxes
    for gammas in (gamma, np.full(len(v), slope)):
        if compiled.fits(Corners(v[None], w[None]), 0, xl, xu, Size(theta, np.inf)):
            floor = Membership(gammas, function).floor(theta)
            assert floor == reference.lemma(theta, gammas, function)
            assert reference.membership(v, w, xl, xu, gammas, function) >= floor


@every_function
@every_measure
@given(two_boxes(), thetas)
def test_lemma_2_holds_in_floating_point(measure, function, boxes, theta):
    """Boxes that fit into one have at least the similarity that the lemma asks for."""
    (vi, wi), (vk, wk), gamma = boxes
    if compiled.fits(Corners(vi[None], wi[None]), 0, vk, wk, Size(theta, np.inf)):
        floor = Membership(gamma, function).floor(theta)
        assert reference.similarity(vi, wi, vk, wk, gamma, measure, function) >= floor
