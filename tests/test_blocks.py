"""The search against a walk over all boxes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperboxes._boxes import Boxes, Samples
from hyperboxes._kernels import blocks, geometry, selection
from tests import reference
from tests.strategies import Problem, problems
from tests.test_geometry import MEASURES


def boxes_of(problem: Problem) -> Boxes:
    """Make every sample but the last a box, several times over so that blocks fill up."""
    rows = np.tile(np.arange(len(problem.y) - 1), 9)
    samples = Samples(problem.xl[rows], problem.xu[rows], problem.y[rows])
    return Boxes.of_samples(samples, problem.n_classes)


some_problems = problems().filter(lambda p: len(p.y) > 1)


@pytest.mark.parametrize("measure", ["membership", *MEASURES])
@given(problem=some_problems, floor=st.floats(0, 1) | st.sampled_from([0.0, 0.5, 0.9, 1.0]))
def test_similar_boxes_of_a_class(measure, problem, floor):
    boxes = boxes_of(problem)
    xl, xu, label = problem.xl[-1], problem.xu[-1], problem.y[-1]
    ids, values = np.empty(len(boxes), np.int64), np.empty(len(boxes))
    n_found = selection.list_similar(
        xl,
        xu,
        boxes.blocks[5][label],
        boxes.arrays,
        (0.0, problem.gamma, floor),
        MEASURES.get(measure, geometry.MEMBERSHIP),
        ids,
        values,
    )
    expected = {}
    for k in np.flatnonzero(boxes.labels == label):
        sides = boxes.lower[k], boxes.upper[k], xl, xu, problem.gamma
        if measure == "membership":
            value = reference.membership(*sides)
        else:
            value = reference.similarity(*sides, measure)
        if value >= floor:
            expected[int(k)] = value
        if measure == "membership" and value == 1:
            break
    assert dict(zip(ids[:n_found].tolist(), values[:n_found].tolist(), strict=True)) == expected
    assert list(expected) == ids[:n_found].tolist()


@given(problem=some_problems)
def test_rivals_that_share_a_point(problem):
    boxes = boxes_of(problem)
    v, w, label = problem.xl[-1], problem.xu[-1], problem.y[-1]
    ids, gaps = np.empty(len(boxes), np.int64), np.empty(len(boxes))
    ones = np.ones(len(v))
    n_found = blocks.find_rivals(label, w, v, 0.0, -1.0, boxes.arrays, ones, ids, gaps)
    expected = [
        k
        for k in np.flatnonzero(boxes.labels != label)
        if reference.overlaps(v, w, boxes.lower[k], boxes.upper[k], "closed")
    ]
    assert sorted(ids[:n_found]) == expected
    n_first = blocks.find_rivals(label, w, v, 0.0, 0.0, boxes.arrays, ones, ids, gaps)
    assert n_first == bool(expected)


@given(problem=problems().filter(lambda p: len(p.y) > 2))
def test_a_grown_box_touches_only_rivals_within_reach(problem):
    """The shortcut of the overlap test leaves no box out, rounding included."""
    boxes = boxes_of(problem)
    v, w, xl, xu = problem.xl[-2], problem.xu[-2], problem.xl[-1], problem.xu[-1]
    if not geometry.fits(v[None], w[None], 0, xl, xu, problem.theta):
        return
    ids, gaps = np.empty(len(boxes), np.int64), np.empty(len(boxes))
    n_found = blocks.find_rivals(
        -1, xl, xu, problem.theta, -1.0, boxes.arrays, np.ones(len(v)), ids, gaps
    )
    grown = np.minimum(v, xl), np.maximum(w, xu)
    for k in range(len(boxes)):
        if reference.overlaps(*grown, boxes.lower[k], boxes.upper[k], "closed"):
            assert k in ids[:n_found]
