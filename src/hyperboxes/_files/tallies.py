"""Models whose boxes count categories in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from hyperboxes._files.archive import ModelFileError
from hyperboxes._files.categories import categories_from_json
from hyperboxes._files.covers import Covers
from hyperboxes._files.kinds import Arrays, Layout, refuse
from hyperboxes._kernels.records import UNIT, Mixture
from hyperboxes._models.mixed import MixedModel, TalliedBoxes, find_owners

_TYPES = {"alpha": float, "n_numbers": int, "delta": float, "each": bool, "frequencies": bool}


class Tallied(Covers):
    """Models whose boxes count categories beside the numbers; those that know none count none."""

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {**Covers.header, "mixture": (dict,)}
    arrays: ClassVar[Mapping[str, Layout]] = {
        **Covers.arrays,
        "value_counts": ("<i8", ("boxes", "values")),
    }
    optional = (*Covers.optional, frozenset({"value_counts"}))

    def find_sizes(self, arrays: Arrays) -> Mapping[str, int]:
        counts = arrays.get("value_counts")
        return {} if counts is None else {"values": counts.shape[-1]}

    def read_header(self, model: Any) -> dict[str, Any]:
        return super().read_header(model) | {"mixture": model._model.mixture._asdict()}

    def read_arrays(self, model: Any) -> Arrays:
        arrays, counts = super().read_arrays(model), model._model.value_counts()
        return arrays | {"value_counts": counts} if counts.size else arrays

    def check(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> None:
        super().check(header, arrays, n_classes)
        lower, counts = arrays["lower"], arrays["counts"]
        features, owners = _read_categories(header, lower.shape[1])
        held = arrays.get("value_counts", np.empty((len(counts), 0), np.int64))
        if held.shape[1] != len(owners):
            raise ModelFileError("other categories are counted than there are")
        refuse(
            {
                "a category is counted less than never": held < 0,
                "a category is counted too often": held > counts[:, np.newaxis],
                "a box has bounds in a categorical feature": ~np.isnan(lower[:, features]),
            }
        )
        known = np.zeros((len(features), len(counts)), np.int64)
        np.add.at(known, owners, held.T)
        refuse({"a feature has more categories than samples": known > counts})
        _check_mixture(header["mixture"], lower.shape[1] - len(features))

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> dict[str, Any]:
        model = super().restore(header, arrays, n_classes)["_model"]
        features, owners = _read_categories(header, arrays["lower"].shape[1])
        boxes = TalliedBoxes.of_boxes(model.boxes)
        counts = arrays.get("value_counts", np.empty((len(boxes), 0), np.int64))
        boxes.set_counts(counts, owners, len(features))
        mixed = MixedModel(
            boxes,
            model.scale,
            model.membership,
            model.calibration,
            features=features,
            owners=owners,
            mixture=Mixture(**header["mixture"]),
        )
        return {"_model": mixed}


def _read_categories(header: Mapping[str, Any], n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the categorical features, and to which of them each value belongs."""
    categories = categories_from_json(header, n_features)
    places = [place for known in categories.values() for place in known.places.tolist()]
    if sorted(places) != (np.arange(len(places)) * UNIT).tolist():
        raise ModelFileError("its categories are not numbered")
    return find_owners(categories)


def _check_mixture(mixture: dict[str, Any], n_numbers: int) -> None:
    if {name: type(value) for name, value in mixture.items()} != _TYPES:
        raise ModelFileError("how numbers and categories decide is not known")
    possible = 0.0 <= mixture["alpha"] <= 1.0 and 0.0 <= mixture["delta"] < np.inf
    if not (possible and mixture["n_numbers"] == n_numbers):
        raise ModelFileError("how numbers and categories decide cannot be")
