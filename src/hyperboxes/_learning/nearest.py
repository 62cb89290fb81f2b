"""What the boxes nearest to samples say of them."""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels import prediction
from hyperboxes._models.boxes import WORK_PER_CALL
from hyperboxes._models.calibration import Nearest
from hyperboxes._models.desk import Desk
from hyperboxes._models.joint import JointTree
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import frozen

__all__ = ["Nearest", "are_held", "class_scores"]


def class_scores(
    model: BoxModel, xl: np.ndarray, xu: np.ndarray, *, winners_only: bool = False
) -> Nearest:
    """Return what `nearest_by_class` finds."""
    boxes = model.boxes
    shape = len(xl), boxes.n_classes
    nearest = np.empty(shape), np.empty(shape, np.int64), np.empty(shape, np.int64)
    desk = Desk.take(boxes)
    arrays = JointTree.find(boxes, len(xl)) if winners_only else None
    search = arrays or desk.arrays, model.membership.metric, desk.scratch.search
    row = 0
    while row < len(xl):
        row = prediction.nearest_by_class(
            xl, xu, row, *search, winners_only, WORK_PER_CALL, *desk.lists, *nearest
        )
    desk.leave(boxes)
    if model.membership.ties != "counts":
        _settle_ties(model, xl, xu, nearest)
    return nearest


def are_held(model: BoxModel, xl: np.ndarray, xu: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return which samples a box of their class holds, in the sense of learning."""
    boxes = model.boxes
    is_held = np.empty(len(xl), np.bool_)
    # Others may ask at the same time.
    arrays = boxes.arrays._replace(counters=boxes.arrays.counters.copy())
    asked = arrays, model.membership.metric, boxes.make_search(), WORK_PER_CALL, is_held
    row = 0
    while row < len(xl):
        row = prediction.find_held(xl, xu, y, row, *asked)
    return is_held


def _settle_ties(model: BoxModel, xl: np.ndarray, xu: np.ndarray, nearest: Nearest) -> None:
    """Let one box speak for all that tie, where classes do; not beyond the reach of all boxes.

    What is known of ties is then that of the box that has won, and nothing of the others.
    """
    best, votes, single = nearest
    top = best.max(axis=1)
    rows = np.flatnonzero((top > 0.0) & ((best == top[:, np.newaxis]).sum(axis=1) > 1))
    if len(rows) == 0:
        return
    boxes = model.boxes
    winner, lists = np.empty(len(rows), np.int64), boxes.make_lists()
    points = frozen(xl[rows]), frozen(xu[rows])
    by_corners = model.membership.ties == "corners"
    asked = boxes.arrays, model.membership.metric, boxes.make_search(), by_corners
    row = 0
    while row < len(rows):
        row = prediction.settle_ties(*points, row, *asked, WORK_PER_CALL, *lists, winner)
    labels = boxes.labels[winner]
    votes[rows], single[rows] = 0, len(boxes)
    votes[rows, labels], single[rows, labels] = boxes.counts[winner], winner
