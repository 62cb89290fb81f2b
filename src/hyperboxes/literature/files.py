"""Files of the literature's models: what each stores in addition to its boxes."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import NoneType
from typing import Any, ClassVar

import numpy as np

from hyperboxes._files.archive import ModelFileError
from hyperboxes._files.schema import (
    ARRAYS_OF_ALL,
    TOO_MANY,
    Arrays,
    Layout,
    ModelSchema,
    NearestSchema,
    Problems,
    bound_problems,
    categories_from_json,
)
from hyperboxes._kernels.structs import UNIT, MixedMetric
from hyperboxes.literature.frequency import FrequencyModel, make_category_ends
from hyperboxes.literature.fuzzy_min_max import TieModel
from hyperboxes.literature.granular import GranularModel
from hyperboxes.literature.mixed import CountingBoxStore, MixedModel, find_owners
from hyperboxes.literature.overlapping import RESOLUTIONS, Cores, Levels, OverlapModel

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


class OverlapSchema(NearestSchema):
    """Files of `OverlappingFuzzyMinMax`: how overlaps of classes are resolved."""

    header: ClassVar[Mapping[str, Any]] = {**NearestSchema.header, "resolution": (str,)}
    arrays: ClassVar[Mapping[str, Layout]] = {**NearestSchema.arrays, **_CORES, **_LEVELS}
    optional = (*NearestSchema.optional, frozenset(_CORES), frozenset(_LEVELS))

    def find_sizes(self, arrays: Arrays) -> Mapping[str, int]:
        if "region_levels" not in arrays:
            return {}
        n_regions = arrays["region_levels"].size
        n_inner = arrays["inner_labels"].size
        return {"regions": n_regions, "regions and 1": n_regions + 1, "inner boxes": n_inner}

    def read_header(self, model: Any) -> dict[str, Any]:
        return super().read_header(model) | {"resolution": model.resolution}

    def read_arrays(self, model: Any) -> Arrays:
        arrays = super().read_arrays(model)
        if model.cores is not None:
            cores = vars(model.cores.padded(len(model.boxes)))
            arrays |= dict(zip(_CORES, cores.values(), strict=True))
        if model.levels is not None:
            arrays |= dict(zip(_LEVELS, vars(model.levels).values(), strict=True))
        return arrays

    def problems(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Problems:
        yield from super().problems(header, arrays, n_classes)
        resolution = header["resolution"]
        yield "how overlaps are resolved is not known", resolution not in RESOLUTIONS
        given, own = arrays.keys() & {*_CORES, *_LEVELS}, _ARRAYS.get(resolution, {}).keys()
        yield "arrays are missing, or some are there that do not belong there", given != own
        if resolution == "core":
            sums, n_values = arrays["core_sums"], arrays["core_values"]
            yield "a data core is not finite", ~np.isfinite(sums)
            yield "a data core has more values than samples", n_values > arrays["counts"][:, None]
            yield "a data core has a negative number of values", n_values < 0
        if resolution == "levels":
            yield from _level_problems(arrays, n_classes)

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Any:
        model = super().restore(header, arrays, n_classes)
        cores = Cores(*_own(arrays, _CORES)) if "core_sums" in arrays else None
        levels = Levels(*_own(arrays, _LEVELS)) if "region_levels" in arrays else None
        resolved = {"resolution": header["resolution"], "cores": cores, "levels": levels}
        return OverlapModel(**vars(model), **resolved)


def _own(arrays: Arrays, layouts: Mapping[str, Layout]) -> list[np.ndarray]:
    """Return copies of arrays."""
    return [arrays[name].astype(layout[0].replace("<", "=")) for name, layout in layouts.items()]


def _level_problems(arrays: Arrays, n_classes: int) -> Problems:
    yield from bound_problems("a region", arrays["region_lower"], arrays["region_upper"])
    yield from bound_problems("a box of a region", arrays["inner_lower"], arrays["inner_upper"])
    starts, labels, counts = (
        arrays[name] for name in ("region_starts", "inner_labels", "inner_counts")
    )
    is_unknown = (labels < -1) | (labels >= n_classes)
    yield "a level is invalid", arrays["region_levels"] < 1
    yield "boxes of regions do not begin with the first", starts[0] != 0
    yield "boxes of regions do not end with the last", starts[-1] != len(labels)
    yield "a region has no box", np.diff(starts) < 1
    yield "a box of a region has a label that is no class", is_unknown
    yield "a box of a region holds no sample", counts < 1
    yield "there are too many samples", counts.sum(dtype=np.float64) >= TOO_MANY
    if len(labels):
        n_labelled = np.add.reduceat((labels >= 0).astype(np.int64), starts[:-1])
        yield "the boxes of a region have no label", n_labelled == 0


class TieSchema(NearestSchema):
    """Files of `FuzzyMinMax`: by which place ties are resolved."""

    header: ClassVar[Mapping[str, Any]] = {**NearestSchema.header, "by_corners": (bool,)}

    def read_header(self, model: Any) -> dict[str, Any]:
        return super().read_header(model) | {"by_corners": model.by_corners}

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Any:
        model = super().restore(header, arrays, n_classes)
        return TieModel(**vars(model), by_corners=header["by_corners"])


_LEVEL = NearestSchema()

# Arrays with an entry for each box.
_ROWS = (*ARRAYS_OF_ALL, "confirmed")


class LevelSchema(ModelSchema):
    """Files of `MultiGranularGFMM`: the boxes of all levels, one level after the other."""

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {
        "levels": (list,),
        "thetas": (list,),
        "level": (int, NoneType),
    }
    arrays: ClassVar[Mapping[str, Layout]] = {
        **NearestSchema.arrays,
        "level_starts": ("<i8", ("starts",)),
    }
    optional = NearestSchema.optional

    def find_sizes(self, arrays: Arrays) -> Mapping[str, int]:
        return {"starts": arrays["level_starts"].size}

    def read_header(self, model: Any) -> dict[str, Any]:
        return {
            "levels": [_LEVEL.read_header(level) for level in model.levels],
            "thetas": list(model.thetas[: len(model.levels)]),
            "level": model.level,
        }

    def read_arrays(self, model: Any) -> Arrays:
        levels = [_LEVEL.read_arrays(level) for level in model.levels]
        rows = {name: np.concatenate([level[name] for level in levels]) for name in _ROWS}
        starts = np.cumsum([0, *(len(level["labels"]) for level in levels)])
        return levels[0] | rows | {"level_starts": starts}

    def problems(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Problems:
        levels, thetas, starts = header["levels"], header["thetas"], arrays["level_starts"]
        has_sizes = len(thetas) == len(levels) == len(starts) - 1 and len(levels) > 0
        is_number = all(type(theta) is float and 0 < theta < np.inf for theta in thetas)
        is_known = is_number and type(header["level"]) is not bool
        yield "there is not a size for each level", not has_sizes
        yield "its levels are not known", not (is_known and all(map(_is_header, levels)))
        yield "levels do not begin with the first box", starts[0] != 0
        yield "levels do not end with the last box", starts[-1] != len(arrays["labels"])
        yield "a level has no box", np.diff(starts) < 1
        for of_level, part in zip(levels, _parts(arrays), strict=True):
            yield from _LEVEL.problems(of_level, part, n_classes)

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Any:
        levels = [
            _LEVEL.restore(of_level, part, n_classes)
            for of_level, part in zip(header["levels"], _parts(arrays), strict=True)
        ]
        chosen = {"thetas": tuple(header["thetas"]), "level": header["level"]}
        model = GranularModel(**vars(levels[-1]), levels=tuple(levels), **chosen)
        model.choose()
        return model


def _parts(arrays: Arrays) -> Iterator[Arrays]:
    """Yield the arrays of each level."""
    for start, stop in pairwise(arrays["level_starts"].tolist()):
        rows = {name: arrays[name][start:stop] for name in _ROWS if name in arrays}
        yield arrays | rows


def _is_header(value: Any) -> bool:
    """Whether this is the header of a level."""
    return (
        type(value) is dict
        and value.keys() == NearestSchema.header.keys()
        and all(type(value[name]) in kinds for name, kinds in NearestSchema.header.items())
    )


_TYPES = {"alpha": float, "n_numbers": int, "delta": float, "each": bool, "frequencies": bool}


class CountSchema(NearestSchema):
    """Files of `MixedGFMM`: how many samples of each box have each category."""

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {**NearestSchema.header, "mixture": (dict,)}
    arrays: ClassVar[Mapping[str, Layout]] = {
        **NearestSchema.arrays,
        "value_counts": ("<i8", ("boxes", "values")),
    }
    optional = (*NearestSchema.optional, frozenset({"value_counts"}))

    def find_sizes(self, arrays: Arrays) -> Mapping[str, int]:
        counts = arrays.get("value_counts")
        return {} if counts is None else {"values": counts.shape[-1]}

    def read_header(self, model: Any) -> dict[str, Any]:
        return super().read_header(model) | {"mixture": model.mixture._asdict()}

    def read_arrays(self, model: Any) -> Arrays:
        arrays, counts = super().read_arrays(model), model.value_counts()
        return arrays | {"value_counts": counts} if counts.size else arrays

    def problems(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Problems:
        yield from super().problems(header, arrays, n_classes)
        lower, counts = arrays["lower"], arrays["counts"]
        features, owners = _read_categories(header, lower.shape[1])
        held = arrays.get("value_counts", np.empty((len(counts), 0), np.int64))
        yield "other categories are counted than there are", held.shape[1] != len(owners)
        yield from _scale_problems(arrays, features)
        yield "a category is counted less than never", held < 0
        yield "a category is counted too often", held > counts[:, np.newaxis]
        yield "a box has bounds in a categorical feature", ~np.isnan(lower[:, features])
        known = np.zeros((len(features), len(counts)), np.int64)
        np.add.at(known, owners, held.T)
        yield "a feature has more categories than samples", known > counts
        mixture, n_numbers = header["mixture"], lower.shape[1] - len(features)
        types = {name: type(value) for name, value in mixture.items()}
        yield "how numbers and categories decide is not known", types != _TYPES
        possible = 0.0 <= mixture["alpha"] <= 1.0 and 0.0 <= mixture["delta"] < np.inf
        possible &= mixture["n_numbers"] == n_numbers
        yield "how numbers and categories decide is invalid", not possible

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Any:
        model = super().restore(header, arrays, n_classes)
        features, owners = _read_categories(header, arrays["lower"].shape[1])
        boxes = CountingBoxStore.of_boxes(model.boxes)
        counts = arrays.get("value_counts", np.empty((len(boxes), 0), np.int64))
        boxes.set_counts(counts, owners, len(features))
        model.boxes = boxes
        mixture = MixedMetric(**header["mixture"])
        return MixedModel(**vars(model), features=features, owners=owners, mixture=mixture)


class EndSchema(NearestSchema):
    """Files of `FrequencyGFMM`: the ends of boxes, and the distances of categories."""

    arrays: ClassVar[Mapping[str, Layout]] = {
        **NearestSchema.arrays,
        "category_ends": ("<i8", ("boxes", "categorical features", "ends")),
        "category_distances": ("<f8", ("pairs",)),
    }
    optional = (*NearestSchema.optional, frozenset({"category_ends", "category_distances"}))

    def find_sizes(self, arrays: Arrays) -> Mapping[str, int]:
        ends, distances = _read_ends(arrays)
        n_categorical = ends.shape[1] if ends.ndim == 3 else 0
        return {"categorical features": n_categorical, "ends": 2, "pairs": distances.size}

    def read_arrays(self, model: Any) -> Arrays:
        arrays, categories = super().read_arrays(model), model.categories
        ends = {"category_ends": categories.ends, "category_distances": categories.distances}
        return arrays | ends if len(model.features) else arrays

    def problems(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Problems:
        yield from super().problems(header, arrays, n_classes)
        ends, distances = _read_ends(arrays)
        features, sizes = _read_sizes(header, arrays["lower"].shape[1])
        is_other = ends.shape[1] != len(features) or len(distances) != (sizes**2).sum()
        is_unset, has_bounds = ends < 0, ~np.isnan(arrays["lower"][:, features])
        yield "it has ends or distances of other categories than there are", is_other
        yield from _scale_problems(arrays, features)
        yield "a box has bounds in a categorical feature", has_bounds
        yield "an end of a box is no category", (ends < -1) | (ends >= sizes[:, np.newaxis])
        yield "a box has one end without the other", is_unset[..., 0] != is_unset[..., 1]
        is_share = (distances >= 0) & (distances <= 1)
        yield "categories have an invalid distance", ~is_share

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Any:
        model = super().restore(header, arrays, n_classes)
        features, sizes = _read_sizes(header, arrays["lower"].shape[1])
        ends, distances = _read_ends(arrays)
        own = ends.astype(np.int64), distances.astype(np.float64)
        categories = make_category_ends(*own, sizes)
        return FrequencyModel(**vars(model), features=features, categories=categories)


def _scale_problems(arrays: Arrays, features: np.ndarray) -> Problems:
    if "scale_low" in arrays:
        ends = arrays["scale_low"][features], arrays["scale_high"][features]
        yield "a categorical feature is scaled", [ends[0] != 0.0, ends[1] != 1.0]


def _read_ends(arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
    none = np.empty((len(arrays["labels"]), 0, 2), np.int64)
    return arrays.get("category_ends", none), arrays.get("category_distances", np.empty(0))


def _read_sizes(header: Mapping[str, Any], n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the categorical features, and how many values each has."""
    features, owners = _read_categories(header, n_features)
    if (np.diff(owners) < 0).any():
        raise ModelFileError("its categories are not numbered")
    return features, np.bincount(owners, minlength=len(features))


def _read_categories(header: Mapping[str, Any], n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the categorical features, and to which of them each value belongs."""
    categories = categories_from_json(header, n_features)
    positions = [position for known in categories.values() for position in known.positions.tolist()]
    if sorted(positions) != (np.arange(len(positions)) * UNIT).tolist():
        raise ModelFileError("its categories are not numbered")
    return find_owners(categories)
