"""Learning and prediction of `AdaptiveGFMM`, in slices of work."""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels import adaptive
from hyperboxes._kernels.adaptive import Settings
from hyperboxes._models.adaptive_state import HORIZONS, NEIGHBORS, SHARPNESS, AdaptiveState
from hyperboxes._models.calibration import neighbor_probabilities
from hyperboxes._models.samples import frozen, slices

# Over how many samples an expert is judged. This and what follows was chosen on streams that `make
# bench-streams` names.
_SCORE_MEMORY = 200.0

# The share of a new value in the mean and variance of a feature, once there are enough.
_SCALE_RATE = 0.002

# The weight of a feature that does not separate the classes.
_WEIGHT_FLOOR = 0.1

# Distances in single features between two looks at Ctrl-C: some tenths of a second.
_WORK_PER_CALL = 100_000_000


def make_settings(theta: float, max_boxes: int) -> Settings:
    """Return the settings of the kernels."""
    return Settings(
        theta=float(theta),
        max_boxes=int(max_boxes),
        horizons=np.array(HORIZONS),
        neighbors=np.array(NEIGHBORS),
        score_memory=_SCORE_MEMORY,
        sharpness=SHARPNESS,
        scale_rate=_SCALE_RATE,
        weighs=True,
        weight_floor=_WEIGHT_FLOOR,
    )


def learn_adaptively(
    xl: np.ndarray, xu: np.ndarray, y: np.ndarray, memory: AdaptiveState, settings: Settings
) -> None:
    """Learn samples in their order; labels are codes in the order of appearance."""
    memory.evict(settings.max_boxes)
    xl, xu, y = frozen(xl), frozen(xu), frozen(y)
    row = 0
    while row < len(y):
        memory.reserve(settings.max_boxes)
        work = memory.make_workspace()
        stop = min(row + _rows_at_once(memory), len(y))
        row = adaptive.learn(xl, xu, y, row, stop, memory.arrays, settings, work)


def predict_shares(
    xl: np.ndarray, xu: np.ndarray, memory: AdaptiveState, settings: Settings
) -> np.ndarray:
    """Return the probabilities of the classes for each sample, by codes."""
    shares = np.empty((len(xl), memory.n_labels))
    work = memory.make_workspace()
    for rows in slices(len(xl), _rows_at_once(memory)):
        span = rows.start, rows.stop
        adaptive.predict(frozen(xl), frozen(xu), *span, memory.arrays, settings, work, shares)
    return neighbor_probabilities(shares, memory.class_counts(), memory.unknown_part(xl))


def learn_row(
    row: np.ndarray, label: int, memory: AdaptiveState, theta: float, max_boxes: int
) -> None:
    """Learn a table of one row, with working arrays that are kept."""
    memory.evict(max_boxes)
    is_learned = False
    while not is_learned:
        workspace = _acquire_workspace(memory, theta, max_boxes)
        workspace.label[0] = label
        arguments = row, row, workspace.frozen_label, 0, 1
        is_learned = (
            adaptive.learn(*arguments, memory.arrays, workspace.settings, workspace.work) == 1
        )
        memory.workspace = workspace
        memory.reserve(max_boxes)


def predict_row_shares(
    row: np.ndarray, memory: AdaptiveState, theta: float, max_boxes: int
) -> list[float]:
    """Return the probabilities of the classes for a table of one row."""
    if np.isnan(row).any():
        found = predict_shares(row, row, memory, make_settings(theta, max_boxes))
        return [float(share) for share in found[0]]
    workspace = _acquire_workspace(memory, theta, max_boxes)
    adaptive.predict(
        row, row, 0, 1, memory.arrays, workspace.settings, workspace.work, workspace.shares
    )
    shares: list[float] = workspace.shares[0].tolist()
    memory.workspace = workspace
    return shares


class Workspace:
    """What is kept between single samples: working arrays, with the neighbors found last."""

    def __init__(self, memory: AdaptiveState, theta: float, max_boxes: int) -> None:
        self.of = theta, max_boxes
        self.arrays = memory.arrays
        self.settings = make_settings(theta, max_boxes)
        self.work = memory.make_workspace()
        self.shares = np.empty((1, memory.n_labels))
        self.label = np.empty(1, np.int64)
        self.frozen_label = frozen(self.label)


def _acquire_workspace(memory: AdaptiveState, theta: float, max_boxes: int) -> Workspace:
    """Return the working arrays, which are to be put back after use.

    They are new if others are needed than the last time, or if another thread has those.
    """
    workspace: Workspace | None = vars(memory).pop("workspace", None)
    if (
        workspace is None
        or workspace.arrays is not memory.arrays
        or workspace.of != (theta, max_boxes)
    ):
        workspace = Workspace(memory, theta, max_boxes)
    return workspace


def _rows_at_once(memory: AdaptiveState) -> int:
    n_features, capacity = memory.arrays.lower.shape
    return max(1, _WORK_PER_CALL // (n_features * capacity + 1))
