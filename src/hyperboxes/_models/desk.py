"""`Desk`: the working arrays of kernels, kept from one call to the next.

Making them takes longer than a single sample does.
"""

from __future__ import annotations

from typing import Self

from hyperboxes._models.boxes import Boxes


class Desk:
    """Working arrays for boxes as they are now, of which one who works there has the use alone."""

    def __init__(self, boxes: Boxes) -> None:
        self.arrays = boxes.arrays
        self.learnable = boxes.learnable
        self.scratch = boxes.make_scratch()
        self.lists = self.scratch.ids, self.scratch.values

    @classmethod
    def take(cls, boxes: Boxes) -> Self:
        """Return the one that is free, or a new one: another thread may be at work there."""
        desk: Self | None = vars(boxes).pop("desk", None)
        if desk is None or desk.learnable.index is not boxes.index:
            desk = cls(boxes)
        return desk

    def leave(self, boxes: Boxes) -> None:
        """Let others have it."""
        boxes.desk = self
