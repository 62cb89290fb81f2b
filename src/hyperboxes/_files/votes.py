"""Models whose boxes vote in files: bounds, votes, intercepts and what was counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from hyperboxes._files.kinds import ARRAYS_OF_ALL, TOO_MANY, Arrays, Kind, Layout, refuse
from hyperboxes._models.voting import VotingHyperboxes

_OF_BOXES = tuple(field.name for field in fields(VotingHyperboxes))


class Votes(Kind):
    """Models whose boxes vote. Their stages, tables for each number of boxes, are not kept."""

    arrays: ClassVar[Mapping[str, Layout]] = {
        **ARRAYS_OF_ALL,
        "weights": ("<f8", ("boxes", "classes")),
        "missing": ("|b1", ("boxes", "features")),
        "class_counts": ("<i8", ("boxes", "classes")),
        "intercept": ("<f8", ("classes",)),
        "importances": ("<f8", ("features",)),
    }

    def read_header(self, model: Any) -> dict[str, Any]:
        return {}

    def read_arrays(self, model: Any) -> Arrays:
        arrays = {name: getattr(model.hyperboxes_, name) for name in _OF_BOXES}
        arrays |= {"intercept": model.intercept_, "importances": model.feature_importances_}
        return arrays

    def check(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> None:
        lower, upper, labels = (arrays[name] for name in ("lower", "upper", "labels"))
        importances = arrays["importances"]
        refuse(
            {
                "a box has a bound that is not known": np.isnan(lower) | np.isnan(upper),
                "a box has a bound that no value meets": np.isposinf(lower) | np.isneginf(upper),
                "a box has a lower bound above the upper": lower > upper,
                "its votes and intercepts are not finite": not _adds_up(arrays),
                "its importances are not shares": ~((importances >= 0) & (importances <= 1)),
            }
        )
        _check_counts(arrays["counts"], arrays["class_counts"])
        refuse(
            {
                "a box has another label than it votes for": (
                    labels != arrays["weights"].argmax(axis=1)
                )
            }
        )

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> dict[str, Any]:
        own = {name: arrays[name].astype(self.arrays[name][0][1:]) for name in self.arrays}
        return {
            "hyperboxes_": VotingHyperboxes(**{name: own[name] for name in _OF_BOXES}),
            "intercept_": own["intercept"],
            "feature_importances_": own["importances"],
        }


def _adds_up(arrays: Arrays) -> bool:
    """Whether every score is finite, whichever boxes hold a sample."""
    with np.errstate(over="ignore"):
        largest = np.abs(arrays["intercept"]) + np.abs(arrays["weights"]).sum(axis=0)
    return bool(np.isfinite(largest).all())


def _check_counts(counts: np.ndarray, class_counts: np.ndarray) -> None:
    refuse(
        {
            "a box holds no sample": counts < 1,
            "a box holds fewer than no samples of a class": class_counts < 0,
            "there are too many samples": class_counts.sum(axis=1, dtype=np.float64) >= TOO_MANY,
        }
    )
    refuse({"the samples of the classes are not all": counts != class_counts.sum(axis=1)})
