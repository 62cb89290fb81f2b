"""What differs between kinds of models in files: arrays, keys of the header, checks.

A kind says it all in one place, and `saving` does what is the same for all. The entry of a learner
names its kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Set
from typing import Any, ClassVar

import numpy as np

from hyperboxes._files.archive import ModelFileError

# Numbers of samples and candidates must fit into 64 bits.
TOO_MANY = 2**63

Arrays = dict[str, np.ndarray]

# The type of an array and the meaning of its dimensions, "boxes", "features", "classes" or one of
# the kind's own `sizes`, or what else it finds.
Layout = tuple[str, tuple[str, ...]]

ARRAYS_OF_ALL: Mapping[str, Layout] = {
    "lower": ("<f8", ("boxes", "features")),
    "upper": ("<f8", ("boxes", "features")),
    "labels": ("<i8", ("boxes",)),
    "counts": ("<i8", ("boxes",)),
}


class Kind(ABC):
    """A kind of models.

    `header` has the types of its own keys of the header, `arrays` the layouts of its arrays but for
    the classes, which `saving` stores. Of each group of `optional` ones all are there or none.
    """

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {}
    arrays: ClassVar[Mapping[str, Layout]]
    optional: ClassVar[tuple[frozenset[str], ...]] = ()
    sizes: ClassVar[Mapping[str, int]] = {}

    def find_shape(self, arrays: Arrays) -> tuple[int, int]:
        """Return how many boxes and features there are."""
        shape = arrays["lower"].shape
        if len(shape) != 2:
            raise ModelFileError(f"lower.npy has the shape {shape}")
        return shape[0], shape[1]

    def find_sizes(self, arrays: Arrays) -> Mapping[str, int]:
        """Return the sizes of its own dimensions, which may be those of arrays."""
        return self.sizes

    def has_all(self, names: Set[str]) -> bool:
        """Whether arrays of these names, but for the classes, make a model."""
        missing = self.arrays.keys() - names
        groups = [group for group in self.optional if group & missing]
        return names <= self.arrays.keys() and missing == frozenset().union(*groups)

    @abstractmethod
    def read_header(self, model: Any) -> dict[str, Any]:
        """Return its own keys of a model's header."""

    @abstractmethod
    def read_arrays(self, model: Any) -> Arrays:
        """Return the arrays of a model, in any type that holds their values."""

    @abstractmethod
    def check(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> None:
        """Refuse what no learner can have learned; types and shapes are right already."""

    @abstractmethod
    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> dict[str, Any]:
        """Return the attributes of a fitted model, in memory of their own."""


def refuse(problems: Mapping[str, Any]) -> None:
    """Raise an error for the first problem that was found anywhere."""
    for problem, found in problems.items():
        if np.any(found):
            raise ModelFileError(problem)
