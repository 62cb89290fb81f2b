"""`BoxModel`: what an estimator has learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hyperboxes._kernels import nearest as nearest_kernels
from hyperboxes._kernels.structs import NO_LABEL
from hyperboxes._models.box_store import WORK_PER_CALL, AllClassTree, BoxStore, Workspace
from hyperboxes._models.calibration import DistanceCalibration, Nearest
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.membership import Membership
from hyperboxes._models.records import NearestBoxes, closeness
from hyperboxes._models.samples import MinMaxScale


@dataclass(eq=False)
class BoxModel:
    """The boxes in the learner's units, the scale that leads there, and the membership function.

    Learners write into it: `boxes` is replaced by those that start with every sample. What
    probabilities memberships stand for is None where they were not learned.
    """

    boxes: BoxStore
    scale: MinMaxScale | None
    membership: Membership
    calibration: DistanceCalibration | None = None

    def with_boxes(self, boxes: BoxStore) -> Self:
        """Return a model that differs in its boxes."""
        return replace(self, boxes=boxes)

    @property
    def mixed(self) -> Any:
        """What kernels are told of categories beside boxes: nothing, None."""
        return None

    def find_nearest(
        self, xl: np.ndarray, xu: np.ndarray, *, winners_only: bool = False
    ) -> Nearest:
        """Return the nearest boxes of each class, as the kernel `nearest_per_class` finds them."""
        boxes = self.boxes
        shape = len(xl), boxes.n_classes
        nearest = np.empty(shape), np.empty(shape, np.int64), np.empty(shape, np.int64)
        workspace = Workspace.acquire(boxes)
        arrays = AllClassTree.find(boxes, len(xl)) if winners_only else None
        search = arrays or workspace.arrays, self.membership.metric, workspace.scratch.search
        row = 0
        while row < len(xl):
            row = nearest_kernels.nearest_per_class(
                xl, xu, row, *search, winners_only, WORK_PER_CALL, *workspace.lists, *nearest
            )
        workspace.release(boxes)
        return nearest

    def take_in(self, xl: np.ndarray, xu: np.ndarray, joined: np.ndarray) -> None:
        """Keep what there is to keep of samples beside boxes; `joined` is that of the kernel."""

    def closeness(self, xl: np.ndarray, xu: np.ndarray, boxes: np.ndarray) -> np.ndarray:
        """Rank some boxes for samples in the learner's units, as prediction does.

        It is the membership, and minus the distance where that is 0.
        """
        return closeness(self._distance(xl, xu, boxes))

    def unlabeled_membership(self, xl: np.ndarray, xu: np.ndarray) -> np.ndarray:
        """Return each sample's largest membership over the boxes without a label, 0 for none."""
        boxes = np.flatnonzero(self.boxes.labels == NO_LABEL)
        return self.closeness(xl, xu, boxes).max(axis=1, initial=0.0)

    def _distance(self, xl: np.ndarray, xu: np.ndarray, boxes: np.ndarray) -> np.ndarray:
        lower, upper = self.boxes.lower[boxes], self.boxes.upper[boxes]
        with np.errstate(over="ignore"):
            gaps = np.maximum(xu[:, np.newaxis] - upper, lower - xl[:, np.newaxis])
            return self.membership.distance(gaps)

    def hyperboxes(self, labels: np.ndarray) -> Hyperboxes:
        """Return the boxes in the units of the data, with labels as users see them."""
        lower, upper = self.boxes.lower.copy(), self.boxes.upper.copy()
        if self.scale is not None:
            lower, upper = self.scale.restore(lower), self.scale.restore(upper)
        return Hyperboxes(lower, upper, labels, self.boxes.counts.copy())

    def record(self, labels: np.ndarray) -> NearestBoxes:
        """Return a copy that can be read, with labels as users see them."""
        boxes = self.boxes
        n_features = boxes.lower.shape[1]
        return NearestBoxes(
            lower=boxes.lower.copy(),
            upper=boxes.upper.copy(),
            labels=labels,
            counts=boxes.counts.copy(),
            last_matched=boxes.confirmed.copy(),
            n_seen=boxes.n_seen,
            n_classes=boxes.n_classes,
            scale=self.scale or MinMaxScale(np.zeros(n_features), np.ones(n_features)),
            gamma=self.membership.gamma,
            combine="mean" if self.membership.is_mean else "max",
            calibration=self.calibration,
        )
