"""Models whose boxes count categories in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from hyperboxes._files.archive import ModelFileError
from hyperboxes._files.covers import Covers
from hyperboxes._files.kinds import Arrays, Layout, refuse
from hyperboxes._kernels.mixed import Mixture
from hyperboxes._models.mixed import MixedModel, TalliedBoxes

_TYPES = {"alpha": float, "n_numbers": int, "delta": float, "each": bool, "frequencies": bool}


class Tallied(Covers):
    """Models whose boxes count categories beside the numbers."""

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {**Covers.header, "mixture": (dict,)}
    arrays: ClassVar[Mapping[str, Layout]] = {
        **Covers.arrays,
        "categorical": ("<i8", ("categorical features",)),
        "owners": ("<i8", ("values",)),
        "value_counts": ("<i8", ("boxes", "values")),
    }

    def find_sizes(self, arrays: Arrays) -> Mapping[str, int]:
        return {
            "categorical features": arrays["categorical"].size,
            "values": arrays["owners"].size,
        }

    def read_header(self, model: Any) -> dict[str, Any]:
        return super().read_header(model) | {"mixture": model._model.mixture._asdict()}

    def read_arrays(self, model: Any) -> Arrays:
        learned = model._model
        counts = [learned.counts_of(feature) for feature in learned.features]
        value_counts = np.zeros((len(learned.boxes), len(learned.owners)), np.int64)
        for place, of_feature in enumerate(counts):
            value_counts[:, learned.owners == place] = of_feature
        own = {"categorical": learned.features, "owners": learned.owners}
        return super().read_arrays(model) | own | {"value_counts": value_counts}

    def check(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> None:
        super().check(header, arrays, n_classes)
        features, owners = arrays["categorical"], arrays["owners"]
        n_features = arrays["lower"].shape[1]
        counts = arrays["value_counts"]
        refuse(
            {
                "a categorical feature does not exist": (features < 0) | (features >= n_features),
                "categorical features are not in order": np.diff(features) < 1,
                "a category belongs to no feature": (owners < 0) | (owners >= len(features)),
                "a category is counted less than never": counts < 0,
                "a category is counted too often": counts > arrays["counts"][:, np.newaxis],
                "a box has bounds in a categorical feature": ~np.isnan(
                    arrays["lower"][:, features]
                ),
            }
        )
        known = np.zeros((len(features), len(counts)), np.int64)
        np.add.at(known, owners, counts.T)
        refuse({"a feature has more categories than samples": known > arrays["counts"]})
        _check_mixture(header["mixture"], n_features - len(features))

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> dict[str, Any]:
        model = super().restore(header, arrays, n_classes)["_model"]
        features, owners = (arrays[name].astype(np.int64) for name in ("categorical", "owners"))
        boxes = TalliedBoxes.of_boxes(model.boxes)
        boxes.set_counts(arrays["value_counts"], owners, len(features))
        mixture = Mixture(**header["mixture"])
        mixed = MixedModel(
            boxes,
            model.scale,
            model.membership,
            model.calibration,
            features=features,
            owners=owners,
            mixture=mixture,
        )
        return {"_model": mixed}


def _check_mixture(mixture: dict[str, Any], n_numbers: int) -> None:
    if {name: type(value) for name, value in mixture.items()} != _TYPES:
        raise ModelFileError("how numbers and categories decide is not known")
    possible = 0.0 <= mixture["alpha"] <= 1.0 and 0.0 <= mixture["delta"] < np.inf
    if not (possible and mixture["n_numbers"] == n_numbers):
        raise ModelFileError("how numbers and categories decide cannot be")
