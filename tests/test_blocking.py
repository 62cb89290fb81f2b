"""The third lemma: what is beyond a blocking bound of a box is rejected for ever."""

from unittest.mock import patch

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from hyperboxes import AgglomerativeGFMM
from hyperboxes._kernels import blocking
from hyperboxes._models.box_store import BoxStore
from tests import reference
from tests.compiled import FromPython
from tests.learners import ImprovedOnlineGFMM
from tests.strategies import intervals

on_blocking = FromPython(blocking)

# Free regions are tracked from the first rejection on, and bitmaps soon after.
track_at_once = patch.multiple("hyperboxes._models.box_store", _REJECTIONS=1, _WALKS=0)


@given(data=st.data(), n_features=st.integers(1, 3))
def test_nothing_beyond_a_blocking_bound_is_ever_accepted(data, n_features):
    """Neither when the box, its rival or both have grown, nor for samples that lack values."""
    box, rival, x, growth, rival_growth = (data.draw(intervals(n_features)) for _ in range(5))
    meet = (box[0] <= rival[1]) & (rival[0] <= box[1])
    assume((~meet).sum() <= 1)
    boxes = BoxStore.of_rows(
        *(np.stack(ends) for ends in zip(box, rival, strict=True)),
        np.array([0, 1]),
        np.ones(2),
        np.arange(2),
        n_classes=2,
        n_seen=2,
    )
    boxes.track_free_regions(True, at_once=True)
    on_blocking.add_blocking_bound(0, -1, 1, boxes.learnable, boxes.index.free_regions)
    region = boxes._kept_regions().of_boxes[0].T
    assert np.isfinite(region).sum() == (~meet).sum()
    is_missing = data.draw(st.lists(st.booleans(), min_size=n_features, max_size=n_features))
    x[:, is_missing] = np.nan
    low, high = x.astype(np.float32)
    if (low < region[0]).any() or (high > region[1]).any():
        grown = reference.hull(*reference.hull(*box, *growth), *x)
        rival = reference.hull(*rival, *rival_growth)
        assert reference.overlaps(*grown, *rival, "closed")


def learn_alternating(rejections_left, **params):
    """Fit on two classes in turns along a line, where each box is between two of the other class.

    Rooms are kept after so many refusals, and bitmaps not at all.
    """
    X, y = np.arange(20)[:, None] / 20, np.arange(20) % 2
    limits = {"_REJECTIONS": rejections_left, "_WALKS": 1000}
    with patch.multiple("hyperboxes._models.box_store", **limits):
        return ImprovedOnlineGFMM(theta=1.0, scaling=None, **params).fit(X, y)


def test_blocked_boxes_are_not_tried_again():
    """Only the nearest box has no bound yet, but for the first, rejected before there were any."""
    model, lemma = learn_alternating(1), learn_alternating(1, selection="lemma")
    assert len(model.hyperboxes_) == len(lemma.hyperboxes_) == 20
    assert model.n_candidates_ == 18 + 1
    assert lemma.n_candidates_ == 2 * sum(range(10))


@track_at_once
def test_blocking_bounds_part_pairs():
    """The boxes at 0 and 1 are parted from those of their class by a rival between them."""
    X = [[0.0], [0.5], *([0.9 + step / 100] for step in range(10))]
    y = [0, 1, *[0] * 10]
    model = AgglomerativeGFMM(1.0, algorithm="agglo-sm", scaling=None).fit(X, y)
    assert len(model.hyperboxes_) == 3
    assert model.n_candidates_ < 20


@track_at_once
def test_there_are_no_free_regions_where_boxes_may_touch():
    """With another `overlap`, what was in the way may be so no more."""
    X, y = [[0.0], [0.5]], [0, 1]
    model = ImprovedOnlineGFMM(theta=1.0, scaling=None).fit(X, y)
    model.partial_fit([[0.5]], [0])
    assert len(model.hyperboxes_) == 3
    model = ImprovedOnlineGFMM(theta=1.0, scaling=None).fit(X, y)
    model.partial_fit([[0.6]], [0])
    model.set_params(overlap="paper").partial_fit([[0.5]], [0])
    assert len(model.hyperboxes_) == 3
    assert model.hyperboxes_.upper[0] == 0.5


def test_free_regions_are_tracked_after_some_rejections():
    """Until then every box of the class is tried, and afterwards once more."""
    tries = [learn_alternating(rejections_left).n_candidates_ for rejections_left in (1, 5, 1000)]
    assert tries == [18 + 1, 18 + 2 + 4, 2 * sum(range(10))]
