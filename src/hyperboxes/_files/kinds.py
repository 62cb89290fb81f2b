"""What differs between kinds of models in files: arrays, keys of the header, checks.

A kind says it all in one place, and `saving` does what is the same for all. The entry of a learner
names its kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from hyperboxes._files.archive import ModelFileError

# Numbers of samples and candidates must fit into 64 bits.
TOO_MANY = 2**63

Arrays = dict[str, np.ndarray]

# The type of an array and the meaning of its dimensions, "boxes", "features", "classes" or one of
# the kind's own `sizes`.
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
    the classes, which `saving` stores. Those that are `optional` are all there or none.
    """

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {}
    arrays: ClassVar[Mapping[str, Layout]]
    optional: ClassVar[frozenset[str]] = frozenset()
    sizes: ClassVar[Mapping[str, int]] = {}

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
