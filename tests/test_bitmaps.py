"""Bitmaps leave out no box that counts."""

from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperboxes._kernels import bitmaps
from hyperboxes._models.box_store import BoxStore
from tests import reference
from tests.compiled import FromPython
from tests.learners import AgglomerativeGFMM, ImprovedOnlineGFMM
from tests.strategies import ends, intervals

on_bitmaps = FromPython(bitmaps)


def fields(rows):
    """Return the boxes that are left after a walk through the first chunk."""
    words = rows.view(np.uint8)
    return set(np.flatnonzero(np.unpackbits(words, bitorder="little")).tolist())


@given(data=st.data(), n_features=st.integers(1, 4))
def test_no_box_is_left_out(data, n_features):
    """Boxes grow and get blocking bounds; bitmaps find what meets, lies inside and may grow."""
    rows = data.draw(st.lists(intervals(n_features), min_size=1, max_size=12))
    labels = np.array(
        data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    )
    lower, upper = np.stack(rows, axis=1)
    n_marked = data.draw(st.integers(1, len(rows)))
    boxes = BoxStore.of_rows(lower, upper, labels, np.ones(len(rows)), n_classes=3)
    maps = bitmaps.make_bitmaps(lower[:n_marked], upper[:n_marked], len(rows), 3, 0)
    maps.state[bitmaps.ON] = 1
    bounds = np.full((len(rows), n_features, 2), -np.inf)
    for box in range(len(rows)):
        on_bitmaps.mark_box(box, boxes.arrays, maps)
        growth = data.draw(intervals(n_features))
        boxes.lower[box], boxes.upper[box] = reference.hull(lower[box], upper[box], *growth)
        on_bitmaps.mark_box(box, boxes.arrays, maps)
        j, end = data.draw(st.integers(0, n_features - 1)), data.draw(st.integers(0, 1))
        bounds[box, j, end] = data.draw(ends) - end
        on_bitmaps.mark_blocking_bound(box, j, end, bounds[box, j, end], maps)
    v, w = data.draw(intervals(n_features))
    label = data.draw(st.integers(0, 2))
    meets = (boxes.lower <= w) & (boxes.upper >= v)
    rival = on_bitmaps.first_in_all_rows(v, w, label, boxes.arrays, maps)
    expected = np.flatnonzero(meets.all(axis=1) & (labels != label))
    assert rival in expected if len(expected) else rival == -1

    n_rows = on_bitmaps.rows_to_meet(v, w, 0, maps)
    on_bitmaps.load_other_classes(0, label, maps)
    on_bitmaps.intersect(0, 0, n_rows, bitmaps.IN, bitmaps.IN_ALL_BUT_ONE, maps)
    one_short = np.flatnonzero(((~meets).sum(axis=1) <= 1) & (labels != label))
    assert set(one_short.tolist()) <= fields(maps.all_but_one)

    may_grow = ((bounds[:, :, 0] <= v) & (bounds[:, :, 1] <= -w)).all(axis=1)
    is_inside = ((boxes.lower >= v) & (boxes.upper <= w)).all(axis=1)
    n_rows = on_bitmaps.rows_blocked(v, w, 0, maps)
    n_rows = on_bitmaps.rows_outside(w, v, n_rows, maps)
    on_bitmaps.load_class(0, label, maps)
    on_bitmaps.intersect(0, 0, n_rows, bitmaps.NOT_IN, bitmaps.IN_ALL_ROWS, maps)
    expected = np.flatnonzero(may_grow & is_inside & (labels == label))
    assert set(expected.tolist()) <= fields(maps.all_rows)
    if n_marked == len(rows):
        on_bitmaps.unmark_box(0, boxes.arrays, maps)
        rival = on_bitmaps.first_in_all_rows(boxes.lower[0], boxes.upper[0], -1, boxes.arrays, maps)
        assert rival != 0


def test_marks_tell_boxes_apart():
    """Of 1,000 points of two classes few are left to the rows to decide."""
    rng = np.random.default_rng(0)
    X, y = rng.random((1_000, 10)), np.arange(1_000) % 2
    boxes = BoxStore.of_rows(X, X, y, np.ones(1_000), n_classes=2)
    maps = bitmaps.make_bitmaps(X, X, 1_000, 2, 0)
    maps.state[bitmaps.ON] = 1
    for box in range(1_000):
        on_bitmaps.mark_box(box, boxes.arrays, maps)
    n_rows = on_bitmaps.rows_to_meet(X[0], X[0], 0, maps)
    on_bitmaps.load_class(0, 0, maps)
    on_bitmaps.intersect(0, 0, n_rows, bitmaps.IN, bitmaps.IN_ALL_ROWS, maps)
    assert fields(maps.all_rows) == {0}


@pytest.mark.parametrize(
    ("learner", "n_samples"),
    [(ImprovedOnlineGFMM, 4_500), (partial(AgglomerativeGFMM, algorithm="agglo2"), 2_500)],
)
def test_more_boxes_than_a_chunk_holds(learner, n_samples):
    """Bitmaps are extended, made anew and walked through in several chunks."""
    rng = np.random.default_rng(0)
    X = rng.random((n_samples, 6)).round(2)
    y = rng.integers(2, size=n_samples)
    with patch.multiple("hyperboxes._models.box_store", _REJECTIONS=1, _WALKS=0, _MANY=2):
        model = learner(theta=0.2, scaling=None, calibrate=False).fit(X, y)
    lemma = learner(theta=0.2, scaling=None, calibrate=False, selection="lemma").fit(X, y)
    assert len(X) > bitmaps.CHUNK
    assert model.hyperboxes_.lower.tobytes() == lemma.hyperboxes_.lower.tobytes()
    assert model.hyperboxes_.upper.tobytes() == lemma.hyperboxes_.upper.tobytes()
    assert model.n_candidates_ < lemma.n_candidates_
