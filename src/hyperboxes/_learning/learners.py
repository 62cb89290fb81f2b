"""The learners: samples become boxes by one of the paper's algorithms, in slices of work."""

from __future__ import annotations

from typing import Any

from hyperboxes._kernels import geometry, online
from hyperboxes._learning.agglomeration import Agglo2, AggloSM, Rule
from hyperboxes._learning.callbacks import FitProgress
from hyperboxes._models.boxes import WORK_PER_CALL, Boxes, Samples, slices

ALGORITHMS: dict[str, type[Agglo2 | AggloSM]] = {"agglo2": Agglo2, "agglo-sm": AggloSM}
MEASURES = {
    "longest": geometry.LONGEST,
    "shortest": geometry.SHORTEST,
    "mid-max": geometry.MID_MAX,
    "mid-min": geometry.MID_MIN,
}

# Samples that are scaled at a time.
_SAMPLES_AT_ONCE = 65_536


def learn_online(
    samples: Samples, boxes: Boxes, rule: Rule, overlap: int, progress: FitProgress
) -> None:
    """Learn the samples in their order, on top of what the boxes know."""
    n_samples = len(samples.y)
    step_size = min(progress.step_size(n_samples), _SAMPLES_AT_ONCE)
    steps = slices(n_samples, step_size)

    def learn_step() -> bool:
        rows = next(steps)
        xl, xu = samples.scaled(rows)
        y = samples.y[rows]
        boxes.start_batch()
        while boxes.n_learned < len(y):
            boxes.make_room()
            online.learn(xl, xu, y, boxes.arrays, rule, overlap, WORK_PER_CALL)
        return rows.stop == n_samples

    progress.run(learn_step, n_steps=-(-n_samples // step_size))


def agglomerate_samples(
    samples: Samples,
    model: dict[str, Any],
    rule: Rule,
    algorithm: str,
    similarity: str,
    overlap: int,
    progress: FitProgress,
) -> None:
    """Make each sample a box, and merge the boxes."""
    n_classes = model["_boxes"].n_classes
    model["_boxes"] = boxes = Boxes.of_samples(samples, n_classes)
    job = ALGORITHMS[algorithm](boxes, rule, MEASURES[similarity], overlap)
    progress.run(lambda: job.step(WORK_PER_CALL))
    job.count(samples, rule, WORK_PER_CALL)
    model["_boxes"] = boxes.settled()
