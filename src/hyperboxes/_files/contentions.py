"""Models whose boxes overlap those of other classes in files: how that is settled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from hyperboxes._files.archive import ModelFileError
from hyperboxes._files.covers import Covers
from hyperboxes._files.kinds import TOO_MANY, Arrays, Layout, refuse
from hyperboxes._models.contention import RESOLUTIONS, ContentiousModel, Cores, Levels

_CORES: Mapping[str, Layout] = {
    "core_sums": ("<f8", ("boxes", "features")),
    "core_values": ("<i8", ("boxes", "features")),
}
_LEVELS: Mapping[str, Layout] = {
    "region_lower": ("<f8", ("regions", "features")),
    "region_upper": ("<f8", ("regions", "features")),
    "region_levels": ("<i8", ("regions",)),
    "region_starts": ("<i8", ("regions and 1",)),
    "inner_lower": ("<f8", ("inner boxes", "features")),
    "inner_upper": ("<f8", ("inner boxes", "features")),
    "inner_labels": ("<i8", ("inner boxes",)),
    "inner_counts": ("<i8", ("inner boxes",)),
}
# Which of them models have that settle overlaps so.
_ARRAYS = {"core": _CORES, "levels": _LEVELS}


class Contentions(Covers):
    """Models whose boxes cover samples of other classes, too."""

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {**Covers.header, "resolution": (str,)}
    arrays: ClassVar[Mapping[str, Layout]] = {**Covers.arrays, **_CORES, **_LEVELS}
    optional = (*Covers.optional, frozenset(_CORES), frozenset(_LEVELS))

    def find_sizes(self, arrays: Arrays) -> Mapping[str, int]:
        if "region_levels" not in arrays:
            return {}
        n_regions = arrays["region_levels"].size
        n_inner = arrays["inner_labels"].size
        return {"regions": n_regions, "regions and 1": n_regions + 1, "inner boxes": n_inner}

    def read_header(self, model: Any) -> dict[str, Any]:
        return super().read_header(model) | {"resolution": model._model.resolution}

    def read_arrays(self, model: Any) -> Arrays:
        arrays, learned = super().read_arrays(model), model._model
        if learned.cores is not None:
            cores = learned.cores.padded(len(learned.boxes))
            arrays |= dict(zip(_CORES, cores.rows, strict=True))
        if learned.levels is not None:
            arrays |= dict(zip(_LEVELS, vars(learned.levels).values(), strict=True))
        return arrays

    def check(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> None:
        super().check(header, arrays, n_classes)
        resolution = header["resolution"]
        if resolution not in RESOLUTIONS:
            raise ModelFileError("how overlaps are settled is not known")
        if set(_ARRAYS.get(resolution, {})) != arrays.keys() & {*_CORES, *_LEVELS}:
            raise ModelFileError("arrays are missing, or some are there that do not belong there")
        if resolution == "core":
            _check_cores(arrays)
        if resolution == "levels":
            _check_levels(arrays, n_classes)

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> dict[str, Any]:
        model = super().restore(header, arrays, n_classes)["_model"]
        cores = Cores(*_own(arrays, _CORES)) if "core_sums" in arrays else None
        levels = Levels(*_own(arrays, _LEVELS)) if "region_levels" in arrays else None
        settled = {"resolution": header["resolution"], "cores": cores, "levels": levels}
        return {"_model": ContentiousModel(**vars(model), **settled)}


def _own(arrays: Arrays, layouts: Mapping[str, Layout]) -> list[np.ndarray]:
    """Return copies of arrays."""
    return [arrays[name].astype(layout[0].replace("<", "=")) for name, layout in layouts.items()]


def _check_cores(arrays: Arrays) -> None:
    counts = arrays["counts"][:, np.newaxis]
    refuse(
        {
            "a data core is not finite": ~np.isfinite(arrays["core_sums"]),
            "a data core has more values than samples": arrays["core_values"] > counts,
            "a data core has a negative number of values": arrays["core_values"] < 0,
        }
    )


def _check_levels(arrays: Arrays, n_classes: int) -> None:
    _check_ends("a region", arrays["region_lower"], arrays["region_upper"])
    _check_ends("a box of a region", arrays["inner_lower"], arrays["inner_upper"])
    starts, labels, counts = (
        arrays[name] for name in ("region_starts", "inner_labels", "inner_counts")
    )
    refuse(
        {
            "a level cannot be": arrays["region_levels"] < 1,
            "boxes of regions do not begin with the first": starts[0] != 0,
            "boxes of regions do not end with the last": starts[-1] != len(labels),
            "a region has no box": np.diff(starts) < 1,
            "a box of a region has a label that is no class": (labels < -1) | (labels >= n_classes),
            "a box of a region holds no sample": counts < 1,
            "there are too many samples": counts.sum(dtype=np.float64) >= TOO_MANY,
        }
    )
    if len(labels):
        n_labelled = np.add.reduceat((labels >= 0).astype(np.int64), starts[:-1])
        refuse({"the boxes of a region have no label": n_labelled == 0})


def _check_ends(what: str, lower: np.ndarray, upper: np.ndarray) -> None:
    refuse(
        {
            f"{what} has an infinite bound": np.isinf(lower) | np.isinf(upper),
            f"{what} has one bound only": np.isnan(lower) != np.isnan(upper),
            f"{what} has a lower bound above the upper": lower > upper,
        }
    )
