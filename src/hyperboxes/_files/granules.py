"""Models of several levels in files: the boxes of all, one level after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import NoneType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from hyperboxes._files.archive import ModelFileError
from hyperboxes._files.covers import Covers
from hyperboxes._files.kinds import ARRAYS_OF_ALL, Arrays, Kind, Layout, refuse
from hyperboxes._models.granular import GranularModel

_LEVEL = Covers()

# Arrays with an entry for each box.
_ROWS = (*ARRAYS_OF_ALL, "confirmed")


class Granules(Kind):
    """Models of several levels."""

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {
        "levels": (list,),
        "thetas": (list,),
        "level": (int, NoneType),
    }
    arrays: ClassVar[Mapping[str, Layout]] = {**Covers.arrays, "level_starts": ("<i8", ("starts",))}
    optional = Covers.optional

    def find_sizes(self, arrays: Arrays) -> Mapping[str, int]:
        return {"starts": arrays["level_starts"].size}

    def read_header(self, model: Any) -> dict[str, Any]:
        learned = model._model
        return {
            "levels": [_LEVEL.read_header(level) for level in _as_models(learned)],
            "thetas": list(learned.thetas[: len(learned.levels)]),
            "level": learned.level,
        }

    def read_arrays(self, model: Any) -> Arrays:
        levels = [_LEVEL.read_arrays(level) for level in _as_models(model._model)]
        rows = {name: np.concatenate([level[name] for level in levels]) for name in _ROWS}
        starts = np.cumsum([0, *(len(level["labels"]) for level in levels)])
        return levels[0] | rows | {"level_starts": starts}

    def check(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> None:
        levels, thetas, level = header["levels"], header["thetas"], header["level"]
        starts = arrays["level_starts"]
        n_levels = len(levels)
        if not len(thetas) == n_levels == len(starts) - 1 or n_levels == 0:
            raise ModelFileError("there is not a size for each level")
        is_number = all(type(theta) is float and 0 < theta < np.inf for theta in thetas)
        if not is_number or type(level) is bool:
            raise ModelFileError("its levels are not known")
        refuse(
            {
                "levels do not begin with the first box": starts[0] != 0,
                "levels do not end with the last box": starts[-1] != len(arrays["labels"]),
                "a level has no box": np.diff(starts) < 1,
            }
        )
        for of_level, part in zip(levels, _parts(arrays), strict=True):
            if not _is_header(of_level):
                raise ModelFileError("its levels are not known")
            _LEVEL.check(of_level, part, n_classes)

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> dict[str, Any]:
        levels = [
            _LEVEL.restore(of_level, part, n_classes)["_model"]
            for of_level, part in zip(header["levels"], _parts(arrays), strict=True)
        ]
        chosen = {"thetas": tuple(header["thetas"]), "level": header["level"]}
        model = GranularModel(**vars(levels[-1]), levels=tuple(levels), **chosen)
        model.choose()
        return {"_model": model}


def _as_models(model: GranularModel) -> Iterator[Any]:
    """Yield each level as something that has a model."""
    for level in model.levels:
        yield SimpleNamespace(_model=level, n_candidates_=level.boxes.n_candidates)


def _parts(arrays: Arrays) -> Iterator[Arrays]:
    """Yield the arrays of each level."""
    for start, stop in pairwise(arrays["level_starts"].tolist()):
        rows = {name: arrays[name][start:stop] for name in _ROWS if name in arrays}
        yield arrays | rows


def _is_header(value: Any) -> bool:
    """Whether this is what is said of a level."""
    return (
        type(value) is dict
        and value.keys() == Covers.header.keys()
        and all(type(value[name]) in kinds for name, kinds in Covers.header.items())
    )
