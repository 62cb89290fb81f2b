"""Learning sample by sample, in slices of work."""

from __future__ import annotations

import sys

import numpy as np

from hyperboxes._kernels import online
from hyperboxes._kernels.structs import SPLIT, GrowthParameters
from hyperboxes._learning.calibration import update_calibration
from hyperboxes._learning.growth_parameters import tracks_free_regions
from hyperboxes._learning.steps import FitCallbacks
from hyperboxes._models.box_store import WORK_PER_CALL, BoxStore, Workspace
from hyperboxes._models.calibration import NEVER
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Samples, slices

# Samples that are scaled at a time.
_SAMPLES_AT_ONCE = 65_536


def learn_online(
    samples: Samples, model: BoxModel, growth: GrowthParameters, callbacks: FitCallbacks
) -> None:
    """Learn the samples, one after the other, on top of what the boxes know."""
    step_size = find_step_size(samples, callbacks)
    lesson = OnlinePass(samples, model, growth, step_size)
    callbacks.run(lesson.step, n_steps=-(-len(samples.y) // step_size))


def fit_two_orders(
    samples: Samples, model: BoxModel, growth: GrowthParameters, callbacks: FitCallbacks
) -> None:
    """Learn the samples in two orders, and keep the smaller model.

    In an unlucky order a box grows over places of another class before samples of it come by. Each
    of them is then alone in a box of its own, which cannot grow, in a box that will never shrink.
    So those that were left alone come first in the second order. The smaller model is the one that
    took fewer boxes, those that it has forgotten included.
    """
    step_size = find_step_size(samples, callbacks)
    first = OnlinePass(samples, model, growth, step_size)
    second: OnlinePass | None = None

    def step() -> bool:
        nonlocal second
        if second is not None:
            return second.step()
        if first.step():
            new = model.with_boxes(BoxStore(samples.lower.shape[1], model.boxes.n_classes))
            second = OnlinePass(samples.starting_with(first.is_singleton()), new, growth, step_size)
        return False

    callbacks.run(step, n_steps=2 * -(-len(samples.y) // step_size))
    if second is None or not second.is_done:  # a callback has ended it
        return
    better = min(first, second, key=OnlinePass.n_new_boxes)
    better.boxes.n_candidates = first.boxes.n_candidates + second.boxes.n_candidates
    model.boxes = better.boxes


def find_step_size(samples: Samples, callbacks: FitCallbacks) -> int:
    return min(callbacks.step_size(len(samples.y)), _SAMPLES_AT_ONCE)


def learn_row(x: np.ndarray, label: int, model: BoxModel, growth: GrowthParameters) -> None:
    """Learn a single sample, a table of one row in the learner's units."""
    _prepare(model.boxes, growth)
    model.boxes.start_batch()
    _ask_if_due(model, x, x, label, model.boxes.n_seen)
    _learn_rows(model, growth, x, x, np.array([label]), np.empty(1, np.int64))


def _prepare(boxes: BoxStore, growth: GrowthParameters) -> None:
    """Have no more boxes than there may be, and know whether walls are worth keeping."""
    boxes.evict(growth.max_boxes)
    boxes.track_free_regions(tracks_free_regions(growth))


def _ask_if_due(model: BoxModel, xl: np.ndarray, xu: np.ndarray, label: int, n_samples: int) -> int:
    """Ask about the next sample if it is time to; return before which to ask again."""
    calibration = model.calibration
    if calibration is not None and NEVER < calibration.next_update <= n_samples:
        update_calibration(model, xl, xu, label, n_samples)
        calibration = model.calibration
    if calibration is None or calibration.next_update == NEVER:
        return sys.maxsize
    return calibration.next_update


def _learn_rows(
    model: BoxModel,
    growth: GrowthParameters,
    xl: np.ndarray,
    xu: np.ndarray,
    y: np.ndarray,
    joined: np.ndarray,
) -> None:
    """Learn the samples that are left of a batch."""
    boxes = model.boxes
    while (start := boxes.n_learned) < len(y):
        run_kernel(boxes, growth, xl, xu, y, joined, model)
        done = slice(start, boxes.n_learned)
        model.take_in(xl[done], xu[done], joined[done])


class OnlinePass:
    """A pass over samples, which are learned in their order, some at a time."""

    def __init__(
        self, samples: Samples, model: BoxModel, growth: GrowthParameters, step_size: int
    ) -> None:
        self.samples = samples
        self.boxes = model.boxes
        self.is_done = False
        self._model = model
        self._rule = growth
        self._steps = slices(len(samples.y), step_size)
        self._joined = np.empty(len(samples.y), np.int64)
        _prepare(self.boxes, growth)

    def step(self) -> bool:
        """Learn some samples; return whether they were the last."""
        step = next(self._steps)
        rows = self.samples.in_order(step)
        xl, xu = self.samples.scaled(rows)
        y = self.samples.y[rows]
        arrays = xl, xu, y, self._joined[step]
        self.boxes.start_batch()
        n_before = self.boxes.n_seen
        while (start := self.boxes.n_learned) < len(xl):
            first = xl[start : start + 1], xu[start : start + 1], y[start]
            stop = _ask_if_due(self._model, *first, n_before + start)
            some = (array[: min(stop - n_before, len(xl))] for array in arrays)
            _learn_rows(self._model, self._rule, *some)
        self.is_done = step.stop == len(self._joined)
        return self.is_done

    def n_new_boxes(self) -> int:
        """Tell how many samples have become boxes."""
        return int(np.count_nonzero(self._joined >= 0))

    def is_singleton(self) -> np.ndarray:
        """Tell which samples are the only one of their box."""
        founders = np.flatnonzero(self._joined >= 0)
        last = np.empty(len(self.boxes), np.int64)
        last[self._joined[founders]] = founders  # boxes before, at the same place, are forgotten
        is_singleton = np.zeros(len(self._joined), np.bool_)
        is_singleton[last[self.boxes.counts == 1]] = True
        return is_singleton


def run_kernel(
    boxes: BoxStore,
    growth: GrowthParameters,
    xl: np.ndarray,
    xu: np.ndarray,
    y: np.ndarray,
    joined: np.ndarray,
    model: BoxModel | None = None,
) -> None:
    """Learn a slice of the samples, from where the boxes have got to.

    Given their model, they learn what it knows beside boxes, too.
    """
    shrinking = True if growth.on_overlap >= SPLIT else None
    start, n_needed = boxes.n_learned, 1
    while boxes.n_learned == start:  # again with more room if a sample makes many boxes
        boxes.reserve(n_needed)
        workspace = Workspace.acquire(boxes)
        mixed = None if model is None else model.mixed
        asked = (
            workspace.learnable,
            growth,
            workspace.scratch,
            shrinking,
            mixed,
            joined,
            WORK_PER_CALL,
        )
        n_needed = online.learn(xl, xu, y, *asked)
        workspace.release(boxes)
