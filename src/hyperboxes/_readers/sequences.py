"""Explanations of several samples: a sequence whose items are made when they are asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, Self, TypeVar, overload

import numpy as np


class _WithDict(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


Item = TypeVar("Item", bound=_WithDict)


class ExplanationSequence(Sequence[Item]):
    """Base of data classes whose fields have a row per sample, but for `_context`."""

    predictions: np.ndarray

    def __len__(self) -> int:
        return len(self.predictions)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_samples={len(self)})"

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> Self: ...

    def __getitem__(self, index: int | slice) -> Item | Self:
        if isinstance(index, slice):
            by_sample = {name: part for name, part in vars(self).items() if name != "_context"}
            return replace(self, **{name: part[index] for name, part in by_sample.items()})  # type: ignore[type-var]
        return self._explanation(range(len(self))[index])

    @abstractmethod
    def _explanation(self, row: int) -> Item:
        """Return the explanation of a sample."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the dictionary of each explanation (its `to_dict`).

        Returns
        -------
        explanations : list of dict
            One per sample.
        """
        return [explanation.to_dict() for explanation in self]
