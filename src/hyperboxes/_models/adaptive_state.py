"""`AdaptiveState`: the boxes of `AdaptiveGFMM`, and its statistics of features and experts."""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperboxes._kernels.adaptive import (
    BOXES,
    N_BINS,
    N_COUNTERS,
    SAMPLES,
    SMALLEST_GAP,
    UNKNOWN_GAP,
    Memory,
    Workspace,
)
from hyperboxes._kernels.simd import LANES
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.records import NeighborBoxes
from hyperboxes._models.samples import known_features, unknown_part

# How long ago a box may have been matched to vote, in samples; the last horizon has no end.
# Chosen, with how many neighbors vote, on streams that `make bench-streams` names.
HORIZONS = (32, 128, 512, 2**62)
NEIGHBORS = (1, 3, 7, 15)

# How strongly the weights of experts grow with their scores.
SHARPNESS = 50.0

__all__ = [
    "HORIZONS",
    "NEIGHBORS",
    "SHARPNESS",
    "SMALLEST_GAP",
    "UNKNOWN_GAP",
    "AdaptiveState",
    "expert_weights",
]

_MIN_CAPACITY = 64

_FIRST_SCORE = 0.5

# Fields of `Memory` with a column or an entry for each box.
_OF_BOXES = ("lower", "upper", "labels", "counts", "born", "confirmed", "order")


