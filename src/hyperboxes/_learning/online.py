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
    """Learn the samples, one after the other, into the boxes that there are."""
    step_size = find_step_size(samples, callbacks)
    only = OnlinePass(samples, model, growth, step_size)
    callbacks.run(only.step, n_steps=-(-len(samples.y) // step_size))


def fit_two_orders(
    samples: Samples, model: BoxModel, growth: GrowthParameters, callbacks: FitCallbacks
) -> None:
    """Learn the samples in two orders, and keep the smaller model.

    In an unlucky order a box grows over places of another class before samples of it come by. Each
    of them is then alone in a box of its own, which cannot grow, in a box that will never shrink.
    So samples that are alone in their box come first in the second order. The smaller model is the
    one in which fewer samples became boxes, including boxes that were evicted.
    """
    step_size = find_step_size(samples, callbacks)
    first = OnlinePass(samples, model, growth, step_size)
    new = model.with_boxes(BoxStore(samples.lower.shape[1], model.boxes.n_classes))
    second = OnlinePass(samples, new, growth, step_size, previous=first)
    n_steps = 2 * -(-len(samples.y) // step_size)
    callbacks.run(first.step, second.step, n_steps=n_steps)
    if second.is_done:  # no callback has ended it
        better = min(first, second, key=lambda one: np.count_nonzero(one.joined >= 0))
        better.boxes.n_candidates = first.boxes.n_candidates + second.boxes.n_candidates
        model.boxes = better.boxes


def find_step_size(samples: Samples, callbacks: FitCallbacks) -> int:
    """Return how many samples to learn between callbacks."""
    return min(callbacks.step_size(len(samples.y)), _SAMPLES_AT_ONCE)


def learn_row(x: np.ndarray, label: int, model: BoxModel, growth: GrowthParameters) -> None:
    """Learn a single sample, a table of one row in the learner's units."""
    boxes = model.boxes
    _prepare(boxes, growth)
    boxes.start_batch()
    _update_if_due(model, x, x, label, boxes.n_seen)
    run_kernel(boxes, growth, x, x, np.array([label]), np.empty(1, np.int64), model)


def _prepare(boxes: BoxStore, growth: GrowthParameters) -> None:
    """Evict boxes beyond the limit, and track free regions if the boxes can have them."""
    boxes.evict(growth.max_boxes)
    boxes.track_free_regions(tracks_free_regions(growth))


def _update_if_due(
    model: BoxModel, xl: np.ndarray, xu: np.ndarray, label: int, n_samples: int
) -> int:
    """Update the calibration by the next sample if it is time; return when it is time again."""
    calibration = model.calibration
    if calibration is not None and NEVER < calibration.next_update <= n_samples:
        update_calibration(model, xl, xu, label, n_samples)
        calibration = model.calibration
    if calibration is None or calibration.next_update == NEVER:
        return sys.maxsize
    return calibration.next_update


class OnlinePass:
    """A pass over samples, which are learned in their order, some at a time.

    After a `previous` pass, the samples that were left alone there come first.
    """

    def __init__(
        self,
        samples: Samples,
        model: BoxModel,
        growth: GrowthParameters,
        step_size: int,
        previous: OnlinePass | None = None,
    ) -> None:
        self.samples = samples
        self.boxes = model.boxes
        self.is_done = False
        self._model = model
        self._growth = growth
        self._previous = previous
        self._steps = slices(len(samples.y), step_size)
        self.joined = np.empty(len(samples.y), np.int64)
        _prepare(self.boxes, growth)

    def step(self) -> bool:
        """Learn some samples; return whether they were the last."""
        if self._previous is not None:
            self.samples = self.samples.starting_with(self._previous.is_singleton())
            self._previous = None
        step = next(self._steps)
        rows = self.samples.in_order(step)
        xl, xu = self.samples.scaled(rows)
        y, joined = self.samples.y[rows], self.joined[step]
        boxes = self.boxes
        boxes.start_batch()
        n_before = boxes.n_seen
        while (start := boxes.n_learned) < len(xl):
            first = xl[start : start + 1], xu[start : start + 1], y[start]
            stop = min(_update_if_due(self._model, *first, n_before + start) - n_before, len(xl))
            some = xl[:stop], xu[:stop], y[:stop], joined[:stop]
            while boxes.n_learned < stop:
                run_kernel(boxes, self._growth, *some, self._model)
        self.is_done = step.stop == len(self.joined)
        return self.is_done

    def is_singleton(self) -> np.ndarray:
        """Return which samples are the only one of their box."""
        founders = np.flatnonzero(self.joined >= 0)
        last = np.empty(len(self.boxes), np.int64)
        last[self.joined[founders]] = founders  # evicted boxes had the same index earlier
        is_singleton = np.zeros(len(self.joined), np.bool_)
        is_singleton[last[self.boxes.counts == 1]] = True
        return is_singleton


def learn_boxes(
    xl: np.ndarray, xu: np.ndarray, y: np.ndarray, n_classes: int, growth: GrowthParameters
) -> tuple[BoxStore, np.ndarray]:
    """Return the boxes of samples, and what became of each sample, as the kernel writes it."""
    boxes = BoxStore(xl.shape[1], n_classes)
    joined = np.empty(len(y), np.int64)
    while boxes.n_learned < len(y):
        run_kernel(boxes, growth, xl, xu, y, joined)
    return boxes, joined


def run_kernel(
    boxes: BoxStore,
    growth: GrowthParameters,
    xl: np.ndarray,
    xu: np.ndarray,
    y: np.ndarray,
    joined: np.ndarray,
    model: BoxModel | None = None,
) -> None:
    """Learn a slice of the samples, from the first that was not learned; update the model as well.

    Without a model, there are boxes only.
    """
    shrinking = True if growth.on_overlap >= SPLIT else None
    start, n_needed = boxes.n_learned, 1
    while boxes.n_learned == start:  # again with more room if a sample makes many boxes
        boxes.reserve(n_needed)
        workspace = Workspace.acquire(boxes)
        mixed = None if model is None else model.mixed
        options = growth, workspace.scratch, shrinking, mixed, joined, WORK_PER_CALL
        n_needed = online.learn(xl, xu, y, workspace.learnable, *options)
        workspace.release(boxes)
    if model is not None:
        done = slice(start, boxes.n_learned)
        model.update(xl[done], xu[done], joined[done])
