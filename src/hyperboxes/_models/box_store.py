"""Boxes that grow: arrays with room for more, their index, and workspaces of kernels.

One store has the boxes of all classes. The index has a tree for each class; one more tree over all
classes speeds up prediction with many of them.

Learning needs a tree for each class. A search of all of them walks through every one, which takes
longer than through one tree of all boxes. That one takes memory, and time to be built, so it is
built after enough searches of the boxes as they are.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from hyperboxes._kernels import box_index, structs
from hyperboxes._kernels.bitmaps import CHUNK, N_BEFORE, ON, extended, make_bitmaps
from hyperboxes._kernels.blocking import make_free_regions
from hyperboxes._kernels.candidates import make_scratch
from hyperboxes._kernels.search import make_search
from hyperboxes._kernels.simd import HIGH, LANES, LOW, N_LINKS
from hyperboxes._models.samples import Samples

# Comparisons of a block in one dimension between two looks at Ctrl-C: some tenths of a second.
WORK_PER_CALL = 50_000_000

# Room to begin with: building trees again takes longer than learning some more samples.
_MIN_CAPACITY = 256

# The trees are built again, and there is room again, when there are so many times as many boxes:
# twice as many as long as they are few, which is faster; beyond, memory matters more.
_GROWTH = 1.3
_FEW_BOXES = 4_096

# There is room for a block for every so many boxes that there is room for.
_BOXES_A_BLOCK = 8

# The number of rejections after which free regions pay off.
_REJECTIONS = 1_000

# The number of searches for conflicts that decide whether bitmaps are faster than trees, and the
# number of boxes up to which they are in any case.
_WALKS = 32
_FEW_FOR_BITMAPS = 16 * CHUNK

# Bitmaps get new bin edges when the number of boxes has grown by this factor.
_MANY = 4

# Lanes of a block that are used; tests use fewer, which makes trees deep.
_WIDTH = LANES


class BoxStore:
    """The boxes of a model in order of age, with room to grow.

    Kernels get `arrays`: the boxes row by row, and an index to search them. The properties show
    the rows in use. `_counters` is the kernels' own account.
    """

    workspace: Any  # of `Workspace`, which is not part of copies, and neither is
    joint: Any  # of `AllClassTree`
    _rows: ClassVar[tuple[str, ...]] = ("_lower", "_upper", "_labels", "_counts", "_confirmed")
    _index: structs.Index

    def __init__(self, n_features: int, n_classes: int, capacity: int = 0) -> None:
        self._lower = np.empty((capacity, n_features))
        self._upper = np.empty((capacity, n_features))
        self._labels = np.empty(capacity, np.int64)
        self._counts = np.empty(capacity, np.int64)
        self._confirmed = np.empty(capacity, np.int64)
        self._n_classes = n_classes
        self._counters = np.zeros(structs.N_COUNTERS, np.int64)
        self._build_index()

    @classmethod
    def of_samples(cls, samples: Samples, n_classes: int) -> Self:
        """Make each sample a box of its own."""
        counts = np.ones(len(samples.y)) if samples.counts is None else samples.counts
        rows = *samples.scaled(), samples.y, counts, np.arange(len(samples.y))
        return cls.of_rows(*rows, n_classes=n_classes)

    @classmethod
    def of_rows(
        cls,
        lower: np.ndarray,
        upper: np.ndarray,
        labels: np.ndarray,
        counts: np.ndarray,
        confirmed: np.ndarray | None = None,
        *,
        n_classes: int,
        n_seen: int | None = None,
    ) -> Self:
        """Copy boxes, one a row, in the learner's units.

        If it is not known when they were confirmed, it is as if all had been by the first sample;
        if not how many samples were seen, these are those that they hold.
        """
        boxes = cls(lower.shape[1], n_classes)
        boxes._lower, boxes._upper = np.array(lower, order="C"), np.array(upper, order="C")
        boxes._labels, boxes._counts = labels.astype(np.int64), counts.astype(np.int64)
        boxes._confirmed = np.zeros(len(labels), np.int64)
        if confirmed is not None:
            boxes._confirmed[:] = confirmed
        n_held = boxes._counts.sum()
        boxes._counters[structs.BOXES] = len(labels)
        boxes._counters[structs.SEEN] = n_held if n_seen is None else n_seen
        boxes._build_index()
        return boxes

    def __len__(self) -> int:
        return int(self._counters[structs.BOXES])

    @property
    def lower(self) -> np.ndarray:
        """The smallest corners."""
        return self._lower[: len(self)]

    @property
    def upper(self) -> np.ndarray:
        """The largest corners."""
        return self._upper[: len(self)]

    @property
    def n_classes(self) -> int:
        """How many labels there are."""
        return self._n_classes

    @property
    def has_labels(self) -> bool:
        """Whether a box has a label."""
        if self._index.roots[structs.NO_LABEL] < 0:  # all boxes have one
            return len(self) > 0
        return bool((self.labels != structs.NO_LABEL).any())

    @property
    def relabels(self) -> bool | None:
        """Whether boxes may yet get a label; None if all have one, as kernels take it."""
        return True if (self.labels == structs.NO_LABEL).any() and self._n_classes > 0 else None

    @property
    def labels(self) -> np.ndarray:
        """Class indices, `NO_LABEL` for none."""
        return self._labels[: len(self)]

    @property
    def counts(self) -> np.ndarray:
        """Samples absorbed."""
        return self._counts[: len(self)]

    @property
    def confirmed(self) -> np.ndarray:
        """Which samples were absorbed last, by number from 0 on."""
        return self._confirmed[: len(self)]

    @property
    def rows(self) -> tuple[np.ndarray, ...]:
        """Lower and upper corners, labels and counts."""
        return self.lower, self.upper, self.labels, self.counts

    @property
    def arrays(self) -> structs.Boxes:
        """The arrays for kernels that do not change boxes, without free regions."""
        boxes = self.learnable
        return boxes._replace(index=self._with_empty_regions(boxes.index))

    @property
    def learnable(self) -> structs.Boxes:
        """The arrays as kernels take them that learn."""
        corners = self._lower, self._upper
        rows = *corners, self._labels, self._counts, self._confirmed
        return structs.Boxes(*rows, self._counters, self._index)

    @property
    def counters_snapshot(self) -> bytes:
        """The kernels' counters, of which learning always changes some."""
        return self._counters.tobytes()

    def in_one_tree(self) -> structs.Boxes:
        """Return the arrays with another index: one tree of all boxes that have a label."""
        blocks, lanes = np.divmod(self._index.slots[: len(self)], LANES)
        is_shown = self._index.links[blocks, lanes] == np.arange(len(self))
        rows = {name: getattr(self, name)[: len(self)] for name in self._rows}
        rows["_labels"] = np.minimum(self.labels, 0)
        rows["_counts"] = np.where(is_shown, self.counts, 0)
        twin = self._with_rows(rows, len(self), n_classes=1)
        return self.arrays._replace(index=twin.arrays.index)

    @property
    def index(self) -> structs.Index:
        """What finds boxes; another one whenever arrays are laid out again."""
        return self._index

    def make_scratch(self) -> structs.Scratch:
        """Return working arrays for a kernel that learns."""
        return make_scratch(*self._lower.shape, self._n_classes + 1)

    def make_search(self) -> structs.Search:
        """Return working arrays for a kernel that searches."""
        return make_search(self._lower.shape[1], self._n_classes + 1)

    def make_lists(self) -> tuple[np.ndarray, np.ndarray]:
        """Return room for numbers of boxes and their distances."""
        return np.empty(len(self._labels), np.int64), np.empty(len(self._labels))

    @property
    def n_candidates(self) -> int:
        """Candidates tried so far."""
        return int(self._counters[structs.CANDIDATES])

    @n_candidates.setter
    def n_candidates(self, number: int) -> None:
        self._counters[structs.CANDIDATES] = number

    @property
    def n_seen(self) -> int:
        """Samples learned in all, those of boxes that are gone included."""
        return int(self._counters[structs.SEEN])

    @property
    def n_learned(self) -> int:
        """Samples learned since `start_batch`."""
        return int(self._counters[structs.SAMPLES])

    def add_counts(self, boxes: np.ndarray, counts: np.ndarray) -> None:
        """Count more samples in boxes; -1 stands for a box that was evicted."""
        is_kept = boxes >= 0
        np.add.at(self.counts, boxes[is_kept], counts[is_kept])
        self._counters[structs.SEEN] += counts.sum()

    def start_batch(self) -> None:
        """Start counting samples at 0."""
        self._counters[structs.SAMPLES] = 0

    def reserve(self, n_boxes: int = 1) -> None:
        """Make room for so many more boxes, or more, and build the trees again, if there is none.

        This is to be called before boxes are learned, and `rebuild_if_sparse` before they are
        merged.
        """
        if len(self) + n_boxes > len(self._labels):
            self._grow_rows(n_boxes)
        elif self._counters[structs.REMOVABLE] <= 0:
            self._build_index(free_regions=self._kept_regions())
        self.reserve_blocks(n_boxes)
        self._switch_tracking()

    def _grow_rows(self, n_boxes: int) -> None:
        capacity = max(
            int(_grown_capacity(len(self)) * len(self)), _MIN_CAPACITY, len(self) + n_boxes
        )
        rows = {}
        for name in self._rows:
            old = getattr(self, name)
            rows[name] = np.empty((capacity, *old.shape[1:]), old.dtype)
            rows[name][: len(self)] = old[: len(self)]
        # All at once: Ctrl-C may come between any two steps.
        vars(self).update(vars(self._with_rows(rows, len(self), self._kept_regions())))

    def reserve_blocks(self, n_boxes: int = 1) -> None:
        """Make room for blocks, of which a box may take some that is added or gets a label."""
        n_blocks = int(self._counters[structs.BLOCKS])
        n_spare = n_boxes * box_index.SPARE_BLOCKS
        if n_blocks + n_spare <= len(self._index.links):
            return
        old = self._index
        bitmaps = old.bitmaps if _has_regions(old) else None
        index = self._new_index(int(_GROWTH * n_blocks) + n_spare, old.rejections_left, bitmaps)
        index.ends[:n_blocks] = old.ends[:n_blocks]
        index.links[:n_blocks] = old.links[:n_blocks]
        if bitmaps is not None:
            index.free_regions[:n_blocks] = old.free_regions[:n_blocks]
        index.slots[:], index.roots[:] = old.slots, old.roots
        self._index = index

    def track_free_regions(self, is_wanted: bool, *, at_once: bool = False) -> None:
        """Use free regions, after some rejections or at once, or drop them."""
        rejections_left = self._index.rejections_left
        if is_wanted != (rejections_left[1] < structs.EVERY):
            rejections_left = np.full(2, _REJECTIONS if is_wanted else structs.EVERY)
            self._index = self._without_regions(
                self._index._replace(rejections_left=rejections_left)
            )
        if is_wanted and at_once:
            rejections_left[0] = 0
            self._switch_tracking(0 if len(self) <= _FEW_FOR_BITMAPS else _WALKS)

    def _switch_tracking(self, n_walks: int | None = None) -> None:
        """Make free regions after enough rejections, or drop them after an eviction.

        Bitmaps may be used after `n_walks` searches of the trees.
        """
        index = self._index
        is_counting = index.rejections_left[0] > 0
        if is_counting and _has_regions(index):
            self._index = self._without_regions(index)
        elif not is_counting and not _has_regions(index):
            bitmaps = self._new_bitmaps(None, _WALKS if n_walks is None else n_walks)
            free_regions = make_free_regions(index, self._counters[structs.BLOCKS])
            self._index = index._replace(free_regions=free_regions, bitmaps=bitmaps)

    def _without_regions(self, index: structs.Index) -> structs.Index:
        """Return an index without free regions and bitmaps: None if they are never wanted."""
        if index.rejections_left[1] == structs.EVERY:
            return index._replace(free_regions=None, bitmaps=None)
        return self._with_empty_regions(index)

    def _with_empty_regions(self, index: structs.Index) -> structs.Index:
        """Return an index with arrays of the same types as if free regions were in use."""
        bitmaps = _no_bitmaps(self._lower.shape[1], self._n_classes)
        return index._replace(free_regions=index.ends[:0], bitmaps=bitmaps)

    def _new_bitmaps(self, old: structs.Bitmaps | None, n_walks: int) -> structs.Bitmaps:
        """Return bitmaps: old ones that are in use, unless there are many more boxes by now."""
        if old is not None and old.state[ON] and len(self) < _MANY * old.state[N_BEFORE]:
            return extended(old, len(self._labels))
        capacity = len(self._labels)
        return make_bitmaps(self.lower, self.upper, capacity, self._n_classes, n_walks)

    def _kept_regions(self) -> _KeptRegions:
        """Return the free region of each box, if free regions are in use."""
        index = self._index
        if not _has_regions(index):
            return _KeptRegions(index.rejections_left)
        blocks, lanes = np.divmod(index.slots[: len(self)], LANES)
        of_boxes = np.ascontiguousarray(index.free_regions[blocks, :, :, lanes])
        return _KeptRegions(index.rejections_left, of_boxes, index.bitmaps)

    def pack(self) -> None:
        """Build the trees again with full blocks, which are searched fastest.

        Trees of a single block each stay as they are, so the first fit of few samples does not wait
        until `build` is compiled.
        """
        if self._counters[structs.BLOCKS] > np.count_nonzero(self._index.roots >= 0):
            self._build_index(_WIDTH, self._kept_regions())

    def rebuild_if_sparse(self) -> None:
        """Build the trees again if half of their boxes are gone, and make room to relabel some."""
        if self._counters[structs.ALIVE] <= self._counters[structs.FEW]:
            self._build_index(_WIDTH, self._kept_regions())
        self.reserve_blocks()
        self._switch_tracking()

    def hide(self, box: int) -> None:
        """Let no search find a box, until it is shown again."""
        vars(self).pop("joint", None)
        block, lane = divmod(int(self._index.slots[box]), LANES)
        self._index.links[block, lane] = -1
        self._index.ends[block, :, :, lane] = np.inf

    def show(self, box: int) -> None:
        """Let searches find a box again that was hidden; its parents still contain its bounds."""
        vars(self).pop("joint", None)
        block, lane = divmod(int(self._index.slots[box]), LANES)
        self._index.links[block, lane] = box
        self._index.ends[block, :, LOW, lane] = self._lower[box]
        self._index.ends[block, :, HIGH, lane] = self._upper[box]

    def settled(self) -> Self:
        """Return a copy without the positions of boxes that were merged into others."""
        return self.take(self.counts > 0)

    def take(self, kept: np.ndarray) -> Self:
        """Return a copy of some boxes, in their order."""
        rows = {name: getattr(self, name)[: len(self)][kept] for name in self._rows}
        return self._with_rows(rows, len(rows["_labels"]))

    def evict(self, max_boxes: int) -> None:
        """Keep so many boxes at most, those confirmed last; of equals, those at later positions."""
        n_gone = len(self) - max_boxes
        if n_gone > 0:
            kept = np.sort(np.argsort(self.confirmed, kind="stable")[n_gone:])
            vars(self).update(vars(self.take(kept)))

    def with_labels(self, labels: np.ndarray, n_classes: int) -> Self:
        """Return a copy with other labels, of so many classes."""
        twin = self.settled()
        twin._labels, twin._n_classes = labels.astype(np.int64), n_classes
        twin._build_index()
        return twin

    def _with_rows(
        self,
        rows: dict[str, np.ndarray],
        n_boxes: int,
        free_regions: _KeptRegions | None = None,
        *,
        n_classes: int | None = None,
    ) -> Self:
        """Return a copy with other rows, of which the first `n_boxes` are in use."""
        twin = object.__new__(type(self))
        n_classes = self._n_classes if n_classes is None else n_classes
        vars(twin).update(rows, _n_classes=n_classes, _counters=self._counters.copy())
        twin._counters[structs.BOXES] = n_boxes
        twin._build_index(free_regions=free_regions)
        return twin

    def _build_index(
        self, fill: int | None = None, free_regions: _KeptRegions | None = None
    ) -> None:
        """Rebuild the index, with the free regions of the boxes if there are any.

        `fill` is how many lanes of a block to use; None: fewer if there is room for more boxes.
        """
        is_full = len(self) == len(self._labels)
        if fill is None:
            fill = _WIDTH if is_full else round(_WIDTH / _grown_capacity(len(self)))
        order, starts = self._by_tree()
        self._counters[structs.WIDTH] = _WIDTH
        vars(self).pop("_index", None)  # makes room for the new one
        n_blocks = box_index.most_blocks(np.diff(starts), fill) if len(order) else 0
        if free_regions is None:
            free_regions = _KeptRegions(np.full(2, structs.EVERY))
        bitmaps = free_regions.bitmaps
        if bitmaps is not None:
            bitmaps = self._new_bitmaps(bitmaps, _WALKS)
        if not is_full:
            n_blocks = max(2 * n_blocks, len(self._labels) // _BOXES_A_BLOCK)
        self._index = self._new_index(n_blocks, free_regions.rejections_left, bitmaps)
        if not len(order):
            self._index.roots[:] = -1
            self._counters[[structs.BLOCKS, structs.ALIVE, structs.FEW]] = 0
            self._counters[structs.REMOVABLE] = box_index.REMOVED_AT_LEAST
            return
        centres = np.empty(self._lower.shape, np.float32)
        keys = np.empty(len(centres), np.float32)
        boxes, of_boxes = self.learnable, free_regions.of_boxes
        if of_boxes is None:  # the same types, or `build` is compiled once more
            boxes = boxes._replace(index=self._with_empty_regions(boxes.index))
            of_boxes = np.empty((0, *self._lower.shape[1:], 2), np.float32)
        box_index.build(order, starts, fill, centres, keys, of_boxes, boxes)

    def _by_tree(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the boxes in the order of their trees, and where each tree's begin."""
        if not len(self):
            return np.empty(0, np.int64), np.zeros(self._n_classes + 2, np.int64)
        trees = np.where(self.labels == structs.NO_LABEL, self._n_classes, self.labels)
        alive = np.flatnonzero(self.counts > 0)
        order = alive[np.argsort(trees[alive], kind="stable")]
        return order, np.searchsorted(trees[order], np.arange(self._n_classes + 2))

    def _new_index(
        self, n_blocks: int, rejections_left: np.ndarray, bitmaps: structs.Bitmaps | None
    ) -> structs.Index:
        """Return an empty index with room for so many blocks and some to spare.

        It has free regions if it has bitmaps.
        """
        n_blocks += box_index.SPARE_BLOCKS
        capacity, n_features = self._lower.shape
        ends = np.empty((n_blocks, n_features, 2, LANES), np.float32)
        index = structs.Index(
            ends,
            None,
            None,
            rejections_left,
            np.empty((n_blocks, N_LINKS), np.int64),
            np.zeros(capacity, np.int64),  # of boxes that are gone, any position
            np.empty(self._n_classes + 1, np.int64),
            box_index.make_workspace(n_features),
        )
        if bitmaps is None:
            return self._without_regions(index)
        return index._replace(free_regions=np.empty_like(ends), bitmaps=bitmaps)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the rows in use; the rest follows from them."""
        state = {name: getattr(self, name)[: len(self)] for name in self._rows}
        return state | {"_n_classes": self._n_classes, "_counters": self._counters}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copy the rows, which may be read-only and memory-mapped, and lay out the search."""
        for name in (*self._rows, "_counters"):
            setattr(self, name, np.array(state[name]))
        self._n_classes = state["_n_classes"]
        self._build_index()


class _KeptRegions(NamedTuple):
    """What a rebuilt index keeps: rejections left, and free regions of boxes and bitmaps if any."""

    rejections_left: np.ndarray
    of_boxes: np.ndarray | None = None
    bitmaps: structs.Bitmaps | None = None


def _grown_capacity(n_boxes: int) -> float:
    """Return how many times as many boxes to make room for."""
    return 2.0 if n_boxes < _FEW_BOXES else _GROWTH


@lru_cache
def _no_bitmaps(n_features: int, n_classes: int) -> structs.Bitmaps:
    """Return bitmaps of no boxes, which no kernel changes."""
    nothing = np.empty((0, n_features))
    return make_bitmaps(nothing, nothing, 0, n_classes, 0)


def _has_regions(index: structs.Index) -> bool:
    """Return whether free regions are in use."""
    return index.free_regions is not None and len(index.free_regions) > 0


# Making them takes longer than a single sample does.


class Workspace:
    """Working arrays for boxes as they are now, of which one who works there has the use alone."""

    def __init__(self, boxes: BoxStore) -> None:
        self.arrays = boxes.arrays
        self.learnable = boxes.learnable
        self.scratch = boxes.make_scratch()
        self.lists = self.scratch.ids, self.scratch.values

    @classmethod
    def acquire(cls, boxes: BoxStore) -> Self:
        """Return the one that is free, or a new one: another thread may be at work there."""
        workspace: Self | None = vars(boxes).pop("workspace", None)
        if workspace is None or workspace.learnable.index is not boxes.index:
            workspace = cls(boxes)
        return workspace

    def release(self, boxes: BoxStore) -> None:
        """Let others have it."""
        boxes.workspace = self


# The tree is built when so many samples were compared for each box, and some more: to build it
# takes about as long as they took without it.
_SAMPLES_PER_BOX = 1 / 16
_AT_LEAST = 256


class AllClassTree:
    """The tree of boxes as they are now, and how many samples were compared with it."""

    def __init__(self, boxes: BoxStore) -> None:
        self._index, self._counters_snapshot = boxes.index, boxes.counters_snapshot
        self._n_compared = 0
        self._arrays: structs.Boxes | None = None

    @classmethod
    def find(cls, boxes: BoxStore, n_samples: int) -> structs.Boxes | None:
        """Return the boxes as kernels take them, or None where it does not pay to build the tree.

        So many samples are compared next.
        """
        tree = vars(boxes).get("joint")
        if tree is None or not tree._is_of(boxes):
            tree = boxes.joint = cls(boxes)
        tree._n_compared += n_samples
        pays = tree._n_compared >= _AT_LEAST + _SAMPLES_PER_BOX * len(boxes)
        if tree._arrays is None and pays and boxes.n_classes > 1:
            tree._arrays = boxes.in_one_tree()
        return tree._arrays

    def _is_of(self, boxes: BoxStore) -> bool:
        """Whether the boxes are still those that they were."""
        return self._index is boxes.index and self._counters_snapshot == boxes.counters_snapshot
