"""`JointTree`: the boxes of all classes in one tree, for searches of the nearest box of any.

Learning needs a tree for each class. A search of all of them walks through every one, which takes
longer than through one tree of all boxes. That one takes memory, and time to be built, so it is
built when enough was asked about the boxes as they are.
"""

from __future__ import annotations

from hyperboxes._kernels import records
from hyperboxes._models.boxes import Boxes

# The tree is built when so many samples were asked about for each box, and some more: to build it
# takes about as long as they took without it.
_SAMPLES_PER_BOX = 1 / 16
_AT_LEAST = 256


class JointTree:
    """The tree of boxes as they are now, and how many samples were asked about."""

    def __init__(self, boxes: Boxes) -> None:
        self._index, self._account = boxes.index, boxes.account
        self._n_asked = 0
        self._arrays: records.Boxes | None = None

    @classmethod
    def find(cls, boxes: Boxes, n_samples: int) -> records.Boxes | None:
        """Return the boxes as kernels take them, or None where it does not pay to build the tree.

        So many samples are going to be asked about.
        """
        tree = vars(boxes).get("joint")
        if tree is None or not tree._is_of(boxes):
            tree = boxes.joint = cls(boxes)
        tree._n_asked += n_samples
        pays = tree._n_asked >= _AT_LEAST + _SAMPLES_PER_BOX * len(boxes)
        if tree._arrays is None and pays and boxes.n_classes > 1:
            tree._arrays = boxes.in_one_tree()
        return tree._arrays

    def _is_of(self, boxes: Boxes) -> bool:
        """Whether the boxes are still those that they were."""
        return self._index is boxes.index and self._account == boxes.account
