"""Learning sample by sample, in slices of work."""

from __future__ import annotations

from hyperboxes._kernels import online
from hyperboxes._kernels.records import CONTRACT, Rule
from hyperboxes._learning.callbacks import FitCallbacks
from hyperboxes._learning.rules import has_walls
from hyperboxes._models.boxes import WORK_PER_CALL, Boxes, Samples, slices

# Samples that are scaled at a time.
_SAMPLES_AT_ONCE = 65_536


def learn_online(samples: Samples, boxes: Boxes, rule: Rule, callbacks: FitCallbacks) -> None:
    """Learn the samples in their order, on top of what the boxes know."""
    n_samples = len(samples.y)
    step_size = min(callbacks.step_size(n_samples), _SAMPLES_AT_ONCE)
    steps = slices(n_samples, step_size)
    contraction = True if rule.resolution == CONTRACT else None
    boxes.keep_rooms(has_walls(rule))

    def learn_step() -> bool:
        rows = next(steps)
        xl, xu = samples.scaled(rows)
        y = samples.y[rows]
        boxes.start_batch()
        while boxes.n_learned < len(y):
            boxes.make_room()
            scratch = boxes.make_scratch()
            online.learn(xl, xu, y, boxes.arrays, rule, scratch, contraction, WORK_PER_CALL)
        return rows.stop == n_samples

    callbacks.run(learn_step, n_steps=-(-n_samples // step_size))