class AdaptiveState:
    """Growable arrays that the kernels write, in the data's own units.

    Labels are numbered in the order in which they first appear, so that it makes no difference
    which classes are known in advance.
    """

    arrays: Memory
    workspace: Any  # working arrays of those who learn single samples, if free; not kept in copies

    def __init__(self, n_features: int) -> None:
        no_boxes = {name: np.zeros(0, np.int64) for name in _OF_BOXES[2:]}
        self.arrays = Memory(
            lower=np.zeros((n_features, 0)),
            upper=np.zeros((n_features, 0)),
            **no_boxes,
            seen=np.zeros(n_features, np.int64),
            mean=np.zeros(n_features),
            variance=np.zeros(n_features),
            scale=np.zeros(n_features),
            weight=np.ones(n_features),
            histograms=np.zeros((n_features, N_BINS, 0)),
            scores=np.full(len(HORIZONS) * len(NEIGHBORS), _FIRST_SCORE),
            counters=np.zeros(N_COUNTERS, np.int64),
        )

    @classmethod
    def of_arrays(cls, arrays: Memory) -> AdaptiveState:
        """Return a state that learning continues from."""
        memory = cls.__new__(cls)
        memory.arrays = arrays
        return memory

    def __len__(self) -> int:
        return int(self.arrays.counters[BOXES])

    def __getstate__(self) -> dict[str, Any]:
        return self.kept()

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Copies, for kernels write into them, and arrays may come from a file that is mapped.
        self.arrays = Memory(**{name: np.array(array) for name, array in state.items()})

    @property
    def n_learned(self) -> int:
        """How many samples were learned."""
        return int(self.arrays.counters[SAMPLES])

    @property
    def n_labels(self) -> int:
        """How many classes have appeared."""
        return self.arrays.histograms.shape[2]

    @property
    def scores(self) -> np.ndarray:
        """The scores of the experts, by horizon and number of neighbors."""
        return self.arrays.scores.reshape(len(HORIZONS), len(NEIGHBORS))

    @property
    def ranges(self) -> np.ndarray:
        """The length of each feature's recent range: that of a uniform distribution like it."""
        return np.sqrt(12.0 * self.arrays.variance)

    def kept(self) -> dict[str, np.ndarray]:
        """Return all arrays by name, without spare room."""
        return {
            name: array[..., : len(self)] if name in _OF_BOXES else array
            for name, array in self.arrays._asdict().items()
        }

    def class_counts(self) -> np.ndarray:
        """Return how many samples the boxes of each class have absorbed."""
        n_boxes = len(self)
        labels, counts = self.arrays.labels[:n_boxes], self.arrays.counts[:n_boxes]
        return np.bincount(labels, counts, minlength=self.n_labels)

    def unknown_part(self, xl: np.ndarray) -> np.ndarray:
        """Return the part of the boxes' features in which each sample has no value."""
        n_boxes = len(self)
        features = known_features(self.arrays.lower[:, :n_boxes].T, self.arrays.labels[:n_boxes])
        return unknown_part(xl, features)

    def with_labels(self, n_labels: int) -> AdaptiveState:
        """Return the state with room for so many classes; other arrays are shared."""
        if n_labels == self.n_labels:
            return self
        padding = ((0, 0), (0, 0), (0, n_labels - self.n_labels))
        histograms = np.pad(self.arrays.histograms, padding)
        return self.of_arrays(self.arrays._replace(histograms=histograms))

    def add_features(self, n_features: int) -> None:
        """Make room for features of which nothing is known yet."""

        def padded(name: str, value: float) -> np.ndarray:
            array = getattr(self.arrays, name)
            padding = [(0, n_features), *[(0, 0)] * (array.ndim - 1)]
            return np.pad(array, padding, constant_values=value)

        unknown = {"lower": np.nan, "upper": np.nan, "weight": 1.0}
        names = (*unknown, "seen", "mean", "variance", "scale", "histograms")
        self.arrays = self.arrays._replace(
            **{name: padded(name, unknown.get(name, 0.0)) for name in names}
        )

    def reserve(self, max_boxes: int) -> None:
        """Have room for another box, if there may be one more."""
        n_boxes, capacity = len(self), self.arrays.labels.size
        if n_boxes == capacity < max_boxes:
            padding = min(max(_MIN_CAPACITY, capacity), max_boxes - capacity)
            self._replace_boxes(
                lambda array: np.pad(array, [*[(0, 0)] * (array.ndim - 1), (0, padding)])
            )

    def evict(self, max_boxes: int) -> None:
        """Keep so many boxes at most, those confirmed last."""
        if len(self) > max_boxes:
            kept = np.sort(np.argsort(-self.arrays.confirmed[: len(self)])[:max_boxes])
            self._replace_boxes(lambda array: np.ascontiguousarray(array[..., kept]))
            self.arrays.order[:] = np.argsort(-self.arrays.confirmed)
            self.arrays.counters[BOXES] = max_boxes

    def _replace_boxes(self, change: Any) -> None:
        changed = {name: change(getattr(self.arrays, name)) for name in _OF_BOXES}
        self.arrays = self.arrays._replace(**changed)

    def make_workspace(self) -> Workspace:
        """Return working arrays for these boxes and classes."""
        n_experts = self.arrays.scores.size
        return Workspace(
            x=np.zeros((2, self.arrays.mean.size)),
            scale=np.empty(self.arrays.mean.size),
            compared_at=np.full(1, -1),
            distances=np.empty(self.arrays.labels.size),
            recent=np.empty(self.arrays.labels.size + LANES),
            near=_lanes(np.int32),
            gaps=_lanes(np.float64),
            growable=_lanes(np.int32),
            growable_gaps=_lanes(np.float64),
            sums=np.empty(self.n_labels),
            predicted=np.empty(n_experts, np.int64),
            votes=np.empty((n_experts, self.n_labels)),
            totals=np.empty(n_experts),
            weights=np.empty(n_experts),
        )

    @property
    def by_age(self) -> np.ndarray:
        """The positions of the boxes, oldest first."""
        return np.argsort(self.arrays.born[: len(self)], kind="stable")

    def record(self, positions: np.ndarray, n_classes: int) -> NeighborBoxes:
        """Return a copy that can be read; `positions` are those of the labels in `classes_`."""
        order, arrays = self.by_age, self.arrays
        return NeighborBoxes(
            lower=np.ascontiguousarray(arrays.lower[:, order].T),
            upper=np.ascontiguousarray(arrays.upper[:, order].T),
            labels=positions[arrays.labels[order]],
            counts=arrays.counts[order],
            age=self.n_learned - 1 - arrays.confirmed[order],
            n_classes=n_classes,
            inverse_range=arrays.scale.copy(),
            feature_weights=arrays.weight.copy(),
            horizons=np.array(HORIZONS),
            neighbors=np.array(NEIGHBORS),
            expert_scores=self.scores.copy(),
        )

    def hyperboxes(self, positions: np.ndarray) -> Hyperboxes:
        """Return the boxes as users see them; `positions` are those of the labels in `classes_`."""
        order, arrays = self.by_age, self.arrays
        return Hyperboxes(
            np.ascontiguousarray(arrays.lower[:, order].T),
            np.ascontiguousarray(arrays.upper[:, order].T),
            positions[arrays.labels[order]],
            arrays.counts[order],
        )


def expert_weights(scores: np.ndarray) -> np.ndarray:
    """Return what share in the votes experts have that were right so often; they add up to 1."""
    weights = np.exp(SHARPNESS * (scores - scores.max()))
    return weights / weights.sum()


def _lanes(kind: type) -> np.ndarray:
    """Return zeros for vector lanes, at an address that takes no processor two looks."""
    numbers: np.ndarray = np.zeros(2 * LANES, kind)
    start = -numbers.ctypes.data % (LANES * numbers.itemsize) // numbers.itemsize
    return numbers[start : start + LANES]
