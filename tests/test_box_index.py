"""The box index against a list that is walked through, while boxes come, change and go."""

import itertools
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperboxes._kernels import (
    blocking,
    box_index,
    online,
    search,
    simd,
)
from hyperboxes._kernels import (
    candidates as candidates_kernels,
)
from hyperboxes._kernels.structs import BLOCKS, BOXES, MEMBERSHIP
from hyperboxes._learning.growth_parameters import SIMILARITIES, make_growth_parameters
from hyperboxes._models.box_store import BoxStore, Samples
from hyperboxes._models.model import FUNCTIONS, Membership
from tests import reference
from tests.compiled import FromPython
from tests.learners import OVERLAPS
from tests.strategies import grid, slopes, unit

on_best, on_index = FromPython(candidates_kernels), FromPython(box_index)
on_rooms, on_search = FromPython(blocking), FromPython(search)

N_CLASSES = 2
SHALLOW, DEEP = 16, 4


class Subject:
    """Boxes in an index, changed one at a time, and questions whose answers can be told otherwise.

    The rows of `boxes` are the list; only the trees are put to the test.
    """

    def __init__(self, n_features, width, gamma=None, function="min"):
        self.settings = patch("hyperboxes._models.box_store._WIDTH", width)
        gamma = np.ones(n_features) if gamma is None else gamma
        self.membership = Membership(gamma, function)
        self.boxes = BoxStore(n_features, N_CLASSES)
        self.free_regions = {}
        self.scratch = self.boxes.make_scratch()
        self.search = self.scratch.search

    def rule(self, **pieces):
        """Return a rule of the index."""
        return make_growth_parameters(
            self.membership, **{"theta": 0.5, "selection": "index"} | pieces
        )

    def ask_about(self, xl, xu):
        """Let the searches be about an interval."""
        self.search.low[:], self.search.high[:] = xl, xu

    def add(self, low, high, label):
        """Add a box."""
        with self.settings:
            self.boxes.reserve()
        self.scratch = self.boxes.make_scratch()
        self.search = self.scratch.search
        number = len(self.boxes)
        arrays = self.boxes.learnable
        arrays.lower[number], arrays.upper[number] = low, high
        arrays.labels[number], arrays.counts[number] = label, 1
        on_index.add_box(number, arrays)
        arrays.counters[BOXES] += 1
        self.free_regions[number] = np.tile(np.float32([-np.inf, np.inf]), (len(low), 1))

    def add_blocking_bound(self, box, rival):
        """Let a box be in the way of another, and find its room in the slow way.

        From the first time on rooms are kept.
        """
        self.boxes.track_free_regions(True, at_once=True)
        on_rooms.add_blocking_bound(
            box, -1, rival, self.boxes.learnable, self.boxes.index.free_regions
        )
        lower, upper, room = self.boxes.lower, self.boxes.upper, self.free_regions[box]
        if np.isnan(lower[[box, rival]]).any():
            return
        above, below = lower[rival] > upper[box], upper[rival] < lower[box]
        if not (above | below).any():
            room[:] = np.inf, -np.inf
        elif (above | below).sum() == 1:
            room[above, 1] = np.minimum(room[above, 1], lower[rival][above])
            room[below, 0] = np.maximum(room[below, 0], upper[rival][below])

    def change(self, box, low, high):
        """Give a box other corners."""
        self.boxes.lower[box], self.boxes.upper[box] = low, high
        on_index.update_box(box, self.boxes.learnable)

    def merge(self, box, other):
        """Let a box absorb another."""
        if box != other:
            corners = self.boxes.lower[[box, other]], self.boxes.upper[[box, other]]
            self.change(box, np.fmin(*corners[0]), np.fmax(*corners[1]))
            self.boxes.counts[other] = 0
            on_rooms.share_blocking_bounds(
                box, other, self.boxes.index, self.boxes.index.free_regions
            )
            both = self.free_regions[box], self.free_regions[other]
            self.free_regions[box] = np.stack(
                [np.maximum(*both)[:, 0], np.minimum(*both)[:, 1]], axis=1
            )
            on_index.remove_box(other, self.boxes.learnable)

    def rebuild(self):
        """Build the trees anew."""
        with self.settings:
            self.boxes._build_index(free_regions=self.boxes._kept_regions())

    def alive(self, *labels):
        """Return the numbers of the boxes of some classes that are still there."""
        return np.flatnonzero((self.boxes.counts > 0) & np.isin(self.boxes.labels, labels))

    def ids(self):
        """Return room for the numbers of all boxes."""
        return np.empty(len(self.boxes) + 1, np.int64)

    def check(self, xl, xu, theta, label):
        """Ask all questions about an interval."""
        self.check_bounds()
        self.check_window(xl, xu, theta, label)
        self.check_overlaps(xl, xu, label)
        self.check_nearest(xl, xu, (label, label + 1))
        self.check_nearest(xl, xu, (0, N_CLASSES))
        for measure in ("membership", *SIMILARITIES):
            self.check_best(xl, xu, theta, label, measure)
        on_rooms.begin(
            self.boxes.learnable, self.boxes.index.free_regions
        )  # uses bitmaps from now on

    def check_bounds(self):
        """Look for all boxes in their places in the trees, and within the bounds above them."""
        index = self.boxes._index
        ends, walls, links, places = index.ends, index.free_regions, index.links, index.slots
        assert self.boxes._counters[BLOCKS] <= len(links)
        for box in self.alive(*range(N_CLASSES)):
            block, lane = divmod(places[box], simd.LANES)
            assert links[block, lane] == box
            corners = self.boxes.lower[box], self.boxes.upper[box]
            low, high = (corner.astype(np.float32) for corner in corners)
            assert np.array_equal(ends[block, :, 0, lane], low, equal_nan=True)
            assert np.array_equal(ends[block, :, 1, lane], high, equal_nan=True)
            room = self.free_regions[box]
            has_rooms = walls is not None
            assert not has_rooms or np.array_equal(walls[block, :, :, lane], room)
            while links[block, simd.PARENT] >= 0:
                child = block
                block, lane = divmod(links[block, simd.PARENT], simd.LANES)
                assert links[block, lane] == child
                outer, inner = ends[block, :, :, lane], ends[block + 1, :, :, lane]
                assert not ((outer[:, 0] > low) | (outer[:, 1] < high)).any()
                assert not ((inner[:, 0] < low) | (inner[:, 1] > high)).any()
                assert np.isnan([outer, inner])[:, np.isnan(low)].all()
                assert not has_rooms or (walls[block, :, 0, lane] <= room[:, 0]).all()
                assert not has_rooms or (walls[block, :, 1, lane] >= room[:, 1]).all()
            assert block == index.roots[self.boxes.labels[box]]

    def check_window(self, xl, xu, theta, label):
        """Leave out no box that can grow to hold the interval."""
        on_search.set_window(xl, xu, theta, self.search.near, self.search.far)
        ids, arrays = self.ids(), self.boxes.arrays
        found = ids[: on_search.find(label, False, True, False, arrays, self.search, ids)]
        assert len(set(found)) == len(found)
        assert set(found) <= set(self.alive(label))
        assert set(self.growable(xl, xu, theta, label)) <= set(found)

    def growable(self, xl, xu, theta, label):
        """Yield the boxes that can grow to hold the interval."""
        for box in self.alive(label):
            corners = reference.hull(self.boxes.lower[box], self.boxes.upper[box], xl, xu)
            if reference.is_small(*corners, theta):
                yield box

    def check_overlaps(self, v, w, label):
        """Find a rival where there is one, and no other."""
        rivals = self.alive(*(set(range(N_CLASSES)) - {label}))
        for name in OVERLAPS:
            expected = [
                box
                for box in rivals
                if reference.overlaps(v, w, self.boxes.lower[box], self.boxes.upper[box], name)
            ]
            for selection in ("index", "all"):
                arrays, rule = self.boxes.learnable, self.rule(overlap=name, selection=selection)
                rival = on_search.first_conflict(v, w, label, arrays, rule, self.search, 0)
                assert rival in expected if expected else rival == -1
        on_search.set_window(w, v, 0.0, self.search.near, self.search.far)
        ids = self.ids()
        found = ids[: on_search.find_conflicts(label, False, self.boxes.arrays, self.search, ids)]
        assert set(expected) <= set(found) <= set(rivals)

    def check_best(self, xl, xu, theta, label, measure):
        """List the best in order, and go on where the list ended."""
        boxes = self.boxes
        candidates = []
        low, high = xl.astype(np.float32), xu.astype(np.float32)
        for box in self.growable(xl, xu, theta, label):
            if (self.free_regions[box][:, 0] > low).any() or (
                self.free_regions[box][:, 1] < high
            ).any():
                continue
            sides = boxes.lower[box], boxes.upper[box], xl, xu, self.membership.gamma
            kind = {"function": self.membership.function}
            if measure == "membership":
                value = reference.membership(*sides, **kind)
            else:
                value = reference.similarity(*sides, measure, **kind)
            candidates.append((-value, box))
        expected = [(box, -value) for value, box in sorted(candidates)]
        rule = self.rule(theta=theta)._replace(order_by=SIMILARITIES.get(measure, MEMBERSHIP))
        self.ask_about(xl, xu)
        after = np.inf, -1
        for most in (1, 3, len(boxes) + 1):
            ids, values = np.empty(most, np.int64), np.empty(most)
            n_found, n_tried = on_best.find_best(
                *(label, -1, *after, boxes.counts, 2, candidates_kernels.FITTING),
                *(boxes.learnable, rule, self.scratch, ids, values),
            )
            assert n_tried == 0
            found = list(zip(ids[:n_found].tolist(), values[:n_found].tolist(), strict=True))
            assert found == expected[:most]
            if n_found:
                after = values[n_found - 1], ids[n_found - 1]
            expected = expected[most:]

    def check_nearest(self, xl, xu, classes):
        """Find the distances of the nearest boxes of some classes, and all boxes that are as near.

        A limit changes nothing if it does not exclude them, and leads to no others if it does.
        """
        boxes = self.boxes
        self.ask_about(xl, xu)
        expected = {}
        for box in self.alive(*range(*classes)):
            gaps = np.maximum(xu - boxes.upper[box], boxes.lower[box] - xl)
            expected[int(box)] = self.membership.distance(gaps)
        in_order = sorted(expected.values())
        middle = in_order[len(in_order) // 2] if in_order else 0.0
        for n_nearest, limit in itertools.product((1, 2, 5, 16), (np.inf, middle, 0.0)):
            ids, gaps, nearest = self.ids(), np.empty(len(boxes) + 1), np.empty(n_nearest)
            arguments = boxes.arrays, self.membership.metric, self.search, ids, gaps, nearest
            n_found, _ = on_search.find_nearest(*classes, limit, *arguments, False)
            found = dict(zip(ids[:n_found].tolist(), gaps[:n_found].tolist(), strict=True))
            assert len(found) == n_found
            assert found.items() <= expected.items()
            distances = np.array([*in_order, *[np.inf] * n_nearest][:n_nearest])
            is_within = distances <= limit
            assert nearest[is_within].tolist() == distances[is_within].tolist()
            assert set(nearest[~is_within]) <= {*in_order, np.inf}
            last = distances[-1]
            is_near = [
                gap <= limit and (gap <= last or 1 - gap >= 1 - distances[0]) for gap in in_order
            ]
            if is_within[0]:
                assert sorted(found.values())[: sum(is_near)] == in_order[: sum(is_near)]


@st.composite
def intervals(draw, n_features):
    """Draw an interval, mostly a point."""
    values = st.lists(draw(st.sampled_from([grid, unit])), min_size=n_features, max_size=n_features)
    low = np.array(draw(values))
    if not draw(st.integers(0, 3)):
        low[draw(st.integers(0, n_features - 1))] = np.nan
    if draw(st.integers(0, 3)):
        return low, low
    other = np.array(draw(values))
    return np.minimum(low, other), np.maximum(low, other)


@given(
    data=st.data(),
    n_features=st.integers(1, 6),
    width=st.sampled_from([DEEP, SHALLOW]),
    function=st.sampled_from(FUNCTIONS),
)
def test_any_sequence(data, n_features, width, function):
    gamma = np.array(data.draw(st.lists(slopes, min_size=n_features, max_size=n_features)))
    subject = Subject(n_features, width, gamma, function)
    labels = st.integers(0, N_CLASSES - 1)
    steps = st.sampled_from(
        ["add", "add", "add", "grow", "shrink", "wall", "merge", "rebuild", "check"]
    )
    for step in data.draw(st.lists(steps, max_size=40)):
        low, high = data.draw(intervals(n_features))
        alive = subject.alive(*range(N_CLASSES))
        if step == "add" or not len(alive):
            subject.add(low, high, data.draw(labels))
        elif step == "check":
            subject.check(low, high, data.draw(grid), data.draw(labels))
        elif step == "rebuild":
            subject.rebuild()
        else:
            box = data.draw(st.sampled_from(alive.tolist()))
            v, w = subject.boxes.lower[box], subject.boxes.upper[box]
            if step == "grow":
                subject.change(box, *reference.hull(v, w, low, high))
            elif step == "wall":
                subject.add_blocking_bound(box, data.draw(st.sampled_from(alive.tolist())))
            elif step == "shrink":
                subject.change(box, np.clip(low, v, w), np.clip(high, v, w))
            else:
                label = subject.boxes.labels[box]
                subject.merge(box, data.draw(st.sampled_from(subject.alive(label).tolist())))
    subject.check(*data.draw(intervals(n_features)), data.draw(grid), data.draw(labels))


@pytest.mark.parametrize("n_features", [1, 3, 9])
@pytest.mark.parametrize("width", [DEEP, SHALLOW])
@pytest.mark.parametrize("is_sorted", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_long_sequences(n_features, width, is_sorted, function):
    """Trees of several levels, grown one box at a time, in a random and in the worst order."""
    rng = np.random.default_rng(n_features)
    subject = Subject(n_features, width, rng.random(n_features) + 0.5, function)
    points = rng.random((900, n_features)).round(2)
    points[rng.random(points.shape) < 0.05] = np.nan
    if is_sorted:
        points = points[np.lexsort(points.T)]
    for number, point in enumerate(points):
        subject.add(point, point, rng.integers(N_CLASSES))
        box = rng.choice(subject.alive(*range(N_CLASSES)))
        v, w = subject.boxes.lower[box].copy(), subject.boxes.upper[box].copy()
        match rng.integers(5):
            case 0:
                subject.change(box, np.maximum(v - 0.05, 0), w + rng.random(n_features) * 0.05)
            case 1:
                middle = v + rng.random(n_features) * (w - v)
                subject.change(box, v, middle) if number % 2 else subject.change(box, middle, w)
            case 2:
                subject.merge(box, rng.choice(subject.alive(subject.boxes.labels[box])))
            case 3:
                for rival in rng.choice(subject.alive(*range(N_CLASSES)), 20):
                    subject.add_blocking_bound(box, rival)
        if number % 100 == 99:
            low = rng.random(n_features)
            subject.check(low, low + 0.1 * rng.random(n_features), 0.3, rng.integers(N_CLASSES))
    trees = subject.boxes._index
    assert trees.links[trees.roots[:N_CLASSES], simd.LEVEL].max() >= 2


@np.errstate(over="ignore")
@pytest.mark.parametrize("scale", [1e-310, 1e-45, 1e-40, 1e30, 1e39, 1e300])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_beyond_single_precision(scale, function):
    """What rounds to 0, infinity or one number in single precision is still told apart."""
    rng = np.random.default_rng(0)
    for gamma in (1.0, 1e-30, 1e30):
        subject = Subject(2, DEEP, np.full(2, gamma), function)
        for point in rng.random((40, 2)) * scale:
            subject.add(point, point, rng.integers(N_CLASSES))
        for _ in range(10):
            low, high = np.sort(rng.random((2, 2)) * scale, axis=0)
            subject.check(low, high, scale / 2, rng.integers(N_CLASSES))


def test_slopes_beyond_single_precision():
    """A slope that rounds to 0 in single precision may still make the largest gap."""
    rng = np.random.default_rng(0)
    subject = Subject(2, DEEP, np.array([1.0, 1e-46]), "min")
    scale = np.array([1e-9, 1e38])
    for point in rng.random((40, 2)) * scale:
        subject.add(point, point, rng.integers(N_CLASSES))
    for point in rng.random((10, 2)) * scale:
        subject.check(point, point, 1.0, 0)


def test_neighbouring_numbers_are_told_apart():
    subject = Subject(1, DEEP)
    for step in range(40):
        point = np.array([1.0 + step * 2.0**-52])
        subject.add(point, point, step % 2)
    for step in range(40):
        point = np.array([1.0 + step * 2.0**-52])
        for theta in (0.0, 3 * 2.0**-52):
            subject.check(point, point, theta, 0)


def test_building_at_once_fills_blocks():
    """Boxes of equal place cannot be parted by medians, but must be distributed."""
    samples = Samples(np.zeros((1000, 2)), np.zeros((1000, 2)), None, np.arange(1000) % 2)
    boxes = BoxStore.of_samples(samples, 2)
    links, roots = boxes._index.links, boxes._index.roots[:2]
    assert links[roots, simd.LEVEL].tolist() == [2, 2]
    used = links[: boxes._counters[BLOCKS]]
    leaves = used[used[:, simd.LEVEL] == 0, : simd.LANES]
    assert ((leaves >= 0).sum(axis=1) > simd.LANES // 2).all()
    assert sorted(leaves[leaves >= 0].tolist()) == list(range(1000))


def test_room_for_blocks_is_made_as_needed():
    """Each class has a tree, but blocks are only laid out for boxes that are there."""
    n_classes, n_features = 1000, 50
    rng = np.random.default_rng(0)
    X, y = rng.random((2000, n_features)), rng.permutation(2000) % n_classes
    boxes = BoxStore(n_features, n_classes)
    rule = make_growth_parameters(
        Membership(np.ones(n_features), "min"), theta=0.1, selection="index"
    )
    sizes = []
    for row, label in zip(X, y, strict=True):
        boxes.reserve()
        arrays = boxes.arrays
        boxes.start_batch()
        sample, scratch, founded = row[None], boxes.make_scratch(), np.empty(1, np.int64)
        online.learn(sample, sample, label[None], arrays, rule, scratch, None, None, founded, 1)
        sizes.append(len(arrays.index.ends))
    assert len(boxes) == 2000
    assert len(set(sizes)) > 5
    assert sizes[0] < 2 * box_index.SPARE_BLOCKS
    assert sizes[-1] < 2 * 2000 + box_index.SPARE_BLOCKS
    found = np.sort(boxes.arrays.index.links[boxes.arrays.index.roots[:n_classes], :2])
    assert sorted(found.ravel().tolist()) == list(range(2000))
