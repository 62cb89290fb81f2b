"""Learning sample by sample, in slices of work."""

from __future__ import annotations

import sys

import numpy as np

from hyperboxes._kernels import online
from hyperboxes._kernels.records import CONTRACT, Rule
from hyperboxes._learning.calibrating import ask_before
from hyperboxes._learning.callbacks import FitCallbacks
from hyperboxes._learning.rules import has_walls
from hyperboxes._models.boxes import WORK_PER_CALL, Boxes, Samples, slices
from hyperboxes._models.calibration import NEVER
from hyperboxes._models.model import BoxModel

# Samples that are scaled at a time.
_SAMPLES_AT_ONCE = 65_536


def learn_online(samples: Samples, model: BoxModel, rule: Rule, callbacks: FitCallbacks) -> None:
    """Learn the samples, one after the other, on top of what the boxes know."""
    step_size = _step_size(samples, callbacks)
    lesson = _Lesson(samples, model, rule, step_size)
    callbacks.run(lesson.step, n_steps=-(-len(samples.y) // step_size))


def learn_twice(samples: Samples, model: BoxModel, rule: Rule, callbacks: FitCallbacks) -> Samples:
    """Learn the samples in two orders; keep the smaller model, and return them in its order.

    In an unlucky order a box grows over places of another class before samples of it come by. Each
    of them is then alone in a box of its own, which cannot grow, in a box that will never shrink.
    So those that were left alone come first in the second order.
    """
    step_size = _step_size(samples, callbacks)
    first = _Lesson(samples, model, rule, step_size)
    second: _Lesson | None = None

    def step() -> bool:
        nonlocal second
        if second is not None:
            return second.step()
        if first.step():
            new = model.with_boxes(Boxes(samples.lower.shape[1], model.boxes.n_classes))
            second = _Lesson(samples.starting_with(first.is_alone()), new, rule, step_size)
        return False

    callbacks.run(step, n_steps=2 * -(-len(samples.y) // step_size))
    if second is None or not second.is_done:  # a callback has ended it
        return samples
    better = min(first, second, key=lambda lesson: len(lesson.boxes))
    better.boxes.n_candidates = first.boxes.n_candidates + second.boxes.n_candidates
    model.boxes = better.boxes
    return better.samples


def _step_size(samples: Samples, callbacks: FitCallbacks) -> int:
    return min(callbacks.step_size(len(samples.y)), _SAMPLES_AT_ONCE)


class _Lesson:
    """Samples that are learned in their order, some at a time."""

    def __init__(self, samples: Samples, model: BoxModel, rule: Rule, step_size: int) -> None:
        self.samples = samples
        self.boxes = model.boxes
        self.is_done = False
        self._model = model
        self._rule = rule
        self._steps = slices(len(samples.y), step_size)
        self._founded = np.empty(len(samples.y), np.int64)
        self.boxes.keep_rooms(has_walls(rule))

    def step(self) -> bool:
        """Learn some samples; return whether they were the last."""
        step = next(self._steps)
        rows = self.samples.in_order(step)
        xl, xu = self.samples.scaled(rows)
        y = self.samples.y[rows]
        arrays = xl, xu, y, self._founded[step]
        self.boxes.start_batch()
        n_before = int(self.boxes.counts.sum())
        while (start := self.boxes.n_learned) < len(xl):
            stop = self._ask(
                xl[start : start + 1], xu[start : start + 1], y[start], n_before + start
            )
            self._learn(*(array[: min(stop - n_before, len(xl))] for array in arrays))
        self.is_done = step.stop == len(self._founded)
        return self.is_done

    def _ask(self, xl: np.ndarray, xu: np.ndarray, label: int, n_samples: int) -> int:
        """Ask about the next sample if it is time to; return before which to ask again."""
        calibration = self._model.calibration
        if calibration is not None and NEVER < calibration.next_question <= n_samples:
            ask_before(self._model, xl, xu, label, n_samples)
            calibration = self._model.calibration
        if calibration is None or calibration.next_question == NEVER:
            return sys.maxsize
        return calibration.next_question

    def _learn(self, xl: np.ndarray, xu: np.ndarray, y: np.ndarray, founded: np.ndarray) -> None:
        boxes, rule = self.boxes, self._rule
        contraction = True if rule.resolution == CONTRACT else None
        while boxes.n_learned < len(y):
            boxes.make_room()
            scratch = boxes.make_scratch()
            asked = boxes.arrays, rule, scratch, contraction, founded, WORK_PER_CALL
            online.learn(xl, xu, y, *asked)

    def is_alone(self) -> np.ndarray:
        """Tell which samples are the only one of their box."""
        return (self._founded >= 0) & (self.boxes.counts[self._founded] == 1)
